"""Pinocchio reads the same files independently: poses, mass matrix and accelerations agree."""

from __future__ import annotations

import importlib.metadata
import warnings
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.importer import Model

pin = pytest.importorskip("pinocchio")

CASES = [("panda", False), ("panda", True), ("g1", False), ("g1", True)]


class Peer:
    """Pinocchio's model of a file, spoken to in mobod's coordinates and speeds."""

    def __init__(self, path: Path, model: Model, floating_base: bool) -> None:
        if floating_base:
            self.model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        else:
            self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.floating_base = floating_base
        self.mine = model
        # where each of mobod's one-axis speeds is in Pinocchio's v
        first = 6 if floating_base else 0
        names = list(model.speeds)[first:]
        self.order = [*range(first), *(self.joint(name).idx_v for name in names)]

    def joint(self, name: str):
        return self.model.joints[self.model.getJointId(name)]

    def q(self, q: np.ndarray) -> np.ndarray:
        theirs = pin.neutral(self.model)
        if self.floating_base:
            w, x, y, z = q[:4]
            theirs[:7] = [*q[4:7], x, y, z, w]
        for name, index in list(self.mine.coordinates.items())[7 if self.floating_base else 0 :]:
            joint = self.joint(name)
            if joint.nq == 2:  # a continuous joint has the cosine and the sine of its angle
                theirs[joint.idx_q : joint.idx_q + 2] = np.cos(q[index]), np.sin(q[index])
            else:
                theirs[joint.idx_q] = q[index]
        return theirs

    def to_theirs(self, q: np.ndarray) -> np.ndarray:
        """T with v = T u: their base has linear before angular velocity, in the base's frame."""
        n = len(self.order)
        T = np.zeros((n, n))
        T[self.order, range(n)] = 1.0
        if self.floating_base:
            R = np.asarray(mb.Rotation.from_quaternion(q[:4]))
            T[:6, :6] = 0.0
            T[:3, 3:6] = T[3:6, :3] = R.T
        return T

    def forward_kinematics(self, q: np.ndarray) -> dict[str, np.ndarray]:
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return {
            frame.name: self.data.oMf[number].homogeneous
            for number, frame in enumerate(self.model.frames)
            if frame.type == pin.FrameType.BODY
        }

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = pin.crba(self.model, self.data, self.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        T = self.to_theirs(q)
        return T.T @ M @ T

    def u_dot(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        T = self.to_theirs(q)
        v = T @ u
        v_dot = pin.aba(self.model, self.data, self.q(q), v, np.zeros(self.model.nv))
        if self.floating_base:  # from the rate of the components in the moving frame to the vector's
            v_dot[:3] += np.cross(v[3:6], v[:3])
        return np.linalg.solve(T, v_dot)


def random_motion(model: Model, floating_base: bool, rng: np.random.Generator):
    state = model.default_state()
    q = rng.uniform(-2, 2, len(state.q))
    if floating_base:
        q[:4] /= np.linalg.norm(q[:4])
    return q, rng.uniform(-2, 2, len(state.u))


def assert_agrees(path: Path, model: Model, floating_base: bool, tolerance: float) -> None:
    """Compare at random coordinates and speeds; errors are relative to an array's largest entry."""
    peer = Peer(path, model, floating_base)
    rng = np.random.default_rng(20240607)
    for _ in range(3):
        q, u = random_motion(model, floating_base, rng)
        state = model.default_state()
        state.q, state.u = q, u
        model.system.realize(state, mb.Stage.ACCELERATION)
        poses = peer.forward_kinematics(q)
        assert set(poses) >= set(model.bodies)
        for name, body in model.bodies.items():
            assert_allclose(np.asarray(body.get_body_transform(state)), poses[name], atol=1e-12)
        for ours, theirs in (
            (model.matter.calc_m(state), peer.mass_matrix(q)),
            (state.u_dot, peer.u_dot(q, u)),
        ):
            assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max(initial=1e-300))


@pytest.mark.parametrize(("name", "floating_base"), CASES)
def test_the_bundled_robots(name, floating_base):
    with as_file(files("mobod") / "examples" / f"{name}.urdf") as path:
        model = mb.load_urdf(path, floating_base=floating_base, mimic=False, joint_damping=False, joint_limits=False)
        assert_agrees(path, model, floating_base, 1e-11)


# Robots in the wild: every file of the example-robot-data package, if that is installed


def find_wild() -> list[Path]:
    try:
        found = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in found if file.suffix == ".urdf")


WILD = find_wild()

REFUSED = {
    "ur3.urdf": "the robot has no links",
}
"""Files that are broken, and what is said of them."""


def test_there_are_robots_in_the_wild():
    if not WILD:
        pytest.skip("example-robot-data is not installed")


@pytest.mark.parametrize("path", WILD, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_robots_in_the_wild(path, floating_base):
    if path.name in REFUSED:
        with pytest.raises(mb.ModelError, match=REFUSED[path.name]):
            mb.load_urdf(path, floating_base=floating_base, mimic=False, joint_damping=False, joint_limits=False)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = mb.load_urdf(path, floating_base=floating_base, mimic=False, joint_damping=False, joint_limits=False)
    if any("move no mass" in str(warning.message) for warning in caught):
        state = model.default_state()
        model.system.realize(state, mb.Stage.ACCELERATION)
        assert np.isfinite(state.u_dot).all()
    elif len(model.speeds) > 0:
        assert_agrees(path, model, floating_base, 1e-8)
