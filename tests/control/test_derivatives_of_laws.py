"""Derivatives through laws of controllers, against differences extrapolated to a step of zero (Richardson)."""

import itertools
import math
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import mobod as mb
from mobod.algebra.dual_array import DualArray, NotDifferentiable
from mobod.algebra.record import DualRows
from mobod.control._differentiated import Differentiated
from mobod.control._traced import routine_with_tangents
from mobod.linear._closed_loop import Laws
from mobod.system.forward_sensitivities import Variations

GAINS = np.array([[1.0, 2.0], [3.0, 4.0]])


def richardson(f, h=1e-3):
    """df/dh at 0, of an error that falls with the eighth power of h."""
    rows = [(np.asarray(f(s)) - f(-s)) / (2.0 * s) for s in (h, h / 2, h / 4, h / 8)]
    for j in range(1, 4):
        rows = [(4.0**j * fine - rough) / (4.0**j - 1.0) for rough, fine in itertools.pairwise(rows)]
    return rows[0]


def helper(x):
    return math.sin(x) + np.cos(x) ** 2


def elementary(t, q, u, M, memory, which):
    a = np.zeros(3)
    for i in range(3):
        memory[i] += 0.1 * q[i] * u[i]
        a[i] = helper(q[i]) + memory[i] ** 2
    a[:2] += GAINS @ q[:2]
    a[2] -= np.hypot(q[0], u[0]) + math.pow(abs(q[1]), 1.5) + np.arctan(u[0]) + np.remainder(u[1], 0.7) + math.floor(3.0 * u[1])
    e = a + max(q[0], q[1]) + abs(u[2]) + float(q[2]) ** 3 + np.sqrt(q @ q) + math.atan2(q[0], u[1])
    e += np.where(q > 0, e * 2, e - u) + np.maximum(q, u) + np.minimum(u, 0.1) + np.exp(-q) * np.tanh(u) / (1 + q * q)
    if q[0] > -9.0 and t > -1:
        e[0] += mb.algebra.sin(q[0]) + mb.algebra.sqrt(abs(q[1])) + mb.algebra.where(q[0] > u[0], q[0], u[0])
    return np.clip(e, [-40.0, -40.0, 9.0], 300.0)[which]


def matrices(q, u, M):
    x = np.linalg.solve(M, q) + mb.control.solve(M, u) + np.linalg.inv(M)[0, 1] + np.linalg.cholesky(M)[1, 0]
    x += np.array([[q[0], q[1]], [u[0], 2.0]]).sum() + np.linalg.det(M) + np.linalg.pinv(M[:, :2]).sum() + np.linalg.norm(q)
    x += np.outer(q, u)[1] + np.cross(q, u) + np.concatenate((q[:1], u[1:])) + np.sort(q) + M.max() + q.min() + np.prod(q)
    x += np.interp(q[0], np.array([-2.0, 0, 1, 3]), np.array([1.0, 2, 5, 5])) + np.sum(M * M, axis=0) + q.dot(M.T)
    x += np.argmax(q)
    rows = np.empty((3, 1))
    rows.reshape(-1)[1:] = (np.ones_like(q) * u)[1:]
    rows[0, 0] = np.trace(M) + np.diag(M).mean() + M.ravel()[2:5].sum()
    return x + rows[:, 0] + np.vstack((q, u)).T[:, 1] + np.kron(q, u)[2:5] + np.asarray(q).copy() * np.zeros(3)


@pytest.mark.parametrize("law", [elementary, matrices])
def test_laws_in_numpy_take_tangents(law):
    rng = np.random.default_rng(5)  # kinks are far
    q, u, memory, M = *rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    M = M @ M.T + 3.0 * np.eye(3)
    by = [rng.normal(size=(5, *x.shape)) for x in (q, u, M, memory)]
    by[2] += by[2].transpose(0, 2, 1)  # so that M remains symmetric
    given = [DualArray(x.copy(), tangents.copy()) for x, tangents in zip((q, u, M, memory), by, strict=True)]
    more = (np.array([0, 2, 1]),) if law is elementary else ()

    def called(q, u, M, memory):
        return law(0.3, q, u, M, memory, *more) if more else law(q, u, M)

    arguments = (0.3, *given, *more) if more else given[:3]
    value, tangents = Differentiated(law)(arguments, 5)

    def at(k, h):
        moved = [x + h * one[k] for x, one in zip((q, u, M, memory), by, strict=True)]
        return np.concatenate([called(*moved), moved[3]])

    expected = np.array([richardson(lambda h, k=k: at(k, h)) for k in range(5)])
    np.testing.assert_allclose(value, called(q, u, M, memory.copy()), rtol=1e-14)
    found = np.hstack([tangents, given[3].tangents])
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def adds_to_floats(q):
    found = GAINS[0] * 1.0
    found += q[:2]
    return found


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (lambda q: np.linalg.eigvals(np.outer(q, q)), "eigvals"),
        (lambda q: np.add.reduce(q), "add.reduce"),
        (lambda q: np.sqrt(q - 0.2), "infinite"),
        (lambda q: math.erf(q[0]), "taken as a float"),
        (adds_to_floats, "into an array of floats"),
        (lambda q: q[3], "out of bounds"),
    ],
)  # fmt: skip
def test_no_tangent_is_lost_in_silence(law, why):
    with pytest.raises(NotDifferentiable, match=why):
        Differentiated(law)([DualArray([0.3, 0.2, 0.4], np.eye(3))], 3)


def everything(t, q, u, M, bias, gravity, X, V, J, JDot_u, r, which, parameters, memory):
    """An operational-space law with a filter, an integral, a late sensor with noise, and references."""
    memory[0] = 0.9 * memory[0] + u @ M @ u
    memory[1] += X[0, 3] * V[2]
    inertia = J @ mb.control.solve(M, J.T) + np.eye(6)
    a = np.linalg.solve(inertia, V * parameters[0] - JDot_u + 0.1 * memory[0])
    e = J.T @ a + bias - gravity + r[0, 0] * u - parameters[1] * np.sin(u) + memory[1]
    return e[which]


def test_runs_through_samples(make):
    """On a random tree with a quaternion: by an initial speed, a mass, a frame, and the law's parameters."""
    kinds = [getattr(mb.mobilizer, name) for name in ("Ball", "Pin", "Universal", "Cylinder")]
    model = make.tree(kinds=kinds, chain=True)
    system, forces, body, station = model.system, model.forces, model.bodies[-1], make.vector()
    own = mb.control.Custom(
        forces,
        everything,
        sample_time=0.01,
        parameters=[3.0, 4.0],
        memory=[0.1, 0.2],
        limits=(-500, 500),
        inputs={
            "X": mb.control.Pose(body, station),
            "V": mb.control.Sensor(mb.control.Velocity(body, station), delay=0.01, noise=0.1, seed=3),
            "J": mb.control.Jacobian(body, station),
            "JDot_u": mb.control.JacobianBias(body, station),
            "r": mb.control.Reference([mb.function.Sinusoid(2.0, 3.0, 0.1)]),
        },
        name="own",
    )
    state = system.realize_topology()
    state.q, state.u = state.q + make.vector(len(state.q), 0.3), make.vector(len(state.u))
    system.normalize_quaternions(state)
    system.realize(state, mb.Stage.INSTANCE)
    m = body.get_body_mass_properties(state)  # with room for another mass
    body.set_body_mass_properties(state, mb.MassProperties(m.mass, m.com, np.asarray(m.inertia) + 0.1 * np.eye(3)))
    wanted = ["own.parameters", f"{body.name}.mass", f"{body.name}.outboard_frame", "u"]

    def end(other, **more):
        integrator = mb.integrator.RungeKutta2(system, fixed_step_size=0.005)
        return mb.simulate(system, other, 0.03, integrator=integrator, report_interval=0.03, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = end(state, sensitivities=wanted)
    found = np.vstack([run.sensitivities.of_q[-1], run.sensitivities.u[-1]])

    system.realize(state, mb.Stage.INSTANCE)

    def at(k, h):
        other = state.copy()
        if k < 2:
            own.set_parameters(other, own.get_parameters(other) + h * np.eye(2)[k])
        elif k == 2:
            m = body.get_body_mass_properties(other)
            body.set_body_mass_properties(other, mb.MassProperties(m.mass + h, m.com, m.inertia))
        elif k == 7:
            X = body.get_outboard_frame(other)
            body.set_outboard_frame(other, mb.Transform(X.R, np.add(X.p, (0, h, 0))))
        else:
            other.u = state.u + h * np.eye(len(state.u))[k - 9]
        last = end(other)
        return np.concatenate([last.q[-1], last.u[-1]])

    for k in (0, 1, 2, 7, 10):
        expected = richardson(lambda h, k=k: at(k, h), 1e-2)
        np.testing.assert_allclose(found[:, k], expected, atol=1e-7 * max(1.0, np.abs(found).max()), err_msg=str(k))


def straight(t, q, u, M, memory, which):
    """Functions, writes and comparisons that compiled steps differentiate."""
    a = np.zeros(3)
    for i in range(3):
        memory[i] += 0.1 * q[i] * u[i]
        a[i] = helper(q[i]) + memory[i] ** 2 - 0.5**2
    a[:2] += GAINS @ q[:2]
    a[2] -= math.pow(abs(q[1]), 1.5) + np.arctan(u[0]) / 3.0
    e = a + max(q[0], q[1]) + abs(u[2]) + float(q[2]) ** 3 + math.sqrt(q @ q) + math.atan2(q[0], u[1])
    e += np.maximum(q, u) + np.minimum(u, 0.1) + np.exp(-q) * np.tanh(u) / (1 + q * q) + mb.control.solve(M, u)
    e *= np.where(q[:1] > 0, 2.0, 1.0)
    if not (q[0] > u[0] or t > 1.0) or u[1] <= 0.2:
        e = np.array([e[0], 1.0, q.sum()]) + np.concatenate((q[:1], u[1:]))
    return np.clip(e, [-40.0, -40.0, 0.3], 300.0)[which]


def wandering(t, q, u, M, memory, which):
    """Loops, places and lists that depend on what the law is given."""
    x, count = q[0], 0
    while x > 0.1 and count < 2:
        x, count = 0.5 * x, count + 1
    if abs(q[1]) > 0.8:
        memory[0] = q[1]
    large = [y for y in u[:2] if y > 0.0]
    e = np.array([x * count, memory[0] ** 2, sum(large) * u[2]])
    e[0 if u[2] > q[2] else 1] += len(large) * q[2]
    return e


@pytest.mark.parametrize("law", [straight, wandering])
def test_laws_written_as_straight_lines_have_python_s_tangents(law, rng):
    """Along all branches; of numbers of any scalar: here Duals of Python's."""
    which, n = np.array([0, 2, 1]), 8
    sizes = {"t": (), "q": (3,), "u": (3,), "M": (3, 3), "memory": (3,)}
    places, first = {"which": (5, (3,))}, 8
    for name, shape in sizes.items():
        places[name] = first, shape
        first += math.prod(shape)
    names = ("t", "q", "u", "M", "memory", "which")
    made = routine_with_tangents(law, names, places, which, 3)
    for _ in range(20):
        model = SimpleNamespace(time=DualRows.zeros(1), control_work=DualRows.zeros(first))
        values, tangents = rng.normal(size=first), rng.normal(size=(first, n))
        tangents[places["t"][0]] = 0.0
        at = slice(places["M"][0], places["M"][0] + 9)
        values[at] += 8.0 * np.eye(3).ravel()
        model.control_work.values[:, 0], model.control_work.tangents[:, 0] = values, tangents
        given = {}
        for name, shape in sizes.items():
            rows = slice(places[name][0], places[name][0] + math.prod(shape))
            given[name] = DualArray(values[rows].reshape(shape), tangents[rows].T.reshape(n, *shape))
        given["which"] = which
        value, by = Differentiated(law)([given[name] for name in names], n)
        made.python(model, 0, 0)
        rows = [2, 3, 4, *range(places["memory"][0], places["memory"][0] + 3)]
        values, tangents = np.hstack([value, given["memory"].value]), np.hstack([by, given["memory"].tangents])
        np.testing.assert_allclose(model.control_work.values[rows, 0], values, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(model.control_work.tangents[rows, 0].T, tangents, rtol=1e-12, atol=1e-12)
    without = lambda q: np.linalg.eigvals(np.outer(q, q))  # noqa: E731
    for other in (without, lambda q: math.erf(q[0]), lambda q: q[int(q[0])], lambda q: 2.0**q):
        assert routine_with_tangents(other, ("q",), places, which, 3) is None


def without_a_rule(q):
    efforts = -q
    efforts[0] = -math.erf(q[0])
    return efforts


def test_laws_without_a_rule_take_differences_and_say_so(monkeypatch):
    """Of the law alone, no state is moved and realized. And systems with controllers can be pickled after that."""
    for whole in (Laws, Variations):
        for name in ("_differences", "_differences_of_samples"):
            monkeypatch.setattr(whole, name, None, raising=False)
    system, _ = mb.examples.double_pendulum.build()
    mb.control.Custom(system.forces, without_a_rule, sample_time=0.01, name="erf")
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (0.2, 0.1)
    system.realize(state)
    model = mb.linearize(system, state, outputs=["u_dot"], closed_loop=True)
    assert list(model.by_differences) == ["the law of erf"]
    M_inv = system.matter.calc_m_inv(state)
    held = mb.linearize(system, state)
    by_law = -M_inv @ np.diag([2.0 / math.sqrt(math.pi) * math.exp(-0.09), 1.0])
    at_efforts = mb.linearize(system, _with_efforts(system, state), outputs=["u_dot"])
    np.testing.assert_allclose(model.A[2:, :2] - at_efforts.A[2:, :2], by_law, atol=1e-9)
    assert not np.allclose(held.A[2:, :2], at_efforts.A[2:, :2], atol=1e-6)
    with pytest.warns(UserWarning, match="the law of 'erf' are differences.*taken as a float"):
        run = mb.simulate(system, state, 0.02, report_interval=0.02, sensitivities=["q"], integrator=_fixed(system))

    def end(h):
        other = state.copy()
        other.q = state.q + h * np.array([1.0, 0.0])
        return mb.simulate(system, other, 0.02, report_interval=0.02, integrator=_fixed(system)).q[-1]

    np.testing.assert_allclose(run.sensitivities.q[-1][:, 0], richardson(end, 1e-2), atol=1e-9)
    assert pickle.loads(pickle.dumps(system)).forces.get_num_forces() == system.forces.get_num_forces()


def _fixed(system):
    return mb.integrator.RungeKutta2(system, fixed_step_size=0.01)


def _with_efforts(system, state):
    other = state.copy()
    system.forces.get_force(system.forces.get_num_forces() - 1).sample(other)
    system.realize(other)
    return other


def test_derivatives_of_many_beside_what_controllers_remember(rng):
    """Each has its own integral of the error, by which its torque is; eight at a time they are those of the state alone."""
    system, _ = mb.examples.double_pendulum.build()
    mb.control.PID(system.forces, [(system.matter.bodies["lower"], 0)], kp=20.0, ki=50.0, kd=2.0, sample_time=0.01)
    many = mb.Ensemble(system, 9, state=system.realize_topology())
    many.q, many.u = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    many.step(0.055, fixed_step_size=1e-3)
    many.realize()
    found = many.calc_forward_dynamics_derivatives()
    for i in range(9):
        state = many.get_state(i)
        system.realize(state)
        assert np.array_equal(many.u_dot[i], state.u_dot)
        one = system.calc_forward_dynamics_derivatives(state)
        np.testing.assert_allclose(found.q[i], one.q, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.u[i], one.u, rtol=1e-12, atol=1e-12)
