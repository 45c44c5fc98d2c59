"""Plans by direct collocation: against closed forms, and what is said where there is none."""

import builtins
import itertools

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import mobod as mb
from mobod.optimal.collocate import SCHEMES

POINT = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1.0, 2.0, 2.5)))


@pytest.fixture
def with_ipopt():
    pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out


def mass(weight=0.0):
    """A unit mass on a line, upward where it has a weight."""
    system = mb.MultibodySystem("mass")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, POINT, name="mass")
    if weight:
        mb.force.UniformGravity(forces, matter, (-weight, 0, 0))
    return system, slider, system.realize_topology()


def squared(controls):
    return controls[0] ** 2


THERE = {"mass.q": 1.0, "mass.u": 0.0}


def test_numbers_of_elements_are_controls():
    """Pulled from 0 to 1 by where a spring of stiffness 4 is slack: with q = 3 t^2 - 2 t^3, at q + (6 - 12 t) / 4."""
    system, slider, _ = mass()
    mb.force.MobilityLinearSpring(system.forces, slider, 0, 4.0, 0.0, name="spring")
    bounds = {"spring.rest_value": (-9.0, 9.0)}
    plan = mb.collocate(
        system,
        system.realize_topology(),
        1.0,
        ["spring.rest_value"],
        cost=lambda q, controls: (4.0 * (controls[0] - q[0])) ** 2,
        end=THERE,
        bounds=bounds,
        scheme="hermite-simpson",
        intervals=5,
        solver="scipy",
    )
    t = plan.time
    np.testing.assert_allclose(plan.q[:, 0], 3 * t**2 - 2 * t**3, atol=1e-4)
    np.testing.assert_allclose(plan.quantities["controls"][:, 0], plan.q[:, 0] + (6 - 12 * t) / 4.0, atol=1e-2)
    assert plan.statistics["control_names"] == ["spring.rest_value"]
    assert np.isclose(plan.energy[0], 0.5 * 4.0 * plan.quantities["controls"][0, 0] ** 2, rtol=1e-6)
    for times, more in ((2, {}), (1, {"parameters": bounds})):
        with pytest.raises(mb.ModelError, match="is named twice"):
            mb.optimal.Phase(system, system.realize_topology(), 1.0, ["spring.rest_value"] * times, **more)


def test_numbers_of_constraints_and_motions_are_sought():
    """A udot of least squares takes the mass as a force would; an amplitude is what the end asks for, its start follows."""
    system, slider, _ = mass()
    mb.constraint.ConstantAcceleration(slider, 0, 0.0, name="drive")
    given = {"intervals": 5, "solver": "scipy"}
    bounds = {"drive.acceleration": (-9, 9)}
    state = system.realize_topology()
    plan = mb.collocate(system, state, 1.0, ["drive.acceleration"], cost=squared, end=THERE, bounds=bounds, **given)
    assert np.isclose(plan.statistics["cost"], 12.0)

    system, slider, _ = mass()
    motion = mb.motion.Sinusoid(slider, mb.Motion.Level.POSITION, 0.5, 2.0, 0.3)
    state = system.realize_topology()
    system.prescribe(state)
    sought = {"parameters": {"mass.motion.amplitude": (-3, 3)}}
    plan = mb.collocate(system, state, 0.4, [], end={"mass.q": 1.0}, **sought, **given)
    assert np.isclose(plan.statistics["parameters"]["mass.motion.amplitude"], 1.0 / np.sin(1.1), rtol=1e-6)
    np.testing.assert_allclose(plan.q[:, 0], np.sin(2 * plan.time + 0.3) / np.sin(1.1), atol=1e-5)
    with pytest.raises(mb.ModelError, match="amplitude' cannot be a control"):  # as q and u follow from it, too
        mb.optimal.Phase(system, state, 1.0, ["mass.motion.amplitude"])
    motion.disable(state)
    mb.optimal.Phase(system, state, 1.0, ["mass.motion.amplitude"])

    system, slider, _ = mass()
    mb.motion.Sinusoid(slider, mb.Motion.Level.VELOCITY, 0.5, 2.0, 0.3)
    with pytest.raises(mb.ModelError, match="rate' cannot be a control"):  # although u does not follow from it at time 0
        mb.optimal.Phase(system, system.realize_topology(), 1.0, ["mass.motion.rate"])


def test_whole_states_fix_what_no_lock_or_motion_prescribes():
    """Beside a quaternion, too; the rest of an end is what it says."""
    system, slider, _ = mass()
    ball, other = mb.mobilizer.Ball(system.matter.ground, POINT), mb.mobilizer.Pin(system.matter.ground, POINT)
    mb.motion.Sinusoid(slider, mb.Motion.Level.VELOCITY, 0.5, 2.0, 0.3)
    state = system.realize_topology()
    other.lock(state)
    phase = mb.optimal.Phase(system, state, 1.0, [(ball, k) for k in range(3)], end=state)
    free = [other.q_slice(state).start, *(len(state.q) + body.u_slice(state).start for body in (slider, other))]
    assert np.flatnonzero(np.isinf(phase.end_low)).tolist() == sorted(free)
    assert not np.isinf(phase.start_low).any()


@pytest.mark.parametrize("solver", ["ipopt", "scipy"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_least_energy_of_a_double_integrator_is_twelve(scheme, solver):
    """From rest to rest, 1 m in 1 s: w = 6 - 12 t, q = 3 t^2 - 2 t^3; polynomials that all but the trapezoidal rule have."""
    if solver == "ipopt":
        pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out
    system, slider, state = mass()
    costs = []
    for intervals in (5, 10):
        plan = mb.collocate(
            system, state, 1.0, [(slider, 0)], cost=squared, end=THERE, scheme=scheme, intervals=intervals, solver=solver
        )
        costs.append(plan.statistics["cost"] - 12.0)
    t = plan.time
    if scheme == "trapezoidal":
        assert np.isclose(costs[0] / costs[1], 4.0, rtol=0.05)
        assert 1e-4 < plan.statistics["errors"].max() < 1e-2
        return
    assert np.abs(costs).max() < 1e-6 and plan.statistics["errors"].max() < 1e-6
    np.testing.assert_allclose(plan.q[:, 0], 3 * t**2 - 2 * t**3, atol=1e-5)
    np.testing.assert_allclose(plan.quantities["controls"][:, 0], 6 - 12 * t, atol=1e-3)
    if solver == "ipopt":
        assert plan.statistics["iterations"] <= 2, (
            "a quadratic program takes one step of Newton's, if second derivatives are right"
        )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_least_time_is_bang_and_bang(scheme, with_ipopt):
    """1 m from rest to rest with |w| <= 1 takes 2 s."""
    system, slider, state = mass()
    bounds = {"mass.force": (-1, 1)}
    plan = mb.collocate(
        system, state, (0.1, 9), [(slider, 0)], end_cost=lambda duration: duration, end=THERE, bounds=bounds, scheme=scheme
    )
    assert np.isclose(plan.statistics["duration"], 2.0, atol=0.01) and plan.time[-1] == plan.statistics["duration"]
    force = plan.quantities["controls"][:, 0]
    assert np.abs(np.abs(force[[1, 2, -3, -2]]) - 1.0).max() < 1e-3 and force[1] > 0 > force[-2]


def test_a_linear_quadratic_plan_costs_what_riccati_says(with_ipopt):
    """The least integral of q^2 + u^2/2 + w^2/4 over 1.5 s with a free end is x^T P x, P by the Hamiltonian's exponential."""
    system, slider, state = mass()
    state.q, state.u = [1.0], [-0.5]
    A, B, Q, R = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), np.diag([1.0, 0.5]), 0.25
    flow = expm(-1.5 * np.block([[A, -B @ B.T / R], [-Q, -A.T]]))
    P = flow[2:, :2] @ np.linalg.inv(flow[:2, :2])
    x = np.array([1.0, -0.5])
    plan = mb.collocate(
        system,
        state,
        1.5,
        [(slider, 0)],
        cost=lambda q, u, controls: q[0] ** 2 + 0.5 * u[0] ** 2 + 0.25 * controls[0] ** 2,
        scheme="radau",
    )
    assert np.isclose(plan.statistics["cost"], x @ P @ x, rtol=1e-6)
    np.testing.assert_allclose(plan.quantities["controls"][0], -(B.T @ P @ x) / R, rtol=1e-3)
    # the same as a phase with a cost of its end: after 1 s, what is left by P of half a second
    rest = expm(-0.5 * np.block([[A, -B @ B.T / R], [-Q, -A.T]]))
    P_end = rest[2:, :2] @ np.linalg.inv(rest[:2, :2])
    shorter = mb.collocate(
        system,
        state,
        1.0,
        [(slider, 0)],
        cost=lambda q, u, controls: q[0] ** 2 + 0.5 * u[0] ** 2 + 0.25 * controls[0] ** 2,
        end_cost=lambda q_end, u_end: (
            P_end[0, 0] * q_end[0] ** 2 + 2 * P_end[0, 1] * q_end[0] * u_end[0] + P_end[1, 1] * u_end[0] ** 2
        ),
        scheme="radau",
    )
    assert np.isclose(shorter.statistics["cost"], x @ P @ x, rtol=1e-6)


def test_the_brachistochrone_is_a_cycloid(with_ipopt):
    """A bead without friction keeps its energy, whatever the forces of the wire. With x = R (a - sin a), it takes sqrt(R/g) a.

    That forces and speeds are at right angles at the nodes would not do: they could do work in between.
    """
    g, x1, y1 = 9.81, 1.0, -0.6
    angle = brentq(lambda a: (1 - np.cos(a)) / (a - np.sin(a)) + y1 / x1, 1e-3, 2 * np.pi)
    R = -y1 / (1 - np.cos(angle))
    a0 = 0.4  # it begins on the cycloid, where it has a speed
    system = mb.MultibodySystem("bead")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (0, -g, 0))
    bead = mb.mobilizer.Translation(matter.ground, mb.body.Particle(1.0), name="bead")
    state = system.realize_topology()
    start = np.array([R * (a0 - np.sin(a0)), -R * (1 - np.cos(a0))])
    still = {"bead[2].q": 0.0, "bead[2].u": 0.0}
    plan = mb.collocate(
        system,
        state,
        (0.2, 2.0),
        [(bead, 0), (bead, 1)],
        bounds={"bead[0].force": (-40, 40), "bead[1].force": (-40, 40)},
        end_cost=lambda duration: duration,
        start={"bead[0].q": start[0], "bead[1].q": start[1], **still},
        end={"bead[0].q": x1, "bead[1].q": y1},
        path=[(lambda q, u: 0.5 * (u[0] ** 2 + u[1] ** 2) + g * q[1], 0, 0)],
        guess=lambda t: (
            np.column_stack([np.linspace(start[0], x1, len(t)), np.linspace(start[1], y1, len(t)), 0 * t]),
            np.tile([1.0, -1.0, 0.0], (len(t), 1)),
        ),
    )
    assert np.isclose(plan.statistics["duration"], np.sqrt(R / g) * (angle - a0), rtol=1e-4)
    at = a0 + plan.time * np.sqrt(g / R)
    np.testing.assert_allclose(plan.q[:, 1], -R * (1 - np.cos(at)), atol=2e-3)


def test_parameters_are_found(with_ipopt):
    """A mass goes from 1 to -1 in 1 s on a spring of stiffness pi^2; the damper between is found to be none."""
    system = mb.MultibodySystem("spring")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, POINT, name="mass")
    mb.force.MobilityLinearSpring(forces, slider, 0, 6.0, 0.0, name="spring")
    mb.force.MobilityLinearDamper(forces, slider, 0, 0.5, name="damper")
    state = system.realize_topology()
    state.q = [1.0]
    plan = mb.collocate(
        system,
        state,
        1.0,
        end={"mass.q": -1.0, "mass.u": 0.0},
        parameters={"spring.stiffness": (5, 15), "damper.damping": (0, 1)},
        intervals=20,
        scheme="radau",
    )
    found = plan.statistics["parameters"]
    assert np.isclose(found["spring.stiffness"], np.pi**2, rtol=1e-5) and found["damper.damping"] < 1e-5
    again = mb.collocate(
        system,
        state,
        1.0,
        end={"mass.q": -1.0, "mass.u": 0.0},
        parameters={"spring.stiffness": (5, 15), "damper.damping": (0, 1)},
        guess=plan,
        scheme="radau",
    )
    assert again.statistics["iterations"] <= plan.statistics["iterations"]


def test_stations_are_reached_round_an_obstacle(with_ipopt):
    """A double pendulum's tip goes to a point, and keeps away from a circle about the middle of the way it took first."""
    system, state = mb.examples.double_pendulum.build()
    state.q, state.u = (0.0, 0.0), (0, 0)
    tip = system.matter.bodies["lower"], (0.0, 0.0, 0.0)
    goal, radius = np.array([0.9, -0.6]), 0.15

    def ways(plan):
        ensemble = mb.Ensemble(system, len(plan.time))
        ensemble.realize(mb.Stage.POSITION, q=plan.q)
        return ensemble.find_station_location_in_ground(*tip)[:, :2]

    given = {
        "cost": lambda controls: controls[0] ** 2 + controls[1] ** 2,
        "end": {"upper.u": 0.0, "lower.u": 0.0},
        "stations": {"tip": tip},
        "boundary": [(lambda tip_end: (tip_end[0], tip_end[1]), goal, goal)],
        "accuracy": 1e-4,
    }
    controls = [(body, 0) for body in system.matter.bodies[1:]]
    first = mb.collocate(system, state, 1.5, controls, **given)
    center = ways(first)[len(first.time) // 2] + [0.02, 0.0]
    path = [(lambda tip: (tip[0] - center[0]) ** 2 + (tip[1] - center[1]) ** 2, radius**2, np.inf)]
    plan = mb.collocate(system, state, 1.5, controls, path=path, guess=first, **given)
    assert plan.statistics["errors"].max() <= 1e-4 and plan.statistics["cost"] > first.statistics["cost"]
    np.testing.assert_allclose(ways(plan)[-1], goal, atol=1e-6)
    distances = np.linalg.norm(ways(plan) - center, axis=1)
    assert np.linalg.norm(ways(first) - center, axis=1).min() < 0.05 and 0.15 - 1e-6 < distances.min() < 0.16


def test_a_body_is_turned_with_the_least_torque(with_ipopt):
    """About a principal axis by an angle a in T: the integral of the torque squared is 12 (I a)^2 / T^3; quaternions."""
    system = mb.MultibodySystem("satellite")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.mobilizer.Ball(matter.ground, POINT, name="body")
    state = system.realize_topology()
    end = state.copy()
    end.q = [np.cos(0.5), 0.0, np.sin(0.5), 0.0]
    plan = mb.collocate(
        system,
        state,
        2.0,
        [(body, i) for i in range(3)],
        cost=lambda controls: (controls**2).sum(axis=0),
        end=end,
        intervals=10,
    )
    assert np.isclose(plan.statistics["cost"], 12 * 2.0**2 / 2.0**3, rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(plan.q, axis=1), 1.0, atol=1e-4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_attitudes_at_the_end_are_reached_whatever_norms_do(scheme, with_ipopt):
    """A sphere by 2.5 rad about an oblique axis, and once around, from (1, 0, 0, 0) to (-1, 0, 0, 0): 12 (I a)^2 / T^3.

    Norms of quaternions drift by the schemes' errors: four numbers at the end were one too many, for radau most of all.
    """
    system = mb.MultibodySystem("sphere")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.7, 0.7, 0.7)))
    body = mb.mobilizer.Ball(matter.ground, sphere, name="body")
    state, torques = system.realize_topology(), [(body, i) for i in range(3)]
    given = {"cost": lambda controls: (controls**2).sum(axis=0), "scheme": scheme, "intervals": 10, "max_iterations": 50}
    for angle in (2.5, 2.0 * np.pi):
        wanted = np.append(np.cos(0.5 * angle), np.sin(0.5 * angle) * np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0))
        end = {f"body[{i}].q": float(x) for i, x in enumerate(wanted)} | {f"body[{i}].u": 0.0 for i in range(3)}
        plan = mb.collocate(system, state, 1.5, torques, end=end, **given)
        exact = 12 * (0.7 * angle) ** 2 / 1.5**3
        assert np.isclose(plan.statistics["cost"], exact, rtol=0.08 if scheme == "trapezoidal" else 5e-4)
        reached = plan.q[-1] / np.linalg.norm(plan.q[-1])
        np.testing.assert_allclose(reached, wanted, atol=1e-6)
    via = {f"body[{i}].q": float(x) for i, x in enumerate((np.cos(1.0), 0.0, np.sin(1.0), 0.0))}  # where a phase begins
    via |= {f"body[{i}].u": 0.0 for i in range(3)}
    cost = given.pop("cost")
    there = mb.optimal.Phase(system, state, 1.0, torques, cost=cost)
    back = mb.optimal.Phase(system, state, 1.0, torques, cost=cost, start=via, end=state)
    plans = mb.collocate([there, back], **{**given, "max_iterations": 100})
    assert np.isclose(plans[0].statistics["cost"], 2 * 12 * (0.7 * 2.0) ** 2, rtol=0.08 if scheme == "trapezoidal" else 2e-5)
    np.testing.assert_allclose(plans[1].q[0], plans[0].q[-1], atol=1e-6)


def test_a_closed_loop_moves_as_it_can(with_ipopt):
    """A four-bar from a pose that is sought on its constraint to another; they are kept all along."""
    system, state = mb.examples.four_bar.build()
    crank = system.matter.bodies["crank"]
    name = "crank"
    first = float(state.q[crank.q_slice(state).start])
    plan = mb.collocate(
        system,
        state,
        0.5,
        [(crank, 0)],
        cost=squared,
        start={f"{name}.q": first, f"{name}.u": 0.0},
        end={f"{name}.q": first + 0.6, f"{name}.u": 0.0},
        accuracy=1e-5,
    )
    missed = []
    for one in plan.states:
        system.realize(one, mb.Stage.VELOCITY)
        missed.append(max(np.abs(one.q_err).max(), np.abs(one.u_err).max()))
    assert missed[0] < 1e-7 and max(missed) < 1e-3
    other = mb.collocate(system, plan.states[0], 0.5, [(crank, 0)], cost=squared, end=plan.states[-1], guess=plan)
    assert np.isclose(other.statistics["cost"], plan.statistics["cost"], rtol=1e-2)


def test_a_ball_that_bounces_is_planned_in_two_phases(with_ipopt):
    """Dropped from 1 m, it loses half of its speed, and rises to 0.25 m: times sqrt(2/g) and half of that."""
    system, _, state = mass(weight=9.81)
    state.q = [1.0]
    falls = mb.optimal.Phase(system, state, (0.1, 2.0), end={"mass.q": 0.0}, name="fall")
    rises = mb.optimal.Phase(system, state, (0.1, 2.0), start={}, end={"mass.u": 0.0}, name="rise")
    bounce = (lambda q_before, q_after, u_before, u_after: (q_after[0] - q_before[0], u_after[0] + 0.5 * u_before[0]), 0, 0)
    with pytest.raises(mb.ModelError, match="returns 2 numbers, and has bounds for 1"):
        mb.collocate([falls, rises], links=[bounce])
    plans = mb.collocate([falls, rises], links=[(bounce[0], [0, 0], [0, 0])], intervals=[4, 3])
    assert np.isclose(plans[0].statistics["duration"], np.sqrt(2 / 9.81)) and len(plans) == 2
    assert np.isclose(plans[1].statistics["duration"], 0.5 * np.sqrt(2 / 9.81)) and np.isclose(plans[1].q[-1, 0], 0.25)
    assert np.isclose(plans[1].time[0], plans[0].time[-1])
    together = mb.collocate(
        [mb.optimal.Phase(system, state, 0.3), mb.optimal.Phase(system, state, 0.2)], scheme="trapezoidal", intervals=100
    )
    assert np.isclose(together[1].q[-1, 0], 1 - 9.81 / 2 * 0.25, atol=1e-3)


def test_meshes_are_refined_until_runs_agree(with_ipopt):
    """Cart and pole: intervals are divided where it matters, and a run under the planned forces ends upright."""
    system, _ = mb.examples.swing_up.build_cart_and_pole()
    state, cart = system.realize_topology(), system.matter.bodies["cart"]
    state.q = 0.0, np.pi
    end = {name: 0.0 for name in ("cart.q", "pole.q", "cart.u", "pole.u")}
    lines = []
    plan = mb.collocate(
        system,
        state,
        1.6,
        [(cart, 0)],
        cost=squared,
        end=end,
        intervals=10,
        accuracy=1e-5,
        progress=lambda *seen: lines.append(seen),
    )
    facts = plan.statistics
    assert (
        facts["refinements"] >= 1 and facts["errors"].max() <= 1e-5 and len(facts["errors"]) == len(facts["intervals"]) - 1 > 10
    )
    assert lines[0][0] == 0 and lines[-1][2] < 1e-6 and len(lines) == facts["iterations"] + facts["refinements"] + 1
    force = plan.quantities["controls"][:, 0]
    ensemble = mb.Ensemble(system, 1, state=state)
    h, t = 1e-3, 0.0
    at, values = plan.time, force

    def push(time):  # quadratic in each interval
        i = min(int(np.searchsorted(at[::2], time, side="right")) - 1, len(at) // 2 - 1)
        s = (time - at[2 * i]) / (at[2 * i + 2] - at[2 * i])
        a, b, c = values[2 * i : 2 * i + 3]
        return a * (1 - s) * (1 - 2 * s) + 4 * b * s * (1 - s) + c * s * (2 * s - 1)

    def rates(x, time):
        ensemble.realize(q=x[None, :2], u=x[None, 2:], mobility_forces=np.array([[push(time), 0.0]]))
        return np.concatenate([x[2:], ensemble.u_dot[0]])

    x = np.concatenate([state.q, state.u])
    while t < 1.6 - 1e-9:
        k1 = rates(x, t)
        k2 = rates(x + h / 2 * k1, t + h / 2)
        k3 = rates(x + h / 2 * k2, t + h / 2)
        x, t = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + h * k3, t + h)), t + h
    assert np.abs(x).max() < 5e-3


def test_what_cannot_be_is_named(with_ipopt):
    system, slider, state = mass()
    bounds = {"mass.force": (-1, 1)}
    with pytest.raises(
        mb.ConvergenceError, match=r"no plan of 'mass'.*the dynamics of mass\.[qu] from t = .* is missed"
    ) as caught:
        mb.collocate(system, state, 1.0, [(slider, 0)], cost=squared, end=THERE, bounds=bounds)
    assert len(caught.value.trajectory.time) == 41
    with pytest.raises(mb.ConvergenceError, match=r"the path constraint high at t = .*is missed"):
        mb.collocate(system, state, 1.0, [(slider, 0)], cost=squared, end=THERE, path=[(high, 2.0, 3.0)])

    def wrong(controls):
        raise RuntimeError("the user's own error")

    with pytest.raises(RuntimeError, match="user's own"):
        mb.collocate(system, state, 1.0, [(slider, 0)], cost=wrong, end=THERE)


def high(q):
    return q[0]


def test_plans_go_on_from_earlier_ones(with_ipopt, tmp_path):
    """By their multipliers, too, where nodes are the same; those of a file as well, and not those of other nodes."""
    system, slider, state = mass()

    def plan(x=0.0, guess=None, **settings):
        start = state.copy()
        start.q = [x]
        bounds = {"mass.force": (-8, 8), "mass.u": (-2, 1.4)}
        return mb.collocate(system, start, 1.0, [(slider, 0)], cost=squared, end=THERE, bounds=bounds, guess=guess, **settings)

    def iterations(*given, **settings):
        return plan(*given, **settings).statistics["iterations"]

    first = plan()
    first.save(tmp_path / "plan.npz")
    kept = mb.Trajectory.load(tmp_path / "plan.npz", system)
    cold = first.statistics["iterations"]
    assert cold > 7 and iterations(0.0, first) <= 1 and iterations(0.0, kept) <= 1 and iterations(1e-3, first) < 0.5 * cold
    close_by = plan(1e-3, first).statistics["cost"]
    assert np.isclose(close_by, plan(1e-3).statistics["cost"], rtol=1e-6) and close_by < first.statistics["cost"]
    for settings in ({"intervals": 30}, {"scheme": "trapezoidal"}):
        assert np.isclose(plan(0.0, first, **settings).statistics["cost"], plan(**settings).statistics["cost"], rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"scheme": "euler"}, ValueError, "no scheme 'euler'"),
        ({"end": {"mas.q": 1.0}}, ValueError, "end names 'mas.q'"),
        ({"bounds": {"mass.force": (1, -1)}}, ValueError, r"bounds\['mass.force'\] has to be"),
        ({"bounds": {"mass.q": (0.5, 2)}}, ValueError, "'mass.q' has to be 0 at the start, .* between 0.5 and 2"),
        ({"bounds": {"mass.u": (1, 2)}, "start": {"mass.q": 0.0}}, ValueError, "'mass.u' has to be 0 at the end, .* 1 and 2"),
        ({"duration": 0.0}, ValueError, "duration has to be positive"),
        ({"duration": (2.0, 1.0)}, ValueError, "duration has to be"),
        ({"cost": lambda torque: torque}, mb.ModelError, "cost asks for 'torque'"),
        ({"controls": ["mass.inboard_frame"]}, mb.ModelError, "cannot be a control"),
        ({"cost": lambda q, controls: (q[0], controls[0])}, mb.ModelError, "cost returned 2 rows; it is one number a node"),
        ({"cost": 3}, TypeError, "cost has to be a function"),
        (
            {"cost": lambda controls: (controls**2).sum()},
            mb.ModelError,
            "one number of all 41 nodes .* sum along the first axis",
        ),
        ({"path": [high]}, ValueError, r"path has to be a list of \(function, low, high\)"),
        ({"path": [(high, 3, 2)]}, ValueError, "the lower one comes first"),
        ({"solver": "snopt"}, ValueError, "'ipopt' or 'scipy'"),
        ({"intervals": 0}, ValueError, "intervals"),
        ({"intervals": [3, 4]}, ValueError, "2 entries, and there are 1 phases"),
        ({"guess": 3}, TypeError, "guess is a Trajectory"),
        ({"guess": lambda t: np.zeros(3)}, ValueError, "guess gave q of shape"),
        ({"tolerance": -1.0}, ValueError, "tolerance"),
        ({"stations": {"q": ("mass", (0, 0, 0))}}, ValueError, "cannot be called 'q'"),
        ({"parameters": {"mass.color": (0, 1)}}, ValueError, "color"),
        ({"progress": 3}, TypeError, "progress is True"),
    ],
)
def test_bad_arguments_are_named(change, error, text):
    system, slider, state = mass()
    given = {"duration": 1.0, "controls": [(slider, 0)], "cost": squared, "end": THERE, **change}
    with pytest.raises(error, match=text):
        mb.collocate(system, state, **given)


def test_without_casadi_scipy_is_taken(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "casadi":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    system, slider, state = mass()
    plan = mb.collocate(system, state, 1.0, [(slider, 0)], cost=squared, end=THERE, intervals=4)
    assert plan.statistics["solver"] == "scipy" and np.isclose(plan.statistics["cost"], 12.0)
    with pytest.raises(ImportError, match=r"mobod\[casadi\]"):
        mb.collocate(system, state, 1.0, [(slider, 0)], solver="ipopt")


def arm_of_muscles():
    """A forearm with a weight that biceps and triceps move, by elastic tendons."""
    lifts = mb.examples.arm_lifts
    system = mb.MultibodySystem("arm")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    elbow = mb.mobilizer.Pin(matter.ground, lifts.make_forearm(), X_PF=mb.Transform((0, -lifts.UPPER_ARM, 0)), name="elbow")
    mb.force.MobilityLinearDamper(forces, elbow, 0, 0.3)
    muscles = []
    for name in ("biceps", "triceps"):
        strength, fiber, slack, above, below = lifts.MUSCLES[name]
        path = mb.force.transmission.StraightPath(forces, [([(matter.ground, above), (elbow, below)], 1.0)])
        muscles.append(mb.muscle.DeGrooteFregly2016(forces, path, strength, fiber, slack, name=name))
    state = system.realize_topology()
    state.q = [0.1]
    system.realize(state, mb.Stage.POSITION)
    mb.muscle.equilibrate(state, muscles)
    return system, state, muscles


def test_muscles_lift_a_weight(with_ipopt):
    """It begins with fibers that balance their tendons; and errors are those of runs short enough for these: a run agrees."""
    system, state, muscles = arm_of_muscles()
    names = [f"{one.name}.excitation" for one in muscles]
    given = {
        "cost": lambda controls: (controls**2).sum(axis=0),
        "end": {"elbow.q": 1.2, "elbow.u": 0.0},
        "bounds": dict.fromkeys(names, (0.01, 1.0)),
    }
    plan = mb.collocate(system, state, 0.6, names, intervals=10, max_iterations=100, **given)
    assert plan.statistics["errors"].max() < 0.02, "finite, and small"
    ends, at, e = plan.statistics["intervals"], plan.time, plan.quantities["controls"]
    one = state.copy()
    for i, (first, last) in enumerate(itertools.pairwise(ends)):  # by the polynomial of each interval
        for k, muscle in enumerate(muscles):
            muscle.set_excitation(one, float(e[2 * i : 2 * i + 3, k] @ (1, 4, 1)) / 6.0)
        one = mb.simulate(system, one, last - first, accuracy=1e-6).states[-1]
        assert np.isclose(one.time, last) and np.isclose(at[2 * i + 2], last)
    assert abs(one.q[0] - 1.2) < 0.05


@pytest.mark.parametrize("scheme", SCHEMES)
def test_states_of_one_mesh_on_another_are_those_of_its_polynomials(scheme):
    from mobod.optimal.mesh import Mesh

    mesh = Mesh(SCHEMES[scheme], np.array([0.0, 0.3, 1.0]))
    at, degree = np.linspace(0.0, 1.0, 14), len(SCHEMES[scheme].points) - 1
    found = mesh.interpolate(np.column_stack([mesh.times**degree, 1.0 - mesh.times]), at, states=True)
    np.testing.assert_allclose(found, np.column_stack([at**degree, 1.0 - at]), atol=1e-13)


def test_a_plan_begins_where_fibers_balance_and_loops_are_closed():
    from mobod.optimal.mesh import Mesh
    from mobod.optimal.straight import balance_fibers, straight
    from mobod.optimal.transcription import Transcription

    def begun(phase):
        part = Transcription([phase], [Mesh(SCHEMES["radau"], np.linspace(0, 1, 6))], []).parts[0]
        y = straight(part)
        balance_fibers(part, y)
        return y

    system, state, muscles = arm_of_muscles()
    y = begun(mb.optimal.Phase(system, state, 0.6, [], end={"elbow.q": 1.2, "elbow.u": 0.0}))
    for row in y:
        state.q, state.z = row[:1], row[2:]
        system.realize(state)
        assert max(abs(one.get_fiber_velocity(state)) for one in muscles) < 1e-6
    np.testing.assert_allclose(y[[0, -1], 0], [0.1, 1.2])

    system = mb.MultibodySystem()
    ground = mb.SimbodyMatterSubsystem(system).ground
    mb.mobilizer.Ball(ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))), name="ball")
    state = system.realize_topology()
    for q in (mb.Rotation.about_axis(2.5, (1, 2, -1)).to_quaternion(), (-1, 0, 0, 0)):  # and a whole turn
        y = begun(mb.optimal.Phase(system, state, 0.6, [], end={f"ball[{i}].q": float(x) for i, x in enumerate(q)}))
        np.testing.assert_allclose(y[[0, -1], :4], [(1, 0, 0, 0), q], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(y[:, :4], axis=1), 1.0)
        assert (np.diff(y[:, 0]) < 0.0).all()

    system, state = mb.examples.four_bar.build()
    state.u = 0.0 * state.u
    y = begun(mb.optimal.Phase(system, state, 0.6, [], end={"crank.q": state.q[0] + 1.5}))
    np.testing.assert_allclose(y[[0, -1], 0], state.q[0] + (0.0, 1.5))
    for row in y:
        state.q = row[:3]
        system.realize(state, mb.Stage.POSITION)
        assert np.abs(state.q_err).max() < 1e-7


def test_plans_that_are_no_motions_are_told():
    """A mass that swings ten times in two intervals: the rule's equations have a solution, which is no motion."""
    system, slider, _ = mass()
    mb.force.MobilityLinearSpring(system.forces, slider, 0, (20 * np.pi) ** 2, 0.0)
    state = system.realize_topology()
    state.q = [1.0]
    given = {"cost": squared, "scheme": "trapezoidal", "solver": "scipy"}
    with pytest.warns(RuntimeWarning, match=r"no motion of the system: run from its state at t = .* Take more intervals"):
        plan = mb.collocate(system, state, 0.93, [(slider, 0)], intervals=2, **given)
    assert plan.statistics["errors"].max() > 0.5
    with pytest.warns(RuntimeWarning, match=r"accuracy=1e-05 is not reached after 1 refinements: from t = .* more refinements"):
        plan = mb.collocate(system, state, 0.093, [(slider, 0)], intervals=2, accuracy=1e-5, refinements=1, **given)
    assert 1e-5 < plan.statistics["errors"].max() < 0.5


@pytest.mark.filterwarnings("error")
def test_of_plans_too_stiff_for_runs_nothing_is_told():
    """A mass that a damper all but holds: runs of many steps an interval grow without bound, and say nothing about the plan."""
    system, slider, _ = mass()
    mb.force.MobilityLinearDamper(system.forces, slider, 0, 1e5)
    given = {"cost": squared, "scheme": "radau", "solver": "scipy", "end": {"mass.q": 1e-3}}
    plan = mb.collocate(system, system.realize_topology(), 1.0, [(slider, 0)], intervals=4, **given)
    assert np.isinf(plan.statistics["errors"]).any()
    np.testing.assert_allclose(plan.quantities["controls"], 100.0, rtol=0.05)
