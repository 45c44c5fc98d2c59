"""A kind in any family is one file, here this one: functions, forces, constraints, measures and witnesses that run compiled."""

import numpy as np
import pytest

import mobod as mb
from mobod.algebra import vec3
from mobod.algebra.scalar import exp, load, one, sqrt, store, zero
from mobod.constraint import access
from mobod.event import routines as witnesses
from mobod.force import routines as forces, two_points
from mobod.function import routines as functions
from mobod.function.base import UNLIMITED, FunctionKind, Univariate
from mobod.measure import routines as measures
from mobod.state import validity
from mobod.tree import realize as _realize

# ---------------------------------------------------------------------------------------------------- a function


def growth(integers, i, numbers, n, x):
    rate = load(numbers, n + 1, 0)
    f = load(numbers, n, 0) * exp(rate * x)
    return f, rate * f, rate * rate * f


class Exponential(Univariate):
    """a exp(b x)."""

    routine = functions.of_one_argument(growth)
    _names = ("size", "rate")

    def __init__(self, size, rate):
        self._keep(size=size, rate=rate)

    def get_max_derivative_order(self):
        return UNLIMITED

    def _at(self, order, x):
        return self._size * self._rate**order * np.exp(self._rate * x)

    def pack(self):
        return [], [self._size, self._rate]


def square_of_sum(integers, i, numbers, n, x, rates):
    s, s_dot = x[0] + x[1], rates[0] + rates[1]
    return s * s, (2.0 * s, 2.0 * s), (2.0 * s_dot, 2.0 * s_dot)


class SquareSum(FunctionKind):
    """(x + y)^2: of two arguments, and curved."""

    routine = functions.of_arguments(2, square_of_sum)

    def get_argument_size(self):
        return 2

    def get_max_derivative_order(self):
        return UNLIMITED

    def _derivative(self, components, x):
        return [(x[0] + x[1]) ** 2, 2.0 * (x[0] + x[1]), 2.0, 0.0][min(len(components), 3)]

    def pack(self):
        return [], []


def in_python(function):
    """The same as a user writes it, which makes a model interpreted."""
    n = function.get_argument_size()
    return mb.function.Custom(function.calc_value, n, lambda components, x: function.calc_derivative(components, x))


def jointed(make, function, other):
    model = make.tree(0)
    model.gravity.set_default_gravity_vector((0, -9.81, 0))
    none, line = mb.function.Constant(0.0, 0), mb.function.Linear([1.0, 0.0])
    model.body = mb.mobilizer.FunctionBased(
        model.matter.ground,
        mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0.2, 0.0), mb.UnitInertia(0.3, 0.4, 0.5))),
        num_mobilities=2,
        functions=[none, line, line, function, other, none],
        coordinate_indices=[[], [1], [0], [0], [0, 1], []],
    )
    return model


def test_a_function_in_a_mobilizer(make, close):
    own = Exponential(0.4, 0.7), SquareSum()
    model, python = jointed(make, *own).made(), jointed(make, *map(in_python, own)).made()
    assert python.system.calls_python and not model.system.calls_python
    for one_model in (model, python):
        one_model.state.q, one_model.state.u = [0.3, -0.8], [1.2, 0.5]
        one_model.system.realize(one_model.state)
    close(model.state.u_dot, python.state.u_dot, 1e-12)
    ensemble = mb.Ensemble(model.system, 9, state=model.state)
    ensemble.realize()
    close(ensemble.u_dot, np.tile(python.state.u_dot, (9, 1)), 1e-12)


def test_a_function_in_a_constraint(close):
    accelerations = []
    for function in (SquareSum(), in_python(SquareSum())):
        system, _, lower = pulled(mb.function.Sinusoid(4.0, 1.5, 0.3))
        mb.constraint.CoordinateCoupler(system.matter, function, [lower.parent, lower], [0, 0])
        state = start(system)
        system.realize(state)
        accelerations.append(state.u_dot)
    close(accelerations[0], accelerations[1], 1e-12)


# ---------------------------------------------------------------------------------------------------- a force


def add(model, integers, numbers):
    b1, b2, s1, s2, r = two_points.arms(model, integers, numbers)
    x = sqrt(vec3.dot(r, r))
    _, slope, _ = functions.jet(model, model.force_integers[integers + 2], x)
    two_points.pull(model, b1, b2, s1, s2, vec3.scale(slope / x, r))


def energy(model, integers, numbers):
    r = two_points.arms(model, integers, numbers)[4]
    return functions.jet(model, model.force_integers[integers + 2], sqrt(vec3.dot(r, r)))[0]


class Potential(two_points.TwoPoints):
    """Between two points, of a potential that is any function of their distance."""

    routine = forces.by_address(add, energy)
    reads_positions_only = True

    def __init__(self, forces, body1, station1, body2, station2, function):
        self.used_functions = [(function, [0])]
        self._connect(forces, body1, station1, body2, station2, False, None)


def pulled(*functions_of_length):
    system = mb.MultibodySystem()
    matter, elements = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    inertia = mb.UnitInertia.cylinder_along_y(0.05, 0.5).shift_from_centroid((0, -0.5, 0))
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), inertia))
    upper = mb.mobilizer.Pin(matter.ground, rod)
    lower = mb.mobilizer.Pin(upper, rod, X_PF=(0, -1, 0))
    for function in functions_of_length:
        Potential(elements, matter.ground, (1.5, 0.2, 0), lower, (0, -0.5, 0), function)
    return system, elements, lower


def start(system):
    state = system.realize_topology()
    state.q, state.u = [0.5, -0.9], [0.3, 0.8]
    return state


def test_a_spring_is_the_parabola(close):
    k, x0 = 30.0, 0.4
    system, _, _ = pulled(mb.function.Polynomial([0.5 * k, -k * x0, 0.5 * k * x0**2]))
    springs, elements, lower = pulled()
    mb.force.TwoPointLinearSpring(elements, springs.matter.ground, (1.5, 0.2, 0), lower, (0, -0.5, 0), k, x0)
    found = []
    for one_system in (system, springs):
        state = start(one_system)
        one_system.realize(state)
        found.append([*state.u_dot, one_system.calc_energy(state)])
    close(np.array(found[0]), np.array(found[1]), 1e-12)


OF_LENGTH = [
    mb.function.Constant(2.0),
    mb.function.Linear([3.0, 1.0]),
    mb.function.Sinusoid(4.0, 1.5, 0.3),
    mb.function.Step(0.0, 5.0, 0.2, 2.9),
    mb.function.Spline(5, [0.5, 1.0, 1.5, 2.0, 3.0, 4.0], [1.0, 0.2, 0.0, 0.3, 2.0, 5.0]),
    Exponential(2.0, -1.1),
]


def test_a_force_of_any_function_of_a_length(close, derivative):
    """In one state its energy is conserved, in lanes it is the same, and its tangents are differences."""
    system, _, _ = pulled(*OF_LENGTH)
    state = start(system)
    assert not system.is_interpreted
    system.realize(state)
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.realize()
    close(ensemble.u_dot, np.tile(state.u_dot, (9, 1)), 1e-12)

    record, du = state.tree.new_record(with_tangents=True), np.array([0.7, -0.4])
    record.q[:, 0], record.u[:, 0] = state.q, state.u
    record.q.tangents[:, 0, 3] = du
    assert _realize.realize(record, _realize.advance.address(with_tangents=True), 0, validity.EVERYTHING) == _realize.DONE

    def moved(h):
        other = state.copy()
        other.q = state.q + h * du
        system.realize(other)
        return other.u_dot

    close(record.u_dot.tangents[:, 0, 3], derivative(moved), 1e-7)
    motion = mb.simulate(system, state, 2.0, accuracy=1e-9)
    assert motion.energy_drift < 1e-5


def test_a_function_that_only_python_knows():
    states = []
    for function in (OF_LENGTH[0], in_python(OF_LENGTH[0])):
        system, _, _ = pulled(function)
        states.append(start(system))
        system.realize(states[-1])
    assert np.array_equal(states[0].u_dot, states[1].u_dot)


# ---------------------------------------------------------------------------------------------------- a constraint


def errors(model, c):
    q = access.coordinate(model, c, 0, 0)
    access.put_position_error(model, c, 0, q - 0.25)
    access.put_coordinate_coefficient(model, c, 0, 0, 0, one(q))


def offsets(model, c):
    access.put_acceleration_offset(model, c, 0, zero(load(model.time, 0, 0)))


class AtAQuarter(mb.Constraint):
    routine = access.by_address(errors, offsets)

    def __init__(self, body):
        super().__init__([], [body], equations=(1, 0, 0))


def test_a_constraint():
    system, _, lower = pulled(OF_LENGTH[0])
    AtAQuarter(lower)
    state = start(system)
    system.project(state)
    system.realize(state)
    assert not system.is_interpreted and state.q[1] == pytest.approx(0.25, abs=1e-8) and abs(state.u_dot[1]) < 1e-12


# ---------------------------------------------------------------------------------------------------- a measure


def multiply(model, i, out):
    n, left, right = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    for k in range(n):
        store(model.measure_values, out + k, 0, measures.result(model, left + k) * measures.result(model, right + k))


class Product(mb.Measure):
    operation = measures.by_address(multiply)

    def __init__(self, subsystem, left, right):
        self.left, self.right = left, right
        super().__init__(subsystem, left.shape)

    def operands(self):
        return self.left, self.right

    def _calc(self, state, deriv_order):
        return self.left.get_value(state) * self.right.get_value(state)

    def depends_on(self, deriv_order):
        return max(self.left.depends_on(0), self.right.depends_on(0))

    def write_value(self, program, order):
        n = self.default.size
        return program.call(self.operation, n, program.value_of(self.left), program.value_of(self.right), results=n)


class InPython(Product):
    def _calc(self, state, deriv_order):
        return super()._calc(state, deriv_order)


def test_a_measure(close):
    found = []
    for kind in (Product, InPython):
        system, _, lower = pulled(OF_LENGTH[0])
        matter = system.matter
        place = mb.measure.StationLocation(matter, lower, (0, -1, 0))
        product = kind(matter, place, place)
        integral, most = mb.measure.Integrate(matter, product), mb.measure.Maximum(matter, product)
        state = start(system)
        assert system.is_interpreted == (kind is InPython)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.01))
        stepper.initialize(state)
        stepper.step_to(0.5)
        found.append(np.concatenate([integral.get_value(stepper.state), most.get_value(stepper.state)]))
    close(found[0], found[1], 1e-12)


# ---------------------------------------------------------------------------------------------------- a witness


def look(model, i, n):
    a, b = model.witness_integers[i], model.witness_integers[i + 1]
    value = load(model.q, a, 0) + load(model.q, b, 0) - witnesses.number(model, n)
    return value, load(model.q_dot, a, 0) + load(model.q_dot, b, 0)


class Together(mb.event.Witness):
    """The sum of two coordinates, above a value."""

    required_stage = mb.Stage.VELOCITY
    has_rate = True
    routine = witnesses.by_address(look)
    asked = 0

    def __init__(self, value):
        self.value = value

    def pack(self, state):
        return [0, 1], [self.value]

    def calc_value(self, state):
        type(self).asked += 1
        return state.q[0] + state.q[1] - self.value

    def calc_rate(self, state):
        return float(np.sum(state.q_dot))


class AskedOnly(Together):
    def calc_value(self, state):
        return super().calc_value(state)


def test_a_witness():
    ends, asked = [], []
    for kind in (Together, AskedOnly):
        system, _, _ = pulled(OF_LENGTH[2])
        system.add_event_handler(mb.event.StopWhen(kind(0.4)))
        state = start(system)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, max_step_size=0.005))
        stepper.initialize(state)
        kind.asked = 0
        while stepper.step_to(20.0) != mb.StepStatus.END_OF_SIMULATION:
            pass
        ends.append(stepper.state.time)
        asked.append(kind.asked)
        assert stepper.state.q.sum() == pytest.approx(0.4, abs=1e-5)
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
    assert asked[0] < 0.5 * asked[1]
