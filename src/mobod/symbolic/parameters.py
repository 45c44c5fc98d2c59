"""Parameters of formulas: numbers of a model, by name, that become inputs in place of constants.

``"bob.mass"``, ``"bob.com"``, ``"bob.com[1]"``, ``"spring.stiffness"``. A body's mass and mass center leave its inertia about
the mass center as it is, I = I_C + m (c.c 1 - c c^T), unless its inertia about the origin is a parameter, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..derivative import settings
from ..errors import FormulaError
from ..state.fields import PARAMETERS

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem, State

#: Of a body, beside what `derivative.settings` knows: how many numbers.
INERTIAL = {"mass": 1, "com": 3, "inertia": 6, "central_inertia": 6}
_OF_BODY = {**INERTIAL, "p_PF": 3, "p_BM": 3}
_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_ROUNDING = 1e-11


class Number(NamedTuple):
    """One number of a model.

    Attributes
    ----------
    name : str
        ``element.parameter``, with ``[i]`` where this is one of several.
    element, parameter : str
    number : int
    default : float
        What it is in the state.
    """

    name: str
    element: str
    parameter: str
    number: int
    default: float


class Parameters:
    """Numbers that are inputs ``p``, in their order, and what the fields of the record are made of.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Whose values are the defaults.
    names : iterable of str
        ``element.parameter``, or one number of it, ``element.parameter[i]``.

    Raises
    ------
    TypeError
        If they are no list of texts.
    ValueError
        If there is no such element or parameter, or one is named twice.
    FormulaError
        If a parameter is none that the numbers of the record are linear functions of, such as a direction.
    """

    def __init__(self, system: MultibodySystem, state: State, names: Iterable[str] = ()) -> None:
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"parameters has to be a list of names, such as ['spring.stiffness'], not {names!r}")
        self.numbers: list[Number] = []
        self._system, self._state = system, state
        self._bodies = {body.name: body for body in system.get_matter_subsystem().body_list[1:]}
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"a parameter is 'element.parameter', such as 'spring.stiffness', not {name!r}")
            self._add(name)
        taken: set[str] = set()
        for number in self.numbers:
            if number.name in taken:
                raise ValueError(f"the parameter {number.name!r} is named twice")
            taken.add(number.name)
        for body in self._bodies:
            if {"inertia", "central_inertia"} <= {n.parameter for n in self.numbers if n.element == body}:
                raise ValueError(f"the inertia of {body!r} follows from its central_inertia; name one of the two")

    def _add(self, name: str) -> None:
        whole, index = _parts(name)
        element, _, parameter = whole.rpartition(".")
        if element in self._bodies and parameter in _OF_BODY:
            values = values_of_body(self._bodies[element], parameter, self._state)
        else:
            if element in self._bodies and parameter in ("inboard_frame", "outboard_frame"):
                own = "p_PF" if parameter == "inboard_frame" else "p_BM"
                raise FormulaError(f"a frame's rotation is no parameter of formulas; name its origin, {element}.{own}")
            values = settings.find(self._system, whole).values(self._state)
        if index is not None and not 0 <= index < len(values):
            raise ValueError(f"{whole!r} has {len(values)} numbers, and no number {index}")
        for i in range(len(values)) if index is None else [index]:
            said = whole if len(values) == 1 else f"{whole}[{i}]"
            self.numbers.append(Number(said, element, parameter, i, float(values[i])))

    @property
    def names(self) -> list[str]:
        """One a number."""
        return [number.name for number in self.numbers]

    @property
    def defaults(self) -> Array:
        """The numbers as they are in the state."""
        return np.array([number.default for number in self.numbers])

    # ------------------------------------------------------------------------------------------ into a recorded model

    def write(self, model: Any) -> None:
        """Make the fields of a `RecordedModel` functions of the inputs."""
        inputs = {(n.element, n.parameter, n.number): model.tape.input("p", k) for k, n in enumerate(self.numbers)}
        for name, body in self._bodies.items():
            own = {key[1:]: x for key, x in inputs.items() if key[0] == name and key[1] in _OF_BODY}
            if own:
                self._write_body(model, body, own)
        for number, x in zip(self.numbers, inputs.values(), strict=True):
            if number.element not in self._bodies or number.parameter not in _OF_BODY:
                self._write_setting(model, number, x)

    def _write_body(self, model: Any, body: Any, own: dict[tuple[str, int], Any]) -> None:
        b = body.index

        def given(parameter: str) -> list[Any]:
            known = values_of_body(body, parameter, self._state)
            return [own.get((parameter, i), model.tape.number(x)) for i, x in enumerate(known)]

        for parameter in ("p_PF", "p_BM"):
            if any(key[0] == parameter for key in own):
                getattr(model, parameter)[b] = given(parameter)
        if any(key[0] == "p_BM" for key in own):
            model.plain_outboard = np.array(model.plain_outboard)
            model.plain_outboard[b] = 0
        if not any(key[0] in INERTIAL for key in own):
            return
        model.massless = np.array(model.massless)
        model.massless[b] = 0
        m, c = given("mass")[0], given("com")
        model.mass[b, 0], model.com[b] = m, c
        if any(key[0] == "inertia" for key in own):
            model.inertia[b] = given("inertia")
            return
        square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
        for k, ((i, j), x) in enumerate(zip(_SIX, given("central_inertia"), strict=True)):
            model.inertia[b, k] = x + m * ((square if i == j else 0.0) - c[i] * c[j])

    def _write_setting(self, model: Any, number: Number, x: Any) -> None:
        """Numbers of the record that are linear in this one: value + slope (x - default)."""
        setting = settings.find(self._system, f"{number.element}.{number.parameter}")
        step = 0.25 + 0.5 * abs(number.default)
        near, far = (setting.moved(self._state, number.number, h) for h in (step, 2.0 * step))
        for name in PARAMETERS:
            here, there, beyond = (np.array(one.field(name), np.float64) for one in (self._state, near, far))
            with np.errstate(invalid="ignore"):
                slopes = (there - here) / step
                bend = np.abs(beyond - 2.0 * there + here)
            for row, column in np.argwhere(there != here):
                slope, size = float(slopes[row, column]), float(np.max(np.abs([here[row, column], beyond[row, column]])))
                if not np.isfinite(slope) or bend[row, column] > 1e-9 * size:
                    raise FormulaError(
                        f"{number.name!r} is no linear parameter: numbers that kernels read are other functions of it"
                    )
                slope = float(np.round(slope, 12)) if abs(slope - np.round(slope, 12)) < _ROUNDING * abs(slope) else slope
                rest = float(here[row, column]) - slope * number.default
                field = getattr(model, name)
                if isinstance(field[row, column], float) and abs(rest) <= _ROUNDING * size:
                    field[row, column] = slope * x
                else:
                    field[row, column] = field[row, column] + slope * (x - number.default)


def values_of_body(body: Any, parameter: str, state: State) -> Array:
    """A body's numbers in a state."""
    b = body.index
    if parameter != "central_inertia":
        return np.array(state.field(parameter)[b], np.float64).reshape(-1)
    m, c, six = state.field("mass")[b, 0], state.field("com")[b], state.field("inertia")[b]
    square = float(c @ c)
    found = np.array([x - m * ((square if i == j else 0.0) - c[i] * c[j]) for (i, j), x in zip(_SIX, six, strict=True)])
    found[np.abs(found) <= 1e-14 * np.max(np.abs(six), initial=1e-300)] = 0.0
    return found


def all_of(system: MultibodySystem, state: State) -> list[str]:
    """The names of all masses, mass centers, inertias, places of joints, and parameters of forces, but those that are zero."""
    names = []
    for body in system.get_matter_subsystem().body_list[1:]:
        for parameter in ("mass", "com", "central_inertia", "p_PF", "p_BM"):
            values = values_of_body(body, parameter, state)
            several = len(values) > 1
            names += [
                f"{body.name}.{parameter}[{i}]" if several else f"{body.name}.{parameter}" for i in np.flatnonzero(values)
            ]
    for force in system.all_forces():
        if state.field("force_enabled")[force.element] == 0:
            continue
        for name in [one.name for one in force.PARAMETERS.values() if one.shape == ()]:
            found = Parameters(system, state, [f"{force.name}.{name}"]).numbers
            names += [number.name for number in found if number.default and np.isfinite(number.default)]
    return names


def _parts(name: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(.+)\[(\d+)\]", name)
    return (found[1], int(found[2])) if found else (name, None)
