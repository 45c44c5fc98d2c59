"""Live pages in a real browser: sliders, buttons, the mouse, motions, ensembles; and runs that are watched."""

import urllib.request

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.examples import double_pendulum, four_bar

pytest.importorskip("viser", reason="live pages are not tested: no viser here")

# viser's own, as it stops
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def opened():
    """Opens viewers, and closes them in the end."""
    viewers = []

    def keep(viewer):
        viewers.append(viewer)
        return viewer

    yield keep
    for viewer in viewers:
        viewer.close()


def swing():
    system, state = double_pendulum.build()
    return system, state


def visit(page, viewer):
    page.page.goto(viewer.url)
    page.page.wait_for_selector("canvas")
    page.page.wait_for_selector("button:has-text('Play')")


def wait_for(page, condition, seconds=60.0):
    for _ in range(int(50 * seconds)):
        if condition():
            return
        page.page.wait_for_timeout(20)
    raise AssertionError("it has not come about")


def test_what_somebody_types_is_not_overwritten_by_what_is_shown_meanwhile(opened):
    """The page has a new number before the viewer's callback is called with it; a picture may be due between the two."""
    system, state = swing()
    viewer = opened(mb.view(system, state, parameters={"lower.mass": (0.5, 7.0)}, open_browser=False))
    slider = viewer._parameter_sliders[0]
    viewer._refresh()
    slider.value = 6.5
    viewer._refresh()
    assert slider.value == 6.5
    viewer._guarded(viewer._set_parameter, viewer._parameters[0], 3.0)
    viewer._refresh()
    assert slider.value == 3.0  # the state's, where that has changed


def test_on_a_page_sliders_move_a_body_and_change_a_parameter_and_a_button_plays(page, opened):
    system, state = swing()
    viewer = opened(mb.view(system, state, parameters={"lower.mass": (0.5, 7.0)}, open_browser=False))
    assert viewer.url.startswith("http://127.0.0.1:")
    visit(page, viewer)
    page.page.wait_for_timeout(1000)
    begin = page.picture()
    assert np.ptp(begin[:, : begin.shape[1] // 2].reshape(-1, 3), axis=0).max() > 60  # not blank
    before = viewer.state.q.copy()
    field = page.page.locator("input[type=text], input[inputmode=numeric], input[inputmode=decimal]")
    shown = [field.nth(i).input_value() for i in range(field.count())]
    wanted = f"{np.degrees(before[0]):.0f}"
    number = next(i for i, text in enumerate(shown) if text and abs(float(text) - float(wanted)) < 1.0)
    field.nth(number).fill("60")
    field.nth(number).press("Enter")
    wait_for(page, lambda: abs(viewer.state.q[0] - np.radians(60)) < 1e-3)
    wait_for(page, lambda: np.abs(page.picture() - begin).mean() > 0.2)
    page.page.get_by_role("button", name="Play").click()
    wait_for(page, lambda: viewer.state.time > 0.3)
    box = page.page.get_by_text("lower.mass").locator("xpath=ancestor::*[.//input][1]").locator("input").last
    assert float(box.input_value()) == 1.0, shown

    def mass_in(state):
        system.realize(state, mb.Stage.INSTANCE)
        return system.matter.bodies["lower"].get_body_mass_properties(state).mass

    box.fill("6.5")
    box.press("Enter")
    wait_for(page, lambda: abs(mass_in(viewer.state) - 6.5) < 1e-9)
    before = viewer.state.time
    wait_for(page, lambda: viewer.state.time > before + 0.1)  # what plays goes on with it
    assert mass_in(state) == 1.0
    page.page.get_by_role("button", name="Pause").click()
    wait_for(page, lambda: not viewer._playing)
    assert np.abs(viewer.state.u).max() > 0.1
    page.page.get_by_role("button", name="Reset").click()
    wait_for(page, lambda: viewer.state.time == state.time)
    assert_allclose(viewer.state.q, state.q)
    assert page.errors == [] and page.outside() == []


def test_a_slider_of_a_closed_loop_keeps_it_closed(opened):
    system, state = four_bar.build()
    viewer = opened(mb.view(system, state, open_browser=False))
    crank = next(one for one in viewer._coordinates if one.name == "crank")
    wanted = np.degrees(crank.read(state)) + 20.0
    viewer._guarded(viewer._slide, crank, wanted)
    moved = viewer.state
    system.realize(moved, mb.Stage.POSITION)
    assert_allclose(np.degrees(crank.read(moved)), wanted, atol=0.5)
    assert np.abs(moved.q_err).max() < 1e-3
    assert_allclose(state.q, four_bar.build()[1].q)  # the user's own is left alone


def test_a_body_that_is_dragged_goes_to_the_mouse_and_takes_the_loop_along(opened):
    from mobod.viewer.simulator import Pull

    system, state = four_bar.build()
    viewer = opened(mb.view(system, state, open_browser=False))
    there = state.copy()
    crank = next(one for one in viewer._coordinates if one.name == "crank")
    viewer._guarded(viewer._slide, crank, np.degrees(crank.read(state)) + 15.0)
    there = viewer.state
    coupler = system.matter.bodies["coupler"]
    system.realize(there, mb.Stage.POSITION)
    target = coupler.find_station_location_in_ground(there, (0.3, 0.1, 0.0))
    viewer._guarded(viewer._reset)
    for _ in range(5):
        viewer._guarded(viewer._drag_pose, Pull(coupler.index, np.array([0.3, 0.1, 0.0]), target))
    moved = viewer.state
    system.realize(moved, mb.Stage.POSITION)
    assert np.abs(moved.q_err).max() < 1e-4
    assert_allclose(coupler.find_station_location_in_ground(moved, (0.3, 0.1, 0.0)), target, atol=0.02)
    viewer._guarded(viewer._drag_pose, Pull(coupler.index, np.zeros(3), np.array([50.0, 0.0, 0.0])))  # where it cannot go
    system.realize(far := viewer.state, mb.Stage.POSITION)
    assert np.abs(far.q_err).max() < 1e-4


def test_orientations_have_three_angles():
    from mobod.viewer.coordinates import list_coordinates

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1))), name="b")
    state = system.realize_topology()
    coordinates = list_coordinates(system, state, 2.0)
    assert [one.name for one in coordinates[:3]] == ["b rx", "b ry", "b rz"] and len(coordinates) == 6
    for one, value in zip(coordinates, (0.3, 1.5707963, -0.7, 1.0, 2.0, 3.0), strict=True):  # at the angles' singularity too
        one.write(state, value)
    assert_allclose([one.read(state) for one in coordinates], (0.3, 1.5707963, -0.7, 1.0, 2.0, 3.0))
    system.realize(state, mb.Stage.POSITION)
    assert_allclose(ball.get_body_rotation(state), mb.Rotation.from_body_fixed_xyz((0.3, 1.5707963, -0.7)), atol=1e-9)
    assert [one.is_angle for one in coordinates] == [True] * 3 + [False] * 3


def test_ranges_come_from_stops_and_from_the_caller():
    from mobod.viewer.coordinates import list_coordinates

    system, state = double_pendulum.build()
    names = [one.name for one in list_coordinates(system, state, 1.0)]
    ranges = {names[0]: (-0.5, 2.0)}
    first, second = list_coordinates(system, state, 1.0, ranges)
    value = first.read(state)
    assert_allclose((first.low, first.high), (min(-0.5, value), max(2.0, value)))
    assert_allclose((second.low, second.high), (-np.pi, np.pi))
    low, high = first.shown_range
    assert low <= np.degrees(first.low) and high >= np.degrees(first.high) and round(10 * low) == pytest.approx(10 * low)


def test_a_pull_brings_a_station_to_the_mouse_and_keeps_loops_closed():
    from mobod.viewer.simulator import Pull, apply_pull

    system, state = four_bar.build()
    system.realize(state, mb.Stage.VELOCITY)
    crank = system.matter.bodies["crank"]
    station = (0.1, 0.0, 0.0)
    place = crank.find_station_location_in_ground(state, station)
    apply_pull(system, state, Pull(crank.index, np.array(station), np.add(place, (0.0, 0.3, 0.0))), 1 / 30)
    system.realize(state, mb.Stage.VELOCITY)
    assert np.abs(state.u_err).max() < 1e-8
    velocity = crank.find_station_velocity_in_ground(state, station)
    assert np.isfinite(state.u).all()
    assert velocity[1] >= 0.0 and np.linalg.norm(velocity) > 0.0


def test_overlays_and_reports_of_bodies(opened):
    from mobod.viewer.body_report import describe_body, describe_constraints
    from mobod.viewer.overlays import Overlays

    system, state = four_bar.build()
    viewer = opened(mb.view(system, state, open_browser=False, units=("kg", "m", "s")))
    for name in Overlays.NAMES:
        viewer._guarded(viewer._overlays.show, name, True, viewer._state)
    text = describe_body(system, state, 1)
    system.realize(state, mb.Stage.ACCELERATION)
    force = system.matter.calc_mobilizer_reaction_forces(state)[1, 1]
    assert "crank" in text and f"{force[0]:.4g}" in text
    assert "loop" in describe_constraints(system, state)
    assert "kg" not in text and " N" not in text
    viewer._select(1)
    said = viewer._body_text.content
    assert "kg |" in said and f"{force[2]:.4g} N |" in said and " N m |" in said and " rad/s |" in said
    assert viewer._clock_text.content.startswith("t = 0.000 s")
    with pytest.raises(ValueError, match="units are three words"):
        mb.view(system, state, open_browser=False, units="kg")


def test_sliders_have_units_where_these_are_known():
    from mobod.viewer.coordinates import list_coordinates

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    mb.mobilizer.Cylinder(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0))), name="a")
    turn, slide = list_coordinates(system, system.realize_topology(), 1.0)
    assert (turn.label(("kg", "mm", "s")), slide.label(("kg", "mm", "s"))) == ("a rz (deg)", "a z (mm)")


def test_a_motion_plays_with_ghosts_and_graphs(page, opened):
    system, state = swing()
    motion = mb.simulate(system, state, 2.0)
    viewer = opened(motion.view(motion, stations=[(2, (0, 0, 0))], open_browser=False))
    visit(page, viewer)
    viewer.time = 0.5
    page.page.wait_for_timeout(1000)
    assert np.ptp(page.picture()[:, :180].reshape(-1, 3), axis=0).max() > 60
    page.page.get_by_role("button", name="Play").click()
    wait_for(page, lambda: viewer.time > 0.8)
    viewer.pause()
    assert page.errors == [] and page.outside() == []


def test_many_states_are_updated_thirty_times_a_second(opened):
    import time

    system, state = swing()
    ensemble = mb.Ensemble(system, 1000, state=state)
    viewer = opened(ensemble.view(spacing=3.0, open_browser=False))
    viewer.show()
    begin = time.perf_counter()
    for _ in range(10):
        ensemble.q = ensemble.q + 0.01
        viewer.show()
    each = (time.perf_counter() - begin) / 10
    print(f"{1e3 * each:.1f} ms")  # 3 where nothing else runs
    assert each < 1 / 30 * 3  # other tests run beside it


class Watcher:
    """Counts what it is shown, and fails when told."""

    def __init__(self, fails=False):
        self.fails, self.times = fails, []

    def show(self, state):
        if self.fails:
            raise RuntimeError("the page is gone")
        self.times.append(state.time)


def test_a_watched_run_shows_its_end_and_is_the_same():
    system, state = swing()
    watcher = Watcher()
    shown = mb.simulate(system, state, 3.0, view=watcher)
    assert watcher.times[-1] == 3.0
    assert_allclose(shown.q, mb.simulate(system, state, 3.0).q, rtol=0, atol=0)


def test_a_page_that_fails_or_is_closed_never_stops_a_run(opened):
    system, state = swing()
    with pytest.warns(RuntimeWarning, match="the run is shown no longer: RuntimeError: the page is gone"):
        assert len(mb.simulate(system, state, 1.0, view=Watcher(fails=True))) == 201
    viewer = opened(mb.view(system, state, open_browser=False))
    viewer.close()
    assert len(mb.simulate(system, state, 1.0, view=viewer)) == 201


def test_without_viser_a_run_goes_on_and_a_page_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "viser", None)
    system, state = swing()
    with pytest.warns(RuntimeWarning, match=r"the run is not shown: ImportError: .*mobod\[view\]"):
        assert len(mb.simulate(system, state, 1.0, view=True)) == 201
    with pytest.raises(ImportError, match=r"mobod\[view\]"):
        mb.view(system, state)


def test_what_cannot_be_viewed_is_refused():
    system, state = swing()
    with pytest.raises(TypeError, match="view takes a MultibodySystem, or a Model"):
        mb.view("panda")
    with pytest.raises(TypeError, match="state is a State"):
        mb.view(system, 3.0)
    with pytest.raises(ValueError, match="port is from 1 to 65535"):
        mb.view(system, state, port=0)
    with pytest.raises(TypeError, match="integrator is a class"):
        mb.view(system, state, integrator="BDF")
    with pytest.raises(ValueError, match="ranges: there is no coordinate 'a'"):
        mb.view(system, state, ranges={"a": (0, 1)})
    with pytest.raises(ValueError, match="has to begin below its end"):
        mb.view(system, state, ranges={"upper": (1, 0)})
    with pytest.raises(ValueError, match="accuracy"):
        mb.view(system, state, accuracy=-1.0)
    with pytest.raises(ValueError, match="spacing"):
        mb.Ensemble(system, 1, state=state).view(spacing=-1.0)
    motion = mb.simulate(system, state, 0.1)
    with pytest.raises(TypeError, match=r"a motion is played by its own view\(\)"):
        mb.view(motion)
    for stations, error in (([("nobody", (0, 0, 0))], KeyError), ([(1, (0, 0))], ValueError), ([5], TypeError)):
        with pytest.raises(error):
            motion.view(stations=stations, open_browser=False)
    with pytest.raises(TypeError, match="view is True, False or a viewer"):
        mb.simulate(system, state, 1.0, view="yes")
    empty = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(empty)
    with pytest.raises(mb.ModelError, match="nothing to see"):
        mb.view(empty)


def test_a_file_that_changes_is_shown_anew(tmp_path, opened):
    path = tmp_path / "one.urdf"
    write = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    path.write_text(write.format(1.0))
    model = mb.load_urdf(path)
    viewer = opened(mb.view(model, open_browser=False))
    viewer._guarded(viewer._slide, viewer._coordinates[0], 30.0)
    path.write_text(write.format(2.0))
    again = mb.load_urdf(path)
    viewer.replace(again.system, again.default_state(), again.ranges)
    assert_allclose(viewer.state.q, [np.radians(30.0)], atol=1e-9)
    assert viewer._system is again.system
    assert urllib.request.urlopen(viewer.url).status == 200


def test_lines_between_bodies_can_be_hidden_and_follow_a_state():
    from types import SimpleNamespace

    from mobod.shapes.mechanism import find_body_transforms
    from mobod.shapes.tracks import find_tracks
    from mobod.viewer.track_nodes import TrackNodes

    system, _ = swing()
    system.matter.add_rubber_band_line([("ground", (0, 1, 0)), ("lower", (0, 0, 0))], name="cable")
    state = system.realize_topology()
    scene = SimpleNamespace(add_line_segments=lambda *given, **more: SimpleNamespace(points=None, visible=False))
    nodes = TrackNodes(SimpleNamespace(scene=scene), find_tracks(system, [state]), "/t", 1.0)
    assert nodes.names == ["cable"]
    X_GB = find_body_transforms(system, state)
    nodes.move(X_GB)
    place = system.matter.bodies["lower"].get_body_origin_location(state)
    assert nodes.nodes[0].visible
    assert_allclose(nodes.nodes[0].points, [[(0, 1, 0), place]], atol=1e-6)
    nodes.show("cable", False)
    nodes.move(X_GB)
    assert not nodes.nodes[0].visible
    nodes.show("cable", True)
    nodes.replace([])  # nothing of it is there now
    nodes.move(X_GB)
    assert not nodes.nodes[0].visible
