"""Phase: a stretch of a motion that is planned, in which a system obeys the same equations."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.settings import Setting, find
from ..errors import ModelError
from ..linear import manifold
from ..linear.inputs import Inputs
from ..simulation.names import auxiliary_names, coordinate_names, speed_names
from ..state.state import State
from ..system.arguments import check_state
from ..system.system import MultibodySystem
from ..value import checks
from ..value.checks import suggest
from ..value.stage import Stage
from .functions import NodeFunction, check_bounds
from .kept import find_rows
from .node_dynamics import NodeDynamics

#: What functions of nodes can ask for, beside stations.
NODE = ("t", "q", "u", "z", "controls", "parameters")
#: What functions of the two ends can ask for.
ENDS = ("t", "q", "u", "z")
#: Fields of numbers that may be controls, of bodies; and how names of those of other parts begin.
_OF_BODIES, _OF_PARTS = ("mass", "com", "inertia", "rotor_inertia"), ("force", "constraint", "motion")
Bounds = Mapping[str, Any]


class Phase:
    """A plan of `collocate`, or one of several stretches that follow each other: a landing after a flight.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where it starts, unless *start* says otherwise, and whose modelling choices and parameters it has: what is locked,
        enabled or disabled.
    duration : float or (float, float)
        How long it lasts; or the least and the longest that it may.
    controls : sequence
        Those sought over time, as `linearize` takes inputs: forces on mobilities, ``(mobod, which_u)`` or a body with one, and
        numbers of the model on which accelerations alone depend, ``"spring.stiffness"`` or a setter: of force elements, masses,
        mass centers and inertias, and what constraints and motions say of accelerations; rates of z may depend on them, too,
        such as those of muscles on ``"biceps.excitation"``. Give numbers *bounds* within what setters take. A mass that changes
        takes no momentum along.
    cost : callable, optional
        What is integrated over time: a function of what its arguments name, see Notes.
    end_cost : callable, optional
        A function of the two ends, see Notes.
    start, end : State, or mapping of str to float or pair, optional
        Values, or (least, largest), by name: ``{"pole.q": np.pi, "pole.u": (-1, 1)}``; what is not named is free. A whole
        state fixes all. *start* is *state* unless given; *end* is free.
    bounds : mapping of str to pair, optional
        At all times: ``{"cart.q": (-1, 1), "cart.force": (-20, 20)}``.
    path : sequence of (callable, low, high)
        Functions of nodes that have to stay between *low* and *high*, numbers or rows of them, at all nodes.
    boundary : sequence of (callable, low, high)
        Functions of the two ends that have to.
    parameters : mapping of str to pair, optional
        Numbers of the model that are sought, too, ``{"spring.stiffness": (100, 1000)}``: as `linearize` takes inputs, between
        these bounds. Phases that name the same share it. Where constraints or motions have other coordinates and speeds with
        them, such as with the length of a rod or the amplitude of a motion, those that follow from others are sought at the
        start, although *start* is a whole state.
    stations : mapping of str to (body, station), optional
        Names by which functions can ask for the location in Ground of a point on a body.
    name : str

    Raises
    ------
    ValueError, TypeError, ModelError
        If an argument makes no sense, which it names.

    Notes
    -----
    The names of a function's arguments say what it gets, in any order. At nodes: ``t`` (n,), ``q`` (nq, n), ``u`` (nu, n),
    ``z`` (nz, n), ``controls`` (m, n), ``parameters`` (k, n), and stations (3, n); it returns (n,), or several rows. Of the
    two ends: the same names with ``_start`` and ``_end``, such as ``q_end``, without the controls, with n = 1, and
    ``duration``, ``parameters``. Written with NumPy's arithmetic and elementary functions they have exact derivatives.

    Examples
    --------
    >>> import mobod as mb
    >>> system, motor = mb.examples.swing_up.build_cart_and_pole()
    >>> state = system.realize_topology()
    >>> cart = system.matter.bodies["cart"]
    >>> phase = mb.optimal.Phase(system, state, 2.0, [(cart, 0)], cost=lambda controls: controls[0] ** 2)
    >>> phase.names
    ['cart.q', 'pole.q', 'cart.u', 'pole.u', 'cart.force']
    """

    def __init__(
        self,
        system: MultibodySystem,
        state: State,
        duration: float | tuple[float, float],
        controls: Sequence[Any] = (),
        *,
        cost: Callable[..., Any] | None = None,
        end_cost: Callable[..., Any] | None = None,
        start: State | Bounds | None = None,
        end: State | Bounds | None = None,
        bounds: Bounds | None = None,
        path: Sequence[tuple[Callable[..., Any], Any, Any]] = (),
        boundary: Sequence[tuple[Callable[..., Any], Any, Any]] = (),
        parameters: Bounds | None = None,
        stations: Mapping[str, tuple[Any, Any]] | None = None,
        name: str = "",
    ) -> None:
        check_state("Phase", system, state)
        tree = state.tree
        if tree.num_particles or len(state.q_view) > tree.nq or len(state.u_view) > tree.nu:
            raise ModelError(f"{system.name!r} has coordinates that belong to no mobilizer, or particles, which have no plans")
        if system.get_matter_subsystem().unilateral_contacts:
            raise ModelError(
                f"{system.name!r} has unilateral contacts, whose impacts are no smooth dynamics: make contacts compliant, or "
                "give a phase for each set of contacts, with constraints enabled in its state"
            )
        self.system, self.state, self.name = system, state.copy(), name
        system.realize(self.state, Stage.VELOCITY)
        inputs = Inputs(system, self.state, controls)
        self._check(inputs)
        self.shortest, self.longest = (float(one[0]) for one in check_bounds("duration", duration, 1))
        if not 0.0 < self.shortest <= self.longest < np.inf:
            raise ValueError(f"duration has to be positive and finite, got {duration!r}")
        self.names = [f"{one}.q" for one in coordinate_names(system, state)]
        self.names += [f"{one}.u" for one in speed_names(system, state)]
        self.names += [f"{one}.z" for one in auxiliary_names(system, state)] + inputs.names
        self.parameters = dict(parameters or {})
        self._find_settings()
        named = [*inputs.names, *self.parameter_names]
        twice = [one for one in dict.fromkeys(named) if named.count(one) > 1]
        if twice:
            raise ModelError(f"{twice[0]!r} is named twice among the controls and parameters; leave it in one place")
        self.nx, self.ny = len(self.names) - len(inputs), len(self.names)
        self.low, self.high = self._bounds("bounds", bounds or {}, self.ny)
        limits = np.array([self.low, self.high])[:, self.nx :]
        self.dynamics = NodeDynamics(system, self.state, inputs, limits, self.settings, self.parameter_bounds)
        #: What controls are before anything is sought: no force, and what settings are in the state.
        self.control_origin = np.zeros(len(inputs))
        if inputs.settings:
            self.control_origin[inputs.of_settings] = np.concatenate([one.values(self.state) for one in inputs.settings])
        self.start_is_state = start is None or isinstance(start, State)
        #: Whether constraints and motions have to be fulfilled by what is sought at the start.
        self.start_is_held = not self.start_is_state or any(
            self._holds(one, self.state) for one in dict.fromkeys(one for one, _ in self.settings)
        )
        self.start_low, self.start_high = self._end("start", self.state if start is None else start, self.start_is_held)
        self.end_low, self.end_high = self._end("end", {} if end is None else end, True)
        self.stations = {key: self._station(key, one) for key, one in (stations or {}).items()}
        self.node_names = [*NODE, *self.stations]
        of_ends = [*ENDS, *self.stations]
        self.end_names = [f"{one}_{which}" for which in ("start", "end") for one in of_ends] + ["duration", "parameters"]
        self.cost = None if cost is None else NodeFunction(cost, "cost", self.node_names, single=True)
        self.end_cost = None if end_cost is None else NodeFunction(end_cost, "end_cost", self.end_names, single=True)
        self.path = [NodeFunction(f, "a path constraint", self.node_names, *ends) for f, *ends in _triples("path", path)]
        self.boundary = [
            NodeFunction(f, "a boundary constraint", self.end_names, *ends) for f, *ends in _triples("boundary", boundary)
        ]

    def _check(self, controls: Inputs) -> None:
        """Refuse settings that more than accelerations follow from, and frames and directions."""
        if not controls.settings:
            return
        # where no number counts for nothing by chance, as a sine's rate does at time 0
        elsewhere = manifold.moved(self.state, 1e-3 * np.sin(1.0 + np.arange(self.state.tree.nu)))
        elsewhere.time = self.state.time + 1e-3
        for setting in controls.settings:
            if not setting.adds or self._displaces(setting) or self._holds(setting, elsewhere):
                raise ModelError(
                    f"{setting.name!r} cannot be a control, which is a force on a mobility, (mobod, which_u), or a number, of "
                    f"no frame or direction, on which accelerations alone depend; numbers sought for the whole plan are named "
                    f"in parameters"
                )

    def _displaces(self, setting: Setting) -> bool:
        """True if bodies move with it at the same coordinates: it is no number of masses, forces, constraints or motions."""
        fields = {seed.field for seeds in setting.seeds(self.state) for seed in seeds}
        return not all(one in _OF_BODIES or one.startswith(_OF_PARTS) for one in fields)

    def _holds(self, setting: Setting, state: State) -> bool:
        """True if constraints or motions have other q or u with it."""
        here = manifold.missed(state)
        moved = (setting.moved(state, i, setting.step(state, i)) for i in range(setting.size))
        return len(here) > 0 and not all(np.array_equal(here, manifold.missed(one)) for one in moved)

    @property
    def is_free(self) -> bool:
        """True if its duration is sought."""
        return self.longest > self.shortest

    @functools.cached_property
    def rows_kept(self) -> tuple[Any, Any]:
        """Errors of positions, and of velocities, that intervals end without."""
        return find_rows(self.state)

    def _find_settings(self) -> None:
        self.settings, self.parameter_bounds, self.parameter_names = [], [], []
        for key, pair in self.parameters.items():
            setting = find(self.system, key)
            low, high = check_bounds(f"parameters[{key!r}]", pair, setting.size)
            now = setting.values(self.state)
            for i, one in enumerate(setting.names):
                self.settings.append((setting, i))
                self.parameter_names.append(one)
                self.parameter_bounds.append((float(low[i] - now[i]), float(high[i] - now[i])))
        #: What parameters are in the state: those sought count from here.
        self.parameter_origin = np.array([setting.values(self.state)[i] for setting, i in self.settings])
        self._displacing = [k for k, (setting, _) in enumerate(self.settings) if self._displaces(setting)]

    def _bounds(self, what: str, given: Bounds, size: int) -> tuple[Array, Array]:
        low, high = np.full(size, -np.inf), np.full(size, np.inf)
        checks.instance(what, given, Mapping, f"{{{self.names[0]!r}: (-1, 1)}}")
        for key, pair in given.items():
            if key not in self.names[:size]:
                raise ValueError(f"{what} names {key!r}; {suggest(key, self.names[:size])}")
            i = self.names.index(key)
            (low[i],), (high[i],) = check_bounds(f"{what}[{key!r}]", pair, 1)
        return low, high

    def _end(self, what: str, given: Any, follows: bool) -> tuple[Array, Array]:
        """Bounds of the state at one end; q and u that others have by constraints or motions are free where that *follows*."""
        if not isinstance(given, State):
            return self._bounds(what, given, self.nx)
        given.check_owner(self.system, "collocate")
        x = np.concatenate([given.q_view, given.u_view, given.z_view])
        low, high = x.copy(), x.copy()
        if follows and (given.is_constrained or given.has_known):  # but for the errors of the method
            free = self._dependent(what, given)
            low[free], high[free] = -np.inf, np.inf
        return low, high

    def _dependent(self, what: str, state: State) -> Any:
        """Mask of q, u that follow from others by constraints, or are prescribed."""
        other = state.copy()
        self.system.realize(other, Stage.VELOCITY)
        nq, nu = self.dynamics.nq, self.dynamics.nu
        if not state.is_constrained:
            of_q, of_u = manifold.prescribed(other)
            return np.concatenate([of_q, nq + of_u])
        if nq != nu:
            raise ModelError(
                f"with constraints, and coordinates whose rates are no speeds, a whole state as {what} fixes what follows by "
                f"itself: name what is known there, {what}={{...}}"
            )
        of_q, _ = manifold.split(manifold.of_positions(other))
        of_u, _ = manifold.split(manifold.of_speeds(other)[1])
        return np.concatenate([np.setdiff1d(np.arange(nq), of_q), nq + np.setdiff1d(np.arange(nu), of_u)]).astype(int)

    def _station(self, key: str, given: Any) -> tuple[Any, Array]:
        if key in NODE or not key.isidentifier():
            raise ValueError(f"a station cannot be called {key!r}")
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise ValueError(f"stations[{key!r}] has to be (body, station), got {given!r}")
        return self.system.get_matter_subsystem().find_body(given[0]), checks.vector(f"stations[{key!r}]", given[1])

    def given_at(
        self, y: Array, t: Array, p: Array, names: Iterable[str], *, derivatives: bool = True
    ) -> dict[str, tuple[Array, Array]]:
        """Arguments of functions of nodes, by *names* ``(rows, n)``, and derivatives ``(k, rows, n)`` by k = (y, t, p)."""
        n, ny, d = len(y), self.ny, self.dynamics
        size = ny + 1 + len(p) if derivatives else 0
        found: dict[str, tuple[Array, Array]] = {}
        ends = np.cumsum([0, d.nq, d.nu, d.nz, d.m]).tolist()
        places = dict(zip(("q", "u", "z", "controls"), itertools.pairwise(ends), strict=True))
        for key in names:
            if key in places:
                first, last = places[key]
                found[key] = y[:, first:last].T, _unit(size, first, last - first, n)
            elif key == "t":
                found[key] = t, _unit(size, ny, 1, n)[:, 0]
            elif key == "parameters":
                values = self.parameter_origin + p if len(p) else np.zeros(0)
                found[key] = np.repeat(values[:, None], n, axis=1), _unit(size, ny + 1, len(p), n)
            else:
                found[key] = self._located(*self.stations[key], y, t, p, size)
        return found

    def places_of(self, names: Iterable[str]) -> list[int]:
        """On which of (y, t, p) functions of nodes that ask for these names depend."""
        d, found = self.dynamics, set[int]()
        ends = np.cumsum([0, d.nq, d.nu, d.nz, d.m, 1, len(self.settings)]).tolist()
        of = {name: range(ends[i], ends[i + 1]) for i, name in enumerate(("q", "u", "z", "controls", "t", "parameters"))}
        for name in names:
            found |= set(of[name]) if name in of else {*of["q"], *of["t"], *of["parameters"]}
        return sorted(found)

    def _located(self, body: Any, station: Array, y: Array, t: Array, p: Array, size: int) -> tuple[Array, Array]:
        """The location of a station ``(3, n)``, and its derivatives ``(size, 3, n)``; by p, differences."""
        d, n = self.dynamics, len(y)

        def at(p: Array, y: Array = y) -> tuple[Any, Array]:
            ensemble = d.ensemble(n, p)
            ensemble.time, ensemble.q = t, y[:, : d.nq]
            ensemble.realize(Stage.POSITION)
            return ensemble, np.asarray(ensemble.find_station_location_in_ground(body, station)).reshape(n, 3)

        ensemble, places = at(p)
        where = places.T
        slopes = np.zeros((size, 3, n))
        if not size:
            return where, slopes
        J = np.asarray(ensemble.calc_station_jacobian(body, station)).reshape(n, 3, d.nu)
        slopes[: d.nq] = np.moveaxis(d.by_numbers(J, y, lambda y: at(p, y)[1]), (0, 1, 2), (2, 1, 0))
        for k in self._displacing:
            slopes[self.ny + 1 + k] = d.by_parameter(lambda other: at(other)[1], p, k).T
        return where, slopes


def _unit(size: int, first: int, rows: int, n: int) -> Array:
    found = np.zeros((size, rows, n))
    if size:
        for i in range(rows):
            found[first + i, i] = 1.0
    return found


def _triples(what: str, given: Any) -> list[Any]:
    found = []
    for one in given:
        if not isinstance(one, (tuple, list)) or len(one) != 3:
            raise ValueError(f"{what} has to be a list of (function, low, high), got {one!r}")
        found.append(one)
    return found
