"""SimbodyMatterSubsystem: the bodies and mobilizers of a system, and the operators on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from . import prescribing
from ._numbers import behaved, numbers
from .constrained import Constrained
from .errors import ModelError, TopologyError
from .mobilizer._checked import full
from .mobilizer.base import MobilizedBody
from .mobilizer.ground import Ground
from .particles import ParticleSubsystem
from .prescribed import Prescribed
from .stage import Stage
from .tree import (
    articulated_inertia,
    composite_inertia,
    explicit_mass_matrix,
    forward_dynamics,
    inverse_dynamics,
    inverse_mass_matrix,
    jacobian,
    mass_matrix,
    mobilizer_motion,
    momentum,
    rates,
    reaction,
)
from .tree import realize as _realize
from .value import ArticulatedInertia, Inertia, MassProperties, Rotation, SpatialInertia

if TYPE_CHECKING:
    from .state import State
    from .system import MultibodySystem
    from .tree.tree import Tree

Array = npt.NDArray[np.float64]
#: A bit of State._valid that kernels do not know: articulated inertias are in their rows.
_STORED = 1 << 16
ArrayLike = npt.ArrayLike
_empty = np.empty  # found in one step by what a microsecond matters to
_SPATIAL = 2, 3

_FLOAT64 = np.dtype(np.float64)

#: Where a reaction is asked for.
_REACTION_PLACES = {
    "on body at its origin": reaction.AT_BODY_ORIGIN,
    "on body at M": reaction.AT_M,
    "on parent at F": reaction.ON_PARENT_AT_F,
    "on parent at its origin": reaction.ON_PARENT_AT_ORIGIN,
}


class Bodies(Sequence[MobilizedBody]):
    """The mobilized bodies by index or by name, Ground first: ``matter.bodies[1]``, ``matter.bodies["upper"]``."""

    def __init__(self, bodies: list[MobilizedBody], names: dict[str, MobilizedBody]) -> None:
        self._bodies, self._names = bodies, names

    @overload
    def __getitem__(self, key: int | str) -> MobilizedBody: ...
    @overload
    def __getitem__(self, key: slice) -> list[MobilizedBody]: ...
    def __getitem__(self, key: int | str | slice) -> MobilizedBody | list[MobilizedBody]:
        if isinstance(key, str):
            try:
                return self._names[key]
            except KeyError:
                import difflib

                near = difflib.get_close_matches(key, self._names)
                some = ", ".join(list(self._names)[:8]) + (", ..." if len(self._names) > 8 else "")
                hint = f"did you mean {near[0]!r}?" if near else f"there are {some}"
                raise KeyError(f"there is no body {key!r}; {hint}") from None
        try:
            return self._bodies[key]
        except IndexError:
            n = len(self._bodies)
            raise IndexError(f"there are {n} bodies, Ground included, numbers 0 to {n - 1}; no number {key}") from None
        except TypeError:
            raise TypeError(f"a body is found by its index, its name or a slice, not by {key!r}") from None

    def __len__(self) -> int:
        return len(self._bodies)

    def __iter__(self) -> Iterator[MobilizedBody]:
        return iter(self._bodies)

    def __contains__(self, item: object) -> bool:
        return item in self._names if isinstance(item, str) else any(item is body for body in self._bodies)

    def __repr__(self) -> str:
        names = ", ".join(list(self._names)[:8])
        return f"<{len(self)} bodies: {names}{', ...' if len(self) > 8 else ''}>"


class SimbodyMatterSubsystem(Prescribed, Constrained, ParticleSubsystem):
    """The bodies, mobilizers and particles of a system, and everything that can be asked of them.

    Parameters
    ----------
    system : MultibodySystem, optional
        The system to join; without one it is an orphan until adopted.

    Notes
    -----
    The operators work on a realized state and leave what it holds alone. Vectors are ``(nu,)`` or ``(nq,)``, spatial vectors
    one a body ``(nb, 2, 3)``, Ground first, angular before linear, all expressed in Ground.

    Each raises `StageError` for a state that has not got the stage it needs, `TopologyError` for a state or a body of another
    system and for a state older than the last change of the topology, `ValueError` for an argument of another shape, and
    `TypeError` or `ValueError` for what is no number. Nothing has changed then. NaN among arguments comes out again where
    it matters. A product with M, M^-1, J or N takes O(n), an explicit matrix as long as its entries that may not be zero.
    """

    def __init__(self, system: MultibodySystem | None = None) -> None:
        self._bodies: list[MobilizedBody] = []
        self._names: dict[str, MobilizedBody] = {}
        self._constraints = []
        self._system = None
        self._token = object()  # what a state of its system, as this is now, has too; of an orphan none has it
        self._default_use_euler_angles = False
        self._show_default_geometry = True
        self._ground = Ground(self)
        super().__init__(system, "matter")

    def __str__(self) -> str:
        """A summary for reading: a line for each body, with its mobilizer, parent and mass."""
        lines = [f"SimbodyMatterSubsystem: {len(self._bodies)} bodies, Ground included"]
        for body in self._bodies[1:]:
            parent = body.get_parent_mobilized_body()
            kind, facts = type(body).__name__, body.facts
            lines.append(
                f"  {body._index:4d} {body._name}: {kind} on {parent._name}, {facts.num_q} q, {facts.num_u} u, "
                f"mass {body.get_default_mass_properties().mass:.6g}"
            )
        if self.get_num_particles():
            lines.append(f"  {self.get_num_particles()} particles, mass {self._particles[0].sum():.6g}")
        return "\n".join(lines)

    # ------------------------------------------------------------------------------------------ bodies

    def _adopt(self, body: MobilizedBody, name: str | None) -> tuple[int, str]:
        """Take a new body; its index and its name."""
        index = len(self._bodies)
        if name is None:
            name = f"{type(body).__name__.lower()}_{index}"
            while name in self._names:
                name += "_"
        elif not isinstance(name, str):
            raise TypeError(f"a body's name is a string, not {name!r}")
        elif name in self._names:
            raise ModelError(f"there is a body {name!r} already; names are unique in a matter subsystem")
        self._bodies.append(body)
        self._names[name] = body
        self._invalidate_topology()
        return index, name

    def _body(self, mobod: Any) -> MobilizedBody:
        """A body named by object, by index or by name."""
        if isinstance(mobod, MobilizedBody):
            if mobod._matter is not self:
                raise TopologyError(f"{mobod!r} is a body of another system")
            return mobod
        if isinstance(mobod, str):
            return self.bodies[mobod]
        try:
            i = mobod.__index__()
        except AttributeError:
            raise TypeError(f"a body is named by object, index or name, not by {mobod!r}") from None
        if not 0 <= i < len(self._bodies):
            raise IndexError(f"there are {len(self._bodies)} bodies, Ground included; no number {i}")
        return self._bodies[i]

    def _singularities(self, state: State) -> dict[str, str]:
        """By the body's name, what to say of each mobilizer that is near a singular configuration."""
        found = {body._name: body._singularity(state) for body in self._bodies[1:]}
        return {name: text for name, text in found.items() if text}

    @property
    def bodies(self) -> Bodies:
        """The mobilized bodies, by index or by name."""
        return Bodies(self._bodies, self._names)

    @property
    def ground(self) -> Ground:
        """Body 0, that all others are connected to in the end."""
        return self._ground

    def get_ground(self) -> Ground:
        """Body 0, that all others are connected to in the end."""
        return self._ground

    def upd_ground(self) -> Ground:
        """Body 0; the same object as `get_ground` gives."""
        return self._ground

    def get_mobilized_body(self, index: int | str) -> MobilizedBody:
        """A body by its index, Ground being 0, or by its name; `IndexError`, or `KeyError`, where there is none."""
        return self._body(index)

    def upd_mobilized_body(self, index: int | str) -> MobilizedBody:
        """A body by its index or name; the same object as `get_mobilized_body` gives."""
        return self.get_mobilized_body(index)

    def get_num_bodies(self) -> int:
        """How many bodies there are, Ground included."""
        return len(self._bodies)

    def get_num_mobilities(self) -> int:
        """How many mobilities there are: nu. Needs a realized topology."""
        return self._realized_system("get_num_mobilities")._tree(False).nu

    def get_total_q_alloc(self) -> int:
        """Room for q, quaternions included. Needs a realized topology."""
        return self._realized_system("get_total_q_alloc")._tree(False).nq

    def _realized_system(self, asked: str) -> MultibodySystem:
        system = self.get_system()
        if not system.system_topology_has_been_realized():
            raise TopologyError(f"{asked} needs a realized topology; call system.realize_topology()")
        return system

    def set_show_default_geometry(self, show: bool) -> None:
        """Whether pictures show joints and sticks for bodies without decorations of their own."""
        self._show_default_geometry = bool(show)

    def get_show_default_geometry(self) -> bool:
        """Whether pictures show joints and sticks for bodies without decorations of their own."""
        return self._show_default_geometry

    # ------------------------------------------------------------------------------------------ orientations

    def set_use_euler_angles(self, state: State, use_euler_angles: bool) -> None:
        """Choose body-fixed x-y-z angles, or quaternions; `MultibodySystem.realize_model` is needed after it.

        The state falls to TOPOLOGY where the choice changes. q is then at its defaults; `convert_to_euler_angles` keeps
        the configuration.
        """
        state._check_owner(self._system, "set_use_euler_angles")
        if bool(use_euler_angles) != state._pending_euler_angles:
            state._pending_euler_angles = bool(use_euler_angles)
            state._invalidate_model()

    def get_use_euler_angles(self, state: State) -> bool:
        """Whether orientations are angles in this state."""
        state._check_owner(self._system, "get_use_euler_angles")
        return state._pending_euler_angles

    def get_num_quaternions_in_use(self, state: State) -> int:
        """How many quaternions are part of q. Needs MODEL."""
        return len(state._tree_of(self._ground, "get_num_quaternions_in_use").quaternions)

    def is_using_quaternion(self, state: State, mobod: Any) -> bool:
        """Whether the body's mobilizer has a quaternion among its q. Needs MODEL."""
        return self._body(mobod)._index in state._tree_of(self._ground, "is_using_quaternion").quaternions

    def get_quaternion_pool_index(self, state: State, mobod: Any) -> int:
        """Which of the quaternions in use is the body's; `ValueError` where it has none. Needs MODEL."""
        body = self._body(mobod)
        pool = state._tree_of(self._ground, "get_quaternion_pool_index").quaternions
        if body._index not in pool:
            raise ValueError(f"{body!r} uses no quaternion in this state; ask is_using_quaternion first")
        return pool.index(body._index)

    def convert_to_euler_angles(self, input_state: State) -> State:
        """A new state in the same configuration with angles in place of quaternions; a plain copy where there are none."""
        return self._convert(input_state, True)

    def convert_to_quaternions(self, input_state: State) -> State:
        """A new state in the same configuration with quaternions in place of angles; a plain copy where there are none."""
        return self._convert(input_state, False)

    def _convert(self, state: State, euler: bool) -> State:
        old = state._tree_of(self._ground, "convert_to_quaternions or convert_to_euler_angles")
        other = state.copy()
        if state._use_euler_angles == euler:
            return other
        self.set_use_euler_angles(other, euler)
        self.get_system().realize_model(other)
        other.upd_q()[: other._tree.nq] = self._converted(state._q, old, other._tree)
        other.upd_u()[: other._tree.nu] = state._u[: old.nu]
        other.time = state.time
        return other

    def _converted(self, q: Array, old: Tree, new: Tree) -> Array:
        """q of one tree in the representation of the other; a body whose quaternion is zero has no q to convert."""
        converted = np.zeros(new.nq)
        for b, body in enumerate(self._bodies):
            part = q[old.first_q[b] : old.first_q[b] + old.num_q[b]]
            if body.facts.has_quaternion and old.use_euler_angles != new.use_euler_angles:
                if old.use_euler_angles:
                    part = np.concatenate([Rotation.from_body_fixed_xyz(part[:3]).to_quaternion(), part[3:]])
                elif np.any(part[:4]):
                    part = np.concatenate([Rotation.from_quaternion(part[:4]).to_body_fixed_xyz(), part[4:]])
                else:
                    part = part[1:]
            converted[new.first_q[b] : new.first_q[b] + new.num_q[b]] = part
        return converted

    def normalize_quaternions(self, state: State) -> None:
        """Scale every quaternion of q to length 1; integrators do this by themselves. Needs MODEL."""
        state._tree_of(self._ground, "normalize_quaternions")
        self.get_system()._normalize_quaternions(state)

    # ------------------------------------------------------------------------------------------ lazy entries

    def _positions(self, state: State, asked: str, needs: Stage = Stage.POSITION) -> Any:
        """The block of a state with positions; what is asked for may *need* more, which the refusal then says at once."""
        if state._token is not self._token:
            state._check_owner(self._system, asked)
        if not state._valid & _realize.POSITIONS:
            state._refuse(asked, needs)
        return state._block

    def _velocities(self, state: State, asked: str) -> Any:
        # one look where all is there, which is what operators are called with
        if state._valid & 3 != 3 or state._token is not self._token:
            self._positions(state, asked, Stage.VELOCITY)
            if not state._valid & _realize.VELOCITIES:
                state._refuse(asked, Stage.VELOCITY)
        return state._block

    def _articulated(self, state: State, asked: str) -> Any:
        block = self._positions(state, asked)
        if not state._valid & _realize.ARTICULATED:
            self._realize(state, _realize.ARTICULATED)
            if not np.isfinite(state._record.d_inverse).all():
                self._refuse_singular(state)
        return block

    def _refuse_singular(self, state: State) -> None:
        """`ModelError` that names the free mobility which nothing holds back; a known one's number is left from before."""
        free = np.repeat(state._field("together") >= 0, state._tree.num_u)
        if not np.isfinite(state._record.d_inverse[: len(free), 0][free]).all():
            state._valid &= ~_realize.ARTICULATED
            self.get_system()._explain(state, _realize.BAD_U_DOT)

    def _realize(self, state: State, entry: int) -> None:
        self.get_system()._compute(state, entry)

    def realize_position_kinematics(self, state: State) -> None:
        """Compute poses and hinge columns now, whatever the stage, so that POSITION finds them. Needs INSTANCE."""
        state._need_instance(self._ground, "realize_position_kinematics")
        if not state._valid & _realize.POSITIONS:
            self._realize(state, _realize.POSITIONS)

    def realize_velocity_kinematics(self, state: State) -> None:
        """Compute velocities now, whatever the stage. Needs position kinematics."""
        self._positions(state, "realize_velocity_kinematics")
        if not state._valid & _realize.VELOCITIES:
            self._realize(state, _realize.VELOCITIES)

    def realize_composite_body_inertias(self, state: State) -> None:
        """Compute composite body inertias now. Needs position kinematics."""
        self._composite(state, "realize_composite_body_inertias")

    def _composite(self, state: State, asked: str) -> None:
        block = self._positions(state, asked)
        if not state._valid & _realize.COMPOSITE:
            composite_inertia.realize_composite(block)
            state._valid |= _realize.COMPOSITE

    def realize_articulated_body_inertias(self, state: State) -> None:
        """Compute articulated body inertias now. Needs position kinematics.

        `ModelError` names a free mobility that has nothing to move, where there is one: what is inboard of it has no
        articulated inertia.
        """
        self._articulated(state, "realize_articulated_body_inertias")

    def realize_articulated_body_velocity(self, state: State) -> None:
        """Compute what velocities add to articulated bodies; velocities and articulated inertias must be there.

        In mobod that is the force of the velocities, which velocity kinematics has stored.
        """
        self._velocities(state, "realize_articulated_body_velocity")
        if not state._valid & _realize.ARTICULATED:
            state._refuse("realize_articulated_body_velocity", Stage.ACCELERATION)

    def _invalidate(self, state: State, asked: str, bits: int) -> None:
        state._check_owner(self._system, asked)
        state._valid &= ~bits

    def invalidate_position_kinematics(self, state: State) -> None:
        """Make the next use compute poses afresh, and all that follows from them; the state falls to TIME at most."""
        self._invalidate(state, "invalidate_position_kinematics", ~0)
        state._lower(int(Stage.TIME))

    def invalidate_velocity_kinematics(self, state: State) -> None:
        """Make the next use compute velocities afresh; the state falls to POSITION at most."""
        self._invalidate(state, "invalidate_velocity_kinematics", _realize.DEPENDS_ON_U)
        state._lower(int(Stage.POSITION))

    def invalidate_composite_body_inertias(self, state: State) -> None:
        """Make the next use compute composite inertias afresh."""
        self._invalidate(state, "invalidate_composite_body_inertias", _realize.COMPOSITE)

    def invalidate_articulated_body_inertias(self, state: State) -> None:
        """Make the next use compute them afresh; the state falls to DYNAMICS at most."""
        bits = _realize.ARTICULATED | _realize.ACCELERATIONS | _STORED
        self._invalidate(state, "invalidate_articulated_body_inertias", bits)
        state._lower(int(Stage.DYNAMICS))

    def invalidate_articulated_body_velocity(self, state: State) -> None:
        """Make the next use compute it afresh; the state falls to POSITION at most."""
        self.invalidate_velocity_kinematics(state)

    def _has(self, state: State, asked: str, bits: int) -> bool:
        state._check_owner(self._system, asked)
        return state._valid & bits == bits

    def is_position_kinematics_realized(self, state: State) -> bool:
        """Whether poses and hinge columns are there, whatever the stage."""
        return self._has(state, "is_position_kinematics_realized", _realize.POSITIONS)

    def is_velocity_kinematics_realized(self, state: State) -> bool:
        """Whether velocities are there, whatever the stage."""
        return self._has(state, "is_velocity_kinematics_realized", _realize.VELOCITIES)

    def is_composite_body_inertias_realized(self, state: State) -> bool:
        """Whether composite inertias are there: only after they were asked for."""
        return self._has(state, "is_composite_body_inertias_realized", _realize.COMPOSITE)

    def is_articulated_body_inertias_realized(self, state: State) -> bool:
        """Whether articulated inertias are there, whatever the stage."""
        return self._has(state, "is_articulated_body_inertias_realized", _realize.ARTICULATED)

    def is_articulated_body_velocity_realized(self, state: State) -> bool:
        """Whether what velocities add to articulated bodies is there."""
        return self._has(state, "is_articulated_body_velocity_realized", _realize.ARTICULATED | _realize.VELOCITIES)

    # ------------------------------------------------------------------------------------------ system-wide sums

    def calc_system_mass(self, state: State) -> float:
        """Mass of all bodies but Ground, and of all particles. Needs INSTANCE."""
        state._need_instance(self._ground, "calc_system_mass")
        return float(np.sum(state._record.mass[1:, 0]) + np.sum(state._record.particle_mass))

    def _mass_sums(self, state: State, asked: str) -> Array:
        out = np.empty((10, 1))
        momentum.calc_mass_properties(self._positions(state, asked), out)
        return out[:, 0]

    def calc_system_mass_center_location_in_ground(self, state: State) -> Array:
        """Mass center of the system, in Ground; NaN for a massless one. Needs POSITION."""
        sums = self._mass_sums(state, "calc_system_mass_center_location_in_ground")
        return _per_mass(sums[1:4], sums[0])

    def calc_system_mass_properties_in_ground(self, state: State) -> MassProperties:
        """Mass, mass center and inertia of the system about the Ground origin, in Ground. Needs POSITION."""
        sums = self._mass_sums(state, "calc_system_mass_properties_in_ground")
        return MassProperties._trusted(float(sums[0]), _per_mass(sums[1:4], sums[0]), full(sums[4:]))

    def calc_system_central_inertia_in_ground(self, state: State) -> Inertia:
        """Inertia of the system about its mass center, in Ground. Needs POSITION."""
        self._positions(state, "calc_system_central_inertia_in_ground")
        return self.calc_system_mass_properties_in_ground(state).central_inertia

    def calc_system_momentum_about_ground_origin(self, state: State) -> Array:
        """Angular momentum about the Ground origin, and linear momentum ``(2, 3)``. Needs VELOCITY."""
        out = np.empty((6, 1))
        momentum.calc_momentum(self._velocities(state, "calc_system_momentum_about_ground_origin"), out)
        return out.reshape(2, 3)

    def calc_system_central_momentum(self, state: State) -> Array:
        """Angular momentum about the system's mass center, and linear momentum ``(2, 3)``. Needs VELOCITY."""
        self._velocities(state, "calc_system_central_momentum")
        about_origin = self.calc_system_momentum_about_ground_origin(state)
        c = self.calc_system_mass_center_location_in_ground(state)
        about_origin[0] -= np.cross(c, about_origin[1])
        return about_origin

    def calc_system_mass_center_velocity_in_ground(self, state: State) -> Array:
        """Velocity of the system's mass center; NaN for a massless one. Needs VELOCITY."""
        self._velocities(state, "calc_system_mass_center_velocity_in_ground")
        return _per_mass(self.calc_system_momentum_about_ground_origin(state)[1], self.calc_system_mass(state))

    def calc_system_mass_center_acceleration_in_ground(self, state: State) -> Array:
        """Acceleration of the system's mass center; NaN for a massless one. Needs ACCELERATION."""
        self._positions(state, "calc_system_mass_center_acceleration_in_ground", Stage.ACCELERATION)
        if state._stage < Stage.ACCELERATION:
            state._refuse("calc_system_mass_center_acceleration_in_ground", Stage.ACCELERATION)
        record = state._record
        m, c, w = record.mass[1:], record.com_G[1:], record.V_GB[1:, :3]
        a = record.A_GB[1:, 3:] + np.cross(record.A_GB[1:, :3], c) + np.cross(w, np.cross(w, c))
        m_p, a_p = record.particle_mass, record.particle_acceleration.reshape(-1, 3)
        return _per_mass(np.sum(m * a, axis=0) + np.sum(m_p * a_p, axis=0), float(np.sum(m) + np.sum(m_p)))

    def calc_kinetic_energy(self, state: State) -> float:
        """Kinetic energy, mass*length^2/time^2. Needs VELOCITY."""
        out = np.empty((1, 1))
        momentum.calc_kinetic_energy(self._velocities(state, "calc_kinetic_energy"), out)
        return float(out[0, 0])

    # ------------------------------------------------------------------------------------------ Jacobians

    def multiply_by_system_jacobian(self, state: State, u: ArrayLike) -> Array:
        """V = J u ``(nb, 2, 3)``: the bodies' velocities that speeds *u* ``(nu,)`` would give, in O(n). Needs POSITION.

        Ground's row is zero. Source: Jain 2011, section 3.5.
        """
        block = self._positions(state, "multiply_by_system_jacobian")
        V = np.empty((len(self._bodies), 2, 3))
        jacobian.multiply_by_system_jacobian(block, self._mobility_vector(state, "u", u), V.reshape(-1, 6))
        return V

    def multiply_by_system_jacobian_transpose(self, state: State, F_G: ArrayLike) -> Array:
        """f = J^T F ``(nu,)`` of body forces *F_G* ``(nb, 2, 3)``, in O(n). Needs POSITION.

        The forces are at the bodies' origins; Ground's row is ignored. Source: Jain 2011, section 3.5.
        """
        block = self._positions(state, "multiply_by_system_jacobian_transpose")
        f = np.empty(state._tree.nu)
        jacobian.multiply_by_system_jacobian_transpose(block, self._body_forces(state, "F_G", F_G), f)
        return f

    def calc_system_jacobian(self, state: State) -> Array:
        """J ``(6*nb, nu)``: rows body by body, angular before linear. Needs POSITION."""
        nb = len(self._bodies)
        return self._frame_jacobian(state, "calc_system_jacobian", np.arange(nb), np.zeros((nb, 3)), 6)

    def calc_bias_for_system_jacobian(self, state: State) -> Array:
        """Jdot u ``(nb, 2, 3)``: the bodies' accelerations if udot were zero. Needs VELOCITY.

        A_GB = J udot + Jdot u; Ground's row is zero, and the flat form is ``.reshape(-1)``.
        """
        self._velocities(state, "calc_bias_for_system_jacobian")
        bias: Array = state._record.coriolis.reshape(-1, 2, 3).copy()
        return bias

    def multiply_by_station_jacobian(self, state: State, on_body_b: Any, station_p_in_b: ArrayLike, u: ArrayLike) -> Array:
        """Velocities of stations that speeds *u* would give, in Ground. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b : body or sequence of nt bodies
            By object or index.
        station_p_in_b : (3,) or (nt, 3) array_like
            One station a task, in its body's frame.
        u : (nu,) array_like

        Returns
        -------
        (nt, 3) array, or (3,) for one bare task
        """
        V = self._times_frame_jacobian(state, "multiply_by_station_jacobian", on_body_b, station_p_in_b, u)
        return V[..., 1, :].copy()

    def multiply_by_station_jacobian_transpose(
        self, state: State, on_body_b: Any, station_p_in_b: ArrayLike, f_GP: ArrayLike
    ) -> Array:
        """Generalized forces ``(nu,)`` of forces at stations. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b, station_p_in_b
            As `multiply_by_station_jacobian` takes them; forces on Ground count for nothing, tasks on one body add up.
        f_GP : (nt, 3) array_like, or (3,) for one bare task
            One force a task, in Ground.
        """
        bodies, stations, bare = self._tasks(on_body_b, station_p_in_b)
        f = _like("f_GP", f_GP, (3,) if bare else (len(bodies), 3)).reshape(-1, 3)
        F = np.concatenate([np.zeros_like(f), f], axis=1)
        return self._frame_jacobian_transpose(state, "multiply_by_station_jacobian_transpose", bodies, stations, behaved(F))

    def calc_station_jacobian(self, state: State, on_body_b: Any, station_p_in_b: ArrayLike) -> Array:
        """The Jacobian of stations ``(3*nt, nu)``, rows task by task. Needs POSITION."""
        bodies, stations, _ = self._tasks(on_body_b, station_p_in_b)
        return self._frame_jacobian(state, "calc_station_jacobian", bodies, stations, 3)

    def calc_bias_for_station_jacobian(self, state: State, on_body_b: Any, station_p_in_b: ArrayLike) -> Array:
        """Accelerations of stations if udot were zero: ``(nt, 3)``, or ``(3,)`` for one bare task. Needs VELOCITY.

        a0 + alpha0 x p + w x (w x p), of the body's bias (alpha0; a0), its angular velocity and the station, in Ground.
        """
        return self._frame_bias(state, "calc_bias_for_station_jacobian", on_body_b, station_p_in_b)[..., 1, :].copy()

    def multiply_by_frame_jacobian(self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike, u: ArrayLike) -> Array:
        """Velocities of frames fixed on bodies that speeds *u* would give: ``(nt, 2, 3)``, or ``(2, 3)``. Needs POSITION."""
        return self._times_frame_jacobian(state, "multiply_by_frame_jacobian", on_body_b, origin_ao_in_b, u)

    def multiply_by_frame_jacobian_transpose(
        self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike, F_GAo: ArrayLike
    ) -> Array:
        """Generalized forces ``(nu,)`` of spatial forces at frames' origins. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b, origin_ao_in_b
            As `multiply_by_station_jacobian` takes bodies and stations.
        F_GAo : (nt, 2, 3) array_like, or (2, 3) for one bare task
            Torque and force, in Ground, at the frame's origin.
        """
        bodies, stations, bare = self._tasks(on_body_b, origin_ao_in_b)
        F = _like("F_GAo", F_GAo, (2, 3) if bare else (len(bodies), 2, 3))
        return self._frame_jacobian_transpose(
            state, "multiply_by_frame_jacobian_transpose", bodies, stations, behaved(F).reshape(-1, 6)
        )

    def calc_frame_jacobian(self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike) -> Array:
        """The Jacobian of frames ``(6*nt, nu)``, rows task by task, angular before linear. Needs POSITION."""
        bodies, stations, _ = self._tasks(on_body_b, origin_ao_in_b)
        return self._frame_jacobian(state, "calc_frame_jacobian", bodies, stations, 6)

    def calc_bias_for_frame_jacobian(self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike) -> Array:
        """Accelerations of frames if udot were zero: ``(nt, 2, 3)``, or ``(2, 3)`` for one bare task. Needs VELOCITY."""
        return self._frame_bias(state, "calc_bias_for_frame_jacobian", on_body_b, origin_ao_in_b)

    def _tasks(self, bodies: Any, stations: ArrayLike) -> tuple[npt.NDArray[np.int64], Array, bool]:
        """Bodies' indices, stations ``(nt, 3)``, and whether it was one task given bare."""
        if isinstance(bodies, (list, tuple)):  # what most give; NumPy's questions take longer than the Jacobian itself
            bare, several = False, bodies
        else:
            bare = isinstance(bodies, (MobilizedBody, str)) or np.ndim(bodies) == 0
            several = [bodies] if bare else bodies
        if isinstance(several, np.ndarray) and several.dtype.kind in "iu" and several.ndim == 1:
            for i in several[(several < 0) | (several >= len(self._bodies))]:
                self.get_mobilized_body(i)  # says what is wrong with it
            indices = several.astype(np.int64)
        else:
            indices = np.array([self._body(body)._index for body in several], dtype=np.int64)
        n = len(indices)
        points = numbers("stations", stations)
        if points.shape != (n, 3):
            points = _like("stations", points, (3,) if bare and points.ndim == 1 else (n, 3)).reshape(-1, 3)
        return indices, behaved(points), bare

    def _times_frame_jacobian(self, state: State, asked: str, on_body_b: Any, stations: ArrayLike, u: ArrayLike) -> Array:
        block = self._positions(state, asked)
        bodies, points, bare = self._tasks(on_body_b, stations)
        V = np.empty((len(bodies), 2, 3))
        speeds = self._mobility_vector(state, "u", u)
        jacobian.multiply_by_frame_jacobian(block, bodies, points, speeds, V.reshape(-1, 6))
        return V[0] if bare else V

    def _frame_jacobian_transpose(
        self, state: State, asked: str, bodies: npt.NDArray[np.int64], stations: Array, F: Array
    ) -> Array:
        block = self._positions(state, asked)
        f = np.empty(state._tree.nu)
        jacobian.multiply_by_frame_jacobian_transpose(block, bodies, stations, F, f)
        return f

    def _frame_jacobian(self, state: State, asked: str, bodies: npt.NDArray[np.int64], stations: Array, rows: int) -> Array:
        block = self._positions(state, asked)
        J = np.zeros((rows * len(bodies), state._tree.nu))
        jacobian.calc_frame_jacobian.dispatcher(block, bodies, stations, rows, J)
        return J

    def _frame_bias(self, state: State, asked: str, on_body_b: Any, stations: ArrayLike) -> Array:
        block = self._velocities(state, asked)
        bodies, points, bare = self._tasks(on_body_b, stations)
        bias = np.empty((len(bodies), 2, 3))
        jacobian.calc_bias_for_frame_jacobian(block, bodies, points, bias.reshape(-1, 6))
        return bias[0] if bare else bias

    # ------------------------------------------------------------------------------------------ mass matrix

    def multiply_by_m(self, state: State, a: ArrayLike) -> Array:
        """f = M a ``(nu,)``, in O(n). Needs POSITION.

        M is that of the tree, in which neither constraints nor locks and motions have a part. Source: inverse dynamics without
        velocities, Featherstone 2008, section 5.
        """
        block = self._positions(state, "multiply_by_m")
        a, f = self._mobility_vector(state, "a", a), np.empty(state._tree.nu)
        kernel = mass_matrix.multiply_by_m
        (kernel.code or kernel.code_for(block, a, f))(block, a, f)
        return f

    def multiply_by_m_inv(self, state: State, v: ArrayLike) -> Array:
        """a = M^-1 v ``(nu,)``, in O(n), by articulated inertias, computed where they are not there. Needs POSITION.

        M is that of the tree, in which constraints have no part: accelerations that keep these are those of
        `calc_acceleration`, and changes of speed that keep them take `solve_for_constraint_impulses` too. With locks or
        prescribed motion M is that of the free mobilities: only their entries of v are read, the others come back as zeros.
        `ModelError` names a free mobility that has no inertia to move: there is no inverse then.
        """
        block = self._articulated(state, "multiply_by_m_inv")
        v, a = self._mobility_vector(state, "v", v), np.empty(state._tree.nu)
        kernel = mass_matrix.multiply_by_m_inv
        (kernel.code or kernel.code_for(block, v, a))(block, v, a)
        if state._tree.turns and not np.isfinite(a).all() and np.isfinite(v).all():  # angles at their singular place
            self.get_system()._explain(state, _realize.BAD_U_DOT)
        return a

    def calc_m(self, state: State) -> Array:
        """The mass matrix ``(nu, nu)``, symmetric and positive definite: the tree's, without constraints. Needs POSITION.

        Locked and prescribed mobilities have their rows and columns as others do. Source: composite rigid bodies, Featherstone
        2008, section 6.2.
        """
        valid = state._valid
        if not valid & 1 or state._token is not self._token:
            self._positions(state, "calc_m")
        shape = state._tree.shape_of_m
        M = _empty(shape)
        if shape[0]:
            flat, wide = state._scratch or state._columns()
            kernel = explicit_mass_matrix.calc_m
            code = kernel.code or kernel.code_for(state._block, True, flat, wide, M)
            code(state._block, valid & 4 != 0, flat, wide, M)
            state._valid = valid | 4  # COMPOSITE
        return M

    def calc_m_inv(self, state: State) -> Array:
        """The inverse of the mass matrix of the free mobilities ``(nu, nu)``, symmetric. Needs POSITION.

        It is that of the tree, in which constraints have no part; `calc_projected_m_inv` is what these see of it. Rows and
        columns of mobilities that a lock or a motion prescribes are zero. In O(nu^2), from articulated inertias, which are
        computed where they are not there; M itself is not made. `ModelError` names a free mobility that has no inertia to move:
        there is no inverse then.
        """
        block = self._positions(state, "calc_m_inv")
        shape = state._tree.shape_of_m
        M_inv = _empty(shape)
        if shape[0]:
            flat, wide = state._scratch or state._columns()
            address = 0 if state._valid & _realize.ARTICULATED else _realize.advance.address()
            kernel = inverse_mass_matrix.calc_m_inv
            code = kernel.code or kernel.code_for(block, address, state._valid, flat, wide, M_inv)
            status = code(block, address, state._valid, flat, wide, M_inv)
            if status:
                self.get_system()._explain(state, status)
            state._valid |= _realize.ARTICULATED
        return M_inv

    # ------------------------------------------------------------------------------------------ q and u

    def multiply_by_n(self, state: State, transpose: bool, v: ArrayLike) -> Array:
        """N v ``(nq,)`` of v ``(nu,)``, or N^T v ``(nu,)`` of v ``(nq,)``: q_dot = N u. Needs POSITION.

        N is a block a body: one, but for quaternions and for angles whose rates are not the speeds. The q and u of other
        subsystems are not among these.
        """
        return self._rate_product(state, "multiply_by_n", rates.multiply_by_n, transpose, bool(transpose), v)

    def multiply_by_n_inv(self, state: State, transpose: bool, v: ArrayLike) -> Array:
        """N^-1 v ``(nu,)`` of v ``(nq,)``, or its transpose times v ``(nu,)``: u = N^-1 q_dot. Needs POSITION.

        Of a quaternion it is a left inverse, N^-1 N = 1; what changes its norm gives no speed.
        """
        return self._rate_product(state, "multiply_by_n_inv", rates.multiply_by_n_inv, transpose, not transpose, v)

    def multiply_by_n_dot(self, state: State, transpose: bool, v: ArrayLike) -> Array:
        """NDot v ``(nq,)`` of v ``(nu,)``, or NDot^T v ``(nu,)`` of v ``(nq,)``. Needs VELOCITY."""
        self._velocities(state, "multiply_by_n_dot")
        return self._rate_product(state, "multiply_by_n_dot", rates.multiply_by_n_dot, transpose, bool(transpose), v)

    def _rate_product(
        self, state: State, asked: str, kernel: Any, transpose: bool, takes_q: bool, v: ArrayLike, what: str = "v"
    ) -> Array:
        block = self._positions(state, asked)
        nq, nu = state._tree.nq, state._tree.nu
        vector = behaved(_like(what, v, (nq if takes_q else nu,)))
        out = np.zeros(nu if takes_q else nq)
        kernel(block, bool(transpose), vector, out)
        return out

    def calc_q_dot(self, state: State, u: ArrayLike) -> Array:
        """Rates of q ``(nq,)`` that speeds *u* ``(nu,)`` would give: N u. Needs POSITION."""
        return self._rate_product(state, "calc_q_dot", rates.multiply_by_n, False, False, u, "u")

    def calc_q_dot_dot(self, state: State, udot: ArrayLike) -> Array:
        """Second rates of q ``(nq,)`` that accelerations *udot* ``(nu,)`` would give: N udot + NDot u. Needs VELOCITY."""
        self._velocities(state, "calc_q_dot_dot")
        first = self._rate_product(state, "calc_q_dot_dot", rates.multiply_by_n, False, False, udot, "udot")
        return first + self.multiply_by_n_dot(state, False, state._u[: state._tree.nu])

    # ------------------------------------------------------------------------------------------ dynamics

    def calc_acceleration_ignoring_constraints(
        self,
        state: State,
        applied_mobility_forces: ArrayLike | None = None,
        applied_body_forces: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Forward dynamics of given forces in place of the state's own, as though there were no constraints. Needs DYNAMICS.

        `calc_acceleration` is what honours them. Locks and motions are honoured by both.

        Parameters
        ----------
        state : State
        applied_mobility_forces : (nu,) array_like, optional
            Zero where None or empty.
        applied_body_forces : (nb, 2, 3) array_like, optional
            At the bodies' origins, in Ground; zero where None or empty. Ground's row is ignored.

        Returns
        -------
        udot : (nu,) array
        A_GB : (nb, 2, 3) array
        """
        self._positions(state, "calc_acceleration_ignoring_constraints", Stage.DYNAMICS)
        if state._stage < Stage.DYNAMICS:
            state._refuse("calc_acceleration_ignoring_constraints", Stage.DYNAMICS)
        block = self._articulated(state, "calc_acceleration_ignoring_constraints")
        f = self._mobility_vector(state, "applied_mobility_forces", applied_mobility_forces)
        F = self._body_forces(state, "applied_body_forces", applied_body_forces)
        udot, A = np.empty(state._tree.nu), np.empty((len(self._bodies), 2, 3))
        prescribing.set_known_u_dot(self.get_system(), state)
        forward_dynamics.calc_acceleration(block, f, F, udot, A.reshape(-1, 6))
        return udot, A

    def calc_acceleration(
        self,
        state: State,
        applied_mobility_forces: ArrayLike | None = None,
        applied_body_forces: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Forward dynamics of given forces in place of the state's own, constraints included. Needs DYNAMICS.

        Arguments and results are those of `calc_acceleration_ignoring_constraints`, to which it is equal in a system
        without constraints.
        """
        udot, A = self.calc_acceleration_ignoring_constraints(state, applied_mobility_forces, applied_body_forces)
        if any(self._num_equations(state)):
            errors = self.calc_constraint_acceleration_errors(state, udot)
            multipliers = self.solve_for_constraint_impulses(state, errors)
            udot = udot - self.multiply_by_m_inv(state, self.multiply_by_g_transpose(state, multipliers))
            A = self.calc_body_acceleration_from_u_dot(state, udot)
        return udot, A

    def calc_residual_force_ignoring_constraints(
        self,
        state: State,
        applied_mobility_forces: ArrayLike | None = None,
        applied_body_forces: ArrayLike | None = None,
        known_udot: ArrayLike | None = None,
    ) -> Array:
        """Inverse dynamics: the generalized forces ``(nu,)`` that are missing for *known_udot*. Needs VELOCITY.

        residual = M udot + (forces of the velocities) - f - J^T F; each argument is zero where None or empty. Forces of
        constraints are among what is missing, unless they are among those given; `calc_residual_force` takes multipliers.
        """
        block = self._velocities(state, "calc_residual_force_ignoring_constraints")
        tree = state._tree
        if applied_mobility_forces is None and applied_body_forces is None:
            udot = self._mobility_vector(state, "known_udot", known_udot)
            residual = np.empty(tree.nu)
            kernel = inverse_dynamics.calc_whole_force
            (kernel.code or kernel.code_for(block, udot, residual))(block, udot, residual)
            return residual
        f, F = tree.no_mobility_forces, tree.no_body_forces
        if applied_mobility_forces is not None:
            f = self._mobility_vector(state, "applied_mobility_forces", applied_mobility_forces)
        if applied_body_forces is not None:
            F = self._body_forces(state, "applied_body_forces", applied_body_forces)
        udot = self._mobility_vector(state, "known_udot", known_udot)
        residual = np.empty(tree.nu)
        inverse_dynamics.calc_residual_force.dispatcher(block, f, F, udot, residual)
        return residual

    def calc_residual_force(
        self,
        state: State,
        applied_mobility_forces: ArrayLike | None = None,
        applied_body_forces: ArrayLike | None = None,
        known_udot: ArrayLike | None = None,
        known_lambda: ArrayLike | None = None,
    ) -> Array:
        """Inverse dynamics with constraint multipliers known too, ``(nu,)``. Needs VELOCITY.

        As `calc_residual_force_ignoring_constraints`, with the generalized forces G^T lambda of *known_lambda* ``(m,)``,
        which is in the order and of the sign of the state's multipliers, added; zeros where None or empty, as in
        `calc_residual_force_ignoring_constraints`. With the state's own forces, udot and multipliers there is no residual.
        """
        residual = self.calc_residual_force_ignoring_constraints(
            state, applied_mobility_forces, applied_body_forces, known_udot
        )
        if known_lambda is not None and np.size(known_lambda):
            residual += self.multiply_by_g_transpose(state, known_lambda)
        return residual

    def calc_body_acceleration_from_u_dot(self, state: State, known_udot: ArrayLike | None = None) -> Array:
        """A_GB ``(nb, 2, 3)`` that *known_udot* ``(nu,)`` gives: J udot + Jdot u, in O(n). Needs VELOCITY.

        None or an empty array stands for zeros: what is left is `calc_bias_for_system_jacobian`. Locks and motions are not
        asked what udot they prescribe.
        """
        block = self._velocities(state, "calc_body_acceleration_from_u_dot")
        A = np.empty((len(self._bodies), 2, 3))
        udot = self._mobility_vector(state, "known_udot", known_udot)
        inverse_dynamics.calc_body_acceleration_from_u_dot(block, udot, A.reshape(-1, 6))
        return A

    def calc_tree_equivalent_mobility_forces(self, state: State, body_forces: ArrayLike | None = None) -> Array:
        """Generalized forces ``(nu,)`` that replace *body_forces* and the forces of the velocities, in O(n). Needs VELOCITY.

        f = J^T (F - F0), with F0 = M_B a + b of each body: its spatial inertia times its total Coriolis acceleration, and its
        gyroscopic force (`get_total_centrifugal_forces`). Then M udot = f, but for mobility forces and constraints. Body forces
        ``(nb, 2, 3)`` are at the bodies' origins; Ground's row is ignored, None or an empty array stands for zeros.
        """
        block = self._velocities(state, "calc_tree_equivalent_mobility_forces")
        f = np.empty(state._tree.nu)
        F = self._body_forces(state, "body_forces", body_forces)
        inverse_dynamics.calc_tree_equivalent_mobility_forces(block, F, f)
        return f

    # ------------------------------------------------------------------------------------------ reactions

    def _accelerations(self, state: State, asked: str) -> Any:
        """The block of a state at ACCELERATION."""
        block = self._positions(state, asked, Stage.ACCELERATION)
        if state._stage < Stage.ACCELERATION:
            state._refuse(asked, Stage.ACCELERATION)
        return block

    def calc_mobilizer_reaction_forces(self, state: State) -> Array:
        """What each mobilizer does to its body ``(nb, 2, 3)``: torque and force at M, in Ground. Needs ACCELERATION.

        That is all that the parent exerts through the mobilizer: the forces of constraint, the applied mobility forces, and
        those that prescribe its motion. Ground's row is what holds Ground, at its origin: the sum of what is
        exerted on the bodies next to it, less what constraints do to Ground.

        Returns
        -------
        (nb, 2, 3) array
            One a body, Ground first; mass*length^2/time^2 and mass*length/time^2.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.

        See Also
        --------
        MobilizedBody.find_mobilizer_reaction_on_body_at_m_in_ground : the same of one mobilizer, and taken elsewhere.
        calc_mobilizer_reaction_forces_using_freebody_method : the same by another way.

        Notes
        -----
        F = P A' + Z, with the articulated inertia of the body and the force left to be balanced there when accelerations
        were computed: about a hundred operations a body. Source: Jain 2011, section 7.3.
        """
        block = self._accelerations(state, "calc_mobilizer_reaction_forces")
        out = np.empty((len(self._bodies), 2, 3))
        with self._constraints_as_applied(state) as on_ground:
            reaction.calc_reactions(block, state._valid & _STORED != 0, out.reshape(-1, 6))
        out[0] -= on_ground
        return out

    def calc_mobilizer_reaction_forces_using_freebody_method(self, state: State) -> Array:
        """The same as `calc_mobilizer_reaction_forces` ``(nb, 2, 3)``, by another way: for checking. Needs ACCELERATION.

        Newton's and Euler's equations of each body about its mass center, from the tips to Ground, with its velocity, its
        acceleration, the forces applied to it and the reactions of its children. Both agree to rounding.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        """
        block = self._accelerations(state, "calc_mobilizer_reaction_forces_using_freebody_method")
        out = np.empty((len(self._bodies), 2, 3))
        with self._constraints_as_applied(state) as on_ground:
            reaction.calc_reactions_by_free_bodies(block, out.reshape(-1, 6))
        out[0] -= on_ground
        return out

    def _mobilizer_velocity(self, state: State, b: int) -> Array:
        """V_FM of body *b* of a state that is known to have velocities."""
        out, kernel = _empty(_SPATIAL), mobilizer_motion.find_velocity
        (kernel.code or kernel.code_for(state._block, b, out))(state._block, b, out)
        return out

    def _mobilizer_acceleration(self, state: State, b: int) -> Array:
        """A_FM of body *b* of a state that is known to have accelerations."""
        out, kernel = _empty(_SPATIAL), mobilizer_motion.find_acceleration
        (kernel.code or kernel.code_for(state._block, b, out))(state._block, b, out)
        return out

    def _find_reaction(self, state: State, asked: str, b: int, place: str) -> Array:
        block = self._accelerations(state, asked)
        out = np.empty((2, 3))
        with self._constraints_as_applied(state) as on_ground:
            reaction.find_reaction(block, b, _REACTION_PLACES[place], state._valid & _STORED != 0, out.reshape(1, 6))
        if b == 0:
            out -= on_ground
        return out

    # ------------------------------------------------------------------------------------------ inertias and velocity terms

    def calc_composite_body_inertias(self, state: State) -> list[SpatialInertia]:
        """The composite body inertia of each body, Ground first, which is infinite. Needs POSITION.

        See `get_composite_body_inertia`; all are computed in O(n) when one is first asked for.
        """
        self._composite(state, "calc_composite_body_inertias")
        return [self.get_composite_body_inertia(state, b) for b in range(len(self._bodies))]

    def get_composite_body_inertia(self, state: State, mobod: Any) -> SpatialInertia:
        """The body with all that hangs on it held rigid, about its origin, in Ground; infinite for Ground. Needs POSITION.

        Source: Featherstone 2008, section 6.2; Jain 2011, section 4.1.2.
        """
        b = self._body(mobod)._index
        self._composite(state, "get_composite_body_inertia")
        if b == 0:
            return MobilizedBody._ground_spatial_inertia()
        row = state._record.composite[b]
        mass = float(row[0])
        unit = full(row[4:]) / mass if mass > 0.0 else np.zeros((3, 3))
        return SpatialInertia._trusted(mass, row[1:4] / mass if mass > 0.0 else np.zeros(3), unit)

    def get_articulated_body_inertia(self, state: State, mobod: Any) -> ArticulatedInertia:
        """The body with all that hangs on it free to move, about its origin, in Ground; infinite for Ground. Needs POSITION.

        Of the tree: constraints hold nothing here, but locked and prescribed mobilizers hold their bodies. `ModelError` names a
        free mobility that has nothing to move. Source: Featherstone 2008, section 7; Jain 2011, section 6.
        """
        b = self._body(mobod)._index
        self._articulated(state, "get_articulated_body_inertia")
        if b == 0:
            return ArticulatedInertia._trusted(np.diag([np.inf] * 6))
        if not state._valid & _STORED:
            articulated_inertia.store_inertias(state._block)
            state._valid |= _STORED
        row = state._record.articulated[b]
        F = row[6:15].reshape(3, 3)
        return ArticulatedInertia._trusted(np.block([[full(row[:6]), F], [F.T, full(row[15:])]]))

    def get_total_coriolis_acceleration(self, state: State, mobod: Any) -> Array:
        """Acceleration ``(2, 3)`` of the body if udot were zero, in Ground: its row of Jdot u. Needs VELOCITY."""
        b = self._body(mobod)._index
        self._velocities(state, "get_total_coriolis_acceleration")
        a: Array = state._record.coriolis[b].reshape(2, 3).copy()
        return a

    def get_mobilizer_coriolis_acceleration(self, state: State, mobod: Any) -> Array:
        """The body's own part ``(2, 3)`` of its total Coriolis acceleration, beyond its parent's. Needs VELOCITY.

        What is left when the parent's total, shifted rigidly to this body's origin, is taken off: HDot_PB_G u and the change of
        the shift.
        """
        body = self._body(mobod)
        self._velocities(state, "get_mobilizer_coriolis_acceleration")
        total = self.get_total_coriolis_acceleration(state, body)
        if body._index == 0:
            return total
        parent = self.get_total_coriolis_acceleration(state, body.get_parent_mobilized_body())
        total -= parent
        total[1] -= np.cross(parent[0], state._record.p_PB_G[body._index])
        return total

    def get_gyroscopic_force(self, state: State, mobod: Any) -> Array:
        """b = [w x I w; m w x (w x c)] ``(2, 3)``, about the body's origin, in Ground; zero for Ground. Needs VELOCITY.

        The force that goes on with A_GB = 0: F = M_B A + b are Newton's and Euler's equations. Source: Featherstone 2008,
        section 2.14.
        """
        b = self._body(mobod)._index
        self._velocities(state, "get_gyroscopic_force")
        if b == 0:
            return np.zeros((2, 3))
        record = state._record
        w, mc = record.V_GB[b, :3], record.mass[b, 0] * record.com_G[b]
        return np.array([np.cross(w, full(record.inertia_G[b]) @ w), np.cross(w, np.cross(w, mc))])

    def get_total_centrifugal_forces(self, state: State, mobod: Any) -> Array:
        """The force ``(2, 3)`` that the body takes if udot is zero: M_B a + b, of its own inertia, in Ground. Needs VELOCITY.

        a is `get_total_coriolis_acceleration`, b `get_gyroscopic_force`; zero for Ground.
        """
        b = self._body(mobod)._index
        self._velocities(state, "get_total_centrifugal_forces")
        F: Array = state._record.centrifugal[b].reshape(2, 3).copy()
        return F

    def get_mobilizer_centrifugal_forces(self, state: State, mobod: Any) -> Array:
        """P a + b ``(2, 3)``, with the articulated inertia and the mobilizer's own Coriolis acceleration. Deprecated.

        What is meant nearly always is `get_total_centrifugal_forces`. Needs VELOCITY. Articulated inertias are computed where
        they are not there.
        """
        warnings.warn(
            "get_mobilizer_centrifugal_forces is deprecated; use get_total_centrifugal_forces",
            DeprecationWarning,
            stacklevel=2,
        )
        b = self._body(mobod)._index
        self._velocities(state, "get_mobilizer_centrifugal_forces")
        if b == 0:
            return np.zeros((2, 3))
        P = np.asarray(self.get_articulated_body_inertia(state, mobod))
        a = self.get_mobilizer_coriolis_acceleration(state, mobod)
        return (P @ a.ravel()).reshape(2, 3) + self.get_gyroscopic_force(state, mobod)

    # ------------------------------------------------------------------------------------------ accumulating forces

    def add_in_station_force(
        self, state: State, body_b: Any, station_on_b: ArrayLike, force_in_g: ArrayLike, body_forces_in_g: Array
    ) -> Array:
        """Add a force at a station to ``(nb, 2, 3)`` *body_forces_in_g*, in place; returns the array. Needs POSITION."""
        body = self._body(body_b)
        self._positions(state, "add_in_station_force")
        return body.apply_force_to_body_point(state, station_on_b, force_in_g, body_forces_in_g)

    def add_in_body_torque(self, state: State, mobod: Any, torque_in_g: ArrayLike, body_forces_in_g: Array) -> Array:
        """Add a torque to ``(nb, 2, 3)`` *body_forces_in_g*, in place; returns the array."""
        body = self._body(mobod)
        state._tree_of(self._ground, "add_in_body_torque")
        return body.apply_body_torque(state, torque_in_g, body_forces_in_g)

    def add_in_mobility_force(self, state: State, mobod: Any, which: int, f: float, mobility_forces: Array) -> Array:
        """Add to one mobility's entry of ``(nu,)`` *mobility_forces*, in place; returns the array."""
        body = self._body(mobod)
        state._tree_of(self._ground, "add_in_mobility_force")
        return body.apply_one_mobility_force(state, which, f, mobility_forces)

    # ------------------------------------------------------------------------------------------ checks

    def _mobility_vector(self, state: State, what: str, value: ArrayLike | None) -> Array:
        """A contiguous ``(nu,)`` array, only to be read; zeros for None or an empty one."""
        tree = state._tree
        if value is None:
            return tree.no_mobility_forces
        nu = tree.nu
        if type(value) is np.ndarray and value.shape == (nu,) and value.dtype is _FLOAT64:
            # as nearly all come, the conversions taking as long as a sweep; copied for the reason that `behaved` gives
            return value if value.flags.carray else value.copy()
        array = numbers(what, value)
        if array.shape != (nu,):
            if array.size == 0:
                return tree.no_mobility_forces
            raise ValueError(f"{what} has shape ({nu},), one number a mobility, got {array.shape}")
        return behaved(array)

    def _body_forces(self, state: State, what: str, value: ArrayLike | None) -> Array:
        """Rows of six, one a body, contiguous, only to be read; zeros for None or an empty array."""
        if value is None:
            return state._tree.no_body_forces
        nb = len(self._bodies)
        array = numbers(what, value)
        if array.shape != (nb, 2, 3):
            if array.size == 0:
                return state._tree.no_body_forces
            raise ValueError(f"{what} has shape ({nb}, 2, 3), one spatial vector a body, Ground first; got {array.shape}")
        return behaved(array).reshape(nb, 6)


def _like(what: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    array = numbers(what, value)
    if array.shape != shape:
        if not array.size and not shape[0]:  # an empty list, for no task at all
            return array.reshape(shape)
        raise ValueError(f"{what} has to have shape {shape}, got {array.shape}")
    return array


def _per_mass(total: Array, mass: float) -> Array:
    return total / mass if mass > 0.0 else np.full(3, np.nan)
