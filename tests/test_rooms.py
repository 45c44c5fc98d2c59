"""The package's rooms: what lies in its root, what each is for, and in which order they stand.

That imports point down that order is `lint-imports`'s to check; the order itself is the list of layers in pyproject.toml.
"""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest

import mobod

PACKAGE = Path(mobod.__file__).parent
PROJECT = Path(__file__).parent.parent
CONTRACT = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
#: Lowest first. One in parentheses may be absent.
LAYERS = [layer for layer in reversed(CONTRACT["layers"]) if not layer.startswith("(")]
#: Rooms that are one file, and what is no room.
FILES = {"__init__", "__main__", "_garbage", "_version", "body", "casadi", "errors", "jax", "torch"}


def test_the_root_holds_rooms_and_few_files():
    files = {path.stem for path in PACKAGE.glob("*.py")}
    assert files == FILES, "a new file belongs in a room, see CONTRIBUTING.md, Where things are"


def test_each_room_is_a_layer_and_each_layer_a_room():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms | FILES - {"__init__", *CONTRACT["exhaustive_ignores"]} == set(LAYERS), "[tool.importlinter] in pyproject.toml"


@pytest.mark.parametrize("room", LAYERS)
def test_each_room_says_what_it_is_for(room):
    doc = importlib.import_module(f"mobod.{room}").__doc__
    assert doc and len(doc.splitlines()[0]) > 30, f"the docstring of mobod.{room}"


def test_annotations_point_up_through_one_file_that_is_never_run():
    """All of its imports stand under ``if TYPE_CHECKING``, and the contract's exceptions are just these."""
    tree = ast.parse((PACKAGE / "value/annotations.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    inside = {f"mobod.{node.module}" for node in ast.walk(block) if isinstance(node, ast.ImportFrom)}
    others = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    assert not others
    excepted = {line.split(" -> ")[1] for line in CONTRACT["ignore_imports"] if line.startswith("mobod.value.annotations ")}
    assert inside == excepted


def test_the_list_of_rooms_in_contributing_is_the_list_of_layers():
    text = (PROJECT / "CONTRIBUTING.md").read_text()
    listed = re.findall(
        r"^    (?:  )?(\w+)(?:\.py|/) ", text.split("## Where things are")[1].split("\n## ")[0], flags=re.MULTILINE
    )
    assert listed == LAYERS


#: Where a function imports what imports its own module, and why that is right: a reader of either has to know the other.
RINGS = {
    "force.base": "its values are computed by the dispatch, which knows gravity, which is a force",
    "function.users": "a user's function may call the package's, which kernels know by their routines",
    "importer.model": "a model is handed to what writes it",
    "measure.base": "sums and multiples of measures are measures",
}


FOR_ANNOTATIONS = re.compile(r"^if TYPE_CHECKING:\n(?:(?: .*)?\n)*", flags=re.MULTILINE)
IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (\([^)]*\)|[^\n#]*)", flags=re.MULTILINE)


def imports_of(file):
    """The package's modules that a file imports when it is loaded or run, not for annotations alone."""
    inside, found = ("mobod", *file.relative_to(PACKAGE).parts[:-1]), set()
    for dots, module, names in IMPORT.findall(FOR_ANNOTATIONS.sub("", file.read_text())):
        base = ".".join([*inside[: len(inside) - len(dots) + 1], *filter(None, [module])])
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names)):
            found.add(f"{base}.{name}" if f"{base}.{name}" in MODULES else base)
    return found


MODULES = {
    ".".join(("mobod", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def test_no_modules_import_each_other_in_a_ring():
    """But those of `RINGS`, each of which is needed: without its module there is no ring."""
    graph = {name: imports_of(path) - {name} for name, path in MODULES.items()}

    def find_rings(left_out):
        """Modules that are left when those that import nothing left, or are imported by nothing left, go one by one."""
        left = {name: imported for name, imported in graph.items() if not any(f"mobod.{one}" in name for one in left_out)}
        while True:
            imported = set().union(*left.values())
            kept = {name: used & left.keys() for name, used in left.items() if used & left.keys() and name in imported}
            if kept == left:
                return sorted(left)
            left = kept

    assert not find_rings(RINGS), "import less, or move what both need into a file of its own"
    for one in RINGS:
        assert find_rings(RINGS.keys() - {one}), f"{one} is in no ring any more"


def test_no_docstring_is_a_question():
    """A function is its result, a class its objects, and says so."""
    found = []
    for name, path in MODULES.items():
        for line in re.findall(r'^ *(?:r?""")((?:What|How|Whether)\b.*)', path.read_text(), flags=re.MULTILINE):
            found.append(f"{name}: {line}")
    assert not found, "say the thing: The bias of aerr; True if it is enabled"


def test_no_room_imports_a_private_name_of_another():
    """A name with an underscore, of a module or in one, is the room's own; what others use of it has none."""
    found = []
    for name, path in MODULES.items():
        inside = ("mobod", *path.relative_to(PACKAGE).parts[:-1])
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*inside[: len(inside) - node.level + 1], *filter(None, (node.module or "").split("."))]
                for alias in node.names:
                    _, room, *inner = [*base, alias.name]
                    if room != [*name.split("."), ""][1] and any(re.match("_(?!_)", one) for one in inner):
                        found.append(f"{name}: {room}.{'.'.join(inner)}")
    assert not found
