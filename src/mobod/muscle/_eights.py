"""Muscles of one state, eight at a time: their curves take long, and what a vector does with eight costs little more than one.

Paths come one after the other, each with the length, its rate and a list of what a unit of tension does; when there are eight
muscles of one form, `Functions.contract` gives the forces of all as lanes, and the lists are gone through. Muscles of another
form, whose first integers differ, begin eight of their own; those with rigid tendons come first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ..algebra.beside import RowsBeside, put_beside, row_beside
from ..algebra.scalar import load, scratch, store
from ..compiling import apart, generic
from ..force.pools import number
from ..force.transmission.path import MOST_PULLS, pull_listed
from ._fiber import ACTIVATES, CHOICE, HEAD, STRETCHES, activation

#: Rows of what is known of each muscle: length and rate of its path, activation, tension, the rate of its second z, where its
#: numbers and its z begin, the first row of its list and the one behind the last.
LENGTH, SPEED, ACTIVATION, TENSION, RATE, NUMBERS, VARIABLES, FIRST, END = range(9)
EIGHT = 8


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
    contract, activation_rate, before = functions.contract, functions.activation_rate, functions.num_numbers
    (length, number_of_pulls, list_pulls), contract_one = listed, one_apart(functions.contract)

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
    def take(model: Any, held: Any, pulls: Any, e: int, count: int, listed: int) -> int:
        i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
        ratio = number(model, x + before)
        store(held, LENGTH, count, ratio * length(model, i + HEAD, x + before + 1))
        speed, end = list_pulls(model, i + HEAD, pulls, listed)
        store(held, SPEED, count, ratio * speed)
        store(held, ACTIVATION, count, activation(model, i, x, z))
        store(held, NUMBERS, count, 1.0 * x)
        store(held, VARIABLES, count, 1.0 * z)
        store(held, FIRST, count, 1.0 * listed)
        store(held, END, count, 1.0 * end)
        if model.force_integers[i + ACTIVATES] != 0:
            store(model.z_dot, z, 0, activation_rate(model, i, x, z))
        return end

    @generic
    def act(model: Any, first: int, end: int) -> None:
        held, pulls = scratch(9, 8), scratch(1024, 8)
        for stretches in range(2):
            count, listed, of_first = 0, 0, 0
            for e in range(first, end):
                i = model.force_first_integer[e]
                if model.force_enabled[e] == 1 and model.force_integers[i + STRETCHES] == stretches:
                    same = count > 0 and is_alike(model, i, of_first)
                    if count == EIGHT or (count > 0 and not same) or listed + number_of_pulls(model, i + HEAD) > MOST_PULLS:
                        let_act(model, held, pulls, count, of_first)
                        count, listed = 0, 0
                    if count == 0:
                        of_first = i
                    listed = take(model, held, pulls, e, count, listed)
                    count += 1
            if count > 0:
                let_act(model, held, pulls, count, of_first)

    return act


@generic
def is_alike(model: Any, i: int, k: int) -> bool:
    """True if two muscles, whose integers begin there, have one form."""
    integers = model.force_integers
    return integers[i + CHOICE] == integers[k + CHOICE] and integers[i + ACTIVATES] == integers[k + ACTIVATES]
