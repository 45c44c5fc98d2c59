"""Parts of machines in closed form: a motor by its curve, a gear with backlash, a belt with pretension."""

import itertools

import numpy as np
import pytest

import mobod as mb


def shafts(inertias):
    """Bodies that turn about z."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    return (
        system,
        forces,
        [
            mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(J, J, J))))
            for J in inertias
        ],
    )


def test_a_motor_runs_up_exponentially():
    """T = T_0 (1 - w / w_0): J u' = r T_0 (1 - r u / w_0), to u = w_0 / r with the time constant J w_0 / (r^2 T_0)."""
    T, w, r, J = 2.0, 100.0, 5.0, 0.5
    system, forces, (shaft,) = shafts([J])
    curve = mb.function.Table([0.0, w], [T, 0.0], interpolation="linear")
    motor = mb.force.Motor(forces, shaft, 0, curve, ratio=r)
    state = system.realize_topology()
    tau = J * w / (r * r * T)
    run = mb.simulate(system, state, 3.0 * tau, accuracy=1e-8)
    np.testing.assert_allclose(run.u[:, 0], w / r * (1.0 - np.exp(-run.time / tau)), rtol=1e-5, atol=1e-6)
    motor.set_throttle(state, -1.0)  # the same the other way
    np.testing.assert_allclose(mb.simulate(system, state, tau, accuracy=1e-8).u[-1], [-w / r * (1.0 - np.exp(-1.0))], rtol=1e-5)


def test_a_duty_cycle_switches_it():
    system, forces, (shaft,) = shafts([1.0])
    on = mb.function.PiecewiseConstant([0.0, 1.0, 2.0], [1.0, 0.0, 1.0])
    mb.force.Motor(forces, shaft, 0, mb.function.Constant(3.0), duty_cycle=on)
    run = mb.simulate(system, system.realize_topology(), 3.0, report_interval=0.5, accuracy=1e-6)
    np.testing.assert_allclose(run.u[:, 0], [0.0, 1.5, 3.0, 3.0, 3.0, 4.5, 6.0], atol=0.02)


def test_what_is_no_curve_is_refused():
    _, forces, (shaft,) = shafts([1.0])
    for wrong in (3.0, np.sin, mb.function.Linear([1.0, 2.0, 3.0])):
        with pytest.raises(TypeError, match="curve"):
            mb.force.Motor(forces, shaft, 0, wrong)
    with pytest.raises(TypeError, match="duty_cycle"):
        mb.force.Motor(forces, shaft, 0, mb.function.Constant(1.0), duty_cycle=lambda t: 1.0)


def test_a_gear_turns_through_its_backlash_and_is_hit():
    """Radii 1 and 2, play b along the mesh: the pinion turns freely by b at first, and then takes the wheel along.

    After an impact without loss of energy the line speeds part with those of two masses J / r^2 that collide elastically.
    """
    b, J1, J2 = 0.02, 1.0, 8.0  # of the masses 1 and 2 along the mesh
    system, forces, (pinion, wheel) = shafts([J1, J2])
    mesh = mb.force.transmission.Coordinates(forces, [(pinion, 0, 1.0), (wheel, 0, 2.0)])
    mb.force.TransmissionSpring(forces, mesh, stiffness=1e6, rest_range=(-0.5 * b, 0.5 * b))
    state = system.realize_topology()
    state.q, state.u = (-0.5 * b, 0.0), (1.0, 0.0)
    run = mb.simulate(system, state, 0.03, report_interval=5e-4, accuracy=1e-8)
    free = run.time < 0.99 * b
    np.testing.assert_allclose(run.u[free], np.tile([1.0, 0.0], (free.sum(), 1)), atol=1e-9)
    hit = run.u[run.time > b + 0.004]
    np.testing.assert_allclose(hit[0], [-1.0 / 3.0, -1.0 / 3.0], atol=1e-5)  # (m1 - m2) / (m1 + m2); 2 m1 / (m1 + m2) = 2 u_2


def test_a_belt_carries_what_its_pretension_lets_it():
    """Two spans of stiffness k that only pull: the torque is r 2 k r dq up to the pretension P, then one span is slack."""
    r, k, P = 0.1, 1e5, 200.0
    system, forces, (first, second) = shafts([1.0, 1.0])
    for side in (1.0, -1.0):
        span = mb.force.transmission.Coordinates(forces, [(first, 0, side * r), (second, 0, -side * r)])
        mb.force.TransmissionSpring(forces, span, stiffness=k, rest_range=(-np.inf, -P / k))
    state = system.realize_topology()
    for angle, torque in ((0.01, 2.0 * k * r * 0.01 * r), (0.05, (P + k * r * 0.05) * r)):
        state.q = (angle, 0.0)
        system.realize(state, mb.Stage.ACCELERATION)
        np.testing.assert_allclose(state.u_dot, [-torque, torque], rtol=1e-9)


def test_a_belt_slips_where_its_tensions_are_at_eulers_ratio():
    """Below the limit two spans of stiffness k; beyond it T1 / T2 = exp(mu a), whatever the speeds, with T1 + T2 = 2 P."""
    r, k, P, mu, angle = (0.1, 0.2), 1e5, 200.0, 0.35, 2.9
    system, forces, (first, second) = shafts([0.5, 2.0])
    belt = mb.force.Belt(forces, first, second, r, pretension=P, friction=mu, wrap_angle=angle, stiffness=k)
    motor = mb.force.MobilityDiscreteForce(forces, first, 0)
    state = system.realize_topology()
    limit = belt.get_slip_force()
    state.q = (1e-6, 0.0)
    begun = mb.simulate(system, state, 1.0, accuracy=1e-8).states[-1]
    assert abs(begun.u).max() < 1e-3
    for share in (0.4, 3.0):
        motor.set_mobility_force(state, share * limit * r[0])
        run = mb.simulate(system, state, 2.0, accuracy=1e-7)
        last = run.states[-1]
        system.realize(last)
        tight, slack = belt.calc_tensions(last)
        np.testing.assert_allclose(tight + slack, 2.0 * P)
        last_copy = last.copy()
        belt.disable(last_copy)
        assert belt.calc_tensions(last_copy) == (0.0, 0.0)
        slip = r[0] * last.u[0] - r[1] * last.u[1]
        if share < 1.0:
            # both are geared, and the belt's stretch swings
            together = share * limit * r[0] / (0.5 + 2.0 * (r[0] / r[1]) ** 2)
            np.testing.assert_allclose(last.u[0], 2.0 * together, rtol=2e-2)
            assert abs(slip) < 0.02 * r[0] * last.u[0]
        else:
            assert slip > 1.0
            np.testing.assert_allclose(tight / slack, np.exp(mu * angle), rtol=1e-2)
            np.testing.assert_allclose(last.u, 2.0 * limit * np.array([2.0 * r[0] / 0.5, r[1] / 2.0]), rtol=1e-2)


def test_of_a_belt_what_is_wrong_is_named():
    _, forces, (first, second) = shafts([1.0, 1.0])
    good = {"radii": (0.1, 0.2), "pretension": 1.0, "friction": 0.3, "wrap_angle": 3.0, "stiffness": 1.0}
    for name, value in (
        ("radii", (0.1, 0.0)),
        ("pretension", 0.0),
        ("friction", -1.0),
        ("wrap_angle", np.inf),
        ("wrap_angle", 160.0),
        ("stiffness", 0),
    ):
        with pytest.raises(mb.ModelError, match=name):
            mb.force.Belt(forces, first, second, **{**good, name: value})
    with pytest.raises((TypeError, ValueError), match="radii"):
        mb.force.Belt(forces, first, second, **{**good, "radii": 0.1})
    with pytest.raises(mb.ModelError, match="first and second are both coordinate 0"):
        mb.force.Belt(forces, first, first, **good)
    with pytest.raises(IndexError, match="which_u_of_first is 3, but"):
        mb.force.Belt(forces, first, second, **good, which_u_of_first=3)
    ground = forces.get_system().matter.ground
    with pytest.raises(IndexError, match=r"which_u_of_second is 0, but .*0 u: none"):
        mb.force.Belt(forces, first, ground, **good)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    with pytest.raises(mb.ModelError, match=r"second is .*, which has a quaternion"):
        mb.force.Belt(forces, first, mb.mobilizer.Ball(ground, body), **good)
    with pytest.raises(TypeError, match="second has to be a mobilized body"):
        mb.force.Belt(forces, first, None, **good)


WHEEL = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.cylinder_along_z(0.1, 0.02)))
ALPHA, BETA = np.radians(20.0), np.radians(15.0)


def turned(angle):
    return mb.Transform(mb.Rotation.about_axis(angle, "z"))


@pytest.mark.parametrize("torque", [30.0, -30.0])
@pytest.mark.parametrize("rigid", [True, False])
def test_bearings_of_helical_gears_bear_what_the_teeth_press(torque, rigid, close):
    """ISO: F_t = T / r, F_r = F_t tan(alpha_n) / cos(beta) apart, F_a = F_t tan(beta), and its moment F_a r about the shaft."""
    r1, r2 = 0.05, 0.2
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    case = mb.mobilizer.Free(matter.ground, WHEEL)  # nothing of it depends on where the gearbox is
    X = turned(0.7)
    pinion = mb.mobilizer.Pin(case, WHEEL, X_PF=X)
    wheel = mb.mobilizer.Pin(case, WHEEL, X_PF=X @ mb.Transform((r1 + r2, 0, 0)))
    place = X @ mb.Transform((r1, 0, 0))
    if rigid:  # along the normal of the flank that the load presses
        normal = (np.copysign(np.tan(ALPHA) / np.cos(BETA), torque), 1.0, -np.tan(BETA))
        mb.constraint.NoSlip1D(case, place.p, place.R @ normal, wheel, pinion, rate_of_error=True)
    else:
        mesh = mb.force.transmission.LineOfAction(forces, case, place, pinion, wheel, pressure_angle=ALPHA, helix_angle=BETA)
        teeth = mb.force.TransmissionSpring(forces, mesh, stiffness=1e5)
    mb.force.MobilityConstantForce(forces, pinion, 0, torque)
    mb.force.MobilityConstantForce(forces, wheel, 0, torque * r2 / r1)
    state = system.realize_topology()
    matter.bodies[1].lock(state)
    if rigid:
        pinion.set_rate(state, 40.0)
        wheel.set_rate(state, -40.0 * r1 / r2)
    else:
        pinion.set_angle(state, torque / r1 / 1e5 / r1)
    system.realize(state)
    assert abs(state.u_dot).max() < 1e-9 * abs(torque)
    if not rigid:
        np.testing.assert_allclose(teeth.calc_force(state), -torque / r1)
    Ft = torque / r1
    Fr, Fa = (
        abs(Ft) * np.tan(ALPHA) / np.cos(BETA),
        Ft * np.tan(BETA),
    )  # thrust on a right-handed driving pinion: along its turn
    reactions = matter.calc_mobilizer_reaction_forces(state)
    for body, force, arm in ((pinion, (-Fr, -Ft, Fa), r1), (wheel, (Fr, Ft, -Fa), -r2)):
        close(~X.R @ reactions[body, 1], -np.array(force), 1e-9)
        close((~X.R @ reactions[body, 0])[:2], -np.cross((arm, 0, 0), force)[:2], 1e-9)


def test_the_rate_of_the_error_of_a_contact_that_leans(make, derivative):
    """With all three bodies moving in any way: a pair of u_dot that fulfils the equation keeps the velocity error as it is."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    case, first, second = (mb.mobilizer.Bushing(matter.ground, WHEEL) for _ in range(3))
    part = mb.constraint.NoSlip1D(case, make.vector(), make.unit_vector(), first, second, rate_of_error=True)
    state = system.realize_topology()
    state.q, state.u = make.vector(18), make.vector(18)
    system.realize(state)

    def error(h):
        moved = state.copy()
        moved.q, moved.u = state.q + h * state.q_dot, state.u + h * state.u_dot
        system.realize(moved, mb.Stage.VELOCITY)
        return part.get_velocity_error(moved)

    assert abs(derivative(error)) < 1e-8 * np.abs(state.u_dot).max()


def test_a_planet_presses_its_axle_with_twice_the_tangential_force(close):
    """Sun, planet and ring, which is Ground: radial forces cancel, and the carrier's torque is 2 F_t (r_s + r_p)."""
    rs, rp = 0.2, 0.5
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    sun, carrier = (mb.mobilizer.Pin(matter.ground, WHEEL, direction=way) for way in mb.Direction)
    planet = mb.mobilizer.Pin(carrier, WHEEL, X_PF=mb.Transform((rs + rp, 0, 0)))
    line = mb.force.transmission.LineOfAction
    inner = line(forces, carrier, mb.Transform((rs, 0, 0)), sun, planet, pressure_angle=ALPHA)
    outer = line(forces, carrier, mb.Transform((rs + 2 * rp, 0, 0)), planet, matter.ground, pressure_angle=ALPHA)
    teeth = [mb.force.TransmissionSpring(forces, mesh, stiffness=1e5) for mesh in (inner, outer)]
    state = system.realize_topology()

    def lengths(q):
        state.q = q
        system.realize(state)
        return [part.calc_length(state) for part in teeth]

    slopes = np.subtract([lengths(q) for q in np.eye(3)], lengths(np.zeros(3))).T
    close(slopes, [[rs, rs, rp], [0.0, -(rs + 2.0 * rp), rp]], 1e-14)  # the carrier's mobilizer is reversed
    q = np.linalg.lstsq(slopes, [1e-3, -1e-3])[0] + np.array([-(2.0 * rs + 2.0 * rp) / rs, 1.0, (rs + 2.0 * rp) / rp])
    lengths(q)
    carrier.lock(state)
    system.realize(state)
    load = matter.calc_mobilizer_reaction_forces(state)[planet, 1]
    close(load, -200.0 * np.array([np.sin(q[1]), np.cos(q[1]), 0.0]), 1e-8)


def test_a_line_of_action_has_the_speed_between_both_bodies_where_they_touch(rng):
    """Whatever bears them, and in whichever frames and directions their mobilizers are; what they press does its work."""
    for ways in itertools.product(mb.Direction, repeat=2):
        system = mb.MultibodySystem()
        matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)

        def frame():
            return turned(rng.uniform(-3.0, 3.0)) @ mb.Transform((0, 0, rng.normal()))

        def anywhere():
            return mb.Transform(mb.Rotation.about_axis(rng.uniform(-3.0, 3.0), "x"), rng.normal(size=3))

        X, axis = anywhere(), anywhere()  # of the sun and the arm on Ground, and on the arm
        sun = mb.mobilizer.Cylinder(matter.ground, WHEEL, X_PF=X, X_BM=frame(), direction=ways[0])
        arm = mb.mobilizer.Pin(matter.ground, WHEEL, X_PF=X, X_BM=axis @ frame(), direction=ways[1])
        X_PF, place = axis @ mb.Transform((0.7, 0, 0.3)), axis @ mb.Transform((0.2, 0, 0.1))
        planet = mb.mobilizer.Screw(arm, WHEEL, X_PF=X_PF, X_BM=frame(), pitch=0.1, direction=ways[0])
        angles = {"pressure_angle": ALPHA, "helix_angle": BETA}
        mesh = mb.force.transmission.LineOfAction(forces, arm, place, sun, planet, ratio=1.3, **angles)
        teeth = mb.force.TransmissionSpring(forces, mesh, stiffness=100.0)
        state = system.realize_topology()
        state.q, state.u = rng.normal(size=4), rng.normal(size=4)
        system.realize(state)
        P = arm.find_station_location_in_ground(state, place.p)
        v = [body.find_station_velocity_in_ground(state, body.find_station_at_ground_point(state, P)) for body in (sun, planet)]
        along = np.asarray(arm.get_body_rotation(state) @ place.R) @ (0.0, 1.0, -np.tan(BETA))
        assert mesh.calc_speed(state) == pytest.approx(1.3 * along @ (v[0] - v[1]), rel=1e-12)
        on_bodies, _, _ = teeth.calc_force_contribution(state)
        work = state.u @ matter.multiply_by_system_jacobian_transpose(state, on_bodies)
        assert work == pytest.approx(teeth.calc_force(state) * mesh.calc_speed(state), rel=1e-11)


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_pulls_its_pulleys_along_its_spans(crossed, close):
    """Spans are tangents of both circles: along the line of centers is (T1 + T2) cos(theta), across it (T1 - T2) sin(theta).

    sin(theta) is (r2 - r1) / c of an open belt and -(r1 + r2) / c of a crossed one; it is wrapped by pi - 2 theta.
    """
    r, c, P, turn = (0.05, 0.1), 0.4, 100.0, turned(0.4)
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    upside_down = mb.Transform(mb.Rotation.about_axis(np.pi, "x"))
    first = mb.mobilizer.Pin(matter.ground, WHEEL, X_PF=turn)
    second = mb.mobilizer.Pin(matter.ground, WHEEL, X_PF=turn @ mb.Transform((c, 0, 0)) @ upside_down)
    settings = {"pretension": P, "friction": 0.4, "stiffness": 1e5, "crossed": crossed}
    belt = mb.force.Belt(
        forces, first, second, r, **settings, case_body=matter.ground, centers=[(0, 0, 0), turn @ np.array((c, 0, 0))]
    )
    theta = np.arcsin((-r[1] - r[0] if crossed else r[1] - r[0]) / c)
    angle = np.pi - 2.0 * theta
    plain = mb.force.Belt(
        forces, first, second, r, **{**settings, "crossed": not crossed}, wrap_angle=angle, disabled_by_default=True
    )  # of coordinates that turn against each other
    assert abs(belt.get_slip_force() - plain.get_slip_force()) < 1e-12
    state = system.realize_topology()
    bent = np.array([0.2, 0.3])
    state.z, state.u = bent, (0.2, 0.1)
    system.realize(state)
    t1, t2 = belt.calc_tensions(state)
    assert t1 + t2 == pytest.approx(2.0 * P) and t1 - t2 > 1.0
    reactions = matter.calc_mobilizer_reaction_forces(state)
    pull = turn.R @ np.array(((t1 + t2) * np.cos(theta), (t1 - t2) * np.sin(theta), 0.0))
    close(reactions[first, 1], -pull, 1e-10)
    close(reactions[second, 1], pull, 1e-10)
    accelerations = state.u_dot
    belt.disable(state)
    plain.enable(state)
    state.z = bent[::-1]
    system.realize(state)
    assert plain.calc_tensions(state) == pytest.approx((t1, t2))
    close(state.u_dot, accelerations, 1e-10 * abs(accelerations).max())
    close(matter.calc_mobilizer_reaction_forces(state)[1:, 1], np.zeros((2, 3)), 1e-10)


def test_of_a_line_of_action_what_is_wrong_is_named():
    system, forces, (first, second) = shafts([1.0, 1.0])
    ground, line = system.matter.ground, mb.force.transmission.LineOfAction
    place = mb.Transform((0.1, 0, 0))
    for name, value in (("pressure_angle", -0.1), ("pressure_angle", 20.0), ("helix_angle", 1.6), ("helix_angle", np.nan)):
        with pytest.raises(mb.ModelError, match=name):
            line(forces, ground, place, first, second, **{name: value})
    with pytest.raises(mb.ModelError, match=r"first and second are both <Pin"):
        line(forces, ground, place, first, first)
    with pytest.raises(mb.ModelError, match="nothing moves"):
        line(forces, ground, mb.Transform(), first, ground)
    with pytest.raises(mb.ModelError, match="x leads from one axis to"):
        line(forces, ground, mb.Transform(mb.Rotation.about_axis(0.3, "z"), (0.1, 0, 0)), first, ground, pressure_angle=0.3)
    carriage = mb.mobilizer.Slider(ground, WHEEL, X_PF=turned(0.5 * np.pi))  # which takes the axle away from x of the frame
    with pytest.raises(mb.ModelError, match="x leads from one axis to"):
        line(forces, ground, place, mb.mobilizer.Pin(carriage, WHEEL), ground, pressure_angle=0.3)
    with pytest.raises(mb.ModelError, match=r"coordinate 0 of .* moves what touches by .* in one pose"):
        line(forces, mb.mobilizer.Pin(ground, WHEEL, X_PF=place), mb.Transform((0.2, 0, 0)), second, ground)
    free = mb.mobilizer.Free(ground, WHEEL)
    with pytest.raises(mb.ModelError, match="give it a Pin"):
        line(forces, ground, place, first, free)
    with pytest.raises(TypeError, match="case_body"):
        line(forces, None, place, first, second)

    good = {"pretension": 1.0, "friction": 0.3, "stiffness": 1.0, "case_body": ground}
    apart = mb.mobilizer.Pin(ground, WHEEL, X_PF=mb.Transform((0.4, 0, 0)))

    def belt(**changed):
        return mb.force.Belt(forces, first, apart, (0.1, 0.2), **{**good, **changed})

    belt(centers=[(0, 0, 0), (0.4, 0, 0)])
    for wrong, message in (
        ({}, "case_body and centers"),
        ({"case_body": None}, "case_body and centers"),
        ({"centers": [(0, 0, 0), (0.4, 0, 0.1)]}, "plane across the axis"),
        ({"centers": [(0, 0, 0), (0.05, 0, 0)]}, "needs more than 0.1"),
        ({"centers": [(0, 0, 0), (0.2, 0, 0)], "crossed": True}, "needs more than 0.3"),
        ({"centers": [(0, 0, 0), (0.3, 0, 0)]}, r"the center has to be on its axis"),
        ({"centers": [(0, 0, 0), (0.4, 0, 0)], "axis": (0, 0, 0)}, "axis"),
    ):
        with pytest.raises(mb.ModelError, match=message):
            belt(**wrong)
