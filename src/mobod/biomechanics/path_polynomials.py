"""Polynomials in place of paths: lengths of muscles as functions of the few coordinates that they cross.

Lengths l and moment arms r = -dl/dq are computed at random poses within the coordinates' ranges; the polynomial of the lowest
order whose errors are small enough is taken. Its coefficients minimize the squares of

    l - f(q)        and of each coordinate        h (r + df/dq)

with h half the coordinate's range, in Legendre polynomials of t = (q - middle) / h, of which the normal equations are well
conditioned. Errors are those at other poses than the fit's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import legendre, polynomial

from ..algebra.arrays import Array
from ..errors import ModelError
from ..force.transmission import Path
from ..function import MultivariatePolynomial
from ..function.multivariate_polynomial import MOST
from ..importer.formats import as_model
from ..importer.model import Model
from ..importer.osim.coupler import DependentCoordinate
from ..importer.osim.model_operators import replace_paths
from ..mobilizer import q_rates
from ..state import validity
from ..state.state import State
from ..tree import realize
from ..value import checks
from ..value.stage import Stage
from ._path_sweep import sweep

#: Moment arms below it are those of a coordinate that a path does not cross.
_CROSSES = 1e-5
#: Every which pose is kept for errors alone.
_HELD_BACK = 5
#: Up to which order all is computed first.
_FIRST = 4
#: The widest range of an angle, each way, where a file has none or a wider one.
_WIDEST = np.pi


@dataclass(frozen=True, eq=False)
class PathPolynomial:
    """The polynomial of a path.

    Attributes
    ----------
    coordinates : tuple of str
        Those that the path crosses, in the order of the function's arguments.
    function : mobod.function.MultivariatePolynomial
        The path's length.
    order : int
    length_error, moment_arm_error : float
        Root mean squares at poses that were not fitted: of the length, and of the moment arms, of the coordinate with the
        largest.
    max_length_error, max_moment_arm_error : float
        The largest there.
    within_tolerance : bool
        Whether both root mean squares are.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> found = mb.biomechanics.fit_path_polynomials(files("mobod") / "examples" / "leg6dof9musc.osim", names=["soleus_r"])
    >>> one = found.paths["soleus_r"]
    >>> one.function.get_argument_size(), one.length_error < 1e-4
    (1, True)
    """

    coordinates: tuple[str, ...]
    function: MultivariatePolynomial
    order: int
    length_error: float
    moment_arm_error: float
    max_length_error: float
    max_moment_arm_error: float
    within_tolerance: bool


class PathFit:
    """Result of `fit_path_polynomials`.

    Attributes
    ----------
    model : Model
        A new model, with functions in place of paths.
    paths : dict of str to PathPolynomial
        By the names of the forces that act along them.
    kept : dict of str to str
        The forces whose paths stay as they are, and why.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> mb.biomechanics.fit_path_polynomials(files("mobod") / "examples" / "leg6dof9musc.osim", names=["soleus_r"])
    <PathFit: 1 polynomials, 0 outside the tolerance, 0 paths kept>
    """

    def __init__(self, model: Model, paths: dict[str, PathPolynomial], kept: dict[str, str]) -> None:
        self.model, self.paths, self.kept = model, paths, kept

    def __repr__(self) -> str:
        outside = sum(not one.within_tolerance for one in self.paths.values())
        return f"<PathFit: {len(self.paths)} polynomials, {outside} outside the tolerance, {len(self.kept)} paths kept>"

    def __str__(self) -> str:
        """A table, with a line a path."""
        wide = max((len(name) for name in (*self.paths, *self.kept)), default=4)
        lines = [f"{'path':{wide}}  order  length error  moment arm error  coordinates"]
        for name, one in self.paths.items():
            errors = f"{one.length_error:12.2e}  {one.moment_arm_error:16.2e}"
            mark = "" if one.within_tolerance else "  (outside the tolerance)"
            lines.append(f"{name:{wide}}  {one.order:5}  {errors}  {' '.join(one.coordinates)}{mark}")
        return "\n".join([*lines, *(f"{name:{wide}}  kept: {why}" for name, why in self.kept.items())])


def fit_path_polynomials(
    model: Model | str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    orders: tuple[int, int] = (2, 6),
    length_tolerance: float = 1e-4,
    moment_arm_tolerance: float = 1e-4,
    samples: int = 2000,
    seed: int = 0,
) -> PathFit:
    """Fit polynomials of coordinates to the paths of muscles and other forces: a model that is faster, and smooth.

    Parameters
    ----------
    model : Model or path
        From an OpenSim file.
    names : sequence of str, optional
        The forces whose paths are taken; all with a path unless given.
    ranges : mapping of str to (float, float), optional
        Of coordinates, in which the polynomials are to be good, in place of the model's: what a motion uses, with a margin.
        Narrow ranges need lower orders. Angles in radians.
    orders : (int, int)
        The lowest and the highest order that is tried.
    length_tolerance, moment_arm_tolerance : float
        The largest root mean squares of errors; length, and length per radian.
    samples : int
        Random poses, of which each fifth is kept for the errors.
    seed : int
        Of these poses.

    Returns
    -------
    PathFit
        The new model, and of each path its polynomial, its coordinates and its errors.

    Raises
    ------
    ModelError
        If the model is not from an OpenSim file, or there is no such force or coordinate.
    ValueError
        If a range is empty, orders or tolerances are none, or there are too few samples.

    Notes
    -----
    Coordinates that a path crosses are those with a moment arm, found at the poses. Coupled ones, such as a kneecap's, follow
    the others, and the polynomial is of these alone; locked and prescribed ones stay where they are. Paths without a
    coordinate, and those of more than six, stay as they are. A path that needs more than the highest order gets that order,
    and is marked. Outside of the ranges a polynomial means nothing.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> found = mb.biomechanics.fit_path_polynomials(files("mobod") / "examples" / "leg6dof9musc.osim", names=["soleus_r"])
    >>> found.paths["soleus_r"].coordinates, found.paths["soleus_r"].within_tolerance
    (('ankle_angle_r',), True)
    >>> type(found.model.muscles["soleus_r"].get_path()).__name__
    'FunctionBasedPath'
    """
    model = as_model(model)
    low, high = (checks.integer("an order", one) for one in orders)
    if not 1 <= low <= high <= 12:
        raise ValueError(f"orders are a lowest and a highest one, from 1 to 12; got {orders!r}")
    tolerances = (
        checks.positive("length_tolerance", length_tolerance),
        checks.positive("moment_arm_tolerance", moment_arm_tolerance),
    )
    if checks.integer("samples", samples) < 50:
        raise ValueError(f"samples have to be 50 or more; got {samples}")
    forces = _forces_with_paths(model, names)
    poses = _Poses(model, ranges or {}, samples, seed)
    lengths, slopes = poses.measure(list(forces.values()))
    alike: dict[tuple[int, ...], dict[str, int]] = {}  # paths by the coordinates that they cross
    kept: dict[str, str] = {}
    for k, name in enumerate(forces):
        crossed = tuple(c for c in poses.free if np.abs(slopes[:, k, c]).max() > _CROSSES)
        if not crossed:
            kept[name] = "its length depends on no free coordinate"
        elif len(crossed) > MOST:
            kept[name] = f"its length depends on {len(crossed)} coordinates, of which a polynomial takes {MOST} at most"
        else:
            alike.setdefault(crossed, {})[name] = k
    made: dict[str, PathPolynomial] = {}
    for crossed, paths in alike.items():
        own, places = list(crossed), list(paths.values())
        data = poses.q[:, own], lengths[:, places], slopes[:, places][:, :, own]
        ones = _lowest(data, poses.bounds(own), poses.names(own), range(low, high + 1), tolerances)
        made |= dict(zip(paths, ones, strict=True))
    found = {name: made[name] for name in forces if name in made}
    functions = {name: (one.function, one.coordinates) for name, one in found.items()}
    return PathFit(replace_paths(model, functions), found, kept)


# ---------------------------------------------------------------------------------------------- poses


def _forces_with_paths(model: Model, names: Sequence[str] | None) -> dict[str, Any]:
    """The forces that act along paths from point to point, by name."""
    known: dict[str, Any] = {}
    for one in model.forces.elements:
        path = getattr(one, "get_path", lambda: None)()
        if isinstance(path, Path) and path.numbers[0] == 1.0:
            known[one.name] = one
    checks.all_known("there is no path of points of a force", names or (), known, ModelError)
    return known if names is None else {name: known[name] for name in names}


class _Poses:
    """Random coordinates ``q`` ``(n, nq)`` of a model; *free* are the places of those that vary on their own."""

    def __init__(self, model: Model, ranges: Mapping[str, tuple[float, float]], samples: int, seed: int) -> None:
        self._model, self._state = model, model.default_state()
        self._couplers = [
            (one, places)
            for one in model.matter.constraints
            if isinstance(one, DependentCoordinate)
            for places in [[int(self._state.tree.first_q[b.get_mobilized_body_index()]) + j for b, j in one.arguments]]
        ]
        checks.all_known("there is no coordinate", ranges, model.coordinates, ModelError)
        follows = {places[-1] for _, places in self._couplers}
        rng = np.random.default_rng(seed)
        self.q = np.tile(np.array(self._state.q), (samples, 1))
        self.free: list[int] = []
        self._bounds: dict[int, tuple[float, float]] = {}
        self._names: dict[int, str] = {}
        for name, place in model.coordinates.items():
            b = int(np.searchsorted(self._state.tree.first_q, place, "right")) - 1
            if place in follows or self._state.field("prescribed")[b]:
                continue
            low, high = _range_of(model, name, ranges)
            self.free.append(place)
            self._bounds[place], self._names[place] = (low, high), name
            self.q[:, place] = rng.uniform(low, high, samples)
        for one, (*others, own) in self._couplers:
            self.q[:, own] = one.get_function().calc_value(self.q[:, others])

    def bounds(self, places: Sequence[int]) -> Array:
        """Lowest and highest ``(n, 2)``."""
        return np.array([self._bounds[place] for place in places])

    def names(self, places: Sequence[int]) -> tuple[str, ...]:
        """Of the coordinates."""
        return tuple(self._names[place] for place in places)

    def measure(self, forces: Sequence[Any]) -> tuple[Array, Array]:
        """Lengths ``(samples, n)`` and their derivatives by all coordinates ``(samples, n, nq)``, coupled ones moving along."""
        state, nt, n = self._state, len(self.q), len(forces)
        lengths, speeds, arms = np.empty((nt, n)), np.empty((nt, n)), np.empty((nt, n, len(state.u)))
        places = np.array([one.span[1] - 1 for one in forces], np.int64)
        self._model.system.realize(state, Stage.VELOCITY)
        time, still = np.full(nt, float(state.time)), np.zeros((nt, len(state.u)))
        address, wanted = realize.advance.address(), validity.WANTED[Stage.VELOCITY]
        done = sweep(state, address, wanted, time, self.q, still, places, lengths, speeds, arms)
        if done < nt:
            raise ModelError(f"the model cannot be realized at the coordinates {self.q[done].tolist()}: give narrower ranges")
        slopes = -self._by_coordinates(state, arms)
        for k, one in enumerate(forces):
            slopes[:, k, ~self._between(one.reach())] = 0.0
        for one, (*others, own) in reversed(self._couplers):
            for k, place in enumerate(others):
                along = one.get_function().calc_derivative([k], self.q[:, others])
                slopes[:, :, place] += along[:, None] * slopes[:, :, own]
            slopes[:, :, own] = 0.0
        return lengths, slopes

    def _between(self, reach: tuple[list[int], list[int]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Coordinates that can change a length at all: those between the bodies of its points and surfaces."""
        tree, bodies = self._state.tree, self._model.matter.body_list
        ends, found = set(reach[0]), np.zeros(self.q.shape[1], bool)
        beyond = [0] * tree.nb  # how many of the ends are beyond each mobilizer
        for b in range(tree.nb - 1, 0, -1):
            beyond[b] += b in ends
            if 0 < beyond[b] < len(ends) or b in reach[1]:
                found[int(tree.first_q[b]) : int(tree.first_q[b] + tree.num_q[b])] = True
            parent = bodies[b].parent
            beyond[0 if parent is None else parent.index] += beyond[b]
        return found

    def _by_coordinates(self, state: State, arms: Array) -> Array:
        """Forces on mobilities ``(nt, n, nu)`` as forces on coordinates ``(nt, n, nq)``."""
        tree = state.tree
        found = np.zeros((*arms.shape[:2], self.q.shape[1]))
        others = []
        for b in range(1, tree.nb):
            i, j, m = int(tree.first_q[b]), int(tree.first_u[b]), int(tree.num_u[b])
            if state.record.rates[b] == q_rates.SAME:
                found[:, :, i : i + m] = arms[:, :, j : j + m]
            elif m and np.abs(arms[:, :, j : j + m]).max(initial=0.0) > _CROSSES:
                others.append(slice(i, i + int(tree.num_q[b])))
        if others:
            matter = self._model.system.get_matter_subsystem()
            for row, q in enumerate(self.q):
                state.q = q
                self._model.system.realize(state, Stage.POSITION)
                for k in range(arms.shape[1]):
                    made = matter.multiply_by_n_inv(state, True, arms[row, k])
                    for part in others:
                        found[row, k, part] = made[part]
        return found


def _range_of(model: Model, name: str, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    if name in ranges:
        low, high = (checks.finite(f"the range of {name!r}", one) for one in ranges[name])
        if not low < high:
            raise ValueError(f"the range of {name!r} has to be a lower and a higher number; got {ranges[name]!r}")
        return low, high
    held = model.data.get("coordinates", {}).get(name)
    low, high = model.ranges.get(name) or (held.range if held is not None else (-_WIDEST, _WIDEST))
    low, high = max(float(low), -_WIDEST), min(float(high), _WIDEST)
    return (low, high) if low < high else (low - 1e-3, low + 1e-3)


# ---------------------------------------------------------------------------------------------- the fit


def _lowest(
    data: tuple[Array, Array, Array], bounds: Array, names: tuple[str, ...], orders: range, tolerances: tuple[float, float]
) -> list[PathPolynomial]:
    """The polynomials of the lowest order within tolerances, or of the highest order, of paths that cross the same coordinates.

    Of q ``(points, n)``, lengths ``(points, paths)`` and slopes ``(points, paths, n)``: their equations have the same matrix.
    """
    q, l, slopes = data
    middle, half = bounds.mean(axis=1), 0.5 * np.diff(bounds, axis=1)[:, 0]
    tested, n = np.arange(len(q)) % _HELD_BACK == 0, len(names)
    wanted = np.concatenate([l[None], np.moveaxis(slopes * half, 2, 0)])
    target, unit = wanted[:, ~tested].reshape(-1, l.shape[1]), np.concatenate([[1.0], half])[:, None, None]
    best: dict[Any, tuple[int, Any, Array, tuple[float, float, float, float]]] = {}
    left, tried = np.arange(l.shape[1]), -1
    for highest in sorted({max(min(_FIRST, orders[-1]), orders[0]), orders[-1]}):  # most paths need no more than the first
        if not len(left):
            break
        powers = MultivariatePolynomial.powers(n, highest)
        rows = _rows((q - middle) / half, powers, highest)  # values, then derivatives by each t
        fitted, others = rows[:, ~tested].reshape(-1, len(powers)), rows[:, tested]
        square, right, total = fitted.T @ fitted, fitted.T @ target, powers.sum(axis=1)
        for order in range(max(orders[0], tried + 1), highest + 1):
            part = np.flatnonzero(total <= order)
            if len(target) < len(part) or not len(left):
                break
            tried, weights = order, _solved(square[np.ix_(part, part)], right[np.ix_(part, left)])
            off = (others[:, :, part] @ weights - wanted[:, tested][:, :, left]) / unit
            mean, most = np.sqrt((off**2).mean(axis=1)), np.abs(off).max(axis=1)
            for k, path in enumerate(left):
                errors = float(mean[0, k]), float(mean[1:, k].max()), float(most[0, k]), float(most[1:, k].max())
                best[path] = order, powers[part], weights[:, k], errors
            left = np.array([path for path in left if not _is_within(best[path][3], tolerances)], np.int64)
    if tried < 0:
        raise ValueError(f"{len(q)} samples are too few for a polynomial of {n} coordinates and order {orders[0]}")
    found = []
    for _, (order, powers, weights, errors) in sorted(best.items()):
        function = MultivariatePolynomial(_in_powers_of_q(weights, powers, order, middle, half), n, order)
        found.append(PathPolynomial(names, function, order, *errors, _is_within(errors, tolerances)))
    return found


def _is_within(errors: tuple[float, float, float, float], tolerances: tuple[float, float]) -> bool:
    return errors[0] <= tolerances[0] and errors[1] <= tolerances[1]


def _solved(square: Array, right: Array) -> Array:
    """The solutions of normal equations ``(terms, paths)``; the smallest where there are many."""
    try:
        np.linalg.cholesky(square)
        found = np.asarray(np.linalg.solve(square, right), np.float64)
    except np.linalg.LinAlgError:
        found = np.asarray(np.linalg.lstsq(square, right, rcond=1e-14)[0], np.float64)
    return found


def _rows(t: Array, powers: np.ndarray[Any, np.dtype[np.int64]], order: int) -> Array:
    """Products of Legendre polynomials and their derivatives by each t: ``(1 + n, points, terms)``."""
    n = t.shape[1]
    along = np.array([legendre.legder(np.eye(order + 1)[d]) for d in range(order + 1)]) if order else np.zeros((1, 1))
    values = [legendre.legvander(t[:, k], order)[:, powers[:, k]] for k in range(n)]
    slopes = [(legendre.legvander(t[:, k], along.shape[1] - 1) @ along.T)[:, powers[:, k]] for k in range(n)]
    found = np.empty((1 + n, len(t), len(powers)))
    for row in range(1 + n):
        found[row] = 1.0
        for k in range(n):
            found[row] *= slopes[k] if row == k + 1 else values[k]
    return found


def _in_powers_of_q(
    weights: Array, powers: np.ndarray[Any, np.dtype[np.int64]], order: int, middle: Array, half: Array
) -> Array:
    """The coefficients of powers of q, from those of Legendre polynomials of t."""
    dense = np.zeros([order + 1] * len(middle))
    dense[tuple(powers.T)] = weights
    for k, (m, h) in enumerate(zip(middle, half, strict=True)):
        change = np.zeros((order + 1, order + 1))  # row d: the Legendre polynomial d in powers of q
        for d in range(order + 1):
            made = np.zeros(1)
            for c in legendre.leg2poly(np.eye(order + 1)[d])[::-1]:
                made = polynomial.polyadd(polynomial.polymul(made, [-m / h, 1.0 / h]), [c])
            change[d, : len(made[: order + 1])] = made[: order + 1]
        dense = np.moveaxis(np.tensordot(change, dense, axes=(0, k)), 0, k)
    return dense[tuple(powers.T)]
