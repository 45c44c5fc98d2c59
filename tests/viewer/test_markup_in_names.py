"""Names that are markup, scripts, formulas or marks of a template: they are shown as they are, and nothing is run."""

import html
import json
import re

import numpy as np
import pytest

import mobod as mb

NAMES = [
    "<img src=x onerror=document.title='run'>",
    "</script><script>document.title='run'</script>",
    "</title><script>document.title='run'</script>",
    "\"><svg onload=document.title='run'>",
    "'); document.title='run'; ('",
    "--><!--",
    "]]>",
    "&lt;b&gt;",
    "{{DATA}}",
    "{{SCRIPT}}",
    "{{NONE}}",
    "$\\frac{",
    "$x$ and $ y",
    "_hidden",
    "a_{b^",
    "%s %(x)d {0}",
    "\\",
    "**b** [x](javascript:document.title='run')",
    "two\nlines",
    "\u202ereversed",
]


@pytest.fixture(scope="module")
def motion():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, -9.8, 0.0))
    body = mb.body.Rigid(mb.MassProperties(1.5, (0.1, 0.2, -0.1), mb.UnitInertia(0.4, 0.5, 0.6)))
    for k, name in enumerate(NAMES):
        mb.mobilizer.Pin(matter.ground, body, X_PF=mb.Transform((0.1 * k, 0.0, 0.0)), name=name)
    return mb.simulate(system, system.realize_topology(), 0.1)


@pytest.mark.parametrize("title", NAMES)
def test_a_page_has_them_as_text(motion, tmp_path, title):
    text = motion.save_html(tmp_path / "it.html", title=title).read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 3
    about = json.loads(re.search(r'id="about">(.*?)</script>', text, re.DOTALL).group(1))
    assert about["title"] == title and about["bodies"][1:] == NAMES
    assert html.unescape(re.search(r"<title>(.*?)</title>", text, re.DOTALL).group(1)) == title
    assert "<img" not in text and "<svg" not in text


def test_a_browser_runs_none_of_them(motion, tmp_path, page):
    path = motion.save_html(tmp_path / "it.html", title=NAMES[0])
    page.page.goto(f"{path.as_uri()}?play=0")
    page.until("window.mobod !== undefined")
    assert page.page.title() == NAMES[0] and page.errors == [] and page.outside() == []


def test_tables_of_notebooks_have_them_as_text(motion):
    system = motion.system
    state = system.realize_topology()
    system.realize(state)
    shown = [one._repr_html_() for one in (motion, system, state, motion.events)]
    for text in shown:
        tags = set(re.findall(r"<\s*(/?\w+)", text))
        assert not tags & {"script", "/script", "svg", "/title"}, tags
        assert "<img src=x" not in text


def test_plots_have_them_as_text(motion, tmp_path):
    pytest.importorskip("matplotlib", reason="plots are not tested: no Matplotlib here")
    assert motion.plot(tmp_path / "it.svg", snapshots=1) is not None
    text = (tmp_path / "it.svg").read_text(encoding="utf-8")
    assert "<img" not in text and "<script" not in text


def test_files_keep_them(motion, tmp_path):
    for kind in ("csv", "npz"):
        motion.save(tmp_path / f"it.{kind}")
        again = mb.Trajectory.load(tmp_path / f"it.{kind}")
        assert again.coordinate_names == motion.coordinate_names and np.array_equal(again.q, motion.q)


def test_a_live_page_shows_them_as_text(motion, page):
    pytest.importorskip("viser", reason="live pages are not tested: no viser here")
    system = motion.system
    viewer = mb.view(system, system.realize_topology(), open_browser=False, title=NAMES[0])
    try:
        page.page.goto(viewer.url)
        page.page.wait_for_selector("button:has-text('Play')")
        page.page.wait_for_timeout(500)
        assert page.page.title() != "run" and page.outside() == []
    finally:
        viewer.close()
