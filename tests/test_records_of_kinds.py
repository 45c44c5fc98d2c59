"""What a new kind forgets is named here: its record in ``tests/kinds/``, a field of that, its row in ``docs/``.

The record's fields then bring it into all shared tests, its reference case among them.
"""

import inspect
from pathlib import Path

import pytest

import mobod as mb
from kinds.constraints import CONSTRAINTS, SIMBODY
from kinds.forces import FORCES
from kinds.functions import FUNCTIONS
from kinds.integrators import INTEGRATORS
from kinds.mobilizers import MOBILIZERS
from pages import text_of

#: What users derive from, or give their own code to, has tests of its own.
USERS_OWN = {"Custom", "FunctionBased", "ForEach", "Ground", "ParticleField", "ParticlePairs"}
RECORDS = {
    "mobilizer": MOBILIZERS,
    "force": FORCES,
    "constraint": CONSTRAINTS,
    "function": FUNCTIONS,
    "integrator": INTEGRATORS,
}
#: The page with a row, or a sentence, for each kind of a family.
PAGES = {
    "mobilizer": "conventions.md",
    "force": "forces.md",
    "constraint": "constraints.md",
    "function": "functions.md",
    "motion": "custom_motions.md",
    "measure": "measures.md",
    "integrator": "integrators.md",
}
BASES = {
    "mobilizer": mb.MobilizedBody,
    "force": mb.Force,
    "constraint": mb.Constraint,
    "function": mb.Function,
    "motion": mb.Motion,
    "measure": mb.Measure,
    "integrator": mb.Integrator,
}


def kinds(family):
    """All kinds that a room exports, each by the name of its class."""
    exported = [getattr(getattr(mb, family), name) for name in getattr(mb, family).__all__]
    base = BASES[family]
    found = [c for c in exported if inspect.isclass(c) and issubclass(c, base) and c is not base]
    return list(dict.fromkeys(found))


def each(families):
    return [pytest.param(f, kind, id=f"{f}-{kind.__name__}") for f in families for kind in kinds(f)]


@pytest.mark.parametrize(("family", "kind"), [p for p in each(RECORDS) if p.values[1].__name__ not in USERS_OWN])
def test_each_kind_has_a_record(family, kind):
    assert kind in RECORDS[family], RECORDS[family].forgotten(kind)


@pytest.mark.parametrize("family", ["mobilizer", "force", "function"])
def test_each_record_is_of_a_kind_that_its_room_exports(family):
    expected = {kind for kind in kinds(family) if kind.__name__ not in USERS_OWN}
    assert expected == set(RECORDS[family])
    assert family != "mobilizer" or set(mb.mobilizer.KINDS) == expected, "KINDS in mobod/mobilizer/__init__.py"


@pytest.mark.parametrize(("family", "kind"), [p for p in each(PAGES) if p.values[1] is not mb.mobilizer.Ground])
def test_each_kind_is_in_the_documents(family, kind):
    text = text_of(PAGES[family])
    assert is_in(text, family, kind), f"{PAGES[family]} has no row for `{kind.__name__}`: python docs/rows.py writes one"


def is_in(text, family, kind):
    """True if a page names a kind as code."""
    return any(name in text for name in (f"`{kind.__name__}`", f"`{family}.{kind.__name__}`", f"`{kind.__name__}("))


# ---------------------------------------------------------------------------------------------- fields left empty


def named(kind, base, prefix, *parameters):
    """The names after a prefix of the methods that a kind has beside its base's, which take just these, and then a value."""
    own = {name for c in kind.__mro__ if c not in base.__mro__ for name in vars(c) if name.startswith(prefix)}
    found = set()
    for name in own:
        taken = list(inspect.signature(getattr(kind, name)).parameters)[1:]
        if len(taken) == len(parameters) + 1 and taken[: len(parameters)] == list(parameters):
            found.add(name.removeprefix(prefix))
    return found


def set_in_states(kind, base):
    """The parameters that a state can have of its own, both got and set."""
    return {name for name in named(kind, base, "set_", "state") if hasattr(kind, f"get_{name}")}


def set_in_defaults(kind, base):
    """The parameters that systems start states with, both got and set."""
    return {name for name in named(kind, base, "set_default_") if hasattr(kind, f"get_default_{name}")}


def forgotten(record, fields, names, given):
    """Say which names are missing in, or too many for, some fields of a record."""
    file = f"tests/kinds/{record.kind.__module__.split('.')[1]}s.py"
    return f"the record of {record.kind.__name__} in {file}, {fields}: missing {names - given}, unknown {given - names}"


each_mobilizer = pytest.mark.parametrize("record", MOBILIZERS.values(), ids=lambda r: r.kind.__name__)
each_force = pytest.mark.parametrize("record", FORCES.values(), ids=lambda r: r.kind.__name__)
each_constraint = pytest.mark.parametrize("record", CONSTRAINTS.values(), ids=lambda r: r.kind.__name__)


@each_mobilizer
def test_a_mobilizers_record_is_whole(record, rng):
    kind = record.kind
    names, given = set_in_states(kind, mb.MobilizedBody), set(record.accessors)
    assert names == given, forgotten(record, "accessors", names, given)
    common = set(inspect.signature(mb.MobilizedBody).parameters)
    names, given = set(inspect.signature(kind).parameters) - common, set(record.settings(rng))
    assert names == given, forgotten(record, "settings", names, given)
    names, given = names & set_in_states(kind, mb.MobilizedBody), set(record.changeable)
    assert names == given, forgotten(record, "changeable", names, given)
    assert kind.facts.has_quaternion == record.quaternion
    if "singularity" in vars(kind):
        assert record.singular, forgotten(record, "singular", {"where its columns are dependent"}, set())


@each_force
def test_a_forces_record_is_whole(record):
    names = set_in_defaults(record.kind, mb.Force) & set_in_states(record.kind, mb.Force)
    given = set(record.parameters)
    apart = {name for name in record.apart if hasattr(record.kind, f"set_default_{name}")}
    assert names - apart == given, forgotten(record, "parameters or apart", names - apart, given)
    assert apart == set(record.apart) and all((Path(__file__).parent / f"force/{f}.py").exists() for f in record.apart.values())
    defaults = {name.removeprefix("set_default_") for name in vars(record.kind) if name.startswith("set_default_")}
    assert defaults <= given | apart, forgotten(record, "apart", defaults, given | apart)
    assert record.elements and len(record.reference) > 10


@each_constraint
def test_a_constraints_record_is_whole(record):
    kind = record.kind
    in_defaults, in_states = set_in_defaults(kind, mb.Constraint), set_in_states(kind, mb.Constraint)
    shown = {name for name in named(kind, mb.Constraint, "set_") if hasattr(kind, f"get_{name}")}
    names, given = in_defaults & in_states, set(record.parameters)
    assert names == given, forgotten(record, "parameters", names, given)
    names, given = {n for n in in_defaults - in_states if f"default_{n}" not in record.display_sizes}, set(record.defaults)
    assert names == given, forgotten(record, "defaults or display_sizes", names, given)
    names = {n for n in shown if not n.startswith("default_") or n in record.display_sizes}
    assert names == set(record.display_sizes), forgotten(record, "display_sizes", names, set(record.display_sizes))
    assert bool(record.of_bodies) != bool(record.of_coordinates), forgotten(record, "of_bodies", {"a way to build it"}, set())
    assert not record.of_bodies or "" in record.of_bodies
    assert record.reference is SIMBODY or len(record.reference) > 10


def test_a_kind_without_a_record_is_told_what_to_do():
    """By whatever test asks for it; and a field that is left out by the record's own constructor."""

    class Hinge(mb.mobilizer.Pin):
        pass

    with pytest.raises(LookupError, match=r"Hinge has no record: add Mobilizer\(kind=.*to tests/kinds/mobilizers.py"):
        MOBILIZERS[Hinge]
    with pytest.raises(TypeError, match="'singular'"):
        MOBILIZERS.form(
            kind=Hinge,
            settings=dict,
            accessors={},
            changeable={},
            start=mb.Transform(),
            quaternion=False,
            reversal=None,
            reference="none",
        )
