"""Lines and points that are drawn beside the bodies: muscles, tendons, springs, markers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.force.transmission import StraightPath, Wrap, WrappedPath
from mobod.shapes.mechanism import find_body_transforms
from mobod.shapes.tracks import calc_tracks, find_tracks
from mobod.viewer.replay import make_replay


@pytest.fixture
def arm():
    system, _ = mb.examples.double_pendulum.build()
    return system


def track_of(system, state, name):
    X_GB = find_body_transforms(system, state)
    return np.concatenate([one.place(X_GB) for one in find_tracks(system, [state]) if one.name == name])


def length_of(lines):
    return np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1).sum()


def posed(system, *q):
    state = system.realize_topology()
    state.q = q
    system.realize(state, mb.Stage.POSITION)
    return state


def test_a_rubber_band_line_follows_bodies_and_leaves_points_out(arm):
    points = [("ground", (0, 1, 0)), (1, lambda state: (0.1, state.q[1], 0) if state.q[0] > 0 else None), ("lower", (0, 0, 0))]
    arm.matter.add_rubber_band_line(points, color="blue", name="cable")
    for q in ((0.3, 0.4), (-0.3, 0.4)):
        state = posed(arm, *q)
        ends = [np.array((0, 1, 0)), arm.matter.bodies[2].get_body_origin_location(state)]
        if q[0] > 0:
            ends.insert(1, arm.matter.bodies[1].find_station_location_in_ground(state, (0.1, 0.4, 0)))
        assert_allclose(track_of(arm, state, "cable"), np.stack([ends[:-1], ends[1:]], axis=1), atol=1e-15)


@pytest.mark.parametrize(
    "points, error",
    [
        ([("ground", (0, 0, 0))], mb.ModelError),
        ([("ground", (0, 0)), (1, (0, 0, 0))], ValueError),
        ([("nobody", (0, 0, 0)), (1, (0, 0, 0))], KeyError),
        ([(9, (0, 0, 0)), (1, (0, 0, 0))], IndexError),
    ],
)
def test_what_is_no_line_is_refused(arm, points, error):
    with pytest.raises(error):
        arm.matter.add_rubber_band_line(points)
    with pytest.raises(ValueError, match="color"):
        arm.matter.add_rubber_band_line([(0, (0, 0, 0)), (1, (0, 0, 0))], color="nice")
    assert arm.matter.rubber_band_lines == []


def test_springs_between_points_are_lines_as_long_as_they_are_and_none_when_they_are_off(arm):
    lower = arm.matter.bodies["lower"]
    spring = mb.force.TwoPointLinearSpring(arm.forces, arm.matter.ground, (1, 0, 0), lower, (0, 0.2, 0), 10.0, 1.0)
    state = posed(arm, 0.3, 0.4)
    assert_allclose(length_of(track_of(arm, state, "springs")), spring.calc_length(state))
    spring.disable(state)
    assert find_tracks(arm, [state]) == []


@pytest.mark.parametrize("is_cylinder", [False, True])
def test_a_tendon_is_drawn_around_what_it_wraps(arm, is_cylinder):
    """The lines are chords: shorter than the path by less than the eighth part of its bend squared over 24, 1 %."""
    upper, lower = arm.matter.bodies[1], arm.matter.bodies[2]
    turned = mb.Transform(mb.Rotation.from_body_fixed_xyz((0.2, 0.1, 0.4)), (0.02, -0.1, 0.03))
    wrap = Wrap(upper, 0.2, turned, is_cylinder, (upper, (0.7, -0.1, 0.0)))
    ends = (arm.matter.ground, (0.3, 0.6, 0.1)), (lower, (0.2, 0.1, -0.1))
    path = WrappedPath(arm.forces, [([ends[0], wrap, ends[1]], 1.0)])
    straight = StraightPath(arm.forces, [(list(ends), 1.0)])
    for one in (path, straight):
        mb.force.TransmissionSpring(arm.forces, one, stiffness=1.0)
    bends = 0
    for q in np.linspace(-1.2, 1.2, 9):
        state = posed(arm, q, -0.5 * q)
        tracks = track_of(arm, state, "tendons")
        bent = length_of(tracks) - straight.calc_length(state)
        assert path.calc_length(state) * 0.99 < bent <= path.calc_length(state) + 1e-12
        bends += len(tracks) > 2
    assert bends > 2


def test_muscles_of_a_model_are_drawn_through_their_points():
    from mobod.importer.named_models import find_examples

    model = mb.load_osim(find_examples()["leg6dof9musc"])
    state = model.default_state()
    model.system.realize(state, mb.Stage.POSITION)
    lines = track_of(model.system, state, "muscles")
    places = [
        [one.body.find_station_location_in_ground(state, one.station) for one in muscle.points if one.kind == "PathPoint"]
        for muscle in model.data["muscles"].values()
    ]
    for path in places:  # each point that is fixed is an end of a line
        for place in path:
            assert np.abs(lines.reshape(-1, 3) - place).max(axis=1).min() < 1e-12


def test_muscles_have_the_colour_of_their_activation():
    """Over a motion each is in one colour at a time, from blue to red; states of other activations have other colours."""
    from mobod.importer.named_models import find_examples
    from mobod.shapes.tracks import ACTIVE, RESTING, calc_tracks, color_of, find_tracks

    assert color_of(0.0) == RESTING
    assert color_of(1.0) == ACTIVE
    model = mb.load_osim(find_examples()["leg6dof9musc"])
    state = model.default_state()
    soleus = model.muscles["soleus_r"]
    states = []
    for activation in (0.0, 0.5, 1.0):
        soleus.set_state_variable(state, "activation", activation)
        states.append(state.copy())
    tracks = {one.color: one for one in find_tracks(model.system, states) if one.name == "muscles"}
    assert set(tracks) == {color_of(a) for a in (0.0, 0.5, 1.0)}
    there = [np.isfinite(tracks[color_of(a)].stations[:, :, 0]).sum(axis=1) for a in (0.0, 0.5, 1.0)]
    ends = 2 * len(soleus.calc_lines(realized(model, states[0])))
    assert (there[1] == [0, ends, 0]).all()
    assert (there[2] == [0, 0, ends]).all()
    assert there[0][0] == there[0][1] + ends == there[0][2] + ends
    motion = mb.Trajectory(
        time=np.array([0.0, 1.0]), q=np.array([state.q] * 2), u=np.array([state.u] * 2), system=model.system,
        z=np.array([states[0].z, states[2].z]), energy=np.zeros(2),
        coordinate_names=[*model.coordinates], speed_names=[*model.speeds], state=states[0],
    )  # fmt: skip
    seen = {one.color for one in calc_tracks(motion, np.linspace(0.0, 1.0, 9)) if one.name == "muscles"}
    assert len(seen) == 9


def realized(model, state):
    model.system.realize(state, mb.Stage.POSITION)
    return state


def test_motions_of_inverse_kinematics_show_both_kinds_of_markers():
    from mobod.importer.named_models import find_examples

    model = mb.load_urdf(find_examples()["panda"])
    hand = model.bodies["panda_link7"]
    model.markers |= {f"m{k}": (hand, 0.1 * np.eye(3)[k]) for k in range(3)}
    state = model.default_state()
    model.system.realize(state, mb.Stage.POSITION)
    seen = {name: np.tile(body.find_station_location_in_ground(state, p), (3, 1)) for name, (body, p) in model.markers.items()}
    seen["m0"] = seen["m0"] + (0.0, 0.0, 0.004)
    seen["m1"][1] = np.nan
    motion = mb.inverse_kinematics(model, mb.Table([0.0, 0.1, 0.2], seen))
    times = np.array([0.0, 0.1, 0.2])
    shown = {one.name: one for one in calc_tracks(motion, times)}
    assert list(shown) == ["markers", "measured markers", "marker errors"] and shown["markers"].labels == ("m0", "m1", "m2")
    for row, count in enumerate((3, 2, 3)):
        state.q = motion.q[row]
        X_GB = find_body_transforms(model.system, state)
        assert_allclose(shown["measured markers"].place(X_GB, row), [v[row] for v in seen.values() if np.isfinite(v[row, 0])])
        errors = shown["marker errors"].place(X_GB, row)
        assert len(errors) == count
        assert_allclose(length_of(errors), np.nansum([motion.residuals[name][row] for name in seen]), atol=1e-12)


@pytest.mark.parametrize("is_cylinder", [False, True])
def test_a_tendon_that_goes_the_long_way_round_is_drawn_there(arm, is_cylinder):
    ground = arm.matter.ground
    wrap = Wrap(ground, 0.2, mb.Transform(), is_cylinder, (ground, (-0.7, 0.0, 0.0)))
    path = WrappedPath(arm.forces, [([(ground, (0.3, 0.05, 0.0)), wrap, (ground, (0.3, -0.05, 0.02))], 1.0)])
    mb.force.TransmissionSpring(arm.forces, path, stiffness=1.0)
    state = posed(arm, 0.0, 0.0)
    lines = track_of(arm, state, "tendons")
    assert path.calc_length(state) > np.pi * 0.2
    assert 0.95 < length_of(lines) / path.calc_length(state) < 1.0  # eight chords of more than half a turn
    assert lines[..., 0].min() < -0.19
    assert np.linalg.norm(lines[..., : 2 if is_cylinder else 3], axis=-1).min() > 0.199


def test_a_point_that_comes_and_goes_changes_which_bodies_a_line_joins(arm):
    middle = lambda state: (0.1, 0.0, 0.0) if state.time < 1.5 else None  # noqa: E731
    arm.matter.add_rubber_band_line([("ground", (0, 1, 0)), (1, middle), ("lower", (0, 0, 0))])
    states = [posed(arm, 0.3, 0.4) for _ in range(3)]
    for time, state in enumerate(states):
        state.time = time
    (track,) = find_tracks(arm, states)
    X_GB = find_body_transforms(arm, states[0])
    for row, state in enumerate(states):
        (alone,) = find_tracks(arm, [state])
        assert_allclose(np.sort(track.place(X_GB, row), axis=0), np.sort(alone.place(X_GB), axis=0), atol=1e-15)
        assert len(track.place(X_GB, row)) == (2 if row < 2 else 1)
    assert len(track.place(X_GB, 1, 0.4)) == 2 and len(track.place(X_GB, 1, 0.6)) == 1  # the nearer row's


def test_lines_between_fixed_stations_are_asked_for_once(arm, monkeypatch):
    """A net of ten thousand springs would take seconds for each second of a film."""
    spring = mb.force.TwoPointLinearSpring(arm.forces, arm.matter.ground, (1, 0, 0), arm.matter.bodies[2], (0, 0, 0), 10.0, 1.0)
    arm.matter.add_rubber_band_line([(0, (0, 1, 0)), (1, lambda state: (state.time, 0.0, 0.0))], name="springs")
    states, asked = [posed(arm, 0.3, 0.4) for _ in range(5)], []
    for time, state in enumerate(states):
        state.time = time
    lines = type(spring).calc_lines
    monkeypatch.setattr(type(spring), "calc_lines", lambda self, state: asked.append(state) or lines(self, state))
    still, moving = find_tracks(arm, states)
    assert len(asked) == 1 and still.name == moving.name == "springs"
    assert still.stations.shape == (1, 2, 3) and moving.stations.shape == (5, 2, 3)


def test_views_hold_lines_that_go_farther_than_bodies(arm):
    """In a page that is a file, and on a plot, whose axes are as wide."""
    far, matter = np.array([-4.0, 3.0, 0.0]), arm.matter
    mb.force.TwoPointLinearSpring(arm.forces, matter.ground, far, matter.bodies["lower"], (0, -1, 0), 1.0, 4.0)
    trajectory = mb.simulate(arm, arm.realize_topology(), 0.1)
    about = make_replay(trajectory).about
    place = np.reshape(about["R_DG"], (3, 3)) @ far
    assert about["followed"] == -1 and (abs(place - about["middle"]) <= 0.5 * np.array(about["extent"])).all()
    axes = trajectory.plot(snapshots=2).axes[0]
    assert axes.get_xlim()[0] <= place[0] and place[2] <= axes.get_zlim()[1]
