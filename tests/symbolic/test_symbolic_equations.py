"""Equations in symbols are those of the kernels, of every kind of mobilizer, and those of textbooks."""

import numpy as np
import pytest

import mobod as mb
from mobod.algebra.scalar import absolute, maximum, minimum, sinh, tanh, where
from mobod.symbolic.polynomial import Ring
from mobod.symbolic.recording import Tape
from when_used import Package

sympy = Package("sympy")

QUARTERS = [mb.Rotation.about_axis(k * np.pi / 2, axis) for k in range(4) for axis in "xyz"]


def tenths(rng, n=3):
    return rng.integers(-9, 10, n) / 10.0


def aligned(rng):
    """A frame as people draw them: turned by quarters, at tenths."""
    return mb.Transform(QUARTERS[rng.integers(12)], tenths(rng))


def on_joints(make, kinds, frame):
    """A chain of bodies on mobilizers of these kinds, with frames that ``frame()`` gives."""
    rng, system = make.rng, mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, -9.81, 0.0))
    parent = matter.ground
    for kind in kinds:
        com = tenths(rng)
        inertia = mb.Inertia(np.diag([2.0, 3.0, 4.0])).shift_from_centroid(com, 1.5)
        body = mb.body.Rigid(mb.MassProperties(1.5, com, inertia))
        parent = kind(parent, body, X_PF=frame(), X_BM=frame(), direction=make.direction(), **make.settings(kind))
    state = system.realize_topology()
    system.matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    return system, state


def at_random(system, state, rng):
    state.u = rng.uniform(-1.0, 1.0, len(state.u))
    for body in system.matter.bodies[1:]:
        q = rng.uniform(0.3, 1.2, body.get_num_q(state))
        if system.matter.is_using_quaternion(state, body):
            q[:4] = rng.normal(size=4)
            q[:4] /= np.linalg.norm(q[:4])
        body.set_q_from_vector(state, q)
    system.realize(state)


def assert_close(found, expected, tolerance=1e-11):  # some hundred products of numbers of ten
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * (1.0 + np.max(np.abs(expected), initial=0.0)))


def test_frames_at_random_as_they_are_computed(make):
    system, state = on_joints(make, [mb.mobilizer.Slider, mb.mobilizer.Pin], make.frame)
    at_random(system, state, make.rng)
    found = mb.equations(system, state=state, simplify=False)
    M = found.evaluate(found.mass_matrix, state)
    assert_close(M, system.matter.calc_m(state))
    assert_close(found.evaluate(found.bias, state), -M @ state.u_dot, 1e-10)
    assert_close(found.evaluate(found.q_dot, state), state.q_dot)


#: Those whose mass matrix takes seconds to simplify.
LONG_ONES = {mb.mobilizer.Ball, mb.mobilizer.CantileverFreeBeam, mb.mobilizer.Ellipsoid, mb.mobilizer.Free}


@pytest.mark.parametrize("kind", mb.mobilizer.KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_mobilizer(kind, make):
    turned = lambda: mb.Transform(QUARTERS[make.rng.integers(12)])  # noqa: E731
    long = kind in LONG_ONES
    system, state = on_joints(make, [kind], turned if long else lambda: aligned(make.rng))
    at_random(system, state, make.rng)
    found, nu = mb.equations(system, state=state, simplify=not long), len(state.u)
    M = found.evaluate(found.mass_matrix, state).reshape(nu, nu)
    assert_close(M, system.matter.calc_m(state))
    if nu <= 3:  # others take a second or more
        assert_close(found.evaluate(found.bias, state), -M @ state.u_dot, 1e-10)


def cart_and_pole(**numbers):
    """A pole of a point mass on a cart that a spring holds."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0), name="gravity")
    point = mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0, 0, 0))
    cart = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(point), name="cart")
    bob = mb.mobilizer.Pin(cart, mb.body.Rigid(point), X_BM=mb.Transform((0, 0.5, 0)), name="bob")
    mb.force.MobilityLinearSpring(forces, cart, 0, 20.0, 0.1, name="spring")
    return system, system.realize_topology(), bob


NAMES = {"cart.mass": "M", "bob.mass": "m", "bob.p_BM[1]": "l", "spring.stiffness": "k", "gravity.magnitude": "g"}


def test_a_pole_on_a_cart_has_the_equations_of_lagrange():
    system, _, bob = cart_and_pole()
    found = mb.equations(system, parameters=NAMES, coordinates=["x", "a"], speeds=["v", "w"])
    x, a, v, w = (*found.q, *found.u)
    M, m, l, k, g = sympy.symbols("M m l k g", real=True)
    T = (M * v**2 + m * ((v + l * sympy.cos(a) * w) ** 2 + (l * sympy.sin(a) * w) ** 2)) / 2
    V = k * (x - sympy.Rational(1, 10)) ** 2 / 2 - m * g * l * sympy.cos(a)
    momentum = [sympy.diff(T, speed) for speed in (v, w)]
    mass = sympy.Matrix(2, 2, lambda i, j: sympy.diff(momentum[i], (v, w)[j]))
    bias = [
        sum(sympy.diff(p, q) * speed for q, speed in ((x, v), (a, w))) - sympy.diff(T - V, q)
        for p, q in zip(momentum, (x, a), strict=True)
    ]
    assert sympy.simplify(found.mass_matrix - mass) == sympy.zeros(2, 2)
    assert sympy.simplify(found.bias - sympy.Matrix(bias)) == sympy.zeros(2, 1)
    assert sympy.simplify(found.kinetic_energy - T) == 0
    assert sympy.simplify(found.potential_energy - V) == 0
    assert sympy.simplify(found.mass_matrix * found.accelerations + found.bias - sympy.Matrix(found.f)) == sympy.zeros(2, 1)
    where = found.station(bob, (0, "l", 0))
    assert where.T.tolist() == [[x, 0, 0]]
    assert sympy.simplify(
        found.station_velocity(bob) - found.station(bob).jacobian(found.q) * sympy.Matrix(found.u)
    ) == sympy.zeros(3, 1)
    assert found.frame_jacobian(bob)[2, 1] == 1 and found.station_jacobian(bob) == found.frame_jacobian(bob)[3:, :]
    assert {str(symbol): value for symbol, value in found.parameters.items()} == {"M": 1, "m": 1, "l": 0.5, "k": 20, "g": 9.81}
    assert found.to_latex().count(r"\\") >= 2 and r"\theta" not in found.to_latex() and found._repr_latex_().startswith("$")


def test_parameters_are_those_of_the_model(rng):
    system, state, _ = cart_and_pole()
    found = mb.equations(system, state=state, parameters=True)
    names = sorted(map(str, found.parameters))
    assert names == ["g", "k_spring", "m_bob", "m_cart", "rest_value_spring", "s_bob_y"]
    assert_close(found.evaluate(found.accelerations, state), realized(system, state).u_dot)
    mass, spring = rng.uniform(0.5, 2.0, 2)
    system.matter.bodies["cart"].set_body_mass_properties(state, mb.MassProperties(mass, (0, 0, 0), mb.Inertia(0, 0, 0)))
    next(one for one in system.all_forces() if one.name == "spring").set_stiffness(state, spring)
    changed = found.evaluate(found.accelerations, state, {"m_cart": mass, "k_spring": spring}, f=[1.0, 0.3])
    system.realize(state, mobility_forces=[1.0, 0.3])
    assert_close(changed, state.u_dot)


def realized(system, state):
    system.realize(state)
    return state


def test_a_closed_loop_is_solved_for():
    system, state = mb.examples.four_bar.build()
    system.project(state)
    state.u = [0.3] * len(state.u)
    system.project(state)
    system.realize(state)
    found = mb.equations(system, state=state)
    G, b = found.evaluate(found.constraint_matrix, state), found.evaluate(found.constraint_bias, state)
    assert_close(G, system.matter.calc_g(state))
    assert_close(G @ state.u_dot + b, 0.0 * b)
    assert_close(found.evaluate(found.position_errors, state), state.q_err[: len(found.position_errors)])
    f = np.array([1.0, -2.0, 0.5])
    system.realize(state, mobility_forces=f)
    assert len(G) > np.linalg.matrix_rank(G), "one of its equations is redundant"
    assert_close(found.evaluate(found.accelerations, state, f=f), state.u_dot, 1e-9)
    M, bias = found.evaluate(found.mass_matrix, state), found.evaluate(found.bias, state)
    forces = M @ state.u_dot + G.T @ found.evaluate(found.multipliers, state, f=f) + bias
    assert_close(forces, f, 1e-9)


def test_a_loop_that_starts_at_a_dead_center_is_solved_for():
    """Where the default state has crank and rod in a line with the slide's normal, the rod's row of G is zero."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, -9.81, 0.0))
    link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.1, 0.1, 0.1)))
    crank = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 0.5, 0)))
    slider = mb.mobilizer.Slider(matter.ground, link, X_PF=mb.Transform((0, -1.2, 0)))
    mb.constraint.Rod(crank, (0, -0.2, 0), slider, (0, 0, 0), 1.0)
    found = mb.equations(system)
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.2), (0.7, 0.1)
    system.project(state)
    system.realize(state)
    assert abs(state.multipliers[0]) > 1.0
    assert_close(found.evaluate(found.accelerations, state), state.u_dot, 1e-9)
    assert_close(found.evaluate(found.multipliers, state), state.multipliers, 1e-9)


def test_a_condition_that_fails_on_a_range_is_kept():
    """The square of a ramp is zero on half of the line, not at a point alone."""
    x = Tape().input("q", 0)
    ramp, ring = where(x > 0.0, x, 0.0 * x), Ring()
    for square, kept in ((ramp * ramp, True), (x * x, False)):
        found = ring.expression(ring.of(where(square > 0.0, square + 3.0, 0.0 * x)), lambda name, i: sympy.Symbol("x"))
        assert (found.subs("x", -2.0) == 0) == kept and found.subs("x", 2.0) == 7.0


def test_what_kernels_compute_by_cases_has_its_name():
    """Not the series of a hyperbolic function near zero, nor the case of what is no number."""
    tape, ring = Tape(), Ring()
    x, y = sympy.symbols("x y", real=True)
    a, b = tape.input("x", 0), tape.input("y", 0)
    for recorded, name in (
        (minimum(a, b), sympy.Min(x, y)),
        (maximum(a, b) - 1.0, sympy.Max(x, y) - 1),
        (tanh(2.0 * a), sympy.tanh(2 * x)),
        (sinh(a * b) * absolute(b), sympy.sinh(x * y) * sympy.Abs(y)),
        (where(a < 0.0, -b, b), sympy.Piecewise((-y, x < 0), (y, True))),
    ):
        assert ring.expression(ring.of(recorded), lambda name, i: {"x": x, "y": y}[name]) == name


def test_a_rod_has_no_other_case_where_its_ends_meet_and_one_quotient():
    """A point mass on a rod to the origin, off the manifold too."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, -10.0, 0.0))
    point = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(0, 0, 0))))
    mb.constraint.Rod(matter.ground, (0, 0, 0), point, (0, 0, 0), 1.0)
    found = mb.equations(system, coordinates=["x", "y", "z"], speeds=["u", "v", "w"])
    p, v = sympy.Matrix(found.q), sympy.Matrix(found.u)
    square, along, g = p.dot(p), p.dot(v), sympy.Matrix([0, -10, 0])
    # |x| keeps its second derivative zero: u.(a) + (v.v - (u.v)^2) / |x| = 0 along the unit vector u
    bend = (v.dot(v) - along**2 / square) / sympy.sqrt(square)
    wanted = g - p / sympy.sqrt(square) * (g.dot(p) / sympy.sqrt(square) + bend)
    assert sympy.simplify(found.accelerations.subs({f: 0 for f in found.f}) - wanted) == sympy.zeros(3, 1)
    numerator, denominator = sympy.fraction(found.accelerations[0])
    assert not numerator.atoms(sympy.Pow) - {one for one in numerator.atoms(sympy.Pow) if one.exp > 0}
    assert sympy.simplify(denominator / square**2).is_number


def test_a_locked_and_a_driven_joint_are_known():
    system, state = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:]
    mb.motion.Sinusoid(upper, mb.Motion.Level.POSITION, 0.5, 2.0, 0.3)
    state = system.realize_topology()
    state.time = 0.4
    system.realize(state, mb.Stage.TIME)
    system.prescribe(state)
    system.realize(state)
    found = mb.equations(system, state=state)
    assert found.accelerations[0].free_symbols == {found.t}
    assert_close(found.evaluate(found.accelerations, state), state.u_dot)
    lower.lock(state)
    system.realize(state)
    assert mb.equations(system, state=state).accelerations[1] == 0


def on_a_plane(mass=1.5):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.Inertia(1, 1, 0.25)))
    return system, matter, mb.mobilizer.Planar(matter.ground, body, name="disk")


def test_a_constraint_of_ones_own_is_differentiated():
    """Its G and its bias follow from its errors by dual numbers, which symbols go through."""
    system, _, disk = on_a_plane()

    def oval(X, q, parameters):
        _, x, y = q[0]
        return (x * x + parameters[0] * y * y - 1.0,)

    mb.constraint.Custom(compiled=mb.constraint.CompiledFunctions(oval, mobilizers=[disk], parameters=[3.0]))
    system.realize_topology()
    found = mb.equations(system, coordinates=["a", "x", "y"], speeds=["w", "u", "v"])
    (_, x, y), (_, u, v) = found.q, found.u
    assert found.position_errors[0] == x**2 + 3 * y**2 - 1
    assert found.constraint_matrix == sympy.Matrix([[0, 2 * x, 6 * y]])
    assert sympy.expand(found.constraint_bias[0] - 2 * u**2 - 6 * v**2) == 0


def test_unknowns_that_have_nothing_to_do_with_each_other_are_solved_apart():
    """A disk that rolls along x, in a plane: its fall is no quotient by its rolling inertia."""
    system, matter, disk = on_a_plane()
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0.0, -10.0, 0.0), name="gravity")
    mb.constraint.SpeedCoupler(matter, mb.function.Linear([0.5, 1.0, 0.0]), [disk, disk], [0, 1])
    names = {"disk.mass": "m", "disk.central_inertia[2]": "I", "gravity.magnitude": "g"}
    system.realize_topology()
    found = mb.equations(system, parameters=names, speeds=["w", "u", "v"])
    f, m, inertia, g = found.f, *sympy.symbols("m I g", real=True)
    assert sympy.expand(found.accelerations[2]) == f[2] / m - g
    assert sympy.simplify(found.accelerations[0] - (f[0] - f[1] / 2) / (inertia + m / 4)) == 0


def test_roundings_of_turned_frames_are_no_decimals():
    """A mass on a spring that swings: cos(pi / 2) is 6e-17."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0.0, -10.0, 0.0))
    down = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, "z"))
    mb.mobilizer.BendStretch(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(0, 0, 0))), X_PF=down)
    system.realize_topology()
    found = mb.equations(system, coordinates=["a", "r"], speeds=["w", "v"])
    a, r = found.q
    w, v = found.u
    assert found.mass_matrix == sympy.diag(2 * r**2, 2)
    wanted = sympy.Matrix([4 * r * v * w + 20 * r * sympy.sin(a), -2 * r * w**2 - 20 * sympy.cos(a)])
    assert sympy.expand(found.bias - wanted) == sympy.zeros(2, 1)


def test_forces_by_cases_are_evaluated(rng):
    """A bristle, and an actuator with a filter, which clips to infinite limits: no case of those is left."""
    system, _, _ = cart_and_pole()
    cart = system.matter.bodies["cart"]
    mb.force.MobilityDryFriction(system.forces, cart, 0, 1.5)
    along = mb.force.transmission.Coordinates(system.forces, [(cart, 0, 2.0)])
    mb.force.Actuator(system.forces, along, gain=(5.0, 0.0, 0.0), dynamics="filter", time_constant=0.1)
    state = system.realize_topology()
    found = mb.equations(system, state=state)
    assert not found.z_dot[1].has(sympy.Piecewise)
    for _ in range(5):
        state.u, state.z = rng.uniform(-0.1, 0.1, 2), rng.uniform(-1.3, 1.3, 2)
        system.realize(state)
        assert_close(found.evaluate(found.z_dot, state), state.z_dot, 1e-9)  # the bristle's powers are multiplied out
        assert_close(found.evaluate(found.accelerations, state), state.u_dot, 1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"parameters": ["bob.weight"]}, ValueError, "has no parameter 'weight'"),
        ({"parameters": ["nobody.mass"]}, ValueError, "no element 'nobody'"),
        ({"parameters": "bob.mass"}, TypeError, "has to be a list"),
        ({"parameters": ["bob.com[3]"]}, ValueError, "has 3 numbers"),
        ({"parameters": ["bob.mass", "bob.mass"]}, ValueError, "named twice"),
        ({"parameters": {"bob.com": "l"}}, ValueError, "give as many expressions"),
        ({"parameters": {"bob.mass": []}}, TypeError, "takes a number, a text or an expression"),
        ({"parameters": ["bob.inertia", "bob.central_inertia"]}, ValueError, "name one of the two"),
        ({"parameters": ["bob.inboard_frame"]}, mb.FormulaError, "bob.p_PF"),
        ({"parameters": ["gravity.down_direction"]}, mb.FormulaError, "no linear parameter"),
        ({"coordinates": ["x"]}, ValueError, "takes 2 different names"),
        ({"parameters": {"bob.mass": "x"}, "coordinates": ["x", "a"]}, ValueError, "'x' .* and a parameter, too"),
        ({"coordinates": ["x", "a"], "speeds": ["v", "x"]}, ValueError, "and another variable, too"),
        ({"parameters": {"bob.mass": "2 m"}}, ValueError, "'bob.mass' takes a number, or an expression as text"),
        ({"speeds": "xy"}, TypeError, "list of names"),
        ({"simplify": 1}, TypeError, "simplify"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, says):
    system, _, _ = cart_and_pole()
    with pytest.raises(error, match=says.replace("[", r"\[")):
        mb.equations(system, **arguments)


def test_what_has_no_formula_is_named():
    with pytest.raises(mb.FormulaError, match="the force 'contact'"):
        mb.equations(mb.examples.rattleback.build()[0])
    system, state, _ = cart_and_pole()
    found = mb.equations(system, parameters=NAMES)
    with pytest.raises(ValueError, match="c have no value"):
        found.evaluate(found.kinetic_energy * sympy.Symbol("c"), state)
    with pytest.raises(ValueError, match="a point is made of"):
        found.station("bob", (0, "h", 0))
    mb.force.Custom(system.forces, Push())
    with pytest.raises(mb.FormulaError, match="a force that Python computes"):
        mb.equations(system)


class Push(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces[0] += 1.0
