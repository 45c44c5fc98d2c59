"""Muscles of one state, eight at a time: curves and ways over surfaces take long, and eight as lanes little more than one.

First the paths go their ways, those of one form eight at a time, and each leaves its length, its rate and a list of what a unit
of tension does. Then `Functions.contract` gives the forces of eight muscles of one form as lanes, and the lists are gone
through. Muscles of another form, whose first integers differ, begin eight of their own; those with rigid tendons come first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ..algebra.beside import RowsBeside, lanes_scratch, put_beside, row_beside
from ..algebra.scalar import load, scratch, store
from ..compiling import apart, generic
from ..force.pools import number
from ..force.transmission.path import MOST_PULLS
from ._fiber import ACTIVATES, CHOICE, HEAD, STRETCHES, activation

#: Rows of what is known of each muscle of eight: length and rate of its path, activation, tension, the rate of its second z,
#: where its numbers and its z begin, the first row of its list and the one behind the last.
LENGTH, SPEED, ACTIVATION, TENSION, RATE, NUMBERS, VARIABLES, FIRST, END = range(9)
EIGHT = 8
#: Columns of what is known of each path: its element, length and rate with the path's ratio, its rows of the list.
ELEMENT, ITS_LENGTH, ITS_SPEED, ITS_FIRST, ITS_END = range(5)
#: How many paths are known at a time, and how many forms wait for eight; columns of a form: how many wait, and which.
MOST, FORMS, WAITING, WHICH, MEMBERS = 128, 8, 0, 1, 2


class Beside(NamedTuple):
    """The fields of a record that `Functions.contract` reads, of eight elements."""

    force_numbers: Any
    force_integers: Any
    z: Any


@cache
def one_apart(contract: Callable[..., Any]) -> Callable[..., Any]:
    """`Functions.contract` not inlined: a muscle alone shares it with those whose power is asked for."""

    def contract_one(model: Any, i: int, x: int, z: int, a: Any, length: Any, speed: Any) -> Any:
        return contract(model, i, x, z, a, length, speed)

    return apart(_named(contract_one, contract))


def _named(made: Callable[..., Any], contract: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is compiled apart, named by its kind: what is loaded from the disk is known by its name alone."""
    made.__module__, made.__qualname__ = contract.__module__, f"{contract.__qualname__}.{made.__name__}"
    return made


def eights_of(functions: Any, listed: Any) -> Callable[..., None]:
    """The function that lets muscles of a kind act, of a run of elements: ``act(model, first, end)``."""
    wait, go = _ways(listed, functions.num_numbers)
    contract_all, number_of_pulls = _contractions(functions, listed.pull_listed), listed.number_of_pulls

    @generic
    def act(model: Any, first: int, end: int) -> None:
        held, pulls, known = scratch(9, 8), scratch(1024, 8), scratch(128, 8)
        forms, rows = scratch(8, 16), lanes_scratch(384)
        e = first
        while e < end:  # as many as there is room for
            count, listed_rows, most = 0, 0, 0
            for form in range(FORMS):
                store(forms, form, WAITING, 0.0)
            while e < end:
                if model.force_enabled[e] == 1:
                    most += number_of_pulls(model, model.force_first_integer[e] + HEAD)
                    if count == MOST or (most > MOST_PULLS and count > 0):
                        break
                    store(known, count, ELEMENT, 1.0 * e)
                    listed_rows = wait(model, known, pulls, forms, rows, count, listed_rows)
                    count += 1
                e += 1
            for form in range(FORMS):
                listed_rows = go(model, known, pulls, forms, rows, form, listed_rows)
            contract_all(model, held, pulls, known, count)

    return act


def _ways(listed: Any, before: int) -> tuple[Any, Any]:
    """Functions that let a path go its way, or wait for others of its form; and that let those of a form go."""
    length, list_pulls, path_form = listed.length, listed.list_pulls, listed.path_form
    put_path, leave_out, go_beside, length_beside = listed.put_beside, listed.leave_out, listed.go_beside, listed.length_beside

    @generic
    def note(model: Any, known: Any, pulls: Any, k: int, own_length: Any, rows: Any, lane: int, end: int) -> int:
        e = int(load(known, k, ELEMENT))
        ratio = number(model, model.force_first_number[e] + before)
        store(known, k, ITS_LENGTH, ratio * own_length)
        store(known, k, ITS_FIRST, 1.0 * end)
        speed, end = list_pulls(model, model.force_first_integer[e] + HEAD, rows, lane, pulls, end)
        store(known, k, ITS_SPEED, ratio * speed)
        store(known, k, ITS_END, 1.0 * end)
        return end

    @generic
    def go_alone(model: Any, known: Any, pulls: Any, k: int, end: int) -> int:
        e = int(load(known, k, ELEMENT))
        own_length = length(model, model.force_first_integer[e] + HEAD, model.force_first_number[e] + before + 1)
        return note(model, known, pulls, k, own_length, model.function_value, 0, end)

    @generic
    def integers_of(model: Any, known: Any, forms: Any, form: int, place: int) -> int:
        k = int(load(forms, form, MEMBERS + place))
        return model.force_first_integer[int(load(known, k, ELEMENT))] + HEAD

    @generic
    def go(model: Any, known: Any, pulls: Any, forms: Any, rows: Any, form: int, end: int) -> int:
        count = int(load(forms, form, WAITING))
        store(forms, form, WAITING, 0.0)
        if count == 1:
            end = go_alone(model, known, pulls, int(load(forms, form, MEMBERS)), end)
        elif count > 1:
            for lane in range(EIGHT):
                if lane < count:
                    put_path(model, integers_of(model, known, forms, form, lane), rows, lane)
                else:
                    leave_out(rows, lane)
            go_beside(model, integers_of(model, known, forms, form, 0), rows)
            for lane in range(count):
                own_length = length_beside(rows, lane)
                end = note(model, known, pulls, int(load(forms, form, MEMBERS + lane)), own_length, rows, lane, end)
        return end

    @generic
    def wait(model: Any, known: Any, pulls: Any, forms: Any, rows: Any, k: int, end: int) -> int:
        own = path_form(model, model.force_first_integer[int(load(known, k, ELEMENT))] + HEAD)
        if own == 0:
            return go_alone(model, known, pulls, k, end)
        form = own % FORMS  # where there is neither its form nor room, that of this place goes
        for other in range(FORMS):
            if load(forms, other, WAITING) > 0.0 and load(forms, other, WHICH) == 1.0 * own:
                form = other
                break
            if load(forms, other, WAITING) == 0.0:
                form = other
        if load(forms, form, WAITING) == EIGHT or load(forms, form, WHICH) != 1.0 * own:
            end = go(model, known, pulls, forms, rows, form, end)
        place = int(load(forms, form, WAITING))
        store(forms, form, WHICH, 1.0 * own)
        store(forms, form, MEMBERS + place, 1.0 * k)
        store(forms, form, WAITING, place + 1.0)
        return end

    return wait, go


def _contractions(functions: Any, pull_listed: Any) -> Callable[..., None]:
    """The function that lets the muscles contract whose paths are known."""
    contract, activation_rate, before = functions.contract, functions.activation_rate, functions.num_numbers
    contract_one = one_apart(functions.contract)

    def contract_eight(model: Any, held: Any, i: int) -> None:
        numbers = RowsBeside(model.force_numbers, row_beside(held, NUMBERS))
        beside = Beside(numbers, model.force_integers, RowsBeside(model.z, row_beside(held, VARIABLES)))
        a, lengths, rates = row_beside(held, ACTIVATION), row_beside(held, LENGTH), row_beside(held, SPEED)
        found = contract(beside, i, 0, 0, a, lengths, rates)
        put_beside(held, TENSION, found[3])
        put_beside(held, RATE, found[8])

    apart(_named(contract_eight, contract))

    @generic
    def let_act(model: Any, held: Any, pulls: Any, count: int, i: int) -> None:
        if count == 1:
            x, z = int(load(held, NUMBERS, 0)), int(load(held, VARIABLES, 0))
            a, one_length, rate = load(held, ACTIVATION, 0), load(held, LENGTH, 0), load(held, SPEED, 0)
            found = contract_one(model, i, x, z, a, one_length, rate)
            store(held, TENSION, 0, found[3])
            store(held, RATE, 0, found[8])
        else:
            for k in range(count, EIGHT):  # lanes without a muscle do what the first does
                for row in range(FIRST):
                    store(held, row, k, load(held, row, 0))
            contract_eight(model, held, i)
        for k in range(count):
            x, z = int(load(held, NUMBERS, k)), int(load(held, VARIABLES, k))
            tension = number(model, x + before) * load(held, TENSION, k)
            pull_listed(model, pulls, int(load(held, FIRST, k)), int(load(held, END, k)), tension)
            if model.force_integers[i + STRETCHES] != 0:
                store(model.z_dot, z + model.force_integers[i + ACTIVATES], 0, load(held, RATE, k))

    @generic
    def take(model: Any, held: Any, known: Any, k: int, count: int) -> None:
        e = int(load(known, k, ELEMENT))
        i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
        store(held, LENGTH, count, load(known, k, ITS_LENGTH))
        store(held, SPEED, count, load(known, k, ITS_SPEED))
        store(held, ACTIVATION, count, activation(model, i, x, z))
        store(held, NUMBERS, count, 1.0 * x)
        store(held, VARIABLES, count, 1.0 * z)
        store(held, FIRST, count, load(known, k, ITS_FIRST))
        store(held, END, count, load(known, k, ITS_END))
        if model.force_integers[i + ACTIVATES] != 0:
            store(model.z_dot, z, 0, activation_rate(model, i, x, z))

    @generic
    def contract_all(model: Any, held: Any, pulls: Any, known: Any, end: int) -> None:
        for stretches in range(2):
            count, of_first = 0, 0
            for k in range(end):
                i = model.force_first_integer[int(load(known, k, ELEMENT))]
                if model.force_integers[i + STRETCHES] == stretches:
                    if count == EIGHT or (count > 0 and not is_alike(model, i, of_first)):
                        let_act(model, held, pulls, count, of_first)
                        count = 0
                    if count == 0:
                        of_first = i
                    take(model, held, known, k, count)
                    count += 1
            if count > 0:
                let_act(model, held, pulls, count, of_first)

    return contract_all


@generic
def is_alike(model: Any, i: int, k: int) -> bool:
    """True if two muscles, whose integers begin there, have one form."""
    integers = model.force_integers
    return integers[i + CHOICE] == integers[k + CHOICE] and integers[i + ACTIVATES] == integers[k + ACTIVATES]
