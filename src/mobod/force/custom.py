"""Custom: a force that its user writes, in Python or as functions that are compiled."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Callback, Routine
from ..errors import ModelError
from ..function.users import check_form
from ..mobilizer.base import MobilizedBody
from ..state.named_parameters import names_and_values
from ..state.stage_hooks import StageHooks
from ..state.state import State
from ..state.subsystem import HOOKS
from ..value.abstract import Abstract
from ..value.stage import Stage
from ._custom_compiled import CompiledFunctions, looked_up, routine_of
from ._in_python import in_python
from ._of_functions import OfFunctions
from .subsystem import GeneralForceSubsystem


class CustomImplementation(StageHooks, Abstract):
    """Base class of forces in Python; ``Custom(forces, implementation)`` makes one part of a system.

    1. `calc_force` is required: it adds to the arrays that it is given.
    2. `calc_potential_energy`, where the force has one, for energy to balance.
    3. `depends_only_on_positions` may say so, and the force is then computed once for each q and time.
    4. The ``realize_*`` hooks are called when the system realizes a state to that stage.

    Examples
    --------
    >>> class Wind(mb.force.CustomImplementation):  # doctest: +SKIP
    ...     def calc_force(self, state, body_forces, particle_forces, mobility_forces):
    ...         body.apply_force_to_body_point(state, (0, 0, 0), (3, 0, 0), body_forces)
    """

    @abc.abstractmethod
    def calc_force(self, state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> None:
        """Add the force at *state*, which is realized through VELOCITY.

        Parameters
        ----------
        state : State
            Not to be changed.
        body_forces : (nb, 2, 3) array
            Torque and force on each body at its origin, in Ground; added to in place.
        particle_forces : (np, 3) array
            Force on each particle, in Ground; added to in place.
        mobility_forces : (nu,) array
            Generalized forces; added to in place.
        """

    def calc_potential_energy(self, state: State) -> float:
        """Potential energy at *state*; zero unless overridden."""
        return 0.0

    def calc_power_dissipation(self, state: State) -> float:
        """The power that is turned into heat at *state*; zero unless overridden."""
        return 0.0

    def depends_only_on_positions(self) -> bool:
        """True if the force depends on what is known at POSITION alone, not on u, z or velocities; False unless overridden.

        It is then kept while q, the particles' locations and the time stay, and no variable is set that invalidates POSITION
        or a stage below.
        """
        return False

    def depends_only_on(self) -> tuple[Sequence[MobilizedBody], Sequence[MobilizedBody]] | None:
        """Inputs of the force beside time and z: bodies, and mobilizers; None, unless overridden, for all there is.

        Derivatives of the dynamics then move these alone: a body by 12 directions of its pose and velocity, a mobilizer by its
        own q and u, for each of which the force is called twice; others are taken to change nothing. Otherwise what it reads is
        found by calls, which takes a few more.

        Returns
        -------
        (bodies, mobilizers)
            Bodies of whose poses and velocities in Ground the force is a function, and of points fixed to them, and bodies
            of whose mobilizers' q and u it is; of its own system.
        """
        return None


def overrides_hooks(implementation: CustomImplementation, lowest: Stage = Stage.INSTANCE) -> bool:
    """True if it has a hook of some stage from *lowest* on, of its class or its own."""
    of_base, kind, own = vars(StageHooks), type(implementation), getattr(implementation, "__dict__", ())
    names = [name for stage, name in HOOKS.items() if stage >= lowest]
    return any(name in own or getattr(kind, name) is not of_base[name] for name in names)


class Custom(OfFunctions):
    """A force that its user writes, in one of two ways.

    Parameters
    ----------
    implementation : CustomImplementation, optional
        An instance of a class of the user's, in Python; it may hold bodies, parameters, data.
    compiled : CompiledFunctions, optional
        Functions of numbers and tuples, which are compiled.

    Raises
    ------
    TypeError
        If neither is given, or both, or something else.
    ModelError
        If compiled functions do not take or return what they should, with floats, eight states at a time or dual numbers; and
        when topology is realized, if they cannot be compiled.

    Notes
    -----
    Compiled steps call a force in Python back: it costs its own time and a microsecond or two a call, and what it raises ends
    the run there. With a hook of a stage from INSTANCE on, or variables that a hook allocates, Python takes each step.
    Runs of an `Ensemble` have all else in lanes, on one thread, and call it for one state after the other, with the same
    object each time; where variables are allocated or remembered states run one by one. Compiled functions are compiled when
    the system's topology is realized, once for each scalar that is used, and nothing else is.

    Examples
    --------
    A spring of the third power, on a pin.

    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> def force(t, X, V, q, u, parameters):
    ...     return (), ((-parameters[0] * q[0][0] ** 3,),)
    >>> def energy(t, X, q, parameters):
    ...     return 0.25 * parameters[0] * q[0][0] ** 4
    >>> functions = mb.force.CompiledFunctions(force, energy, mobilizers=[system.matter.bodies[1]], parameters=[8.0])
    >>> spring = mb.force.Custom(system.get_subsystem(1), compiled=functions)
    >>> state = system.realize_topology()
    >>> state.q = (0.5, 0.0)
    >>> system.realize(state)
    >>> spring.calc_potential_energy_contribution(state)
    0.125
    """

    KIND = 0

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        implementation: CustomImplementation | None = None,
        *,
        compiled: CompiledFunctions | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_form(implementation, compiled, CustomImplementation, CompiledFunctions)
        self._compiled: CompiledFunctions | None = None
        if compiled is not None:
            integers, shape, parameters = looked_up(forces, compiled)
            routine = routine_of(compiled, shape, tuple(parameters))
            super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
            self._compiled, self._shape, self.routine = compiled, shape, routine
            self.reads_positions_only = bool(compiled.depends_only_on_positions)
            self.default_integers, self.default_numbers = integers, parameters
            self.parameter_names = names_and_values(compiled.parameters)[0]
            return
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.implementation, self.routine = implementation, in_python

    def get_implementation(self) -> CustomImplementation:
        """The user's own object; `ModelError` where the force is compiled functions."""
        if self.implementation is None:
            raise ModelError(f"{self!r} has no implementation in Python; call get_compiled_functions()")
        return self.implementation

    def get_compiled_functions(self) -> CompiledFunctions:
        """The user's functions; `ModelError` where the force is an implementation in Python."""
        if self._compiled is None:
            raise ModelError(f"{self!r} is an implementation in Python; call get_implementation()")
        return self._compiled

    # ------------------------------------------------------------------------------------------ what the system asks

    def reach(self) -> tuple[list[int], list[int]] | None:
        if self._compiled is None:
            return None
        n = self._shape.num_bodies
        return self.default_integers[:n], self.default_integers[n:]

    @property
    def reads_time(self) -> bool:
        return not self.reads_positions_only

    def _routine_again(self) -> Routine | Callback:
        return in_python if self._compiled is None else routine_of(self._compiled, self._shape, tuple(self.default_numbers))

    def add_force(self, state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> None:
        if self._compiled is not None:
            super().add_force(state, body_forces, particle_forces, mobility_forces)
            return
        if not self.implementation.depends_only_on_positions():
            self.implementation.calc_force(state, body_forces, particle_forces, mobility_forces)
            return
        places, time = state.record.particle_location, state.time  # places may move with time: POSITION falls with it
        kept = state.force_cache.get(self.element)
        if kept is None or kept[5] != time or not (np.array_equal(kept[0], state.q_values) and np.array_equal(kept[1], places)):
            added = np.zeros_like(body_forces), np.zeros_like(particle_forces), np.zeros_like(mobility_forces)
            self.implementation.calc_force(state, *added)
            kept = state.force_cache[self.element] = (state.q_values.copy(), places.copy(), *added, time)
        body_forces += kept[2]
        particle_forces += kept[3]
        mobility_forces += kept[4]

    def _potential_energy(self, state: State) -> float:
        if self._compiled is not None:
            return super()._potential_energy(state)
        return float(self.implementation.calc_potential_energy(state))

    def _power_dissipation(self, state: State) -> float:
        if self._compiled is not None:
            return super()._power_dissipation(state)
        return float(self.implementation.calc_power_dissipation(state))
