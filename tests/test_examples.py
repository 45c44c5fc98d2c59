"""The bundled Python examples: each runs, keeps what physics keeps, and gives a number that is known otherwise."""

import ast

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.special import ellipk

import mobod as mb
from mobod.examples import (
    bricard,
    chain,
    double_pendulum,
    drop_tower,
    four_bar,
    gear_train,
    knee,
    marker_tracking,
    rolling_coin,
    slider_crank,
    stewart,
    tautochrone,
    tumbling_handle,
)
from mobod.importer.named_models import Choices, find_examples, load_model

CLOSED = [four_bar, slider_crank, stewart, bricard, gear_train]
EXAMPLES = [double_pendulum, tumbling_handle, chain, knee, tautochrone, marker_tracking, *CLOSED]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.__name__.rpartition(".")[2])
def test_energy_is_kept(example):
    system, state = example.build()
    motion = mb.simulate(system, state, 2.0, accuracy=1e-8)
    # accuracy is per step, and a chain takes thousands; its first whip is over by then
    assert motion.energy_drift < 1e-5 * motion.calc_kinetic_energy().max()
    first_line = example.__doc__.partition("\n")[0]
    assert 20 < len(first_line) < 100


def test_the_double_pendulum_moves_as_the_textbooks_does():
    """Lagrange's equations in the absolute angles a and b from the vertical, with I = 2 m r^2 / 5 of each bob.

    (I + 2 m l^2) a'' + m l^2 cos(a - b) b'' = -m l^2 sin(a - b) b'^2 - 2 m g l sin a
    m l^2 cos(a - b) a'' + (I + m l^2) b'' = m l^2 sin(a - b) a'^2 - m g l sin b
    """
    g, m, length = 9.81, 1.0, double_pendulum.LENGTH
    inertia = 0.4 * m * double_pendulum.RADIUS**2

    def rates(_, y):
        a, b, a_dot, b_dot = y
        sine, cosine = m * length**2 * np.sin(a - b), m * length**2 * np.cos(a - b)
        M = [[inertia + 2 * m * length**2, cosine], [cosine, inertia + m * length**2]]
        f = [-sine * b_dot**2 - 2 * m * g * length * np.sin(a), sine * a_dot**2 - m * g * length * np.sin(b)]
        return [a_dot, b_dot, *np.linalg.solve(M, f)]

    system, state = double_pendulum.build()
    motion = mb.simulate(system, state, 2.0, accuracy=1e-9)
    upper, lower = state.q
    expected = solve_ivp(rates, (0, 2), [upper, upper + lower, 0, 0], rtol=1e-11, atol=1e-11).y[:2, -1]
    # both integrations err by 1e-8 or less; two seconds of a chaotic motion make some tens of that
    assert_allclose(np.cumsum(motion.q[-1]), expected, atol=1e-6)


def test_the_handle_turns_over_when_it_should():
    """Euler's solution of the free rigid body, Landau and Lifshitz, Mechanics, paragraph 37.

    With I1 < I2 < I3, the angular velocity about the middle axis is an elliptic sine of time, zero every 2 K(k) / n:

        n^2 = (I3 - I2)(L^2 - 2 E I1) / (I1 I2 I3)    k^2 = (I2 - I1)(2 E I3 - L^2) / ((I3 - I2)(L^2 - 2 E I1))

    for L^2 > 2 E I2, and with 1 and 3 exchanged otherwise.
    """
    system, state = tumbling_handle.build()
    moments = np.diag(np.asarray(tumbling_handle.make_handle().get_default_rigid_body_mass_properties().inertia))
    spin = np.array(tumbling_handle.SPIN)
    one, two, three = moments  # about x, y and z: that about the stem is the middle one
    assert one < two < three
    twice_energy, squared_momentum = moments @ spin**2, moments**2 @ spin**2
    if squared_momentum < twice_energy * two:
        one, three = three, one
    n = np.sqrt((three - two) * (squared_momentum - twice_energy * one) / (one * two * three))
    k2 = (two - one) * (twice_energy * three - squared_momentum) / ((three - two) * (squared_momentum - twice_energy * one))
    period = 2.0 * ellipk(k2) / n

    motion = mb.simulate(system, state, 15.0, accuracy=1e-9, report_interval=0.01)
    handle = system.get_matter_subsystem().bodies["handle"]
    about_stem = []
    for i, moved in enumerate(motion.states):
        system.realize(moved, mb.Stage.POSITION)
        about_stem.append((np.asarray(handle.get_body_rotation(moved)).T @ motion.u[i, :3])[1])
    about_stem = np.array(about_stem)
    before = np.flatnonzero(np.diff(np.sign(about_stem)))
    crossings = motion.time[before] + 0.01 * about_stem[before] / (about_stem[before] - about_stem[before + 1])
    assert len(crossings) >= 3
    # linear interpolation over 0.01 of a curve whose second derivative is about 30
    assert_allclose(np.diff(crossings), period, atol=5e-4)


def test_the_handle_keeps_its_angular_momentum():
    system, state = tumbling_handle.build()
    matter = system.get_matter_subsystem()
    motion = mb.simulate(system, state, 10.0, accuracy=1e-9)
    momenta = []
    for moved in (motion.states[0], motion.states[-1]):
        system.realize(moved, mb.Stage.VELOCITY)
        momenta.append(matter.calc_system_central_momentum(moved)[0])
    assert_allclose(momenta[1], momenta[0], atol=1e-7 * np.linalg.norm(momenta[0]))


def test_the_chain_starts_to_fall_as_rods_in_a_row_do():
    """Newton and Euler rod by rod, for the vertical forces F and accelerations a of the joints, level and at rest.

    m (a[i] + a[i+1]) / 2 = F[i] - F[i+1] - m g        I (a[i+1] - a[i]) / l = -(F[i] + F[i+1]) l / 2

    with a[0] = 0 at the wall, and F[n] = 0 at the free end.
    """
    n, m, length, g = chain.LINKS, chain.MASS, chain.LENGTH, 9.81
    inertia = m * (3 * chain.RADIUS**2 + length**2) / 12
    A, b = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)  # a[1..n], then F[0..n-1]
    for i in range(n):
        for end, joint in ((1, i + 1), (-1, i)):
            if joint > 0:
                A[2 * i, joint - 1] += m / 2
                A[2 * i + 1, joint - 1] += end * inertia / length
            if joint < n:
                A[2 * i, n + joint] += end
                A[2 * i + 1, n + joint] += length / 2
        b[2 * i] = -m * g
    expected = np.linalg.solve(A, b)[:n]

    system, state = chain.build()
    system.realize(state, mb.Stage.ACCELERATION)
    links = list(system.get_matter_subsystem().bodies)[1:]
    accelerations = np.array([link.get_body_acceleration(state) for link in links])
    origins = accelerations[:, 1, 1]
    tip = origins[-1] + length * accelerations[-1, 0, 2]  # at rest: no centripetal part
    assert_allclose([*origins[1:], tip], expected, atol=1e-9)


def test_the_beads_meet_at_the_bottom_whatever_their_heights():
    """Huygens: the arc from the bottom is s = 4 r sin(a / 2), and s'' = -g s / 4 r; so s = s0 cos(t sqrt(g / 4 r))."""
    system, state = tautochrone.build()
    motion = mb.simulate(system, state, 6.0, accuracy=1e-9)
    s = 4.0 * tautochrone.RADIUS * np.sin(0.5 * motion.q)
    expected = np.cos(motion.time * np.sqrt(9.81 / (4.0 * tautochrone.RADIUS)))
    assert_allclose(s, s[0] * expected[:, None], atol=1e-6)


def test_the_drop_tower_brakes_as_its_equations_say():
    """The same three equations, for height, speed and temperature, by SciPy's integrator."""
    d = drop_tower

    def rates(_, y):
        q, v, temperature = y
        critical = d.PEAK_SPEED * (1 + d.RESISTIVITY * (temperature - d.AIR))
        s = np.clip((d.TOP - q) / d.OVERLAP, 0, 1)
        drag = s**2 * (3 - 2 * s) * 2 * d.PEAK_FORCE * v * critical / (v**2 + critical**2)
        return [v, -d.GRAVITY - drag / d.MASS, (drag * v - d.TO_AIR * (temperature - d.AIR)) / d.HEAT_CAPACITY]

    system, state = d.build()
    motion = mb.simulate(system, state, d.TIME, accuracy=1e-8)
    expected = solve_ivp(rates, (0, d.TIME), [d.START, 0, d.AIR], rtol=1e-11, atol=1e-11, max_step=0.05).y[:, -1]
    # a hundred steps of 1e-8, relative; the brake forgets what came before it
    assert_allclose([motion.q[-1, 0], motion.u[-1, 0], motion.z[-1, 0]], expected, rtol=1e-6)
    assert motion.auxiliary_names == ("fin temperature",)


def test_what_the_drop_tower_brakes_becomes_heat():
    d = drop_tower
    system, state = d.build()
    motion = mb.simulate(system, state, d.TIME, accuracy=1e-7, report_interval=0.01)
    warmth = motion.z[:, 0] - d.AIR
    given_off = d.TO_AIR * 0.01 * (warmth.sum() - 0.5 * warmth[-1])
    lost = motion.energy[0] - motion.energy[-1]
    # the trapezoidal rule's error over 700 pieces, of some forty thousand joules given off
    assert_allclose(d.HEAT_CAPACITY * warmth[-1] + given_off, lost, rtol=1e-6)
    assert 20 < warmth[-1] < 40
    assert 1 < -motion.u[-1, 0] < 3  # at a walking pace
    fall = np.sqrt(2 * d.GRAVITY * (d.START - d.TOP))
    assert -fall * 1.05 < motion.u.min() < -fall
    assert 20 < len(d.__doc__.partition("\n")[0]) < 100


def test_the_knee_swings_as_lagrange_says():
    """One coordinate a, the mass center at (X, Y) in the axes of the thigh, which lies on its back: X is up.

    (m (X'^2 + Y'^2) + I) a'' + m (X' X'' + Y' Y'') a'^2 + m g X' = 0
    """
    system, state = knee.build()
    shank = knee.make_shank().get_default_rigid_body_mass_properties()
    (x, y, _), m, I = shank.com, shank.mass, np.asarray(shank.central_inertia)[2, 2]
    angles = knee.DEGREE * np.array(knee.FLEXION)
    table = CubicSpline(angles, knee.MILLIMETER * np.array([knee.FORWARD, knee.UPWARD]).T, bc_type="natural")

    def rates(_, state):
        a, a_dot = state
        turned = np.array([np.cos(a) * x + np.sin(a) * y, -np.sin(a) * x + np.cos(a) * y])
        slope = table(a, 1) + np.array([turned[1], -turned[0]])
        bend = table(a, 2) - turned
        return [a_dot, -(m * (slope @ bend) * a_dot**2 + m * 9.81 * slope[0]) / (m * (slope @ slope) + I)]

    motion = mb.simulate(system, state, 2.0, accuracy=1e-9)
    expected = solve_ivp(rates, (0, 2), [*state.q, 0.0], rtol=1e-11, atol=1e-11).y[0, -1]
    # as for the double pendulum; where pieces of the splines meet, the steps are of lower order
    assert_allclose(motion.q[-1, 0], expected, atol=1e-6)
    assert np.degrees(motion.q.max()) < knee.FLEXION[-1] and motion.q.min() > 0


def test_the_condyle_stays_on_the_plateau():
    """A tangent of an ellipse with half axes a, b is sqrt(a^2 nx^2 + b^2 ny^2) from the middle, n its normal."""
    forward, upward = knee.make_spline(knee.FORWARD), knee.make_spline(knee.UPWARD)
    a, b, _ = knee.CONDYLE
    for angle in np.radians(np.linspace(0, 150, 61)):
        normal = np.array([np.sin(angle), np.cos(angle)])
        height = normal @ [forward(angle), upward(angle)]
        # a natural spline through points 15 degrees apart is off by a tenth of a millimeter near its ends
        assert_allclose(height, -np.hypot(*normal * (a, b)), atol=2e-4)


@pytest.mark.parametrize("example", CLOSED, ids=lambda e: e.__name__.rpartition(".")[2])
def test_loops_stay_closed(example):
    system, state = example.build()
    motion = mb.simulate(system, state, 2.0, accuracy=1e-5)
    for moved in motion.states:
        system.realize(moved, mb.Stage.VELOCITY)
        assert np.abs(moved.q_err).max(initial=0.0) <= 1e-6
        assert np.abs(moved.u_err).max(initial=0.0) <= 1e-6


def test_the_pen_of_the_four_bar_stays_on_its_curve():
    system, state = four_bar.build()
    motion = mb.simulate(system, state, 2.0, accuracy=1e-8)
    coupler = system.get_matter_subsystem().bodies["coupler"]
    for moved in motion.states:
        system.realize(moved, mb.Stage.POSITION)
        crank, (angle, _) = moved.q[0], four_bar.close(moved.q[0])
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        expected = four_bar.CRANK * np.array([np.cos(crank), np.sin(crank)]) + turned @ four_bar.PEN
        pen = coupler.find_station_location_in_ground(moved, (*four_bar.PEN, 0))
        assert_allclose(pen, [*expected, 0], atol=1e-8)


def test_the_piston_goes_up_and_down_as_its_closed_form_says():
    """x = r sin a + sqrt(l^2 - r^2 cos^2 a) above the crank's axle, and its rate."""
    system, state = slider_crank.build()
    motion = mb.simulate(system, state, slider_crank.TIME, accuracy=1e-8)
    r, length = slider_crank.CRANK, slider_crank.ROD
    (angle, _, height), (rate, _, speed) = motion.q.T, motion.u.T
    root = np.sqrt(length**2 - (r * np.cos(angle)) ** 2)
    assert_allclose(height, r * np.sin(angle) + root, atol=1e-8)
    assert_allclose(speed, rate * r * np.cos(angle) * (1.0 + r * np.sin(angle) / root), atol=1e-7)
    assert angle[-1] > 6.0 * np.pi


def test_the_stewart_platform_rests_where_its_springs_carry_it():
    """At rest in the middle the legs carry the plate; what they weigh themselves sinks it a little."""
    system, state = stewart.build()
    matter = system.get_matter_subsystem()
    bodies = {body.name: body for body in matter.bodies}
    bodies["plate"].set_q_to_fit_transform(state, mb.Transform((0, 0, stewart.HEIGHT)))
    for number, (foot, head) in enumerate(zip(stewart.feet(), stewart.heads(), strict=True)):
        angles, length = stewart.reach(foot, (head[0], head[1], stewart.HEIGHT))
        bodies[f"lower{number + 1}"].set_angles(state, angles)
        bodies[f"upper{number + 1}"].set_length(state, length - stewart.UPPER)
    state.u = np.zeros(len(state.u))
    system.realize(state)
    assert np.abs(state.q_err).max() < 1e-12
    plate = bodies["plate"].get_body_acceleration(state)
    # by symmetry it goes up or down, and turns about z; but for what legs spin about themselves, whose universal joints are
    # not turned as their feet are
    assert_allclose(plate[:, :2], 0.0, atol=1e-5)
    # statics, by virtual work of a lift of the plate: each leg's force along it, each part's weight as its middle rises
    lift = np.array([0, 0, 1.0])
    work = -stewart.PLATE_MASS * 9.81
    mass = stewart.PLATE_MASS
    for foot, head in zip(stewart.feet(), stewart.heads(), strict=True):
        leg = np.array(head) + stewart.HEIGHT * lift - foot
        length = np.linalg.norm(leg)
        share = (stewart.PLATE_MASS + 6 * stewart.UPPER_MASS) * 9.81 / 6 * length / stewart.HEIGHT
        along = leg / length
        work += share * along[2]
        for part, place in ((stewart.LOWER_MASS, 0.5 * stewart.LOWER), (stewart.UPPER_MASS, length - 0.5 * stewart.UPPER)):
            turning = place / length * (lift - along * along[2])
            sliding = along * along[2] if part == stewart.UPPER_MASS else 0.0
            work -= part * 9.81 * (turning + sliding)[2]
            mass += part
    tied = system.get_matter_subsystem().calc_constraint_power(state)
    assert abs(tied) < 1e-12
    # the inertia that is lifted is less than all of the mass, and more than the plate's
    assert work * plate[1, 2] > 0.0 and abs(work) / mass < abs(plate[1, 2]) < abs(work) / stewart.PLATE_MASS


def test_the_ring_of_bricard_turns_as_its_equation_says():
    """cos a + cos b + cos a cos b = 0, of neighbouring hinges: Bricard 1897, of a ring with threefold symmetry."""
    system, state = bricard.build()
    motion = mb.simulate(system, state, bricard.TIME, accuracy=1e-9)
    assert_allclose(motion.q[:, 2:], motion.q[:, :4], atol=1e-7)
    a, b = np.cos(motion.q[:, :2]).T
    assert_allclose(a + b + a * b, 0.0, atol=1e-7)
    assert motion.q.max() > 2.0 and motion.q.min() < -2.0  # through all of its range: 120 degrees to either side


def test_the_doctor_finds_what_is_redundant_in_the_ring():
    system, state = bricard.build()
    found = system.diagnose_constraints(state)
    assert len(found.equations) == 6 and found.rank == 5
    assert len(found.redundant) == 1 and not found.conflicting
    assert len(found.free_motions) == 1
    assert "redundant" in str(found)


def test_the_gear_train_turns_by_willis_and_falls_by_its_inertia():
    """Willis: carrier / sun = s / 2(s + p) and planet / carrier = -(s + p) / p, of absolute rates with the ring at rest.

    a = m g / (m + J / d^2), with J all inertia as the sun feels it.
    """
    g = gear_train
    system, state = g.build()
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    sun, carrier, *planets, weight = motion.u[-1]
    arm = g.SUN + g.PLANET
    of_carrier = g.SUN / (2 * arm)
    assert_allclose(carrier, of_carrier * sun, rtol=1e-9)
    assert_allclose(planets, -carrier * arm / g.PLANET - carrier, rtol=1e-9)
    assert_allclose(weight, -g.DRUM * sun, rtol=1e-9)
    J = g.SUN_MASS * (g.SUN**2) / 2
    J += of_carrier**2 * g.CARRIER_MASS * arm**2 / 2
    of_planet = of_carrier * arm / g.PLANET
    J += g.PLANETS * g.PLANET_MASS * ((of_carrier * arm) ** 2 + of_planet**2 * g.PLANET**2 / 2)
    assert_allclose(weight, g.WEIGHT * 9.81 / (g.WEIGHT + J / g.DRUM**2) * motion.time[-1], rtol=1e-8)
    # the planets share the load
    found = system.diagnose_constraints(state)
    assert found.rank == 5 and len(found.equations) == 7 and len(found.free_motions) == 1
    system.realize(state)
    loads = state.multipliers[:-1].reshape(3, 2)
    assert_allclose(loads, np.broadcast_to(loads[0], (3, 2)), atol=1e-9)


def test_the_coin_keeps_its_energy():
    system, state = rolling_coin.build()
    motion = mb.simulate(system, state, 1.0, accuracy=1e-6)
    assert motion.energy_drift < 1e-4 * motion.calc_kinetic_energy().max()
    for moved in motion.states:
        system.realize(moved, mb.Stage.VELOCITY)
        assert np.abs(moved.u_err).max() <= 1e-7


def test_the_coin_goes_round_in_circles_as_the_steady_solution_says():
    """Newton and Euler for a thin disk that leans by a constant angle e from the table and turns at a constant rate W.

    With w the rate about the coin's own axis, W cos e + spin, and inertias r^2 / 2 and r^2 / 4:

        3/2 w W sin e - 1/4 W^2 sin e cos e + (g / r) cos e = 0
    """
    r, lean, turning = rolling_coin.RADIUS, 1.1, 6.0
    w = (0.25 * turning**2 * np.sin(lean) - 9.81 / r) * np.cos(lean) / (1.5 * turning * np.sin(lean))
    system, state = rolling_coin.build()
    rolling_coin.set_motion(system, state, turning, lean, w - turning * np.cos(lean))
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    assert_allclose(motion.q[:, 3], lean, atol=1e-6)
    assert_allclose(motion.q[:, 0], turning * motion.time, atol=1e-6)
    # the contact's circle: as wide as it goes while it turns
    radius = r * (turning * np.cos(lean) - w) / turning
    assert_allclose(motion.q[:, 1], radius * np.sin(turning * motion.time), atol=1e-6)
    assert_allclose(motion.q[:, 2], radius * (1.0 - np.cos(turning * motion.time)), atol=1e-6)


def test_tracked_markers_leave_the_noise_that_is_in_them():
    """Least squares: of noise s in 3 m numbers a frame, what fits n coordinates is gone: s^2 (3 m - n) is left on average."""
    example = marker_tracking
    system = example.make_arm()
    seen, truth = example.record(system)
    q = example.track(system, seen)
    assembler, markers = example.make_assembler(system)
    state, left, there = system.realize_topology(), 0.0, 0
    for frame, row in zip(seen, q, strict=True):
        state.q = row
        assembler.set_internal_state(state)
        markers.move_all_observations(frame)
        errors = markers.find_current_marker_errors()
        left += np.nansum(errors**2)
        there += 3 * int(np.isfinite(errors).sum()) - 6
    # some 8000 degrees of freedom: a standard deviation of 1.6 percent
    assert_allclose(left, example.NOISE**2 * there, rtol=0.08)
    assert np.abs(q[:, 4] - truth[:, 4]).max() < np.radians(5)  # the elbow, from markers some centimeters apart
    assert np.sqrt(np.mean((q[:, 4] - truth[:, 4]) ** 2)) < np.radians(1.5)
    assert (q[:, 4] >= 0).all()


def test_every_example_that_the_command_lists_is_there_by_name():
    assert set(dir(mb.examples)) == set(find_examples())
    for name in dir(mb.examples):
        module = getattr(mb.examples, name)
        assert callable(module.build) and module.__doc__ and module is getattr(mb.examples, name)
    with pytest.raises(AttributeError, match="no example 'pander'; did you mean 'panda'"):
        mb.examples.pander  # noqa: B018
    with pytest.raises(AttributeError, match=r"no example 'xyzzy'; there are .*four_bar"):
        mb.examples.xyzzy  # noqa: B018


@pytest.mark.parametrize("name", ["panda", "g1"])
def test_a_robot_is_built_as_the_command_starts_it(name):
    system, state = getattr(mb.examples, name).build()
    loaded = load_model(name, Choices())
    assert_allclose(state.q, loaded.state.q, rtol=0.0, atol=0.0)
    assert loaded.time == getattr(mb.examples, name).TIME and loaded.system is not system
    assert system.get_matter_subsystem().get_num_bodies() > 8


@pytest.mark.parametrize("name", sorted(name for name, path in find_examples().items() if path.suffix == ".py"))
def test_an_example_is_a_script_of_its_own(name):
    """`mobod simulate` runs its file, copied anywhere: it imports nothing from beside itself."""
    tree = ast.parse(find_examples()[name].read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level > 0]
