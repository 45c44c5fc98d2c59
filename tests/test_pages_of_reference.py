"""The reference is complete: each public name belongs to one task, each kind has its entry."""

import inspect
import re
import tomllib
from collections import Counter
from types import ModuleType

import pytest

import mobod as mb
from mobod.value.attributes import _declared, inner_names
from pages import DOCS, text_of

TASKS = tomllib.loads((DOCS / "reference" / "tasks.toml").read_text())["task"]

#: What makes the pictures of kinds that have none.
PICTURES = "python docs/mobilizers.py; or a scene in docs/constraints.py, and python docs/constraints.py KIND"


def test_each_public_name_is_in_one_task():
    count = Counter(name for task in TASKS for name in task["names"])
    assert [name for name, n in count.items() if n > 1] == []
    assert sorted(count) == sorted(set(mb.__all__) - {"__version__"}), "docs/reference/tasks.toml"


def test_each_mobilizer_has_a_picture():
    kinds = {kind.__name__ for kind in mb.mobilizer.KINDS}
    assert {name for name in kinds if not (DOCS / "images" / "mobilizers" / f"{name}.png").exists()} == set(), PICTURES


def test_each_constraint_has_a_picture():
    kinds = {name for name in mb.constraint.__all__ if name[0].isupper()} - {
        "Custom",
        "CustomImplementation",
        "CompiledFunctions",
    }
    assert {name for name in kinds if not (DOCS / "images" / "constraints" / f"{name}.png").exists()} == set(), PICTURES
    assert {name for name in kinds if f"images/constraints/{name}.png" not in text_of("constraints.md")} == set()


def test_each_class_of_errors_has_its_remedy():
    page = text_of("errors.md")
    from mobod import errors

    named = [name for name in vars(errors) if name.endswith("Error") and name != "CommandError"]
    assert len(named) >= 4 and [name for name in named if f"`{name}`" not in page] == []


@pytest.mark.parametrize("page", sorted(path.name for path in (DOCS / "explanation").glob("*.md") if path.name != "index.md"))
def test_the_files_that_an_explanation_names_exist(page):
    root, package = DOCS.parent, DOCS.parent / "src" / "mobod"
    named = re.findall(r"`([\w/]+\.(?:py|md|toml))`", text_of(page))
    found = {name for name in named for folder in (root, package, DOCS) if (folder / name).exists()}
    found |= {name for name in named if "/" not in name and [*package.rglob(name), *(root / "tests").rglob(name)]}
    assert sorted(set(named) - found) == []


def test_the_fields_that_the_symbols_stand_for_exist():
    from mobod.state import fields

    declared = set(re.findall(r"^    (\w+) = ", inspect.getsource(fields), flags=re.MULTILINE))
    table = text_of("algorithms.md").partition("## Symbols")[2].partition("## Realization")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| $")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 12 and sorted(named - declared) == []


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


# ---------------------------------------------------------------------------------------------- examples

OPERATOR = re.compile(r"(calc|multiply_by|find|solve|project|express)_")
#: Of subsystems: what their authors write.
HOOKS = {"calc_event_trigger_info", "calc_time_of_next_scheduled_event", "calc_time_of_next_scheduled_report"}
HOOKS |= {"find_acting_measures"}


def public():
    """All classes and functions that users import, by name."""
    found = {}
    for name in mb.__all__:
        one = getattr(mb, name)
        names = getattr(one, "__all__", ()) if isinstance(one, ModuleType) and name != "examples" else ()
        for inner, thing in [(name, one), *((n, getattr(one, n)) for n in names)]:
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("mobod"):
                found.setdefault(thing, inner)
    return found


def test_each_public_class_and_function_has_an_example():
    assert sorted(one.__name__ for one in public() if ">>>" not in (one.__doc__ or "")) == []


@pytest.mark.parametrize(
    "kind", [mb.SimbodyMatterSubsystem, mb.MultibodySystem, mb.MobilizedBody, mb.Constraint, mb.Force, mb.Ensemble]
)
def test_each_operator_has_an_example(kind):
    operators = [name for name in dir(kind) if OPERATOR.match(name) and name not in inner_names(kind) | HOOKS]
    assert [name for name in operators if ">>>" not in (getattr(kind, name).__doc__ or "")] == []
