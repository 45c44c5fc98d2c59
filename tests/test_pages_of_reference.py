"""The reference is complete: each public name belongs to one task, each kind has its entry."""

import re
import tomllib
from collections import Counter

import pytest

import mobod as mb
from mobod.value.attributes import _declared
from pages import DOCS, text_of

TASKS = tomllib.loads((DOCS / "reference" / "tasks.toml").read_text())["task"]


def test_each_public_name_is_in_one_task():
    count = Counter(name for task in TASKS for name in task["names"])
    assert [name for name, n in count.items() if n > 1] == []
    assert sorted(count) == sorted(set(mb.__all__) - {"__version__"}), "docs/reference/tasks.toml"


def test_each_class_of_errors_has_its_remedy():
    page = text_of("errors.md")
    from mobod import errors

    named = [name for name in vars(errors) if name.endswith("Error") and name != "CommandError"]
    assert len(named) >= 4 and [name for name in named if f"`{name}`" not in page] == []


#: What the tables of correspondence call things.
OBJECTS = {
    "matter": mb.SimbodyMatterSubsystem,
    "system": mb.MultibodySystem,
    "body": mb.MobilizedBody,
    "state": mb.State,
    "stepper": mb.TimeStepper,
    "trajectory": mb.Trajectory,
    "model": mb.Model,
}


@pytest.mark.parametrize("name", ["from_simbody.md", "from_mujoco.md", "from_pinocchio.md", "from_opensim.md"])
def test_the_names_beside_those_of_a_peer_exist(name):
    rows = [line.split("|") for line in text_of(name).splitlines() if line.startswith("| ")][2:]
    named = [
        word
        for row in rows
        for word in re.findall(r"`((?:mb|matter|system|body|state|stepper|trajectory|model)\.[\w.]+)`", row[2])
    ]
    assert len(named) > 25
    for word in named:
        first, *rest = word.split(".")
        if first == "mb":
            one = mb
            for attribute in rest:
                one = getattr(one, attribute)
        else:
            kind, (attribute,) = OBJECTS[first], rest
            assert hasattr(kind, attribute) or attribute in _declared(kind), word
