"""view: a mechanism on a page in the browser, to be turned, posed and simulated."""

from __future__ import annotations

import time as _clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..integrator import Integrator, RungeKuttaMerson
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.attributes import named_arguments
from ..value.checks import all_known, array, positive
from .time_stepper import TimeStepper
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ..viewer.model_viewer import Viewer

#: Of a simulation that is watched: what eyes can see.
ACCURACY = 1e-3

#: Wall seconds between two pictures of a run that is watched.
_PICTURE = 1.0 / 30.0


@named_arguments
def view(
    system_or_model: Any,
    state: State | None = None,
    *,
    integrator: type[Integrator] | None = None,
    accuracy: float = ACCURACY,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    parameters: Any = (),
    units: Sequence[str] | None = None,
    title: str | None = None,
    port: int | None = None,
    open_browser: bool = True,
) -> Viewer:
    """Show a mechanism on a page in the browser, with a slider a coordinate; it can be dragged, and simulated.

    The page is served on the loopback address, which no other machine sees, until it is closed or the program ends. It needs
    viser: ``pip install 'mobod[view]'``.

    Parameters
    ----------
    system_or_model : MultibodySystem or Model
    state : State, optional
        Where it starts; copied. The model's own, or the system's default, unless given.
    integrator : class, optional
        One of `mobod.integrator`; `RungeKuttaMerson` unless given.
    accuracy : float, default 1e-3
        Of the simulation.
    ranges : mapping of str to (float, float), optional
        Of sliders, by the coordinates' names, radians or length. A model's own and stops say it otherwise.
    parameters : list of str or setter, or mapping of these to (float, float), optional
        Numbers of the model that have sliders, too: ``"spring.stiffness"``, ``"bob.mass"``, ``spring.set_stiffness``. A mapping
        has the ends of each slider, or None; otherwise they go up to twice the value. What plays goes on with the new value.
    units : sequence of three str, optional
        Of mass, length and time, as of `Trajectory.view`: sliders, the clock and what is said of a body have them.
    title : str, optional
        Of the page; the system's name unless given.
    port : int, optional
        The first that is tried; 8080 unless given.
    open_browser : bool, default True
        Whether the page is opened.

    Returns
    -------
    Viewer
        It has ``show(state)`` for loops of one's own, ``wait()`` for programs that would end otherwise, and ``close()``.

    Raises
    ------
    ImportError
        If viser is not installed.
    RuntimeError
        In Colab, where no live page can be reached: there a model or trajectory at the end of a cell shows itself.
    TypeError, ValueError, ModelError
        If what is given is no system or model, or the state is of another.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.four_bar.build()
    >>> viewer = mb.view(system, state)  # doctest: +SKIP
    >>> viewer.wait()  # doctest: +SKIP
    """
    system, start = _system_and_state(system_or_model, state)
    kind = RungeKuttaMerson if integrator is None else integrator
    if not (isinstance(kind, type) and issubclass(kind, Integrator)):
        raise TypeError(f"integrator is a class such as mobod.integrator.BDF, not {integrator!r}")
    accuracy = positive("accuracy", accuracy, ValueError)
    known = dict(getattr(system_or_model, "ranges", None) or {}) | _check_ranges(system, start, ranges or {})
    from ..viewer.model_viewer import Viewer

    return Viewer(
        system,
        start,
        make_stepper=lambda shown: TimeStepper(shown, kind(shown, accuracy=accuracy)),
        title=title or getattr(system_or_model, "name", None) or "mobod",
        ranges=known,
        parameters=parameters,
        units=units,
        model=None if isinstance(system_or_model, MultibodySystem) else system_or_model,
        port=port,
        open_browser=open_browser,
    )


def _system_and_state(what: Any, state: State | None) -> tuple[MultibodySystem, State]:
    if isinstance(what, Trajectory):
        raise TypeError(
            "view shows a system at a state; a motion is played by its own view(), and shown at one row by states[k]"
        )
    system = what if isinstance(what, MultibodySystem) else getattr(what, "system", None)
    if not isinstance(system, MultibodySystem):
        raise TypeError(f"view takes a MultibodySystem, or a Model such as mobod.load(path) gives, not {what!r}")
    if state is None:
        own = getattr(what, "default_state", None)
        state = own() if callable(own) else system.realize_topology()
    elif not isinstance(state, State):
        raise TypeError(f"state is a State, such as system.realize_topology() gives, not {state!r}")
    state.check_owner(system, "view")
    if system.get_matter_subsystem().get_num_bodies() < 2:
        raise ModelError(f"{system!r} has no body but Ground: there is nothing to see")
    return system, state


def _check_ranges(
    system: MultibodySystem, state: State, ranges: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Check what the user says of sliders: coordinates that there are, and ranges that are some."""
    bodies = system.get_matter_subsystem().bodies
    names = [name for body, n in zip(bodies, state.tree.num_q, strict=True) for name in body.name_each(n)]
    found = {}
    all_known("ranges: there is no coordinate", ranges, names)
    for name, pair in ranges.items():
        low, high = array(f"the range of {name!r}", pair, (2,), ValueError).tolist()
        if not low < high:
            raise ValueError(f"the range of {name!r} has to begin below its end, got {pair!r}")
        found[name] = (low, high)
    return found


def check_view(what: Any) -> None:
    """Check what a run is to be watched on: a TypeError unless it is a bool or has ``show``."""
    if not isinstance(what, bool | np.bool_) and not callable(getattr(what, "show", None)):
        raise TypeError(f"view is True, False or a viewer such as mobod.view(system) makes, not {what!r}")


def make_watch(system: MultibodySystem, state: State, what: Any) -> Callable[[float, Array, bool], None] | None:
    """The function that shows a run's rows; None where nobody watches, or no page can be had, which is a warning."""
    if what is False or what is None or (isinstance(what, np.bool_) and not what):
        return None
    if isinstance(what, bool | np.bool_):
        try:
            what = view(system, state.copy())
        except Exception as error:
            warnings.warn(f"the run is not shown: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=3)
            return None
    shown, last, failed = state.copy(), 0.0, False

    def watch(time: float, y: Array, is_last: bool) -> None:
        nonlocal last, failed
        now = _clock.perf_counter()
        if failed or (now - last < _PICTURE and not is_last):
            return
        last = now
        try:
            shown.time, shown.y = time, y
            what.show(shown)
        except Exception as error:
            failed = True
            warnings.warn(f"the run is shown no longer: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)

    return watch
