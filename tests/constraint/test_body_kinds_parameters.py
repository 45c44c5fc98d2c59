"""Constraints' parameters; those between bodies: what they refuse, what they do at degenerate places, how they are drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.constraints import CONSTRAINTS, OF_BODIES, Pair, Tree
from mobod import constraint as con
from mobod.shapes.mechanism import Mechanism


def each(field):
    """All kinds' names of a field of their records, and other values for them."""
    found = [(r.kind.__name__, n, v) for r in CONSTRAINTS.values() for n, v in getattr(r, field).items()]
    return pytest.mark.parametrize(("kind", "name", "value"), found, ids=lambda x: x if isinstance(x, str) else "")


def part_of(make, kind):
    """A constraint of a kind in a system, and a way to draw states of it."""
    if kind in OF_BODIES:
        pair = Pair(make, kind)
        return pair.system, pair.constraint, pair.randomize
    model = Tree()
    (constraint,) = (one for one in model.matter.constraints if type(one).__name__ == kind)
    return model.system, constraint, lambda: model.randomize(make)


def same(actual, expected):
    assert_allclose(np.asarray(actual), np.asarray(expected), atol=1e-15)


@each("parameters")
def test_a_state_has_its_own(kind, name, value, make):
    """Set in one state: that state falls, is governed by it, and no other is; as if it had been made so."""
    system, constraint, randomize = part_of(make, kind)
    state = randomize()
    other = state.copy()
    default = getattr(constraint, f"get_default_{name}")()
    getattr(constraint, f"set_{name}")(state, value)
    assert state.stage <= mb.Stage.INSTANCE
    same(getattr(constraint, f"get_{name}")(state), value)
    same(getattr(constraint, f"get_{name}")(other), default)
    same(getattr(constraint, f"get_default_{name}")(), default)
    system.realize(state)
    assert getattr(constraint, f"set_default_{name}")(value) is constraint
    fresh = system.realize_topology()
    same(getattr(constraint, f"get_{name}")(fresh), value)
    fresh.time, fresh.q, fresh.u = state.time, state.q, state.u
    system.realize(fresh)
    assert np.array_equal(fresh.u_dot, state.u_dot)


@each("defaults")
def test_defaults(kind, name, value, make):
    system, constraint, randomize = part_of(make, kind)
    old = randomize()
    assert getattr(constraint, f"set_default_{name}")(value) is constraint
    same(getattr(constraint, f"get_default_{name}")(), value)
    with pytest.raises(mb.MobodError, match="realize_topology"):
        system.realize(old)
    fresh = system.realize_topology()
    same(getattr(constraint, f"get_{name}")(fresh), value)
    system.realize(fresh)


def test_what_is_refused(make):
    pair = Pair(make, "Rod")
    _, base, left, right, _ = pair.matter.bodies
    p, X, e = (0, 0, 0), mb.Transform(), (1, 0, 0)
    number = pair.matter.get_num_constraints()
    for error, match, attempt in (
        (ValueError, "station1 .*shape", lambda: con.Rod(left, (0, 0), right, p, 1.0)),
        (ValueError, "station2.*finite", lambda: con.Ball(left, p, right, (0, np.nan, 0))),
        (ValueError, "positive.*constraint.Ball", lambda: con.Rod(left, p, right, p, 0.0)),
        (TypeError, "frame1.*Transform", lambda: con.Weld(left, "here", right, X)),
        (
            mb.ModelError,
            "base_rotation.*orthonormal",
            lambda: con.ConstantOrientation(left, 2 * np.eye(3), right, mb.Rotation()),
        ),
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
        (ValueError, "length.*positive", lambda: pair.constraint.set_length(pair.state, -1.0)),
        (ValueError, "length.*positive", lambda: pair.constraint.set_default_length(-1.0)),
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
        OF_BODIES[kind][1](make, arm, other, matter.ground)
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


@pytest.mark.parametrize("kind", [name for name, (record, _) in OF_BODIES.items() if record.force_on_second])
def test_forces_on_bodies(kind, make, close):
    """What kinds say of their forces are those that the equations of motion have."""
    pair = Pair(make, kind)
    state, constraint, bodies = pair.randomize(), pair.constraint, pair.matter.bodies
    F, _ = constraint.get_constraint_forces_as_vectors(state)
    constrained = [constraint.get_mobilized_body_from_constrained_body(i) for i in range(len(F))]
    on_second = -F[constrained.index(bodies[3])]
    said = pair.record.force_on_second(constraint, state, bodies)
    assert any(part is not None for part in said)
    for part, actual in zip(said, on_second, strict=True):
        if part is not None:
            close(part, actual, 1e-12, max(np.abs(on_second).max(), 1e-3))


@pytest.mark.parametrize("kind", OF_BODIES)
def test_every_kind_is_drawn_unless_disabled(kind, make):
    """It adds shapes or lines beside those of the bodies, of which a stick may go that is short for a whole that has grown."""
    pair = Pair(make, kind)
    state = pair.randomize()
    drawn = Mechanism.of(pair.system, state)
    pair.constraint.disable(state)
    without = Mechanism.of(pair.system, state)
    X_GB = np.array([np.asarray(body.get_body_transform(pair.randomize(state))) for body in pair.matter.bodies])
    (faces, lines), (own_faces, own_lines) = [
        (len(one.place_faces(X_GB)), len(one.place_segments(X_GB))) for one in (drawn, without)
    ]
    more = faces > own_faces or lines > own_lines
    assert own_faces + own_lines > 0 and more, f"{kind.__name__} is not drawn: give it `marks`, or `lines`"


@pytest.mark.parametrize("record", [r for r in CONSTRAINTS.values() if r.display_sizes], ids=lambda r: r.kind.__name__)
def test_display_sizes(record, make):
    """They take any size, zero hides; a change of them needs no new state."""
    pair = Pair(make, record.kind.__name__)
    shown = len(pair.constraint.marks(pair.randomize()))
    for name in record.display_sizes:
        assert getattr(pair.constraint, f"set_{name}")(0.3) is pair.constraint
        assert getattr(pair.constraint, f"get_{name}")() == 0.3
        with pytest.raises(ValueError, match="has to be zero or more"):
            getattr(pair.constraint, f"set_{name}")(-1.0)
        getattr(pair.constraint, f"set_{name}")(0.0)
        left = len(pair.constraint.marks(pair.randomize()))
        assert left < shown or not record.hides or name == "axis_display_width"  # of no axis then
        shown = left
    if record.hides:
        assert shown == 0


def test_marks_of_axes_and_edges_lie_along_them(make):
    pair = Pair(make, "ConstantAngle")
    state, angle = pair.randomize(), pair.constraint.set_axis_display_length(0.7)
    first, second = [line for _, line in angle.marks(state)]
    for line, axis in ((first, angle.get_base_axis(state)), (second, angle.get_follower_axis(state))):
        same([line.point1, line.point2], [np.zeros(3), 0.7 * np.asarray(axis)])
    pair = Pair(make, "LineOnLineContact")
    state, edges = pair.randomize(), pair.constraint
    first, second = [line for _, line in edges.marks(state)]
    for line, X, half in ((first, edges.get_frame1(state), 0.4), (second, edges.get_frame2(state), 0.6)):
        same([~X @ line.point1, ~X @ line.point2], [(-half, 0, 0), (half, 0, 0)])
