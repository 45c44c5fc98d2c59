"""Motion: a rule by which a mobilizer moves, whatever the forces. What every kind shares.

A kind of the package's own is a file beside this one: a routine ``move(model, b, what)`` with the equations, see `protocol`,
and a class derived from `Motion` with it as ``routine`` and with `pack_numbers`, its run in the record's field
`motion_numbers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from ..compiling import Routine
from ..errors import ModelError, TopologyError
from ..mobilizer.base import MobilizedBody
from ..state.parameters import Numbered
from ..state.state import State
from ..value import level as _level
from ..value.checks import flag
from ..value.level import Level, Method, all_methods


class Motion(Numbered):
    """Prescribes how a mobilizer moves. Base class of the kinds in `mobod.motion`.

    A motion governs all mobilities of its mobilizer, at one level: at ``Level.POSITION`` it says what q is, and u and udot are
    its derivatives; at ``VELOCITY`` what u is, and q is integrated; at ``ACCELERATION`` what udot is. The forces that make it
    so are found with the accelerations: `SimbodyMatterSubsystem.find_motion_forces`. While a motion is switched off the
    mobilizer is free, while the mobilizer is locked the lock overrides the motion.

    Realizing a state does not change its q and u: `MultibodySystem.prescribe` gives them the prescribed values, as integrators
    do at every step.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it governs, which can have one motion; a topological change.

    Raises
    ------
    TypeError
        If *mobod* is no mobilized body.
    ModelError
        If it is Ground or a weld, which do not move, or has a motion already.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> drive = mb.motion.Steady(arm, 2.0)
    >>> state = system.realize_topology()
    >>> system.prescribe(state)
    True
    >>> arm.get_u(state), arm.has_motion()
    (2.0, True)
    """

    INNER = frozenset(
        """
        disabled_by_default driver in_use is_steady mobod names_of_numbers objection pack_numbers routine
        """.split()
    )

    Level: TypeAlias = _level.Level
    Method: TypeAlias = _level.Method

    #: The routine that the sweeps call; None for a motion in Python.
    routine: ClassVar[Routine | None] = None
    #: What its numbers are called, one each; or a name for all.
    names_of_numbers: ClassVar[tuple[str, ...]] = ()
    _level: Level = Level.NO_LEVEL

    def __init__(self, mobod: MobilizedBody) -> None:
        if type(self) is Motion:
            raise TypeError("Motion is the base class; make one of the kinds in mobod.motion")
        if not hasattr(mobod, "get_mobilized_body_index"):
            raise TypeError(f"a motion is made for a mobilized body, not for {mobod!r}")
        if mobod.facts.num_u == 0:
            raise ModelError(f"{mobod!r} has no mobilities; a motion has nothing to move there")
        if mobod.driver is not None:
            raise ModelError(f"{mobod!r} has a motion already, {mobod.driver!r}; call clear_motion() first")
        self.mobod = mobod
        self.disabled_by_default = False
        self.in_use = True
        mobod.driver = self
        mobod.instance_changed()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} motion of {self.mobod.name!r}>"

    def get_mobilized_body(self) -> MobilizedBody:
        """The body whose mobilizer it governs."""
        return self.mobod

    # ------------------------------------------------------------------------------------------ level and method

    def get_level(self, state: State) -> Level:
        """The level at which it prescribes, ``NO_LEVEL`` while it is disabled; a lock makes no difference. Needs MODEL."""
        return Level.NO_LEVEL if self.is_disabled(state) else self.rule(state)[0]

    def get_level_method(self, state: State) -> Method:
        """The method at that level, ``NO_METHOD`` while it is disabled; a lock makes no difference. Needs MODEL."""
        return Method.NO_METHOD if self.is_disabled(state) else self.rule(state)[1]

    def calc_all_methods(self, state: State) -> tuple[Method, Method, Method]:
        """The methods of q, u and udot that follow, as though nothing were locked; FREE while it is disabled. Needs MODEL."""
        if self.is_disabled(state):
            return Method.FREE, Method.FREE, Method.FREE
        return all_methods(*self.rule(state))

    @staticmethod
    def name_of_level(level: Level) -> str:
        """A name for reading: ``"Position"``, or what says that it is none."""
        try:
            return Level(level).name.title().replace("_", "")
        except ValueError:
            return f"unknown Motion.Level {level!r}"

    @staticmethod
    def name_of_method(method: Method) -> str:
        """A name for reading: ``"Prescribed"``, or what says that it is none."""
        try:
            return Method(method).name.title().replace("_", "")
        except ValueError:
            return f"unknown Motion.Method {method!r}"

    def rule(self, state: State | None) -> tuple[Level, Method]:
        """Level and method while it is enabled."""
        return self._level, Method.PRESCRIBED

    @property
    def is_steady(self) -> bool:
        """True if udot is always zero."""
        return False

    def pack_numbers(self) -> Sequence[float]:
        """The numbers of its routine, in a default state."""
        return ()

    def objection(self, state: State) -> str | None:
        """Why it cannot be followed in this state; None where it can."""
        return None

    # ------------------------------------------------------------------------------------------ on and off

    def set_disabled_by_default(self, should_be_disabled: bool) -> None:
        """Set whether states start with it disabled; a topological change."""
        self.disabled_by_default = flag("should_be_disabled", should_be_disabled)
        self.mobod.instance_changed()

    def is_disabled_by_default(self) -> bool:
        """True if states start with it switched off."""
        return self.disabled_by_default

    def disable(self, state: State) -> None:
        """Switch it off in this state, which falls to MODEL at most: the mobilizer is free, unless it is locked."""
        self._switch_noted(state, 0, "disable", "let go")

    def enable(self, state: State, *, impulse: bool = True) -> None:
        """Switch it on in this state, which falls to MODEL at most.

        q and u stay as they are until `MultibodySystem.prescribe` is called; a locked mobilizer stays locked. In a run, which
        means by an event handler or on `TimeStepper.state` between two steps, u becomes what it prescribes at once, by an
        impulse on the whole mechanism, see `MobilizedBody.lock`.

        Parameters
        ----------
        state : State
        impulse : bool
            False leaves the other speeds alone in a run, too.
        """
        if flag("impulse", impulse) and self.is_disabled(state):
            self.mobod.matter.latch(state, self.mobod, lambda to: self._switch(to, 1, "enable"), "driven")
        else:
            self._switch_noted(state, 1, "enable", "driven")

    def _switch_noted(self, state: State, value: int, asked: str, kind: str) -> None:
        changes = self.is_disabled(state) is bool(value)
        self._switch(state, value, asked)
        if changes:
            self.mobod.matter.note(state, self.mobod, kind)

    def _switch(self, state: State, value: int, asked: str) -> None:
        self._check(state, asked)
        b = self.mobod.index
        if state.field("motion_enabled")[b] != value:
            state.own_field("motion_enabled")[b] = value
            state.settle_motion(self.mobod)

    def is_disabled(self, state: State) -> bool:
        """True if it is switched off in this state. Needs MODEL."""
        self._check(state, "is_disabled")
        return not state.field("motion_enabled")[self.mobod.index]

    def _check(self, state: State, asked: str) -> None:
        if not self.in_use:
            raise TopologyError(f"{asked} of {self!r}: it was taken off by clear_motion(); make a new one")
        state.tree_of(self.mobod, f"{asked} of the motion")

    def number_place(self, state: State, asked: str) -> tuple[str, int, int]:
        """The tree's field that has its numbers, the first row and their count; refuses a state of another system."""
        self._check(state, asked)
        return "motion_numbers", int(state.tree.fields["first_motion_number"][self.mobod.index]), len(self.pack_numbers())
