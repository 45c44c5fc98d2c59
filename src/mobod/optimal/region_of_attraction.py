"""From where a controller brings a system to rest: found by simulating an ensemble of starts.

A level c of the cost to go V = x^T P x is sought below which every start that was tried came to rest. Starts are drawn from a
box, then from the ellipsoid V < c itself, which shrinks to the worst that failed in it, until a round finds none. What is
found is no proof, but a statement of samples: if m starts of the last round came to rest, and none did not, then with 95 %
confidence less than 3/m of the ellipsoid fails. Source: Tedrake 2023, chapter 9, for the level set; Jovanovic and Levy 1997
for the rule of three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..ensemble.ensemble import Ensemble
from ..errors import ModelError
from ..linear import manifold
from ..linear.regulator import Regulator
from ..state.state import State
from ..system.arguments import check_state
from ..system.system import MultibodySystem
from ..value import checks
from ..value.checks import all_known


class RegionOfAttraction:
    """Starts that were tried, and the level of the cost to go below which all came to rest.

    `find_region_of_attraction` makes it.

    Attributes
    ----------
    level : float
        Of the cost to go x^T P x.
    names : list of k str
        The states in which starts differ.
    starts : (n, k) array
        By these, how far from the state that is held.
    costs : (n,) array
        The cost to go of each.
    converged : (n,) bool array
        Which came to rest.
    num_confirmed : int
        How many starts of the last round lay below the level, all of which came to rest.

    Examples
    --------
    >>> import mobod as mb
    >>> system, _ = mb.examples.swing_up.build_cart_and_pole()
    >>> state = system.realize_topology()
    >>> regulator = mb.lqr(system, state, [(system.matter.bodies["cart"], 0)], Q=1.0, R=1.0)
    >>> region = mb.find_region_of_attraction(
    ...     system, state, regulator, {"pole.v": 1.5, "pole.u": 3.0}, n=16, time=8.0, controller=regulator.controller
    ... )
    >>> region.contains(state), region.level > 0
    (True, True)
    """

    def __init__(
        self, regulator: Regulator, level: float, names: list[str], parts: tuple[Array, Array, Any], num_confirmed: int
    ) -> None:
        self._regulator, self.level, self.names, self.num_confirmed = regulator, level, names, num_confirmed
        self.starts, self.costs, self.converged = parts

    def __repr__(self) -> str:
        n, good = len(self.converged), int(self.converged.sum())
        return (
            f"<RegionOfAttraction: x^T P x < {self.level:.4g}; {good} of {n} starts came to rest, {self.num_confirmed} confirm>"
        )

    def contains(self, state: State) -> bool:
        """True if a state's cost to go is below the level. Needs MODEL."""
        return bool(self._regulator.calc_cost_to_go(state) < self.level)

    def plot(self, x: str | None = None, y: str | None = None) -> Any:
        """A figure of the starts by two of the states, those that came to rest filled, and the section of the ellipsoid.

        Parameters
        ----------
        x, y : str, optional
            Names of states; the first two unless given.

        Raises
        ------
        ValueError
            If starts do not differ in such a state, or in less than two.
        ImportError
            If Matplotlib is not there.
        """
        names = [x or self.names[0], y or self.names[min(1, len(self.names) - 1)]]
        all_known("starts do not differ in", names, self.names)
        if names[0] == names[1]:
            raise ValueError(f"a figure takes two states, and both are {names[0]!r}")
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("a plot needs Matplotlib: pip install 'mobod[plot]'") from None
        figure, axes = plt.subplots(layout="constrained")
        i, j = (self.names.index(name) for name in names)
        good = np.asarray(self.converged)
        axes.plot(*self.starts[good][:, [i, j]].T, ".", color="tab:blue", label="comes to rest")
        axes.plot(*self.starts[~good][:, [i, j]].T, "x", color="tab:red", label="does not")
        places = [self._regulator.state_names.index(name) for name in names]
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        root = np.linalg.cholesky(self._regulator.P[np.ix_(places, places)])
        section = np.sqrt(self.level) * np.linalg.solve(root.T, np.stack([np.cos(turn), np.sin(turn)]))
        axes.plot(*section, "k", label="level of the cost to go")
        axes.set(xlabel=names[0], ylabel=names[1])
        axes.legend()
        return figure


def find_region_of_attraction(
    system: MultibodySystem,
    state: State,
    regulator: Regulator,
    extent: Mapping[str, float],
    *,
    time: float = 10.0,
    n: int = 1000,
    controller: Callable[..., Any] | None = None,
    tolerance: float = 1e-2,
    rounds: int = 8,
    accuracy: float | None = None,
    seed: int = 0,
) -> RegionOfAttraction:
    """Find from where a system comes to rest at the state that a regulator holds, by simulating many starts at once.

    Parameters
    ----------
    system : MultibodySystem
        With its controllers, limits and all: of `Regulator.add_to`, say.
    state : State
        What starts have beside what differs: parameters, modelling choices, z.
    regulator : Regulator
        Whose cost to go x^T P x measures how far a start is from the state that is held.
    extent : mapping of str to float
        The largest deviations, by names of states as `linearize` gives them: ``{"pole.v": 1.5, "pole.u": 4.0}``; starts do not
        differ in others.
    time : float
        How long each is simulated.
    n : int
        How many starts a round has.
    controller : callable, optional
        What acts beside the system's own, as of `Ensemble.simulate`: ``regulator.controller``.
    tolerance : float
        The largest deviation of any state that is fed back at which a motion counts as come to rest.
    rounds : int
        How often starts are drawn at most.
    accuracy : float, optional
        Of the integrator; 1e-3 unless given.
    seed : int
        Of the starts.

    Returns
    -------
    RegionOfAttraction

    Raises
    ------
    ValueError, TypeError
        If an argument makes no sense, which it names.
    ModelError
        If none of the starts came to rest.

    See Also
    --------
    lqr : makes regulators.

    Notes
    -----
    Simulations that fail count as not come to rest. Where constraints hold, starts are projected onto them.

    Examples
    --------
    >>> import mobod as mb
    >>> system, _ = mb.examples.swing_up.build_cart_and_pole()
    >>> state = system.realize_topology()
    >>> regulator = mb.lqr(system, state, [(system.matter.bodies["cart"], 0)], Q=1.0, R=1.0)
    >>> controller = regulator.add_to(system.forces, sample_time=0.01, limits=(-20, 20))
    >>> region = mb.find_region_of_attraction(
    ...     system, system.realize_topology(), regulator, {"pole.v": 1.0, "pole.u": 2.0}, n=16, time=8.0
    ... )
    >>> bool(region.converged.any())
    True
    """
    check_state("find_region_of_attraction", system, state)
    checks.instance("regulator", regulator, Regulator, "mobod.lqr() gives")
    n, rounds = checks.integer("n", n, 2), checks.integer("rounds", rounds, 2)
    tolerance = checks.positive("tolerance", tolerance, ValueError)
    names, half = _extent(extent, regulator)
    places = [list(regulator.state_names).index(name) for name in names]
    P, rng = regulator.P[np.ix_(places, places)], np.random.default_rng(seed)
    if np.linalg.eigvalsh(P)[0] <= 0.0:
        raise ValueError(
            f"the regulator does not weigh {', '.join(names)}, each and together; leave out of extent what it does not"
        )
    starts, costs, converged = [], [], []
    level, confirmed = np.inf, 0
    for k in range(rounds):
        deviations = rng.uniform(-1.0, 1.0, (n, len(names))) * half if k == 0 else _in_ellipsoid(rng, P, level, n)
        ensemble = _begin(system, state, regulator, places, deviations)
        before = regulator.calc_costs_to_go(np.array(ensemble.q), np.array(ensemble.u), np.array(ensemble.z))
        motions = ensemble.simulate(time, controller=controller, accuracy=accuracy, report_interval=time)
        done = _at_rest(regulator, motions, tolerance)
        starts.append(deviations)
        costs.append(before)
        converged.append(done)
        if not np.concatenate(converged).any():
            acts = (
                "the regulator has to act, by regulator.add_to(system.forces) or controller=regulator.controller; if it does, "
            )
            raise ModelError(
                f"none of {n} starts came to rest within {time:g}: {acts if controller is None else ''}allow a longer time, a "
                f"smaller extent, or a larger tolerance than {tolerance:g}"
            )
        failed = before[~done]
        confirmed = int((done & (before < level)).sum())
        if k and not len(failed):
            break
        level = float(min(level, failed.min(initial=np.inf), before.max() if k == 0 else np.inf))
    parts = np.concatenate(starts), np.concatenate(costs), np.concatenate(converged)
    return RegionOfAttraction(regulator, level, names, parts, confirmed)


def _extent(extent: Mapping[str, float], regulator: Regulator) -> tuple[list[str], Array]:
    if not isinstance(extent, Mapping) or not extent:
        raise TypeError(f"extent has to be a mapping such as {{{regulator.state_names[0]!r}: 1.0}}, not {extent!r}")
    checks.all_known("extent names", extent, regulator.state_names)
    for name, size in extent.items():
        checks.positive(f"extent[{name!r}]", size, ValueError)
    return list(extent), np.array([float(size) for size in extent.values()])


def _in_ellipsoid(rng: Any, P: Array, level: float, n: int) -> Array:
    """Points that are spread evenly over x^T P x < level."""
    k = len(P)
    ball = rng.normal(size=(n, k))
    ball *= (rng.uniform(size=(n, 1)) ** (1.0 / k)) / np.linalg.norm(ball, axis=1, keepdims=True)
    return np.sqrt(level) * np.linalg.solve(np.linalg.cholesky(P).T, ball.T).T


def _begin(system: Any, state: State, regulator: Regulator, places: list[int], deviations: Array) -> Ensemble:
    """The starts, on the manifold of the constraints."""
    ensemble = Ensemble(system, len(deviations), state=state)
    held, whole = regulator.held(state), np.zeros((len(deviations), len(regulator.state_names)))
    whole[:, places] = deviations
    nu, nz = len(held.u_view), len(held.z_view)
    of_q = [*range(nu), *range(2 * nu + nz, whole.shape[1])]
    ensemble.q = np.array([manifold.moved(held, one).q_view for one in whole[:, of_q]])
    ensemble.u = held.u_view + whole[:, nu : 2 * nu]
    if nz:
        ensemble.z = held.z_view + whole[:, 2 * nu : 2 * nu + nz]
    if state.is_constrained:
        ensemble.project()
    return ensemble


def _at_rest(regulator: Regulator, motions: Any, tolerance: float) -> Any:
    """Mask of motions that end where all that is fed back, or costs, is as it is to be."""
    matters = np.abs(regulator.P).sum(axis=0) > 0.0
    rows = [np.asarray(part)[:, -1] for part in (motions.q, motions.u, motions.z)]
    x = regulator.calc_deviations(*rows)
    with np.errstate(invalid="ignore"):
        return (np.abs(x[:, matters]) < tolerance).all(axis=1)
