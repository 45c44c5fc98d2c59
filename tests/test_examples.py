"""The bundled Python examples: each runs, keeps what physics keeps, and gives a number that is known otherwise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.special import ellipk

import mobod as mb
from mobod.examples import chain, double_pendulum, drop_tower, knee, marker_tracking, tautochrone, tumbling_handle

EXAMPLES = [double_pendulum, tumbling_handle, chain, knee, tautochrone, marker_tracking]


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
