"""Nominal systems of controllers: their laws are given inertias, weights and frames of a model, not of what they control.

The coordinates and speeds of the nominal system are those of the mobilizers of the same names. A record of it is made for each
sample, as a copy of one that the tree keeps: records are written by one thread each, and nothing is remembered. All of this
lies, as 64-bit words, in the field `sampler`, of each nominal system from where `sampling.FIRST_NOMINAL` says:

    the routine `of_nominal`; that of `realize.advance`; the sizes of block and buffer; the buffer's address; where q and u are
    in it; nq, nu; how many state fields, inputs, numbers of inputs, and numbers of what these are made of, and the place of
    that in the scratch; then indices of q and u, places of state fields in the block, inputs, their numbers, block, buffer
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.record import attach, call_routine, layout
from ..algebra.scalar import load, store
from ..compiling import Routine, generic, routine
from ..state.fields import Record
from ..state.validity import KINEMATICS, UNCHECKED
from . import realize, sampling

if TYPE_CHECKING:
    from .tree import Tree

# words of a nominal system
FILL, ADVANCE, BLOCK_SIZE, BUFFER_SIZE, BUFFER, Q_AT, U_AT, NQ, NU, FIELDS, INPUTS, NUMBERS, MADE, OUT, HEAD = range(15)
#: Words of an input: its kind, its place in the scratch, its size or its body, and its first number.
WIDTH = 4
#: Places in the block of fields that a nominal system has no use for, and what takes their place.
_WORK, _INTEGERS, _NUMBERS = (layout.places[name] for name in ("control_work", "witness_integers", "witness_numbers"))


class Nominal(NamedTuple):
    """Quantities that a controller asks of a nominal system."""

    #: Its system, with a matter subsystem; and the number of its body for each of the plant's that it has, by index.
    system: Any
    counterparts: dict[int, int]
    #: `WIDTH` integers each, with places from the first of the scratch of these on; and their numbers.
    inputs: Sequence[int]
    numbers: Sequence[float]
    #: Numbers of the scratch that they are, and where these begin.
    made: int
    out: int


def words_of(tree: Tree, nominals: Sequence[Nominal]) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """The words of a tree's nominal systems after those of `sampler`, and what has to be kept alive for them."""
    first = sampling.FIRST_NOMINAL + len(nominals)
    found: list[npt.NDArray[np.int64]] = [np.zeros(first, np.int64)]
    found[0][sampling.PREPARE] = prepare.address()
    kept: list[Any] = []
    for k, nominal in enumerate(nominals):
        found[0][sampling.FIRST_NOMINAL + k] = sum(map(len, found))
        own = nominal.system.tree_for(tree.use_euler_angles)
        record = own.new_record()
        kept += [own, record]
        places = np.array([layout.places[field.name] for field in layout.fields.values() if field.what == "state"])
        head = np.zeros(HEAD, np.int64)
        block = record.block.reshape(-1)
        base = record.buffer.ctypes.data
        head[FILL], head[ADVANCE] = of_nominal.address(), realize.advance.address()
        head[BLOCK_SIZE], head[BUFFER_SIZE], head[BUFFER] = len(block), len(record.buffer), base
        head[Q_AT], head[U_AT] = ((block[layout.places[name]] - base) // 8 for name in ("q", "u"))
        head[NQ], head[NU], head[FIELDS] = own.nq, own.nu, len(places)
        head[INPUTS], head[NUMBERS] = len(nominal.inputs) // WIDTH, len(nominal.numbers)
        head[MADE], head[OUT] = nominal.made, nominal.out
        of_q, of_u = np.zeros(own.nq, np.int64), np.zeros(own.nu, np.int64)
        for here, there in nominal.counterparts.items():
            of_q[own.q_slices[there]] = np.arange(tree.nq)[tree.q_slices[here]]
            of_u[own.u_slices[there]] = np.arange(tree.nu)[tree.u_slices[here]]
        numbers = np.array(nominal.numbers, np.float64).view(np.int64)
        inputs = np.array(nominal.inputs, np.int64)
        found += [head, of_q, of_u, places.astype(np.int64), inputs, numbers, block, record.buffer.view(np.int64)]
    return np.concatenate(found), kept


@functools.partial(Routine, makes_arrays=True)
def prepare(model: Record, start: int, k: int) -> int:
    """Make a record of the nominal system whose words begin at *start*, let its inputs be made, and take them."""
    words = model.sampler
    nq, nu, num_fields = words[start + NQ], words[start + NU], words[start + FIELDS]
    num_inputs, num_numbers, made = words[start + INPUTS], words[start + NUMBERS], words[start + MADE]
    of_q = start + HEAD
    of_u = of_q + nq
    places = of_u + nu
    inputs = places + num_fields
    numbers = inputs + WIDTH * num_inputs
    first_of_block = numbers + num_numbers
    first_of_buffer = first_of_block + words[start + BLOCK_SIZE]
    block, buffer = np.empty(words[start + BLOCK_SIZE], np.int64), np.empty(words[start + BUFFER_SIZE], np.int64)
    table, own_numbers = np.empty(1 + WIDTH * num_inputs, np.int64), np.empty(num_numbers + 1, np.int64)
    out = np.zeros(made + 1)
    for i in range(len(block)):
        block[i] = words[first_of_block + i]
    for i in range(len(buffer)):
        buffer[i] = words[first_of_buffer + i]
    for i in range(num_numbers):
        own_numbers[i] = words[numbers + i]
    table[0] = words[start + ADVANCE]
    for i in range(WIDTH * num_inputs):
        table[1 + i] = words[inputs + i]
    values = buffer.view(np.float64)
    for i in range(nq):
        values[words[start + Q_AT] + i] = load(model.q, words[of_q + i], 0)
    for i in range(nu):
        values[words[start + U_AT] + i] = load(model.u, words[of_u + i], 0)
    moved = buffer.ctypes.data - words[start + BUFFER]
    for i in range(num_fields):
        block[words[places + i]] += moved
    block[_WORK] = out.ctypes.data
    block[_INTEGERS] = table.ctypes.data
    block[_NUMBERS] = own_numbers.ctypes.data
    call_routine(words[start + FILL], attach(block), num_inputs, 0)
    first = words[start + OUT]
    for i in range(made):
        store(model.control_work, first + i, 0, out[i])
    # arrays live until they are last named
    buffer[0], table[0], block[0] = 0, 0, 0
    own_numbers[0] = 0
    return 0


@generic
def _one(own: Record, kind: int, out: int, a: int, b: int) -> None:
    """One input: a is its size or its body, b its first number."""
    if kind == sampling.Q:
        sampling.copy_rows(own, own.q, 0, out, a)
    elif kind == sampling.U:
        sampling.copy_rows(own, own.u, 0, out, a)
    elif kind == sampling.MASS_MATRIX:
        sampling.mass_matrix(own, out)
    elif kind == sampling.BIAS:
        sampling.bias(own, out)
    elif kind == sampling.GRAVITY:
        sampling.gravity(own, out)
    else:
        sampling.of_a_frame(own, kind, out, a, own.witness_numbers, b)


@routine
def of_nominal(own: Record, num_inputs: int, k: int) -> int:
    """Realize the nominal system, and write its inputs, which `witness_integers` list, into its `control_work`."""
    call_routine(own.witness_integers[0], own, 0, KINEMATICS | UNCHECKED)
    for j in range(num_inputs):
        i = 1 + WIDTH * j
        integers = own.witness_integers
        _one(own, integers[i], integers[i + 1], integers[i + 2], integers[i + 3])
    return 0
