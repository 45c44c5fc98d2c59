"""Muscle: what every kind shares.

A new kind is a file beside this one. It provides

1. compiled functions ``active(model, x, n)`` and ``passive(model, x, n)`` of the normalized fiber length n,
   ``tendon(model, x, n)`` of the normalized tendon length, ``by_velocity(model, x, v)`` of the normalized fiber velocity, all
   as a part of the largest isometric force;
   ``contract(model, i, x, z, a, length, speed)``, with the activation a, which gives fiber length, cos of the pennation angle,
   fiber velocity, tendon force, active force, elastic and damping force of the fiber, the velocity of the fiber's end along the
   tendon, and the rate of its second z; it reads no fields but ``force_numbers``, ``force_integers`` and ``z``; and
   ``stored(model, i, x, z, length)``, its elastic energy. Integers and numbers are those of `_fiber`;
2. a class derived from `Muscle` with these as ``FUNCTIONS``, and its own parameters, see `state.parameters`; its constructor
   gives what it was given to `Muscle.numbers_of`, adds numbers of its own, and calls that of `Muscle`.

What a muscle dissipates is what its fiber takes: active force times fiber velocity, which is below zero where it does work,
and its damping. With its elastic energy the audit of a run closes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..algebra.scalar import store
from ..compiling import Routine, generic
from ..decoration.rubber_band_line import Line
from ..errors import ConvergenceError, ModelError
from ..force.driven import Driven
from ..force.pools import number
from ..force.routines import along_path, along_spans, by_address
from ..force.transmission.base import Transmission, check_transmission
from ..function import Function
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from . import _fiber
from ._eights import eights_of, one_apart
from ._fiber import ACTIVATES, DRIVEN, FIBER, HEAD, HEIGHT, SHORTEST, SLACK, STRENGTH, STRETCHES

#: cos of the largest pennation angle.
_LARGEST = 0.1
#: Fiber lengths at which equilibrium is looked for, from the shortest to where the tendon is slack.
_TRIALS = 401
#: Of the largest isometric force: what is none.
_NOTHING = 1e-12
#: Of kinds whose activation has no such constants, or nothing to do with them.
_USUAL: dict[str, Any] = {"activation_time_constant": 0.010, "deactivation_time_constant": 0.040}


class Functions(NamedTuple):
    """Functions that a kind of muscle provides."""

    active: Callable[..., Any]
    passive: Callable[..., Any]
    tendon: Callable[..., Any]
    contract: Callable[..., Any]
    stored: Callable[..., Any]
    activation_rate: Callable[..., Any]
    by_velocity: Callable[..., Any]
    #: How many of its numbers come before the path's ratio.
    num_numbers: int


class Contraction(NamedTuple):
    """The result of `Functions.contract`."""

    fiber_length: float
    cos_pennation: float
    fiber_velocity: float
    tendon_force: float
    active_force: float
    elastic_force: float
    damping_force: float
    velocity_along_tendon: float
    rate: float


class Muscle(Driven):
    """A muscle with its tendon along a path. Base class of the kinds in `mobod.muscle`.

    Parameters
    ----------
    given : mapping of str to object
        What the kind's constructor was given, by name: the subsystem that it joins as *forces*, the *path* along which it
        pulls, such as `force.transmission.Path`, its parameters, what it ignores, defaults, *name*.
    numbers : list of float
        Those of its parameters, what follows from them, and the kind's own.
    choice : int
        What the kind's functions find among the integers.

    Examples
    --------
    >>> import mobod as mb
    >>> [kind.__name__ for kind in mb.muscle.Muscle.__subclasses__()]
    ['DeGrooteFregly2016', 'Millard2012Equilibrium', 'RigidTendon', 'Schutte1993', 'Thelen2003']
    """

    INNER = frozenset({"FUNCTIONS", "num_z", "numbers_of", "rigid_tendon_forces_of"})
    reads_positions_only = False

    FUNCTIONS: ClassVar[Functions]
    FLAG = DRIVEN
    #: Whether its tendon is rigid and its activation the excitation itself, unless its constructor is told.
    _IS_RIGID: ClassVar[bool] = False
    #: What its second z is, where its tendon stretches.
    _VARIABLE: ClassVar[str] = "fiber_length"

    get_default_excitation, set_default_excitation, get_excitation, set_excitation = parameters.scalar(
        "excitation",
        "",
        checks.finite,
        "the excitation, from 0 to 1",
        given_as="default_excitation",
        invalidates=Stage.DYNAMICS,
        first=_fiber.EXCITATION,
    ).accessors()
    (get_default_max_isometric_force, set_default_max_isometric_force, get_max_isometric_force, set_max_isometric_force) = (
        parameters.scalar("max_isometric_force", "force", checks.positive, "the largest isometric force").accessors()
    )
    (get_default_optimal_fiber_length, set_default_optimal_fiber_length, get_optimal_fiber_length, set_optimal_fiber_length) = (
        parameters.scalar(
            "optimal_fiber_length", "length", checks.positive, "the fiber length at which the active force is largest"
        ).accessors()
    )
    (get_default_tendon_slack_length, set_default_tendon_slack_length, get_tendon_slack_length, set_tendon_slack_length) = (
        parameters.scalar(
            "tendon_slack_length", "length", checks.not_negative, "the tendon length beyond which it pulls"
        ).accessors()
    )
    (
        get_default_pennation_angle_at_optimal,
        set_default_pennation_angle_at_optimal,
        get_pennation_angle_at_optimal,
        set_pennation_angle_at_optimal,
    ) = parameters.scalar(
        "pennation_angle_at_optimal", "angle", checks.not_negative, "the pennation angle at the optimal fiber length"
    ).accessors()
    (
        get_default_max_contraction_velocity,
        set_default_max_contraction_velocity,
        get_max_contraction_velocity,
        set_max_contraction_velocity,
    ) = parameters.scalar(
        "max_contraction_velocity",
        "1/time",
        checks.positive,
        "the largest velocity of shortening, optimal fiber lengths by time",
    ).accessors()
    (
        get_default_activation_time_constant,
        set_default_activation_time_constant,
        get_activation_time_constant,
        set_activation_time_constant,
    ) = parameters.scalar(
        "activation_time_constant", "time", checks.positive, "the time constant with which activation grows"
    ).accessors()
    (
        get_default_deactivation_time_constant,
        set_default_deactivation_time_constant,
        get_deactivation_time_constant,
        set_deactivation_time_constant,
    ) = parameters.scalar(
        "deactivation_time_constant", "time", checks.positive, "the time constant with which activation falls"
    ).accessors()
    (get_default_minimum_activation, set_default_minimum_activation, get_minimum_activation, set_minimum_activation) = (
        parameters.scalar("minimum_activation", "", checks.not_negative, "the least activation, below 1").accessors()
    )

    def __init__(self, given: Mapping[str, Any], numbers: list[float], choice: int = 0) -> None:
        if type(self) is Muscle:
            raise TypeError("Muscle is the base class; make one of the kinds in mobod.muscle")
        stretches = not checks.flag("ignore_tendon_compliance", given.get("ignore_tendon_compliance", self._IS_RIGID))
        activates = not checks.flag("ignore_activation_dynamics", given.get("ignore_activation_dynamics", self._IS_RIGID))
        through = check_transmission(given["forces"], given["path"])
        if stretches:  # later changes are held to it, too
            self.__dict__["settle"] = partial(_settle_stretching, type(self).settle)
            name = given.get("name")
            self.settle("a muscle" if name is None else repr(name), numbers)
        start, variable = (
            checks.between("default_activation", given.get("default_activation", 0.0), 0.0, 1.0),
            self._first(given),
        )
        super().__init__(given["forces"], disabled_by_default=given["disabled_by_default"], name=given["name"])
        through.serve(self)
        self._path, self._start = through, [start] * activates + [variable] * stretches
        self.default_integers = [int(activates), int(stretches), choice, -1, *through.integers]
        self.default_numbers = [*numbers, *through.numbers]

    @staticmethod
    def _first(given: Mapping[str, Any]) -> float:
        """Its second variable in a default state."""
        fiber = given.get("default_fiber_length")
        return checks.positive("default_fiber_length", given["optimal_fiber_length"] if fiber is None else fiber)

    @classmethod
    def numbers_of(cls, given: dict[str, Any]) -> list[float]:
        """Those of a constructor's arguments that are parameters, checked, and what follows from them; others are zero."""
        own = {one.given_as for one in cls.PARAMETERS.values()}
        return cls.declared(given["name"], **{name: value for name, value in (_USUAL | given).items() if name in own})

    @staticmethod
    def settle(whose: str, numbers: list[float]) -> None:
        """The fiber's width and shortest length follow from others."""
        angle = numbers[_fiber.PENNATION]
        if not angle < 0.5 * math.pi - 1e-3:
            raise ModelError(f"pennation_angle_at_optimal of {whose} has to be below a right angle, got {angle:g}")
        if not numbers[_fiber.LEAST] < 1.0:
            raise ModelError(f"minimum_activation of {whose} has to be below 1, got {numbers[_fiber.LEAST]:g}")
        numbers[HEIGHT] = numbers[FIBER] * math.sin(angle)
        numbers[SHORTEST] = max(numbers[HEIGHT] / math.sqrt(1.0 - _LARGEST**2), 0.01 * numbers[FIBER])

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        """Its routine."""
        return _routine_of(self.FUNCTIONS, self._path.FUNCTIONS, self._path.listed())

    @property
    def along_routine(self) -> Routine:  # type: ignore[override]
        """Its routine for derivatives along its path."""
        if self._path.spans() is None:
            return _along_routine_of(self.FUNCTIONS, self._path.FUNCTIONS)
        return _along_spans_of(self.FUNCTIONS, self._path.BEND)

    @property
    def num_z(self) -> int:  # type: ignore[override]
        """The number of variables, of activation and fiber."""
        return len(self._start)

    def reach(self) -> tuple[list[int], list[int]] | None:
        """The bodies and mobilities of its path."""
        return self._path.reach()

    @property
    def reads_time(self) -> bool:
        """The path's functions are of coordinates; its excitation's is of time."""
        return self._drive is not None

    @property
    def reads_z(self) -> bool:  # type: ignore[override]
        """True if it has variables."""
        return self.num_z > 0

    def _initial_z(self) -> list[float]:
        return list(self._start)

    # ------------------------------------------------------------------------------------------ variables

    @property
    def state_variables(self) -> tuple[str, ...]:
        """The names of its variables among z, in order.

        Out of ``"activation"`` and ``"fiber_length"`` or ``"normalized_tendon_force"``.
        """
        return ("activation",) * self.default_integers[ACTIVATES] + (self._VARIABLE,) * self.default_integers[STRETCHES]

    def _needs(self, state: State, asked: str, stage: Stage) -> None:
        self._check(state, asked)
        if state.stage_number < stage:
            state.refuse(asked, stage)

    def _place(self, name: str) -> int:
        if name not in self.state_variables:
            has = ", ".join(map(repr, self.state_variables)) or "none"
            raise ValueError(f"{self!r} has no state variable {name!r}; it has {has}")
        return self.first_z + self.state_variables.index(name)

    def get_state_variable(self, state: State, name: str) -> float:
        """A variable's value in this state. Needs MODEL.

        Parameters
        ----------
        state : State
        name : str
            One of `state_variables`; `ValueError` if it is none.
        """
        place = self._place(name)
        self._check(state, "get_state_variable")
        return float(state.z_values[place])

    def set_state_variable(self, state: State, name: str, value: float) -> None:
        """Change a variable in this state, which falls to VELOCITY at most.

        Parameters
        ----------
        state : State
        name : str
            One of `state_variables`; `ValueError` if it is none.
        value : float
            Finite; length of a fiber's length.
        """
        place, found = self._place(name), checks.finite(f"{name} of {self._name!r}", value)
        self._check(state, "set_state_variable")
        state.upd_z()[place] = found

    def get_state_variable_derivative(self, state: State, name: str) -> float:
        """A variable's rate. Needs ACCELERATION; `ValueError` if *name* is none of `state_variables`."""
        place = self._place(name)
        self._needs(state, "get_state_variable_derivative", Stage.ACCELERATION)
        return float(state.z_dot[place])

    def get_activation(self, state: State) -> float:
        """Its activation, from the least to 1: the variable, or the excitation where that is followed at once. Needs MODEL."""
        self._check(state, "get_activation")
        i, _, x, _ = self.span
        return float(_fiber.activation(state.record, i, x, self.first_z))

    # ------------------------------------------------------------------------------------------ excitation

    def set_excitation_function(self, function: Function | None) -> None:
        """Drive it by a function of time. A topological change.

        Parameters
        ----------
        function : function.Function or None
            Of one argument, time: what it gives is added to the excitation that a state sets, which is 0 by default. None
            takes it away.

        Raises
        ------
        TypeError, ValueError
            If it is no function of `mobod.function`, or not of one argument.
        """
        self._drive_by("excitation", function, self._path.used_functions)

    def get_excitation_function(self) -> Function | None:
        """The excitation over time, if there is one."""
        return self._drive

    def calc_excitation(self, state: State) -> float:
        """The excitation in this state: its own number, and what the function of time gives. Needs MODEL."""
        self._check(state, "calc_excitation")
        given = 0.0 if self._drive is None else float(self._drive.calc_value([state.time]))
        return self.get_excitation(state) + given

    # ------------------------------------------------------------------------------------------ path

    def get_path(self) -> Transmission:
        """Along which it pulls."""
        return self._path

    def get_length(self, state: State) -> float:
        """The length of the path: fiber along the tendon's line, and tendon. Needs POSITION."""
        self._needs(state, "get_length", Stage.POSITION)
        return self._path.calc_length(state)

    def get_lengthening_speed(self, state: State) -> float:
        """The rate of that length. Needs VELOCITY."""
        self._needs(state, "get_lengthening_speed", Stage.VELOCITY)
        return self._path.calc_speed(state)

    def calc_path_points(self, state: State) -> Array:
        """The points of the path, (n, 3) in Ground, bends as polygons. Needs POSITION."""
        return self._path.calc_path_points(state)

    @property
    def wraps(self) -> tuple[Any, ...]:
        """The surfaces that its path may bend over."""
        return tuple(getattr(self._path, "surfaces", ()))

    def calc_lines(self, state: State) -> list[Line]:
        """The path's."""
        return self._path.calc_lines(state)

    # ------------------------------------------------------------------------------------------ results

    def find_contraction(self, state: State) -> Contraction:
        """Lengths, velocities and forces of fiber and tendon together, a named tuple. Needs VELOCITY."""
        return self._contraction(state, "find_contraction")

    def _contraction(self, state: State, asked: str) -> Contraction:
        self._needs(state, asked, Stage.VELOCITY)
        return self.contraction_at(state, self._path.calc_length(state), self._path.calc_speed(state))

    def contraction_at(self, state: State, length: float, speed: float) -> Contraction:
        """As `find_contraction`, at a length and speed of its path that are known."""
        i, _, x, _ = self.span
        a = np.float64(_fiber.activation(state.record, i, x, self.first_z))
        found = self.FUNCTIONS.contract(state.record, i, x, self.first_z, a, np.float64(length), np.float64(speed))
        return Contraction(*(float(one) for one in found))

    def get_fiber_length(self, state: State) -> float:
        """The fiber's length. Needs VELOCITY."""
        return self._contraction(state, "get_fiber_length").fiber_length

    def get_fiber_velocity(self, state: State) -> float:
        """The rate of the fiber's length, below zero where it shortens. Needs VELOCITY."""
        return self._contraction(state, "get_fiber_velocity").fiber_velocity

    def get_pennation_angle(self, state: State) -> float:
        """The angle between fiber and tendon. Needs VELOCITY."""
        return math.acos(min(1.0, self._contraction(state, "get_pennation_angle").cos_pennation))

    def get_tendon_force(self, state: State) -> float:
        """With what the tendon pulls; zero where the muscle is disabled. Needs VELOCITY."""
        found = self._contraction(state, "get_tendon_force")
        return 0.0 if self.is_disabled(state) else found.tendon_force

    def get_active_fiber_force(self, state: State) -> float:
        """The part of the fiber's force by activation. Needs VELOCITY."""
        return self._contraction(state, "get_active_fiber_force").active_force

    def get_passive_fiber_force(self, state: State) -> float:
        """The part of the fiber's force by stretch and damping. Needs VELOCITY."""
        found = self._contraction(state, "get_passive_fiber_force")
        return found.elastic_force + found.damping_force

    def calc_moment_arms(self, state: State) -> Array:
        """The generalized force of a unit tension, (nu,): minus the gradient of the length. Needs POSITION."""
        self._check(state, "calc_moment_arms")
        return self._path.calc_moment_arms(state)

    def calc_moment_arm(self, state: State, mobod: MobilizedBody, which_u: int = 0) -> float:
        """The moment arm about a mobility, others moving as constraints ask: see `force.transmission.Path`. Needs POSITION."""
        self._check(state, "calc_moment_arm")
        return self._path.calc_moment_arm(state, mobod, which_u)

    # ------------------------------------------------------------------------------------------ curves

    def _at(self, function: Callable[..., Any], what: str, n: ArrayLike) -> Any:
        values = checks.numbers(what, n)
        pool = SimpleNamespace(force_numbers=np.array(self.default_numbers)[:, None])
        found = np.array([float(function(pool, 0, np.float64(one))) for one in values.ravel()]).reshape(values.shape)
        return float(found) if found.ndim == 0 else found

    def active_force_length(self, n: ArrayLike) -> Any:
        """The active force at normalized fiber lengths, by the largest isometric force; of a default state's parameters."""
        return self._at(self.FUNCTIONS.active, "normalized fiber lengths", n)

    def passive_force_length(self, n: ArrayLike) -> Any:
        """The passive force at normalized fiber lengths, by the largest isometric force; of a default state's parameters."""
        return self._at(self.FUNCTIONS.passive, "normalized fiber lengths", n)

    def tendon_force_length(self, n: ArrayLike) -> Any:
        """The tendon's force at normalized lengths, by the largest isometric force; of a default state's parameters."""
        return self._at(self.FUNCTIONS.tendon, "normalized tendon lengths", n)

    def force_velocity(self, v: ArrayLike) -> Any:
        """The factor of the active force at normalized fiber velocities, without damping; of a default state's parameters."""
        return self._at(self.FUNCTIONS.by_velocity, "normalized fiber velocities", v)

    def calc_rigid_tendon_forces(self, length: ArrayLike, speed: ArrayLike) -> tuple[Array, Array]:
        """Forces of the muscle if its tendon did not stretch, at lengths and speeds of its path.

        Parameters
        ----------
        length, speed : array_like
            Of the path, one shape.

        Returns
        -------
        active : array
            The active force along the tendon at full activation, of a default state's parameters.
        passive : array
            The passive one, without damping.
        """
        lengths, speeds = np.broadcast_arrays(checks.numbers("length", length), checks.numbers("speed", speed))
        n = np.array(self.default_numbers)[:, None]
        active, passive = self._with_rigid_tendons(n, lengths.ravel(), speeds.ravel())
        return active.reshape(lengths.shape), passive.reshape(lengths.shape)

    @classmethod
    def rigid_tendon_forces_of(cls, muscles: Sequence[Muscle], lengths: Array, speeds: Array) -> tuple[Array, Array]:
        """As `calc_rigid_tendon_forces`, of muscles of this kind, a row each: at once, which NumPy does fast."""
        if cls.calc_rigid_tendon_forces is not Muscle.calc_rigid_tendon_forces:  # a kind that has its own
            return each_alone(muscles, lengths, speeds)
        n = np.array([one.default_numbers[: cls.FUNCTIONS.num_numbers] for one in muscles]).T[:, None, :, None]
        return cls._with_rigid_tendons(n, lengths, speeds)

    @classmethod
    def _behind(cls, pool: Any, along: Any) -> tuple[Any, Any]:
        """Length and cos phi of a fiber that reaches *along* the line of a rigid tendon."""
        own = pool.force_numbers[:, 0]
        fiber = np.maximum(np.hypot(np.maximum(along, 0.0), own[HEIGHT]), cls._shortest(own))
        return fiber, np.asarray(_fiber.cosine(pool, 0, fiber))

    @classmethod
    def _with_rigid_tendons(cls, n: Array, lengths: Array, speeds: Array) -> tuple[Array, Array]:
        """Of numbers (numbers, 1), or of several muscles (numbers, 1, muscles, 1)."""
        pool, own = SimpleNamespace(force_numbers=n), n[:, 0]
        along = lengths - own[SLACK]
        fiber, cos = cls._behind(pool, along)
        velocity = np.where(along > 0.0, speeds * cos, 0.0) / (own[_fiber.SPEED] * own[FIBER])
        normal, scale = fiber / own[FIBER], own[STRENGTH] * cos
        active = scale * cls.FUNCTIONS.active(pool, 0, normal) * cls.FUNCTIONS.by_velocity(pool, 0, velocity)
        return np.asarray(active), np.asarray(scale * cls.FUNCTIONS.passive(pool, 0, normal))

    # ------------------------------------------------------------------------------------------ equilibrium

    def equilibrate(self, state: State, *, as_opensim: bool = False) -> None:
        """Give the fiber the length at which it balances the tendon at the state's activation and zero fiber velocity.

        Needs POSITION; the state falls to VELOCITY at most. Muscles without such a variable stay as they are. Where there are
        several stable lengths, the one next to the optimal fiber length is taken.

        Parameters
        ----------
        state : State
        as_opensim : bool
            Whether the fiber moves with the path as OpenSim's muscle of this kind does where it finds its equilibrium: fiber
            and tendon of `Thelen2003` share the path's speed by their stiffness, the fiber of `DeGrooteFregly2016` has all of
            it, others stand still. A fiber that at no length pulls less than the tendon gets the shortest. Needs VELOCITY.

        Raises
        ------
        ConvergenceError
            If there is none; it says at which lengths one has looked. The state is then as it was.
        """
        length = self.get_length(state)
        if not self.default_integers[STRETCHES]:
            return
        record, (i, _, x, _) = state.record, self.span
        numbers = record.force_numbers[x : x + self.FUNCTIONS.num_numbers, 0]
        a = float(_fiber.activation(record, i, x, self.first_z))
        speed = self.get_lengthening_speed(state) if as_opensim else 0.0

        def over(fiber: Any) -> Any:  # what the fiber pulls more than the tendon
            pull, held = self._pulls(record, x, a, length, fiber)
            if speed:
                factor, damping = self._while_moving(record, x, a, length, fiber, speed)
                pull, _ = self._pulls(record, x, a * factor, length, fiber, damping)
            return pull - held

        low = float(self._shortest(numbers))
        high = max(float(np.hypot(max(length - 0.9 * numbers[SLACK], 0.0), numbers[HEIGHT])), 1.001 * low)
        trials = np.linspace(low, high, _TRIALS)
        found = over(trials)
        rising = np.flatnonzero((found[:-1] < 0.0) & (found[1:] >= 0.0))
        # a shortest fiber that pulls nothing balances a tendon that is slack by less than it; OpenSim takes any shortest one
        if not len(rising) and found[0] > -_NOTHING and (as_opensim or (found[0] < _NOTHING and length > numbers[SLACK])):
            state.upd_z()[self._place(self._VARIABLE)] = self._variable_at(record, x, length, low)
            return
        if not len(rising):
            raise ConvergenceError(
                f"{self!r} has no equilibrium at length {length:.6g} and activation {a:.3g}: from the shortest fiber, "
                f"{low:.6g}, to {high:.6g}, with which the tendon is slack, the fiber pulls "
                f"{'more' if found[0] > 0.0 else 'less'} than the tendon. Its optimal fiber length is {numbers[FIBER]:.6g}, "
                f"its tendon slack length {numbers[SLACK]:.6g}"
            )
        from scipy.optimize import brentq

        best = min(rising, key=lambda k: abs(trials[k] - numbers[FIBER]))
        fiber = float(brentq(lambda l: float(over(np.float64(l))), trials[best], trials[best + 1], xtol=1e-16, rtol=1e-15))
        state.upd_z()[self._place(self._VARIABLE)] = self._variable_at(record, x, length, fiber)

    def _pulls(self, record: Any, x: int, a: Any, length: float, fiber: Any, damping: Any = 0.0) -> tuple[Any, Any]:
        """With what a fiber and the tendon pull along the path, by the largest isometric force."""
        cos, normal = _fiber.cosine(record, x, fiber), fiber / number(record, x + FIBER)
        of_fiber = a * self.FUNCTIONS.active(record, x, normal) + self.FUNCTIONS.passive(record, x, normal) + damping
        return of_fiber * cos, self.FUNCTIONS.tendon(record, x, (length - fiber * cos) / number(record, x + SLACK))

    def _while_moving(self, record: Any, x: int, a: float, length: float, fiber: Any, speed: float) -> tuple[Any, Any]:
        """The factor of the active force and the damping that `equilibrate` takes for a moving fiber; here it stands still."""
        return 1.0, 0.0

    @staticmethod
    def _shortest(numbers: Array) -> Any:
        return numbers[SHORTEST]

    def _variable_at(self, record: Any, x: int, length: float, fiber: float) -> float:
        """The second z where the fiber has a length."""
        return fiber


def _settle_stretching(settle: Callable[[str, list[float]], None], whose: str, numbers: list[float]) -> None:
    """`Muscle.settle` of a muscle whose tendon stretches."""
    settle(whose, numbers)
    if not numbers[SLACK] > 0.0:
        raise ModelError(f"tendon_slack_length of {whose} has to be above zero where the tendon stretches; got 0")


def each_alone(muscles: Sequence[Muscle], lengths: Array, speeds: Array) -> tuple[Array, Array]:
    """`Muscle.rigid_tendon_forces_of` of kinds whose curves are in pieces that are looked up."""
    found = [one.calc_rigid_tendon_forces(*rows) for one, *rows in zip(muscles, lengths, speeds, strict=True)]
    return np.stack([active for active, _ in found]), np.stack([passive for _, passive in found])


def tendon_forces(state: State, muscles: Sequence[Muscle], lengths: Array, speeds: Array) -> Array:
    """Those of muscles in a state, at lengths and speeds of their paths that are known: of each kind at once."""
    record, found = state.record, np.zeros(len(muscles))
    groups: dict[Any, list[int]] = {}
    for j, muscle in enumerate(muscles):
        i = muscle.span[0]
        own = tuple(record.force_integers[i : i + HEAD].tolist())
        groups.setdefault((muscle.FUNCTIONS, own, j if own[DRIVEN] >= 0 else -1), []).append(j)
    for (functions, own, alone), places in groups.items():
        if alone >= 0:  # a function of time drives it
            found[alone] = muscles[alone].contraction_at(state, lengths[alone], speeds[alone]).tendon_force
            continue
        n = np.array([record.force_numbers[(x := muscles[j].span[2]) : x + functions.num_numbers, 0] for j in places])
        num_z = own[ACTIVATES] + own[STRETCHES]
        z = np.array([state.z_values[(first := muscles[j].first_z) : first + num_z] for j in places])
        like = SimpleNamespace(
            force_numbers=n.T[:, None], force_integers=own, z=z.T[:, None], time=np.zeros((1, 1, len(places)))
        )
        a = _fiber.activation(like, 0, 0, 0)
        found[places] = functions.contract(like, 0, 0, 0, a, lengths[places], speeds[places])[3]
    return found


def equilibrate(state: State, muscles: Iterable[Muscle]) -> None:
    """Give the fibers of muscles the lengths at which they balance their tendons: `Muscle.equilibrate` of each.

    Parameters
    ----------
    state : State
        At POSITION; it falls to VELOCITY at most.
    muscles : iterable of Muscle

    Raises
    ------
    ConvergenceError
        If one has no equilibrium. The state is then as it was.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> state = leg.default_state()
    >>> leg.system.realize(state, mb.Stage.POSITION)
    >>> equilibrate(state, leg.muscles.values())
    >>> leg.system.realize(state)
    >>> abs(leg.muscles["soleus_r"].get_fiber_velocity(state)) < 1e-9
    True
    """
    before = state.z_values.copy()
    try:
        for one in muscles:
            one.equilibrate(state)
    except ConvergenceError:
        state.upd_z()[:] = before
        raise


def _measuring(functions: Functions, path: Any) -> Any:
    """The function that gives length and speed of a muscle's path, with its ratio."""
    length, speed, _ = path
    before = functions.num_numbers

    @generic
    def measured(model: Any, i: int, x: int) -> Any:
        ratio = number(model, x + before)
        own_length = ratio * length(model, i + HEAD, x + before + 1)
        return own_length, ratio * speed(model, i + HEAD, x + before + 1)

    return measured


def _make(functions: Functions, path: Any) -> tuple[Any, Any, Any]:
    length, _, apply = path
    contract, stored, activation_rate = functions.contract, functions.stored, functions.activation_rate
    before, measured, contract_apart = functions.num_numbers, _measuring(functions, path), one_apart(functions.contract)

    @generic
    def add(model: Any, i: int, x: int, z: int) -> None:
        own_length, own_speed = measured(model, i, x)
        found = contract(model, i, x, z, _fiber.activation(model, i, x, z), own_length, own_speed)
        apply(model, i + HEAD, x + before + 1, -number(model, x + before) * found[3])
        if model.force_integers[i + ACTIVATES] != 0:
            store(model.z_dot, z, 0, activation_rate(model, i, x, z))
        if model.force_integers[i + STRETCHES] != 0:
            store(model.z_dot, z + model.force_integers[i + ACTIVATES], 0, found[8])

    @generic
    def energy(model: Any, i: int, x: int, z: int) -> Any:
        own_length = number(model, x + before) * length(model, i + HEAD, x + before + 1)
        return number(model, x + STRENGTH) * stored(model, i, x, z, own_length)

    @generic
    def power(model: Any, i: int, x: int, z: int) -> Any:
        own_length, own_speed = measured(model, i, x)
        found = contract_apart(model, i, x, z, _fiber.activation(model, i, x, z), own_length, own_speed)
        return found[3] * found[7] - found[5] * found[2]

    for made in (add, energy, power):
        _name(made, contract, length)
    return add, energy, power


@cache
def _law_of(functions: Functions) -> Any:
    """The force along the path, below zero, for derivatives."""
    contract = functions.contract

    @generic
    def along(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
        return -contract(model, i, x, z, _fiber.activation(model, i, x, z), length, speed)[3]

    along.__module__ = contract.__module__
    return along


def _name(made: Any, contract: Any, length: Any) -> None:
    """Name a function by its muscle's kind and its path's, for the cache."""
    made.__module__, made.__qualname__ = contract.__module__, f"{made.__name__}.{length.__module__.rpartition('.')[2]}"


@cache
def _routine_of(functions: Functions, path: Any, listed: Any) -> Routine:
    """The routine of a kind of muscle along a kind of path: compiled when a model first has one."""
    of_one = None if listed is None else eights_of(functions, listed)
    return by_address(*_make(functions, path), with_z=True, of_one=of_one)


@cache
def _along_routine_of(functions: Functions, path: Any) -> Routine:
    """The same for derivatives."""
    return along_path(_law_of(functions), path, functions.num_numbers, HEAD)


@cache
def _along_spans_of(functions: Functions, bend: Any) -> Routine:
    """The same for derivatives along paths that are made of spans."""
    return along_spans(_law_of(functions), bend, functions.num_numbers, HEAD)
