"""Names without underscore are users' or rooms': each is in one of two lists, users are shown theirs, examples use no others.

Users' are in ``names_for_users.txt``; rooms' in the classes' INNER, and on the page ``docs/explanation/inner_interface.md``.
"""

import ast
import configparser
import re
from pathlib import Path

import pytest

import mobod as mb
from mobod.value.attributes import _declared, inner_names
from pages import text_of

TESTS = Path(__file__).parent
PAGE = text_of("inner_interface.md")
LISTED = configparser.ConfigParser(allow_no_value=True, delimiters=("=",))
LISTED.optionxform = str
LIST = (TESTS / "names_for_users.txt").read_text()
LISTED.read_string(LIST)
USERS = {section: {name for line in LISTED[section] for name in line.split()} for section in LISTED.sections()}
CLASSES = [getattr(mb, name) for name in USERS]
each_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)


def names_of(kind):
    """All names without underscore that a class and its objects have."""
    slots = {name for one in kind.__mro__ for name in getattr(one, "__slots__", ())}
    return {name for name in {*dir(kind), *_declared(kind), *slots} if not name.startswith("_")}


def users_names(kind):
    """Of a class and its bases."""
    return set().union(*(USERS.get(one.__name__, ()) for one in kind.__mro__))


@each_class
def test_each_name_is_in_one_group_that_has_a_title(kind):
    section = LIST.partition(f"[{kind.__name__}]\n")[2].partition("\n[")[0]
    lines = [line for line in section.splitlines() if line]
    assert lines[0].startswith("#! ") and lines[1].startswith("# "), "what is shown first, and the title of the first group"
    listed = [name for line in lines if not line.startswith("#") for name in line.split()]
    assert sorted(set(listed)) == sorted(listed), "a name is in one group"
    first = lines[0][3:].split()
    assert len(first) <= 20 and set(first) <= set(listed)


@each_class
def test_each_name_is_users_or_rooms(kind):
    users, rooms = users_names(kind), inner_names(kind)
    where = f"tests/names_for_users.txt, or in INNER of {kind.__name__} and docs/explanation/inner_interface.md"
    assert not names_of(kind) - users - rooms, f"name these in {where}"
    assert not users & rooms, f"these are in both: {where}"
    assert not users - names_of(kind), f"these are gone: {where}"


@each_class
def test_the_page_has_a_line_for_each_inner_name(kind):
    own = vars(kind).get("INNER")
    assert own, f"{kind.__name__} has no INNER"
    section = re.search(rf"^## {kind.__name__}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| `(\w+)` \| .{4,} \|$", section.group(1), flags=re.MULTILINE)
    assert sorted(rows) == sorted(own), "docs/explanation/inner_interface.md"


def test_users_are_shown_their_names_only():
    system, state = mb.examples.double_pendulum.build()
    matter, pin = system.matter, system.matter.bodies[1]
    ensemble, force = mb.Ensemble(system, 1), system.all_forces()[0]
    for one in (state, system, matter, pin, force, ensemble, mb.integrator.RungeKuttaMerson(system)):
        shown = set(dir(one))
        assert not shown & inner_names(type(one))
        assert all(hasattr(one, name) for name in inner_names(type(one)) & {"record", "valid", "facts", "subsystems"})
    assert {"q", "u", "time", "copy", "u_dot", "__class__"} <= set(dir(state)) and "record" not in dir(state)
    assert {"get_angle", "index", "name"} <= set(dir(pin)) and "facts" not in dir(pin)


def test_what_was_meant_is_a_name_for_users():
    system, _ = mb.examples.double_pendulum.build()
    with pytest.raises(AttributeError) as caught:
        system.subsystem = 3
    assert "subsystems" not in str(caught.value)


def test_examples_and_the_readme_use_no_inner_name():
    # `mobod.control` is a room, `Integrator.control` what kernels are told of steps
    inner = set().union(*map(inner_names, CLASSES)) - set().union(*USERS.values()) - set(mb.__all__)
    package = Path(mb.__file__).parent
    codes = {path: path.read_text() for path in package.glob("examples/[a-z]*.py")}
    for page in (TESTS.parent / "README.md", *(TESTS.parent / "docs").rglob("*.md")):
        codes[page] = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
    inner -= {"accelerations", "attach", "block", "log", "tell"}  # of `Equations`, `Weld`, NumPy and CMA-ES, which pages use
    for path, code in codes.items():
        used = {node.attr for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
        assert not used & inner, path.name
