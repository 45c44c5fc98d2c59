"""Constraints between bodies: their parameters, what they refuse, what they do at degenerate places, how they are drawn."""

import numpy as np
import pytest
from body_kinds import KINDS, Pair
from numpy.testing import assert_allclose

import mobod as mb
from mobod import constraint as con
from mobod.visual.mechanism import Mechanism

#: Of kinds with parameters that a state can change: what they are called, and other values.
SETTABLE = {
    "Rod": {"point_on_body1": (1, 2, 3), "point_on_body2": (0.1, 0.2, 0.3), "rod_length": 2.5},
    "Ball": {"point_on_body1": (1, 2, 3), "point_on_body2": (0.1, 0.2, 0.3)},
    "NoSlip1D": {"contact_point": (1, 2, 3), "direction": (0, 0.6, 0.8)},
    "SphereOnPlaneContact": {"plane_frame": mb.Transform((1, 2, 3)), "sphere_center": (1, 2, 3), "sphere_radius": 0.7},
    "SphereOnSphereContact": {"center_on_f": (1, 2, 3), "radius_on_f": 0.7, "center_on_b": (3, 2, 1), "radius_on_b": 0.9},
    "LineOnLineContact": {
        "edge_frame_f": mb.Transform((1, 2, 3)),
        "half_length_f": 0.7,
        "edge_frame_b": mb.Transform((3, 2, 1)),
        "half_length_b": 0.9,
    },
}
#: Those of other kinds, which a change of the topology alone can change.
DEFAULTS = {
    "Weld": {"frame_on_body1": mb.Transform((1, 2, 3)), "frame_on_body2": mb.Transform((3, 2, 1))},
    "PointInPlane": {"plane_normal": (0, 0.6, 0.8), "plane_height": -2.0, "follower_point": (1, 2, 3)},
    "PointOnLine": {"line_direction": (0, 0.6, 0.8), "point_on_line": (3, 2, 1), "follower_point": (1, 2, 3)},
    "ConstantAngle": {"base_axis": (0, 0.6, 0.8), "follower_axis": (0.6, 0.8, 0), "angle": 0.5},
    "ConstantOrientation": {"base_rotation": mb.Rotation.about_axis(0.3, "x"), "follower_rotation": mb.Rotation()},
    "PointOnPlaneContact": {"plane_frame": mb.Transform((1, 2, 3)), "follower_point": (1, 2, 3)},
}


def pairs_of(table):
    return [
        pytest.param(kind, name, value, id=f"{kind}-{name}") for kind, found in table.items() for name, value in found.items()
    ]


def same(actual, expected):
    assert_allclose(np.asarray(actual), np.asarray(expected), atol=1e-15)


@pytest.mark.parametrize(("kind", "name", "value"), pairs_of(SETTABLE))
def test_a_state_has_its_own(kind, name, value, make):
    """Set in one state: that state falls, is governed by it, and no other is; as if it had been made so."""
    pair = Pair(make, kind)
    state, constraint = pair.randomize(), pair.constraint
    other = state.copy()
    default = getattr(constraint, f"get_default_{name}")()
    getattr(constraint, f"set_{name}")(state, value)
    assert state.stage <= mb.Stage.INSTANCE
    same(getattr(constraint, f"get_{name}")(state), value)
    same(getattr(constraint, f"get_{name}")(other), default)
    same(getattr(constraint, f"get_default_{name}")(), default)
    pair.system.realize(state)
    assert getattr(constraint, f"set_default_{name}")(value) is constraint
    fresh = pair.system.realize_topology()
    same(getattr(constraint, f"get_{name}")(fresh), value)
    fresh.q, fresh.u = state.q, state.u
    pair.system.realize(fresh)
    assert np.array_equal(fresh.u_dot, state.u_dot)


@pytest.mark.parametrize(("kind", "name", "value"), pairs_of(DEFAULTS))
def test_defaults(kind, name, value, make):
    pair = Pair(make, kind)
    old = pair.state
    assert getattr(pair.constraint, f"set_default_{name}")(value) is pair.constraint
    same(getattr(pair.constraint, f"get_default_{name}")(), value)
    with pytest.raises(mb.MobodError, match="realize_topology"):
        pair.system.realize(old)
    fresh = pair.system.realize_topology()
    same(getattr(pair.constraint, f"get_{name}")(fresh), value)
    pair.randomize(fresh)


def test_what_is_refused(make):
    pair = Pair(make, "Rod")
    _, base, left, right, _ = pair.matter.bodies
    p, X, e = (0, 0, 0), mb.Transform(), (1, 0, 0)
    number = pair.matter.get_num_constraints()
    for error, match, attempt in (
        (ValueError, "station1.*three", lambda: con.Rod(left, (0, 0), right, p, 1.0)),
        (ValueError, "station2.*finite", lambda: con.Ball(left, p, right, (0, np.nan, 0))),
        (ValueError, "positive.*constraint.Ball", lambda: con.Rod(left, p, right, p, 0.0)),
        (TypeError, "frame1.*Transform", lambda: con.Weld(left, np.eye(4), right, X)),
        (TypeError, "base_rotation.*Rotation", lambda: con.ConstantOrientation(left, np.eye(3), right, mb.Rotation())),
        (ValueError, "plane_normal.*zero", lambda: con.PointInPlane(left, p, 0.0, right, p)),
        (ValueError, "line_direction.*zero", lambda: con.PointOnLine(left, p, p, right, p)),
        (ValueError, "base_axis.*zero", lambda: con.ConstantAngle(left, p, right, e)),
        (ValueError, "angle.*from 0 to pi", lambda: con.ConstantAngle(left, e, right, e, 4.0)),
        (ValueError, "direction.*zero", lambda: con.NoSlip1D(base, p, p, left, right)),
        (ValueError, "radius.*positive", lambda: con.SphereOnPlaneContact(left, X, right, p, -1.0, True)),
        (ValueError, "radius2.*positive", lambda: con.SphereOnSphereContact(left, p, 1.0, right, p, 0.0, True)),
        (ValueError, "half_length1.*positive", lambda: con.LineOnLineContact(left, X, 0.0, right, X, 1.0, True)),
        (mb.TopologyError, "to itself.*two different", lambda: con.Ball(left, p, left, p)),
        (mb.TopologyError, "to itself.*two different", lambda: con.NoSlip1D(base, p, e, left, left)),
        (TypeError, "takes mobilized bodies", lambda: con.Ball(left, p, 1.0, p)),
        (TypeError, "takes mobilized bodies, not 1.*object", lambda: con.Ball(1, p, 2, p)),
        (KeyError, "nobody", lambda: con.Ball(left, p, "nobody", p)),
        (IndexError, "no number 99", lambda: con.NoSlip1D(base, p, e, left, 99)),
        (mb.TopologyError, "another system", lambda: con.Ball(left, p, Pair(make, "Rod").matter.bodies[2], p)),
        (ValueError, "length.*positive", lambda: pair.constraint.set_rod_length(pair.state, -1.0)),
        (ValueError, "length.*positive", lambda: pair.constraint.set_default_rod_length(-1.0)),
    ):
        with pytest.raises(error, match=match):
            attempt()
    assert pair.matter.get_num_constraints() == number
    pair.randomize()  # nothing has changed


def test_between_bodies_that_cannot_move_against_each_other(make):
    """Welded to each other, by way of a third: both are named. A case that moves alone does not help."""
    for kind in ("Rod", "NoSlip1D"):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        base = make.mobilized_body(mb.mobilizer.Free, matter.ground)
        arm, other = (mb.mobilizer.Weld(base, make.body(), name=name) for name in ("arm", "other"))
        KINDS[kind](make, arm, other, matter.ground)
        with pytest.raises(mb.ModelError, match=r"'arm'.*'other'.*no mobilizer between these"):
            system.realize_topology()


def test_what_a_disabled_one_says(make):
    pair = Pair(make, "Rod")
    state = pair.state
    pair.constraint.disable(state)
    pair.randomize()
    with pytest.raises(mb.ModelError, match=r"disabled.*enable"):
        pair.constraint.get_position_error(state)
    assert pair.constraint.get_rod_tension(state) == 0.0
    assert pair.constraint.find_length_violation(state) != 0.0


@pytest.mark.parametrize(
    "build",
    [
        lambda a, b: con.Rod(a, (0, 0, 0), b, (0, 0, 0), 1.0),
        lambda a, b: con.SphereOnSphereContact(a, (0, 0, 0), 0.4, b, (0, 0, 0), 0.6, True),
        lambda a, b: con.LineOnLineContact(a, mb.Transform(), 1.0, b, mb.Transform((0, 0.3, 0.5)), 1.0, True),
        lambda a, b: con.ConstantAngle(a, (1, 0, 0), b, (1, 0, 0), 0.0),
    ],
    ids=["rod without length", "concentric spheres", "parallel lines", "parallel axes"],
)
def test_degenerate_places(build):
    """Where a direction is undefined everything is finite, for a state as for lanes of an ensemble."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    constraint = build(matter.ground, body)
    state = system.realize_topology()
    state.u = (0.3, -0.2, 0.5, 0.1, 0.4, -0.6)
    system.realize(state)
    for array in (state.q_err, state.u_err, state.u_dot, state.multipliers, matter.calc_g(state)):
        assert np.isfinite(array).all()
    if hasattr(constraint, "find_contact_frame_in_g"):
        R = np.asarray(constraint.find_contact_frame_in_g(state).R)
        assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
    if isinstance(constraint, con.LineOnLineContact):
        Q1, Q2, parallel = constraint.find_closest_points_in_g(state)
        assert parallel
        assert_allclose(Q2 - Q1, (0, 0.3, 0.5), atol=1e-15)
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.realize()
    assert_allclose(ensemble.u_dot, np.tile(state.u_dot, (3, 1)), atol=1e-12)


def test_a_rod_under_load_is_in_tension():
    """A weight on a rod: tension m g, the direction down; and under a push, compression."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -10, 0))
    weight = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(2, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    rod = con.Rod(matter.ground, (0, 0, 0), weight, (0, 0, 0), 1.5)
    state = system.realize_topology()
    state.q = (0, -1.5, 0)
    system.realize(state)
    assert rod.get_rod_tension(state) == pytest.approx(20.0)
    assert rod.get_multiplier(state) == rod.get_rod_tension(state)
    assert_allclose(rod.find_rod_orientation_in_g(state), (0, -1, 0))
    state.q = (0, 1.5, 0)
    system.realize(state)
    assert rod.get_rod_tension(state) == pytest.approx(-20.0)


def test_parallel_rods_share_the_load():
    """A plate that can only be displaced hangs on three rods, one of which would do: each bears a third."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -10, 0))
    plate = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(3, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    corners = (0, 0, 0), (1, 0, 0), (0, 0, 1)
    rods = [con.Rod(matter.ground, corner, plate, corner, 1.5) for corner in corners]
    state = system.realize_topology()
    state.q, state.u = (0, -1.5, 0), (0.3, 0, 0.4)
    system.realize(state)
    centrifugal = 3.0 * 0.5**2 / 1.5
    assert_allclose([rod.get_rod_tension(state) for rod in rods], (30.0 + centrifugal) / 3.0, rtol=1e-9)
    assert_allclose(state.u_dot, (0, 0.5**2 / 1.5, 0), atol=1e-9)


def test_forces_on_bodies(make, close):
    """What kinds say of their forces are those that the equations of motion have."""
    for kind in KINDS:
        pair = Pair(make, kind)
        state, constraint = pair.randomize(), pair.constraint
        F, _ = constraint.get_constraint_forces_as_vectors(state)
        on_second = -F[-1 if kind != "NoSlip1D_own_case" else 0]
        body = pair.matter.bodies[3]
        R = np.asarray(body.get_body_transform(state).R)
        if kind == "Ball":
            close(R @ constraint.get_ball_reaction_force_on_body2(state), on_second[1], 1e-12)
        elif kind == "Weld":
            close(constraint.get_weld_reaction_on_body2(state) @ R.T, on_second, 1e-12)
        elif kind == "ConstantOrientation":
            close(R @ constraint.get_torque_on_follower_body(state), on_second[0], 1e-12)
        elif kind == "PointOnPlaneContact":
            R_GP = pair.matter.bodies[2].get_body_transform(state).R @ constraint.get_plane_frame(state).R
            close(np.asarray(R_GP) @ constraint.get_force_on_follower_point(state), on_second[1], 1e-12)
        elif kind.startswith("SphereOnSphere"):
            close(constraint.find_force_on_sphere_b_in_g(state), on_second[1], 1e-12)
        elif kind == "PointInPlane":
            n = pair.matter.bodies[2].express_vector_in_ground_frame(state, constraint.get_plane_normal(state))
            close(constraint.get_force_on_follower_point(state) * n, on_second[1], 1e-12)
        elif kind.startswith("NoSlip1D"):
            case = pair.matter.bodies[constraint.get_case_mobilized_body_index()]
            n = case.express_vector_in_ground_frame(state, constraint.get_direction(state))
            close(constraint.get_force_at_contact_point(state) * n, on_second[1], 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_unless_disabled(kind, make):
    """It adds shapes or lines, which do not stand in for a body's own."""
    pair = Pair(make, kind)
    state = pair.randomize()
    drawn = Mechanism.of(pair.system, state)
    pair.constraint.disable(state)
    without = Mechanism.of(pair.system, state)
    X_GB = np.array([np.asarray(body.get_body_transform(pair.randomize(state))) for body in pair.matter.bodies])
    parts = [len(one.place_faces(X_GB)) + len(one.place_segments(X_GB)) for one in (drawn, without)]
    assert parts[0] > parts[1] > 0


def test_display_sizes(make):
    """They take any size, zero hides; a change of them needs no new state."""
    sizes = {
        "Ball": ("default_radius",),
        "Weld": ("axis_display_length",),
        "PointInPlane": ("plane_display_half_width", "point_display_radius"),
        "PointOnLine": ("line_display_half_length", "point_display_radius"),
        "ConstantAngle": ("axis_display_length", "axis_display_width"),
        "NoSlip1D": ("direction_display_length", "point_display_radius"),
        "PointOnPlaneContact": ("plane_display_half_width", "point_display_radius"),
        "SphereOnPlaneContact": ("plane_display_half_width",),
    }
    for kind, names in sizes.items():
        pair = Pair(make, kind)
        for name in names:
            assert getattr(pair.constraint, f"set_{name}")(0.3) is pair.constraint
            assert getattr(pair.constraint, f"get_{name}")() == 0.3
            with pytest.raises(ValueError, match="positive"):
                getattr(pair.constraint, f"set_{name}")(-1.0)
            getattr(pair.constraint, f"set_{name}")(0.0)
        if kind != "SphereOnPlaneContact":  # whose sphere is drawn in any case
            assert not pair.constraint._marks(pair.randomize())
