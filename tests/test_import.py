"""The cost of `import mobod`, and the names that users see."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mobod

COUNT = """
import json, sys
import numpy
before = set(sys.modules)
{}
after = set(sys.modules) - before
print(json.dumps([sum(name.partition(".")[0] == "mobod" for name in after), sorted(name for name in after if "." not in name)]))
"""
HEAVY = {"scipy", "numba", "llvmlite", "matplotlib", "h5py", "pandas", "yaml", "tqdm", "PIL"}


def imported(code):
    environment = {"PYTHONPATH": str(Path(mobod.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(code)], env=environment, capture_output=True, text=True, check=True
    )
    count, names = json.loads(done.stdout)
    return count, set(names)


def test_the_package_imports_next_to_nothing():
    count, names = imported("import mobod")
    assert count <= 3 and not names & HEAVY


def test_what_a_pendulum_is_made_of_is_imported_without_what_it_does_not_need():
    _, names = imported("import mobod; mobod.MultibodySystem, mobod.mobilizer.Pin, mobod.force.Gravity, mobod.simulate")
    assert not names & HEAVY


def test_users_see_what_is_theirs_and_no_more():
    code = "import mobod, mobod.simulation.simulate, mobod.tree.realize; assert dir(mobod) == sorted(mobod.__all__), dir(mobod)"
    imported(code)


def test_imports_are_not_looked_through_for_garbage_and_leave_the_collector_as_it_was():
    code = """
import gc
from mobod._garbage import not_collected
with not_collected():
    assert not gc.isenabled()
    made = [[] for _ in range(1000)]
assert gc.isenabled() and any(one is made[0] for one in gc.get_objects(generation=2)) and gc.get_freeze_count() == 0
gc.freeze()
frozen = gc.get_freeze_count()
gc.disable()
with not_collected():
    pass
assert not gc.isenabled()
gc.enable()
with not_collected():
    pass
assert gc.isenabled() and gc.get_freeze_count() == frozen
with not_collected():
    more = [[] for _ in range(1000)]
assert gc.isenabled() and gc.get_freeze_count() == frozen
"""
    imported(code)


@pytest.mark.exhaustive
def test_every_name_can_be_the_first_that_is_used():
    """Imports that need one another in a circle work or not, depending on where they begin: a name of each room begins.

    Without importing anything `lint-imports` finds circles of rooms, and `test_rooms` those within one.
    """
    code = """
import gc
import pytest

import mobod
gc.freeze()
gc.set_threshold(100_000, 20, 20)  # what is imported is many objects, nearly all of which live as long as their module
rooms = {mobod._MODULE_OF.get(name, name).partition(".")[0]: name for name in mobod.__all__}
for name in rooms.values():
    for module in [module for module in sys.modules if module.partition(".")[0] == "mobod"]:
        del sys.modules[module]
    import mobod
    assert getattr(mobod, name) is getattr(mobod, name), name
assert mobod.Mobod is mobod.MobilizedBody
"""
    imported(code)


def test_a_name_that_is_not_there_says_what_was_meant():
    try:
        _ = mobod.MultiBodySystem
    except AttributeError as error:
        assert "did you mean" in str(error) and "MultibodySystem?" in str(error)
    assert not hasattr(mobod, "forces") and not hasattr(mobod, "__wrapped__")


@pytest.mark.parametrize("name", ["casadi", "gpu", "gym", "jax", "torch"])
def test_a_module_that_is_imported_by_name_says_so(name):
    with pytest.raises(AttributeError, match=f"import mobod.{name}$"):
        mobod.__getattr__(name)  # an earlier test may have imported it


def test_a_format_is_imported_when_it_is_read():
    environment = {"PYTHONPATH": str(Path(mobod.__file__).parent.parent)}
    code = """
import sys
import mobod.cli.main
from mobod.importer.named_models import Choices, load_model
load_model("double_pendulum", Choices())
folders = {name.split(".")[2] for name in sys.modules if name.startswith("mobod.importer.")}
assert not folders & {"urdf", "osim", "sdf", "mjcf"}, folders
assert mobod.importer.load_urdf is mobod.load_urdf and mobod.importer.write_osim is mobod.write_osim
"""
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
