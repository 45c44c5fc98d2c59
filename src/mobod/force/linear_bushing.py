"""LinearBushing: six springs and dampers between a frame F on one body and a frame M on another.

R_FM = Rx(q0) Ry(q1) Rz(q2)   p_FM = (q3, q4, q5)   q_dot from V_FM, of M in F and expressed in F: angles' rates are N w_FM
f_i = -(k_i q_i + c_i q_dot_i)   PE = 1/2 sum k_i q_i^2   power dissipated = sum c_i q_dot_i^2, which is the rate of its z
F_GM = [R_GF N^T f_012; R_GF f_345] on M, at M's origin; the opposite on F's body, at the same place

Sines and cosines of the angles are entries of R_FM, so that N takes none. It is singular where q1 is a right angle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import add_spatial, load3, load9, load_spatial
from ..algebra.scalar import atan2, sqrt, store
from ..compiling import generic
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import Transform, checks
from ..value.frames import from_twelve
from ..value.rows import in_rows, not_negative
from ..value.stage import Stage
from .base import Force, body_index
from .pools import number, numbers3, numbers9
from .routines import by_address
from .subsystem import GeneralForceSubsystem

#: Where the numbers begin: the two frames, rotation by rows and then origin; stiffnesses; dampings.
FRAME_1, FRAME_2, STIFFNESS, DAMPING = 0, 12, 24, 30


@generic
def frames(model: Any, integers: int, numbers: int) -> Any:
    """(b1, R_GF, F's origin from b1's), (b2, R_GM, M's origin from b2's), and M's origin from F's; in Ground."""
    b1, b2 = model.force_integers[integers], model.force_integers[integers + 1]
    R1, R2 = load9(model.R_GB, b1, 0), load9(model.R_GB, b2, 0)
    s1 = mat33.mul_vec(R1, numbers3(model, numbers + FRAME_1 + 9))
    s2 = mat33.mul_vec(R2, numbers3(model, numbers + FRAME_2 + 9))
    R_GF, R_GM = mat33.mul(R1, numbers9(model, numbers + FRAME_1)), mat33.mul(R2, numbers9(model, numbers + FRAME_2))
    r = vec3.sub(vec3.add(load3(model.p_GB, b2, 0), s2), vec3.add(load3(model.p_GB, b1, 0), s1))
    return (b1, R_GF, s1), (b2, R_GM, s2), r


@generic
def coordinates(R_GF: Any, R_GM: Any, r: Any) -> Any:
    """The six q; and sine and cosine of q0, sine and cosine of q1."""
    R = mat33.mul(mat33.transpose(R_GF), R_GM)
    p = mat33.transpose_mul_vec(R_GF, r)
    c1 = sqrt(R[0] * R[0] + R[1] * R[1])
    q = (atan2(-R[5], R[8]), atan2(R[2], c1), atan2(-R[1], R[0]), p[0], p[1], p[2])
    return q, (-R[5] / c1, R[8] / c1, R[2], c1)


@generic
def velocity(model: Any, b1: int, b2: int, R_GF: Any, s1: Any, s2: Any, r: Any) -> Any:
    """V_FM: of M in F, expressed in F."""
    w1, v1 = load_spatial(model.V_GB, b1)
    w2, v2 = load_spatial(model.V_GB, b2)
    # F's body at M's origin: what moves with F there
    v = vec3.sub(vec3.add(v2, vec3.cross(w2, s2)), vec3.add(v1, vec3.cross(w1, vec3.add(s1, r))))
    return mat33.transpose_mul_vec(R_GF, vec3.sub(w2, w1)), mat33.transpose_mul_vec(R_GF, v)


@generic
def rates(angles: Any, w: Any, v: Any) -> Any:
    """The six q_dot of V_FM."""
    s0, c0, s1, c1 = angles
    third = (c0 * w[2] - s0 * w[1]) / c1
    return w[0] - s1 * third, c0 * w[1] + s0 * w[2], third, v[0], v[1], v[2]


@generic
def moment(angles: Any, f: Any) -> Any:
    """N^T f: the moment, in F, of forces on the angles."""
    s0, c0, s1, c1 = angles
    third = (f[2] - s1 * f[0]) / c1
    return f[0], c0 * f[1] - s0 * third, s0 * f[1] + c0 * third


@generic
def motion(model: Any, integers: int, numbers: int) -> Any:
    """q, q_dot, and what `push` takes."""
    (b1, R_GF, s1), (b2, R_GM, s2), r = frames(model, integers, numbers)
    q, angles = coordinates(R_GF, R_GM, r)
    w, v = velocity(model, b1, b2, R_GF, s1, s2, r)
    return q, rates(angles, w, v), (b1, b2, R_GF, s1, s2, r, angles)


@generic
def push(model: Any, between: Any, turning: Any, moving: Any) -> None:
    """Forces on the six q, as force and torque at M's origin on its body; the opposite on F's."""
    b1, b2, R_GF, s1, s2, r, angles = between
    torque, f = mat33.mul_vec(R_GF, moment(angles, turning)), mat33.mul_vec(R_GF, moving)
    add_spatial(model.body_forces, b2, vec3.add(torque, vec3.cross(s2, f)), f)
    opposite = vec3.add(torque, vec3.cross(vec3.add(s1, r), f))
    add_spatial(model.body_forces, b1, vec3.neg(opposite), vec3.neg(f))


@generic
def dissipation(model: Any, c: int, q_dot: Any) -> Any:
    """The sum of c q_dot^2; the dampings are numbers from *c* on."""
    turning = number(model, c) * q_dot[0] * q_dot[0] + number(model, c + 1) * q_dot[1] * q_dot[1]
    turning = turning + number(model, c + 2) * q_dot[2] * q_dot[2]
    moving = number(model, c + 3) * q_dot[3] * q_dot[3] + number(model, c + 4) * q_dot[4] * q_dot[4]
    return turning + moving + number(model, c + 5) * q_dot[5] * q_dot[5]


@generic
def force(model: Any, numbers: int, i: int, q: Any, q_dot: Any) -> Any:
    """f_i."""
    return -(number(model, numbers + STIFFNESS + i) * q + number(model, numbers + DAMPING + i) * q_dot)


@generic
def forces(model: Any, numbers: int, q: Any, q_dot: Any) -> Any:
    """The six f."""
    turning = (
        force(model, numbers, 0, q[0], q_dot[0]),
        force(model, numbers, 1, q[1], q_dot[1]),
        force(model, numbers, 2, q[2], q_dot[2]),
    )
    moving = (
        force(model, numbers, 3, q[3], q_dot[3]),
        force(model, numbers, 4, q[4], q_dot[4]),
        force(model, numbers, 5, q[5], q_dot[5]),
    )
    return turning, moving


@generic
def add(model: Any, integers: int, numbers: int, z: int) -> None:
    """The forces on both bodies, and the rate of z."""
    q, q_dot, between = motion(model, integers, numbers)
    turning, moving = forces(model, numbers, q, q_dot)
    push(model, between, turning, moving)
    store(model.z_dot, z, 0, dissipation(model, numbers + DAMPING, q_dot))


@generic
def energy(model: Any, integers: int, numbers: int, z: int) -> Any:
    """1/2 the sum of k q^2."""
    (_, R_GF, _), (_, R_GM, _), r = frames(model, integers, numbers)
    q, _ = coordinates(R_GF, R_GM, r)
    k = numbers + STIFFNESS
    turning = number(model, k) * q[0] * q[0] + number(model, k + 1) * q[1] * q[1] + number(model, k + 2) * q[2] * q[2]
    moving = number(model, k + 3) * q[3] * q[3] + number(model, k + 4) * q[4] * q[4] + number(model, k + 5) * q[5] * q[5]
    return 0.5 * (turning + moving)


@generic
def power(model: Any, integers: int, numbers: int, z: int) -> Any:
    """The sum of c q_dot^2."""
    return dissipation(model, numbers + DAMPING, motion(model, integers, numbers)[1])


def _six(what: str, value: Any) -> Array:
    """Six finite numbers, zero or more."""
    numbers = checks.array(what, value, (6,))
    if (numbers < 0.0).any():
        raise ModelError(f"{what} has to be six numbers, all zero or more, got {value!r}")
    return numbers


in_rows(_six)(not_negative)


class LinearBushing(Force):
    """A compliant connection of two bodies, with a stiffness and a damping for each of six directions.

    Parameters
    ----------
    body1 : MobilizedBody
        The body of frame F.
    frame1 : Transform
        F in its body.
    body2 : MobilizedBody
        The body of frame M.
    frame2 : Transform
        M in its body.
    stiffness : (6,) array_like
        Of the three angles, torque/angle, and of the three displacements along F's axes, force/length; zero or more.
    damping : (6,) array_like
        Of their rates; zero or more.

    Raises
    ------
    TypeError, ValueError
        If a body or a frame is none, or stiffness or damping are not six finite numbers, zero or more.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    The coordinates are those of a `mobilizer.Bushing` between the frames. They are exact for large displacements too, but are
    found from the pose alone: angles jump by a whole turn at half a turn, and the second has to stay away from a right angle.

    The energy that is dissipated is integrated: it is the bushing's z.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> here, ground = mb.Transform(), system.matter.ground
    >>> part = mb.force.LinearBushing(system.forces, ground, here, system.matter.bodies["lower"], here, 6 * [10.0], 6 * [1.0])
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> round(part.calc_potential_energy_contribution(state), 6)
    21.66061
    """

    acts_between = True
    routine = by_address(add, energy, power, with_z=True)
    num_z = 1

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        frame1: Transform,
        body2: MobilizedBody,
        frame2: Transform,
        stiffness: npt.ArrayLike,
        damping: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        bodies = [body_index(forces, "body1", body1), body_index(forces, "body2", body2)]
        numbers = self.declared(name, frame1=frame1, frame2=frame2, stiffness=stiffness, damping=damping)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = bodies, numbers

    def reach(self) -> tuple[list[int], list[int]]:
        return self.default_integers[:2], []

    def get_body1(self) -> MobilizedBody:
        """The body of frame F."""
        return self._body(0)

    def get_body2(self) -> MobilizedBody:
        """The body of frame M."""
        return self._body(1)

    get_default_frame1, set_default_frame1, get_frame1, set_frame1 = parameters.frame("frame1", "F in its body").accessors()
    get_default_frame2, set_default_frame2, get_frame2, set_frame2 = parameters.frame("frame2", "M in its body").accessors()
    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.vector(
        "stiffness", "torque/angle, force/length", "the stiffnesses of three angles, then of three displacements", _six, size=6
    ).accessors()
    get_default_damping, set_default_damping, get_damping, set_damping = parameters.vector(
        "damping", "torque*time/angle, force*time/length", "the dampings, likewise", _six, size=6
    ).accessors()

    # ------------------------------------------------------------------------------------------ positions

    def get_q(self, state: State) -> Array:
        """Its coordinates ``(6,)``: x-y-z angles of M in F, then M's origin in F. Needs POSITION."""
        (_, R_GF, _), (_, R_GM, _), r = self._frames(state, "get_q")
        return np.array(coordinates(R_GF, R_GM, r)[0])

    def get_x_gf(self, state: State) -> Transform:
        """The pose of F in Ground. Needs POSITION."""
        (b, R, s), _, _ = self._frames(state, "get_x_gf")
        return from_twelve([*R, *(state.record.p_GB[b] + s)])

    def get_x_gm(self, state: State) -> Transform:
        """The pose of M in Ground. Needs POSITION."""
        _, (b, R, s), _ = self._frames(state, "get_x_gm")
        return from_twelve([*R, *(state.record.p_GB[b] + s)])

    def get_x_fm(self, state: State) -> Transform:
        """The pose of M in F. Needs POSITION."""
        (_, R_GF, _), (_, R_GM, _), r = self._frames(state, "get_x_fm")
        return from_twelve([*mat33.mul(mat33.transpose(R_GF), R_GM), *mat33.transpose_mul_vec(R_GF, r)])

    def get_potential_energy(self, state: State) -> float:
        """Its potential energy, zero where it is disabled. Needs POSITION."""
        return self.calc_potential_energy_contribution(state)

    # ------------------------------------------------------------------------------------------ velocities and forces

    def get_q_dot(self, state: State) -> Array:
        """The rates of its coordinates ``(6,)``. Needs VELOCITY."""
        self._frames(state, "get_q_dot", Stage.VELOCITY)
        return np.array(motion(state.record, self.span[0], self.span[2])[1])

    def get_v_gf(self, state: State) -> Array:
        """The velocity ``(2, 3)`` of F in Ground, angular first. Needs VELOCITY."""
        (b, _, s), _, _ = self._frames(state, "get_v_gf", Stage.VELOCITY)
        return _at(state.V_GB[b], s)

    def get_v_gm(self, state: State) -> Array:
        """The velocity ``(2, 3)`` of M in Ground, angular first. Needs VELOCITY."""
        _, (b, _, s), _ = self._frames(state, "get_v_gm", Stage.VELOCITY)
        return _at(state.V_GB[b], s)

    def get_v_fm(self, state: State) -> Array:
        """The velocity ``(2, 3)`` of M in F, expressed in F, angular first. Needs VELOCITY."""
        (b1, R_GF, s1), (b2, _, s2), r = self._frames(state, "get_v_fm", Stage.VELOCITY)
        return np.array(velocity(state.record, b1, b2, R_GF, s1, s2, r))

    def get_f(self, state: State) -> Array:
        """Its forces ``(6,)`` on its coordinates. Needs VELOCITY."""
        self._frames(state, "get_f", Stage.VELOCITY)
        q, q_dot, _ = motion(state.record, self.span[0], self.span[2])
        return np.array(forces(state.record, self.span[2], q, q_dot)).ravel()

    def get_f_gm(self, state: State) -> Array:
        """Torque and force ``(2, 3)`` on body 2 at M's origin, in Ground. Needs VELOCITY."""
        (_, R_GF, _), (_, R_GM, _), r = self._frames(state, "get_f_gm", Stage.VELOCITY)
        f = self.get_f(state)
        angles = coordinates(R_GF, R_GM, r)[1]
        R = np.reshape(R_GF, (3, 3))
        return np.array([R @ moment(angles, f[:3]), R @ f[3:]])

    def get_f_gf(self, state: State) -> Array:
        """Torque and force ``(2, 3)`` on body 1 at F's origin, in Ground: the opposite, shifted. Needs VELOCITY."""
        _, _, r = self._frames(state, "get_f_gf", Stage.VELOCITY)
        torque, f = self.get_f_gm(state)
        return np.array([-torque - np.cross(r, f), -f])

    def get_power_dissipation(self, state: State) -> float:
        """The power that its dampers turn into heat, zero where it is disabled. Needs VELOCITY."""
        return self.calc_power_dissipation(state)

    def get_dissipated_energy(self, state: State) -> float:
        """The energy that its dampers have turned into heat since it was last set, or 0 at first. Needs MODEL."""
        self._check(state, "get_dissipated_energy")
        return float(state.z_values[self.first_z])

    def set_dissipated_energy(self, state: State, energy: float) -> None:
        """Begin to count from *energy*; the state falls to VELOCITY at most."""
        self._check(state, "set_dissipated_energy")
        value = checks.finite("energy", energy)
        state.upd_z()[self.first_z] = value

    def _frames(self, state: State, asked: str, stage: Stage = Stage.POSITION) -> Any:
        self._check(state, asked)
        need = state.need_positions if stage == Stage.POSITION else state.need_velocities
        need(self.get_body1(), asked)
        return frames(state.record, self.span[0], self.span[2])


def _at(V: Array, s: Any) -> Array:
    """The velocity of a point at s from the origin whose velocity is V."""
    return np.array([V[0], V[1] + np.cross(V[0], s)])
