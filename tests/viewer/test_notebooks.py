"""Notebooks' output: tables with what is there, pages that play, and nothing that HTML would take for its own."""

import html
import json
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
    assert "<iframe" in shown and "sandbox" in shown and len(shown) < 300_000
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
    assert "<iframe" in shown and "panda_link4" in cells(shown)


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


#: What the frames of VS Code's notebooks allow their contents, as its webview declares it.
VS_CODE = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: http: data:; "
    "font-src https:; connect-src https:; child-src https: data:;"
)


def test_a_notebooks_frame_plays_where_notebooks_lock_their_outputs_in(tmp_path, page):
    """Under VS Code's policy, and within a frame as Colab's: without a request, and without any origin."""
    system, state = double_pendulum.build()
    shown = mb.simulate(system, state, 0.5)._repr_html_()
    inner = html.escape(f"<html><head><meta http-equiv='Content-Security-Policy' content=\"{VS_CODE}\"></head>{shown}</html>")
    path = tmp_path / "notebook.html"
    path.write_text(f'<html><body><iframe sandbox="allow-scripts" srcdoc="{inner}"></iframe></body></html>', encoding="utf-8")
    page.page.goto(path.as_uri())
    for _ in range(500):
        if len(page.page.frames) == 3 and page.page.frames[2].evaluate("window.mobod !== undefined"):
            break
        page.page.wait_for_timeout(20)
    assert page.page.frames[2].evaluate("window.mobod.poses.length") == 3
    assert page.errors == [] and [url for url in page.requests if not url.startswith("file:")] == []


def test_a_notebook_that_is_not_trusted_says_what_is_missing():
    system, state = double_pendulum.build()
    shown = mb.simulate(system, state, 0.1)._repr_html_()
    assert "Trust this notebook" in re.sub(r"<iframe.*?</iframe>", "", shown, flags=re.DOTALL)


def test_in_colab_live_pages_say_what_to_do_instead(monkeypatch):
    import sys
    import types

    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    system, state = double_pendulum.build()
    with pytest.raises(RuntimeError, match="no websockets; leave the trajectory or the model at the end of a cell"):
        mb.view(system, state)
    with pytest.warns(RuntimeWarning, match="the run is not shown: RuntimeError"):
        assert len(mb.simulate(system, state, 0.1, view=True)) > 1


def test_from_afar_the_address_and_the_port_to_forward_are_printed(monkeypatch, capsys):
    from mobod.viewer import server

    monkeypatch.setattr(server.webbrowser, "open", lambda url: False)
    for name in (*server._REMOTE, "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    server.open_in_browser("http://127.0.0.1:8081")
    assert capsys.readouterr().out == "the page is at http://127.0.0.1:8081\n"
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    server.open_in_browser("http://127.0.0.1:8081")
    said = capsys.readouterr().out
    assert "forward port 8081" in said and "ssh -L 8081:127.0.0.1:8081" in said


def test_motions_are_compared_in_a_cell_with_a_graph_of_what_was_recorded():
    system, state = double_pendulum.build()
    one = mb.simulate(system, state, 0.3, record=["reactions"])
    state.q = 0.1, 0.2
    other = mb.simulate(system, state, 0.3, record=["reactions"])
    shown = one.show(other, quantity="reactions.lower.fy", beside=True, height=300)
    assert repr(shown) == "<Shown: 2 motions, 'reactions.lower.fy' over time>"
    page = html.unescape(shown._repr_html_())
    about = json.loads(re.search(r'id="about">(.*?)</script>', page, re.DOTALL).group(1))
    assert about["curves"][about["curve"]] == "reactions.lower.fy" and about["motions"] == 2
    assert {"energy", "upper", "speed of lower", "reactions.upper.mz"} <= set(about["curves"]) and "height:300px" in page
    assert "reactions.lower.fy: force" in about["curve_titles"]
    for asked, curve in (
        ("u.lower", "speed of lower"),
        ("q.upper", "upper"),
        ("quantity.reactions.upper.mz", "reactions.upper.mz"),
    ):
        page = html.unescape(one.show(quantity=asked)._repr_html_())  # as tables call them
        about = json.loads(re.search(r'id="about">(.*?)</script>', page, re.DOTALL).group(1))
        assert about["curves"][about["curve"]] == curve
    page = html.unescape(one.show(quantity="reactions.lower.fy", units=("kg", "m", "s"))._repr_html_())
    titles = json.loads(re.search(r'id="about">(.*?)</script>', page, re.DOTALL).group(1))["curve_titles"]
    wanted = {"energy (J)", "lower: angle (rad)", "speed of upper: angular speed (rad/s)", "reactions.lower.mz: moment (N m)"}
    assert wanted <= set(titles)
    assert "<iframe" in one.show()._repr_html_()
    with pytest.raises(ValueError, match=r"no curve 'reactions.lower.f'.*"):
        one.show(quantity="reactions.lower.f")
    with pytest.raises(TypeError):
        one.show(3)
