"""The name of compiled code: a hash of all that a kernel reaches, and nothing else. Hashes only, nothing is compiled here."""

import enum
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

import mobod
from mobod.compiling.fingerprint import fingerprint

PACKAGE = Path(mobod.__file__).parent
#: Prints what all code depends on; with an argument, fingerprints of all kernels and routines of some rooms, too.
PRINTS = """
import importlib, json, pkgutil, sys
import mobod, mobod.tree.tree
from mobod.compiling import Kernel, Routine, engine
from mobod.compiling.fingerprint import environment, fingerprint
for module in pkgutil.walk_packages(mobod.__path__, "mobod.") if sys.argv[1:] else ():
    if module.name.partition(".")[2] in ("algebra", "constraint", "force", "integrator", "mobilizer", "motion", "tree") or any(
        f".{room}." in module.name for room in ("constraint", "force", "integrator", "mobilizer", "motion", "tree")
    ):
        importlib.import_module(module.name)
engine.numba()
prints = {"environment": environment()}
for name, module in sorted(sys.modules.items()) if sys.argv[1:] else ():
    classes = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == name]
    for owner in (module, *classes) if name.startswith("mobod.") else ():
        for key, value in vars(owner).items():
            if isinstance(value, (Kernel, Routine)):
                prints[f"{name.removeprefix('mobod.')}.{key}"] = fingerprint(value.python)
print(json.dumps(prints))
"""


def prints_of(package, *asked):
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", PRINTS, *asked], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    at = tmp_path_factory.mktemp("copy") / "mobod"
    return Path(shutil.copytree(PACKAGE, at))


@pytest.fixture(scope="module")
def before(package):
    prints = prints_of(package, "kernels")
    assert len(prints) > 100
    return prints


@pytest.fixture
def edited(package):
    """The output after some edits, which are taken back."""
    originals = {}

    def by(*edits, asked=("kernels",)):
        for file, old, new in edits:
            path = package / file
            text = path.read_text()
            originals.setdefault(path, text)
            assert old in text, (file, old)
            path.write_text(text.replace(old, new, 1))
        return prints_of(package, *asked)

    yield by
    for path, text in originals.items():
        path.write_text(text)


@pytest.fixture
def changed(edited, before):
    """The names of which edits change the fingerprint."""

    def by(*edits):
        after = edited(*edits)
        assert after.keys() == before.keys()
        return {name for name in before if after[name] != before[name]}

    return by


def test_words_and_accessors_change_nothing(changed):
    assert not changed(
        ("algebra/quaternion.py", '"""q / |q|."""', '"""In other words."""\n    # and a comment'),
        ("algebra/quaternion.py", "def normalize(q: Any) -> Any:", "def normalize(q: tuple) -> tuple:"),
        ("algebra/lanes.py", '"""Eight float64."""', '"""Eight numbers."""\n    # side by side'),
        ("mobilizer/pin.py", "    get_rate, ", "    def unused(self): ...\n\n    get_rate, "),
        ("tree/velocity.py", "@generic\ndef step(", "# the book's\n@generic\ndef step("),
        ("state/fields.py", '"mass of each particle"', '"its mass"'),
        ("compiling/engine.py", '"""Make *function* callable from compiled code, inlined."""', '"""Inlined."""'),
    )


def test_a_kernel_changes_what_reaches_it_and_nothing_else(changed):
    text = (PACKAGE / "constraint" / "rod.py").read_text()
    first = next(line for line in text.split("@generic\n", 1)[1].splitlines() if line.startswith("    ") and " * " in line)
    names = changed(
        ("constraint/ball.py", "@generic\ndef ", "@generic\ndef unused(x):\n    return x\n\n\n@generic\ndef "),
        ("constraint/rod.py", first, first.replace(" * ", " * 2.0 * ", 1)),
    )
    assert {tuple(name.split(".")[:2]) for name in names} == {("constraint", "rod")}, "and no function that nothing calls"


def test_an_edit_anywhere_that_is_reached_changes_the_fingerprint(changed):
    names = changed(
        ("algebra/quaternion.py", "s = 1.0 / sqrt(", "s = 2.0 / sqrt("),  # called by functions in other files
        (
            "stepping/evaluate.py",
            "return of_status(call_routine(plan[rk.ROUTINE], model, 0, KINEMATICS | plan[rk.WANTED] & UNCHECKED))",
            "return 0.0",
        ),
    )
    assert {"tree.rates.normalize_quaternions", "stepping.evaluate.normalize"} <= names, "over several calls"
    assert any("semi_explicit" in name or "verlet" in name for name in names), "a compiled form in place of an interpreted one"
    assert "tree.mass_matrix.multiply_by_m" not in names and "environment" not in names


def test_constants_and_closures_count_by_value(changed):
    assert "stepping.loop.advance" in changed(
        ("stepping/evaluate.py", "ALWAYS, FULL_NEWTON = 1, 2", "ALWAYS, FULL_NEWTON = 4, 2")
    )


@pytest.mark.parametrize(
    "classes",
    [
        (namedtuple("Pair", "a b"), namedtuple("Pair", "b a")),
        (namedtuple("Pair", "a b")(1.0, 2.0), namedtuple("Pair", "b a")(1.0, 2.0)),
        (namedtuple("Pair", "a b", defaults=[1.0]), namedtuple("Pair", "a b", defaults=[2.0])),
        (enum.IntEnum("Kind", {"A": 1}), enum.IntEnum("Kind", {"A": 2})),
    ],
)
def test_classes_count_by_what_numba_compiles_of_them(classes):
    def of(x):
        return fingerprint(lambda: x)

    assert of(classes[0]) != of(classes[1])


EXHAUSTIVE = pytest.mark.exhaustive


@pytest.mark.parametrize(
    "file, old, new",
    [
        pytest.param(
            "state/fields.py", "    mass = ", '    heft = parameter("nb", 1, "another")\n    mass = ', id="a field more"
        ),
        pytest.param("algebra/lanes.py", "k * 1.5707963267341256", "k * 1.5707", id="a primitive"),
        pytest.param("compiling/engine.py", '"error_model": "numpy"', '"error_model": "python"', id="an option"),
        pytest.param(
            "state/fields.py", 'com = parameter("nb", 3', 'com = parameter("nb", 4', id="a longer row", marks=EXHAUSTIVE
        ),
        pytest.param(
            "algebra/compiled_record.py",
            "number(WIDTH * typ.columns), None, 64",
            "number(WIDTH * typ.columns), None, 8",
            id="how numbers lie",
            marks=EXHAUSTIVE,
        ),
    ],
)
def test_what_everything_depends_on_changes_the_environment(package, edited, file, old, new):
    if not SAME:
        SAME.update(prints_of(package))
    assert edited((file, old, new), asked=()) != SAME


SAME = {}
