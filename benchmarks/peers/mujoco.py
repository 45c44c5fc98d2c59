"""MuJoCo: calls from Python, and a C loop against the headers and the library in its wheel.

MuJoCo's ball and free joints have angular velocities expressed in the moving frame, the free joint
a position and a linear velocity in the world, before the angular ones. Its free joint exists only
on base bodies. Contacts, constraints and whatever else has no part in these models is switched off.

Ties are equality constraints between sites, as stiff as they can be: `solimp` at its limit and `solref` direct,
without stiffness, since states are assembled. They are still softened, and found by iterations from the last solution.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np

from ..models import (
    NUM_Q,
    NUM_U,
    Model,
    Pose,
    multiply_quaternions,
    quaternion_from_rotation,
    rotation_from_quaternion,
)
from .build import Unavailable, compile_program, run_program
from .engine import Array, Engine

SOURCE = Path(__file__).with_name("mujoco.c")


@functools.cache
def _import():
    """Import mujoco, or None."""
    try:
        import mujoco
    except ImportError:
        return None
    return mujoco


@functools.cache
def _program() -> tuple[Path, Path]:
    """Compile the C loop; return it and the folder of the library it needs."""
    folder = Path(_import().__file__).parent
    library = next(iter(sorted(folder.glob("libmujoco.so*"))), None)
    if library is None or not (folder / "include/mujoco/mujoco.h").exists():
        raise Unavailable("no headers or library in MuJoCo's package")
    flags = ["-O3", "-march=native", f"-I{folder / 'include'}"]
    return compile_program(SOURCE, flags, [str(library), "-lm"]), folder


def build(model: Model):
    """MuJoCo's model; its body frames are our frames M, so that every joint is at the origin."""
    mj = _import()
    joints = {
        "pin": (mj.mjtJoint.mjJNT_HINGE, (0, 0, 1)),
        "slider": (mj.mjtJoint.mjJNT_SLIDE, (1, 0, 0)),
        "ball": (mj.mjtJoint.mjJNT_BALL, (0, 0, 1)),
        "free": (mj.mjtJoint.mjJNT_FREE, (0, 0, 1)),
    }
    spec = mj.MjSpec()
    spec.compiler.balanceinertia = False
    spec.compiler.degree = False
    spec.option.gravity = model.gravity
    off = mj.mjtDisableBit
    used = {"mjDSBL_GRAVITY"}
    if model.ties:
        used |= {"mjDSBL_CONSTRAINT", "mjDSBL_EQUALITY", "mjDSBL_WARMSTART"}
    spec.option.disableflags = sum(
        int(getattr(off, name)) for name in dir(off) if name.startswith("mjDSBL_") and name not in used
    )
    made = [spec.worldbody]
    for b, body in enumerate(model.bodies):
        if body.kind == "free" and body.parent != 0:
            raise Unavailable("MuJoCo has free joints on base bodies only")
        X = model.pose_from_parent_joint(body)
        com, inertia = body.inertia_in_joint_frame()
        xx, yy, zz = np.diag(inertia)
        xy, xz, yz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
        new = made[body.parent].add_body(
            name=f"body{b + 1}",
            pos=X.p,
            quat=quaternion_from_rotation(X.R),
            mass=body.mass,
            ipos=com,
            fullinertia=[xx, yy, zz, xy, xz, yz],
            explicitinertial=True,
        )
        if body.kind != "weld":
            kind, axis = joints[body.kind]
            new.add_joint(type=kind, axis=axis, pos=(0, 0, 0))
        made.append(new)
    for number, tie in enumerate(model.ties):
        ends = []
        for side, index, point in ((1, tie.body1, tie.point1), (2, tie.body2, tie.point2)):
            X_MB = ~model.bodies[index - 1].X_BM if index else Pose()
            ends.append(f"tie{number}_{side}")
            made[index].add_site(name=ends[-1], pos=X_MB.p + X_MB.R @ point)
        equality = spec.add_equality(
            name=f"tie{number}", type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_SITE, name1=ends[0], name2=ends[1]
        )
        equality.solimp = [0.9999, 0.9999, 0.001, 0.5, 2]
        equality.solref = [0, -1e-10]
    return spec.compile()


class MuJoCo(Engine):
    """``mj_forward`` with everything switched off that can be, or its stages one by one."""

    name = "MuJoCo"

    @classmethod
    def missing(cls) -> str | None:
        """Say whether the Python package is there."""
        return None if _import() else "the Python package mujoco is not installed"

    @classmethod
    def version(cls) -> str:
        """Version of the library."""
        return _import().__version__

    @classmethod
    def loop_missing(cls) -> str | None:
        """Say whether the C can be compiled."""
        try:
            _program()
        except Unavailable as reason:
            return str(reason)
        return None

    def __init__(self, model: Model):
        super().__init__(model)
        if model.forces:
            raise Unavailable("forces beside gravity are not described to MuJoCo")
        mj = _import()
        self.mj_model = m = build(model)
        self._parts = []  # our part of q and of u, and MuJoCo's
        for b, (body, iq, iu) in enumerate(model.mobilities()):
            if body.kind != "weld":
                joint = m.body(f"body{b + 1}").jntadr[0]
                oq, ov = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
                theirs = slice(oq, oq + NUM_Q[body.kind]), slice(ov, ov + NUM_U[body.kind])
                self._parts.append(((body, iq, iu), theirs))
        d = mj.MjData(m)
        qpos, qvel, qacc = d.qpos, d.qvel, d.qacc
        bias, smooth = d.qfrc_bias, d.qfrc_smooth
        qacc_rows, smooth_rows = qacc.reshape(1, -1), smooth.reshape(1, -1)
        kinematics, com_pos, com_vel = mj.mj_kinematics, mj.mj_comPos, mj.mj_comVel
        make_m, factor_m, solve_m = mj.mj_makeM, mj.mj_factorM, mj.mj_solveM
        rne, forward, negative = mj.mj_rne, mj.mj_forward, np.negative

        def by_forward(q, v):
            qpos[:] = q
            qvel[:] = v
            forward(m, d)
            return qacc

        def by_stages(q, v):
            qpos[:] = q
            qvel[:] = v
            kinematics(m, d)
            com_pos(m, d)
            make_m(m, d)
            factor_m(m, d)
            com_vel(m, d)
            rne(m, d, 0, bias)
            negative(bias, smooth)
            solve_m(m, d, qacc_rows, smooth_rows)
            return qacc

        self.calls = {"mj_forward": by_forward}
        if not model.ties:  # the stages know no constraints
            self.calls["its stages"] = by_stages

    @property
    def tolerance(self) -> float:
        """Loose for ties, which MuJoCo softens."""
        return 2e-2 if self.model.ties else super().tolerance

    def arguments(self, name: str, q: Array, u: Array) -> tuple:
        """Convert the state; the calls take qpos and qvel, and copy them."""
        return self.native(q, u)

    def native(self, q: Array, u: Array) -> tuple[Array, Array]:
        """MuJoCo's qpos and qvel; it numbers bodies depth first."""
        qpos, qvel = np.zeros(self.mj_model.nq), np.zeros(self.mj_model.nv)
        for (body, iq, iu), (jq, jv) in self._parts:
            qb, ub = q[iq], u[iu]
            if body.kind == "ball":
                ub = rotation_from_quaternion(qb).T @ ub
            elif body.kind == "free":
                X_GF, wxyz = self._base(body), qb[:4]
                w = rotation_from_quaternion(wxyz).T @ ub[:3]
                turned = multiply_quaternions(quaternion_from_rotation(X_GF.R), wxyz)
                qb = np.concatenate([X_GF.p + X_GF.R @ qb[4:], turned])
                ub = np.concatenate([X_GF.R @ ub[3:], w])
            qpos[jq], qvel[jv] = qb, ub
        return qpos, qvel

    def neutral(self, q: Array, qacc: Array) -> Array:
        """Neutral accelerations from MuJoCo's."""
        u_dot = np.zeros(self.model.nu)
        for (body, iq, iu), (_, jv) in self._parts:
            a = qacc[jv]
            if body.kind in ("ball", "free"):
                R = rotation_from_quaternion(q[iq][:4])  # d/dt (R w_M) = R w_M_dot: w x w is zero
                linear = self._base(body).R.T @ a[:3] if body.kind == "free" else a[:0]
                a = np.concatenate([R @ a[-3:], linear])
            u_dot[iu] = a
        return u_dot

    def _base(self, body) -> Pose:
        return self.model.pose_from_parent_joint(body)

    def u_dots(self, q: Array, u: Array) -> dict[str, Array]:
        """Both ways through Python and, where it compiles, in C."""
        qpos, qvel = self.native(q, u)
        results = {}
        for name, call in self.calls.items():
            results[name] = self.neutral(q, np.array(call(qpos, qvel)))
        if not self.loop_missing():
            for name, result in self._run(q, u, 1, 1e-6).items():
                results[f"C, {name}"] = self.neutral(q, np.array(result["qacc"]))
        return results

    def compiled_loop(self, repeats: int, seconds: float) -> list[float]:
        """Take the faster of the stages alone and mj_forward."""
        runs = self._run(*self.model.random_state(0), repeats, seconds)
        return min((run["microseconds"] for run in runs.values()), key=min)

    def drift(self, q: Array, u: Array, time: float, steps: int, samples: int, repeats: int) -> dict:
        """Run RK4: wall ``seconds``, and ``drift``, the largest change of energy at so many even times."""
        program, arguments, folder = self._prepare(q, u)
        written = run_program(program, *arguments, repeats, time, steps, samples, folder=folder)
        run = json.loads(written.replace("-nan", "nan").replace("nan", "NaN").replace("inf", "Infinity"))
        energies = np.array(run["energies"])
        change = np.abs(energies - energies[0]).max()  # of steps that are too long not a number
        return {"seconds": run["seconds"], "steps": steps, "drift": float(change if np.isfinite(change) else np.inf)}

    def _prepare(self, q: Array, u: Array) -> tuple[Path, tuple[Path, Path], Path]:
        """Write model and state to files: the program, these, and the folder of its library."""
        compiled, state = self.scratch_file(".mjb"), self.scratch_file(".txt")
        _import().mj_saveModel(self.mj_model, str(compiled))
        lines = [" ".join(map(repr, [len(x), *map(float, x)])) for x in self.native(q, u)]
        state.write_text("\n".join(lines) + "\n")
        program, folder = _program()
        return program, (compiled, state), folder

    def _run(self, q: Array, u: Array, repeats: int, seconds: float) -> dict[str, dict]:
        """Run the C program both ways."""
        program, arguments, folder = self._prepare(q, u)
        return {
            name: json.loads(run_program(program, *arguments, repeats, seconds, full, folder=folder))
            for name, full in (("stages", 0), ("mj_forward", 1))
            if full or not self.model.ties
        }
