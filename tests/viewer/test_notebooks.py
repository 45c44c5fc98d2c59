"""What notebooks show: tables with what is there, pages that play, and nothing that HTML would take for its own."""

import html
import re

import pytest

import mobod as mb
from mobod.examples import double_pendulum, four_bar
from mobod.value.html_table import html_table


def cells(text):
    return [html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", text)]


def test_a_state_and_a_system_are_tables():
    system, state = four_bar.build()
    shown = cells(state._repr_html_())
    assert shown[:4] == ["body", "mobilizer", "q", "u"] and shown[4:6] == ["crank", "Pin"]
    assert float(shown[6]) == pytest.approx(state.q[0], rel=1e-5)
    shown = cells(system._repr_html_())
    assert {"crank", "coupler", "rocker", "Pin", "Gravity", "Ball", "loop"} <= set(shown)


def test_a_diagnosis_is_a_table_of_its_text():
    system, state = four_bar.build()
    system.realize(state, mb.Stage.VELOCITY)
    diagnosis = system.diagnose_constraints(state)
    shown = diagnosis._repr_html_()
    assert "loop" in cells(shown)
    for line in str(diagnosis).splitlines():
        if "free:" in line:
            assert html.escape(line.strip()) in shown


def test_a_trajectory_plays_itself_and_one_without_a_system_is_a_table():
    system, state = double_pendulum.build()
    motion = mb.simulate(system, state, 0.5)
    shown = motion._repr_html_()
    assert shown.startswith("<iframe") and "sandbox" in shown and len(shown) < 300_000
    assert set(motion.coordinate_names) <= set(cells(shown[shown.rindex("</iframe>") :]))
    bare = mb.Trajectory(
        time=[0.0, 1.0], q=[[1.0], [2.0]], u=[[0.0]] * 2, energy=[0.0] * 2, coordinate_names=["<a>"], speed_names=["a"]
    )
    shown = bare._repr_html_()
    assert "<iframe" not in shown and "<a>" not in shown
    assert cells(shown)[5:] == ["<a>", "1", "2", "1", "2"]


def test_a_model_can_be_turned_and_lists_its_bodies():
    from mobod.importer.named_models import find_examples

    shown = mb.load_urdf(find_examples()["panda"])._repr_html_()
    assert shown.startswith("<iframe") and "panda_link4" in cells(shown)


def test_long_tables_say_how_much_is_left_out():
    shown = html_table("many", ("n",), [(n,) for n in range(100)], most=10)
    assert len(cells(shown)) == 11 and "and 90 more" in shown


def test_a_notebooks_frame_shows_the_mechanism(tmp_path, page):
    system, state = double_pendulum.build()
    path = tmp_path / "notebook.html"
    path.write_text(f"<html><body>{mb.simulate(system, state, 0.5)._repr_html_()}</body></html>", encoding="utf-8")
    page.page.goto(path.as_uri())
    frame = page.page.frames[1]
    for _ in range(500):
        if frame.evaluate("window.mobod !== undefined"):
            break
        page.page.wait_for_timeout(20)
    assert frame.evaluate("window.mobod.poses.length") == 3
    assert page.errors == [] and page.outside() == []
