"""Settings: numbers of a model that a state can have of its own, by name, and how to move one of them a little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..state.parameters import Parametrized
from ..value.checks import suggest

if TYPE_CHECKING:
    from ..state.state import State

#: Of a body: its inertial parameters, and its mobilizer's frames as displacements, (rotation about its axes; translation).
_OF_MASS = {"mass": 1, "com": 3, "inertia": 6}
_FRAMES = {"inboard_frame": ("R_PF", "p_PF"), "outboard_frame": ("R_BM", "p_BM")}


class Setting:
    """One number, or several, of a model.

    Attributes
    ----------
    name : str
        ``element.parameter``.
    size : int
    inertial : tuple of int and str, or None
        The body's number, and which of its inertial parameters it is, or ``"rotor_inertia"``.
    """

    def __init__(
        self,
        name: str,
        values: Callable[[State], Any],
        move: Callable[[State, int, float], None],
        size: int,
        inertial: tuple[int, str] | None = None,
    ) -> None:
        self.name, self.size, self._values, self._move, self.inertial = name, size, values, move, inertial

    @property
    def names(self) -> list[str]:
        """One a number."""
        return [self.name] if self.size == 1 else [f"{self.name}[{i}]" for i in range(self.size)]

    def values(self, state: State) -> Array:
        """Its numbers ``(size,)`` in a state; those of frames are displacements from where they are, zeros."""
        return np.array(self._values(state), np.float64).reshape(-1)

    def step(self, state: State, i: int) -> float:
        """A step for differences of number i."""
        return 1e-3 * max(1e-3, abs(float(np.ravel(self._values(state))[i])) or 1.0)

    def moved(self, state: State, i: int, h: float) -> State:
        """A copy of the state with number i larger by h; it falls as its setter says."""
        other = state.copy()
        self.shift(other, i, h)
        return other

    def shift(self, state: State, i: int, h: float) -> None:
        """Make number i of a state larger by h; it falls as its setter says."""
        self._move(state, i, h)


def find(system: Any, what: Any) -> Setting:
    """A setting by ``"element.parameter"``, or by a setter such as ``spring.set_stiffness``.

    Raises
    ------
    ValueError
        If there is no such element or parameter.
    TypeError
        If *what* is neither a name nor a setter of a declared parameter.
    """
    if isinstance(what, Setting):
        return what
    if isinstance(what, str):
        element_name, _, parameter = what.rpartition(".")
        elements = _elements(system)
        if element_name not in elements:
            known = f"the model has {suggest(element_name, list(elements))}" if elements else "the model has none"
            raise ValueError(f"no element {element_name!r} for {what!r}, which is 'element.parameter'; {known}")
        return _of(elements[element_name], parameter)
    element, name = getattr(what, "__self__", None), getattr(what, "__name__", "")
    if element is None or not name.startswith("set_"):
        raise TypeError(f"a setting is 'element.parameter', or a setter such as spring.set_stiffness, not {what!r}")
    return _of(element, {"body_mass_properties": "mass"}.get(name[4:], name[4:]))


def _elements(system: Any) -> dict[str, Any]:
    matter = system.get_matter_subsystem()
    constraints = {one.name: one for one in matter.constraints}
    bodies = {body.name: body for body in matter.body_list[1:]}
    return constraints | bodies | {force.name: force for force in system.all_forces()}


def _of(element: Any, name: str) -> Setting:
    title = f"{element.name}.{name}"
    declared = element.PARAMETERS if isinstance(element, Parametrized) else {}
    if name in declared:
        return _of_parameter(element, declared[name], title)
    is_body = hasattr(element, "get_mobilized_body_index")
    if is_body and name in _OF_MASS:
        return _of_mass(element, name, title)
    if is_body and name in _FRAMES:
        return _of_frame(element, *_FRAMES[name], title)
    if is_body and name == "rotor_inertia":
        return _of_rotors(element, title)
    known = [*declared, *((*_OF_MASS, *_FRAMES, "rotor_inertia") if is_body else ())]
    raise ValueError(f"{element.name!r} has no parameter {name!r}; it has {', '.join(known) or 'none'}")


def _of_parameter(element: Any, parameter: Any, title: str) -> Setting:
    get, set_ = getattr(element, f"get_{parameter.name}"), getattr(element, f"set_{parameter.name}")
    size = int(np.prod(parameter.shape, dtype=int))

    def move(state: State, i: int, h: float) -> None:
        values = np.array(get(state), np.float64)
        values.reshape(-1)[i] += h
        set_(state, float(values) if size == 1 and not parameter.shape else values)

    return Setting(title, get, move, size)


def _of_field(body: Any, field: str, title: str, rows: Callable[[State], slice], size: int) -> Setting:
    def values(state: State) -> Any:
        return state.field(field)[rows(state)]

    def move(state: State, i: int, h: float) -> None:
        state.own_field(field)[rows(state)].reshape(-1)[i] += h

    return Setting(title, values, move, size, (body.index, field))


def _of_mass(body: Any, name: str, title: str) -> Setting:
    b = body.index
    return _of_field(body, name, title, lambda state: slice(b, b + 1), _OF_MASS[name])


def _of_rotors(body: Any, title: str) -> Setting:
    return _of_field(body, "rotor_inertia", title, body.u_slice, body.facts.num_u)


def _of_frame(body: Any, rotation: str, translation: str, title: str) -> Setting:
    b = body.index

    def values(state: State) -> Any:
        return np.zeros(6)

    def move(state: State, i: int, h: float) -> None:
        if i < 3:
            R = state.own_field(rotation)[b].reshape(3, 3)
            c, s, (j, k) = np.cos(h), np.sin(h), ((i + 1) % 3, (i + 2) % 3)
            x, y = R[:, j].copy(), R[:, k].copy()
            R[:, j], R[:, k] = c * x + s * y, c * y - s * x
        else:
            state.own_field(translation)[b, i - 3] += h
        if rotation == "R_BM":
            state.leave_out("plain_outboard", b, False)

    return Setting(title, values, move, 6)


def names_of(settings: Sequence[Setting]) -> list[str]:
    """All their names."""
    return [name for setting in settings for name in setting.names]
