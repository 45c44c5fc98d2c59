"""Linear models, equilibria and periodic orbits: against the flow of small changes, and closed forms."""

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import Pair
from mobod import Stage
from mobod.algebra import cos
from mobod.linear.linearize import linear_model


def pendulum(make=None):
    """A pendulum of unit mass and length on a cart, with a motor on the cart."""
    system = mb.MultibodySystem("cart and pole")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    point = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0, 0, 0)))
    cart = mb.mobilizer.Slider(matter.ground, point, name="cart")
    pole = mb.mobilizer.Pin(cart, point, X_BM=mb.Transform((0, -1, 0)), name="pole")
    motor = mb.force.MobilityDiscreteForce(forces, cart, 0, name="motor")
    return system, cart, pole, motor


def test_the_model_of_cart_and_pole_upright_is_the_textbooks():
    """m1 = m2 = l = 1 and g = 9.8: x'' = f - g th, th'' = 2 g th - f, as the pole leans to -x for a positive angle."""
    system, cart, pole, motor = pendulum()
    state = system.realize_topology()
    system.realize(state)
    model = mb.linearize(
        system, state, [(cart, 0), "motor.mobility_force", motor.set_mobility_force], [pole.get_angle, lambda s: s.u_dot]
    )
    g = 9.8
    A = [[0, 0, 1, 0], [0, 0, 0, 1], [0, -g, 0, 0], [0, 2 * g, 0, 0]]
    sign = np.sign(model.A[2, 1]) * np.diag([1, -1, 1, -1]) if model.A[2, 1] > 0 else np.eye(4)
    np.testing.assert_allclose(sign @ model.A @ sign, A, atol=1e-12)
    assert np.allclose(model.B, model.B[:, :1]) and np.isclose(abs(model.B[3, 0]), 1.0) and np.isclose(model.B[2, 0], 1.0)
    np.testing.assert_allclose(model.C[0], [0, 1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(model.C[1:], model.A[2:], atol=1e-7)
    np.testing.assert_allclose(model.D[1:], model.B[2:], atol=1e-9)
    assert model.input_names == ["cart.force", "motor.mobility_force", "motor.mobility_force"]
    assert model.state_names == ["cart.v", "pole.v", "cart.u", "pole.u"] and model.output_names[0] == "get_angle"
    np.testing.assert_allclose(model.to_scipy().A, model.A)
    assert np.isclose(model.calc_eigenvalues()[0], np.sqrt(2 * g))
    whole = mb.linearize(system, state)
    assert whole.B.shape == (4, 2) and np.array_equal(whole.C, np.eye(4)) and not whole.D.any()
    named = mb.linearize(system, state, [cart], {"rates": lambda s: s.u_dot, "angle": pole.get_angle})
    assert np.array_equal(named.B, model.B[:, :1]) and named.input_names == model.input_names[:1]
    assert named.output_names == ["rates[0]", "rates[1]", "angle"]
    seen = mb.linearize(system, state, [], [("pole", (0, 0, 0)), "kinetic_energy", "momentum"])
    assert seen.output_names[:4] == ["pole.station[0]", "pole.station[1]", "pole.station[2]", "kinetic_energy"]
    np.testing.assert_allclose(seen.C[:4], [[1, -1, 0, 0], [0] * 4, [0] * 4, [0] * 4], atol=1e-9)
    for outputs, error, text in ((["kinetic"], ValueError, "no quantity 'kinetic'"), ([("pole",)], ValueError, "a station is")):
        with pytest.raises(error, match=text):
            mb.linearize(system, state, [], outputs)


def test_python_control_finds_the_same_poles_and_names():
    pytest.importorskip("control.statesp")  # without the package, "control" finds the folder of tests beside this one
    import control

    system, cart, pole, _ = pendulum()
    state = system.realize_topology()
    system.realize(state)
    model = mb.linearize(system, state, [(cart, 0)], [pole.get_angle])
    other = model.to_control()
    np.testing.assert_allclose(np.sort(other.poles().real), np.sort(model.calc_eigenvalues().real), atol=1e-6)
    assert other.input_labels == ["cart_force"] and other.output_labels == ["get_angle"]
    gain, _, poles = control.lqr(model.A, model.B, np.eye(4), np.eye(1))
    assert gain.shape == (1, 4) and poles.real.max() < 0.0
    by_scipy, s = model.to_scipy(), 3.0j
    assert np.isclose(
        complex(other(s)), (by_scipy.C @ np.linalg.solve(s * np.eye(4) - by_scipy.A, by_scipy.B) + by_scipy.D)[0, 0]
    )


def flow(system, state, change, h):
    """Displacement, u, z and turns of lines a time h later, from the state changed, less those from the state.

    By one small step of order 4.
    """
    nu, nz, matter = len(state.u), len(state.z), system.matter
    lines = [body for body in matter.bodies if type(body).__name__ in ("LineOrientation", "FreeLine")]

    def turned(q, angles):
        """Lines turned about themselves, which are M's z axes."""
        for body, angle in zip(lines, angles, strict=True):
            at = body.q_slice(state).start
            if matter.is_using_quaternion(state, body):
                w, x, y, z = q[at : at + 4]
                c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
                q[at : at + 4] = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
            else:
                q[at + 2] += angle
        return q

    def turns(change, q):
        """The components along lines of turns that a small change of q makes."""
        found = []
        for body in lines:
            at = body.q_slice(state).start
            if matter.is_using_quaternion(state, body):
                (w, x, y, z), (a, b, c, d) = q[at : at + 4], change[at : at + 4]
                found.append(2.0 * (w * d - z * a - x * c + y * b))
            else:
                found.append(change[at + 2] + np.sin(q[at + 1]) * change[at])
        return found

    def rates(s):
        system.realize(s)
        return np.array(s.q_dot), np.array(s.u_dot), np.array(s.z_dot)

    def advanced(s):
        def moved(k, size):
            other = s.copy()
            other.q, other.u, other.z = s.q + size * k[0], s.u + size * k[1], s.z + size * k[2]
            other.time = s.time + size
            return other

        k1 = rates(s)
        k2 = rates(moved(k1, 0.5 * h))
        k3 = rates(moved(k2, 0.5 * h))
        k4 = rates(moved(k3, h))
        return moved([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], h)

    N = np.array([matter.multiply_by_n(state, False, e) for e in np.eye(nu)]).T

    def at(size):
        other = state.copy()
        other.q, other.u, other.z = (
            turned(state.q + size * N @ change[:nu], size * change[2 * nu + nz :]),
            state.u + size * change[nu : 2 * nu],
            state.z + size * change[2 * nu : 2 * nu + nz],
        )
        return advanced(other)

    middle = advanced(state)
    system.realize(middle)

    def along(size):
        end = at(size)
        apart = end.q - middle.q
        whole = matter.multiply_by_n_inv(middle, False, apart), end.u - middle.u, end.z - middle.z, turns(apart, middle.q)
        return np.concatenate(whole)

    e = 1e-3
    return (8 * (along(e) - along(-e)) - (along(2 * e) - along(-2 * e))) / (12 * e)


@pytest.mark.parametrize("angles", ["quaternions", "euler"])
def test_the_model_is_the_derivative_of_the_flow(make, close, derivative, angles):
    """Of every kind of mobilizer, moving: d/dh of what a change becomes, at h = 0."""
    model = make.tree()
    state = model.state
    if angles == "euler":
        model.matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.randomize()
    linear = mb.linearize(model.system, state, [])
    A = linear.A
    assert sum(name.endswith(".turn") for name in linear.state_names) == 2  # of LineOrientation and FreeLine
    change = make.rng.normal(size=len(A))
    close(A @ change, derivative(lambda h: flow(model.system, state, change, h), 1e-3), 1e-6)


@pytest.mark.parametrize("angles", ["quaternions", "euler"])
def test_lines_under_constraints(make, close, derivative, angles):
    """A line that turns about itself, by which errors and outputs change too: independent states keep to the manifold."""
    system = mb.MultibodySystem("line")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, 9.8))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, -0.2, 0.4), mb.Inertia(0.5, 0.4, 0.3, 0.01, 0.02, 0.03)))
    line = mb.mobilizer.FreeLine(matter.ground, body)
    arm = mb.mobilizer.Pin(line, body, X_PF=mb.Transform((0.1, 0, 1)))
    mb.constraint.Rod(matter.ground, (1, 0, 0), arm, (0.3, 0.2, 0), 1.5)
    mb.constraint.Ball(matter.ground, (0, 0, 0), line, (0.3, 0.1, 0))
    state = system.realize_topology()
    matter.set_use_euler_angles(state, angles == "euler")
    system.realize_model(state)
    state.q, state.u = state.q + make.vector(len(state.q), 0.3), make.vector(len(state.u))
    system.realize(state, mb.Stage.TIME)
    system.project(state)
    system.realize(state)
    nu = len(state.u)
    station = [(arm, (0.1, 0.2, 0.3))]
    whole = mb.linearize(system, state, [], [*station, lambda s: s.q_err, lambda s: s.u_err])
    model = mb.linearize(system, state, [], independent=True)
    assert whole.A.shape == (2 * nu + 1, 2 * nu + 1) and len(model.A) == 2 * nu + 1 - 8
    close(whole.C[3:, :] @ model.C, np.zeros((len(whole.C) - 3, len(model.A))), 1e-8)  # model.C: all states of independent ones
    place = whole.C[:3, -1]
    at = line.q_slice(state).start

    def spun(h):
        other, q = state.copy(), np.array(state.q)
        if angles == "euler":
            q[at + 2] += h
        else:
            w, x, y, z = q[at : at + 4]
            c, s = np.cos(0.5 * h), np.sin(0.5 * h)
            q[at : at + 4] = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
        other.q = q
        system.realize(other, mb.Stage.POSITION)
        return np.asarray(arm.find_station_location_in_ground(other, station[0][1]))

    close(place, derivative(spun, 1e-3), 1e-9)


def sprung(make):
    """Two bodies with a rod between them, all held by springs.

    The same in every run: from some random poses Newton's method ends at a singular one of the Bushing, and says so.
    """
    make = type(make)(np.random.default_rng(5))
    pair = Pair(make, "Rod")
    system = pair.system
    bodies, forces = pair.matter.bodies[1:], system.get_subsystem(1)
    for body in bodies:
        for i in range(body.facts.num_u):
            if type(body).__name__ != "Free":
                mb.force.MobilityLinearSpring(forces, body, i, 80.0, 0.1)
    origin = np.zeros(3)
    free = next(body for body in bodies if type(body).__name__ == "Free")
    for station in np.eye(3):
        mb.force.TwoPointLinearSpring(forces, pair.matter.ground, 3 * station, free, station, 60.0, 1.0)
        mb.force.TwoPointLinearSpring(forces, pair.matter.ground, -3 * station, free, origin, 60.0, 1.0)
    state = system.realize_topology()
    pair.assemble(state)
    return system, pair, state


def test_independent_states_stay_on_the_manifold(make, close):
    """In an equilibrium: all states follow from independent ones; other eigenvalues of the whole model are zero."""
    system, _, state = sprung(make)
    state = mb.find_equilibrium(system, state, max_iterations=300)
    whole, model = mb.linearize(system, state), mb.linearize(system, state, independent=True)
    n = len(whole.A)
    assert len(model.A) == n - 2 and model.C.shape == (n, n - 2) and len(model.state_names) == n - 2
    T = model.C  # all states
    P = system.matter.calc_p(state)
    nu = len(state.u)
    close(P @ T[:nu], np.zeros((1, n - 2)), 1e-10, 1.0)
    close(P @ T[nu : 2 * nu, nu - 1 :], np.zeros((1, nu - 1)), 1e-10, 1.0)
    keep = [whole.state_names.index(name) for name in model.state_names]
    close(model.A, whole.A[keep] @ T, 1e-9)
    mine, theirs = np.linalg.eigvals(model.A), list(np.linalg.eigvals(whole.A))
    for value in mine:
        theirs.pop(int(np.argmin(np.abs(np.array(theirs) - value))))
    assert np.abs(theirs).max() < 1e-3 * np.abs(mine).max()  # a pair of zeros, of a defective matrix


def test_locked_coordinates_are_not_independent(make):
    system, cart, pole, _ = pendulum()
    state = system.realize_topology()
    cart.lock(state)
    system.realize(state)
    model = mb.linearize(system, state, [(pole, 0)], independent=True)
    assert model.state_names == ["pole.v", "pole.u"]
    np.testing.assert_allclose(model.A, [[0, 1], [9.8, 0]], atol=1e-9)


def test_equilibria_of_a_pendulum_stable_and_not():
    system, _, pole, _ = pendulum()
    state = system.realize_topology()
    for near, there in ((0.4, 0.0), (2.9, np.pi)):
        pole.set_angle(state, near)
        pole.set_rate(state, 2.0)
        found = mb.find_equilibrium(system, state)
        assert np.isclose(pole.get_angle(found), there, atol=1e-9) and not found.u.any()
        assert found.stage == Stage.ACCELERATION and pole.get_rate(state) == 2.0


def test_an_equilibrium_that_a_motor_holds():
    """A pole on a fixed pin, held where it is by its motor: torque = -g sin th."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    point = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0, 0, 0)))
    pole = mb.mobilizer.Pin(matter.ground, point, X_BM=mb.Transform((0, 1, 0)))
    motor = mb.force.MobilityDiscreteForce(forces, pole, 0, name="motor")
    state = system.realize_topology()
    pole.set_angle(state, 0.7)
    found = mb.find_equilibrium(system, state, inputs=["motor.mobility_force"])
    assert np.isclose(motor.get_mobility_force(found), 9.8 * np.sin(pole.get_angle(found)))
    assert motor.get_mobility_force(state) == 0.0 and abs(pole.get_angle(found) - 0.7) < 0.5
    with pytest.raises(TypeError, match="MobilityDiscreteForce"):
        mb.find_equilibrium(system, state, inputs=[(pole, 0)])
    pole.lock(state)
    locked = mb.find_equilibrium(system, state)
    assert pole.get_angle(locked) == 0.7


def test_an_equilibrium_under_constraints(make):
    system, _, state = sprung(make)
    found = mb.find_equilibrium(system, state, max_iterations=300)
    assert np.abs(found.u_dot).max() < 1e-9 and np.abs(found.q_err).max() < 1e-9


def test_no_equilibrium_is_said_to_be_none():
    system = mb.MultibodySystem("falling stone")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    stone = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    mb.mobilizer.Translation(matter.ground, stone)
    state = system.realize_topology()
    with pytest.raises(
        mb.ConvergenceError, match=r"no equilibrium of 'falling stone'.*u_dot of translation_1\[1\] is still -9.8"
    ):
        mb.find_equilibrium(system, state)
    with pytest.raises(ValueError, match="max_iterations has to be 1 or more"):
        mb.find_equilibrium(system, state, max_iterations=0)
    with pytest.raises(mb.ConvergenceError, match=r"off by .* in translation_1\[1\].* after .*; begin closer to one, name"):
        mb.find_periodic_orbit(system, state, 1.0)  # and not a period of nearly 0
    integral = mb.measure.Integrate(matter, mb.measure.Constant(matter, 1.0))
    state = system.realize_topology()
    stone = system.matter.bodies[1]
    stone.lock(state)
    with pytest.raises(mb.ConvergenceError, match=r"the rate of matter is still 1.*such as a measure.Integrate"):
        mb.find_equilibrium(system, state)
    assert integral.get_value(state) == 0.0


@pytest.mark.filterwarnings("error")
def test_what_flies_off_is_no_equilibrium_either():
    """A gear with play whose pinion nothing holds: between the flanks steps are long, beyond them its teeth are stiff."""
    system = mb.MultibodySystem("gears")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.cylinder_along_z(0.05, 0.01)))
    pinion, wheel = (mb.mobilizer.Pin(matter.ground, body, name=name) for name in ("pinion", "wheel"))
    mesh = mb.force.transmission.Coordinates(forces, [(pinion, 0, 0.02), (wheel, 0, 0.1)])
    mb.force.TransmissionSpring(forces, mesh, stiffness=1e6, rest_range=(-1e-4, 1e-4))
    mb.force.MobilityConstantForce(forces, pinion, 0, 4.0)
    with pytest.raises(mb.ConvergenceError, match=r"u_dot of pinion is still 1.6e\+03"):
        mb.find_equilibrium(system, system.realize_topology())


def test_an_equilibrium_is_no_orbit_with_a_period():
    """A damped oscillator comes to rest, which repeats itself after any time; with its period given that is an orbit."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.force.MobilityLinearSpring(forces, slider, 0, 4.0, 0.0)
    mb.force.MobilityLinearDamper(forces, slider, 0, 0.4)
    state = system.realize_topology()
    state.q = [1.0]
    with pytest.raises(mb.ConvergenceError, match="is an equilibrium, which repeats itself after any time"):
        mb.find_periodic_orbit(system, state, 3.0)
    orbit = mb.find_periodic_orbit(system, state, 3.0, free_period=False)
    np.testing.assert_allclose(np.abs(orbit.calc_multipliers()), np.exp(-0.2 * 3.0), rtol=1e-8)


@pytest.mark.long
def test_the_limit_cycle_of_van_der_pol_from_afar():
    """x'' = (1 - x^2) x' - x; period and multiplier as in Seydel 2010 and others: 6.66328686, 8.5971e-4."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.force.MobilityLinearSpring(forces, slider, 0, 1.0, 0.0)

    def push(t, X, V, q, u, parameters):
        return (), (((1.0 - q[0][0] ** 2) * u[0][0],),)

    mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(push, mobilizers=[slider]))
    state = system.realize_topology()
    for x, v in ((-2.44, 4.77), (0.4, 0.1), (3.0, -1.0)):  # from the first a free period shrinks to nothing at first
        state.q, state.u = [x], [v]
        orbit = mb.find_periodic_orbit(system, state, 6.0)
        assert np.isclose(orbit.period, 6.6632868593, rtol=1e-8)
        np.testing.assert_allclose(orbit.calc_multipliers(), [1.0, 8.5971e-4], rtol=1e-3)


def test_bad_inputs_and_outputs():
    system, cart, _, motor = pendulum()
    state = system.realize_topology()
    with pytest.raises(mb.StageError, match=r"^linearize needs Stage.ACCELERATION; this state is at MODEL"):
        mb.linearize(system, state)
    system.realize(state)
    for given, error, text in (
        ([(cart, 1)], IndexError, "which_u is 1"),
        (["moter.mobility_force"], ValueError, "no element 'moter'"),
        (["motor.force"], ValueError, "it has mobility_force"),
        (["crt"], ValueError, "a mobility's name, a setter, .* did you mean cart"),
        ([3.0], TypeError, "a setting is"),
        ([(cart,)], ValueError, "which_u"),
        ("motor.mobility_force", TypeError, r"inputs has to be a list, such as \['motor.mobility_force'\]"),
        ((cart, 0), TypeError, r"inputs has to be a list, such as \[\(<Slider"),
    ):
        with pytest.raises(error, match=text):
            mb.linearize(system, state, given)
    mixed = mb.linearize(system, state, [cart, "motor.mobility_force"])
    assert mixed.B.shape[1] == 2 and np.array_equal(mixed.B[:, 0], mixed.B[:, 1])
    with pytest.raises(TypeError, match="output 0"):
        mb.linearize(system, state, [], [motor])
    with pytest.raises(TypeError, match=r"outputs has to be a list, such as \['kinetic_energy'\]"):
        mb.linearize(system, state, None, "kinetic_energy")
    with pytest.raises(TypeError, match="independent of linearize has to be True or False"):
        mb.linearize(system, state, independent=1)
    with pytest.raises(TypeError, match="inputs has to be a list"):
        mb.find_equilibrium(system, state, inputs="motor.mobility_force")


def test_models_of_an_ensemble_are_those_of_its_states():
    """Of a linkage: whole, and by the independent states of the first one, whichever the others would choose."""
    system, state = mb.examples.four_bar.build()
    states = []
    for k in range(4):
        one = state.copy()
        one.q = np.array(state.q) + 0.3 * k
        system.project(one, 1e-12)
        one.u = 0.2 * np.ones(3)
        system.realize(one)
        states.append(one)
    ensemble = mb.Ensemble(system, 5, state=state)
    with pytest.raises(mb.StageError):
        ensemble.linearize()
    ensemble.q, ensemble.u = [*(one.q for one in states), [np.nan] * 3], [one.u for one in [*states, state]]
    ensemble.realize()
    crank = system.matter.bodies["crank"]
    alone = [mb.linearize(system, one, [(crank, 0)], ["kinetic_energy"]) for one in states]
    found = ensemble.linearize([(crank, 0)], ["kinetic_energy"])
    assert repr(found) == "<LinearSystem: 6 states, 1 inputs, 1 outputs of 5 models>"
    for name in "ABCD":
        assert np.array_equal(getattr(found, name)[:4], [getattr(one, name) for one in alone])
        assert np.isnan(getattr(found, name)[4]).all()
    rates = found.calc_eigenvalues()
    assert rates.shape == (5, 6) and np.array_equal(rates[2], alone[2].calc_eigenvalues()) and np.isnan(rates[4]).all()
    reduced = ensemble.linearize([(crank, 0)], independent=True)
    for k, one in enumerate(states):
        own = mb.linearize(system, one, [(crank, 0)], independent=True)
        np.testing.assert_allclose(reduced[k].calc_eigenvalues(), own.calc_eigenvalues(), rtol=1e-9)
    lengths = ["link_length_that_is_none"]
    with pytest.raises(ValueError, match="an input is"):
        ensemble.linearize(lengths)
    with pytest.raises(TypeError, match="outputs has to be a list"):
        ensemble.linearize(None, "kinetic_energy")
    with pytest.raises(ValueError, match=r"call model\[i\].to_scipy"):
        reduced.to_scipy()
    with pytest.raises(TypeError, match="one linear model"):
        alone[0][0]


@pytest.mark.parametrize("moved", [False, True], ids=["plain", "by an input that moves the manifold"])
def test_any_independent_states_make_the_same_model(moved):
    """At rest, from inputs to outputs of a linkage; where inputs move the manifold, as for slow ones."""
    system, state = mb.examples.four_bar.build()
    state = mb.find_equilibrium(system, state)
    crank, coupler = system.matter.bodies["crank"], system.matter.bodies["coupler"]
    inputs = [coupler.set_outboard_frame] if moved else [(crank, 0)]
    models = [
        linear_model(system, state, inputs, ["mass_center"], True, False, [f"{body.name}.v", f"{body.name}.u"])
        for body in (crank, coupler)
    ]
    for s in (0.0,) if moved else (0.3, 2.0 + 1.0j):
        transfers = [m.C @ np.linalg.solve(s * np.eye(2) - m.A, m.B) + m.D for m in models]
        np.testing.assert_allclose(transfers[0], transfers[1], atol=1e-9 * np.abs(transfers[0]).max())


def test_an_orbit_of_a_pendulum_has_its_period():
    """Period of amplitude a: 4 K(sin(a/2)) sqrt(l/g); energy is kept, so that two multipliers are 1."""
    from scipy.special import ellipk

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    point = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0, 0, 0)))
    pole = mb.mobilizer.Pin(matter.ground, point, X_BM=mb.Transform((0, 1, 0)))
    state = system.realize_topology()
    pole.set_angle(state, 1.2)
    orbit = mb.find_periodic_orbit(system, state, 2.0)
    energy = system.calc_energy(orbit.state) + 9.8
    amplitude = np.arccos(1.0 - energy / 9.8)
    assert np.isclose(orbit.period, 4.0 * ellipk(np.sin(0.5 * amplitude) ** 2) / np.sqrt(9.8), rtol=1e-8)
    np.testing.assert_allclose(orbit.calc_multipliers(), [1, 1], atol=1e-3)
    with pytest.raises(ValueError, match="period"):
        mb.find_periodic_orbit(system, state, -1.0)
    with pytest.raises(ValueError, match="max_iterations has to be 1 or more"):
        mb.find_periodic_orbit(system, state, 2.0, max_iterations=0)
    for cyclic, error, text in (
        ((pole, 0), TypeError, "cyclic has to be a list"),
        (None, TypeError, "cyclic has to be a list"),
        (["a"], KeyError, "there is no mobility 'a'"),
    ):
        with pytest.raises(error, match=text):
            mb.find_periodic_orbit(system, state, 2.0, cyclic=cyclic)
    with pytest.raises(TypeError, match="free_period has to be True or False"):
        mb.find_periodic_orbit(system, state, 2.0, free_period=1)
    matter.add_particles(1.0, np.zeros((1, 3)))
    with pytest.raises(mb.ModelError, match="does not follow particles"):
        mb.find_periodic_orbit(system, system.realize_topology(), 2.0)


def test_an_orbit_under_constraints_is_that_of_a_conical_pendulum():
    """A point on a rod: Newton's steps keep to the manifold, or what they do off it is projected away, and they do not end.

    At a depth h below the pivot it goes round in 2 pi sqrt(h/g).
    """
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    point = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1.3, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.constraint.Rod(matter.ground, (0, 0, 0), point, (0, 0, 0), 0.7)
    state = system.realize_topology()
    height, radius = 0.7 * np.cos(0.5), 0.7 * np.sin(0.5)
    period = 2.0 * np.pi * np.sqrt(height / 9.81)
    state.q, state.u = (radius, -height, 0.0), (0.0, 0.0, 2.0 * np.pi * radius / period)
    for factor in (0.97, 1.03):
        orbit = mb.find_periodic_orbit(system, state, factor * period)
        assert np.isclose(orbit.period, 2.0 * np.pi * np.sqrt(-orbit.state.q[1] / 9.81), rtol=1e-8)


def test_a_driven_orbit_of_a_damped_oscillator():
    """x'' + x' + 4 x = cos 2 t settles to sin(2 t)/2: the orbit begins at x = 0, x' = 1; multipliers are exp(lambda T)."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    slider = mb.mobilizer.Slider(matter.ground, ball)
    mb.force.MobilityLinearSpring(forces, slider, 0, 4.0, 0.0)
    mb.force.MobilityLinearDamper(forces, slider, 0, 1.0)

    def push(t, X, V, q, u, parameters):
        return (), ((cos(2.0 * t),),)

    mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(push, mobilizers=[slider]))
    state = system.realize_topology()
    orbit = mb.find_periodic_orbit(system, state, np.pi, free_period=False)
    np.testing.assert_allclose([orbit.state.q[0], orbit.state.u[0]], [0, 1], atol=1e-7)
    np.testing.assert_allclose(np.abs(orbit.calc_multipliers()), np.exp(-0.5 * np.pi), rtol=1e-6)


def test_outputs_by_name_are_exact(make, close):
    """Those of callables are differences of the same quantities."""
    kinds = [mb.mobilizer.Screw, mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Ellipsoid]
    model = make.tree(4, kinds, rotors=True)
    a, b = model.bodies[1], model.bodies[3]
    spring = mb.force.TwoPointLinearSpring(model.forces, a, make.vector(), b, make.vector(), 20.0, 0.4, name="spring")
    mb.force.MobilityLinearSpring(model.forces, b, 0, 3.0, 0.2)
    model.made()
    state, system = model.randomize(), model.system
    place = make.vector()
    names = ["kinetic_energy", "potential_energy", "mass_center", "mass_center_velocity", "momentum", "central_momentum"]
    names += ["mobility_forces", "u_dot", (b, place)]
    matter = system.matter
    functions = [
        system.calc_kinetic_energy,
        system.calc_potential_energy,
        matter.calc_system_mass_center_location_in_ground,
        matter.calc_system_mass_center_velocity_in_ground,
        matter.calc_system_momentum_about_ground_origin,
        matter.calc_system_central_momentum,
        system.get_mobility_forces,
        lambda state: state.u_dot,
        lambda state: b.find_station_location_in_ground(state, place),
    ]
    inputs = [(b, 0), spring.set_station1, f"{a.name}.mass", f"{b.name}.inboard_frame", "spring.stiffness"]
    exact = mb.linearize(system, state, inputs, names)
    differences = mb.linearize(system, state, inputs, functions)
    assert exact.C.shape == (sum((1, 1, 3, 3, 6, 6)) + 2 * len(state.u) + 3, 2 * len(state.u))
    for i in range(len(exact.C)):
        close(exact.C[i], differences.C[i], 1e-7, max(1.0, np.abs(differences.C[i]).max()))
        close(exact.D[i], differences.D[i], 1e-6, max(1.0, np.abs(differences.D[i]).max()))
    assert mb.linearize(system, state, [], []).C.shape == (0, 2 * len(state.u))


class HeelStrike(mb.event.TriggeredHandler):
    """The legs change places by an impact, once: the mechanism goes on from the new stance foot."""

    def __init__(self, stance, swing):
        super().__init__(mb.Stage.POSITION)
        self.stance, self.swing, self.steps = stance, swing, 0

    def get_value(self, state):
        return self.swing.get_angle(state) + 2.0 * self.stance.get_angle(state)

    def handle_event(self, state, accuracy):
        angle, rate = self.stance.get_angle(state), self.stance.get_rate(state)
        if angle > -0.05 or self.steps:  # the legs pass each other; what the handler keeps counts
            return
        self.steps += 1
        c = np.cos(2.0 * angle)
        state.q, state.u = (-angle, 2.0 * angle), (c * rate, -(1.0 - c) * c * rate)


def passive_walker():
    """Garcia, Chatterjee, Ruina and Coleman 1998, feet of 1e-5, in midstance."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (np.sin(0.009), -np.cos(0.009), 0.0))

    def point(mass, y):
        return mb.body.Rigid(mb.MassProperties(mass, (0, y, 0), mb.Inertia(mass * y * y, 0, mass * y * y)))

    stance = mb.mobilizer.Pin(matter.ground, point(1.0, 1.0))
    swing = mb.mobilizer.Pin(stance, point(1e-5, -1.0), X_PF=(0, 1, 0))
    strike = HeelStrike(stance, swing)
    system.add_event_handler(strike)
    state = system.realize_topology()
    state.q, state.u = (0.069, -0.275), (-0.1069, 0.28)
    return system, state, strike


def test_the_limit_cycle_of_a_passive_walker():
    """Published: a stance angle of 0.2003109 at heel strike; eigenvalues -0.190 +- 0.558i of the map from step to step."""
    system, state, strike = passive_walker()
    orbit = mb.find_periodic_orbit(system, state, 3.85, accuracy=1e-9)
    assert strike.steps == 0  # as it was
    np.testing.assert_allclose(orbit.period, 3.8824, atol=1e-3)
    multipliers = orbit.calc_multipliers()
    np.testing.assert_allclose(multipliers[0], 1.0, atol=1e-5)  # along the orbit
    np.testing.assert_allclose(np.sort_complex(multipliers[1:3]), [-0.190 - 0.558j, -0.190 + 0.558j], atol=2e-3)
    np.testing.assert_allclose(multipliers[3], 0.0, atol=1e-5)  # what the impact takes
    with pytest.raises(IndexError, match="which_u"):
        mb.find_periodic_orbit(system, state, 3.85, cyclic=[(1, 1)])


def test_a_parameter_that_a_handler_sets_by_the_state_is_refused():
    system, state = mb.examples.walker.build()
    with pytest.raises(mb.ModelError, match="Feet sets parameters"):
        mb.simulate(system, state, 4.2, sensitivities=["u"], accuracy=1e-4)


def test_regressor_and_derivatives_by_inertial_parameters(make, close, derivative):
    """Y times the parameters is inverse dynamics; derivatives by parameters are differences of u_dot."""
    model = make.tree(8)
    state, system, matter = model.randomize(), model.system, model.matter
    u_dot = make.rng.normal(size=len(state.u))
    Y = matter.calc_inertial_parameter_regressor(state, u_dot)
    parameters = []
    for body in model.bodies[1:]:
        m = body.get_default_mass_properties()
        I = np.asarray(m.inertia)
        parameters += [m.mass, *(m.mass * np.asarray(m.com)), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    close(Y @ parameters, system.calc_inverse_dynamics(state, u_dot), 1e-12)
    # with moments m c and inertia held, a change of mass changes u_dot by M^-1 times its column
    own = model.bodies[3]
    found = system.calc_parameter_derivatives(state, [f"{own.name}.mass", f"{own.name}.com", f"{own.name}.inertia"])
    Y = matter.calc_inertial_parameter_regressor(state, state.u_dot)[:, 20:30]
    m = own.get_default_mass_properties()
    by_com = m.mass * Y[:, 1:4]
    expected = -matter.calc_m_inv(state) @ np.column_stack([Y[:, 0] + Y[:, 1:4] @ m.com, by_com, Y[:, 4:]])
    close(found, expected, 1e-9)
    with pytest.raises(mb.StageError):
        matter.calc_inertial_parameter_regressor(system.realize_topology(), u_dot)


def test_derivatives_by_parameters_under_constraints(make, close, derivative):
    pair = Pair(make, "Rod")
    mb.force.TwoPointLinearSpring(
        pair.system.get_subsystem(1),
        pair.matter.bodies[2],
        (1, 0, 0),
        pair.matter.bodies[3],
        (0, 1, 0),
        5.0,
        1.0,
        name="spring",
    )
    system = pair.system
    state = system.realize_topology()
    pair.randomize(state)
    body = pair.matter.bodies[2]
    found = system.calc_parameter_derivatives(
        state, ["spring.stiffness", pair.constraint.set_length, f"{body.name}.outboard_frame", f"{body.name}.rotor_inertia"]
    )
    assert found.shape == (len(state.u), 1 + 1 + 6 + 6)

    def at(change):
        other = state.copy()
        change(other)
        system.realize(other)
        return np.array(other.u_dot)

    force = next(one for one in system.all_forces() if one.name == "spring")
    close(found[:, 0], derivative(lambda h: at(lambda s: force.set_stiffness(s, 5.0 + h)), 1e-2), 1e-7)
    X = body.get_outboard_frame(state)
    turned = derivative(
        lambda h: at(lambda s: body.set_outboard_frame(s, X @ mb.Transform(mb.Rotation.about_axis(h, (0, 1, 0)))))
    )
    close(found[:, 3], turned, 1e-6)
    by_rotor = [at(lambda s, h=h: body.set_rotor_inertia(s, h * np.eye(6)[2])) for h in (0.0, 1e-6)]
    close(found[:, 10], (by_rotor[1] - by_rotor[0]) / 1e-6, 1e-4)  # from zero on


def test_the_regulator_of_the_example_balances_its_pole():
    """The pole stands and the cart is back; at first it moves as the linear model with feedback does."""
    from scipy.linalg import expm

    system, state = mb.examples.cart_pole.build()
    upright = state.copy()
    upright.q = (0, 0)
    system.realize(upright)
    closed = mb.linearize(system, upright, []).A  # the feedback is in it
    assert np.linalg.eigvals(closed).real.max() < -0.3
    state.q = (0, 0.01)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    np.testing.assert_allclose([*motion.q[-1], *motion.u[-1]], expm(closed) @ [0, 0.01, 0, 0], atol=1e-5)
    state.q = (0, 0.4)
    motion = mb.simulate(system, state, 20.0)
    assert np.abs(motion.q[-1]).max() < 1e-3


def test_measures_and_what_they_integrate_are_exact(derivative):
    """Locations, their rates of both orders, energy and integrals of both kinds, beside differences of states."""
    system, cart, pole, motor = pendulum()
    matter = system.matter
    tip = mb.measure.StationLocation(matter, pole, (0.1, 0.2, 0.0))
    rate = mb.measure.Differentiate(matter, tip)
    measures = [tip, mb.measure.Differentiate(matter, rate), mb.measure.Energy(matter)]
    integral = mb.measure.Integrate(matter, measures[2])
    mb.measure.Integrate(matter, measures[1])
    hidden = mb.measure.Differentiate(matter, mb.measure.Coordinate(matter, pole, 0)) * 2.0 + integral
    state = system.realize_topology()
    state.q, state.u, state.z = (0.1, 0.4), (0.3, -0.7), (0.2, 0.1, -0.3, 0.5)
    system.realize(state)
    inputs = [(cart, 0), "motor.mobility_force", "pole.mass"]
    found = mb.linearize(system, state, inputs, [*measures, hidden, lambda s: s.q[0]])
    assert found.by_differences == ["output_4"] and found.A.shape == (8, 8)

    def values(y, force=0.0, mass=0.0):
        other = state.copy()
        other.y = y
        motor.set_mobility_force(other, force)
        if mass:
            m = pole.get_body_mass_properties(other)
            pole.set_body_mass_properties(other, mb.MassProperties(m.mass + mass, m.com, m.inertia))
        system.realize(other)
        of = [np.ravel(one.get_value(other)) for one in (*measures, hidden)]
        return np.concatenate([*of, other.z_dot])

    y = np.array(state.y)
    by_state = np.array([derivative(lambda h, e=e: values(y + h * e)) for e in np.eye(8)]).T
    by_force = derivative(lambda h: values(y, h))
    by_mass = derivative(lambda h: values(y, 0.0, h))
    mine = np.vstack([found.C[:8], found.A[4:]]), np.vstack([found.D[:8], found.B[4:]])
    np.testing.assert_allclose(mine[0], by_state, atol=1e-8)
    np.testing.assert_allclose(mine[1][:, :2], np.column_stack([by_force, by_force]), atol=1e-8)
    np.testing.assert_allclose(mine[1][:, 2], by_mass, atol=1e-7)


def law(q, u, gravity, memory, parameters):
    efforts = np.empty(2)
    for i in range(2):
        memory[i] += 0.02 * (0.3 - q[i])
        efforts[i] = parameters[0] * (0.3 - q[i]) * (1.0 + q[i]) - 2.0 * u[i] - gravity[i] + memory[i]
    return efforts


def test_a_closed_loop_is_that_of_laws_that_act_all_the_time():
    """A controller with an integral, in closed form: u_dot = M^-1 (law - ...), m' = (0.3 - q) 0.02 / 0.01."""
    system, _ = mb.examples.double_pendulum.build()
    servo = mb.control.Custom(
        system.forces, law, sample_time=0.01, memory=[0.1, 0.2], parameters=[12.0], limits=(-90, 90), name="servo"
    )
    state = system.realize_topology()
    state.q, state.u = (0.4, -0.2), (0.5, 0.1)
    system.realize(state)
    found = mb.linearize(system, state, ["lower.mass", "upper.com"], ["u_dot"], closed_loop=True)
    assert found.state_names[4:] == ["servo.memory[0]", "servo.memory[1]"]
    assert not found.by_differences

    def u_dot(x, mass=0.0):
        other = state.copy()
        other.q, other.u = x[:2], x[2:4]
        if mass:
            lower = system.matter.bodies["lower"]
            m = lower.get_body_mass_properties(other)
            lower.set_body_mass_properties(other, mb.MassProperties(m.mass + mass, m.com, m.inertia))
        system.realize(other)
        efforts = 12.0 * (0.3 - other.q) * (1.0 + other.q) - 2.0 * other.u - system.matter.calc_gravity_forces(other) + x[4:]
        efforts += 0.02 * (0.3 - other.q)  # memory is written before it acts
        F = system.get_rigid_body_forces(other)
        return system.matter.calc_acceleration(other, system.get_mobility_forces(other) + efforts, F)[0]

    x = np.concatenate([state.q, state.u, [0.1, 0.2]])
    expected = np.array([(u_dot(x + 1e-5 * e) - u_dot(x - 1e-5 * e)) / 2e-5 for e in np.eye(6)]).T
    np.testing.assert_allclose(found.A[2:4], expected, atol=1e-7)
    np.testing.assert_allclose(found.C, found.A[2:4], atol=1e-12)
    np.testing.assert_allclose(found.A[4:], [[-2.0, 0, 0, 0, 0, 0], [0, -2.0, 0, 0, 0, 0]], atol=1e-8)
    np.testing.assert_allclose(found.B[2:4, 0], (u_dot(x, 1e-5) - u_dot(x, -1e-5)) / 2e-5, atol=1e-6)
    held = mb.linearize(system, state)
    assert held.A.shape == (4, 4) and not np.allclose(held.A[2:4], expected[:, :4], atol=1e-3)
    servo.disable(state)
    system.realize(state)
    np.testing.assert_allclose(mb.linearize(system, state, closed_loop=True).A, held.A, atol=1e-12)


def test_a_sampled_loop_is_that_of_the_run():
    """The same controller from where it rests: three samples of small changes, by central differences."""
    system, _ = mb.examples.double_pendulum.build()
    servo = mb.control.Custom(
        system.forces, law, sample_time=0.01, memory=[0.0, 0.0], parameters=[12.0], limits=(-90, 90), name="servo"
    )
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.3), (0.0, 0.0)
    system.realize(state)

    def after(x):
        other = state.copy()
        other.q, other.u = x[:2], x[2:4]
        servo.set_memory(other, x[4:])
        run = mb.simulate(system, other, 0.03, accuracy=1e-12, record={"memory": servo.get_memory})
        return np.concatenate([run.q[-1], run.u[-1], run.quantities["memory"][-1]])

    x, h = np.array([0.3, 0.3, 0, 0, 0, 0]), 1e-4
    expected = np.array([(after(x + h * e) - after(x - h * e)) / (2 * h) for e in np.eye(6)]).T
    found = mb.linearize(system, state, closed_loop="sampled")
    assert found.sample_time == 0.01 and "sampled every 0.01" in repr(found)
    np.testing.assert_allclose(np.linalg.matrix_power(found.A, 3), expected, atol=1e-6)  # differences of h^2
    gain = mb.loop_gain(system, state, servo)
    np.testing.assert_allclose(gain.A - gain.B @ gain.C, found.A, atol=1e-12)  # closed again
    assert gain.input_names == ["upper.force", "lower.force"] and gain.output_names == ["servo.efforts[0]", "servo.efforts[1]"]
    one = mb.loop_gain(system, state, servo, 1)
    np.testing.assert_allclose(one.A - one.B @ one.C, found.A, atol=1e-12)
    ensemble = mb.Ensemble(system, 2, state=state)
    ensemble.realize()
    each = ensemble.linearize(closed_loop="sampled")
    assert np.array_equal(each[1].A, found.A) and each[1].sample_time == 0.01


def test_margins_of_a_sampled_servo_are_python_controls():
    """PD at 100 Hz on a mass: F - G K by hand, and the margins of the plant with a hold, sampled by python-control."""
    system, cart, pole, _ = pendulum()
    pole.lock_by_default()
    kp, kd, T, mass = 40.0, 16.0, 0.01, 2.0
    servo = mb.control.PD(system.forces, [cart], kp=kp, kd=kd, sample_time=T, name="servo")
    state = system.realize_topology()
    system.realize(state)
    closed = mb.linearize(system, state, [cart], closed_loop="sampled", independent=True)
    F, G = np.array([[1.0, T], [0.0, 1.0]]), np.array([[T**2 / 2], [T]]) / mass
    np.testing.assert_allclose(closed.A, F - G @ [[kp, kd]], atol=1e-12)
    np.testing.assert_allclose(closed.B, G, atol=1e-14)
    gain = mb.loop_gain(system, state, servo, independent=True)
    for ours, by_hand in zip(gain.matrices, (F, G, [[kp, kd]], [[0.0]]), strict=True):
        np.testing.assert_allclose(ours, by_hand, atol=1e-12)
    always = mb.loop_gain(system, state, servo, sampled=False, independent=True)
    np.testing.assert_allclose(always.B, [[0.0], [1 / mass]], atol=1e-14)
    mixed = mb.control.PD(system.forces, [cart], kp=1.0, kd=0.0, sample_time=0.02, name="slow")
    state = system.realize_topology()
    system.realize(state)
    with pytest.raises(mb.ModelError, match="'servo' is sampled every"):
        mb.loop_gain(system, state, servo)
    mixed.disable(state)
    system.realize(state)
    with pytest.raises(mb.ModelError, match="'slow' is no controller"):
        mb.loop_gain(system, state, mixed)
    for wrong in ("often", 3, None):
        with pytest.raises(TypeError, match="closed_loop"):
            mb.linearize(system, state, closed_loop=wrong)
    pytest.importorskip("control.statesp")
    import control

    plant = control.sample_system(control.ss([[0, 1], [0, 0]], [[0], [1 / mass]], np.eye(2), np.zeros((2, 1))), T, method="zoh")
    theirs = control.ss([], [], [], [[kp, kd]], T) * plant
    ours = gain.to_control()
    assert ours.dt == T
    np.testing.assert_allclose(control.margin(ours), control.margin(theirs), rtol=1e-6)
    np.testing.assert_allclose(
        control.margin(ours)[1], control.margin(always.to_control())[1] - np.degrees(control.margin(ours)[3] * T / 2), atol=1.0
    )


def test_sampled_loops_of_independent_states_are_those_of_all():
    """With a rod, at rest: one gain, and a longer rod moves the resting place of the sampled loop as of the one in between."""
    q = (0.0, 0.0)
    for _ in range(2):  # where it rests, then with the servo's target there
        system, _ = mb.examples.double_pendulum.build()
        lower = system.matter.bodies["lower"]
        mb.constraint.Rod(system.matter.ground, (0.7, -1.5, 0.0), lower, (0.0, 0.0, 0.0), 0.6, name="rod")
        servo = mb.control.PD(system.forces, kp=60.0, kd=8.0, sample_time=0.01, target=q, name="servo")
        state = system.realize_topology()
        state.q = q if any(q) else (0.2, 0.1)
        state = mb.find_equilibrium(system, state)
        q = tuple(state.q)
    system.realize(state)

    def gain(w, effort, independent):
        model = mb.loop_gain(system, state, servo, effort, independent=independent)
        return model.C @ np.linalg.solve(np.exp(1j * w) * np.eye(len(model.A)) - model.A, model.B)

    for w, effort in ((0.2, None), (1.0, 0)):
        np.testing.assert_allclose(gain(w, effort, True), gain(w, effort, False), atol=1e-10)
    moved = []
    for closed_loop in ("sampled", True):
        model = mb.linearize(system, state, ["rod.length"], closed_loop=closed_loop, independent=True)
        still = np.eye(len(model.A)) * (closed_loop == "sampled")
        moved.append(model.C @ np.linalg.solve(still - model.A, model.B) + model.D)
    np.testing.assert_allclose(moved[0], moved[1], atol=1e-10)


def test_no_closed_loop_of_late_sensors():
    system, _ = mb.examples.double_pendulum.build()
    sensor = mb.control.Sensor(mb.control.Coordinates(), delay=0.01)

    def follow(x):
        return -x[0]

    mb.control.Custom(system.forces, follow, sample_time=0.01, inputs={"x": sensor}, name="late", compiled=False)
    state = system.realize_topology()
    with pytest.warns(UserWarning, match="differences"):
        system.realize(state)
        mb.linearize(system, state)
    with pytest.raises(mb.ModelError, match="sensor of 'late' is late"):
        mb.linearize(system, state, closed_loop=True)


def test_forces_that_are_set_are_inputs_by_name():
    """The efforts of motors, and given forces, are those on their mobilities."""
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:]
    mb.force.Actuators(system.forces, [(lower, 0), (upper, 0)], name="motors")
    given = mb.force.DiscreteForces(system.forces, system.matter, name="given")
    state = system.realize_topology()
    state.q, state.u = (0.3, -0.5), (1.0, 2.0)
    system.realize(state)
    plain = mb.linearize(system, state)
    model = mb.linearize(system, state, ["motors.efforts", given.set_all_mobility_forces, "given.all_body_forces"])
    assert model.input_names[:4] == [
        "motors.efforts[0]",
        "motors.efforts[1]",
        *[f"given.all_mobility_forces[{i}]" for i in (0, 1)],
    ]
    np.testing.assert_allclose(model.B[:, :4], plain.B[:, [1, 0, 0, 1]], atol=1e-12)
    J = system.matter.calc_system_jacobian(state)
    np.testing.assert_allclose(model.B[2:, 4:], plain.B[2:] @ J.T, atol=1e-12)
    with pytest.raises(ValueError, match="it has efforts"):
        mb.linearize(system, state, ["motors.effort"])


def test_reduced_states_follow_the_length_of_a_rod(derivative):
    """The gain from an input that moves the manifold is how the equilibrium moves with it."""
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:]
    rod = mb.constraint.Rod(system.matter.ground, (0.7, -1.5, 0.0), lower, (0.0, 0.0, 0.0), 0.6, name="rod")
    state = system.realize_topology()
    state.q = (0.2, 0.3)
    state = mb.find_equilibrium(system, state)
    system.realize(state)
    model = mb.linearize(system, state, ["rod.length"], [upper.get_angle, (lower, (0.1, 0.2, 0.3))], independent=True)
    gain = model.D - model.C @ np.linalg.solve(model.A, model.B)

    def at(h):
        other = state.copy()
        rod.set_length(other, 0.6 + h)
        other = mb.find_equilibrium(system, other)
        system.realize(other, mb.Stage.POSITION)
        return np.array([upper.get_angle(other), *lower.find_station_location_in_ground(other, (0.1, 0.2, 0.3))])

    np.testing.assert_allclose(gain[:, 0], derivative(at), atol=1e-7)
