"""The impulses of random problems fulfil Coulomb's law, whatever the rows, and momentum is that of the mass matrix."""

import numpy as np
import pytest
from touching_models import empty, solid

import mobod as mb
from mobod.unilateral.problem import ContactRows, Problem, constraints_of


def tree_of(rng, bodies, *, driven=0, locked=False):
    """A random tree of bodies, some of them with a speed that a constraint holds, at a random state."""
    system, matter = empty()
    every, kinds = [matter.ground], [mb.mobilizer.Pin, mb.mobilizer.Ball, mb.mobilizer.Slider, mb.mobilizer.Universal]
    for _ in range(bodies):
        kind, on = kinds[int(rng.integers(len(kinds)))], every[int(rng.integers(len(every)))]
        every.append(kind(on, solid(rng.uniform(0.5, 2.0)), X_PF=mb.Transform(rng.normal(size=3))))
    for body in every[1 : 1 + driven]:
        mb.constraint.ConstantSpeed(body, 0, 0.0)
    state = system.realize_topology()
    if locked:
        every[-1].lock(state)
    state.u = rng.normal(size=len(state.u))
    system.project(state)
    system.realize(state)
    return system, state


def contacts(J, sizes, friction):
    """Rows as contacts, of which no more is known."""
    n, starts = len(sizes), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    o = np.zeros(n)
    return ContactRows(o, J, starts, np.asarray(friction, float), o, o, [f"contact {k}" for k in range(n)])


def check_laws(problem, gamma, v, friction, frictions):
    near = 1e-6 * max(1.0, abs(gamma).max())
    for k, mu in enumerate(friction):
        own = slice(int(problem.starts[k]), int(problem.starts[k + 1]))
        (g, *f), (s, *t) = gamma[own], v[own]
        assert g >= -near and s >= -near and abs(g * s) < near
        assert np.hypot(*f) <= mu * g + near if f else True
        if f and np.hypot(*t) > 1e-4 and g > 1e-4:  # friction opposes the slip, as large as it can be
            assert np.asarray(f) == pytest.approx(-mu * g * np.asarray(t) / np.hypot(*t), abs=1e-3 * max(1.0, g))
    ties = slice(problem.contact_rows, problem.contact_rows + len(problem.bilateral.offset))
    assert abs(v[ties]).max(initial=0.0) < near
    for k, (_, _, most) in enumerate(frictions, len(problem.names) - len(frictions)):
        own = slice(int(problem.starts[k]), int(problem.starts[k + 1]))
        size = np.linalg.norm(gamma[own])
        assert size <= most + near
        if size < most - near:
            assert abs(v[own]).max() < near
        elif np.linalg.norm(v[own]) > 1e-4:
            assert gamma[own] == pytest.approx(-most * v[own] / np.linalg.norm(v[own]), abs=1e-3 * max(1.0, most))


@pytest.mark.parametrize("redundant", [False, True])
def test_random_rows_of_every_kind(rng, redundant):
    solved = 0
    for number in range(20):
        system, state = tree_of(rng, 2 if redundant else 9, driven=number % 3, locked=number % 4 == 0)
        nu, n = len(state.u), int(rng.integers(1, 4))
        sizes = [int(rng.choice([1, 3])) for _ in range(n)]
        friction = np.where(np.array(sizes) == 3, rng.uniform(0.0, 0.7, n), 0.0)
        frictions = [(f"friction {k}", rng.normal(size=(1 + k, nu)), float(rng.uniform(0.0, 0.3))) for k in range(number % 3)]
        problem = Problem(state, contacts(rng.normal(size=(sum(sizes), nu)), sizes, friction), frictions)
        Minv = system.get_matter_subsystem().calc_m_inv(state)
        assert problem.MinvJT == pytest.approx(Minv @ problem.J.T, abs=1e-9 * abs(Minv).max())
        u = rng.normal(size=nu)
        free = np.array([abs(problem.MinvJT[i]).max() > 0.0 for i in range(nu)])  # what is locked has no speed
        b = problem.J @ np.where(free, u, 0.0)
        gamma = np.zeros(len(b))
        try:
            v = problem.solve(b, gamma)
        except mb.ConvergenceError:  # no law says that there is a solution, where rows contradict each other
            assert redundant
            continue
        solved += 1
        assert v == pytest.approx(b + problem.J @ Minv @ problem.J.T @ gamma, abs=1e-8 * max(1.0, abs(b).max()))
        check_laws(problem, gamma, v, friction, frictions)
        assert problem.residual <= (1e-6 if redundant else 1e-9) * abs(b).max()
    assert solved > 12


def test_what_is_left_out_of_a_problem_has_no_impulse(rng):
    _, state = tree_of(rng, 6)
    problem = Problem(state, contacts(rng.normal(size=(6, len(state.u))), [3, 3], [0.3, 0.3]))
    b = problem.J @ rng.normal(size=len(state.u))
    b[[0, 3]] = -1.0
    gamma = np.zeros(6)
    v = problem.solve(b, gamma, np.array([True, False]))
    assert gamma[0] > 0.0 and not gamma[3:].any() and v[0] == pytest.approx(0.0, abs=1e-9)
    v = problem.solve(b, gamma)
    check_laws(problem, gamma, v, [0.3, 0.3], [])


def test_what_friction_presses_together_sticks(rng):
    """Painleve's rod: as it slides it can only be driven deeper, so that an impulse stops it."""
    _, state = tree_of(rng, 6)
    A = np.linalg.cholesky(np.array([[1.6, -1.2], [-1.2, 3.4]]))
    L = np.linalg.cholesky(state.system.get_matter_subsystem().calc_m(state))  # of which J's rows have this W
    J = np.zeros((3, len(state.u)))
    J[[0, 1], :2] = A
    problem = Problem(state, contacts(J @ L.T, [3], [1.34]))
    assert problem.W[:2, :2] == pytest.approx(A @ A.T, abs=1e-10)
    for speed in (1.0, -1.0):
        gamma = np.zeros(3)
        v = problem.solve(np.array([-1e-3, speed, 0.0]), gamma)
        check_laws(problem, gamma, v, [1.34], [])
        assert (abs(v[1]) < 1e-8) == (speed < 0.0)


def test_rows_that_contradict_each_other_by_rounding_keep_their_targets(rng):
    """A point whose three rows are of two speeds is to rise by rounding and to stick, beside one that is to part."""
    _, state = tree_of(rng, 6)
    J = np.zeros((6, len(state.u)))
    J[[0, 1], [0, 1]], J[2, :2], J[[3, 4, 5], [2, 3, 4]] = 1.0, (0.5, 0.7), 1.0
    L = np.linalg.cholesky(state.system.get_matter_subsystem().calc_m(state))
    problem = Problem(state, contacts(J @ L.T, [3, 3], [0.5, 0.3]))
    b, gamma = np.array([-1.0, 0.1, -0.43, -1.0, 0.5, 0.0]), np.zeros(6)
    v = problem.solve(b, gamma, targets=np.array([3e-9, 0.1]))
    assert v == pytest.approx([0.0, 0.0, 0.0, 0.1, 0.17, 0.0], abs=1e-8)  # it slides by 0.5 less 0.3 times 1.1
    assert gamma[3:] == pytest.approx([1.1, -0.33, 0.0], abs=1e-8)
    assert problem.counts[0] < 20 and problem.counts[1] < 100


def test_impacts_of_different_restitution_bring_no_energy(rng):
    """Three contacts that would have 1.31 of their energy after they expand; beside them is one that knows nothing of them."""
    _, state = tree_of(rng, 6)
    J = np.zeros((4, len(state.u)))
    J[:3, :3] = np.linalg.cholesky([[1.0, -0.9, 0.7], [-0.9, 1.0, -0.8], [0.7, -0.8, 1.0]])
    J[3, 3] = 1.0
    L = np.linalg.cholesky(state.system.get_matter_subsystem().calc_m(state))
    rows = contacts(J @ L.T, [1] * 4, [0.0] * 4)._replace(restitution=np.array([1.0, 0.5, 1.0, 0.8]))
    problem = Problem(state, rows)
    before = np.array([-3.0, -2.0, -1.0, -1.0])
    v, total = problem.strike(before, np.ones(4, bool), 1e-12)
    assert v == pytest.approx(before + problem.W @ total, abs=1e-9) and v.min() > -1e-9 and total.min() >= 0.0
    assert v[3] == pytest.approx(0.8, abs=1e-9)
    energy = np.linalg.inv(problem.W[:3, :3])
    assert v[:3] @ energy @ v[:3] <= before[:3] @ energy @ before[:3]


def test_rounding_that_an_impact_leaves_is_not_struck_again():
    """What friction holds altogether does not bounce; of speeds of 1e-14 that approach no impulses were found, in 1 of 100."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        system, matter = empty((0.0, 0.0, 0.0))
        angle, turn = rng.uniform(0.1, 0.5), mb.Rotation.about_axis(rng.normal(), rng.normal(size=3))
        base = mb.mobilizer.Slider(matter.ground, solid())
        mass = mb.mobilizer.Slider(base, solid(), X_PF=mb.Transform(turn))
        n = np.sin(angle), 0.0, np.cos(angle)
        mb.contact.PointPlane(matter.ground, n, 0.0, mass, (0, 0, 0), 0.5, static_friction=0.9)
        state = system.realize_topology()
        state.u = rng.normal(size=2)
        system.realize(state, mb.Stage.VELOCITY)
        problem = Problem(state, constraints_of(state))
        v, _ = problem.strike(problem.J @ state.u, np.ones(1, bool), 0.0)
        assert v[0] > -1e-8
