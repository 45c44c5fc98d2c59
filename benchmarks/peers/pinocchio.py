"""Pinocchio: ``pin.aba`` from Python, and a C++ loop against the headers in its wheel.

Pinocchio's quaternions are (x, y, z, w) and come after the translation; a ball's and a free base's
velocities are expressed in the moving frame M, linear before angular; an unbounded revolute joint
has (cos, sin) for its coordinate. Ties are contacts in three dimensions between two joints, without correctors; as its
documentation has it, they are prepared by `initConstraintDynamics`, and the proximal term is left out unless equations may be
redundant.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path

import numpy as np

from ..models import Model, Pose, rotation_from_quaternion
from .build import Unavailable, compile_program, run_program
from .engine import Array, Engine, write_model

SOURCE = Path(__file__).with_name("pinocchio.cpp")
CONVENTIONS = ("world", "local")  # two forms of the algorithm; the faster one counts
CLOSED = ("closed",)  # of models with ties


@functools.cache
def _import():
    """Import pinocchio, or None."""
    try:
        import pinocchio
    except ImportError:
        return None
    return pinocchio


@functools.cache
def _program() -> Path:
    """Compile the C++ loop; this takes minutes, once."""
    pin = _import()
    prefix = next(p for p in Path(pin.__file__).parents if (p / "include/pinocchio").is_dir())
    candidates = [
        Path(os.environ.get("EIGEN3_INCLUDE_DIR", "")),
        prefix / "include/eigen3",
        *(Path(p) / "cmeel.prefix/include/eigen3" for p in sys.path),
        Path("/usr/include/eigen3"),
    ]
    eigen = next((p for p in candidates if (p / "Eigen/Core").exists()), None)
    if eigen is None:
        raise Unavailable("no Eigen headers (pip install cmeel-eigen, or set EIGEN3_INCLUDE_DIR)")
    flags = ["-std=c++17", "-O3", "-DNDEBUG", "-march=native", "-w"]
    # Pinocchio's variant of joints is longer than Boost's lists are by default
    flags += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
    flags += [f"-I{prefix / 'include'}", f"-I{eigen}"]
    return compile_program(SOURCE, flags, slow=True)


def build(model: Model):
    """Build Pinocchio's model joint by joint from the neutral description."""
    pin = _import()
    joints = {
        "pin": pin.JointModelRZ,
        "slider": pin.JointModelPX,
        "ball": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }
    built = pin.Model()
    built.gravity.linear = model.gravity
    placed = [(0, Pose())]  # joint that carries the body, and the body's frame in the joint's
    for body in model.bodies:
        joint, X_JP = placed[body.parent]
        F = X_JP @ body.X_PF
        if body.kind == "weld":
            placed.append((joint, F @ ~body.X_BM))
        else:
            index = built.addJoint(joint, joints[body.kind](), pin.SE3(F.R, F.p), body.name)
            placed.append((index, ~body.X_BM))
        joint, X_JB = placed[-1]
        com, mass = body.com, body.mass
        central = body.inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
        built.appendBodyToJoint(joint, pin.Inertia(mass, com, central), pin.SE3(X_JB.R, X_JB.p))
    return built


def ties(model: Model, pin_model):
    """Ties as contacts of a model that `build` has made, with their data and settings."""
    pin = _import()
    placed, joint = [(0, Pose())], 0
    for body in model.bodies:
        parent_joint, X_JP = placed[body.parent]
        if body.kind == "weld":
            placed.append((parent_joint, X_JP @ body.X_PF @ ~body.X_BM))
        else:
            joint += 1
            placed.append((joint, ~body.X_BM))
    models = pin.StdVec_RigidConstraintModel()
    for tie in model.ties:
        ends = []
        for index, point in ((tie.body1, tie.point1), (tie.body2, tie.point2)):
            carrier, X_JB = placed[index]
            end = X_JB @ Pose(p=np.asarray(point))
            ends += [carrier, pin.SE3(end.R, end.p)]
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, pin_model, *ends, pin.ReferenceFrame.LOCAL))
    datas = pin.StdVec_RigidConstraintData()
    for one in models:
        datas.append(one.createData())
    settings = pin.ProximalSettings(1e-10, 1e-10, 10) if model.redundant else pin.ProximalSettings(1e-12, 0.0, 1)
    return models, datas, settings


def robot(model: Model):
    """Pinocchio's model of a robot, by its own URDF parser."""
    pin = _import()
    base = (pin.JointModelFreeFlyer(),) if model.floating_base else ()
    return pin.buildModelFromUrdf(str(model.urdf), *base)


class Coordinates:
    """Conversion between neutral coordinates and those of a Pinocchio model of the same tree."""

    def __init__(self, model: Model, pin_model):
        moving = [part for part in model.mobilities() if part[0].kind != "weld"]
        self.parts = list(zip(list(pin_model.joints)[1:], moving, strict=True))
        self.nq, self.nv, self.nu = pin_model.nq, pin_model.nv, model.nu

    def native(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Pinocchio's q and v."""
        qs, vs = np.zeros(self.nq), np.zeros(self.nv)
        for joint, (body, iq, iu) in self.parts:
            oq, ov = joint.idx_q, joint.idx_v
            if body.kind == "ball":
                qs[oq : oq + 4] = np.roll(q[iq], -1)
                vs[ov : ov + 3] = rotation_from_quaternion(q[iq]).T @ u[iu]
            elif body.kind == "free":
                R = rotation_from_quaternion(q[iq][:4])
                qs[oq : oq + 3], qs[oq + 3 : oq + 7] = q[iq][4:], np.roll(q[iq][:4], -1)
                vs[ov : ov + 3], vs[ov + 3 : ov + 6] = R.T @ u[iu][3:], R.T @ u[iu][:3]
            elif joint.nq == 2:
                qs[oq : oq + 2], vs[ov] = (np.cos(q[iq][0]), np.sin(q[iq][0])), u[iu][0]
            else:
                qs[oq], vs[ov] = q[iq][0], u[iu][0]
        return qs, vs

    def neutral(self, q: Array, u: Array, v_dot: Array) -> Array:
        """Neutral accelerations from Pinocchio's at the (neutral) state q, u."""
        u_dot = np.zeros(self.nu)
        for joint, (body, iq, iu) in self.parts:
            a = v_dot[joint.idx_v : joint.idx_v + joint.nv]
            if body.kind in ("ball", "free"):
                R = rotation_from_quaternion(q[iq][:4])
                w, v = u[iu][:3], u[iu][3:]
                # d/dt (R v_M) = R v_M_dot + w x v; for w itself the last term is zero
                linear = R @ a[:3] + np.cross(w, v) if body.kind == "free" else a[:0]
                u_dot[iu] = np.concatenate([R @ a[-3:], linear])
            else:
                u_dot[iu] = a
        return u_dot


class Pinocchio(Engine):
    """``pinocchio::aba`` with its data allocated beforehand."""

    name = "Pinocchio"

    @classmethod
    def missing(cls) -> str | None:
        """Say whether the Python package is there."""
        return None if _import() else "the Python package pin is not installed"

    @classmethod
    def version(cls) -> str:
        """Version of the library."""
        return _import().__version__

    @classmethod
    def loop_missing(cls) -> str | None:
        """Say whether the C++ can be compiled, or was."""
        try:
            _program()
        except Unavailable as reason:
            return str(reason)
        return None

    def __init__(self, model: Model):
        super().__init__(model)
        pin = _import()
        # its Data holds four tensors (nv, nv, nv), whether they are used or not
        gigabytes = 4 * 8 * model.nu**3 / 1e9
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
        if gigabytes > free / 2:
            raise Unavailable(f"Pinocchio's Data would take {gigabytes:.0f} GB")
        pin_model = robot(model) if model.urdf else build(model)
        self.coordinates = Coordinates(model, pin_model)
        self.pin_model, self.pin_data = pin_model, pin_model.createData()
        self._tau = np.zeros(pin_model.nv)
        self.calls = {"aba, world convention": pin.aba, "aba, local convention": pin.aba}
        self._ties = ()
        if model.ties:
            self._ties = ties(model, pin_model)
            pin.initConstraintDynamics(pin_model, self.pin_data, *self._ties[:2])
            self.calls = {"constraintDynamics": pin.constraintDynamics}

    def arguments(self, name: str, q: Array, u: Array) -> tuple:
        """Model, data, q, v and forces; the local convention is the default and not passed."""
        world = (_import().Convention.WORLD,) if "world" in name else ()
        return self.pin_model, self.pin_data, *self.coordinates.native(q, u), self._tau, *world, *self._ties

    @property
    def tolerance(self) -> float:
        """Looser for balls: 6e-7 off in a chain of 30, where Simbody and MuJoCo agree to 1e-12.

        Cancellation: its own two conventions differ as much from each other.
        """
        balls = any(body.kind == "ball" for body in self.model.bodies)
        return 1e-5 if balls else super().tolerance

    def u_dots(self, q: Array, u: Array) -> dict[str, Array]:
        """Both conventions through Python and, where it compiles, in C++."""
        results = {}
        for name, call in self.calls.items():
            v_dot = np.array(call(*self.arguments(name, q, u)))
            results[name] = self.coordinates.neutral(q, u, v_dot)
        if not self.loop_missing():
            coordinates = Coordinates(self.model, build(self.model))
            for convention, result in self._run(q, u, 1, 1e-6).items():
                name = f"C++, {convention} convention"
                results[name] = coordinates.neutral(q, u, np.array(result["udot"]))
        return results

    def compiled_loop(self, repeats: int, seconds: float) -> list[float]:
        """Take the faster of the two conventions."""
        runs = self._run(*self.model.random_state(0), repeats, seconds)
        return min((run["microseconds"] for run in runs.values()), key=min)

    def _run(self, q: Array, u: Array, repeats: int, seconds: float) -> dict[str, dict]:
        """Run the C++ program in both conventions; its joints are the neutral ones."""
        native = Coordinates(self.model, build(self.model)).native(q, u)
        path = write_model(self.model, self.scratch_file(".txt"), *native)
        conventions = CLOSED if self.model.ties else CONVENTIONS
        return {
            convention: json.loads(run_program(_program(), path, repeats, seconds, convention)) for convention in conventions
        }
