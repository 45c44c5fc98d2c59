"""A motion in one HTML file: what is in it, and what a browser shows."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.examples import double_pendulum


@pytest.fixture(scope="module")
def motion():
    system, state = double_pendulum.build()
    return mb.simulate(system, state, 2.0, report_interval=0.02)


def read(path):
    """The JSON and the numbers of a page."""
    text = path.read_text(encoding="utf-8")
    about = json.loads(re.search(r'id="about">(.*?)</script>', text, re.DOTALL).group(1))
    data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1)
    blob = zlib.decompress(base64.b64decode(data))
    kinds = {"Float32Array": "<f4", "Uint32Array": "<u4", "Int16Array": "<i2", "Int8Array": "i1"}
    arrays = {name: np.frombuffer(blob, kinds[kind], count, offset) for name, (kind, offset, count) in about["arrays"].items()}
    return about, arrays


def test_a_page_holds_the_poses_of_all_bodies(motion, tmp_path):
    path = motion.save_html(tmp_path / "swing.html")
    about, arrays = read(path)
    bodies = motion.system.matter.bodies
    assert about["bodies"] == [body.name for body in bodies]
    assert about["count"] == 101 and about["curves"] == ["energy", *motion.coordinate_names, "speed of upper", "speed of lower"]
    positions = arrays["positions"].reshape(101, len(bodies), 3)
    rotations = arrays["rotations"].reshape(101, len(bodies), 4) / 32767.0
    for row in (0, 37, 100):
        state = motion.states[row]
        motion.system.realize(state, mb.Stage.POSITION)
        for b, body in enumerate(bodies):
            X_GB = body.get_body_transform(state)
            assert_allclose(positions[row, b], X_GB.p, atol=1e-6)  # single precision
            assert_allclose(abs(rotations[row, b] @ X_GB.R.to_quaternion()), 1.0, atol=1e-4)  # sixteen bits


def test_a_page_asks_nothing_of_any_network(motion, tmp_path):
    text = motion.save_html(tmp_path / "swing.html", title="a <b> & c").read_text(encoding="utf-8")
    assert "<title>a &lt;b&gt; &amp; c</title>" in text
    assert not re.search(r"(src|href)\s*=|https?://|import\(|@import|url\(", text)
    assert "default-src 'none'" in text


def test_a_browser_plays_a_page_from_disk(motion, tmp_path, page):
    path = motion.save_html(tmp_path / "swing.html")
    page.page.goto(f"{path.as_uri()}?play=0")
    page.until("window.mobod !== undefined")
    begin = page.picture("#scene")
    assert np.ptp(begin.reshape(-1, 3), axis=0).max() > 100  # not blank
    before = page.page.evaluate("Array.from(window.mobod.poses[2])")
    page.page.evaluate("(() => { const t = document.getElementById('time'); t.value = 1.0; t.oninput({target: t}); })()")
    page.until("window.mobod.time === 1.0")
    after = page.page.evaluate("Array.from(window.mobod.poses[2])")
    state = motion.states[50]
    motion.system.realize(state, mb.Stage.POSITION)
    place = motion.system.matter.bodies[2].get_body_origin_location(state)
    assert_allclose(sorted(np.abs(after[12:15])), sorted(np.abs(place)), atol=1e-4)  # in the display's frame, whose z is up
    assert np.linalg.norm(np.subtract(after, before)) > 0.1
    assert np.abs(page.picture("#scene") - begin).mean() > 0.5
    page.page.click("#play")
    page.until("window.mobod.time > 1.2")
    assert page.page.evaluate("document.getElementById('scene').getContext('webgl2').getError()") == 0
    assert page.errors == [] and page.outside() == []


def test_clicking_a_body_says_its_name(tmp_path, page):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    ball = mb.body.Rigid(mb.MassProperties(2.5, (0, 0, 0), mb.UnitInertia.sphere(1.0)))
    ball.add_decoration(mb.decoration.Sphere(1.0, color="red"))
    mb.mobilizer.Free(matter.ground, ball, name="the <ball>")
    motion = mb.simulate(system, system.realize_topology(), 0.1)
    page.page.goto(motion.save_html(tmp_path / "ball.html").as_uri())
    page.until("window.mobod !== undefined")
    page.page.click("#scene")  # its middle
    page.until("document.getElementById('said').textContent !== ''")
    assert page.page.inner_text("#said").splitlines() == ["the <ball>", "mass 2.5"]
    red = page.picture("#scene")
    assert ((red[..., 0] > 150) & (red[..., 1] < 140)).sum() > 5000
    assert page.errors == []


def test_a_motion_that_goes_far_is_followed(tmp_path):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    ball.add_decoration(mb.decoration.Sphere(0.1))
    mb.mobilizer.Free(matter.ground, ball, name="ball")
    about, _ = read(mb.simulate(system, system.realize_topology(), 3.0).save_html(tmp_path / "fall.html"))
    assert about["followed"] == 1
    assert max(about["extent"]) < 1.0


def test_fps_chooses_how_many_poses_are_kept(motion, tmp_path):
    assert read(motion.save_html(tmp_path / "a.html", fps=10))[0]["count"] == 21


@pytest.mark.parametrize("fps", [0, -1, "many"])
def test_senseless_fps_are_refused(motion, tmp_path, fps):
    with pytest.raises((ValueError, TypeError), match="fps"):
        motion.save_html(tmp_path / "a.html", fps=fps)
    assert not (tmp_path / "a.html").exists()


def test_what_cannot_be_written_says_why(motion, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html"):
        motion.save_html(tmp_path / "a.mp4")
    bare = mb.Trajectory(time=[0.0], q=[[1.0]], u=[[0.0]], energy=[0.0], coordinate_names=["a"], speed_names=["a"])
    with pytest.raises(ValueError, match="needs a trajectory with a system"):
        bare.save_html(tmp_path / "a.html")


def tracked():
    """A pendulum with a cable that is slack half of the time."""
    system, state = double_pendulum.build()
    end = lambda state: (0.0, 0.0, 0.0) if state.time <= 0.5 else None  # noqa: E731
    system.matter.add_rubber_band_line(
        [("ground", (0.4, 0.5, 0)), ("lower", end)], color=(0, 1, 0), line_width=9, name="<cable>"
    )
    state = system.realize_topology()
    state.q = 0.4, 0.5
    return mb.simulate(system, state, 1.0, report_interval=0.1)


def test_lines_between_bodies_are_kept_as_stations_over_time(tmp_path):
    about, arrays = read(tracked().save_html(tmp_path / "cable.html", fps=10))
    (track,) = about["tracks"]
    assert track["name"] == "<cable>" and track["bodies"] == [0, 2] and track["rows"] == 11
    stations = arrays["tracks"].reshape(2, 3, 11)
    assert_allclose(stations[0, :, :6], np.tile([[0.4], [0.5], [0.0]], 6))
    assert np.isnan(stations[:, :, 6:]).all()


def test_a_browser_shows_lines_between_bodies_hides_them_and_keeps_to_the_dark(tmp_path, page):
    path = tracked().save_html(tmp_path / "cable.html")
    page.page.emulate_media(color_scheme="dark")
    page.page.goto(f"{path.as_uri()}?play=0")
    page.until("window.mobod !== undefined")
    green = lambda: ((p := page.picture("#scene"))[..., 1] - p[..., [0, 2]].max(axis=2) > 100).sum()  # noqa: E731
    assert green() > 50
    assert page.picture("#scene")[0, 0].max() < 60 and page.picture("#bar").mean() < 128
    page.page.get_by_label("<cable>").uncheck()
    page.until("!window.mobod.player.stale")
    assert green() == 0
    page.page.get_by_label("<cable>").check()
    page.page.focus("#scene")
    before = page.page.evaluate("window.mobod.camera.azimuth")
    for key in ("d", "w", "+", "End"):
        page.page.keyboard.press(key)
    page.until("window.mobod.time === 1")
    assert page.page.evaluate("window.mobod.camera.azimuth") < before
    assert green() == 0  # slack
    assert page.errors == []


def test_a_browser_without_webgl_says_so(motion, tmp_path, page):
    page.page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.page.goto(motion.save_html(tmp_path / "swing.html").as_uri())
    page.until("document.getElementById('said').textContent !== ''")
    assert "no WebGL 2 here. Turn graphics acceleration on" in page.page.inner_text("#said")


def other_swing(motion):
    state = motion.states[0]
    state.q = state.q + np.array((0.3, 0.0))
    return mb.simulate(motion.system, state, 2.0, report_interval=0.02)


@pytest.mark.parametrize("beside", [False, True])
def test_other_motions_are_ghosts_or_beside(motion, tmp_path, beside):
    other = other_swing(motion)
    about, arrays = read(motion.save_html(tmp_path / "two.html", other, beside=beside))
    alone, _ = read(motion.save_html(tmp_path / "one.html"))
    count = len(alone["bodies"])
    assert about["own"] == count and len(about["bodies"]) == 2 * count and about["motions"] == 2
    second = arrays["positions"].reshape(101, 2, count, 3)[:, 1]
    states = other.states[40]
    motion.system.realize(states, mb.Stage.POSITION)
    places = [body.get_body_origin_location(states) for body in motion.system.matter.bodies]
    moved = second[40] - places
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-6)  # single precision
    apart = np.linalg.norm(moved[0])
    assert apart > max(alone["extent"][:2]) if beside else apart < 1e-6
    assert {one["color"][3] for one in about["surfaces"][len(alone["surfaces"]) :]} == ({1.0} if beside else {0.35})
    assert all(one["like"] == k for k, one in enumerate(about["surfaces"][len(alone["surfaces"]) :]))  # no shape twice
    curves = arrays["curves"].reshape(2, len(about["curves"]), 101)
    assert_allclose(curves[1, 1], other.q[:, 0], atol=1e-6)


def test_an_ensembles_motions_are_one_page(motion, tmp_path, page):
    ensemble = mb.Ensemble(motion.system, 9, state=motion.states[0])
    ensemble.q = ensemble.q + np.linspace(0.0, 0.4, 9)[:, None]
    motions = ensemble.simulate(0.5, report_interval=0.1)
    path = motions.save_html(tmp_path / "many.html", spacing=3.0, most=4, fps=10)
    about, arrays = read(path)
    grounds = arrays["positions"].reshape(6, 4, about["own"], 3)[0, :, 0]
    assert_allclose(np.linalg.norm(grounds - grounds[0], axis=1), 3.0 * np.array((0, 1, 1, np.sqrt(2.0))), atol=1e-6)
    page.page.goto(path.as_uri())
    page.until("window.mobod !== undefined")
    assert page.page.evaluate("window.mobod.poses.length") == 4 * about["own"]
    assert page.page.evaluate("window.mobod.player.drawing.gl.getContextAttributes().alpha") is False  # else ghosts are pale
    assert page.errors == []
    for options in ({"spacing": -1.0}, {"most": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            motions.save_html(tmp_path / "bad.html", **options)
    with pytest.raises(TypeError, match="save_html takes other trajectories"):
        motion.save_html(tmp_path / "bad.html", "other")
    assert not (tmp_path / "bad.html").exists()


def falling_arm():
    """An arm that is caught, and handlers that are due all the time and do nothing."""
    system, state = double_pendulum.build()
    arm = system.matter.bodies["lower"]

    class Idle(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            pass

    system.add_event_handler(mb.event.LockWhen(arm, mb.event.Coordinate(arm, 0, 0.0), name="<b>catch"))
    system.add_event_handler(Idle(0.01))
    return mb.simulate(system, state, 2.0, accuracy=1e-6)


def test_a_page_marks_events_on_its_time_line(tmp_path, page):
    motion = falling_arm()
    path = motion.save_html(tmp_path / "caught.html")
    about, _ = read(path)
    (mark,) = about["events"]
    catch = motion.events[motion.events["kind"] == "triggered"][0]
    assert mark[0] == catch.time and mark[1].splitlines()[0] == f"{catch.time:.6g}: <b>catch triggered falling {catch.witness}"
    assert "lower locked, energy -" in mark[1].splitlines()[1]
    page.page.goto(f"{path.as_uri()}?play=0")
    page.until("window.mobod !== undefined")
    assert page.page.locator(".mark").count() == 1 and page.page.locator("#marks b").count() == 0
    box, rail = (page.page.locator(one).first.bounding_box() for one in (".mark", "#rail"))
    along = (box["x"] + box["width"] / 2.0 - rail["x"] - 8.0) / (rail["width"] - 16.0)
    assert abs(along - catch.time / 2.0) < 0.02
    page.page.locator(".mark").click()
    page.until(f"Math.abs(window.mobod.time - {catch.time!r}) < 1e-9")
    assert "lower locked" in page.page.locator("#said").text_content()
    page.page.select_option("#curve", "1")
    page.until("!document.getElementById('graph').hidden")
    assert page.errors == []


def test_a_graph_says_which_motion_is_which_and_what_is_constant(motion, tmp_path, page):
    state = motion.states[0]
    state.q, state.u = np.zeros(2), np.zeros(2)
    still = mb.simulate(motion.system, state, 2.0, report_interval=0.02)
    page.page.add_init_script("""
        window.drawn = [];
        const { fillText, arc } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
            drawn.push(text, this.fillStyle);
            fillText.call(this, text, ...at);
        };
        CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
            window.middle = y;
            arc.call(this, x, y, ...rest);
        };
    """)
    page.page.goto(still.save_html(tmp_path / "still.html").as_uri() + "?play=0")
    page.until("window.mobod !== undefined")
    page.page.select_option("#curve", "1")
    page.until("drawn.includes('constant: 0')")
    assert 0.4 < page.page.evaluate("window.middle / document.getElementById('graph').clientHeight") < 0.6
    page.page.goto(motion.save_html(tmp_path / "two.html", still).as_uri() + "?play=0")
    page.until("window.mobod !== undefined")
    page.page.select_option("#curve", "1")
    page.until("drawn.length > 0")
    drawn = page.page.evaluate("drawn")
    first = drawn.index(f"motion 1: {motion.q[0, 0]:.4g}")
    assert drawn[first + 2] == "motion 2: 0" and drawn[first + 1] != drawn[first + 3]
    assert page.errors == []


def test_many_events_share_marks(motion):
    from mobod.viewer.replay import find_marks

    times = np.linspace(0.0, 2.0, 5000)
    rows = np.column_stack([times, 0.0 * times, -1.0 + 0.0 * times, 0.0 * times])
    many = mb.Trajectory(
        time=[0.0, 2.0], q=[[0.0]] * 2, u=[[0.0]] * 2, energy=[0.0] * 2, coordinate_names="q", speed_names="u",
        events=rows, event_labels=[("ball", "struck", "", "")],
    )  # fmt: skip
    marks = find_marks(many, 0.0, 2.0)
    assert 300 < len(marks) <= 401 and marks[7][1].splitlines()[-1] == "and 1 more"
    assert find_marks(motion, 0.0, 2.0) == []


def test_in_a_frame_the_wheel_scrolls_until_the_mechanism_is_held(motion, page):
    frame = motion.show(quantity="lower", height=300).html
    page.page.set_content(f"<body style='margin:0'>{frame}<div style='height:3000px'></div></body>")
    inside = page.page.frames[-1]
    for _ in range(500):
        if inside.evaluate("window.mobod !== undefined"):
            break
        page.page.wait_for_timeout(20)
    assert not inside.evaluate("document.getElementById('graph').hidden")
    distance = "window.mobod.camera.distance"
    before = inside.evaluate(distance)
    # an event made here: which frame gets the mouse's depends on the browser's timing; what is not prevented scrolls the page
    turn_wheel = """() => {
        const wheel = new WheelEvent("wheel", { deltaY: 50, bubbles: true, cancelable: true });
        document.getElementById("scene").dispatchEvent(wheel);
        return wheel.defaultPrevented;
    }"""
    assert not inside.evaluate(turn_wheel) and inside.evaluate(distance) == before
    page.page.mouse.click(300, 100)
    assert inside.evaluate(turn_wheel) and inside.evaluate(distance) > before
    inside.evaluate("document.documentElement.dispatchEvent(new PointerEvent('pointerleave'))")
    assert not inside.evaluate(turn_wheel)


def test_forces_of_contacts_are_seen_through_the_bodies_that_they_push(tmp_path, page):
    """A ball on a floor: the arrow begins below it and ends within it."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    rubber = mb.contact.Material(1e6, dissipation=1.0)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber, draws=False))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
    ball = mb.mobilizer.Free(matter.ground, body)
    ball.set_default_q((1, 0, 0, 0, 0, 0, 0.099))
    motion = mb.simulate(system, system.realize_topology(), 0.5, report_interval=0.1)
    path = motion.save_html(tmp_path / "ball.html", contact_forces=0.1 / 9.81)
    page.page.goto(f"{path.as_uri()}?play=0")
    page.until("window.mobod !== undefined")
    page.page.evaluate("(() => { const t = document.getElementById('time'); t.value = 0.5; t.oninput({target: t}); })()")
    page.until("window.mobod.time === 0.5")
    orange = np.array((230, 90, 0))
    found = []
    for _ in range(2):
        found.append(int((np.abs(page.picture("#scene") - orange).max(axis=-1) < 30).sum()))
        page.page.click("#forces")
        page.page.wait_for_timeout(300)
    assert found[0] > 10 and found[1] == 0, found
