"""The models every engine is measured on, described without any engine's own conventions.

A body hangs on its parent by a mobilizer between frame F, fixed on the parent at ``X_PF``, and
frame M, fixed on the body at ``X_BM``. A joint's own coordinates are those of M in F:

    pin      q: angle about z                          u: its rate
    slider   q: distance along x                       u: its rate
    ball     q: quaternion (w, x, y, z) of R_FM        u: angular velocity w_FM, expressed in F
    free     q: quaternion, then p_FM expressed in F   u: w_FM, then v_FM, both expressed in F
    weld     none

Coordinates are packed body by body. This is Simbody's convention; the peers' adapters convert.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Array = np.ndarray

NUM_Q = {"pin": 1, "slider": 1, "ball": 4, "free": 7, "weld": 0}
NUM_U = {"pin": 1, "slider": 1, "ball": 3, "free": 6, "weld": 0}
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = (ROOT / "examples", ROOT / "src/mobod/examples")


@dataclass(frozen=True)
class Pose:
    """A frame B in a frame A: rotation ``R`` (3, 3) and origin ``p`` (3,)."""

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Pose) -> Pose:
        """Compose: X_AB @ X_BC = X_AC."""
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    def __invert__(self) -> Pose:
        """Invert: ~X_AB = X_BA."""
        return Pose(self.R.T, -self.R.T @ self.p)


@dataclass(frozen=True)
class Body:
    """One body with the mobilizer that holds it; mass properties about its origin, in its frame.

    Parameters
    ----------
    parent
        Number of the parent: 0 is Ground, ``n`` is the n-th body of the model.
    kind
        A key of ``NUM_Q``.
    com
        Mass center (3,) from the body origin.
    inertia
        Inertia (3, 3) about the body origin.
    """

    name: str
    parent: int
    kind: str
    X_PF: Pose
    X_BM: Pose
    mass: float
    com: Array
    inertia: Array

    def inertia_in_joint_frame(self) -> tuple[Array, Array]:
        """Mass center from M and central inertia, expressed in M: what other engines ask for."""
        central = self.inertia - self.mass * (self.com @ self.com * np.eye(3) - np.outer(self.com, self.com))
        R_MB = self.X_BM.R.T
        return R_MB @ (self.com - self.X_BM.p), R_MB @ central @ R_MB.T


@dataclass(frozen=True)
class Tie:
    """Two points that coincide, each from its body's origin and in its frame: a loop is closed by a ball joint."""

    body1: int
    point1: Array
    body2: int
    point2: Array


@dataclass(frozen=True)
class Damper:
    """A damper on mobility ``which`` of a body's mobilizer."""

    body: int
    which: int
    damping: float


@dataclass(frozen=True)
class Spring:
    """A spring between stations (3,) of two bodies, 0 being Ground."""

    body1: int
    station1: Array
    body2: int
    station2: Array
    stiffness: float
    rest_length: float


@dataclass(frozen=True)
class Bushing:
    """Six springs and dampers between frames on two bodies: three for x-y-z angles, three for distances."""

    body1: int
    frame1: Pose
    body2: int
    frame2: Pose
    stiffness: Array
    damping: Array


@dataclass(frozen=True)
class Model:
    """A tree of bodies, parents before children, forces beside gravity, and where it was read from if it is a robot.

    ``ties`` close loops; ``redundant`` where some of their equations say something twice.
    """

    name: str
    bodies: list[Body]
    gravity: Array = field(default_factory=lambda: np.array([0.0, -9.8, 0.0]))
    urdf: Path | None = None
    floating_base: bool = False
    ties: tuple[Tie, ...] = ()
    redundant: bool = False
    forces: tuple[Damper | Spring | Bushing, ...] = ()

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(NUM_Q[body.kind] for body in self.bodies)

    @property
    def nu(self) -> int:
        """Number of speeds."""
        return sum(NUM_U[body.kind] for body in self.bodies)

    def mobilities(self) -> Iterator[tuple[Body, slice, slice]]:
        """Each body with its part of q and its part of u."""
        i = j = 0
        for body in self.bodies:
            nq, nu = NUM_Q[body.kind], NUM_U[body.kind]
            yield body, slice(i, i + nq), slice(j, j + nu)
            i, j = i + nq, j + nu

    def pose_from_parent_joint(self, body: Body) -> Pose:
        """Frame F of a body in its parent's frame M (Ground's own frame for a base body)."""
        return ~self.bodies[body.parent - 1].X_BM @ body.X_PF if body.parent else body.X_PF

    def random_state(self, seed: int) -> tuple[Array, Array]:
        """Make a reproducible q (unit quaternions) and u of order one."""
        rng = np.random.default_rng(seed)
        q, u = rng.standard_normal(self.nq), rng.standard_normal(self.nu)
        for body, iq, _ in self.mobilities():
            if body.kind in ("ball", "free"):
                quaternion = q[iq][:4]
                quaternion /= np.linalg.norm(quaternion)
        return q, u

    def random_states(self, n: int) -> list[tuple[Array, Array]]:
        """Make the first ``n`` random states."""
        return [self.random_state(seed) for seed in range(n)]


def rotation_from_quaternion(wxyz: Array) -> Array:
    """R (3, 3) of a unit quaternion."""
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(R: Array) -> Array:
    """Find the unit quaternion, w >= 0, of R: an eigenvector of Bar-Itzhack's symmetric matrix."""
    K = np.zeros((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    wxyz = np.linalg.eigh(K)[1][:, -1]
    return wxyz if wxyz[0] >= 0 else -wxyz


def multiply_quaternions(a: Array, b: Array) -> Array:
    """Quaternion of R(a) R(b)."""
    w, v = a[0], a[1:]
    s, t = b[0], b[1:]
    return np.concatenate([[w * s - v @ t], w * t + s * v + np.cross(v, t)])


def random_rotation(rng: np.random.Generator) -> Array:
    """Draw a rotation, uniformly distributed."""
    wxyz = rng.standard_normal(4)
    return rotation_from_quaternion(wxyz / np.linalg.norm(wxyz))


def random_pose(rng: np.random.Generator) -> Pose:
    """Any orientation, origin about half a length unit away."""
    return Pose(random_rotation(rng), 0.3 * rng.standard_normal(3))


def random_body(rng: np.random.Generator, name: str, parent: int, kind: str) -> Body:
    """Draw a solid box, its mass center off the body origin, and its frames."""
    mass = rng.uniform(0.5, 1.5)
    half = rng.uniform(0.5, 1.2, 3)
    principal = np.diag(mass / 3 * (half @ half - half**2))
    R, com = random_rotation(rng), 0.1 * rng.standard_normal(3)
    inertia = R @ principal @ R.T + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return Body(name, parent, kind, random_pose(rng), random_pose(rng), mass, com, inertia)


def tree(name: str, kinds: list[str], parents: list[int]) -> Model:
    """Draw a model of given kinds and parents; the same name gives the same model."""
    rng = np.random.default_rng(list(name.encode()))
    bodies = [
        random_body(rng, f"body{b + 1}", parent, kind) for b, (kind, parent) in enumerate(zip(kinds, parents, strict=True))
    ]
    return Model(name, bodies)


def chain(name: str, kind: str, n: int) -> Model:
    """``n`` bodies, each on the one before."""
    return tree(name, [kind] * n, list(range(n)))


def humanoid() -> Model:
    """Build a free base and 28 pins: three limbs on it, and two that branch off the third."""
    limbs = [(1, 6), (1, 6), (1, 6), (15, 6), (15, 4)]  # (body it starts from, pins)
    parents = [0]
    for start, n in limbs:
        parents += [start] + [len(parents) + 1 + k for k in range(n - 1)]
    return tree("humanoid", ["free"] + ["pin"] * (len(parents) - 1), parents)


def damped(model: Model, damping: float) -> Model:
    """Add the same damper to each pin and slider."""
    forces = [Damper(b + 1, 0, damping) for b, body in enumerate(model.bodies) if body.kind in ("pin", "slider")]
    return dataclasses.replace(model, name=f"{model.name}, damped", forces=tuple(forces))


def sprung_mechanism(bodies: int = 30, springs: int = 70) -> Model:
    """Draw a tree of pins and balls with a bushing along each joint, and springs between bodies drawn at random.

    The bushings' angles are the joints', and stiff enough to keep these from a right angle, where bushings are singular.
    """
    rng = np.random.default_rng(30)
    kinds = ["ball" if b % 3 == 0 else "pin" for b in range(bodies)]
    parents = [0, *(int(rng.integers(max(0, b - 4), b + 1)) for b in range(1, bodies))]
    model = tree(f"sprung{bodies}", kinds, parents)
    forces: list[Damper | Spring | Bushing] = []
    for b, body in enumerate(model.bodies):
        stiffness, damping = np.array([300.0, 300.0, 300.0, 0, 0, 0]), np.array([1.0, 1.0, 1.0, 0, 0, 0])
        forces.append(Bushing(body.parent, body.X_PF, b + 1, body.X_BM, stiffness, damping))
    for _ in range(springs):
        one, two = (int(b) for b in rng.choice(bodies + 1, 2, replace=False))
        forces.append(Spring(one, 0.5 * rng.standard_normal(3), two, 0.5 * rng.standard_normal(3), 20.0, 0.0))
    return dataclasses.replace(model, forces=tuple(forces))


def lattice(springs: int = 10_000) -> Model:
    """Put 100 free bodies on a grid, with springs at their rest lengths between bodies, or Ground, drawn at random."""
    rng = np.random.default_rng(100)
    places = [np.array([x, y, z], dtype=float) for x in range(5) for y in range(5) for z in range(4)]
    inertia = 0.4 * np.eye(3)
    bodies = [
        Body(f"body{b + 1}", 0, "free", Pose(np.eye(3), place), Pose(), 1.0, np.zeros(3), inertia)
        for b, place in enumerate(places)
    ]
    origins = [np.array([2.0, 6.0, 1.5]), *places]
    forces = []
    for _ in range(springs):
        one, two = (int(b) for b in rng.choice(len(origins), 2, replace=False))
        stations = rng.uniform(-0.3, 0.3, (2, 3))
        length = float(np.linalg.norm(origins[one] + stations[0] - origins[two] - stations[1]))
        forces.append(Spring(one, stations[0], two, stations[1], 2.0, length))
    return Model(f"springs{springs}", bodies, forces=tuple(forces))


def from_pinocchio(robot, name: str, urdf: Path | None = None, floating_base: bool = False) -> Model:
    """Describe a Pinocchio model neutrally, whatever the axes of its joints."""
    bodies = []
    for j in range(1, robot.njoints):
        kind, R = _joint_of_pinocchio(robot.joints[j])
        F, M = robot.jointPlacements[j], robot.inertias[j]
        com, mass = np.array(M.lever), float(M.mass)
        inertia = M.inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
        X_PF = Pose(F.rotation @ R, np.array(F.translation))
        bodies.append(Body(robot.names[j], int(robot.parents[j]), kind, X_PF, Pose(R), mass, com, inertia))
    return Model(name, bodies, np.array(robot.gravity.linear), urdf, floating_base)


def _joint_of_pinocchio(joint) -> tuple[str, Array]:
    """Kind of a joint, and the rotation that takes our axis (pin z, slider x) to its own."""
    kind = joint.shortname().removeprefix("JointModel")
    if kind in ("FreeFlyer", "Spherical"):
        return {"FreeFlyer": "free", "Spherical": "ball"}[kind], np.eye(3)
    ours, family = ("slider", "P") if kind.startswith("P") else ("pin", "R")
    axis = dict(zip("XYZ", np.eye(3), strict=True)).get(kind[-1])
    if kind not in {family + suffix + a for suffix in ("", "UB") for a in "XYZ"}:
        if "Unaligned" not in kind:
            raise ValueError(f"no neutral description for Pinocchio's {joint.shortname()}")
        axis = np.array(joint.extract().axis if hasattr(joint, "extract") else joint.axis)
    return ours, rotation_taking(np.eye(3)[0 if ours == "slider" else 2], axis)


def rotation_taking(a: Array, b: Array) -> Array:
    """Find the smallest rotation R with R a = b, for unit vectors."""
    cosine = a @ b
    if cosine < -1 + 1e-12:  # opposite: half a turn about any perpendicular
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return 2 * np.outer(axis, axis) / (axis @ axis) - np.eye(3)
    v = np.cross(a, b)
    v_cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + v_cross + v_cross @ v_cross / (1 + cosine)


def load_robots() -> tuple[list[Model], list[str]]:
    """Read the bundled URDF robots by Pinocchio's parser; lines say what had to be left out."""
    files = sorted({path.stem: path for root in EXAMPLES for path in root.rglob("*.urdf")}.values())
    if not files:
        return [], ["robots left out: no URDF file among the examples"]
    try:
        import pinocchio as pin
    except ImportError:
        return [], ["robots left out: Pinocchio, which reads them, is not installed"]
    robots = []
    for path in files:
        settings = path.with_suffix(".json")  # what the bundled examples say about their robot
        floating = settings.exists() and json.loads(settings.read_text())["floating_base"]
        base = (pin.JointModelFreeFlyer(),) if floating else ()
        robot = pin.buildModelFromUrdf(str(path), *base)
        robots.append(from_pinocchio(robot, path.stem, path, floating))
    return robots, []


@functools.cache
def all_models() -> tuple[tuple[Model, ...], tuple[str, ...]]:
    """Every model of the benchmarks, and lines on what had to be left out."""
    robots, notes = load_robots()
    synthetic = [chain(f"pin{n}", "pin", n) for n in (1, 10, 30, 100, 1000)]
    synthetic += [chain("ball30", "ball", 30), chain("free30", "free", 30)]
    synthetic += [tree("tree255", ["pin"] * 255, [(b + 1) // 2 for b in range(255)]), humanoid()]
    return (*synthetic, *robots), tuple(notes)


def find_models(names: list[str] | None = None) -> tuple[list[Model], list[str]]:
    """Find the models of these names (all if None), and lines on what had to be left out."""
    models, notes = all_models()
    unknown = set(names or ()) - {model.name for model in models}
    if unknown:
        known = ", ".join(model.name for model in models)
        raise ValueError(f"no model {', '.join(sorted(unknown))}; there are {known}")
    return [model for model in models if not names or model.name in names], list(notes)
