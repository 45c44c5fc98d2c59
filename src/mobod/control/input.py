"""Input: what a controller's law can ask for beside what it gets by name. Base class of the kinds."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..force.base import body_index
from ..function.routines import Use
from ..tree.sampling import WIDTH
from ..value.abstract import Abstract
from ..value.checks import vector

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from .custom import Custom


class Packing:
    """The integers and numbers of a controller's inputs, as `tree.sampling` reads them, while they are being collected."""

    def __init__(self, controller: Custom, first_number: int, first_function: int) -> None:
        self.controller = controller
        self.integers: list[int] = []
        self.numbers: list[float] = []
        #: Further integers, which inputs refer to; they come after those of all inputs.
        self.tables: list[int] = []
        self.first_number, self.first_function = first_number, first_function
        #: What the controller remembers beyond its efforts, in a default state; its place there, and in the scratch.
        self.memory: list[float] = []
        self.first_memory, self.work = 0, 0
        #: Where in the scratch what the nominal system is asked for begins.
        self.first_of_model = 0

    def ask(self, kind: int, size: int, *own: int) -> int:
        """Ask for an input of so many numbers; where they will be in the scratch."""
        out, self.work = self.work, self.work + size
        self.say(kind, out, *own)
        return out

    def ask_model(self, kind: int, size: int, *own: int) -> int:
        """Ask the nominal system for an input; where it will be in the scratch."""
        nominal = self.controller.nominal
        assert nominal is not None  # as the input says that it is of the model
        return self.first_of_model + nominal.ask(kind, size, *own)

    def say(self, kind: int, out: int, *own: int) -> None:
        """The integers of an input, or of something that changes one."""
        self.integers += [kind, out, *own, *[0] * (WIDTH - 2 - len(own))]

    def keep(self, numbers: Sequence[float]) -> int:
        """Keep numbers of an input; their place, from the first of the controller's."""
        place = self.first_number + len(self.numbers)
        self.numbers += numbers
        return place

    def remember(self, numbers: Sequence[float]) -> int:
        """Keep what is remembered from sample to sample; its place."""
        place = self.first_memory + len(self.memory)
        self.memory += numbers
        return place


class Input(Abstract):
    """Something that a law is given as an array, by a name of its user's: ``inputs={"J": mb.control.Jacobian(hand)}``.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.Pose(system.matter.bodies["lower"])
    >>> isinstance(part, mb.control.Input)
    True
    """

    #: The functions that it evaluates.
    functions: Sequence[Use] = ()

    @abc.abstractmethod
    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        """The array's shape, in a system of so many coordinates and speeds."""

    @abc.abstractmethod
    def pack(self, packing: Packing, size: int) -> int:
        """Ask for it, of so many numbers; where they will be in the scratch."""

    def adopt(self, controller: Custom) -> None:
        """Become part of a controller: look bodies up."""

    @property
    def is_of_model(self) -> bool:
        """True if the controller's nominal system is asked for it."""
        return False


class OfAFrame(Input):
    """An input of a frame that is fixed on a body, parallel to the body's own: the base of its kinds.

    Of a body of a controller's nominal system it is what that system says at the plant's coordinates and speeds.

    Parameters
    ----------
    body : MobilizedBody
        Given by object, index or name.
    station : (3,) array_like
        The frame's origin, in the body's frame; that of the body unless given.

    Raises
    ------
    TypeError, TopologyError
        If *body* is none of the system's; when the controller is made.
    ModelError
        If the station is not finite.
    """

    KIND: int

    def __init__(self, body: MobilizedBody | int | str, station: Any = (0.0, 0.0, 0.0)) -> None:
        self.body, self.station = body, vector("station", station)
        self._index, self._of_model = -1, False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.body!r} at {self.station.tolist()}>"

    @property
    def is_of_model(self) -> bool:
        return self._of_model

    def adopt(self, controller: Custom) -> None:
        self._of_model = controller.nominal is not None and controller.nominal.has(self.body)
        if self._of_model:
            self._index = int(getattr(self.body, "index"))  # noqa: B009
            return
        self._index = body_index(controller.get_force_subsystem(), f"body of {type(self).__name__}", self.body)

    def pack(self, packing: Packing, size: int) -> int:
        station = self.station.tolist()
        nominal = packing.controller.nominal
        if self._of_model and nominal is not None:
            return packing.ask_model(self.KIND, size, self._index, nominal.keep(station))
        return packing.ask(self.KIND, size, self._index, packing.keep(station))


__all__: list[str] = []
