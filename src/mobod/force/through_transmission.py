"""Forces along a transmission; and those of a control, with an activation that is a z or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

from ..algebra.scalar import store
from ..compiling import Routine, generic
from ..decoration.rubber_band_line import Line
from ..errors import ModelError
from ..state.state import State
from ..value import checks
from .base import Force
from .pools import number
from .routines import along_path, along_spans, by_address
from .subsystem import GeneralForceSubsystem
from .transmission.base import Functions, Transmission, check_transmission


class Law(NamedTuple):
    """Functions of a force along a transmission: of the record, of where its integers, numbers and z begin, and of l and v.

    Attributes
    ----------
    force : callable
        ``force(model, i, x, z, length, speed)``.
    ratio : int
        Which of the element's numbers is the transmission's ratio.
    head : int
        How many integers stand before the transmission's.
    rate : callable or None
        ``rate(model, i, x, z, speed)``, of its z where it has one.
    energy, power : callable or None
        ``energy(model, i, x, z, length)`` and ``power(model, i, x, z, length, speed)``: None where they are zero.
    """

    force: Callable[..., Any]
    ratio: int
    head: int = 0
    rate: Callable[..., Any] | None = None
    energy: Callable[..., Any] | None = None
    power: Callable[..., Any] | None = None


@generic
def _no_rate(model: Any, i: int, x: int, z: int, speed: Any) -> None:
    """Write no rate: there is no z."""


@cache
def _routine_of(law: Law, path: Functions) -> Routine:
    """The routine of a law along a kind of transmission."""
    (length, speed, apply), (force, ratio, head, rate, of_energy, of_power) = path, law

    @generic
    def measured(model: Any, i: int, x: int) -> Any:
        own, n = number(model, x + ratio), x + ratio + 1
        own_length = own * length(model, i + head, n)
        return own_length, own * speed(model, i + head, n)

    @generic
    def write_rate(model: Any, i: int, x: int, z: int, own_speed: Any) -> None:
        store(model.z_dot, z, 0, rate(model, i, x, z, own_speed))  # type: ignore[misc]

    write = _no_rate if rate is None else write_rate

    @generic
    def add(model: Any, i: int, x: int, z: int) -> None:
        own_length, own_speed = measured(model, i, x)
        f = force(model, i, x, z, own_length, own_speed)
        apply(model, i + head, x + ratio + 1, number(model, x + ratio) * f)
        write(model, i, x, z, own_speed)

    @generic
    def energy(model: Any, i: int, x: int, z: int) -> Any:
        return of_energy(model, i, x, z, number(model, x + ratio) * length(model, i + head, x + ratio + 1))  # type: ignore[misc]

    @generic
    def power(model: Any, i: int, x: int, z: int) -> Any:
        own_length, own_speed = measured(model, i, x)
        return of_power(model, i, x, z, own_length, own_speed)  # type: ignore[misc]

    made = add, None if of_energy is None else energy, None if of_power is None else power
    for function in (add, energy, power):  # the names of their files in the cache
        name = f"{force.__module__.rpartition('.')[2]}.{function.__name__}"
        function.__module__, function.__qualname__ = length.__module__, name
    return by_address(*made, with_z=True)


@cache
def _along_routine_of(law: Law, path: Functions) -> Routine:
    """The same for derivatives."""
    return along_path(law.force, path, law.ratio, law.head)


@cache
def _along_spans_of(law: Law, bend: Any) -> Routine:
    """The same for derivatives along paths that are made of spans."""
    return along_spans(law.force, bend, law.ratio, law.head)


class OnTransmission(Force):
    """A force that acts along a transmission."""

    _transmission: Transmission

    @property
    def reads_time(self) -> bool:
        """The path's functions are of coordinates."""
        return False

    def reach(self) -> tuple[list[int], list[int]] | None:
        """The bodies and mobilities of its transmission."""
        return self._transmission.reach()

    def calc_lines(self, state: State) -> list[Line]:
        """The transmission's, where it is a path."""
        return self._transmission.calc_lines(state)

    def get_transmission(self) -> Transmission:
        """Its transmission."""
        return self._transmission

    def calc_length(self, state: State) -> float:
        """The transmission's length. Needs POSITION."""
        self._check(state, "calc_length")
        return self._transmission.calc_length(state)

    def calc_speed(self, state: State) -> float:
        """The transmission's speed. Needs VELOCITY."""
        self._check(state, "calc_speed")
        return self._transmission.calc_speed(state)


class AlongTransmission(OnTransmission):
    """A force along a transmission: an element's integers and numbers end with the transmission's, its ratio first.

    `LAW` is its law, or ``law()`` says which it has.
    """

    INNER = frozenset({"LAW", "law", "num_z"})
    LAW: ClassVar[Law]

    def _connect(
        self,
        forces: GeneralForceSubsystem,
        transmission: Any,
        integers: Sequence[int],
        numbers: Sequence[float],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        through = check_transmission(forces, transmission)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._transmission = through
        through.serve(self)
        self.default_integers, self.default_numbers = [*integers, *through.integers], [*numbers, *through.numbers]

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        """Its routine, compiled when a model first has such a force with a transmission of this kind."""
        return _routine_of(self.law(), self._transmission.FUNCTIONS)

    @property
    def along_routine(self) -> Routine:  # type: ignore[override]
        """Its routine for derivatives along its transmission."""
        if self._transmission.spans() is None:
            return _along_routine_of(self.law(), self._transmission.FUNCTIONS)
        return _along_spans_of(self.law(), self._transmission.BEND)

    def law(self) -> Law:
        """The law that it follows."""
        return self.LAW


class ThroughTransmission(AlongTransmission):
    """A force of a control and of a transmission's length and speed; its user's class has the laws without z and with one."""

    INNER = frozenset({"LAW_WITH_Z"})
    LAW_WITH_Z: ClassVar[Law]

    reads_positions_only = False

    _activates: bool

    def law(self) -> Law:
        """The effort by its control, or by its activation where it has one."""
        return self.LAW_WITH_Z if self._activates else self.LAW

    @property
    def num_z(self) -> int:  # type: ignore[override]
        """One where it has an activation of its own."""
        return int(self._activates)

    @property
    def reads_z(self) -> bool:  # type: ignore[override]
        """True if it has an activation of its own."""
        return self._activates

    def get_activation(self, state: State) -> float | None:
        """Its z in this state, None where it has none. Needs MODEL."""
        self._check(state, "get_activation")
        return float(state.z_values[self.first_z]) if self.num_z else None

    def set_activation(self, state: State, value: float) -> None:
        """Set its z in this state; `ModelError` where it has none. Needs MODEL."""
        self._check(state, "set_activation")
        if not self.num_z:
            raise ModelError(f"{self!r} has no dynamics, and so no activation; set_control(state, value) sets its control")
        state.upd_z()[self.first_z] = checks.finite(f"activation of {self._name!r}", value)
