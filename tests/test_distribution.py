"""The installed files: all of the package and nothing else, with what an index shows of it."""

import email
import tomllib
import zipfile
from pathlib import Path

import pytest

import mobod

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    builders = pytest.importorskip("hatchling.builders.wheel")
    (path,) = builders.WheelBuilder(str(PROJECT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    with zipfile.ZipFile(path) as file:
        yield file


def metadata(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = {path.relative_to(SOURCE).as_posix() for path in (SOURCE / "mobod").rglob("*") if path.is_file()}
    shipped = {name for name in files if "__pycache__" not in name and not name.startswith("mobod/gpu/")}
    assert inside == shipped | {"mobod/gpu.py"}
    assert {"mobod/py.typed", "mobod/__init__.pyi"} <= set(inside)
    parts = {part for name in inside for part in Path(name).parts}
    assert not parts & {"tests", "test", "benchmarks", "conftest.py", "docs"}
    assert not [name for name in inside if Path(name).name.startswith("test_")]


def test_what_is_unproven_is_not_in_the_wheel_and_says_so(wheel):
    with pytest.raises(ImportError, match=r"not been proven on a GPU .* install the sources"):
        exec(compile(wheel.read("mobod/gpu.py"), "mobod/gpu.py", "exec"), {})


def test_an_editable_install_has_no_file_in_the_place_of_its_own(tmp_path):
    pytest.importorskip("editables")  # which front-ends install for such a build
    builders = pytest.importorskip("hatchling.builders.wheel")
    (path,) = builders.WheelBuilder(str(PROJECT)).build(directory=str(tmp_path), versions=["editable"])
    with zipfile.ZipFile(path) as file:
        assert not [name for name in file.namelist() if name.startswith("mobod/")]


def test_the_wheel_brings_the_licences_of_what_is_in_it(wheel):
    names = [name.rpartition("/")[2] for name in wheel.namelist()]
    assert "LICENSE" in names and "LICENSES.md" in names


def test_an_index_can_show_it(wheel):
    about = metadata(wheel)
    assert (about["Name"], about["Version"], about["License-Expression"]) == ("mobod", mobod.__version__, "Apache-2.0")
    assert about["Requires-Python"] == ">=3.11"
    assert about.get_payload().lstrip().startswith("# mobod")
    assert "Typing :: Typed" in about.get_all("Classifier")
    assert {"all", "plot", "mjcf", "mesh", "stiff"} <= set(about.get_all("Provides-Extra"))
    entry_points = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "mobod = mobod.cli.main:main" in wheel.read(entry_points).decode()


def test_what_is_needed_is_little(wheel):
    needed = [line.split(">")[0] for line in metadata(wheel).get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(needed) == ["numba", "numpy", "platformdirs", "scipy"]


def test_the_citation_is_of_this_version():
    lines = (line.partition(": ") for line in (PROJECT / "CITATION.cff").read_text().splitlines())
    citation = {key: value for key, _, value in lines}
    assert citation["version"] == mobod.__version__
    assert citation["license"] == tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["license"]


def test_the_page_on_installing_names_all_extras():
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (PROJECT / "docs" / "start" / "install.md").read_text()
    assert [name for name in extras if f"`{name}`" not in page] == ["docs", "test", "crosscheck", "dev"]
