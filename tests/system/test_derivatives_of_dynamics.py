"""Inverse dynamics with all that acts, and derivatives of both dynamics: of every kind of mobilizer, force and constraint.

Against differences of fourth order at 1e-7 of the largest entry: their truncation and rounding, times the derivatives of trees
whose mass matrices have conditions of 1e3.
"""

import signal
import time
import warnings
from importlib.resources import as_file, files

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import OF_BODIES, Pair, Tree
from kinds.forces import elements, realized_with_all, tree
from mobod import Stage
from mobod.algebra import rotation
from mobod.algebra.scalar import sin
from mobod.derivative.analytic import sweep_for, whole_for
from mobod.derivative.equations import contradiction
from mobod.derivative.local import BODY, REST
from mobod.derivative.plan import acts_along, acts_between, is_on_body
from mobod.derivative.products import LONGEST
from mobod.derivative.sweep import NUMBERS_A_BODY
from mobod.force.slopes import KIND, ORIENTATION

DIFFERENCE = 1e-7


def steps_of_speeds(state):
    """N of every mobilizer, a column a speed."""
    matter = state.system.matter
    return np.array([matter.multiply_by_n(state, False, e) for e in np.eye(len(state.u))]).T


def at(state, stage=Stage.ACCELERATION, **values):
    """A state with other values, quaternions normalized."""
    other = state.copy()
    for name, value in values.items():
        setattr(other, name, value)
    state.system.normalize_quaternions(other)
    state.system.realize(other, stage)
    return other


def columns(state, f, derivative, names=("q", "u", "z", "time")):
    """Differences of f(state) by each variable."""
    N, found = steps_of_speeds(state), {}
    steps = {"q": N.T, "u": np.eye(len(state.u)), "z": np.eye(len(state.z)), "time": [1.0]}
    for name in names:
        here = getattr(state, name)
        each = [derivative(lambda h, d=d, n=name, x=here: f({n: x + h * d})) for d in steps[name]]
        found[name] = np.array(each).T.reshape(len(state.u), len(each))
    found["time"] = found["time"][:, 0] if "time" in found else None
    return found


def assert_forward(state, close, derivative):
    found = state.system.calc_forward_dynamics_derivatives(state)
    expected = columns(state, lambda values: np.array(at(state, **values).u_dot), derivative)
    for name, value in expected.items():
        close(getattr(found, name), value, DIFFERENCE)
    matter, system = state.system.matter, state.system
    f, F = system.get_mobility_forces(state), system.get_rigid_body_forces(state)
    others = [matter.calc_acceleration(state, f + e, F)[0] for e in np.eye(len(state.u))]
    close(found.mobility_forces, np.array(others).T - matter.calc_acceleration(state, f, F)[0][:, None], 1e-9)
    return found


def assert_inverse(state, rng, close, derivative):
    u_dot = rng.normal(size=len(state.u))
    found = state.system.calc_inverse_dynamics_derivatives(state, u_dot)

    def missing(values):
        return state.system.calc_inverse_dynamics(at(state, Stage.VELOCITY, **values), u_dot)

    expected = columns(state, missing, derivative, ("q", "u"))
    close(found.q, expected["q"], DIFFERENCE)
    close(found.u, expected["u"], DIFFERENCE)
    assert np.array_equal(found.u_dot, state.system.matter.calc_m(state))


@pytest.mark.parametrize("angles", ["quaternions", "euler"])
def test_every_kind_of_mobilizer_under_gravity(make, close, derivative, angles):
    """Forward and reversed, with rotors, some of them locked: the one sweep."""
    model = make.tree(rotors=True)
    state = model.state
    if angles == "euler":
        model.matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.randomize(Stage.MODEL)
    model.bodies[3].lock(state)
    locked = model.bodies[5]
    locked.lock_at(state, make.vector(locked.get_num_u(state)), mb.Motion.Level.ACCELERATION)
    model.system.realize(state)
    found = assert_forward(state, close, derivative)
    assert not found.time.any() and not found.mobility_forces[locked.u_slice(state)].any()
    assert_inverse(state, make.rng, close, derivative)


def test_one_coordinate_that_turns_and_moves_a_body_at_once(make, close, derivative):
    """The knee of the examples: its one column is neither a pin's, a slider's nor a screw's."""
    system, state = mb.examples.knee.build()
    for one in system.all_forces():
        if not isinstance(one, mb.force.Gravity):
            one.disable(state)
    state.q, state.u = state.q + make.rng.uniform(0.3, 0.6, len(state.q)), make.rng.normal(size=len(state.u))
    system.realize(state)
    assert_forward(state, close, derivative)
    assert_inverse(state, make.rng, close, derivative)


def test_every_kind_of_force(make, close, derivative):
    """All in one tree: by dual numbers. Beside a law's corner, by differences of a third of the step."""
    _, _, state = realized_with_all(make)

    def away_from_corners(f):
        wide, narrow = derivative(f), derivative(f, 1e-4)
        return narrow if np.abs(wide - narrow).max() > 1e-6 * np.abs(narrow).max() else wide

    assert_forward(state, close, away_from_corners)
    assert_inverse(state, make.rng, close, away_from_corners)


@pytest.mark.parametrize("leaves_out", [False, True])
def test_weights(leaves_out, make, close, derivative):
    """Of two fields, one of which may leave out a body, and of what holds up more bodies than are differentiated one by one."""
    model = make.tree(10, [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Ball])
    mb.force.UniformGravity(model.forces, model.matter, make.vector(size=9.0))
    mb.force.GravityCompensation(model.forces, {b: make.rng.uniform(0.2, 0.9) for b in model.bodies[1:]}, (1.0, 2.0, -9.0))
    if leaves_out:
        model.gravity.set_default_body_is_excluded(model.bodies[2], True)
    model.made()
    state = model.randomize()
    plan = sweep_for(model.system, state).parts.plan
    assert not plan.by_duals and len(plan.hung) == 1
    assert_alone_and_in_lanes(state, make.rng, close, derivative)


def test_forces_on_single_mobilities(make, close, derivative):
    """Springs, dampers, stops and motors, also on a quaternion's speeds: in the one sweep, without dual numbers."""
    model = make.tree(6, [mb.mobilizer.Pin, mb.mobilizer.Ball, mb.mobilizer.Planar])
    pin = next(body for body in model.bodies[1:] if type(body).__name__ == "Pin")
    planar = next(body for body in model.bodies[1:] if type(body).__name__ == "Planar")
    ball = next(body for body in model.bodies[1:] if type(body).__name__ == "Ball")
    F = mb.force
    F.MobilityLinearSpring(model.forces, planar, 1, 3.0, 0.2)
    F.MobilityLinearDamper(model.forces, ball, 2, 0.7)
    F.MobilityConstantForce(model.forces, ball, 0, 0.7)
    F.GlobalDamper(model.forces, model.matter, 0.3)
    F.MobilityLinearStop(model.forces, pin, 0, 5.0, 0.2, -0.1, 0.1)
    F.MobilityPolynomialSpring(model.forces, planar, 0, 3.0, -0.4, 0.7, 0.2)
    F.MobilityPolynomialDamper(model.forces, ball, 1, 0.7, 0.2, 0.4)
    off = F.MobilityLinearSpring(model.forces, pin, 0, 3.0, 0.2)
    loose = make.mobilized_body(mb.mobilizer.Free, model.matter.ground, direction=mb.Direction.FORWARD)
    bend = make.mobilized_body(mb.mobilizer.Ball, loose, direction=mb.Direction.FORWARD)
    for body, angle, k1 in ((loose, 0.4, 0.5), (bend, 0.4, 0.5), (bend, 0.0, 0.0)):  # the last has a kink at rest with k1
        rest = mb.Rotation.about_axis(angle, (1, 2, 3))
        F.MobilityOrientationSpring(model.forces, body, 3.0, rest, quadratic_stiffness=k1, cubic_stiffness=0.2)
    model.made()
    state = model.randomize(Stage.MODEL)
    bend.set_q_to_fit_rotation(state, mb.Rotation.about_axis(1e-3, make.unit_vector()))
    off.disable(state)
    for angle, rate in ((0.5, 0.3), (-0.5, 0.3), (0.05, 1.0), (0.5, -9.0)):
        pin.set_one_q(state, 0, angle)
        pin.set_one_u(state, 0, rate)
        model.system.realize(state)
        assert_forward(state, close, derivative)
        assert_inverse(state, make.rng, close, derivative)
    slopes = sweep_for(model.system, state).slopes[:, KIND].tolist()
    assert sorted(slopes)[-3:] == [ORIENTATION] * 3


def assert_alone_and_in_lanes(state, rng, close, derivative):
    """Both dynamics of one state by differences, forward dynamics in an ensemble as alone: the derivatives."""
    found = assert_forward(state, close, derivative)
    assert_inverse(state, rng, close, derivative)
    ensemble = mb.Ensemble(state.system, 3, state=state)
    ensemble.realize()
    for part, expected in zip(ensemble.calc_forward_dynamics_derivatives(), found, strict=True):
        close(part[1], expected, 1e-10)
    return found


@pytest.mark.parametrize("many", [False, True])
def test_what_acts_between_two_bodies(many, make, close, derivative):
    """One of both moves; many pairs are taken together. Bodies of one base and of two, and contacts."""
    model = make.tree(8, [mb.mobilizer.Pin, mb.mobilizer.Universal])
    F, (one, other) = mb.force, (model.bodies[2], model.bodies[7])
    F.TwoPointLinearSpring(model.forces, one, make.vector(), other, make.vector(), 10.0, 0.3)
    F.TwoPointLinearDamper(model.forces, model.bodies[5], make.vector(), other, make.vector(), 2.0)
    F.TwoPointConstantForce(model.forces, model.matter.ground, make.vector(), other, make.vector(), 2.0)
    stiffness, damping = make.rng.uniform(1.0, 4.0, 6), make.rng.uniform(0.1, 0.6, 6)
    F.LinearBushing(model.forces, other, make.vector(), model.bodies[1], make.vector(), stiffness, damping)
    carried = next(body for body in model.bodies[1:] if not body.get_parent_mobilized_body().is_ground())  # in closed form
    F.LinearBushing(
        model.forces, carried.get_parent_mobilized_body(), make.frame(), carried, make.frame(), stiffness[::-1], damping
    )
    rubber = mb.contact.Material(50.0, 0.3, static_friction=0.6, dynamic_friction=0.4, viscous_friction=0.1)
    ball = mb.contact.Surface(mb.contact.Sphere(5.0), rubber)  # always inside each other
    F.HuntCrossley(model.forces, [(body, ball, mb.Transform(make.vector())) for body in (one, other, model.bodies[5])])
    for k in range(12 if many else 0):
        pair = model.bodies[1 + k % 8], model.bodies[1 + (3 * k + 2) % 8]
        if pair[0] is not pair[1]:
            F.LinearBushing(model.forces, pair[0], make.vector(), pair[1], make.vector(), [2.0] * 6, [0.3] * 6)
    model.made()
    state = model.randomize()
    assert_alone_and_in_lanes(state, make.rng, close, derivative)


def test_drag_is_differentiated_by_the_velocity_of_its_body(make, close, derivative):
    """Alone, of two on one body, in still air and in wind, which may be each state's own."""
    model = make.tree(6, [mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Ball])
    F, fluid, drags = mb.force, {"viscosity": 0.3, "density": 0.8}, []
    for k, body in enumerate([*model.bodies[1:], model.bodies[3]]):
        kind, wind = (F.BoxDrag, F.EllipsoidDrag)[k % 2], make.vector() if k % 3 else (0.0, 0.0, 0.0)
        drags.append(kind(model.forces, body, (0.3, 0.5, 0.7), make.frame(), wind=wind, **fluid))
    welded = make.mobilized_body(mb.mobilizer.Weld, model.matter.ground)
    for body in (model.matter.ground, welded, make.mobilized_body(mb.mobilizer.Weld, model.bodies[-2])):
        F.BoxDrag(model.forces, body, (0.3, 0.5, 0.7), make.frame(), wind=make.vector(), **fluid)
    F.ConstantTorque(model.forces, model.bodies[2], make.vector())
    model.made()
    state = model.randomize()
    plan = sweep_for(model.system, state).parts.plan
    assert not plan.by_duals and len(plan.wrenches) == 10
    assert_alone_and_in_lanes(state, make.rng, close, derivative)
    ensemble, winds = mb.Ensemble(model.system, 9, state=state), make.rng.normal(size=(9, 3))
    ensemble.set_each(drags[1].set_wind, winds)
    ensemble.realize()
    found = ensemble.calc_forward_dynamics_derivatives()
    for i in (0, 8):
        one = state.copy()
        drags[1].set_wind(one, winds[i])
        model.system.realize(one)
        close(found.q[i], model.system.calc_forward_dynamics_derivatives(one).q, 1e-12)


@pytest.mark.parametrize("cutoff", [None, 3.0])
def test_atoms_of_many_bodies(cutoff, make, close, derivative):
    """In closed form, of bodies of two bases, of Ground, of welded ones, and of more atoms than are put into cells."""
    model = make.tree(7, [mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Free])
    welded = [make.mobilized_body(mb.mobilizer.Weld, body) for body in (model.bodies[3], model.bodies[3], model.matter.ground)]
    bodies = [b for b in (model.matter.ground, *model.bodies[2:], *welded) if b is not model.bodies[4]]
    n, rng = 50, make.rng
    mb.force.Nonbonded(
        model.forces,
        [bodies[k % len(bodies)] for k in range(n)],
        2.0 * rng.uniform(-1, 1, (n, 3)),
        sigma=[0.02] * n,  # hardly any repulsion, where differences would be rough
        epsilon=rng.uniform(0.1, 1.0, n),
        charges=rng.uniform(-1, 1, n),
        coulomb=0.1,
        cutoff=cutoff,
        scaled=[(0, 1), (2, 30)],
    )
    model.made()
    state = model.randomize()
    plan = sweep_for(model.system, state).parts.plan
    assert not plan.by_duals and len(plan.central) == 1

    def away_from_corners(f):
        return derivative(f, 1e-4) if cutoff else derivative(f)

    assert_alone_and_in_lanes(state, rng, close, away_from_corners)


def test_lines_of_action(make, close, derivative):
    """Between two bodies, of which one moves, to Ground, and between wheels that a third body bears; what bears them moves."""
    model = make.tree(5, [mb.mobilizer.Free, mb.mobilizer.Pin])
    ground, bearer = model.matter.ground, model.bodies[-1]

    def wheel(case, x):
        return mb.mobilizer.Pin(case, make.body(), X_PF=mb.Transform((x, 0, 0)), X_BM=make.frame())

    one, other, fixed = wheel(bearer, 0), wheel(bearer, 3), wheel(ground, 0)
    for case, first, second in ((bearer, one, other), (bearer, one, bearer), (ground, fixed, ground)):
        line = mb.force.transmission.LineOfAction(
            model.forces, case, mb.Transform((1, 0, 0)), first, second, pressure_angle=0.35, helix_angle=0.2
        )
        mb.force.TransmissionSpring(model.forces, line, stiffness=4.0, damping=0.3)
    model.made()
    state = model.randomize()
    plan = sweep_for(model.system, state).parts.plan
    assert (plan.crossings[:, 4] != 0).sum() == 1
    assert_alone_and_in_lanes(state, make.rng, close, derivative)


@pytest.mark.parametrize("crowded", [False, True])
def test_forces_of_time_and_of_a_z_of_their_own(crowded, make, close, derivative):
    """With the motion of what they name; each by itself where two of one mobilizer have a z."""

    def swing(t, X, V, q, u, p):
        ((_, (x, y, _)),) = X
        ((_, v),) = V
        return (((p[0] * t * t, v[0], -v[2]), (p[1] * y * t, t, x * v[1])),), ()

    def pull(t, X, V, q, u, p):
        (_, a), (_, b) = X
        f = (p[0] * t * (b[0] - a[0]), t, p[1] * (b[2] - a[2]))
        return ((f, f), ((t, f[0], f[1]), (-f[0], -f[1], -f[2]))), ()

    model = make.tree(6, [mb.mobilizer.Pin, mb.mobilizer.Universal])
    b, F = model.bodies, mb.force
    for function, bodies in ((swing, [b[3]]), (swing, [b[2]]), (pull, [b[5], b[6]])):
        F.Custom(model.forces, compiled=F.CompiledFunctions(function, bodies=bodies, parameters=[0.7, -0.4]))
    of = [(body, k) for body in b[1:] for k in range(body.facts.num_u) if crowded or k == 0]
    for body, k in of:
        F.MobilityDryFriction(model.forces, body, k, 1.5, deflection=0.7)
    model.made()
    state = model.randomize()
    state.z = make.rng.uniform(0.2, 0.7, len(of))  # bristles on one piece of their curves
    model.system.realize(state)
    assert_alone_and_in_lanes(state, make.rng, close, derivative)
    plan, is_crowded = whole_for(model.system, state).parts.plan, len(of) > len(b) - 1
    assert plan.by_rest < 0 and (plan.nodes[:, 0] == REST).sum() == (len(of) if is_crowded else 0)


@pytest.mark.parametrize(("parts", "alone"), [("tyre", 0), ("tyre law tyre", 0), ("law road", 1)])
def test_tyres_are_differentiated_by_the_motion_of_their_wheel_and_by_two_z(parts, alone, make, close, derivative):
    """In closed form on planes; on a road of slopes by Duals of the wheel, and by both z by themselves."""

    def pull(t, X, V, q, u, p):
        return (((t * t, 0.1 * t, V[0][0][1]), (t * t * t, 0.0, -t)),), ()

    model = make.tree(0)
    F, wheel = mb.force, mb.mobilizer.Free(model.matter.ground, make.body())
    for part in parts.split():
        if part == "law":
            F.Custom(model.forces, compiled=F.CompiledFunctions(pull, bodies=[wheel]))
        else:
            F.BrushTyre(
                *(model.forces, wheel, 3.0, 20.0, 0.3),
                longitudinal_stiffness=6.0,
                cornering_stiffness=4.0,
                half_length=1.0,
                rolling_resistance=0.05,
                center=(0.05, -0.04, 0.06),
                axis=(0.2, 1.0, -0.3),
                road=mb.function.Linear([0.1, -0.05, 0.2]) if part == "road" else None,
                road_frame=mb.Transform(mb.Rotation.about_axis(0.2, (1.0, 2.0, -1.0)), (0.03, 0.1, -0.02)),
            )
    state = model.made().state
    wheel.set_q_to_fit_translation(state, (0.1, 0.0, 2.4))
    state.u, state.time = [0.1, 0.5, 0.2, 1.3, 0.2, 0.1], 0.7
    state.z = [0.1, -0.2, 0.15, 0.1][: len(state.z)]
    model.system.realize(state)
    assert assert_forward(state, close, derivative).z.any(axis=0).all()
    plan = whole_for(model.system, state).parts.plan
    assert (plan.nodes[:, 0] == REST).sum() == alone
    assert len(plan.wrenches) == parts.count("tyre")


def test_what_acts_between_two_bodies_is_said_with_the_routine(make):
    """A user's kind with a routine of its own may push its bodies otherwise than the kind that it is made from."""
    kind = mb.force.LinearBushing
    own = type("Drag", (kind,), {"routine": mb.force.HuntCrossley.routine})
    model = make.tree(2, [mb.mobilizer.Pin])
    ends = model.bodies[1], (0, 0, 0), model.bodies[2], (0, 0, 0)
    made = [one(model.forces, *ends, [2.0] * 6, [0.1] * 6) for one in (kind, type("Same", (kind,), {}), own)]
    assert [acts_between(one) for one in made] == [True, True, False]
    kind = mb.force.BoxDrag
    own = type("Lift", (kind,), {"routine": mb.force.SmoothSphereHalfSpace.routine})
    assert [is_on_body(one(model.forces, model.bodies[1], (1, 1, 1))) for one in (kind, own)] == [True, False]


def test_forces_along_paths(make, close, derivative):
    """Muscles between bodies of one base and to Ground, more than eight columns long, with a moving point, their z and time.

    Beside them a spring through all bodies, more than are differentiated one by one, and springs that bend over surfaces of
    third bodies, to a side that is on another, and of Ground.

    Curves have corners, where differences are of lower order: fibers and tendons are on one piece.
    """
    model = make.tree(8, [mb.mobilizer.Universal, mb.mobilizer.Pin])
    b, forces, paths, muscles = model.bodies, model.forces, mb.force.transmission, []
    wave = [mb.function.Sinusoid(0.2, 1.3, phase) for phase in (0.1, 0.5, 2.0)]
    turns = next(body for body in b[1:] if type(body) is mb.mobilizer.Pin)
    moving = paths.MovingPoint(b[3], wave, [(turns, 0)] * 3)
    for points in ([b[2], b[7], b[5]], [b[1], b[8]], [b[1], b[8]], [b[0], b[8], b[4], b[6]], [b[6], moving, b[2]]):
        stations = [one if one is moving else (one, make.vector()) for one in points]
        rigid, at_once = len(muscles) != 1, len(muscles) == 0
        muscles.append(
            mb.muscle.Millard2012Equilibrium(
                *(forces, paths.Path(forces, stations), 3.0, 0.4, 0.6, 0.2),
                ignore_tendon_compliance=rigid,
                ignore_activation_dynamics=at_once,
                max_contraction_velocity=60.0,
            )
        )
    muscles[0].set_excitation_function(mb.function.Sinusoid(0.3, 2.0, 0.4))
    at = lambda k: (b[k], make.vector())  # noqa: E731
    through_all = paths.StraightPath(forces, [([(body, make.vector()) for body in b], 1.3)])
    over = [paths.WrappedPath(forces, [([at(2), paths.Wrap(b[4], 0.5, side=at(6)), at(7), paths.Wrap(b[0], 0.4), at(1)], 2.0)])]
    over.append(paths.Path(forces, [at(5), at(5), at(8)], [paths.PathWrap(paths.WrapSphere(body=b[3], radius=0.6))]))
    for path in (through_all, *over):
        mb.force.TransmissionSpring(forces, path, stiffness=0.5, damping=0.1)
    model.made()
    state = model.randomize()
    # too short for fibers, or not over a surface
    while min(muscle.get_length(state) for muscle in muscles) < 0.6 or min(len(path.calc_lines(state)) for path in over) < 8:
        model.randomize()
    for muscle, length in zip(muscles, [muscle.get_length(state) for muscle in muscles], strict=True):
        fiber, stretch = make.rng.uniform(0.45, 0.5), make.rng.uniform(1.06, 1.1) if muscle is muscles[1] else 1.0
        muscle.set_tendon_slack_length(state, (length - fiber) / stretch)
        for name, value in zip(muscle.state_variables, (make.rng.uniform(0.2, 0.9), fiber), strict=False):
            muscle.set_state_variable(state, name, value)
    model.system.realize(state)
    plan = sweep_for(model.system, state).parts.plan
    assert (len(plan.groups), len(plan.lines)) == (1, 7) and plan.by_columns < 0
    found = assert_alone_and_in_lanes(state, make.rng, close, lambda f: derivative(f, 3e-5))  # lines leave surfaces, too
    assert found.z.any(axis=0).tolist() == [False, True, True, True, True]  # a stretched tendon pulls whatever the activation
    assert found.time.any()


def test_what_moves_both_ends_of_a_transmission_is_no_column_of_it(make, close, derivative):
    """A pose in another frame, a rod on a slider, a thruster: nothing changes along what carries all bodies that are between.

    Where one body's motion is all that changes a path, its six directions are fewer than the columns that carry it.
    """
    model = make.tree(0)
    trunk = mb.mobilizer.Universal(mb.mobilizer.Universal(model.matter.ground, make.body()), make.body())
    one, other = mb.mobilizer.Pin(trunk, make.body()), mb.mobilizer.Universal(trunk, make.body())
    far = mb.mobilizer.Ball(model.matter.ground, make.body(), X_PF=make.frame())  # its base has an origin of its own
    F, T, ends, turned = mb.force, mb.force.transmission, (make.frame(), make.frame()), {"rotation_in_frame": True}
    paths = [
        T.RelativePose(model.forces, one, other, *ends, translation=make.vector(), rotation=make.vector(), **turned),
        T.RelativePose(model.forces, trunk, one, *ends, translation=make.vector(), rotation=make.vector()),
        T.RelativePose(model.forces, far, other, *ends, translation=make.vector(), rotation=make.vector(), ratio=-1.3),
        T.RelativePose(model.forces, model.matter.ground, other, *ends, translation=make.vector(), rotation=make.vector()),
        T.RelativePose(model.forces, one, one, *ends, translation=make.vector(), rotation=make.vector(), **turned),
        T.SliderCrank(model.forces, other, one, *ends, rod_length=9.0),
        T.SliderCrank(model.forces, other, model.matter.ground, *ends, rod_length=9.0),
        T.BodyWrench(model.forces, one, ends[0], force=make.vector(), torque=make.vector()),
    ]
    for path in paths:
        F.Actuator(model.forces, path, gain=(3.0, 0.4, -0.2), bias=make.vector(), control=0.7)
    F.Actuator(model.forces, paths[5], gain=(3.0, 0.0, 0.0), dynamics="filter", time_constant=0.3, control=0.5)
    model.made()
    state = model.randomize()
    state.z = [0.4]
    model.system.realize(state)
    plan = sweep_for(model.system, state).parts.plan
    assert (len(plan.groups), len(plan.lines)) == (0, 5) and plan.crossings[:, :3].tolist() == [[4, 3, 2]]
    assert assert_alone_and_in_lanes(state, make.rng, close, derivative).z.any()


def test_a_force_along_a_path_is_said_with_the_routine(make):
    """A user's kind of muscle with a routine of its own is differentiated by that."""
    model = make.tree(2, [mb.mobilizer.Pin])
    path = mb.force.transmission.Path(model.forces, [(model.bodies[1], (0, 0, 0)), (model.bodies[2], (0, 1, 0))])
    kind = mb.muscle.Millard2012Equilibrium
    own = type("Own", (kind,), {"routine": mb.force.TwoPointLinearDamper.routine})
    made = [one(model.forces, path, 3.0, 0.4, 0.6, 0.2) for one in (kind, type("Same", (kind,), {}), own)]
    assert [acts_along(one) for one in made] == [True, True, False]


@pytest.mark.parametrize("name", OF_BODIES)
def test_every_kind_of_constraint(name, make, close, derivative):
    """Off the manifold: the derivatives of what is realized there. Two bodies alone move, not the case that carries both."""
    pair = Pair(make, name)
    state = pair.randomize_independent()
    assert_forward(state, close, derivative)
    own, moved = pair.constraint.body_indices(), set(sweep_for(pair.system, state).parts.plan.nodes[:, 1].tolist())
    assert moved <= set(own) - {1} or not type(pair.constraint).__module__.startswith("mobod.constraint")


def test_constraints_between_a_body_and_one_that_it_carries(make, close, derivative):
    """Of two bodies one moves, of which one is the Ancestor too, either of both: off the manifold, alone and in lanes."""
    for name, first, second in (
        *(("Ball", 1, 4), ("Ball", 4, 1), ("Weld", 4, 1), ("Rod", 1, 4), ("NoSlip1D", 1, 4), ("PointOnLine", 1, 4)),
        *(("PointOnLine", 4, 1), ("LineOnLineContact_rolling", 1, 4)),
    ):
        pair = Pair.__new__(Pair)
        pair.make, pair.system = make, mb.MultibodySystem()
        pair.matter = mb.SimbodyMatterSubsystem(pair.system)
        mb.force.Gravity(mb.GeneralForceSubsystem(pair.system), pair.matter, make.vector(size=9.0))
        kinds, bodies = (mb.mobilizer.Free, mb.mobilizer.Free, mb.mobilizer.Bushing, mb.mobilizer.Pin), [pair.matter.ground]
        for kind in kinds:
            bodies.append(make.mobilized_body(kind, bodies[-1]))
        OF_BODIES[name][1](make, bodies[first], bodies[second], bodies[1])
        pair.state = pair.system.realize_topology()
        state = pair.randomize_independent()
        assert len(sweep_for(pair.system, state).parts.plan.nodes) <= 1
        assert_alone_and_in_lanes(state, make.rng, close, derivative)


OF_POINTS = "Ball Rod PointInPlane PointOnLine PointOnPlaneContact SphereOnPlaneContact SphereOnSphereContact"


@pytest.mark.parametrize("name", ["Weld", "ConstantAngle", "ConstantOrientation", *OF_POINTS.split()])
def test_points_and_axes_of_bodies_are_held_in_closed_form(name, make, close, derivative):
    """Off the manifold, on trees of every kind of mobilizer, forward and reversed, one locked and one prescribed: no Duals.

    Of two bodies of one base, of two bases, and of one with Ground, which is either of both, with as many mobilities between as
    equations. Angles are Euler's or in quaternions.
    """
    for between in ("one base", "two bases", 0, 1):
        while True:
            model = make.tree()
            ways = [set()]
            for body in model.bodies[1:]:
                own = {(body, k) for k in range(body.facts.num_u)}
                ways.append(ways[model.bodies.index(body.get_parent_mobilized_body())] | own)
            pairs = [
                (i, j)
                for i in range(len(ways))
                for j in range(len(ways))
                if len(ways[i] ^ ways[j]) > 8
                and (bool(ways[i] & ways[j]), 0 in (i, j)) == (between == "one base", between in (0, 1))
            ]
            if not pairs:
                continue
            one, other = (model.bodies[i] for i in pairs[make.rng.integers(len(pairs))])
            if between in (0, 1) and (one, other)[between] is not model.bodies[0]:
                one, other = other, one
            OF_BODIES[name][1](make, one, other, None)
            carrier = next(body for body in model.bodies[1:] if body.facts.num_u == 1)
            mb.motion.Sinusoid(carrier, mb.Motion.Level.POSITION, 0.2, 3.0, 0.1)
            model.made()
            if make.rng.random() < 0.5:
                model.matter.set_use_euler_angles(model.state, True)
                model.system.realize_model(model.state)
            state = model.randomize(Stage.MODEL)
            next(body for body in model.bodies[1:] if body.facts.num_u == 2).lock(state)
            model.system.realize(state)
            G = model.matter.calc_g(state)
            if np.linalg.cond(G @ model.matter.calc_m_inv(state) @ G.T) < 1e3:
                break
        assert BODY not in sweep_for(model.system, state).parts.plan.nodes[:, 0]
        assert_alone_and_in_lanes(state, make.rng, close, derivative)


def two_of(bodies, rng):
    return [bodies[k] for k in rng.permutation(len(bodies))[:2]]


def test_many_elements_and_constraints_on_the_same_few_bodies(make, close, derivative):
    """In closed form, on three bodies and Ground, with a z and with time: alone, in lanes, and into arrays full of NaN."""
    F, rng = mb.force, make.rng
    while True:
        model = make.tree(7, [mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Free, mb.mobilizer.Ball])
        few = [model.bodies[k] for k in (0, *(rng.permutation(7)[:3] + 1))]
        for k in range(3):
            (one, other), (here, there) = two_of(few, rng), (make.frame(), make.frame())
            F.LinearBushing(model.forces, one, here, other, there, rng.uniform(1.0, 4.0, 6), rng.uniform(0.1, 0.6, 6))
            one, other = two_of(few, rng)
            weights = {"translation": make.vector(), "rotation": make.vector(), "rotation_in_frame": k == 1}
            pose = F.transmission.RelativePose(model.forces, one, other, here, there, **weights)
            F.TransmissionSpring(model.forces, pose, stiffness=3.0, damping=0.4 * (k < 2))
        F.Actuator(model.forces, pose, gain=(3.0, 0.0, 0.0), dynamics="filter", time_constant=0.3, control=0.5)
        sizes = {"sigma": [0.02] * 12, "epsilon": [0.4] * 12, "charges": rng.uniform(-1, 1, 12), "coulomb": 0.5}
        F.Nonbonded(model.forces, [few[k % 4] for k in range(12)], 3.0 * rng.uniform(-1, 1, (12, 3)), **sizes)
        for name in rng.choice(["Ball", "PointInPlane", "PointOnLine", "ConstantAngle", "ConstantOrientation"], 2):
            OF_BODIES[name][1](make, *two_of(few, rng), None)
        for _ in range(2):  # on one body, beside Ground, where blocks add up
            OF_BODIES["Rod"][1](make, few[0], few[1], None)
        mb.motion.Sinusoid(next(b for b in model.bodies[1:] if b.facts.num_u == 1), mb.Motion.Level.POSITION, 0.2, 3.0, 0.1)
        model.made()
        state = model.randomize(Stage.MODEL)
        state.z, state.time = [0.4] * len(state.z), 0.7
        model.system.realize(state)
        G = model.matter.calc_g(state)
        if np.linalg.cond(G @ model.matter.calc_m_inv(state) @ G.T) < 1e3:
            break
    found = assert_alone_and_in_lanes(state, rng, close, lambda f: derivative(f, 1e-4))  # atoms may be close
    assert found.z.any() and found.time.any()
    ensemble = mb.Ensemble(model.system, 9, state=state)
    ensemble.realize()
    assert_writes_out(ensemble.calc_forward_dynamics_derivatives, ())
    assert_writes_out(ensemble.calc_inverse_dynamics_derivatives, (rng.normal(size=(9, len(state.u))),))


def test_states_of_one_system_with_different_parameters(make, close, derivative):
    """One after the other: a constraint that is disabled, one with another length, and the default again."""
    pair = Pair(make, "Rod", copies=2)
    state = pair.randomize()
    assert_forward(state, close, derivative)
    off, longer = state.copy(), state.copy()
    pair.constraints[0].disable(off)
    pair.constraints[1].set_length(longer, 2.0)
    for other in (off, longer, state):
        pair.system.realize(other)
        assert_forward(other, close, derivative)


def test_constraints_of_coordinates_and_of_time(make, close, derivative):
    assert_forward(Tree().randomize(make), close, derivative)


def test_constraints_of_which_one_names_many_mobilizers(make, close, derivative):
    """They are all differentiated by columns, by q, u and time: ten, which is not eight, beside a rod, whose errors have u."""
    model = make.tree(10, [mb.mobilizer.Pin], chain=True)
    angles = mb.function.Linear([*make.rng.normal(size=9), 0.2])
    mb.constraint.CoordinateCoupler(model.matter, angles, model.bodies[1:10], [0] * 9)
    mb.constraint.PrescribedMotion(model.matter, mb.function.Sinusoid(0.4, 1.3, 0.2), model.bodies[10], 0)
    mb.constraint.Rod(model.bodies[2], (0, 0.1, 0), model.bodies[9], (0.1, 0, 0.3), 0.7)
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.7
    model.system.realize(state)
    assert assert_forward(state, close, derivative).time.any()


def test_constraints_of_bodies_beside_one_of_a_line_s_speed(make, close, derivative):
    """N of a line is more than a function of its q, but of these alone: nothing is differentiated by columns."""
    model = make.tree(3, [mb.mobilizer.FreeLine, mb.mobilizer.Pin, mb.mobilizer.Universal])
    line, pin, other = (next(b for b in model.bodies if type(b).__name__ == name) for name in ("FreeLine", "Pin", "Universal"))
    mb.constraint.ConstantSpeed(line, 3, 0.2)
    mb.constraint.PrescribedMotion(model.matter, mb.function.Sinusoid(0.4, 1.3, 0.2), pin, 0)
    mb.constraint.Rod(line, make.vector(), other, make.vector(), 0.7)
    model.made()
    state = model.randomize()
    assert sweep_for(model.system, state).parts.plan.by_columns < 0
    assert assert_alone_and_in_lanes(state, make.rng, close, derivative).time.any()


def test_coordinates_whose_n_is_in_the_record_move_alone(make, close, derivative):
    """A gimbal's angles and speeds under constraints, what a motion makes of a line's and of a gimbal's: none by columns."""
    model = make.tree(5, [mb.mobilizer.Gimbal, mb.mobilizer.LineOrientation, mb.mobilizer.Pin])
    gimbal, line = (next(b for b in model.bodies if type(b).__name__ == name) for name in ("Gimbal", "LineOrientation"))
    others = [b for b in model.bodies if type(b).__name__ == "Pin"]
    mb.constraint.CoordinateCoupler(model.matter, mb.function.Linear([0.4, -0.3, 0.2]), [gimbal, others[0]], [1, 0])
    mb.constraint.SpeedCoupler(model.matter, mb.function.Linear([0.7, 0.3, 0.1]), [gimbal, line], [2, 1])
    end = mb.mobilizer.Gimbal(others[0], make.body())
    mb.motion.Custom(end, compiled=mb.motion.CompiledFunctions(position=lambda t, p: (0.3 * t, 0.2 * sin(t), 0.5 * t * t)))
    last = mb.mobilizer.LineOrientation(gimbal, make.body())
    mb.motion.Custom(last, compiled=mb.motion.CompiledFunctions(velocity=lambda t, q, p: (sin(t), 0.3 * t)))
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.6
    model.system.realize(state)
    assert sweep_for(model.system, state).parts.plan.by_columns < 0
    assert assert_alone_and_in_lanes(state, make.rng, close, derivative).time.any()


@pytest.mark.parametrize("direction", mb.Direction)
def test_users_mobilizers_with_n_move_alone(direction, make, close, derivative):
    """As a base and as a leaf, with a parameter in N, beside a coordinate with a spring, a motion and couplers."""

    def n(q, p):
        (x, y), (a,) = q, p
        return (a + x * x, 0.2 * y), (0.3 * x, 2.0 + y * y)

    def n_inv(q, p):
        (a, b), (c, d) = n(q, p)
        det = a * d - b * c
        return (d / det, -b / det), (-c / det, a / det)

    functions = {"num_q": 2, "num_u": 2, "transform": lambda q, p: (rotation.identity(q[0]), (q[0], q[1], 0.0)), "n": n}
    own = mb.mobilizer.CompiledFunctions(**functions, n_inv=n_inv)
    model = make.tree(0)

    def users(parent):
        frames = {"X_PF": make.frame(), "X_BM": make.frame(), "direction": direction}
        return mb.mobilizer.Custom(parent, make.body(), compiled=own, parameters=(1.4,), **frames)

    base = users(model.matter.ground)
    pin = make.mobilized_body(mb.mobilizer.Pin, base)
    leaf, moved = users(pin), users(pin)
    mb.force.MobilityLinearSpring(model.forces, leaf, 1, 3.0, 0.2)
    mb.constraint.CoordinateCoupler(model.matter, mb.function.Linear([0.4, -0.3, 0.2]), [base, pin], [1, 0])
    mb.constraint.SpeedCoupler(model.matter, mb.function.Linear([0.7, 0.3, 0.1]), [leaf, base], [0, 0])
    mb.motion.Sinusoid(moved, mb.Motion.Level.POSITION, 0.4, 1.3, 0.2)
    model.made()
    state = model.randomize()
    assert sweep_for(model.system, state).parts.plan.by_columns < 0
    assert assert_alone_and_in_lanes(state, make.rng, close, derivative).time.any()


def test_redundant_constraints_along_the_motion(make, close, derivative):
    """A ball and socket given twice: the rate of u_dot along the motion is that of the derivatives."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, make.vector(size=9.0))
    base = make.mobilized_body(mb.mobilizer.Universal, matter.ground)
    left, right = make.mobilized_body(mb.mobilizer.Free, base), make.mobilized_body(mb.mobilizer.Bushing, base)
    stations = make.vector(), make.vector()
    for _ in range(2):
        mb.constraint.Ball(left, stations[0], right, stations[1])
    state = system.realize_topology()
    state.q, state.u = make.vector(len(state.q), 0.5), make.vector(len(state.u))
    system.project(state, 1e-13)
    system.realize(state)
    found = system.calc_forward_dynamics_derivatives(state)

    def later(h):
        other = state.copy()
        other.q, other.u = state.q + h * state.q_dot + 0.5 * h * h * state.q_dot_dot, state.u + h * state.u_dot
        system.project(other, 1e-13)
        system.realize(other)
        return np.array(other.u_dot)

    close(found.q @ state.u + found.u @ state.u_dot, derivative(later, 1e-3), 1e-5)


def has_faint_equations(state):
    """Whether of some equation hardly anything is left beside those before it: there rounding is seen in differences."""
    matter = state.system.matter
    rows = matter.calc_g(state) @ np.linalg.cholesky(matter.calc_m_inv(state))
    left = np.diag(np.linalg.qr(rows.T).R) ** 2 / (rows[: rows.shape[1]] ** 2).sum(axis=1)
    return ((left > 1e-12) & (left < 1e-3)).any()


def test_redundant_constraints_that_contradict_each_other(make, close, derivative, monkeypatch):
    """Six pins in a row, and nine equations between first and last that nothing fulfils: errors of accelerations are left."""
    model = make.tree(6, [mb.mobilizer.Pin], chain=True)
    first, last = model.bodies[1], model.bodies[-1]
    balls = [mb.constraint.Ball(first, make.vector(size=0.3), last, make.vector(size=0.3)) for _ in range(3)]
    model.made()
    state = model.randomize()
    system, matter = model.system, model.system.matter
    while has_faint_equations(state) or np.abs(matter.calc_constraint_acceleration_errors(state, state.u_dot)).max() < 0.1:
        model.randomize()
    with monkeypatch.context() as patched:
        patched.setattr("mobod.derivative.equations.jvp", None)  # a hundred times as long: of the whole model
        found = assert_forward(state, close, derivative)
        ensemble = mb.Ensemble(system, 2, state=state)
        ensemble.q, ensemble.u = np.array([state.q, 1.1 * state.q]), np.array([state.u, state.u])
        ensemble.realize()
        for one, other in zip(found, ensemble.calc_forward_dynamics_derivatives(), strict=True):
            close(other[0], one, 1e-10)
            assert not (one.any() and np.array_equal(other[0], other[1]))
    changed = make.rng.normal(size=3)
    by_station = system.calc_parameter_derivatives(state, [f"{balls[0].name}.station1"]) @ changed

    def at_station(h):
        other = state.copy()
        balls[0].set_station1(other, np.asarray(balls[0].get_station1(state)) + h * changed)
        system.realize(other)
        return np.array(other.u_dot)

    close(by_station, derivative(at_station), DIFFERENCE)
    assert np.array_equal(ensemble.calc_parameter_derivatives([f"{balls[0].name}.station1"])[0] @ changed, by_station)
    direction = make.vector(len(state.u))
    turned = system.calc_forward_dynamics_second_derivatives(state, q=direction).q

    def first_ones(h):
        return system.calc_forward_dynamics_derivatives(at(state, q=state.q + h * direction)).q

    close(turned, derivative(first_ones), 1e-5)  # differences with another step: of poses near singular ones truncation is seen


def chain_with_five_welds(make):
    """A chain of pins, whose second link and last are welded five times over: thirty rows that contradict each other."""
    model = make.tree(12, [mb.mobilizer.Pin], chain=True)
    for _ in range(5):
        one, other = model.bodies[1], model.bodies[-1]
        mb.constraint.Weld(one, mb.Transform(make.vector(size=0.3)), other, mb.Transform(make.vector(size=0.3)))
    model.made()
    state = model.randomize()
    return model, state


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of signals on this platform")
def test_an_interrupt_finds_the_multipliers_of_contradictory_equations_as_they_were(make):
    """Wherever it comes: derivatives exchange them, and put them back, in the time that one call of the kernel takes."""
    model, state = chain_with_five_welds(make)
    assert contradiction(state) is not None
    calculate = model.system.calc_forward_dynamics_derivatives
    wanted, kept, interrupted, is_calculating = calculate(state).q, state.record.multiplier.copy(), 0, False

    def interrupt(number, frame):
        if is_calculating:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(200):
            try:
                is_calculating = True
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (k + 1))
                calculate(state)
                is_calculating = False
            except KeyboardInterrupt:
                interrupted += 1
            is_calculating = False
            assert np.array_equal(state.record.multiplier, kept)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 0 and np.array_equal(calculate(state).q, wanted)


def test_equations_that_change_with_time_contradict_each_other(make, close, derivative):
    """Two of one coordinate, beside a motion and a spring: in lanes as alone."""
    model = make.tree(5, [mb.mobilizer.Pin, mb.mobilizer.Universal])
    one, other = [body for body in model.bodies if type(body).__name__ == "Pin"][:2]
    mb.motion.Sinusoid(other, mb.Motion.Level.ACCELERATION, 0.8, 2.0, 0.3)
    mb.force.TwoPointLinearSpring(model.forces, model.bodies[1], (0.1, 0, 0), model.bodies[-1], (0, 0.2, 0), 3.0, 0.1)

    def error(t, X, q, parameters):
        angle = q[0][0]
        return (angle + parameters[0] * sin(angle + t) - t * t,)

    for k in (0.4, -0.3):
        functions = mb.constraint.CompiledFunctions(error, mobilizers=[one], parameters=[k])
        mb.constraint.Custom(compiled=functions)
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.4
    model.system.realize(state)
    errors = model.matter.calc_constraint_acceleration_errors(state, state.u_dot)
    assert np.abs(errors).max() > 0.01
    assert assert_alone_and_in_lanes(state, make.rng, close, derivative).time.any()


def test_the_factor_of_redundant_equations_is_made_once_in_lanes(make):
    """Of thirty rows: else each would take a factor of its own, and lanes more than twice as long as states alone."""
    model, state = chain_with_five_welds(make)
    ensemble = mb.Ensemble(model.system, 16, state=state, threads=1)
    ensemble.realize()
    alone = least_time(lambda: model.system.calc_forward_dynamics_derivatives(state))
    assert least_time(ensemble.calc_forward_dynamics_derivatives) < 16 * alone


def test_hinge_columns_that_depend_on_q_are_differentiated_by_themselves():
    """One Universal at the end of thirty pins: the whole tree by dual numbers would take three times as long as the rest."""
    times = []
    for kind in (mb.mobilizer.Pin, mb.mobilizer.Universal):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
        link = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.Inertia(0.4, 0.1, 0.4, 0, 0, 0)))
        body = matter.ground
        for _ in range(30):
            body = mb.mobilizer.Pin(body, link, X_PF=mb.Transform((0, -1, 0)))
        kind(body, link, X_PF=mb.Transform((0, -1, 0)))
        state = system.realize_topology()
        state.q, state.u = np.linspace(0.1, 0.5, len(state.q)), np.linspace(0.3, -0.2, len(state.u))
        ensemble = mb.Ensemble(system, 16, state=state, threads=1)
        ensemble.realize()
        times.append(least_time(ensemble.calc_forward_dynamics_derivatives))
    assert times[1] < 2.0 * times[0]


def least_time(call):
    """Of the processor, the least of several."""
    call()
    times = []
    for _ in range(20):
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return min(times)


def test_several_thermostats_are_in_closed_form(make, close, derivative):
    """Their forces, beside a constraint: none by columns of the whole tree."""
    model = make.tree(5, [mb.mobilizer.Pin, mb.mobilizer.Universal])
    baths = [mb.force.Thermostat(model.forces, model.matter, 0.7, 3.0, 0.4 + 0.1 * k, 0) for k in range(3)]
    mb.constraint.Rod(model.bodies[1], (0.1, 0, 0), model.bodies[-1], (0, 0.2, 0), 1.0)
    baths[1].set_disabled_by_default(True)
    model.made()
    state = model.randomize(Stage.MODEL)
    for bath in baths:
        bath.set_chain_state(state, make.rng.normal(size=len(bath.get_chain_state(state))))
    model.system.realize(state)
    found = assert_alone_and_in_lanes(state, make.rng, close, derivative)
    assert np.count_nonzero(found.z.any(axis=0)) == 2 and sweep_for(model.system, state).parts.plan.by_columns < 0


@pytest.mark.parametrize("level", list(mb.Motion.Level)[1:4])
def test_motions_depend_on_time(make, close, derivative, level):
    model = make.tree(6, [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Universal])
    moved = next(body for body in model.bodies if type(body).__name__ == "Universal")
    mb.motion.Sinusoid(moved, level, 0.8, 2.0, 0.3)
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.4
    model.system.realize(state)
    found = assert_forward(state, close, derivative)
    assert found.time.any() and not found.mobility_forces[moved.u_slice(state)].any()


def test_a_motion_of_coordinates_and_time_beside_an_element_by_columns(make, close, derivative):
    """What a motion prescribes is counted once."""
    model = make.tree(4, [mb.mobilizer.Pin, mb.mobilizer.Universal])
    moved = next(body for body in model.bodies if type(body).__name__ == "Pin")

    def speed(t, q, parameters):
        return (0.7 * sin(q[0] + 2.0 * t),)

    mb.motion.Custom(moved, compiled=mb.motion.CompiledFunctions(velocity=speed))
    bent = next(body for body in model.bodies if type(body).__name__ == "Universal")
    mb.force.MobilityOrientationSpring(model.forces, bent, 2.0)
    model.made()
    state = model.randomize(Stage.MODEL)
    model.system.realize(state)
    assert sweep_for(model.system, state).parts.plan.by_columns >= 0
    assert_alone_and_in_lanes(state, make.rng, close, derivative)


def test_parts_in_python_are_differentiated_by_differences_with_a_note(make, close, derivative):
    class Spring(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces -= 3.0 * state.u + np.sin(state.time)

    model = make.tree(4)
    mb.force.Custom(model.forces, Spring())
    model.made()
    state = model.randomize()
    with pytest.warns(UserWarning, match="parts written in Python"):
        found = model.system.calc_forward_dynamics_derivatives(state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = columns(state, lambda values: np.array(at(state, **values).u_dot), derivative)
        for name, value in expected.items():
            close(getattr(found, name), value, DIFFERENCE)
        assert_inverse(at(state, Stage.VELOCITY), make.rng, close, derivative)
        close(found.mobility_forces, model.matter.calc_m_inv(state), 1e-9)


def test_a_force_in_python_is_called_alone(make, close, derivative):
    """Beside springs, a rod and a motion: a wrench on a body and a force on mobilities, of q, u and time."""
    calls = []

    class Drag(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            calls.append(1)
            V = np.asarray(body.get_body_velocity(state))
            x = np.asarray(body.get_body_transform(state).p)
            body_forces[2, 1] -= (0.4 + x @ x) * V[1] + np.sin(state.time)
            body_forces[2, 0] -= 0.3 * V[0]
            mobility_forces -= 0.5 * state.u * state.u

    model = make.tree(5, [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Universal])
    body = model.matter.bodies[2]
    mb.force.Custom(model.forces, Drag())
    mb.force.TwoPointLinearSpring(model.forces, model.bodies[1], (0.1, 0, 0), model.bodies[4], (0, 0.2, 0), 20.0, 0.3)
    mb.constraint.Rod(model.bodies[3], (0, 0, 0), model.bodies[5], (0.1, 0, 0), 0.7)
    moved = next(one for one in model.bodies if type(one).__name__ == "Universal")
    mb.motion.Sinusoid(moved, mb.Motion.Level.VELOCITY, 0.8, 2.0, 0.3)
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.4
    model.system.realize(state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls.clear()
        model.system.calc_forward_dynamics_derivatives(state)
        assert 0 < len(calls) <= 4 * (2 * len(state.u) + len(state.z) + 1) + 4
        assert_forward(state, close, derivative)
        assert_inverse(state, make.rng, close, derivative)


@pytest.mark.filterwarnings("ignore:.*differences")
@pytest.mark.parametrize("says", [False, True])
def test_a_force_in_python_that_acts_on_ground(says, make, close, derivative):
    """Ground is among the bodies that it pushes, or names, and does not move."""
    model = make.tree(6, [mb.mobilizer.Free, mb.mobilizer.Ball, mb.mobilizer.Universal])
    ground, body = model.matter.ground, model.bodies[6]

    class Pull(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            pull = -2.0 * np.sin(body.find_station_location_in_ground(state, (0.1, 0.2, 0.3)))
            body.apply_force_to_body_point(state, (0.1, 0.2, 0.3), pull, body_forces)
            ground.apply_force_to_body_point(state, (0.4, 0.0, 0.1), -pull, body_forces)

        def depends_only_on(self):
            return ((ground, body), ()) if says else None

    mb.force.Custom(model.forces, Pull())
    model.made()
    assert_forward(model.randomize(), close, derivative)


@pytest.mark.filterwarnings("ignore:.*differences")
def test_inverse_dynamics_has_forces_in_python_of_the_present_state(make, close):
    """A state at VELOCITY that was realized elsewhere before: its record has the forces from there."""
    model = make.tree(4, [mb.mobilizer.Pin, mb.mobilizer.Ball])
    body = model.bodies[4]

    class Pull(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            p = body.find_station_location_in_ground(state, (0.1, 0.2, 0.3))
            body.apply_force_to_body_point(state, (0.1, 0.2, 0.3), -2.0 * np.sin(p), body_forces)

    mb.force.Custom(model.forces, Pull())
    model.made()
    state, u_dot = model.randomize(), make.rng.normal(size=len(model.state.u))
    expected = model.system.calc_inverse_dynamics_derivatives(state, u_dot)
    other = model.randomize(state=state.copy())
    other.q, other.u = state.q, state.u
    model.system.realize(other, Stage.VELOCITY)
    for part, whole in zip(model.system.calc_inverse_dynamics_derivatives(other, u_dot), expected, strict=True):
        close(part, whole, 1e-8)
    assert other.stage == Stage.VELOCITY


def test_a_force_in_python_is_differentiated_by_what_it_depends_on_alone(make, close, derivative):
    """A wrench between two bodies, and a torque of a mobilizer's own q and u: as if it had not said so, with fewer calls.

    One that remembers what it saw is found out, and differentiated by all coordinates.
    """
    calls = []

    class Told(mb.force.CustomImplementation):
        said, key, place = None, b"", None

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            calls.append(1)
            x = np.array(tip.find_station_location_in_ground(state, (0.1, 0.2, 0.0)))
            if remembers:  # what it found at these coordinates, however bodies have been moved since
                if self.key != state.q.tobytes():
                    self.key, self.place = state.q.tobytes(), x
                x = self.place
            v = np.asarray(root.find_station_velocity_in_ground(state, (0.0, 0.3, 0.0)))
            body_forces[tip.index, 1] -= (1.0 + v @ v) * x + np.asarray(tip.get_body_velocity(state)[0])
            body_forces[root.index, 0] += np.cross(x, v) * np.cos(state.time)
            where = ball.u_slice(state)
            mobility_forces[where] -= np.sum(ball.get_q(state) ** 2) * np.asarray(ball.get_u(state))

        def depends_only_on(self):
            return self.said

    class Stiff(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[ball.u_slice(state)] -= stiffness * np.asarray(ball.get_q(state))

    model = make.tree(6, [mb.mobilizer.Free, mb.mobilizer.Ball, mb.mobilizer.Universal])
    root, tip = model.bodies[1], model.bodies[-1]
    ball = next(body for body in model.bodies if type(body).__name__ == "Universal")
    told, remembers, stiffness = Told(), False, 0.0
    mb.force.Custom(model.forces, told)
    mb.force.Custom(model.forces, Stiff())
    model.made()
    state, system = model.randomize(), model.system
    u_dot = make.rng.normal(size=len(state.u))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_all = *system.calc_forward_dynamics_derivatives(state), *system.calc_inverse_dynamics_derivatives(state, u_dot)
        for said in (
            ((root, model.bodies), (ball,)),
            ((root), ()),
            ((root, tip),),
            root,
        ):  # a list, a comma forgotten, one part
            told.said = said
            with pytest.raises(mb.ModelError, match="has to return two sequences"):
                system.calc_forward_dynamics_derivatives(state)
        told.said, remembers = None, True
        for part, other in zip(system.calc_forward_dynamics_derivatives(state), by_all[:5], strict=True):
            close(part, other, 1e-8)
        stiffness = 1e9  # nor is it lost beside what is stiff
        others = np.delete(np.arange(len(u_dot)), np.arange(len(u_dot))[ball.u_slice(state)])
        for part, other in zip(system.calc_inverse_dynamics_derivatives(state, u_dot), by_all[5:], strict=True):
            close(part[others], other[others], 1e-8)
        remembers, stiffness = False, 0.0
        told.said = [iter([root, tip]), iter([ball])]  # read once
        calls.clear()
        found = system.calc_forward_dynamics_derivatives(state)
        told.said = (root, tip), (ball,)
        assert len(calls) <= 1 + 2 * (5 + 2 * 12) + 2 * 5 + 2
        for part, other in zip((*found, *system.calc_inverse_dynamics_derivatives(state, u_dot)), by_all, strict=True):
            close(part, other, 1e-8)


@pytest.mark.filterwarnings("ignore:.*differences")
@pytest.mark.parametrize(
    ("reads", "most"),
    [("nothing", 2), ("its own", 28), ("time", 33), ("another", 66), ("a mobility", 50), ("pushed by speeds", 66)],
)
def test_what_a_force_in_python_reads_is_found_by_few_calls(reads, most, make, close, derivative):
    """Of six bodies with six mobilities each only those that are read are moved one by one."""
    calls = []

    class Pull(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            calls.append(1)
            p = np.asarray(tip.find_station_location_in_ground(state, (0.1, 0.2, 0.3)))
            v = np.asarray(tip.find_station_velocity_in_ground(state, (0.1, 0.2, 0.3)))
            pull = -2.0 * np.sin(p) - 0.5 * v
            if reads == "nothing":
                return
            if reads == "time":
                pull = pull * np.cos(3.0 * state.time)
            if reads == "another":
                pull = pull - np.cos(other.find_station_location_in_ground(state, (0.3, 0.0, 0.1)))
            if reads == "a mobility":
                pull = pull * np.sin(other.get_q(state)[-1])
            if reads == "pushed by speeds":
                mobility_forces[:3] += pull * np.sin(other.find_station_velocity_in_ground(state, (0.0, 0.2, 0.1)))
            else:
                tip.apply_force_to_body_point(state, (0.1, 0.2, 0.3), pull, body_forces)

    model = make.tree(6, [mb.mobilizer.Free])
    tip, other = model.bodies[6], model.bodies[3]
    mb.force.Custom(model.forces, Pull())
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.4
    model.system.realize(state)
    model.system.calc_forward_dynamics_derivatives(state)  # tries directions of bodies together first
    calls.clear()
    model.system.calc_forward_dynamics_derivatives(state)
    assert len(calls) <= most
    assert_forward(state, close, derivative)


def test_elements_that_are_switched_off_and_on_again(make, close, derivative):
    """The derivatives of a state are those of what is enabled in it, whatever was asked for before."""
    model = make.tree(4, [mb.mobilizer.Pin, mb.mobilizer.Ball])
    pin = next(body for body in model.bodies[1:] if type(body).__name__ == "Pin")
    spring = mb.force.MobilityLinearSpring(model.forces, pin, 0, 140.0, 0.2)
    rope = mb.force.TwoPointLinearSpring(model.forces, model.bodies[1], (0.1, 0, 0), model.bodies[3], (0, 0.2, 0), 90.0, 0.3)
    rod = mb.constraint.Rod(model.bodies[2], (0, 0, 0), model.bodies[4], (0.1, 0, 0), 0.7)
    model.made()
    state = model.randomize(Stage.MODEL)
    for part in (spring, rope, rod):
        for switch in (part.disable, part.enable, part.disable):
            switch(state)
            model.system.realize(state)
            assert_forward(state, close, derivative)
    for part in (rope, spring):
        part.enable(state)
        model.system.realize(state)
        assert_forward(state, close, derivative)


def test_bodies_on_which_nothing_acts(make, close, derivative):
    """Few bodies are pushed: scratch of the others is not read, whatever an earlier call has left there."""
    model = make.tree(9, [mb.mobilizer.Pin, mb.mobilizer.Ball])
    for body in model.bodies[4:6]:
        mb.force.TwoPointLinearSpring(model.forces, body, (0.1, 0, 0), model.system.matter.ground, (0, 0.2, 0), 90.0, 0.3)
    model.made()
    state = model.randomize()
    found, u_dot = assert_forward(state, close, derivative), make.vector(len(state.u))
    assert_inverse(state, make.rng, close, derivative)
    assert 0 < sweep_for(model.system, state).parts.plan.acted_places.sum() < len(state.u)
    ensemble = mb.Ensemble(model.system, 3, state=state)
    ensemble.realize()
    of_inverse = model.system.calc_inverse_dynamics_derivatives(state, u_dot)

    def inverse():
        return ensemble.calc_inverse_dynamics_derivatives(u_dot)

    # what is zero at first and left so: the residual's derivatives beside the tree's, and the place of Ground
    left = (2 * len(u_dot), len(u_dot)), (model.system.matter.get_num_bodies(), NUMBERS_A_BODY)
    for calculate, expected in ((ensemble.calc_forward_dynamics_derivatives, found), (inverse, of_inverse)):
        for _ in range(3):
            for part, one in zip(calculate(), expected, strict=True):
                close(part[1], one, 1e-10)
            assert ensemble._scratch
            for _, _, fields in ensemble._scratch.values():
                for field in fields:
                    if field.shape[:2] not in left:
                        field.fill(np.nan)


def test_parameters_of_a_states_own(make, close, derivative):
    """A gravity that is switched off, and another frame."""
    model = make.tree(5)
    state = model.state
    model.gravity.disable(state)
    model.bodies[2].set_inboard_frame(state, make.frame())
    model.randomize()
    assert_forward(state, close, derivative)


def test_inverse_dynamics_has_all_that_acts_and_leaves_the_stage(make, close):
    model = tree(make)
    elements(model)
    model.made()
    state = model.randomize(Stage.VELOCITY)
    u_dot = make.rng.normal(size=len(state.u))
    missing = model.system.calc_inverse_dynamics(state, u_dot)
    assert state.stage == Stage.VELOCITY
    model.system.realize(state)
    f, F = model.system.get_mobility_forces(state), model.system.get_rigid_body_forces(state)
    close(missing, model.matter.calc_residual_force_ignoring_constraints(state, f, F, u_dot), 1e-13)
    close(model.system.calc_inverse_dynamics(state, state.u_dot), np.zeros(len(u_dot)), 1e-9, np.abs(missing).max())
    state.u = 2.0 * state.u  # forces of positions have been kept
    model.system.realize(state)
    close(model.system.calc_inverse_dynamics(state, state.u_dot), np.zeros(len(u_dot)), 1e-9, np.abs(missing).max())


def test_inverse_dynamics_of_an_ensemble(make, close):
    model = tree(make)
    elements(model)
    model.made()
    ensemble = mb.Ensemble(model.system, 11, state=model.state)
    states = [model.randomize(Stage.VELOCITY, state=model.state.copy()) for _ in range(11)]
    ensemble.q, ensemble.u = [s.q for s in states], [s.u for s in states]
    ensemble.realize(Stage.VELOCITY)
    u_dot = make.rng.normal(size=(11, len(model.state.u)))
    expected = [model.system.calc_inverse_dynamics(s, a) for s, a in zip(states, u_dot, strict=True)]
    close(ensemble.calc_inverse_dynamics(u_dot), expected, 1e-10)
    with pytest.raises(ValueError, match="u_dot has shape"):
        ensemble.calc_inverse_dynamics(u_dot[:, 1:])


def test_welded_bodies_that_carry_others(make, close, derivative):
    """They are lumped with what carries them, and pass on what they carry."""
    model = make.tree(6, [mb.mobilizer.Pin, mb.mobilizer.Weld], chain=True)
    model.made()
    state = model.randomize()
    assert len(state.u) == 3
    assert_forward(state, close, derivative)


@pytest.mark.parametrize("kinds", ["constant columns", "forces without slopes", "a long chain", "all columns"])
def test_derivatives_of_an_ensemble_are_those_of_its_states(make, close, kinds):
    K, long = mb.mobilizer, kinds == "a long chain"  # of several runs of places; gravity is Ground's acceleration
    bends, sloped = kinds == "all columns", kinds != "forces without slopes"
    kinds = [K.Pin, K.Universal, K.Gimbal] if bends else [K.Pin, K.Free, K.Slider, K.Ball, K.Planar]
    if long:
        model = make.tree(26, [K.Pin, K.Weld, K.Ball, K.Slider], direction=mb.Direction.FORWARD, chain=True)
    else:
        model = make.tree(6, kinds, direction=mb.Direction.FORWARD)
    if not bends:  # bases with several mobilities, which carry others
        ground = model.bodies[0]
        welded = make.mobilized_body(K.Weld, ground, direction=mb.Direction.FORWARD)
        for kind, parent in ((K.Ball if long else K.Free, welded), (K.Ball if long else K.Planar, ground)):
            base = make.mobilized_body(kind, parent, direction=mb.Direction.FORWARD)
            for _ in range(2):
                make.mobilized_body(K.Pin, base, direction=mb.Direction.FORWARD)
    bodies = model.matter.body_list[1:]
    if not long and sloped:
        mb.force.MobilityLinearDamper(model.forces, bodies[5], 0, 0.7)
        mb.force.GlobalDamper(model.forces, model.matter, 0.3)
    elif not long:  # without forces on mobilities, none goes through a free one
        for body in bodies:
            for i in range(body.facts.num_u):
                mb.force.MobilityConstantForce(model.forces, body, i, 10.0 * (i + 1))
    model.made()
    assert not long or len(model.state.u) > LONGEST
    n, system = 9, model.system
    ensemble = mb.Ensemble(system, n, state=model.state)
    states = [model.randomize(state=model.state.copy()) for _ in range(n)]
    ensemble.q, ensemble.u = [s.q for s in states], [s.u for s in states]
    ensemble.realize()
    u_dot = make.rng.normal(size=(n, len(model.state.u)))
    name = f"{model.bodies[2].name}.mass"
    for found, alone in (
        (ensemble.calc_forward_dynamics_derivatives(), [system.calc_forward_dynamics_derivatives(s) for s in states]),
        (
            ensemble.calc_inverse_dynamics_derivatives(u_dot),
            [system.calc_inverse_dynamics_derivatives(s, a) for s, a in zip(states, u_dot, strict=True)],
        ),
        ([ensemble.calc_parameter_derivatives([name])], [[system.calc_parameter_derivatives(s, [name])] for s in states]),
        (
            [ensemble.calc_inertial_parameter_regressor(u_dot)],
            [[model.matter.calc_inertial_parameter_regressor(s, a)] for s, a in zip(states, u_dot, strict=True)],
        ),
    ):
        for part, each in zip(found, zip(*alone, strict=True), strict=True):
            close(part, np.array(each), 1e-8)
    expected = ensemble.calc_forward_dynamics_derivatives()
    q, u = np.array(ensemble.q), np.array(ensemble.u)
    ensemble.u = 2.0 * u
    with pytest.raises(mb.StageError):
        ensemble.calc_forward_dynamics_derivatives()
    for given in ({"u": u}, {"q": q, "u": u}):  # neither is realized before
        found = ensemble.calc_forward_dynamics_derivatives(**given)
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
        assert ensemble.stage < Stage.POSITION if "q" in given else ensemble.stage < Stage.VELOCITY
    for wrong in ({"q": 2.0 * q, "u": u[:, 1:]}, {"q": q[:, 1:], "u": 2.0 * u}, {"q": "no"}):
        with pytest.raises((ValueError, TypeError), match=r"\b[qu]\b"):
            ensemble.calc_forward_dynamics_derivatives(**wrong)
        assert np.array_equal(ensemble.q, q) and np.array_equal(ensemble.u, u)
    inverse = ensemble.calc_inverse_dynamics_derivatives, (u_dot,)
    ensemble.realize()
    for calculate, given in ((ensemble.calc_forward_dynamics_derivatives, ()), inverse):
        assert_writes_out(calculate, given)
    eight, seven = (mb.Ensemble(system, k, state=model.state) for k in (8, 7))
    out = eight.calc_forward_dynamics_derivatives(u=u[:8])
    last = [np.array(part[7]) for part in out]
    seven.calc_forward_dynamics_derivatives(u=2.0 * u[:7], out=[part[:7] for part in out])
    assert all(np.array_equal(part[7], one) for part, one in zip(out, last, strict=True)), "that is no result of seven"
    expected_of_u_dot = ensemble.calc_inverse_dynamics_derivatives(u_dot)
    out = ensemble.calc_inverse_dynamics_derivatives(u_dot)
    out.q[:, 0] = u_dot
    ensemble.calc_inverse_dynamics_derivatives(out.q[:, 0], out=out)  # read from where it writes
    assert all(np.array_equal(one, other) for one, other in zip(out, expected_of_u_dot, strict=True))
    ensemble.q = 2.0 * q
    short = [part[:, 1:] for part in expected]
    text, frozen = [np.full(part.shape, "no") for part in expected], [np.array(part) for part in expected]
    frozen[0].flags.writeable = False
    for out, error, said in (
        (short, ValueError, "q of out .* shape"),
        (text, TypeError, "q of out .* float64"),
        (frozen, ValueError, "q of out .* read-only"),
        (expected[:3], TypeError, "ForwardDynamicsDerivatives, or 5 arrays"),
        (expected.q, TypeError, "5 arrays"),
    ):
        with pytest.raises(error, match=said):
            ensemble.calc_forward_dynamics_derivatives(q=q, out=out)
        assert np.array_equal(ensemble.q, 2.0 * q)


def assert_writes_out(calculate, given):
    """Into what an earlier call gave, and into arrays of the caller's own, the same bits."""
    expected, out = calculate(*given), calculate(*given)
    own = type(out)(*(np.empty_like(part) for part in expected))
    apart = type(out)(*(np.empty(part.shape).T.copy().T for part in expected))  # in Fortran's order
    swapped = out._replace(q=out.u, u=out.q)  # views of the right array in the wrong places
    turned = out._replace(q=out.q.transpose(0, 2, 1))
    lent = type(out)(*(np.ndarray(part.shape, buffer=bytearray(part.nbytes + 8)) for part in out))  # as of shared memory
    for target in (out, own, apart, swapped, turned, lent):
        for part in target:
            part[...] = np.nan
        assert calculate(*given, out=target) is target
        assert all(np.array_equal(one, other) for one, other in zip(target, expected, strict=True))
    found = calculate(*given, out=tuple(own))
    assert type(found) is type(out) and found.q is own.q


def test_bad_input(make):
    model = make.tree(3)
    state, system = model.state, model.system
    model.randomize(Stage.POSITION)
    with pytest.raises(mb.StageError, match="needs Stage"):
        system.calc_inverse_dynamics(state, np.zeros(len(state.u)))
    system.realize(state, Stage.VELOCITY)
    with pytest.raises(mb.StageError, match="needs Stage"):
        system.calc_forward_dynamics_derivatives(state)
    for call in (system.calc_inverse_dynamics, system.calc_inverse_dynamics_derivatives):
        with pytest.raises(ValueError, match="u_dot has shape"):
            call(state, np.zeros(len(state.u) + 1))
    with pytest.raises(mb.TopologyError):
        make.tree(3).system.calc_inverse_dynamics(state, np.zeros(len(state.u)))


@pytest.mark.parametrize("springs", [False, True])
def test_q_and_u_in_the_same_call(make, close, springs):
    """The same as assigning and realizing, in the state and in the result; what is refused changes nothing."""
    model = make.tree(6, rotors=True)
    if springs:
        mb.force.TwoPointLinearSpring(
            model.forces, model.matter.bodies[1], (0.1, 0, 0), model.matter.bodies[3], (0, 0.2, 0), 30.0, 0.1
        )
    system = model.system
    state = system.realize_topology()
    system.realize_model(state)
    q, u = np.array(state.q) + 0.01, np.linspace(-1.0, 1.0, len(state.u))
    u_dot = np.linspace(1.0, 2.0, len(u))
    plain = state.copy()
    plain.q, plain.u = q, u
    system.realize(plain)
    first = state.copy()  # of which nothing is realized yet
    system.realize(first, q=q, u=u)
    assert first.stage == Stage.ACCELERATION
    assert np.array_equal(first.q, q) and np.array_equal(first.u_dot, plain.u_dot)
    for _ in range(2):
        found = system.calc_inverse_dynamics(state, u_dot, q=q.tolist(), u=u)
        assert state.stage == Stage.VELOCITY
        assert np.array_equal(found, system.calc_inverse_dynamics(plain, u_dot))
        state.q = 2.0 * q
    for _ in range(2):
        found, expected = (
            system.calc_forward_dynamics_derivatives(state, q=q, u=u),
            system.calc_forward_dynamics_derivatives(plain),
        )
        assert state.stage == Stage.ACCELERATION
        assert np.array_equal(state.u_dot, plain.u_dot)
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
        state.u = 2.0 * u
    found = system.calc_forward_dynamics_derivatives(state, u=u)  # q alone stays
    assert np.array_equal(found.u, expected.u)
    state.q = 2.0 * q
    system.realize(state, Stage.POSITION, q=q)  # and u
    assert state.stage == Stage.POSITION and np.array_equal(state.u, u)
    assert np.array_equal(system.matter.multiply_by_m_inv(state, u), system.matter.multiply_by_m_inv(plain, u.tolist()))
    system.realize(state)
    for calls in (
        system.realize,
        system.calc_forward_dynamics_derivatives,
        lambda s, **k: system.calc_inverse_dynamics(s, u, **k),
    ):
        before = np.array(state.q), np.array(state.u), state.stage, np.array(state.u_dot)
        for wrong in ({"q": q[1:], "u": 3.0 * u}, {"q": 3.0 * q, "u": u[1:]}, {"q": "no", "u": 3.0 * u}, {"u": [[1.0]]}):
            with pytest.raises((ValueError, TypeError), match=r"state\.[qu]"):
                calls(state, **wrong)
        assert np.array_equal(state.q, before[0]) and np.array_equal(state.u, before[1]) and state.stage == before[2]
        with pytest.raises(mb.ModelError, match="finite"):
            calls(state, q=np.nan * q, u=u)
        calls(state, q=q, u=u)
    with pytest.raises(ValueError, match="u_dot"):
        system.calc_inverse_dynamics(state, u_dot[1:], q=q, u=u)
    with pytest.raises(mb.TopologyError):
        make.tree(2).system.calc_inverse_dynamics(state, u_dot, q=q, u=u)


def test_without_mobilities():
    system = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(system)
    state = system.realize_topology()
    system.realize(state)
    assert system.calc_forward_dynamics_derivatives(state).q.shape == (0, 0)
    assert system.calc_inverse_dynamics_derivatives(state, []).u.shape == (0, 0)


@pytest.mark.parametrize(("name", "floating"), [("panda", False), ("g1", False), ("g1", True)])
def test_robots_are_pinocchios(name, floating, rng, close):
    """Derivatives of ABA and RNEA; the base at rest, so that its coordinates, in the base's frame there, convert simply."""
    pin = pytest.importorskip("pinocchio")
    with as_file(files("mobod.examples") / f"{name}.urdf") as path, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = mb.load_urdf(path, floating_base=floating)
        peer = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floating else []))
    data, first = peer.createData(), 6 if floating else 0
    joints = [peer.joints[peer.getJointId(joint)] for joint in list(robot.speeds)[first:]]
    state = robot.default_state()
    for force in robot.system.all_forces()[1:]:  # dampers and stops, which Pinocchio does not have
        force.disable(state)
    q, u = rng.uniform(-1, 1, len(state.q)), rng.uniform(-2, 2, len(state.u))
    theirs, T = pin.neutral(peer), np.zeros((peer.nv, peer.nv))
    if floating:
        q[:4] /= np.linalg.norm(q[:4])
        u[:6] = 0.0
        theirs[:7] = [*q[4:7], *q[1:4], q[0]]
        R = np.asarray(mb.Rotation.from_quaternion(q[:4]))
        T[:3, 3:6] = T[3:6, :3] = R.T
    for i, joint in enumerate(joints):
        theirs[joint.idx_q] = q[first + floating + i]
        T[joint.idx_v, first + i] = 1.0
    state.q, state.u = q, u
    robot.system.realize(state)
    ours = robot.system.calc_forward_dynamics_derivatives(state)
    by_q, by_v, by_tau = pin.computeABADerivatives(peer, data, theirs, T @ u, np.zeros(peer.nv))
    back = np.linalg.inv(T)
    expected, turned = back @ by_q @ T, np.zeros((peer.nv, peer.nv))
    for k in range(3 if floating else 0):  # components in the base's frame turn with it
        turned[:3, k], turned[3:6, k] = np.cross(np.eye(3)[k], state.u_dot[:3]), np.cross(np.eye(3)[k], state.u_dot[3:6])
    close(ours.q, expected + turned, 1e-8)
    close(ours.u, back @ by_v @ T, 1e-8)
    by_tau = np.triu(by_tau) + np.triu(by_tau, 1).T
    close(ours.mobility_forces, back @ by_tau @ back.T, 1e-8)
    if not floating:
        u_dot = rng.normal(size=len(u))
        found = robot.system.calc_inverse_dynamics_derivatives(state, u_dot)
        by_q, by_v, by_a = pin.computeRNEADerivatives(peer, data, theirs, T @ u, T @ u_dot)
        close(found.q, T.T @ by_q @ T, 1e-8)
        close(found.u, T.T @ by_v @ T, 1e-8)
        close(found.u_dot, T.T @ (np.triu(by_a) + np.triu(by_a, 1).T) @ T, 1e-8)


@pytest.mark.parametrize("angles", ["quaternions", "euler"])
def test_jacobians_of_stations_and_frames(make, close, derivative, angles):
    """Of every kind of mobilizer, reversed ones too: whole, times speeds, and their transposes times forces."""
    model = make.tree()
    state, matter = model.state, model.matter
    if angles == "euler":
        matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.randomize()
    tasks = [model.bodies[-1], 0, model.bodies[len(model.bodies) // 2]], make.rng.normal(size=(3, 3))
    change, u, f = make.rng.normal(size=(3, len(state.u)))
    forces = make.rng.normal(size=(3, 3))
    N = steps_of_speeds(state)

    def along(h):
        return matter.calc_frame_jacobian(at(state, q=state.q + h * (N @ change)), *tasks)

    whole = matter.calc_frame_jacobian_derivatives(state, *tasks)
    close(whole @ change, derivative(along), DIFFERENCE)
    stations = whole.reshape(3, 2, 3, len(u), len(u))[:, 1].reshape(9, len(u), len(u))
    by_u = np.einsum("ijk,j->ik", stations, u)
    by_f = np.einsum("i,ijk->jk", forces.ravel(), stations)
    close(matter.calc_station_jacobian_derivatives(state, *tasks, u=u), by_u, 1e-13)
    close(matter.calc_station_jacobian_derivatives(state, *tasks, forces=forces), by_f, 1e-13)
    close(matter.calc_station_jacobian_derivatives(state, *tasks, u=f, forces=forces), f @ by_f, 1e-13)
    for wrong in (np.zeros(4), np.zeros((9, 1)), np.zeros((1, 9))):
        with pytest.raises(ValueError, match="forces"):
            matter.calc_station_jacobian_derivatives(state, *tasks, forces=wrong)
    with pytest.raises(mb.StageError):
        matter.calc_frame_jacobian_derivatives(model.system.realize_topology(), *tasks)


def test_second_derivatives_are_those_of_the_first(make, close, derivative):
    """Along a direction of q and u: d/dh of the derivative along it is the second difference of u_dot."""
    model = make.tree(5, [mb.mobilizer.Pin, mb.mobilizer.Slider, mb.mobilizer.Universal])
    mb.force.TwoPointLinearSpring(model.forces, model.matter.ground, (2, 0, 0), model.bodies[-1], (0, 1, 0), 5.0, 0.5)
    model.made()
    state = model.randomize()
    nu = len(state.u)
    dq, du = make.rng.normal(size=(2, nu))
    found = state.system.calc_forward_dynamics_second_derivatives(state, q=dq, u=du)

    def first(h):
        by = state.system.calc_forward_dynamics_derivatives(at(state, q=state.q + h * dq, u=state.u + h * du))
        return by.q @ dq + by.u @ du

    close(found.q @ dq + found.u @ du, derivative(first), 1e-6)
    M_inv = derivative(lambda h: state.system.matter.calc_m_inv(at(state, q=state.q + h * dq)))
    close(found.mobility_forces, M_inv, 1e-6)
    u_dot = [np.array(at(state, q=state.q + h * dq, u=state.u + h * du).u_dot) for h in (-2e-3, -1e-3, 0, 1e-3, 2e-3)]
    second = (-u_dot[0] + 16 * u_dot[1] - 30 * u_dot[2] + 16 * u_dot[3] - u_dot[4]) / 12e-6
    close(found.q @ dq + found.u @ du, second, 1e-5)
    with pytest.raises(ValueError, match="z has"):
        state.system.calc_forward_dynamics_second_derivatives(state, z=[1.0])
    ensemble = mb.Ensemble(state.system, 2, state=state)
    ensemble.realize(Stage.POSITION)
    task = model.bodies[-1], (0.1, 0.2, 0.3)
    for given in ({}, {"u": dq}):
        one = state.system.matter.calc_station_jacobian_derivatives(state, *task, **given)
        assert np.array_equal(ensemble.calc_station_jacobian_derivatives(*task, **given)[1], one)


def assert_ensemble_has_those_of_its_states(states, close, tolerance=1e-9):
    """All found eight at a time: to what rounding does through the condition of M."""
    system = states[0].system
    ensemble = mb.Ensemble(system, len(states), state=states[0])
    ensemble.time, ensemble.q, ensemble.u = [s.time for s in states], [s.q for s in states], [s.u for s in states]
    ensemble.z = [s.z for s in states]
    ensemble.realize()
    found = ensemble.calc_forward_dynamics_derivatives()
    alone = [system.calc_forward_dynamics_derivatives(s) for s in states]
    for part, each in zip(found, zip(*alone, strict=True), strict=True):
        close(part, np.array(each), tolerance)
    u_dot = np.cos(np.arange(found.time.size)).reshape(found.time.shape)
    inverse = ensemble.calc_inverse_dynamics_derivatives(u_dot)
    alone = [system.calc_inverse_dynamics_derivatives(s, a) for s, a in zip(states, u_dot, strict=True)]
    for part, each in zip(inverse, zip(*alone, strict=True), strict=True):
        close(part, np.array(each), tolerance)
    return found


def test_ensembles_have_those_through_all_that_acts(make, close):
    """Of every force, of constraints of coordinates and of time, and of motions: see `batch_element_derivatives`."""
    model, _, state = realized_with_all(make)
    assert_ensemble_has_those_of_its_states([state, model.randomize(state=state.copy())], close)
    tree = Tree()
    assert_ensemble_has_those_of_its_states([tree.randomize(make).copy() for _ in range(3)], close)
    driven = make.tree(6, [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Universal])
    moved = next(body for body in driven.bodies if type(body).__name__ == "Universal")
    mb.motion.Sinusoid(moved, mb.Motion.Level.VELOCITY, 0.8, 2.0, 0.3)
    driven.made()
    found = assert_ensemble_has_those_of_its_states([driven.randomize(state=driven.state.copy()) for _ in range(3)], close)
    assert found.time.any()


@pytest.mark.parametrize("name", OF_BODIES)
def test_ensembles_have_those_through_every_kind_of_constraint(name, make, close):
    pair = Pair(make, name)
    assert_ensemble_has_those_of_its_states([pair.randomize_independent().copy() for _ in range(2)], close)


def flat_parallelogram():
    """Three bars and a ball and socket, whose equations depend on each other where all lie on a line: there q is zero."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    bar = mb.body.Rigid(mb.MassProperties(1.0, (0.5, 0, 0), mb.UnitInertia(0.1, 0.4, 0.4)))
    crank = mb.mobilizer.Pin(matter.ground, bar)
    coupler = mb.mobilizer.Pin(crank, bar, X_PF=mb.Transform((1, 0, 0)))
    rocker = mb.mobilizer.Pin(matter.ground, bar, X_PF=mb.Transform((2, 0, 0)))
    mb.constraint.Ball(coupler, (2, 0, 0), rocker, (1, 0, 0))
    return system, coupler


def test_singular_constraints_of_one_state_leave_the_others_of_an_ensemble_alone(close):
    """Equations that depend on each other have the least multipliers, as of a state alone; what is not finite, no numbers."""
    system, coupler = flat_parallelogram()
    state = system.realize_topology()
    angles = np.linspace(0.2, 1.4, 11)
    q = np.column_stack([angles, -angles, angles])
    q[3] = 0.0
    masses = [[m, 0.5, 0.0, 0.0, 0.1 * m, 0.4 * m, 0.4 * m, 0.0, 0.0, 0.0] for m in np.linspace(1.0, 2.0, 11)]
    ensemble = mb.Ensemble(system, 11, state=state, threads=2)
    ensemble.q, ensemble.u = q, np.tile([0.3, -0.3, 0.3], (11, 1))
    for given in (None, masses):  # then each state has parameters of its own
        if given is not None:
            ensemble.set_body_mass_properties(coupler, given)
        ensemble.realize()
        found = ensemble.calc_forward_dynamics_derivatives()
        alone = [ensemble.get_state(i) for i in range(11)]
        for one in alone:
            system.realize(one)
        for part, each in zip(found, zip(*map(system.calc_forward_dynamics_derivatives, alone), strict=True), strict=True):
            close(part, np.array(each), 1e-10)
    q[7] = np.nan
    found = ensemble.calc_forward_dynamics_derivatives(q=q, u=ensemble.u, out=(other := found))
    assert found is other and np.isnan(found.q[7]).all() and np.isnan(found.mobility_forces[7]).all()
    again = ensemble.get_state(3)
    system.realize(again)
    close(found.q[3], system.calc_forward_dynamics_derivatives(again).q, 1e-10)


def test_a_rod_that_moves_nothing_beside_another_in_lanes(make, close):
    """Of a length from the axis of a pin, but for rounding: it is left out of each of the other's solutions."""
    model = make.tree(0)
    frame, station = make.frame(), make.vector()
    pin = mb.mobilizer.Pin(model.matter.ground, make.body(), X_PF=frame)
    ball = mb.mobilizer.Ball(pin, make.body(), X_PF=make.frame())
    mb.constraint.Rod(model.matter.ground, make.vector(), ball, make.vector(), 1.1)
    on_axis = np.asarray(frame.p) + frame.R @ np.array([0.0, 0.0, 0.7])
    mb.constraint.Rod(model.matter.ground, on_axis, pin, station, 0.9)
    model.made()
    assert_ensemble_has_those_of_its_states([model.randomize(state=model.state.copy()) for _ in range(3)], close)


@pytest.mark.parametrize("example", ["double_pendulum", "four_bar"])
def test_mobility_forces_of_one_call(example, make, close):
    """As those of motors: of a state and of an ensemble, without and with constraints; the elements' are as they were."""
    system, state = getattr(mb.examples, example).build()
    motors = mb.force.Actuators(system.forces, [(b, i) for b in system.matter.bodies[1:] for i in range(b.facts.num_u)])
    state = system.realize_topology()
    n, nu = 9, len(state.u)
    q, u, f = (np.array(make.rng.uniform(-0.5, 0.5, size=(n, nu))) for _ in range(3))
    ensemble, expected = mb.Ensemble(system, n, state=state), []
    other = state.copy()
    for row in zip(q, u, f, strict=True):
        motors.set_efforts(other, row[2])
        expected.append(system.calc_forward_dynamics_derivatives(other, q=row[0], u=row[1]))
        found = system.calc_forward_dynamics_derivatives(state, q=row[0], u=row[1], mobility_forces=row[2])
        assert all(np.array_equal(a, b) for a, b in zip(found, expected[-1], strict=True))
        system.realize(state, q=row[0], u=row[1], mobility_forces=list(row[2]))
        assert np.array_equal(state.u_dot, other.u_dot) and not system.get_mobility_forces(state).any()
        system.realize(state, mobility_forces=np.zeros(nu))
        system.realize(state, mobility_forces=row[2])
        assert np.array_equal(state.q_dot_dot, other.q_dot_dot)
        again = system.calc_forward_dynamics_derivatives(state, out=found)
        assert again is found and np.array_equal(found.u, expected[-1].u)
        inverse = system.calc_inverse_dynamics_derivatives(other, state.u_dot)
        into = system.calc_inverse_dynamics_derivatives(state, state.u_dot, q=row[0], u=row[1], out=[x + 1 for x in inverse])
        assert all(np.array_equal(a, b) for a, b in zip(into, inverse, strict=True))
    ensemble.realize(q=q, u=u, mobility_forces=f)
    u_dot, A = np.array(ensemble.u_dot), np.array(ensemble.body_accelerations)
    of_all = ensemble.calc_forward_dynamics_derivatives()
    ensemble.realize()
    assert np.array_equal(u_dot, ensemble.u_dot)
    ensemble.realize(mobility_forces=0.0 * f[0])
    assert not np.allclose(u_dot, ensemble.u_dot)
    for found in (of_all, ensemble.calc_forward_dynamics_derivatives(q=q, mobility_forces=f, out=[1.0 * x for x in of_all])):
        for part, each in zip(found, zip(*expected, strict=True), strict=True):
            close(part, np.array(each), 1e-9)
    close(u_dot[-1], other.u_dot, 1e-10)
    close(A[-1].ravel(), other.A_GB[[b.index for b in system.matter.bodies]].ravel(), 1e-10)
    into = ensemble.calc_inverse_dynamics_derivatives(u_dot, q=q, u=u)
    close(into.q[-1], system.calc_inverse_dynamics_derivatives(other, u_dot[-1]).q, 1e-9)


def test_refused_mobility_forces_leave_the_state_as_it_was():
    system, state = mb.examples.double_pendulum.build()
    system.realize(state)
    before, ensemble = np.array(state.u_dot), mb.Ensemble(system, 3, state=state)
    ensemble.realize()
    for bad, error in (([1.0], "shape"), ("motors", "numbers"), ([np.nan, 0.0], "finite")):
        with pytest.raises((ValueError, TypeError), match=f"mobility_forces.*{error}"):
            system.realize(state, q=[1.0, 2.0], mobility_forces=bad)
        with pytest.raises((ValueError, TypeError), match=f"mobility_forces.*{error}"):
            system.calc_forward_dynamics_derivatives(state, q=[1.0, 2.0], u=[0.0, 0.0], mobility_forces=bad)
        assert state.stage == Stage.ACCELERATION and np.array_equal(state.u_dot, before) and state.q[0] != 1.0
    for call in (system.realize, lambda s, stage, **given: ensemble.realize(stage, **given)):
        with pytest.raises(ValueError, match="realize to ACCELERATION, not VELOCITY"):
            call(state, Stage.VELOCITY, q=state.q, mobility_forces=[1.0, 1.0])
    with pytest.raises(ValueError, match="u has to have shape"):
        ensemble.realize(q=np.ones((3, 2)), u=np.ones((3, 5)))
    with pytest.raises(ValueError, match="q of out has to have shape"):
        system.calc_forward_dynamics_derivatives(state, q=[1.0, 2.0], out=[np.zeros((3, 3))] * 5)
    assert ensemble.stage == Stage.ACCELERATION and state.stage == Stage.ACCELERATION
    ensemble.realize(mobility_forces=[[0.0, 1.0], [np.inf, 0.0], [0.0, 0.0]])
    assert ensemble.failed.tolist() == [False, True, False]
