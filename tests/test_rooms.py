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
FILES = {"__init__", "__main__", "_version", "body", "casadi", "errors", "jax", "torch"}


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
