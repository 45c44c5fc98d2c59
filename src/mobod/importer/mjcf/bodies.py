"""Bodies and joints.

MuJoCo moves a body by its joints one after the other, the first nearest to the parent: with X_PB the body's frame at the
reference of all joints, and p_j and a_j anchor and axis of joint j in the body,

    X = X_PB J_1 J_2 ... J_n     hinge  J = T(p) R(a, q - ref) T(-p)    slide  J = T(a (q - ref))    ball  J = T(p) R(q) T(-p)

which is a chain of mobilizers on massless bodies, exact for any axes and anchors and any mixture of joints. (One FunctionBased
mobilizer could say the same only for joints of one anchor, and costs more: docs/reference/models_from_files.md.) The chain's
massless bodies have the frame M of their mobilizer as their own, so that only a body of the file has an X_BM to multiply with.
A free joint gives the pose in the world. Each joint's q is MuJoCo's qpos, its reference included, since F is turned or shifted
by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import body as bodies, mobilizer
from ...algebra.arrays import Array
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem
from ...value import MassProperties, Transform
from ...value.inertia import point_inertia
from ..parts import rotation_taking
from .source import Source, rotation_of

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3
#: By MuJoCo's number of the kind of joint.
_KINDS = {FREE: mobilizer.Free, BALL: mobilizer.Ball, SLIDE: mobilizer.Slider, HINGE: mobilizer.Pin}


@dataclass(frozen=True)
class Joint:
    """A joint of the file: its mobilizer, and where its numbers are in MuJoCo's arrays and in the state's."""

    name: str
    kind: int
    mobod: MobilizedBody
    qpos: int
    dof: int
    q: int
    u: int
    #: Axis in the frame of the file's body.
    axis: Array


class Tree:
    """Makes the bodies of a file, in its order.

    Attributes
    ----------
    bodies : list of MobilizedBody
        By MuJoCo's id of the body.
    joints : list of Joint
        By MuJoCo's id of the joint.
    """

    def __init__(self, source: Source, matter: SimbodyMatterSubsystem) -> None:
        self.source, self.matter = source, matter
        m = source.m
        self.bodies: list[MobilizedBody] = [matter.ground]
        self.joints: list[Joint] = []
        self._nq = self._nu = 0
        self._names = {matter.ground.name, *source.bodies[1:]}
        pos, inertia_pos = np.array(m.body_pos), np.array(m.body_ipos)
        columns = (m.body_parentid, m.body_jntnum, m.body_jntadr, m.body_mass)
        parents, counts, firsts, masses = (column.tolist() for column in columns)
        for b in range(1, m.nbody):
            part = self._part(masses[b], inertia_pos[b], m.body_iquat[b], m.body_inertia[b])
            X_PB = Transform.trusted(rotation_of(m.body_quat[b]), pos[b])
            chain = range(firsts[b], firsts[b] + counts[b]) if counts[b] else range(0)
            self.bodies.append(self._mobilize(b, self.bodies[parents[b]], part, X_PB, chain))

    @staticmethod
    def _part(mass: float, com: Array, quaternion: Array, moments: Array) -> bodies.Body:
        """Mass properties as MuJoCo has them, whether a body can have them or not."""
        if mass == 0.0 and not moments.any():
            return bodies.Massless()
        R = rotation_of(quaternion)
        I = (R * moments) @ R.T
        I = 0.5 * (I + I.T) + point_inertia(com, mass)
        return bodies.Rigid(MassProperties.trusted(mass, com, I))

    def _mobilize(self, b: int, parent: Any, part: bodies.Body, X: Transform, chain: range) -> MobilizedBody:
        name = self._name_of(b)
        if not chain:
            return mobilizer.Weld(parent, part, X_PF=X, name=name)
        for j in chain:
            last = j == chain[-1]
            kind, X_BF, X_BM = self._frames(j)
            made = part if last else bodies.Massless()
            X_PF = X_BF if kind == FREE else X @ X_BF  # a free joint's is the pose in the world
            own = name if last else self._unique(f"{name}/{self.source.joints[j]}")
            parent = _KINDS[kind](parent, made, X_PF=X_PF, X_BM=X_BM if last else Transform(), name=own)
            X = ~X_BM  # the body's frame in the massless body's
            self._keep(j, kind, parent)
        return parent

    def _frames(self, j: int) -> tuple[int, Transform, Transform]:
        """F at the reference, and M, both in the body's frame."""
        m = self.source.m
        kind, p = int(m.jnt_type[j]), np.array(m.jnt_pos[j])
        if kind == FREE:
            return kind, Transform(), Transform()
        if kind == BALL:
            return kind, Transform.trusted(np.eye(3), p), Transform.trusted(np.eye(3), p)
        reference, axis = float(m.qpos0[m.jnt_qposadr[j]]), np.array(m.jnt_axis[j])
        A = rotation_taking(2 if kind == HINGE else 0, axis)
        if kind == HINGE:
            c, s = np.cos(reference), np.sin(reference)
            back = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
            return kind, Transform.trusted(A @ back, p), Transform.trusted(A, p)
        return kind, Transform.trusted(A, p - reference * axis), Transform.trusted(A, p)

    def _keep(self, j: int, kind: int, mobod: MobilizedBody) -> None:
        m, name = self.source.m, self.source.joints[j]
        mobod.joint_name = name
        qpos, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if kind in (SLIDE, HINGE):
            mobod.default_q[:] = m.qpos0[qpos]
        elif kind == BALL:
            mobod.default_q[:] = m.qpos0[qpos : qpos + 4]
        else:
            mobod.default_q[:] = [*m.qpos0[qpos + 3 : qpos + 7], *m.qpos0[qpos : qpos + 3]]
        self.joints.append(Joint(name, kind, mobod, qpos, dof, self._nq, self._nu, np.array(m.jnt_axis[j])))
        self._nq += mobod.facts.num_q
        self._nu += mobod.facts.num_u

    def _name_of(self, b: int) -> str:
        """The body's name, or one near it if Ground has that already."""
        name = self.source.bodies[b]
        return self._unique(f"{name}_body") if name == self.matter.ground.name else name

    def _unique(self, name: str) -> str:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def name_coordinates(self) -> tuple[dict[str, int], dict[str, int], set[str]]:
        """Coordinates and speeds by name, and which are angles."""
        q: dict[str, int] = {}
        u: dict[str, int] = {}
        angles = set()
        for joint in self.joints:
            for names, first, count in ((q, joint.q, joint.mobod.facts.num_q), (u, joint.u, joint.mobod.facts.num_u)):
                for k in range(count):
                    name = joint.name if count == 1 else f"{joint.name}[{k}]"
                    names[name if name not in names else f"{joint.name}/{name}"] = first + k
            if joint.kind == HINGE:
                angles.add(next(reversed(q)))
        return q, u, angles
