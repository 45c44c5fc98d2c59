"""Ensemble: one model, many states, realized eight at a time on each thread.

It is made of parts: `states`, `resetting`, `own_values`, `running`, `results`, `manifold`, `operators`, `stations`,
`sums`, `of_parts`, `derivatives`, `linear_models`, `stepping`, `simulating`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.record import aligned_zeros
from ..state.resources import own_copy
from ..value.checks import not_negative
from .one_thread import Users, by_one_thread
from .simulating import Simulating
from .states import States, reduced_tree_of
from .work_sharing import Helpers

if TYPE_CHECKING:
    from ..viewer.crowd_viewer import CrowdViewer


@by_one_thread
class Ensemble(Simulating):
    """Many states of one system, all with the same modelling choices and size, and the same parameters unless these are varied.

    Parameters
    ----------
    system : MultibodySystem
        Its topology is realized if it is not yet.
    n : int
        How many states; any number, though a multiple of eight wastes nothing.
    state : State, optional
        The states start as copies of it and share its modelling and Instance choices (Euler angles, locks, parameters,
        disabled forces), but see `set_each`; the system's default state unless given.
    threads : int
        Most threads to work on; small tasks are done on one. Helper threads are kept for the next call, and end with the
        ensemble.

    Attributes
    ----------
    failed : (n,) bool array
        Which states have values that are not finite, after `realize`. They do not stop the others.

    Examples
    --------
    >>> import mobod as mb, numpy as np
    >>> system, state = mb.examples.double_pendulum.build()
    >>> ensemble = mb.Ensemble(system, 100, state=state)
    >>> ensemble.q = np.linspace(0, 1, 200).reshape(100, 2)
    >>> ensemble.realize(mb.Stage.ACCELERATION)
    >>> ensemble.u_dot.shape
    (100, 2)
    """

    INNER = frozenset({"frame_jacobian", "particles", "second_derivatives", "tasks", "threads_at_work"})

    __slots__ = ()

    def __copy__(self) -> Ensemble:
        """A copy with states of its own, of the same system; changes of one do not affect the other."""
        other = object.__new__(type(self))
        for name in States.__slots__:
            if name != "__weakref__":
                setattr(other, name, getattr(self, name))
        if hasattr(self, "__dict__"):  # of a class that is derived
            vars(other).update(vars(self))
        for name in ("_time", "_q", "_u", "_z", "particles", "_particle_accelerations", "_u_dot", "_failed"):
            array = getattr(self, name)
            setattr(other, name, aligned_zeros(*array.shape))
            getattr(other, name)[...] = array
        other._memory = self._memory.copy()
        other._forces_kept = self._forces_kept.copy()
        other._forces = other._forces_kept if len(self._forces) else self._forces
        other._template = self._template.copy()
        other._lent = other._schedule = None
        other._shared, other._begun = None, self._begun.copy()
        other._overrides = {i: one.copy(self._template) for i, one in self._overrides.items()}
        other._own = {name: self._own_of_each(name) for name in self._own}
        other._find_own()
        other._of_subsystems = {
            key: [own_copy(value, self._system) for value in values] for key, values in self._of_subsystems.items()
        }
        other._reduced = reduced_tree_of(other._template)
        other._results = {what: found.copy() for what, found in self._results.items()}
        other._workers, other._whole_workers, other._tasks_of_realizing, other._scratch = [], [], {}, {}
        other.threads_at_work, other._helpers = Users(), Helpers()
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Ensemble:
        """The same as a copy: both share the system."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        """Its pickle: the system, a state, and each state's own parameters. It is at MODEL when it is unpickled."""
        variables = [part[: self._n].copy() for part in (*self._variables, self._failed)]
        own = {name: self._own_of_each(name) for name in self._own}
        settings = self._system, self._n, self._template, self._threads
        apart = self._of_subsystems, self._overrides
        return _unpickled, (type(self), settings, variables, own, apart, getattr(self, "__dict__", {}))

    def copy(self) -> Ensemble:
        """A copy with states of its own, of the same system, such as one for another thread."""
        return self.__copy__()

    def view(
        self, *, spacing: float = 0.0, title: str = "mobod", port: int | None = None, open_browser: bool = True
    ) -> CrowdViewer:
        """Show all states on a page in the browser, as many copies of the mechanism.

        Parameters
        ----------
        spacing : float, default 0
            Distance between one and the next, which are put on a level grid; 0 leaves all where they are; length.
        title : str
            Of the page.
        port : int, optional
            The first that is tried; 8080 unless given.
        open_browser : bool, default True
            Whether the page is opened.

        Returns
        -------
        CrowdViewer
            Its ``show()`` brings the page to where the states are then; ``wait()`` and ``close()``. Of more than 5,000 states,
            so many are shown.

        Raises
        ------
        ImportError
            If viser is not installed: ``pip install 'mobod[view]'``.
        """
        from ..viewer.crowd_viewer import CrowdViewer

        apart = not_negative("spacing", spacing)
        one = self.get_state(0)
        return CrowdViewer(self, self._system, one, spacing=apart, title=title, port=port, open_browser=open_browser)

    def __repr__(self) -> str:
        return f"<Ensemble of {self._n} states of {self._system.name!r} at {self.stage.name}>"


def _unpickled(
    kind: type[Ensemble], settings: Any, variables: Any, own: dict[str, Any], apart: Any, more: dict[str, Any]
) -> Ensemble:
    """An ensemble from its pickle: arrays are new ones, which begin at cache lines."""
    system, n, state, threads = settings
    ensemble = object.__new__(kind)
    States.__init__(ensemble, system, n, state=state, threads=threads)
    vars(ensemble).update(more) if more else None
    ensemble._restore(variables, own, *apart)
    return ensemble
