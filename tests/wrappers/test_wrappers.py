"""Dynamics in JAX, PyTorch and CasADi: values, and Jacobians against differences; each where its package is installed."""

from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mobod as mb
from mobod.derivative.analytic import is_swept
from mobod.ensemble.array_dynamics import ForwardDynamics, InverseDynamics

KINDS = [ForwardDynamics, InverseDynamics]
Jacobians = namedtuple("Jacobians", "value q u third")


@pytest.fixture
def arm():
    """A pin and a ball, so that q has a number more than u, with a spring or a welded body; constrained if asked."""

    def build(constrained=False, welded=False):
        system = mb.MultibodySystem("arm")
        matter = mb.SimbodyMatterSubsystem(system)
        forces = mb.GeneralForceSubsystem(system)
        mb.force.Gravity(forces, matter, (0, -9.8, 0))
        link = mb.body.Rigid(mb.MassProperties(1.3, (0, 0.1, 0.2), mb.Inertia(0.5, 0.6, 0.7, 0.01, 0.02, 0.03)))
        pin = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)), name="pin")
        ball = mb.mobilizer.Ball(pin, link, X_BM=mb.Transform((0, 0.5, 0)), name="ball")
        if welded:  # gravity is Ground's acceleration, and welds are lumped
            mb.mobilizer.Weld(ball, link, X_PF=mb.Transform((0.3, 0, 0.1)))
        else:
            mb.force.MobilityLinearSpring(forces, pin, 0, 3.0, 0.1)
        if constrained:
            mb.constraint.Rod(matter.ground, (0.5, -1, 0), ball, (0, -0.5, 0), 1.0)
        return system

    return build


def points(rng, n):
    q = rng.normal(size=(n, 5))
    q[:, 1:] /= np.linalg.norm(q[:, 1:], axis=1)[:, None]
    return q, rng.normal(size=(n, 4)), rng.normal(size=(n, 4))


def jacobians(core, *given):
    return Jacobians(core.value(*given), *core.derivatives(*given))


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_jacobians_are_differences(kind, constrained, arm, rng, close, derivative):
    core = kind(arm(constrained))
    given = points(rng, 3)
    found = jacobians(core, *given)
    for i, (name, size) in enumerate([("q", 5), ("u", 4), ("third", 4)]):
        change = rng.normal(size=size)
        if name == "q":  # what does not turn a quaternion is left out
            change[1:] -= given[0][0, 1:] * (given[0][0, 1:] @ change[1:])

        def along(h, i=i, change=change):
            moved = [one[:1].copy() for one in given]
            moved[i] += h * change
            if i == 0:
                moved[0][:, 1:] /= np.linalg.norm(moved[0][:, 1:])
            return core.value(*moved)[0]

        close(getattr(found, name)[0] @ change, derivative(along), 1e-7)


def test_threads_take_turns(arm, rng):
    """As JAX's do within one call; each has ensembles of its own."""
    core, given = ForwardDynamics(arm()), points(rng, 3)
    value, parts = core.value(*given), core.derivatives(*given)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            for call, known in ((core.value, [value]), (core.derivatives, parts)):
                found = pool.submit(call, *given), pool.submit(call, *given)
                for one in (call(*given), *(each.result() for each in found)):
                    assert all(map(np.array_equal, known, [one] if call == core.value else one))


def test_a_quaternion_without_length_leaves_the_other_states_theirs(arm, rng):
    core, given, weights = ForwardDynamics(arm()), points(rng, 3), rng.normal(size=(3, 1, 4))
    known = [core.value(*given), *core.derivatives(*given), core.second(*given, weights)]
    given[0][1, 1:] = 0.0
    found = [core.value(*given), *core.derivatives(*given), core.second(*given, weights)]
    assert all(
        np.array_equal(one[[0, 2]], other[[0, 2]]) and np.isnan(one[1]).any() for one, other in zip(found, known, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_jax_differentiates_and_batches(kind, arm, rng, close):
    jax = pytest.importorskip("jax")
    import mobod.jax

    jax.config.update("jax_enable_x64", True)
    system = arm()
    f = (mobod.jax.forward_dynamics if kind is ForwardDynamics else mobod.jax.inverse_dynamics)(system)
    core, given = kind(system), points(rng, 5)
    expected = jacobians(core, *given)
    one = [row[0] for row in given]
    close(jax.jit(f)(*one), expected.value[0], 1e-12)
    for i in range(3):
        close(jax.jacobian(f, i)(*one), expected[1 + i][0], 1e-12)
        close(jax.vmap(jax.jacfwd(f, i))(*given), expected[1 + i], 1e-12)
    close(jax.vmap(f, (0, None, None))(given[0], *one[1:]), core.value(given[0], *(np.tile(x, (5, 1)) for x in one[1:])), 1e-12)
    gradient = jax.grad(lambda third: (f(given[0], given[1], third) ** 2).sum())(given[2])
    close(gradient, 2.0 * np.einsum("ni,nij->nj", expected.value, expected.third), 1e-12)
    with pytest.raises(ValueError, match="q has to have"):
        f(one[1], one[1], one[2])
    H, w, v = core.second(*given), rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    hessians = jax.vmap(jax.hessian(lambda u, q, third, w: w @ f(q, u, third)))(given[1], given[0], given[2], w)
    close(hessians, np.einsum("ni,nijk->njk", w, H)[:, 5:9, 5:9], 1e-12)

    def weighted(u):
        return (w * f(given[0], u, given[2])).sum()

    product = jax.jvp(jax.grad(weighted), (given[1],), (v,))[1]  # of all states at once
    close(product, np.einsum("ni,nijk,nk->nj", w, H[:, :, 5:9, 5:9], v), 1e-12)
    close(jax.grad(lambda u: (jax.grad(weighted)(u) * v).sum())(given[1]), product, 1e-12)

    def after_steps(u):  # a loop that JAX takes apart, its callbacks on threads of its own
        return (jax.lax.scan(lambda x, _: (x + 0.01 * f(one[0], x, one[2]), None), u, None, 3)[0] ** 2).sum()

    slope, u, h = jax.jit(jax.grad(after_steps)), one[1], 1e-5
    product = jax.jit(lambda u: jax.jvp(jax.grad(after_steps), (u,), (v[0],))[1])(u)
    close(product, (slope(u + h * v[0]) - slope(u - h * v[0])) / (2 * h), 1e-7)
    with pytest.raises(NotImplementedError, match="no third ones"):
        jax.jacfwd(jax.hessian(lambda u: f(one[0], u, one[2]).sum()))(one[1])


# of PyTorch's own: what its forward mode imports uses what is deprecated in it
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*torch.jit:FutureWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_torch_differentiates_and_batches(kind, arm, rng, close):
    torch = pytest.importorskip("torch")
    import mobod.torch

    system = arm()
    f = (mobod.torch.forward_dynamics if kind is ForwardDynamics else mobod.torch.inverse_dynamics)(system)
    given = points(rng, 4)
    expected = jacobians(kind(system), *given)
    tensors = [torch.tensor(one, requires_grad=True) for one in given]
    value = f(*tensors)
    close(value.detach().numpy(), expected.value, 1e-12)
    value.pow(2).sum().backward()
    for tensor, J in zip(tensors, expected[1:], strict=True):
        close(tensor.grad.numpy(), 2.0 * np.einsum("ni,nij->nj", expected.value, J), 1e-12)
    by = torch.autograd.functional.jacobian(lambda u: f(tensors[0][0], u, tensors[2][0]), tensors[1][0])
    close(by.numpy(), expected.u[0], 1e-12)
    plain = [torch.tensor(one) for one in given]
    for i in range(3):  # torch.func: forward, backward, and both of many
        for jacobian in (torch.func.jacrev, torch.func.jacfwd):
            close(torch.vmap(jacobian(f, i))(*plain).numpy(), expected[1 + i], 1e-12)
    rest = kind(system).value(given[0], np.tile(given[1][0], (4, 1)), np.tile(given[2][0], (4, 1)))
    close(torch.vmap(f, (0, None, None))(plain[0], plain[1][0], plain[2][0]).numpy(), rest, 1e-12)
    gradient = torch.func.grad(lambda third: f(plain[0], plain[1], third).pow(2).sum())(plain[2])
    close(gradient.numpy(), 2.0 * np.einsum("ni,nij->nj", expected.value, expected.third), 1e-12)
    with pytest.raises(ValueError, match="the third argument"):
        f(*tensors[:2], tensors[0])
    H, w = kind(system).second(*given), rng.normal(size=(4, 4))
    v = rng.normal(size=(4, 4))

    def weighted(u):
        return (torch.tensor(w) * f(plain[0], u, plain[2])).sum()

    by_u = np.einsum("ni,nijk->njk", w, H)[:, 5:9, 5:9]
    of_all = torch.autograd.functional.hessian(weighted, plain[1]).numpy()
    close(np.array([of_all[i, :, i] for i in range(4)]), by_u, 1e-12)
    product = torch.func.jvp(torch.func.grad(weighted), (plain[1],), (torch.tensor(v),))[1].numpy()
    close(product, np.einsum("njk,nk->nj", by_u, v), 1e-12)
    close(torch.autograd.functional.hvp(weighted, plain[1], torch.tensor(v))[1].numpy(), product, 1e-12)
    third = torch.func.jacfwd(torch.func.hessian(lambda u: f(plain[0][0], u, plain[2][0]).pow(2).sum()))
    with pytest.raises(NotImplementedError, match="no third ones"):  # not zeros
        third(plain[1][0])


@pytest.mark.parametrize("kind", KINDS)
def test_casadi_has_exact_jacobians(kind, arm, rng, close):
    casadi = pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out
    import mobod.casadi

    system = arm()
    f = (mobod.casadi.forward_dynamics if kind is ForwardDynamics else mobod.casadi.inverse_dynamics)(system)
    given = points(rng, 1)
    expected = jacobians(kind(system), *given)
    close(np.array(f(*(one[0] for one in given)))[:, 0], expected.value[0], 1e-12)
    symbols = [casadi.MX.sym(name, one.shape[1]) for name, one in zip("quw", given, strict=True)]
    value = f(*symbols)
    for symbol, J in zip(symbols, expected[1:], strict=True):
        by = casadi.Function("by", symbols, [casadi.jacobian(casadi.sin(value), symbol)])
        close(np.array(by(*(one[0] for one in given))), np.cos(expected.value[0])[:, None] * J[0], 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_casadi_maps_all_nodes_at_once_and_has_hessians(kind, arm, rng, close):
    """Values and sparse Jacobians of four nodes are those of each; Hessians, in expressions that CasADi takes apart itself."""
    casadi = pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out
    import mobod.casadi

    system, n = arm(), 4
    make = mobod.casadi.forward_dynamics if kind is ForwardDynamics else mobod.casadi.inverse_dynamics
    f = make(system, nodes=n)
    given = points(rng, n)
    expected = jacobians(kind(system), *given)
    symbols = [casadi.MX.sym(name, one.shape[1], n) for name, one in zip("quw", given, strict=True)]
    numbers = [one.T for one in given]
    value = f(*symbols)
    close(np.array(f(*numbers)).T, expected.value, 1e-12)
    for symbol, J in zip(symbols, expected[1:], strict=True):
        by = casadi.Function("by", symbols, [casadi.jacobian(value, symbol)])
        found = by(*numbers)
        assert found.nnz() == J.size
        for i in range(n):
            rows, columns = slice(4 * i, 4 * i + 4), slice(J.shape[2] * i, J.shape[2] * (i + 1))
            close(np.array(found)[rows, columns], J[i], 1e-12)
    weights = rng.normal(size=(4, n))
    whole = casadi.vertcat(*(casadi.vec(one) for one in symbols))
    total = casadi.sum1(casadi.sum2(weights * value**2))
    gradient = casadi.gradient(total, whole)
    hessian = casadi.Function("hessian", symbols, [casadi.jacobian(gradient, whole), gradient])
    H = np.array(hessian(*numbers)[0])
    change = [rng.normal(size=one.shape) for one in numbers]
    change[0][1:] -= numbers[0][1:] * np.sum(numbers[0][1:] * change[0][1:], axis=0)
    change[0][:] = 0.0  # along q, gradients leave out what changes a quaternion's length, and so do not bend as it does
    h = 1e-4
    ends = [np.array(hessian(*(a + s * h * b for a, b in zip(numbers, change, strict=True)))[1]) for s in (1, -1)]
    d = np.concatenate([one.ravel(order="F") for one in change])
    close(H @ d, ((ends[0] - ends[1]) / (2 * h))[:, 0], 1e-5)


def own_second_derivatives(system, point, direction):
    """`calc_forward_dynamics_second_derivatives` at (q, u, mobility forces), along displacements and u; and the rates of q."""
    with_forces = mb.force.DiscreteForces(system.forces, system.matter)
    state = system.realize_topology()
    state.q, state.u = point[0], direction[0]
    system.realize(state)
    rates, state.u = state.q_dot.copy(), point[1]
    with_forces.set_all_mobility_forces(state, point[2])
    system.realize(state)
    return system.calc_forward_dynamics_second_derivatives(state, q=direction[0], u=direction[1]), rates


@pytest.mark.parametrize("welded", [False, True])
def test_second_derivatives_are_the_systems_own(welded, arm, rng, close):
    """Of one state, along speeds and displacements, quaternions by their numbers: both are exact, but for 2e-13 of rounding."""
    system = arm(welded=welded)
    core, given, weights = ForwardDynamics(system), points(rng, 1), rng.normal(size=(2, 4))
    found = core.second(*given, weights[None])[0]
    along = rng.normal(size=(2, 4))
    exact, rates = own_second_derivatives(system, [one[0] for one in given], along)
    direction = np.concatenate([rates, along[1], np.zeros(4)])
    close((found @ direction)[:, 5:9], weights @ exact.u, 2e-13)
    close((found @ direction)[:, 9:], weights @ exact.mobility_forces, 2e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_one_kernel_has_second_derivatives_where_one_sweep_has_the_first(kind, make, close, derivative):
    """Of joints whose columns are constant, with springs and dampers, one locked: where the pattern says, as alone, exact.

    A stop at the first joint couples its q and u alone. Angles of many turns have no larger errors. Sums are of as many numbers
    as there are coordinates and weights: rounding stays below 1e-12.
    """
    m, n = mb.mobilizer, 9
    kinds, b = [m.Pin, m.Slider, m.Planar, m.Translation, m.Cylinder], []
    while not b or (type(b[0]) in kinds[:2]) != (kind is ForwardDynamics):  # of one coordinate, or of several
        model = make.tree(5, kinds, chain=True, direction=mb.Direction.FORWARD)
        b = model.bodies[1:]
    mb.force.MobilityPolynomialSpring(model.forces, b[1], 0, 3.0, -0.4, 0.7, 0.2)
    mb.force.MobilityPolynomialDamper(model.forces, b[2], 0, 0.7, 0.2, 0.4)
    mb.force.MobilityLinearStop(model.forces, b[0], 0, 2.0, 0.1, -0.1, 0.1)
    state = model.made().state
    if kind is ForwardDynamics:
        b[3].lock(state)
    core, nu = kind(model.system, state), len(state.u)
    given, weights = [make.rng.normal(size=(n, nu)) for _ in range(3)], make.rng.normal(size=(n, 2, nu))
    given[0][:, 0] = 0.2 + np.abs(given[0][:, 0])  # pushed by the stop
    given[1][:, b[3].u_slice(state)] *= kind is not ForwardDynamics
    assert is_swept(model.system, state)
    found = core.second(*given, weights)
    for k in range(3):
        along = make.rng.normal(size=nu)

        def slopes(h, k=k, along=along):
            moved = [one[:1] + h * along * (i == k) for i, one in enumerate(given)]
            return weights[0] @ np.concatenate(core.derivatives(*moved), axis=2)[0]

        close(found[0, :, :, k * nu : k * nu + nu] @ along, derivative(slopes), 1e-8)
    bent = core.pattern_of_second()
    assert np.abs(found[:, :, ~bent]).max() < 1e-13 * np.abs(found).max()
    assert np.array_equal(core.second(*(one[8:] for one in given), weights[8:])[0], found[8])
    first = b[0].get_num_u(state)  # of several coordinates nothing is left out
    assert bent[first:nu, first:nu].all()
    assert bent[:first, nu:].any(axis=0).tolist() == [k == 0 or (first > 1 and bent[first, nu + k]) for k in range(2 * nu)]
    given[0][:, [one.q_slice(state).start for one in b[2:] if type(one) in (m.Pin, m.Cylinder)]] += 200.0 * np.pi
    close(core.second(*given, weights), found, 1e-8)
    if kind is ForwardDynamics:
        b[3].unlock(state)
        core, along = kind(model.system, state), make.rng.normal(size=(2, nu))
        found = core.second(*given, weights)[0] @ np.concatenate([*along, np.zeros(nu)])
        exact, _ = own_second_derivatives(model.system, [one[0] for one in given], along)
        close(found, weights[0] @ np.hstack([exact.q, exact.u, exact.mobility_forces]), 1e-12)


def test_second_derivatives_of_many_states_come_in_pieces(arm, rng, monkeypatch):
    """Some columns at a time, where all would take too much memory; with weights of their own each state as alone."""
    core, given, weights = ForwardDynamics(arm(True)), points(rng, 9), rng.normal(size=(9, 2, 4))
    whole = core.second(*given, weights)
    for i in (0, 8):
        assert np.array_equal(whole[i], core.second(*(one[[i]] for one in given), weights[[i]])[0])
    sizes, ask = [], core._gradients
    monkeypatch.setattr(core, "_gradients", lambda x, weights: (sizes.append(len(x)), ask(x, weights))[1])
    monkeypatch.setattr("mobod.ensemble.second_differences._MOST", 2 * 9 * 48 * 4)
    assert np.array_equal(whole, core.second(*given, weights)) and sizes == [72, 72, 18]


def test_what_has_no_wrapper_is_refused(arm):
    with pytest.raises(TypeError, match="has to be a MultibodySystem"):
        ForwardDynamics(3)
    with pytest.raises(mb.TopologyError):
        ForwardDynamics(arm(), arm().realize_topology())
