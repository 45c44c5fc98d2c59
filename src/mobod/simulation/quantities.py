"""Recording: what a run keeps beside time, q, u and z: quantities by name, contacts, and poses of bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..force.contact.of_system import contacts_of
from ..integrator import Integrator, TimeStepping
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.checks import suggest
from ..value.stage import Stage
from . import contact_table
from .fingerprint import part_fingerprint
from .labels import FORMS, GIVEN, labels, numbers_of, parts_of, row_names, tyres_of, whole_shape
from .names import auxiliary_names, coordinate_names, speed_names
from .table import TABLES

Quantity: TypeAlias = Callable[["State"], npt.ArrayLike]

POSES, QUANTITY = "body_poses", "quantity."


def _constraint_forces(system: Any, state: Any) -> Array:
    """Moment and force of each constraint on the last of its bodies, at its origin, in Ground ``(nc, 2, 3)``."""
    constraints = system.matter.constraints
    found = np.zeros((len(constraints), 2, 3))
    for row, constraint in zip(found, constraints, strict=True):
        forces = constraint.get_constrained_body_forces_as_vector(state)
        if len(forces):
            row[:] = 0.0 - forces[-1]  # no -0.0 where nothing acts
    return found


def _tyre_forces(system: Any, state: Any) -> Array:
    """Force and moment of each tyre, of its `calc_forces` ``(n, 2, 3)``."""
    return np.array([tyre.calc_forces(state) for tyre in tyres_of(system)]).reshape(-1, 2, 3)


NAMED: dict[str, Callable[[Any, Any], Any]] = {
    "kinetic_energy": lambda system, state: system.calc_kinetic_energy(state),
    "potential_energy": lambda system, state: system.calc_potential_energy(state),
    "mass_center": lambda system, state: system.matter.calc_system_mass_center_location_in_ground(state),
    "mass_center_velocity": lambda system, state: system.matter.calc_system_mass_center_velocity_in_ground(state),
    "momentum": lambda system, state: system.matter.calc_system_momentum_about_ground_origin(state),
    "central_momentum": lambda system, state: system.matter.calc_system_central_momentum(state),
    "u_dot": lambda system, state: state.u_dot,
    "mobility_forces": lambda system, state: system.get_mobility_forces(state),
    "motion_forces": lambda system, state: -system.matter.find_motion_forces(state) + 0.0,  # no -0.0 where nothing acts
    "motion_power": lambda system, state: system.matter.calc_motion_power(state),
    "reactions": lambda system, state: system.matter.calc_mobilizer_reaction_forces(state),
    "constraint_forces": _constraint_forces,
    "tyre_forces": _tyre_forces,
}
"""Quantities that can be asked for by these names: momenta are (angular; linear), ``(2, 3)``, about Ground's origin or the mass
center; reactions ``(nb, 2, 3)``; ``constraint_forces`` ``(nc, 2, 3)`` what each constraint exerts on its second body, the last
one if it has more, at that body's origin; ``tyre_forces`` ``(n, 2, 3)`` the force and the moment of each tyre along its axes.
``motion_forces`` ``(nu,)`` are what locks and motions exert, such as a motor's
torque: -tau of `SimbodyMatterSubsystem.find_motion_forces`, zero at free mobilities; ``motion_power`` is their power, positive
where they add energy."""

NAMED_OF_CONTACTS: dict[str, Callable[[Any, Any, Any], Array]] = {
    "contact_wrenches": contact_table.calc_body_wrenches,
    "centers_of_pressure": contact_table.calc_centers_of_pressure,
}
"""The same, of systems with contacts: ``contact_wrenches`` ``(nb, 2, 3)``, moment and force, and ``centers_of_pressure``
``(nb, 3)``, of `CompliantContactSubsystem.calc_body_wrenches` and `calc_centers_of_pressure`."""

NAMED_TABLES: dict[str, Callable[[Any, Any, Any], Array]] = {"contacts": contact_table.calc_rows}
"""The same with any number of rows a time: ``contacts``, found in `Trajectory.contacts`."""

KNOWN: dict[str, Callable[..., Any]] = NAMED | NAMED_OF_CONTACTS | NAMED_TABLES
"""All names that stand for themselves."""


VARIABLES: dict[str, Callable[[MultibodySystem, State], list[str]]] = {
    "q": coordinate_names,
    "u": speed_names,
    "z": auxiliary_names,
}
"""Variables of states, and the names of their numbers: ``q.crank``, ``u.hand``, ``u.hand[2]`` are quantities, too."""


ContactRows: TypeAlias = Callable[["State"], npt.NDArray[Any]]
"""Contacts of a state, a row each two surfaces, as `CompliantContactSubsystem.get_contacts` has them."""


def places_of_variable(system: MultibodySystem, state: State, name: str) -> list[int] | int | None:
    """Places in q, u or z of a variable by name: one of ``q.crank``, several of ``u.hand``; None if it is none.

    Raises
    ------
    ValueError
        If it has the form of one, and there is none; the message has names that are near.
    """
    variable, _, own = name.partition(".")
    if variable not in VARIABLES or not own:
        return None
    names = VARIABLES[variable](system, state)
    if own in names:
        return names.index(own)
    if f"{own}[0]" not in names:
        raise ValueError(f"there is no quantity {name!r}; {suggest(name, [f'{variable}.{one}' for one in names])}")
    first = names.index(f"{own}[0]")
    return [k for k in range(first, len(names)) if names[first : k + 1] == [f"{own}[{i}]" for i in range(k + 1 - first)]]


def quantity_by_name(
    system: MultibodySystem, state: State, name: str, rows_of: ContactRows | None = None
) -> Callable[[State], Any]:
    """The function of a state that a recorded quantity's name stands for.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At MODEL or above; the numbers of speeds are called by it.
    name : str
        One of `KNOWN`, or a part of one as tables name it: ``reactions.crank``, ``reactions.crank.fx``, ``u_dot.crank``,
        ``momentum.linear``, ``contacts.floor.ball.normal``; or a coordinate, speed or auxiliary variable, ``q.crank``.
    rows_of : callable, optional
        Where contacts come from; `CompliantContactSubsystem.get_contacts` unless given.

    Raises
    ------
    ValueError
        If there is no such quantity; the message has names that are near.
    """
    whole, _, part = name.partition(".")
    where = places_of_variable(system, state, name)
    if where is not None:
        return lambda state: np.array(getattr(state, whole))[where]
    if whole in NAMED:

        def value(state: State) -> Any:
            return NAMED[whole](system, state)

    elif whole in KNOWN:
        contacts = rows_of or contacts_of(system, f"record=[{name!r}]").get_contacts
        if part and whole in NAMED_TABLES:
            load = contact_table.load_by_name(system, name)
            return lambda state: load(contacts(state))

        def value(state: State) -> Any:
            return KNOWN[whole](system, state, contacts(state))

    if name in KNOWN:
        return value
    rows = {**row_names(system), "speed": speed_names(system, state)}
    own = labels(whole, whole_shape(whole, rows), rows) if part else None
    if own is None:
        raise ValueError(f"there is no quantity {name!r}; {suggest(name, list(KNOWN))}")
    parts = parts_of(whole, rows)
    places = numbers_of(part, own, parts)
    if not places:
        known = [f"{whole}.{one}" for one in dict.fromkeys((*parts, *own))]
        raise ValueError(f"there is no quantity {name!r}; {suggest(name, known)}")
    shape = () if part in own else FORMS[whole].shape if part in parts else (len(places),)
    return lambda state: np.reshape(np.ravel(value(state))[places], shape)


def wholes_among(record: Mapping[str, Any] | Iterable[Any] | None) -> set[str]:
    """The named quantities that are asked for, whole or in part."""
    return {one.removeprefix(QUANTITY).partition(".")[0] for one in _listed(record) if isinstance(one, str)}


def of_contacts(record: Mapping[str, Any] | Iterable[Any] | None) -> set[str]:
    """Those among them that are of contacts."""
    return wholes_among(record) & set(NAMED_OF_CONTACTS | NAMED_TABLES)


class Recording:
    """Quantities and bodies that are recorded, and how their rows are made.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where the run starts; quantities are tried out there, which gives their shapes. It is left as it is.
    record : mapping or sequence, optional
        By name, what has ``get_value(state)``, such as a measure, or is a callable of a state at ACCELERATION; each gives a
        number or an array of the same shape every time. Names of `KNOWN` stand for themselves, ``["kinetic_energy"]``, and
        so do names of their parts and numbers, ``["reactions.crank.fx"]``, and of variables, ``["u.crank"]``: see
        `quantity_by_name`.
    bodies : True or sequence, optional
        Bodies, or their names, whose poses are recorded; True for all but Ground.
    integrator : Integrator, optional
        That of the run: the contacts of `TimeStepping` are those of its steps.

    Raises
    ------
    ValueError
        If a name is not known, or a quantity is neither a number nor an array of numbers.
    ModelError
        If contacts are asked for where there are none.
    TypeError
        If a quantity is neither callable nor has ``get_value``.
    """

    def __init__(
        self,
        system: MultibodySystem,
        state: State,
        record: Mapping[str, Any] | Iterable[Any] | None = None,
        bodies: bool | Iterable[Any] | None = None,
        integrator: Integrator | None = None,
    ) -> None:
        self._system, self._integrator, self._record = system, integrator, record
        self._scratch = state.copy()
        if self._scratch.stage < Stage.MODEL and record is not None:
            system.realize_model(self._scratch)
        #: Whether contacts are those of steps, by their impulses, and not by the materials' law.
        self._of_steps = isinstance(integrator, TimeStepping) and bool(of_contacts(record))
        self.quantities = _quantities(system, self._scratch, record, self._contact_rows if self._of_steps else None)
        #: Those that are tables.
        self.tables = {name: self.quantities.pop(name) for name in _tables_among(record)}
        self.bodies = _bodies(system, bodies)
        self._indices = [body.index for body in self.bodies]
        self.shapes: dict[str, tuple[int, ...]] = {}
        if self.quantities or self.tables:
            system.project(self._scratch)
            system.realize(self._scratch, Stage.ACCELERATION)
            self.shapes = {name: self._value(name, self._scratch).shape for name in self.quantities}
            self.shapes |= {name: np.shape(table(self._scratch))[1:] for name, table in self.tables.items()}

    @property
    def state(self) -> State:
        """The state that rows are of, at first that which the run began with; y and time aside."""
        return self._scratch

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies whose poses are recorded."""
        return [body.name for body in self.bodies]

    @property
    def surface_names(self) -> list[str]:
        """Names of the surfaces whose contacts are recorded."""
        return contact_table.surface_names(self._system) if self.tables else []

    def fingerprint(self) -> dict[str, dict[str, str]]:
        """Of each quantity's code and attributes as they are now."""
        return {f"the quantity {name!r}": part_fingerprint(one) for name, one in self.quantities.items()}

    def number_names(self) -> dict[str, list[str]]:
        """Names of the numbers of those of `KNOWN` that go by a name of the user's, as `labels.labels` looks for them."""
        record = self._record if isinstance(self._record, Mapping) else {}
        rows = {**row_names(self._system), "speed": speed_names(self._system, self._scratch)}
        asked = {str(name): one.removeprefix(QUANTITY) for name, one in record.items() if isinstance(one, str)}
        found = {
            name: labels(one, self.shapes[name], rows) for name, one in asked.items() if name != one and name in self.shapes
        }
        return {f"{GIVEN}{name}": names for name, names in found.items() if names is not None}

    @property
    def is_something(self) -> bool:
        """True if anything is recorded beside time, q, u and z."""
        return bool(self.quantities or self.tables or self.bodies)

    def needs_live_state(self, state: State) -> bool:
        """True if quantities may depend on data of the run itself: discrete variables, bristles, impulses of steps."""
        resources = state.resources
        looks = bool(self.quantities or self.tables)
        if looks and (self._of_steps or state.tree.counts["num_controllers"] or state.tree.counts["bristle_rows"]):
            return True
        return looks and resources is not None and any(part.variables for part in resources.parts.values())

    def _contact_rows(self, state: State) -> npt.NDArray[Any]:
        """Contacts of the step that the integrator has taken last; by the law of the materials where it has taken none."""
        integrator = self._integrator
        if isinstance(integrator, TimeStepping) and integrator.get_num_steps_taken():
            return contact_table.of_points(integrator.get_contact_points())
        return contacts_of(self._system, "recording contacts").get_contacts(state)

    def _value(self, name: str, state: State) -> Array:
        value = self.quantities[name](state)
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"the quantity {name!r} is {value!r}; it has to be a number, or an array of numbers, that can be recorded"
            ) from None
        if name in self.shapes and array.shape != self.shapes[name]:
            raise ValueError(
                f"the quantity {name!r} has the shape {array.shape} at time {state.time:.9g}, and had {self.shapes[name]} "
                "at first; it has to stay the same"
            )
        return array

    def rows_of(self, times: Array, y: Array) -> tuple[dict[str, Array], int, BaseException | None]:
        """The columns of quantities and poses, from rows of y, with the same bits as in the run.

        Returns
        -------
        columns : dict of str to array
        rows : int
            How many are there: all, or those before the one at which something was raised.
        error : BaseException or None
            That.
        """
        columns, tables, state = self._empty(len(times)), self._empty_tables(), self._scratch
        if not self.is_something:
            return columns, len(times), None
        stage, i = Stage.ACCELERATION if self.quantities or self.tables else Stage.POSITION, 0
        try:
            for i, time in enumerate(times.tolist()):
                state.time = time
                state.y = y[i]
                self._system.realize(state, stage)
                self._keep(columns, tables, i, state)
        except BaseException as error:
            columns = {name: column[:i] for name, column in columns.items()}
            return columns | {name: np.concatenate(parts[: i + 1]) for name, parts in tables.items()}, i, error
        return columns | {name: np.concatenate(parts) for name, parts in tables.items()}, len(times), None

    def rows_of_states(self, states: Iterable[State], most: int) -> tuple[dict[str, Array], int, BaseException | None]:
        """The same of *most* states, which may differ in more than y, without tables."""
        columns, i = self._empty(most), 0
        try:
            for i, state in enumerate(states):
                self._system.realize(state, Stage.ACCELERATION)
                self._keep(columns, {}, i, state)
        except BaseException as error:
            return {name: column[:i] for name, column in columns.items()}, i, error
        return columns, most, None

    def follow(self, state: State) -> None:
        """Rows from now on are of states like *state*, which event handlers have changed in more than y."""
        if self.is_something:
            self._scratch = state.copy()

    def row_of(self, state: State) -> dict[str, Array]:
        """The same of one state, as it is, realized to ACCELERATION."""
        columns, tables = self._empty(1), self._empty_tables()
        if self.is_something:
            self._system.realize(state, Stage.ACCELERATION)
            self._keep(columns, tables, 0, state)
        return columns | {name: np.concatenate(parts) for name, parts in tables.items()}

    def _empty_tables(self) -> dict[str, list[Array]]:
        """Of each table a part without rows; one a time follows."""
        return {name: [np.empty((0, *self.shapes[name]))] for name in self.tables}

    def _empty(self, n: int) -> dict[str, Array]:
        columns = {f"{QUANTITY}{name}": np.empty((n, *self.shapes[name])) for name in self.quantities}
        columns |= {TABLES[name]: np.empty(n) for name in self.tables}
        if self.bodies:
            columns[POSES] = np.empty((n, len(self.bodies), 3, 4))
        return columns

    def _keep(self, columns: dict[str, Array], tables: dict[str, list[Array]], i: int, state: State) -> None:
        for name in self.quantities:
            columns[f"{QUANTITY}{name}"][i] = self._value(name, state)
        for name, table in self.tables.items():
            rows = np.asarray(table(state))
            columns[TABLES[name]][i] = len(rows)
            tables[name].append(rows)
        if self.bodies:
            columns[POSES][i, :, :, :3] = state.R_GB[self._indices]
            columns[POSES][i, :, :, 3] = state.record.p_GB.reshape(-1, 3)[self._indices]


def _quantities(
    system: MultibodySystem, state: State, record: Mapping[str, Any] | Iterable[Any] | None, rows_of: ContactRows | None
) -> dict[str, Quantity]:
    pairs = record.items() if isinstance(record, Mapping) else [(_name_of(one), one) for one in _listed(record)]
    found: dict[str, Quantity] = {}
    for name, one in pairs:
        if name in found:
            raise ValueError(f"two quantities are called {name!r}; give them names of their own: record={{'name': ...}}")
        found[str(name)] = _callable(system, state, str(name), one, rows_of)
    return found


def _tables_among(record: Mapping[str, Any] | Iterable[Any] | None) -> list[str]:
    """The names of tables that are asked for."""
    asked = [one for one in _listed(record) if isinstance(one, str)]
    return [name for name in NAMED_TABLES if name in asked]


def _listed(asked: Any) -> Iterable[Any]:
    """One or several, without the names that a mapping gives them; none for None."""
    if asked is None or isinstance(asked, Mapping):
        return () if asked is None else asked.values()
    return [asked] if isinstance(asked, str) or not isinstance(asked, Iterable) else asked


def _name_of(one: Any) -> str:
    if isinstance(one, str):
        return one.removeprefix(QUANTITY)
    for name in (getattr(one, "name", None), getattr(one, "__name__", None)):
        if isinstance(name, str) and name:
            return name
    raise TypeError(f"{one!r} has no name of its own; give it one: record={{'name': ...}}")


def _callable(system: MultibodySystem, state: State, name: str, one: Any, rows_of: ContactRows | None) -> Quantity:
    if isinstance(one, str):
        one = one.removeprefix(QUANTITY)  # as tables call it
        if one in NAMED_TABLES and name != one:
            raise ValueError(f"{one!r} is a table, found under its own name: record it as {one!r}, not as {name!r}")
        return quantity_by_name(system, state, one, rows_of)
    if callable(getattr(one, "get_value", None)):
        return one.get_value
    if not callable(one):
        raise TypeError(f"the quantity {name!r} is {one!r}; it has to have get_value(state), or be a callable of a state")
    return one


def _bodies(system: MultibodySystem, bodies: bool | Iterable[Any] | None) -> list[MobilizedBody]:
    matter = system.get_matter_subsystem()
    if bodies is None or bodies is False:
        return []
    if bodies is True:
        return list(matter.bodies[1:])
    chosen: list[MobilizedBody] = []
    names = [body.name for body in matter.bodies]
    for one in _listed(bodies):
        if isinstance(one, str) and one not in names:
            near = get_close_matches(one, names, 1)
            raise ValueError(f"there is no body {one!r}{f'; did you mean {near[0]!r}?' if near else ''}")
        try:
            body = matter.find_body(one)
        except TypeError as error:
            raise TypeError(f"record_bodies is True, or bodies: {error}") from None
        if any(body is other for other in chosen):
            raise ValueError(f"the body {body.name!r} is there twice")
        chosen.append(body)
    return chosen
