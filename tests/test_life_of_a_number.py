"""The pages life_of_a_number.md and algorithms.md: the example runs, the files exist, the tables of validity are true."""

import re
from pathlib import Path

import pytest

import mobod as mb
from mobod import Stage
from mobod.state import validity
from pages import run, text_of

ROOT = Path(__file__).parent.parent
LIFE = text_of("life_of_a_number.md")
BITS = ["POSITIONS", "VELOCITIES", "COMPOSITE", "ARTICULATED", "FORCES", "ACCELERATIONS", "KEPT_FORCES", "STORED_INERTIAS"]


def rows(word):
    """The rows of the table that has *word*: a call, its condition, and what it does to each bit."""
    for line in LIFE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and (word in cells[1:] or (word == "clears" and "REPORT" in cells[0])):
            call, condition = re.fullmatch(r"`(.*)`(?:, where (.*))?", cells[0]).groups()
            yield pytest.param(call, condition, dict(zip(BITS, cells[1:], strict=True)), id=cells[0])


def valid(state):
    return {name for name in BITS if state.valid & getattr(validity, name)}


@pytest.fixture
def names():
    """The names that the document's example defines."""
    names = run("life_of_a_number.md")
    names["Stage"], names["heavier"] = Stage, mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(1.0, 1.0, 1.0))
    return names


def tilted(names, condition):
    """The example as the condition of a row wants it."""
    if condition == "forces read z":
        mb.force.Thermostat(names["forces"], names["matter"], 1.0, 300.0, 1.0, num_excluded_dofs=0)
    elif condition == "constraints depend on time":
        mb.constraint.PrescribedMotion(names["matter"], mb.function.Sinusoid(0.1, 1.0, 0.0), names["other"], 0)
    else:
        assert condition is None
        return
    names["state"] = names["system"].realize_topology()


def test_the_example_says_what_the_documents_say(names):
    assert names["udot"].shape == (2,) and abs(names["pull"]) > 0.0


@pytest.mark.parametrize(("call", "condition", "cells"), list(rows("sets")))
def test_who_sets_a_bit(call, condition, cells, names):
    state = names["state"]
    state.q = state.q
    needed = {name for name in BITS if cells[name] == "needs"}
    assert needed <= {"POSITIONS"} and not valid(state)
    if needed:
        names["system"].realize(state, Stage.POSITION)
    exec(call, names)
    assert valid(state) == {name for name in BITS if cells[name]}


@pytest.mark.parametrize(("call", "condition", "cells"), list(rows("clears")))
def test_who_clears_a_bit(call, condition, cells, names):
    tilted(names, condition)
    state, matter = names["state"], names["matter"]
    names["system"].realize(state)
    matter.calc_m(state)
    matter.get_articulated_body_inertia(state, names["pin"])
    assert valid(state) == set(BITS)
    exec(call, names)
    assert valid(state) == {name for name in BITS if cells[name] != "clears"}


@pytest.mark.parametrize("document", ["algorithms.md", "life_of_a_number.md"])
def test_the_files_that_are_named_exist(document):
    text = text_of(document)
    paths = set(re.findall(r"`((?:\w+/)*\w+\.py)`", text))
    assert len(paths) > 10
    for path in paths:
        assert (ROOT / "src" / "mobod" / path).exists() or (ROOT / path).exists(), path


def test_the_fields_in_the_table_of_symbols_are_fields_of_the_record():
    from mobod.algebra.record import layout

    text = text_of("algorithms.md")
    table = text[text.index("| symbol |") : text.index("In the last row")]
    for line in table.strip().splitlines()[2:]:
        cells = line.split("|")
        for name in re.findall(r"`(\w+)`", cells[2]):
            assert name in layout.fields, name
