"""Jacobian-vector products of what kernels compute of a state: of every compiled kind of part, eight directions a pass, O(n).

A record of Duals is filled with a state, seeded with changes of its variables or of the model's numbers, realized, and read.
All derivatives go through `jvp` that the sweep with its elements, see `analytic`, does not give: of residuals and constraint
errors (`equations`), by parameters, of measures, of laws, of Jacobians; and second ones, by Duals of Duals.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import TANGENTS
from ..state import validity
from ..state.fields import INSTANCE_FIELDS, LEFT_AT_ZERO, PARAMETERS, REMEMBERED, SHORTCUTS
from ..state.state import State
from ..tree import realize as _realize
from ..tree.tree import Tree

#: Computes on a record of Duals; the second argument is how its routines are asked for their addresses. Gives a status.
Evaluate: TypeAlias = Callable[[Any, Mapping[str, Any]], int]

#: Records of Duals that are not in use, by tree and by the arguments of `Tree.new_record`, with the fields that are not the
#: tree's: making one takes longer than filling.
_RECORDS: weakref.WeakKeyDictionary[Tree, dict[Any, list[Any]]] = weakref.WeakKeyDictionary()


class Seed(NamedTuple):
    """Rates of a field's entries by one number of the model: ``rates`` at ``rows`` and ``columns``."""

    field: str
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    rates: Array


def kinematics(record: Any, kind: Mapping[str, Any]) -> int:
    """Positions and velocities: an `Evaluate`."""
    return _realize.realize(record, _realize.advance.address(**kind), 0, validity.KINEMATICS)


def calling(routine: Any, asked: int = 0) -> Evaluate:
    """An `Evaluate` of a routine that takes the address of `realize.advance`, and what is *asked* of it."""
    return lambda record, kind: _realize.realize(record, routine.address(**kind), _realize.advance.address(**kind), asked)


def jvp(
    state: State,
    seeds: Mapping[str, Array],
    evaluate: Evaluate,
    outputs: Mapping[str, int],
    *,
    of_model: Sequence[Sequence[Seed]] = (),
    at: Mapping[str, Array] | None = None,
    along: Mapping[str, Array] | None = None,
    seeds_along: Mapping[str, Array] | None = None,
    observe: Callable[[Any, slice], None] | None = None,
    tree: Tree | None = None,
) -> dict[str, Array]:
    """Derivatives of fields of the record along n directions.

    Parameters
    ----------
    state : State
    seeds : mapping of str to (rows, n) array
        How fields change along each direction; those of variables that are not named do not.
    evaluate : Evaluate
        What computes the outputs.
    outputs : mapping of str to int
        Fields, and how many of their rows are wanted.
    of_model : sequence of sequences of Seed
        Changes of parameters along the last directions: beside seeds of n columns, or behind those of seeds of none.
    at : mapping of str to array
        Values of fields that are not the state's own: of ``u_dot`` and ``multiplier``.
    along : mapping of str to (rows,) array
        One more direction: what is found then are second derivatives, along this and each of the n.
    seeds_along : mapping of str to (rows, n) array
        How seeds change along it.
    observe : callable
        ``observe(record, columns)`` sees the record after each pass.
    tree : Tree
        In place of the state's if it has only more measures.

    Returns
    -------
    dict of str to array
        Of each output ``(rows, n)``, or ``(rows, columns, n)`` where the field has several columns.
    """
    n = max([len(of_model), *(seed.shape[1] for seed in seeds.values())])
    changes: list[Sequence[Seed]] = [*[()] * (n - len(of_model)), *of_model]
    kind: dict[str, Any] = {"own_parameters": True} if of_model else {}
    kind |= {} if along is None else {"twice": True}
    asked = {"with_tangents": True, **kind}
    with record_at(state, tree, **kind) as record:
        for name, value in (at or {}).items():
            getattr(record, name)[: len(value), 0] = value
        for name, rate in (along or {}).items():
            getattr(record, name).rates[: len(rate), 0] = rate
        fields = {name: getattr(record, name) for name in outputs}
        found = {name: np.zeros((rows, fields[name].values.shape[1], n)) for name, rows in outputs.items()}
        for first in range(0, n, TANGENTS):
            columns = slice(first, min(first + TANGENTS, n))
            count = columns.stop - first
            for name, seed in seeds.items():
                field = getattr(record, name).tangents
                field[:] = 0.0
                field[: len(seed), 0, :count] = seed[:, columns]
            for name, seed in (seeds_along or {}).items():
                getattr(record, name).rates_of_tangents[: len(seed), 0, :count] = seed[:, columns]
            with _seeded(record, changes[columns]):
                status = evaluate(record, asked)
                if status:
                    state.system.explain(state, status)
                if observe is not None:
                    observe(record, columns)
                for name, field in fields.items():
                    of_field = field.tangents if along is None else field.rates_of_tangents
                    found[name][..., columns] = of_field[: outputs[name], :, :count]
    return {name: part[:, 0] if part.shape[1] == 1 else part for name, part in found.items()}


@contextlib.contextmanager
def _seeded(record: Any, seeds: Sequence[Sequence[Seed]]) -> Iterator[None]:
    """A record with the tangents of these changes, for the time of this context."""
    for k, one in enumerate(seeds):
        for field, rows, places, rates in one:
            getattr(record, field).tangents[rows, places, k] = rates
    yield
    for k, one in enumerate(seeds):
        for field, rows, places, _ in one:
            getattr(record, field).tangents[rows, places, k] = 0.0


@contextlib.contextmanager
def record_at(state: State, tree: Tree | None = None, **kind: Any) -> Iterator[Any]:
    """A record of Duals at the state's variables and parameters, without tangents, for the time of this context.

    *kind* is ``own_parameters`` for parameters with tangents, ``twice`` for Duals of Duals. The *tree* may be another than the
    state's if that has only more measures.
    """
    tree = tree or state.tree
    pool = _RECORDS.setdefault(tree, {}).setdefault(tuple(kind), [])
    record, others = pool.pop() if pool else (_made(state, tree, kind), frozenset())
    own = _fill(record, others, state, tree, "own_parameters" in kind)
    yield record
    pool.append((record, own))


def _made(state: State, tree: Tree, kind: Mapping[str, Any]) -> Any:
    """A record of Duals with room for the z of measures, whose rates are computed with those of the tree's."""
    return tree.new_record(False, True, more=(0, 0, len(state.z_view) - tree.nz), **kind)


def new_record_at(state: State, **kind: Any) -> Any:
    """A record as of `record_at`, for as long as the caller keeps it."""
    record = _made(state, state.tree, kind)
    _fill(record, frozenset(), state, state.tree, "own_parameters" in kind)
    return record


def _fill(record: Any, others: frozenset[str], state: State, tree: Tree, seeded: bool) -> frozenset[str]:
    """Take over a state's variables and parameters; *others* are the fields not the tree's so far. Those not the tree's now."""
    source = state.record
    own = frozenset(state.own_fields).intersection(INSTANCE_FIELDS)
    if seeded:
        own = own.difference(PARAMETERS, SHORTCUTS)
        for name in PARAMETERS:
            values, target = getattr(source, name), getattr(record, name)
            n = min(len(values), len(target.values))  # without a run's own rows of witnesses
            target[:n] = values[:n]
        for name in SHORTCUTS:  # what is left out may have a derivative
            record.share(name, np.zeros_like(getattr(source, name)))
    for name in own | others:  # the others are those of the state that it was used for before
        values, whole = getattr(source, name), tree.fields[name]
        if len(values) < len(whole):  # more measures have more numbers, which no state has of its own
            values = np.concatenate([values, whole[len(values) :]])
        record.share(name, values)
    for flag, left in LEFT_AT_ZERO.items():
        if flag in others:  # that state may have had numbers in rows that kernels leave as they are for this one
            for name in left:
                getattr(record, name)[:] = 0.0
    for name in ("time", "q", "u", "z", "particle_location", "particle_velocity", *REMEMBERED):
        target = getattr(record, name)
        target[:] = getattr(source, name)[: len(target.values)]
    return own
