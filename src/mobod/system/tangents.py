"""Derivatives of the equations of motion by dual numbers: of every compiled kind of part, eight columns a pass in O(n)."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.record import TANGENTS
from ..mobilizer import _rates
from ..state import validity
from ..state.fields import INSTANCE_FIELDS, LEFT_AT_ZERO, PARAMETERS, REMEMBERED, SHORTCUTS
from ..tree import constraint_operators, rates, residual_tangents
from ..tree import realize as _realize
from ..tree.prescribed_mobilities import FROM_MOTION

if TYPE_CHECKING:
    from ..state.state import State
    from ..tree.tree import Tree
    from .manifold import OnManifold

#: Records of Duals that are not in use, by tree and by the arguments of `Tree.new_record`, with the fields that are not the
#: tree's: making one takes longer than filling.
_RECORDS: weakref.WeakKeyDictionary[Tree, dict[Any, list[Any]]] = weakref.WeakKeyDictionary()


@contextlib.contextmanager
def record_at(state: State, tree: Tree | None = None, **kind: Any) -> Iterator[Any]:
    """A record of Duals at the state's variables and parameters, without tangents, for the time of this context.

    *kind* is ``own_parameters`` for parameters with tangents, ``twice`` for Duals of Duals, ``more`` for room. The *tree* may
    be another than the state's if that has only more measures.
    """
    tree = tree or state.tree
    pool = _RECORDS.setdefault(tree, {}).setdefault(tuple(kind), [])
    record, others = pool.pop() if pool else (tree.new_record(False, True, **kind), frozenset())
    own = _fill(record, others, state, "own_parameters" in kind)
    yield record
    pool.append((record, own))


def new_record_at(state: State, **kind: Any) -> Any:
    """A record as of `record_at`, for as long as the caller keeps it."""
    record = state.tree.new_record(False, True, **kind)
    _fill(record, frozenset(), state, "own_parameters" in kind)
    return record


def _fill(record: Any, others: frozenset[str], state: State, seeded: bool) -> frozenset[str]:
    """Take over a state's variables and parameters; *others* are the fields not the tree's so far. Those not the tree's now."""
    source = state.record
    own = frozenset(state.own_fields).intersection(INSTANCE_FIELDS)
    if seeded:
        own = own.difference(PARAMETERS, SHORTCUTS)
        for name in PARAMETERS:
            values = getattr(source, name)
            getattr(record, name)[: len(values)] = values
        for name in SHORTCUTS:  # what is left out may have a derivative
            record.share(name, np.zeros_like(getattr(source, name)))
    for name in own | others:  # the others are those of the state that it was used for before
        record.share(name, getattr(source, name))
    for flag, left in LEFT_AT_ZERO.items():
        if flag in others:  # that state may have had numbers in rows that kernels leave as they are for this one
            for name in left:
                getattr(record, name)[:] = 0.0
    for name in ("time", "q", "u", "z", "particle_location", "particle_velocity", *REMEMBERED):
        target = getattr(record, name)
        target[:] = getattr(source, name)[: len(target.values)]
    return own


def has_rates(state: State) -> bool:
    """Whether q_dot is not u, of some mobilizer."""
    return bool((state.tree.fields["rates"] != _rates.SAME).any())


def displacements(state: State) -> Array:
    """N of the matter's mobilizers ``(nq, nu)``: column k is q_dot of a unit of speed k. Needs positions."""
    tree = state.tree
    if not has_rates(state):
        return np.eye(tree.nu)
    u, out = np.zeros(len(state.u_view)), np.zeros(len(state.q_view))

    def product(unit: Array) -> Array:
        u[: tree.nu] = unit
        rates.multiply_by_n(state.block, False, u, out)
        return out

    return columns_by_mobility(state, product)


def lines(state: State) -> list[int]:
    """Bodies whose mobilizers are of lines, which have an orientation and no speed about themselves."""
    tree = state.tree
    return [b for b in range(1, tree.nb) if tree.num_q[b] - (b in tree.quaternions) > tree.num_u[b] > 0]


def turns(state: State) -> Array:
    """Changes of q that no speed makes and that matter ``(nq, m)``: turns of lines about themselves, by one radian."""
    return turned_lines(state, state.q_view)


def turned_lines(state: State, q: Array) -> Array:
    """`turns` at q, in which they are linear: q k / 2 of a quaternion, k the line; the last of three angles."""
    tree, of = state.tree, lines(state)
    found = np.zeros((tree.nq, len(of)))
    for column, b in enumerate(of):
        first = tree.first_q[b]
        if b in tree.quaternions:
            w, x, y, z = q[first : first + 4]
            found[first : first + 4, column] = 0.5 * np.array([-z, y, -x, w])
        else:
            found[first + 2, column] = 1.0
    return found


def columns_by_mobility(state: State, product: Callable[[Array], Array]) -> Array:
    """A matrix ``(nq, nu)``, a block a mobilizer, of its products: all mobilizers' columns of one number in each."""
    tree = state.tree
    found = np.zeros((tree.nq, tree.nu))
    num_u, first_u = np.array(tree.num_u), np.array(tree.first_u)
    body_of_q = np.repeat(np.arange(tree.nb), tree.num_q)
    for k in range(max(tree.num_u, default=0)):
        unit = np.zeros(tree.nu)
        unit[first_u[num_u > k] + k] = 1.0
        column = product(unit)
        has = np.flatnonzero(num_u[body_of_q] > k)
        found[has, first_u[body_of_q[has]] + k] = column[has]
    return found


class Tangents:
    """Derivatives, a column a direction: those by q, u, z, then time; by the particles' locations and velocities if so wanted.

    Last are those by `turns`, if these were given.

    Attributes
    ----------
    residual : (nu, columns) array
    errors : (rows, columns) array
        Of the constraints' acceleration errors, by the kernels' rows.
    known : (nu, columns) array
        Of the udot that compiled motions prescribe.
    q_dot, z_dot : (nq, columns), (nz, columns) arrays
        Of N u, and of the rates of the forces' z.
    particle_forces : (3 np, columns) array
        Of the forces on the particles.
    """

    def __init__(self, tree: Tree, of_particles: bool = False, num_turns: int = 0) -> None:
        nu, nz = tree.nu, tree.nz
        self.places = {"q": slice(0, nu), "u": slice(nu, 2 * nu), "z": slice(2 * nu, 2 * nu + nz)}
        self.places["time"] = slice(2 * nu + nz, 2 * nu + nz + 1)
        n = 2 * nu + nz + 1
        if of_particles:
            size = tree.counts["particle_size"]
            self.places |= {"particle_location": slice(n, n + size), "particle_velocity": slice(n + size, n + 2 * size)}
            n += 2 * size
        self.places["turn"] = slice(n, n + num_turns)
        n += num_turns
        self.residual, self.known = np.zeros((nu, n)), np.zeros((nu, n))
        self.errors = np.zeros((tree.counts["num_rows"], n))
        self.q_dot, self.z_dot = np.zeros((tree.nq, n)), np.zeros((nz, n))
        self.particle_forces = np.zeros((tree.counts["particle_size"], n))

    def residual_by(self, name: str) -> Array:
        """The columns of one variable."""
        return self.residual[:, self.places[name]]


def of_residual(
    system: OnManifold,
    state: State,
    u_dot: Array,
    multipliers: Array | None,
    observe: Callable[[Any, int], None] | None = None,
    of_particles: bool = False,
    turned: Array | None = None,
) -> Tangents:
    """Derivatives of residual and errors at *u_dot* and *multipliers*; without these, of the tree alone. Needs positions.

    After each pass ``observe(record, count)`` sees all else, in the first *count* tangents.
    """
    tree = state.tree
    found = Tangents(tree, of_particles, 0 if turned is None else turned.shape[1])
    N = displacements(state)
    n = found.residual.shape[1]
    directions = {name: np.zeros((size, n)) for name, size in (("q", tree.nq), ("u", tree.nu), ("z", tree.nz), ("time", 1))}
    directions["q"][:, found.places["q"]] = N
    if turned is not None:
        directions["q"][:, found.places["turn"]] = turned
    for name in ("particle_location", "particle_velocity") if of_particles else ():
        directions[name] = np.zeros((tree.counts["particle_size"], n))
    for name in directions:
        if name != "q":
            directions[name][:, found.places[name]] = np.eye(len(directions[name]))
    address = _realize.advance.address(with_tangents=True)
    routine = residual_tangents.calc_residual.address(with_tangents=True)
    constrained = multipliers is not None and tree.counts["nc"] > 0
    with record_at(state) as record:
        record.u_dot[: tree.nu, 0] = u_dot
        if constrained:
            record.multiplier[:] = multipliers
        for first in range(0, n, TANGENTS):
            columns = slice(first, min(first + TANGENTS, n))
            count = columns.stop - first
            for name, columns_of in directions.items():
                field = getattr(record, name).tangents
                field[:] = 0.0
                field[: len(columns_of), 0, :count] = columns_of[:, columns]
            status = _realize.realize(record, routine, address, int(constrained))
            if status:
                system.explain(state, status)
            found.residual[:, columns] = record.work_u.tangents[: tree.nu, 0, :count]
            if observe is not None:
                observe(record, count)
            found.known[:, columns] = record.known_u_dot.tangents[: tree.nu, 0, :count]
            found.q_dot[:, columns] = record.q_dot.tangents[: tree.nq, 0, :count]
            found.z_dot[:, columns] = record.z_dot.tangents[: tree.nz, 0, :count]
            found.particle_forces[:, columns] = record.particle_forces.tangents[:, 0, :count]
            if constrained:
                found.errors[:, columns] = record.row_work.tangents[:, 0, :count]
    return found


def of_velocity_errors(system: OnManifold, state: State) -> Array:
    """Derivatives of velocity errors by displacements, by the kernels' rows ``(rows, nu)``. Needs positions."""
    return of_errors(system, state, displacements(state))[1]


def of_errors(system: OnManifold, state: State, dq: Array) -> tuple[Array, Array]:
    """Derivatives of position and velocity errors along changes of q ``(nq, n)``, by the kernels' rows. Needs positions."""
    tree, n = state.tree, dq.shape[1]
    of_positions, of_velocities = np.zeros((2, tree.counts["num_rows"], n))
    address = _realize.advance.address(with_tangents=True)
    routine = residual_tangents.calc_errors.address(with_tangents=True)
    with record_at(state) as record:
        for first in range(0, n, TANGENTS):
            columns = slice(first, min(first + TANGENTS, n))
            count = columns.stop - first
            record.q.tangents[:] = 0.0
            record.q.tangents[: tree.nq, 0, :count] = dq[:, columns]
            status = _realize.realize(record, routine, address, 0)
            if status:
                system.explain(state, status)
            of_positions[:, columns] = record.position_error.tangents[:, 0, :count]
            of_velocities[:, columns] = record.row_work.tangents[:, 0, :count]
    return of_positions, of_velocities


def solved(system: OnManifold, state: State, found: Tangents) -> tuple[Array, Array, Array, Array, Array]:
    """Derivatives of u_dot by q, u, z, mobility forces and time, from those of the residual and the errors."""
    rates, of, n = solved_with_multipliers(system, state, found)[0], found.places, found.residual.shape[1]
    return rates[:, of["q"]], rates[:, of["u"]], rates[:, of["z"]], rates[:, n:], rates[:, of["time"]][:, 0]


def solved_with_multipliers(system: OnManifold, state: State, found: Tangents) -> tuple[Array, Array]:
    """Derivatives of u_dot, and of multipliers by the kernels' rows: by the variables of *found*, then mobility forces."""
    nu = state.tree.nu
    residual = np.hstack([found.residual, -np.eye(nu)])
    errors = np.hstack([found.errors, np.zeros((len(found.errors), nu))])
    return _rates_of(system, state, residual, errors, np.hstack([found.known, np.zeros((nu, nu))]))


def rates_of(system: OnManifold, state: State, residual: Array, errors: Array, known: Array | None = None) -> Array:
    """What derivatives u_dot has, from those of residual and errors, by the kernels' rows, and of prescribed udot.

    M d(udot) + G^T d(lambda) = -d(residual), G d(udot) = -d(errors): a column a direction. Needs ACCELERATION.
    """
    return _rates_of(system, state, residual, errors, known)[0]


def _rates_of(system: OnManifold, state: State, residual: Array, errors: Array, known: Array | None) -> tuple[Array, Array]:
    """Those of u_dot, and of the multipliers by the kernels' rows."""
    matter, tree = system.get_matter_subsystem(), state.tree
    multipliers = np.zeros_like(errors)
    M_inv = matter.calc_m_inv(state)
    rates = -M_inv @ residual
    if known is not None and known.any():
        known = np.repeat(state.field("prescribed") == FROM_MOTION, tree.num_u)[:, None] * known
        rates = known - M_inv @ (residual + matter.calc_m(state) @ known)
    rows = matter.rows_in_use(state) if tree.counts["nc"] else np.zeros(0, np.int64)
    if len(rows):
        G = matter.explicit_g(state)
        inverse = np.zeros((len(rows), len(rows)))  # (G M^-1 G^T)^+, by the factors that accelerations are found with
        for k, r in enumerate(rows):
            x = np.zeros(len(G))
            x[r] = 1.0
            constraint_operators.solve(state.block, x)
            inverse[:, k] = x[rows]
        G, errors = G[rows], errors[rows]
        multipliers[rows] = inverse @ (G @ rates + errors)
        rates -= M_inv @ (G.T @ multipliers[rows])
    return rates, multipliers


def turning(state: State) -> Array:
    """N^-1 (d(N u)/dq N - NDot) ``(nu, nu)``: how displacements turn as quaternions and angles change. Needs velocities."""
    tree, matter = state.tree, state.system.get_matter_subsystem()
    found = np.zeros((tree.nu, tree.nu))
    if not has_rates(state):
        return found
    num_u, first_u = np.array(tree.num_u), np.array(tree.first_u)
    body_of_u = np.repeat(np.arange(tree.nb), num_u)
    own = np.arange(tree.nu) - first_u[body_of_u]
    N = displacements(state)
    with record_at(state) as record:
        record.q.tangents[:] = record.u.tangents[:] = 0.0
        q, k = np.nonzero(N)
        record.q.tangents[q, 0, own[k]] = N[q, k]
        _realize.realize(record, _realize.advance.address(with_tangents=True), 0, validity.KINEMATICS)
        turned = record.q_dot.tangents[: tree.nq, 0].copy()
    for j in range(max(tree.num_u)):
        unit = np.zeros(tree.nu)
        unit[first_u[num_u > j] + j] = 1.0
        column = matter.multiply_by_n_inv(state, False, turned[:, j] - matter.multiply_by_n_dot(state, False, unit))
        has = np.flatnonzero(num_u[body_of_u] > j)
        found[has, first_u[body_of_u[has]] + j] = column[has]
    return found


def turning_of_lines(state: State) -> Array:
    """`turning` ``(nv, nv)`` of displacements and `turns` together: W^+ (d(N u)/dq W - WDot), W = [N T]. Needs velocities."""
    tree, matter = state.tree, state.system.get_matter_subsystem()
    W = np.hstack([displacements(state), turns(state)])
    u, out = np.zeros(len(state.u_view)), np.zeros(len(state.q_view))

    def product(unit: Array) -> Array:
        u[: tree.nu] = unit
        out[: tree.nq] = matter.multiply_by_n_dot(state, False, u)[: tree.nq]
        return out

    of_q = np.array(state.q_dot_view[: tree.nq])
    W_dot = np.hstack([columns_by_mobility(state, product), turned_lines(state, of_q)])
    for column, b in enumerate(lines(state)):
        if b not in tree.quaternions:  # the last angle's unit stays
            W_dot[:, tree.nu + column] = 0.0
    rates = rates_by_q(state)
    assert rates is not None
    return np.asarray(np.linalg.solve(W.T @ W, W.T @ (rates @ W - W_dot)), np.float64)


def rates_by_q(state: State) -> Array | None:
    """d(N u)/dq ``(nq, nq)`` by each number of q, quaternions' too; None where q_dot is u. Needs positions."""
    if not has_rates(state):
        return None
    tree = state.tree
    num_q, first_q = np.array(tree.num_q), np.array(tree.first_q)
    body_of_q = np.repeat(np.arange(tree.nb), num_q)
    q = np.arange(tree.nq)
    found = np.zeros((tree.nq, tree.nq))
    with record_at(state) as record:
        record.q.tangents[:] = record.u.tangents[:] = 0.0
        record.q.tangents[q, 0, q - first_q[body_of_q]] = 1.0
        _realize.realize(record, _realize.advance.address(with_tangents=True), 0, validity.KINEMATICS)
        of_rates = record.q_dot.tangents[: tree.nq, 0]
        for j in range(max(tree.num_q)):
            has = np.flatnonzero(num_q[body_of_q] > j)
            found[has, first_q[body_of_q[has]] + j] = of_rates[has, j]
    return found
