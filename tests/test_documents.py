"""What the documents show is true: examples in docstrings run, and so does the README's."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mobod
from pages import DOCS, examples, run, text_of

# muscles of the bundled leg: what the page on models from files says of it stands in its text
pytestmark = pytest.mark.filterwarnings("ignore::mobod.ModelWarning")

README = Path(__file__).parent.parent / "README.md"
MODULES = [info.name for info in pkgutil.walk_packages(mobod.__path__, "mobod.") if not info.name.endswith("__main__")]


def shows_something(name):
    """True if there may be an example in a module, which is not imported yet."""
    place = Path(mobod.__file__).parents[1].joinpath(*name.split("."))
    return ">>>" in (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text(encoding="utf-8")


#: Run in a process of its own: the wrappers of ezc3d and opensim, made by one tool, disturb each other's lists of text.
ALONE = "mobod.motion_data.c3d"


def count_failures(name):
    """The number of a module's examples that do not give what they show.

    `doctest` asks for each example whether any of the thousand files has changed of which Python has read lines.
    """
    module = importlib.import_module(name)
    whose = {"__name__": "__main__"}  # the classes of an example are its user's
    with pytest.MonkeyPatch.context() as unless:
        unless.setattr("linecache.checkcache", lambda filename=None: None)
        return doctest.testmod(module, extraglobs=whose, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)[0]


@pytest.mark.parametrize("name", [name for name in MODULES if shows_something(name)])
def test_examples_in_docstrings_give_what_they_show(name):
    if name == ALONE:
        pytest.importorskip("ezc3d")
        run_it = "import sys, test_documents as t; sys.exit(t.count_failures(t.ALONE))"
        path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-c", run_it], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        assert count_failures(name) == 0


def test_there_are_examples():
    """A finder that finds nothing would pass the test above; nor has any module some that are not in its text."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    shown = {name for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples or name == ALONE}
    assert 5 < len(shown) and shown <= set(filter(shows_something, MODULES))


def test_the_example_of_the_page_on_contact_runs(capsys):
    run("contact.md")
    assert "[[0.  0.  9.8]]" in capsys.readouterr().out.splitlines()


def test_the_example_of_the_page_on_biomechanics_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names = run("biomechanics.md")
    assert (tmp_path / "biomechanics.png").stat().st_size > 10_000
    assert abs(names["motion"].q - names["q"]).max() < 0.05
    assert capsys.readouterr().out.splitlines()[-1].startswith("all")


def test_the_examples_of_the_page_on_derivatives_run(capsys):
    run("derivatives.md")
    assert capsys.readouterr().out.splitlines().count("True") == 2


def test_the_first_example_of_the_readme_runs(tmp_path, monkeypatch):
    code = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert (tmp_path / "pendulum.png").stat().st_size > 10_000
    assert len(code.strip().splitlines()) <= 20
    assert names["trajectory"].time[-1] == 20.0


#: Pages that a test of their own runs.
RUN_ELSEWHERE = set(
    re.findall(r'run\("(\w+\.md)"\)', "".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py")))
)
PAGES = sorted(path.name for path in DOCS.rglob("*.md") if path.name != "index.md" and examples(path.name))


@pytest.fixture(autouse=True)
def no_figure_is_left():
    """Pages open figures, of which pyplot warns where a process has opened many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("name", [name for name in PAGES if name not in RUN_ELSEWHERE])
def test_a_page_runs_and_prints_what_it_shows(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    run(name)


URDF = """<robot name="robot"><link name="trunk"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_all_examples_of_the_readme_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(URDF)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL):
        exec(compile(code, "README.md", "exec"), names)
    names["ensemble"].realize()
    assert not names["ensemble"].failed.any()
    assert names["model"].system.get_matter_subsystem().get_num_bodies() == 2


def test_the_examples_of_the_guide_to_custom_mobilizers_run(capsys):
    names = run("custom_mobilizers.md")
    said = capsys.readouterr().out
    assert "all belongs together" in said and said.endswith("True\n")
    # Huygens: the bead is back after 2 pi sqrt(4 r / g), wherever it starts
    time, q = names["motion"].time, names["motion"].q[:, 0]
    later = time[1:][(q[1:] > 1.9) & (time[1:] > 1.0)]
    assert abs(later.mean() - 2.0 * 3.14159265 * (4 * 0.5 / 9.81) ** 0.5) < 0.05


def test_the_examples_of_the_guide_to_custom_constraints_run(capsys):
    names = run("custom_constraints.md")
    assert capsys.readouterr().out.endswith("True\n")
    # the bead falls on the torus and stays on it, and the belt turns both wheels
    for x, y, z in names["motion"].q[:, :3]:
        assert abs((x * x + y * y) ** 0.5 - 1.0 - (0.09 - z * z) ** 0.5) < 1e-3
    u = names["turning"].u[-1]
    assert abs(u[0] - 2.0 * u[1]) < 1e-6 and u[0] > 0.1


def test_the_page_on_constraints_runs(capsys):
    names = run("constraints.md")
    page = text_of("constraints.md")
    shown = re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)[0]
    assert capsys.readouterr().out.startswith(shown)
    kinds = [
        kind
        for kind in names["mb"].constraint.__all__
        if kind[0].isupper() and kind not in ("CompiledFunctions", "CustomImplementation")
    ]
    assert [kind for kind in kinds if f"`{kind}`" not in page] == []


def test_the_page_on_motions_runs(capsys):
    run("custom_motions.md")
    assert capsys.readouterr().out.splitlines() == ["0.500 0.9375"]


def test_the_page_on_subsystems_runs(capsys):
    names = run("subsystems.md")
    assert "('tank',) ('tank',) [1.213" in capsys.readouterr().out  # 2 exp(-1/2)
    state, sensor = names["state"], names["sensor"]
    assert not sensor.is_cache_value_realized(state, sensor.reading)


def test_the_page_on_recording_names_all_that_can_be_recorded_by_name():
    from mobod.simulation.quantities import KNOWN

    page, words = text_of("recording.md"), mobod.simulate.__doc__
    assert [name for name in KNOWN if f"`{name}`" not in page or name not in words] == []


def test_the_page_on_measures_runs(capsys):
    names = run("measures.md")
    state = names["system"].realize_topology()
    assert "has gone 15." in capsys.readouterr().out  # 1.5 times the integral of |cos| from 0 to 16, which is 10.29
    assert names["lag"].get_value(state) == 0.0
    page = text_of("measures.md")
    assert [kind for kind in names["measure"].__all__ if kind not in page] == []


@pytest.mark.parametrize("page", ["particles", "decorations"])
def test_the_pages_on_particles_and_decorations_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(f"{page}.md")
    text = text_of(f"{page}.md")
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 10_000
    if page == "particles":
        assert capsys.readouterr().out == "range(0, 1000) (201, 1000, 3)\nTrue\n"
        methods = [name for name in dir(mobod.SimbodyMatterSubsystem) if "_particle_" in name and name.startswith("get_all")]
        assert len(methods) == 4 and [name for name in methods if name not in text] == []
    else:
        assert [kind for kind in mobod.decoration.__all__ if kind != "Decoration" and f"`{kind}(" not in text] == []


def test_the_page_on_search_runs():
    run("search.md")


@pytest.mark.parametrize("page", ["dynamics", "ensembles"])
def test_the_pages_on_dynamics_and_ensembles_run(page, capsys):
    run(f"{page}.md")
    text = text_of(f"{page}.md")
    said = capsys.readouterr().out
    if page == "dynamics":
        assert "the motors exert [19.6  4.9]" in said and "power of the motor: 16.8" in said
        kind = mobod.SimbodyMatterSubsystem
    else:
        assert "(1000, 2)\nTrue\n" in said
        kind = mobod.Ensemble
        operators = [name for name in dir(kind) if name.startswith(("calc_", "multiply_"))]
        assert len(operators) > 10 and [name for name in operators if f"`{name}`" not in text] == []
    named = re.findall(r"`((?:calc|multiply|find)_\w+)", text)
    assert named and [name for name in named if not hasattr(kind, name)] == []
