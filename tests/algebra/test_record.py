"""The record: its fields are what their declarations say, in the order of these, and what touches is one array."""

import ctypes
from typing import NamedTuple

import numpy as np
import pytest

from mobod.algebra.record import LANES, DualRows, Field, address_of, attach, integers_at, layout, numbers_at, row_at
from mobod.compiling import compiled
from mobod.state.fields import Record


class Place(NamedTuple):
    x: float


SCALARS = {
    "state": {},
    "lanes": {"in_lanes": True},
    "duals": {"with_tangents": True},
    "varied": {"in_lanes": True, "own_parameters": True},
}


@pytest.fixture(params=SCALARS)
def record(request, make):
    tree = make.tree(5).state.tree
    record = tree.new_record(**SCALARS[request.param])
    record.known_counts = tree.counts
    return record


def data_of(array):
    return array.array if isinstance(array, DualRows) else array


def test_every_field_is_an_array_of_the_declared_kind_and_shape(record):
    for name, field in layout.fields.items():
        rows, array = record.known_counts[field.rows], getattr(record, name)
        if name == "sampler":  # addresses, then words of nominal systems, as many as these have
            assert array.dtype == np.int64 and array.ndim == 1, name
        elif field.what == "index":
            assert array.dtype == np.int64 and array.shape == (rows,), name
        elif record.with_tangents and field.what == "state":
            assert array.values.shape == (rows, field.columns) and array.tangents.shape == (rows, field.columns, 8), name
        else:
            lanes = (record.own_parameters and field.what != "constant") or (record.in_lanes and field.what == "state")
            assert array.dtype == np.float64, name
            assert array.shape == (rows, field.columns, *([LANES] if lanes else [])), name


def test_counts_are_integers_and_fields_are_declared_once(record):
    for name in layout.counts:
        assert getattr(record, name) == record.known_counts[name] == record.block.reshape(-1)[layout.places[name]]
    assert list(layout.fields) == [name for name, field in vars(Record).items() if isinstance(field, Field)]
    assert all(getattr(Record, name) is field and field.name == name and field.doc for name, field in layout.fields.items())


def test_state_fields_lie_in_the_order_of_their_declarations(record):
    end, last = record.buffer.ctypes.data, ""
    for name, field in layout.fields.items():
        if field.what != "state":
            continue
        data = data_of(getattr(record, name))
        start = record.block.reshape(-1)[layout.places[name]]
        assert data.size == 0 or start == data.ctypes.data
        if field.spans:
            parts = [data_of(getattr(record, part)) for part in field.spans]
            assert start == record.block.reshape(-1)[layout.places[field.spans[0]]], name
            assert data.nbytes == sum(part.nbytes for part in parts), name
            continue
        assert start == end if field.touches else (start % 64 == 0 and 0 <= start - end < 64), (last, name)
        end, last = start + data.nbytes, name


def test_a_copy_has_arrays_of_its_own(record):
    record.u[:] = 1.0
    other = record.copy()
    assert isinstance(other, Record)
    other.u[:] = 2.0
    value = record.u.values if record.with_tangents else record.u
    assert np.all(value == 1.0) and other.parent is record.parent
    assert other.u is other.u, "an array is made once"


def test_kernels_of_lanes_read_parameters_of_each_and_routines_those_of_the_record(record):
    """A copy's too; where lanes share parameters, these are two blocks, which have all else in common."""
    for one in (record, record.copy()):
        block, of_routines = one.block.reshape(-1), one.words[-1]
        assert one.pointer == of_routines.ctypes.data
        assert not one.in_lanes or block[-1] == of_routines[-1] == one.pointer
        shares = one.in_lanes and not one.own_parameters
        assert block.ndim == 1 and one.block.ndim == (4 if one.in_lanes else 3 if one.with_tangents else 1)
        for name, field in layout.fields.items():
            place, array = layout.places[name], data_of(getattr(one, name))
            assert not array.size or of_routines[place] == array.ctypes.data, name
            if shares and field.what == "parameter":
                numbers = (ctypes.c_double * (LANES * array.size)).from_address(int(block[place]))
                assert np.array_equal(np.reshape(numbers, (*array.shape, LANES)), np.repeat(array[..., None], LANES, 2)), name
            else:
                assert block[place] == of_routines[place], name


def test_a_field_that_does_not_exist_is_refused(record):
    with pytest.raises(AttributeError, match="no_such_field"):
        _ = record.no_such_field


def test_y_is_q_u_z_and_the_particles():
    assert Record.y.spans == ("q", "u", "z", "particle_location", "particle_velocity")
    assert Record.y_dot.spans == ("q_dot", "u_dot", "z_dot", "particle_location_dot", "particle_acceleration")


@compiled
def sums_at(block, numbers, row, integers, name):
    """Sums of arrays, each read at its address, and the address of a tuple, which has none."""
    attach(block)
    whole, first = numbers_at(address_of(numbers), *numbers.shape), row_at(address_of(row), row.shape[0])
    return whole[1, 2] + whole.shape[0], first[1], integers_at(address_of(integers), 2)[1], address_of(name)


def test_an_array_is_found_by_its_address_in_kernels_and_in_python():
    given = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.5]), np.array([3, 4]), Place(1.0)
    for sums in (sums_at, sums_at.python):
        assert sums(np.zeros(1, np.int64), *given) == (7.0, 2.5, 4, 0)
