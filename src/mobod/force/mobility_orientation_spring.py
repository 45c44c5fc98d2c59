"""MobilityOrientationSpring: turns a mobilizer's frame M back to an orientation in F, about the axis by which it has turned.

r = t n   axis times angle, at most pi, of R_FM R_rest^T, in F       torque on M = -(k0 + k1 t + k2 t^2) r
f_i = w_i . torque, with w_i the angular part of the mobility's hinge column     PE = k0 t^2 / 2 + k1 t^3 / 3 + k2 t^4 / 4

The rate of t is n . w_FM, so that the torque's power is the energy's loss. It is the spring of MuJoCo's ball and free joints.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import mat33, quaternion, vec3
from ..algebra.memory import load3, load9
from ..algebra.scalar import cos, load, one, sin, sqrt, store, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value import Rotation, checks
from ._polynomial import energy_at, slope, stiffness
from .base import Force, body_index
from .pools import numbers9
from .routines import by_address
from .subsystem import GeneralForceSubsystem

IDENTITY = Rotation()


@generic
def turned(model: Any, integers: int, numbers: int) -> Any:
    """R_GF and r. Numbers: k0, k1, k2, R_rest."""
    b = model.force_integers[integers]
    R_GF = mat33.mul(load9(model.R_GB, model.parent[b], 0), load9(model.R_PF, b, 0))
    R_GM = mat33.mul(load9(model.R_GB, b, 0), load9(model.R_BM, b, 0))
    R_FM = mat33.mul(mat33.transpose(R_GF), R_GM)
    q = quaternion.from_rotation(mat33.mul_transpose(R_FM, numbers9(model, numbers + 3)))
    return R_GF, quaternion.to_rotation_vector(q)


@generic
def length(r: Any) -> Any:
    """|r|, zero without a rate where r is zero."""
    square = vec3.dot(r, r)
    some = square > 1e-30
    return where(some, sqrt(where(some, square, square + 1.0)), zero(square))


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """The torque, on all mobilities that turn M."""
    b = model.force_integers[integers]
    R_GF, r = turned(model, integers, numbers)
    torque = mat33.mul_vec(R_GF, vec3.scale(-stiffness(model, numbers, length(r)), r))
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        f = vec3.dot(load3(model.H, i, 0), torque)
        store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) + f)


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """Of the angle."""
    _, r = turned(model, integers, numbers)
    return energy_at(model, numbers, length(r))


@generic
def _turned_by(r: Any, t: Any, w: Any) -> Any:
    """The change of r, of length t, as M turns in F along w: w - r x w / 2 + c r x (r x w), c = (1 - t/2 cot t/2) / t^2."""
    small = t < 0.05
    half = 0.5 * where(small, one(t), t)
    c = 0.25 * (1.0 - half * cos(half) / sin(half)) / (half * half)
    tt = t * t
    c = where(small, (1.0 / 12.0) + tt * ((1.0 / 720.0) + tt * (1.0 / 30240.0)), c)
    across = vec3.cross(r, w)
    return vec3.add_scaled(vec3.add_scaled(w, zero(t) - 0.5, across), c, vec3.cross(r, across))


@generic
def subtract_slopes(model: Any, integers: int, numbers: int, D: Any) -> None:
    """Subtract from *D* the derivatives of its forces by displacements, of a mobilizer whose columns are constant in F."""
    b = model.force_integers[integers]
    R_GF, r = turned(model, integers, numbers)
    t = length(r)
    some = t > 0.0
    k, rise = stiffness(model, numbers, t), where(some, slope(model, numbers, t) / where(some, t, one(t)), zero(t))
    for j in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        change = _turned_by(r, t, mat33.transpose_mul_vec(R_GF, load3(model.H, j, 0)))
        torque = mat33.mul_vec(R_GF, vec3.add_scaled(vec3.scale(k, change), rise * vec3.dot(r, change), r))
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            store(D, i, j, load(D, i, j) + vec3.dot(load3(model.H, i, 0), torque))


class MobilityOrientationSpring(Force):
    """A spring that turns a mobilizer back to an orientation, the shortest way: of a ball joint, or a free one's rotation.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on, of any kind that has mobilities.
    stiffness : float
        Torque by angle.
    rest_rotation : Rotation, optional
        The orientation of M in F without a torque; the identity unless given.
    quadratic_stiffness, cubic_stiffness : float
        Torque by the angle's square and its cube: MJCF's ``stiffness`` of three numbers. None of the three has to be positive.

    Raises
    ------
    TypeError, ValueError
        If the body is none or has no mobilities, or a number not finite.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    The torque is along the axis about which M has turned from its rest, and the angle is from 0 to pi: it jumps to the other
    side where the angle passes pi. Forward and reversed mobilizers, quaternions and Euler angles make no difference.
    For springs on single angles of a Ball, as of OpenSim's coordinates, take `MobilityLinearSpring` and Euler angles.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> head = mb.mobilizer.Ball(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    >>> neck = mb.force.MobilityOrientationSpring(forces, head, 2.0)
    >>> state = system.realize_topology()
    >>> head.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.5, "z"))
    >>> system.realize(state)
    >>> state.u_dot.round(12).tolist(), round(neck.calc_potential_energy_contribution(state), 12)
    ([0.0, 0.0, -1.0], 0.25)
    """

    routine = by_address(add, energy)
    reads_mobilizers = True
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        stiffness: float,
        rest_rotation: Rotation | npt.ArrayLike = IDENTITY,
        *,
        quadratic_stiffness: float = 0.0,
        cubic_stiffness: float = 0.0,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        b = body_index(forces, "mobod", mobod)
        body = forces.get_system().get_matter_subsystem().body_list[b]
        if body.facts.num_u == 0:
            raise ModelError(f"an orientation spring turns a mobilizer, and {body!r} has no mobilities")
        numbers = self.declared(
            name,
            stiffness=stiffness,
            quadratic_stiffness=quadratic_stiffness,
            cubic_stiffness=cubic_stiffness,
            rest_rotation=rest_rotation,
        )
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = [b], numbers

    def get_mobilized_body(self) -> MobilizedBody:
        """The body whose mobilizer it acts on."""
        return self._body(0)

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "torque/angle", checks.finite, "the stiffness"
    ).accessors()
    get_default_quadratic_stiffness, set_default_quadratic_stiffness, get_quadratic_stiffness, set_quadratic_stiffness = (
        parameters.scalar("quadratic_stiffness", "torque/angle^2", checks.finite, "the torque by the angle squared").accessors()
    )
    get_default_cubic_stiffness, set_default_cubic_stiffness, get_cubic_stiffness, set_cubic_stiffness = parameters.scalar(
        "cubic_stiffness", "torque/angle^3", checks.finite, "the torque by the angle cubed"
    ).accessors()
    get_default_rest_rotation, set_default_rest_rotation, get_rest_rotation, set_rest_rotation = parameters.rotation(
        "rest_rotation", "the orientation of M in F without a torque"
    ).accessors()
