"""Mass properties and momentum of one body, in a state, and its rotors': what the diagonal of the mass matrix has besides.

    M = J^T M_B J + diag(R)        R_i = G^2 I of a rotor of inertia I about its axis, geared to turn at G u_i

It is the armature of MuJoCo and of Pinocchio, and the rotor and gear ratio of URDF's transmissions. What it leaves out, for
gears of high ratio, is small: the rotor's gyroscopic torques, and what couples its spin to the turning of the body it sits on,
G I to G^2 I (Featherstone 2008, section 9.6; Murphy, Wen and Saridis 1990).
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..body import Body, Particle, Rigid
from ..errors import ModelError
from ..state.of_each import Present, Rows, of_each
from ..state.state import State
from ..value import Inertia, MassProperties, Rotation, SpatialInertia, UnitInertia, checks, rows
from ..value.checks import shaped, vector
from ..value.stage import INSTANCE
from .kinematics import Kinematics
from .matrices import cross_by, full


def _mass_properties_of_each(body: HasInertia, template: State, values: Any, present: Present) -> Rows | None:
    """Of `MassProperties`, or of ten numbers a state."""
    if not isinstance(values, np.ndarray) and all(isinstance(one, MassProperties) for one in values):
        values = [rows.ten(one) for one in values]
    array = rows.as_array(values)
    if array is None or array.shape[1:] != (10,) or not rows.are_bodies(array):
        return None
    if not (type(body.body) is Rigid or (type(body.body) is Particle and not array[:, 1:].any())):
        return None
    parts = ("mass", array[:, None, :1]), ("com", array[:, None, 1:4]), ("inertia", array[:, None, 4:])
    fields = [(field, slice(body.index, body.index + 1), numbers) for field, numbers in parts]
    return Rows(fields, typical=rows.of_ten(array[0]))


def _by_ten(setter: Any, state: State, value: Any) -> None:
    """Call the setter with what may be ten numbers."""
    if isinstance(value, np.ndarray) and value.shape != (10,):
        raise ValueError(
            "mass properties in an array are ten numbers a row: mass, mass center, and the inertia about the origin "
            f"xx, yy, zz, xy, xz, yz; got a row of shape {value.shape}"
        )
    setter(state, rows.of_ten(value) if isinstance(value, np.ndarray) else value)


#: The least rotor that is one.
_SMALLEST = math.ulp(0.0)


def _rotors_of_each(body: Any, template: State, values: Any, present: Present) -> Rows | None:
    """Rotor inertias ``(n, nu)``, or ``(n,)`` of one mobility."""
    part, array = body.u_slice(template, "set_rotor_inertia"), rows.as_array(values)
    count = part.stop - part.start
    if array is None or array.shape[1:] not in ((count,), () if count == 1 else (count,)) or rows.not_negative(array) is None:
        return None
    rotors = array.reshape(len(array), count)
    return Rows([("rotor_inertia", part, rotors[:, :, None])], typical=rotors.max(axis=0))


class HasInertia(Kinematics):
    """The part of `MobilizedBody` that gives and changes mass properties and rotor inertia, and gives momentum."""

    body: Body

    def _mass_properties(self, state: State, asked: str) -> MassProperties:
        if state.stage_number < INSTANCE or state.token is not self.matter.token:
            state.need_instance(self, asked)
        if "mass" not in state.own_fields:
            return state.tree.mass_properties[self.index]
        record, b = state.record, self.index
        return MassProperties.trusted(float(record.mass[b, 0]), record.com[b].copy(), full(record.inertia[b]))

    def get_body_mass_properties(self, state: State) -> MassProperties:
        """Mass, mass center and inertia about the body's origin, in the body's frame. Needs INSTANCE.

        Those of this state, where `set_body_mass_properties` changed them. Ground's mass and inertia are infinite.
        """
        return self._mass_properties(state, "get_body_mass_properties")

    def get_body_mass(self, state: State) -> float:
        """The body's mass; infinite for Ground. Needs INSTANCE."""
        if state.stage_number < INSTANCE or state.token is not self.matter.token:
            state.need_instance(self, "get_body_mass")
        return float(state.record.mass[self.index, 0])

    def get_body_mass_center_station(self, state: State) -> Array:
        """The mass center ``(3,)`` from the body's origin, in the body's frame; length. Needs INSTANCE."""
        if state.stage_number < INSTANCE or state.token is not self.matter.token:
            state.need_instance(self, "get_body_mass_center_station")
        return state.record.com[self.index].copy()

    def get_body_unit_inertia_about_body_origin(self, state: State) -> UnitInertia:
        """Inertia about the body's origin over its mass, in the body's frame; length^2. Needs INSTANCE.

        Zero where there is no mass; the identity for Ground, as Simbody has it.
        """
        return self._mass_properties(state, "get_body_unit_inertia_about_body_origin").unit_inertia

    @of_each(_mass_properties_of_each, alone=_by_ten)
    def set_body_mass_properties(self, state: State, mass_properties: MassProperties) -> None:
        """Change the body's mass properties in this state alone, which falls to MODEL at most; the default stays.

        Parameters
        ----------
        state : State
            At MODEL or above.
        mass_properties : MassProperties
            About the body's origin, in its frame, and valid for its kind of `Body`. A mass of zero is allowed where the
            mobilizer, or its outboard subtree, gives every mobility inertia.

        Raises
        ------
        ModelError
            If a body of this kind cannot have them, and for Ground.
        TypeError
            If they are not `MassProperties`.
        """
        state.tree_of(self, "set_body_mass_properties")
        if self.index == 0:
            raise ModelError("the mass properties of Ground cannot be set: its mass is infinite")
        self.take_mass_properties(state, self.body.checked(mass_properties))

    def take_mass_properties(self, state: State, m: MassProperties) -> None:
        """Have these in a state, as a body of any kind may with a load on it: a frame without mass at a hand's tip, too."""
        b = self.index
        if not np.isfinite(m.mass):
            raise ModelError(f"the mass of {self._name!r} has to be finite, got {m.mass}; weld it to Ground to hold it still")
        state.own_field("mass")[b] = m.mass
        state.own_field("com")[b] = m.com
        state.own_field("inertia")[b] = np.asarray(m.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        state.leave_out("massless", b, m.mass == 0.0)

    def attach_mass(
        self,
        state: State,
        load: MassProperties,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        """Attach a load to the body, in this state, which falls to MODEL at most. Needs POSITION.

        A load that comes with a velocity of its own sticks to the body by an impulse on the whole mechanism: momentum of both
        is conserved where nothing holds, and kinetic energy is lost. In a run, which means by an event handler or on
        `TimeStepper.state` between two steps, the run's events tell it.

        Parameters
        ----------
        state : State
        load : MassProperties
            About the body's origin and in its frame, where it is now.
        velocity : (3,) array_like, optional
            Of the load's mass center before, in Ground; zero for what lies at rest. Unless given, it moves with the body.
        angular_velocity : (3,) array_like
            Of the load before, in Ground, where *velocity* is given.

        Raises
        ------
        ModelError
            If the body cannot have the mass properties of both.
        TypeError
            If *load* is no `MassProperties`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> arm = system.matter.bodies["lower"]
        >>> load = mb.MassProperties(2.0, (0, -1, 0), mb.UnitInertia.point_mass_at((0, -1, 0)))
        >>> system.realize(state, mb.Stage.POSITION)
        >>> before = arm.get_body_mass(state)
        >>> arm.attach_mass(state, load)
        >>> system.realize(state)
        >>> float(arm.get_body_mass(state) - before)
        2.0
        """
        if not isinstance(load, MassProperties):
            raise TypeError(f"load has to be MassProperties, about the origin of {self._name!r} and in its frame, not {load!r}")
        state.need_positions(self, "attach_mass")
        of_center = None if velocity is None else vector("velocity", velocity)
        self.matter.take_up(state, self, load, of_center, vector("angular_velocity", angular_velocity))

    def detach_mass(self, state: State, load: MassProperties) -> None:
        """Detach a load from the body, in this state, which falls to MODEL at most; speeds stay. Needs INSTANCE.

        Parameters
        ----------
        state : State
        load : MassProperties
            As it was attached.

        Raises
        ------
        ModelError
            If the body has not so much mass or inertia.
        TypeError
            If *load* is no `MassProperties`.
        """
        if not isinstance(load, MassProperties):
            raise TypeError(f"load has to be MassProperties, about the origin of {self._name!r} and in its frame, not {load!r}")
        own = self.get_body_mass_properties(state)
        mass = own.mass - load.mass
        if mass < 0.0:
            raise ModelError(f"{self._name!r} has a mass of {own.mass:.6g}; a load of {load.mass:.6g} cannot come off")
        com = np.zeros(3) if mass == 0.0 else (own.mass * own.com - load.mass * load.com) / mass
        inertia = np.asarray(own.inertia) - np.asarray(load.inertia)
        self.take_mass_properties(state, MassProperties(mass, com, Inertia(inertia)))
        self.matter.note(state, self, "detached")

    def get_body_spatial_inertia_in_ground(self, state: State) -> SpatialInertia:
        """Spatial inertia about the body's origin, expressed in Ground. Needs POSITION."""
        return self._spatial_inertia(state, "get_body_spatial_inertia_in_ground")

    def _spatial_inertia(self, state: State, asked: str) -> SpatialInertia:
        state.need_positions(self, asked)
        if self.index == 0:
            return self.ground_spatial_inertia()
        record, b = state.record, self.index
        mass = float(record.mass[b, 0])
        unit = np.zeros((3, 3)) if mass == 0.0 else full(record.inertia_G[b]) / mass
        return SpatialInertia.trusted(mass, record.com_G[b].copy(), unit)

    @staticmethod
    def ground_spatial_inertia() -> SpatialInertia:
        return SpatialInertia.trusted(np.inf, np.zeros(3), np.diag([np.inf] * 3))

    def calc_body_spatial_inertia_matrix_in_ground(self, state: State) -> Array:
        """Spatial inertia about the body's origin in Ground as a ``(6, 6)`` array, angular first. Needs POSITION.

        Ground's has infinity on the diagonal and zero elsewhere.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> np.asarray(system.matter.bodies["lower"].calc_body_spatial_inertia_matrix_in_ground(state)).shape
        (6, 6)
        """
        spatial_inertia = self._spatial_inertia(state, "calc_body_spatial_inertia_matrix_in_ground")
        return np.diag([np.inf] * 6) if self.index == 0 else np.asarray(spatial_inertia)

    def calc_body_central_inertia(self, state: State) -> Inertia:
        """Inertia about the mass center, in the body's frame; mass*length^2, infinite for Ground. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].calc_body_central_inertia(state)
        Inertia([[0.004, 0.   , 0.   ], [0.   , 0.004, 0.   ], [0.   , 0.   , 0.004]])
        """
        return self._mass_properties(state, "calc_body_central_inertia").central_inertia

    def express_mass_properties_in_ground_frame(self, state: State) -> MassProperties:
        """The mass properties turned into Ground's axes, still about the body's origin. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].express_mass_properties_in_ground_frame(state).mass
        1.0
        """
        asked = "express_mass_properties_in_ground_frame"
        R_GB = self.rotation_in_ground(state, asked)
        return self._mass_properties(state, asked).reexpress(Rotation.trusted(R_GB.T.copy()))

    def express_mass_properties_in_another_body_frame(self, state: State, in_body_a: Any) -> MassProperties:
        """The mass properties turned into A's axes, still about this body's origin. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.express_mass_properties_in_another_body_frame(state, upper).mass
        1.0
        """
        A, asked = self._other(in_body_a), "express_mass_properties_in_another_body_frame"
        R_BA = self.rotation_in_ground(state, asked).T @ A.rotation_in_ground(state, asked)
        return self._mass_properties(state, asked).reexpress(Rotation.trusted(R_BA))

    def calc_body_momentum_about_body_origin_in_ground(self, state: State) -> Array:
        """Angular momentum about the body's origin, and linear momentum ``(2, 3)``, in Ground. Needs VELOCITY.

        mass*length^2/time and mass*length/time; zero for Ground, which does not move.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].calc_body_momentum_about_body_origin_in_ground(state)[1].round(3)
        array([3.25 , 2.228, 0.   ])
        """
        return self._momentum(state, "calc_body_momentum_about_body_origin_in_ground")

    def calc_body_momentum_about_body_mass_center_in_ground(self, state: State) -> Array:
        """Angular momentum about the mass center, and linear momentum ``(2, 3)``, in Ground. Needs VELOCITY.

        mass*length^2/time and mass*length/time; zero for Ground, which does not move.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].calc_body_momentum_about_body_mass_center_in_ground(state)[1].round(3)
        array([3.25 , 2.228, 0.   ])
        """
        momentum = self._momentum(state, "calc_body_momentum_about_body_mass_center_in_ground")
        momentum[0] -= momentum[1] @ cross_by(state.record.com_G[self.index])
        return momentum

    def _momentum(self, state: State, asked: str) -> Array:
        w, v = self.velocity_in_ground(state, asked)
        if self.index == 0:
            return np.zeros((2, 3))
        record, b = state.record, self.index
        mass, c = record.mass[b, 0], record.com_G[b]
        return np.array([full(record.inertia_G[b]) @ w + mass * (v @ cross_by(c)), mass * (v + c @ cross_by(w))])

    def calc_body_inertia_about_another_body_station(
        self, state: State, in_body_a: Any, about_location_on_body_a: ArrayLike
    ) -> Inertia:
        """This body's inertia about a station ``(3,)`` of A, expressed in A; mass*length^2. Needs POSITION.

        Infinite for Ground.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> round(float(np.asarray(arm.calc_body_inertia_about_another_body_station(state, upper, (0, 1, 0)))[2, 2]), 3)
        3.846
        """
        A, asked = self._other(in_body_a), "calc_body_inertia_about_another_body_station"
        station = shaped("about_location_on_body_a", about_location_on_body_a, (3,))
        R_BA = self.rotation_in_ground(state, asked).T @ A.rotation_in_ground(state, asked)
        mass_properties = self._mass_properties(state, asked)
        central = mass_properties.central_inertia
        if self.index == 0:
            return central
        c = self.location_in(state, A, asked, mass_properties.com)
        return central.reexpress(Rotation.trusted(R_BA)).shift_from_centroid(station - c, mass_properties.mass)

    #: Those of a default state, ``(nu,)``.
    default_rotors: Array

    def get_default_rotor_inertia(self) -> Any:
        """The rotor inertia of each mobility where no state says otherwise; zero unless set.

        A float for kinds with one speed, else ``(nu,)``; see `set_rotor_inertia` for units and meaning.
        """
        return self._one_or_all(self.default_rotors)

    def set_default_rotor_inertia(self, value: ArrayLike) -> Self:
        """Change the rotor inertia of each mobility in a default state: a topological change. Returns the mobilized body.

        Parameters
        ----------
        value : float or (nu,) array_like
            Finite, not negative; a float for one mobility. See `set_rotor_inertia`.

        Raises
        ------
        ValueError
            If there are not `nu` numbers.
        TypeError
            If they are not real numbers.
        ModelError
            If one is not finite, or negative.
        """
        self.default_rotors = self._checked_rotors(value)
        self.instance_changed()
        return self

    def get_rotor_inertia(self, state: State) -> Any:
        """The rotor inertia of each mobility in this state: a float for kinds with one, else ``(nu,)``. Needs MODEL."""
        part = self.u_slice(state, "get_rotor_inertia")
        return self._one_or_all(state.field("rotor_inertia")[part, 0])

    @of_each(_rotors_of_each)
    def set_rotor_inertia(self, state: State, value: ArrayLike) -> None:
        """Change the rotor inertia of each mobility in this state alone, which falls to MODEL at most; the default stays.

        It is added to the diagonal of the mass matrix: the reflected inertia of a motor's rotor, its inertia about its axis
        times the square of the gear ratio. MuJoCo and Pinocchio call it armature.

        Parameters
        ----------
        state : State
            At MODEL or above.
        value : float or (nu,) array_like
            For each speed u, finite and not negative; a float for one mobility. Force per udot: mass*length^2 where u is an
            angle's rate, mass where it is a velocity.

        Raises
        ------
        ValueError
            If there are not `nu` numbers.
        TypeError
            If they are not real numbers.
        ModelError
            If one is not finite, or negative.
        StageError
            If the state is below MODEL.

        Notes
        -----
        It counts wherever the mass matrix does: in accelerations, inverse dynamics, forces of constraints and of prescribed
        motions, impacts, kinetic energy. Bodies without mass may have it. It is no body's: momentum of the system
        does not have the rotors' spin, as in MuJoCo, and reactions are those on the bodies, whose part along a mobility is the
        applied force less rotor inertia times udot. Mobilizers that are eliminated as a block without it (`Ball`, `Free` and
        other kinds that turn in every way) take up to half as long again with it.
        """
        without, n = state.own_fields.get("rotorless"), self.facts.num_u
        shape = () if n == 1 and isinstance(value, (float, int)) else (n,)
        if without is not None and not without[self.index]:  # how it moves stays as it is
            first = state.tree.first_u[self.index]
            if state.put_own(self.matter.token, "rotor_inertia", value, first, shape, _SMALLEST):
                state.invalidate_instance()
                return
        part = self.u_slice(state, "set_rotor_inertia")
        rotors = self._checked_rotors(value)
        state.own_field("rotor_inertia")[part, 0] = rotors
        state.leave_out("rotorless", self.index, not rotors.any())
        state.settle_motion(self)

    def _checked_rotors(self, value: ArrayLike) -> Array:
        n, what = self.facts.num_u, f"rotor inertia of {self._name!r}"
        given = checks.numbers(what, value)
        if given.shape != (n,) and not (n == 1 and given.shape == ()):
            raise ValueError(f"{what} takes {n} numbers, one a mobility, got shape {given.shape}")
        rotors = checks.array(what, given.reshape(n), (n,))
        if (rotors < 0.0).any():
            raise ModelError(f"{what} has to be zero or more, got {checks.shown(value)}")
        return rotors
