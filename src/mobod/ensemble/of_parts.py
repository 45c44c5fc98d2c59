"""Values of a system's parts in many states: measures, contacts, diagnoses, and whatever a State is asked for, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..force.contact.subsystem import CompliantContactSubsystem
from ..measure.base import Measure
from ..state.state import State
from ..system.diagnosis import Diagnosis
from ..value.stage import Stage
from .sums import Sums


class OfParts(Sums):
    """The part of `Ensemble` that asks parts of the system."""

    __slots__ = ()

    def get_each(self, getter: Callable[[State], Any]) -> Any:
        """Values of a function in every state, one by one: measures, contacts, diagnoses, anything that a State has.

        Parameters
        ----------
        getter : callable
            ``getter(state)``, such as ``measure.get_value``, ``contacts.get_contacts``, ``system.diagnose_constraints``: any
            method that reads one state, or a function of one's own. The states are realized as far as the ensemble is.

        Returns
        -------
        (n, ...) array, or list of n
            An array if all results are numbers, or arrays of one shape, with NaN for the states that have `failed`; otherwise
            a list, with None for these.

        Notes
        -----
        It makes a `State` of each and realizes it: some 20 us a state, and what the function takes.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 3, state=state)
        >>> ensemble.realize(mb.Stage.POSITION)
        >>> ensemble.get_each(system.matter.bodies[1].get_body_origin_location).shape
        (3, 3)
        """
        self._template.check_owner(self._system, "Ensemble.get_each")
        if not callable(getter):
            raise TypeError(f"getter is a function of a State, such as measure.get_value, not called; got {getter!r}")
        found: list[Any] = [None] * self._n
        for i in range(self._n):
            try:
                state = self._realized(i, self.stage)
            except (ModelError, ConvergenceError):  # it has failed
                continue
            found[i] = getter(state)
        sound = [one for one in found if one is not None]
        kinds = {(np.shape(one), np.asarray(one).dtype.kind) for one in sound} if all(map(_is_number, sound)) else set()
        if len(kinds) != 1:
            return found
        ((shape, kind),) = kinds
        if len(sound) == self._n:
            return np.array(found)
        filled = np.full((self._n, *shape), np.nan, complex if kind == "c" else float)
        for i, one in enumerate(found):
            if one is not None:
                filled[i] = one
        return filled

    def get_measures(self, measure: Measure, deriv_order: int = 0) -> Array:
        """The value of a measure in every state, or one of its time derivatives ``(n, ...)``; see `Measure.get_value`.

        Parameters
        ----------
        measure : Measure
        deriv_order : int
            0 for the value, 1 for its first derivative with respect to time, ...

        Returns
        -------
        (n,) or (n, m) array
            With NaN for states that have `failed`.

        Raises
        ------
        StageError
            Unless the ensemble is realized as far as the measure needs.

        Notes
        -----
        What measures remember is each state's own: it goes on from call to call of `simulate` and `step`, and begins anew with
        `reset`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> tip = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
        >>> ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
        >>> ensemble.q = [[0.0, 0.1], [0.0, 0.2], [0.0, 0.3]]
        >>> ensemble.realize()
        >>> ensemble.get_measures(tip).tolist()
        [0.1, 0.2, 0.3]
        """
        _check_part("get_measures", "measure", measure, "get_value")
        found = self.get_each(lambda state: measure.get_value(state, deriv_order))
        return found if isinstance(found, np.ndarray) else np.full((self._n, *measure.shape), np.nan)

    def get_contacts(self, contacts: CompliantContactSubsystem) -> npt.NDArray[Any]:
        """Contacts of all states, a row each two surfaces; needs VELOCITY.

        Parameters
        ----------
        contacts : CompliantContactSubsystem

        Returns
        -------
        structured array
            The rows of `CompliantContactSubsystem.get_contacts` of one state after the other, with the number of theirs in
            the field ``state``; states that have `failed` have none.

        Examples
        --------
        >>> import mobod as mb
        >>> system = mb.MultibodySystem()
        >>> matter = mb.SimbodyMatterSubsystem(system)
        >>> contacts = mb.CompliantContactSubsystem(system)
        >>> rubber = mb.contact.Material(stiffness=1e6, dissipation=0.5, static_friction=0.9, dynamic_friction=0.8)
        >>> matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
        0
        >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1.0, 1.0, 1.0)))
        >>> body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
        0
        >>> ball = mb.mobilizer.Translation(matter.ground, body)
        >>> ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
        >>> ensemble.q = [[0.0, 0.0, 0.09], [0.0, 0.0, 0.2], [0.0, 0.0, 0.099]]
        >>> ensemble.realize(mb.Stage.VELOCITY)
        >>> rows = ensemble.get_contacts(contacts)
        >>> rows["state"].tolist(), rows["depth"].round(6).tolist()
        ([0, 2], [0.01, 0.001])
        """
        return self._tables("get_contacts", contacts)

    def get_contact_points(self, contacts: CompliantContactSubsystem) -> npt.NDArray[Any]:
        """The points at which surfaces touch in all states; needs VELOCITY.

        As `get_contacts`, with the rows of `CompliantContactSubsystem.get_contact_points`.
        """
        return self._tables("get_contact_points", contacts)

    def _tables(self, name: str, contacts: CompliantContactSubsystem) -> npt.NDArray[Any]:
        _check_part(name, "contacts", contacts, name)
        self._need(name, Stage.VELOCITY)
        tables = self.get_each(getattr(contacts, name))
        tables = [(i, table) for i, table in enumerate(tables) if table is not None]
        if not tables:
            return np.zeros(0, [("state", np.int64)])
        rows = np.concatenate([table for _, table in tables])
        joined = np.zeros(len(rows), [("state", np.int64), *[(field, rows.dtype[field]) for field in rows.dtype.names or ()]])
        joined["state"] = np.repeat([i for i, _ in tables], [len(table) for _, table in tables])
        for field in rows.dtype.names or ():
            joined[field] = rows[field]
        return joined

    def diagnose_constraints(self, tolerance: float = 1e-6) -> list[Diagnosis | None]:
        """Diagnose the constraints of every state, as `MultibodySystem.diagnose_constraints` does; None for what has failed.

        Parameters
        ----------
        tolerance : float
            How far errors of dependent equations may be apart before they count as a contradiction.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> ensemble = mb.Ensemble(system, 2, state=state)
        >>> [len(one.redundant) for one in ensemble.diagnose_constraints()]
        [1, 1]
        """
        return self.get_each(lambda state: self._system.diagnose_constraints(state, tolerance))


def _check_part(asked: str, name: str, part: Any, method: str) -> None:
    """Refuse what is no such part."""
    if not hasattr(part, method):
        raise TypeError(f"{asked} of an ensemble: {name} is a part of its system that has {method}, not {part!r}")


def _is_number(value: Any) -> bool:
    """True if it is a number or an array of numbers, without fields."""
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    )
