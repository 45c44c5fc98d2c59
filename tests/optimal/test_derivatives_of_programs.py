"""Sparse derivatives of the nonlinear programs of plans, against differences, for systems with all that they can have."""

import numpy as np
import pytest

import mobod as mb
from mobod.ensemble.array_dynamics import InverseDynamics
from mobod.optimal.collocate import SCHEMES
from mobod.optimal.functions import NodeFunction
from mobod.optimal.mesh import Mesh
from mobod.optimal.transcription import Transcription

LINK = mb.body.Rigid(mb.MassProperties(1.3, (0.1, -0.3, 0.05), mb.Inertia(0.4, 0.3, 0.5, 0.01, 0.02, -0.03)))


def arm(ball=False, thermostat=False, rod=False, motion=False, line=False):
    system = mb.MultibodySystem("arm")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    pin = mb.mobilizer.Pin(matter.ground, LINK, name="pin")
    kind = mb.mobilizer.LineOrientation if line else mb.mobilizer.Ball if ball else mb.mobilizer.Pin
    other = kind(pin, LINK, X_PF=mb.Transform((0, -0.7, 0)), name="other")
    mb.force.MobilityLinearSpring(forces, pin, 0, 3.0, 0.1, name="spring")
    if thermostat:
        mb.force.Thermostat(forces, matter, 0.1, 3.0, 0.5, 0)
    if rod:
        mb.constraint.Rod(matter.ground, (0.5, -1.6, 0), other, (0, -0.5, 0), 1.0, name="rod")
    if motion:
        mb.motion.Sinusoid(pin, mb.Motion.Level.POSITION, 0.5, 2.0, 0.3)
    return system, pin, other


#: Numbers of the model that are controls; and parameters on which the start depends.
CONTROLS = {"thermostat": "spring.stiffness", "rod": "other.mass", "motion": "other.mass"}
OF_START = {"rod": "rod.length", "motion": "pin.motion.amplitude"}


def phase_of(kind, system, pin, other, **settings):
    state = system.realize_topology()
    if kind == "rod":
        mb.Assembler(system).assemble(state)
    parameters = {"pin.mass": (1, 2)}
    if kind != "thermostat":
        parameters["spring.stiffness"] = (1.0, 9.0)
    if kind in OF_START:
        parameters[OF_START[kind]] = (0.2, 1.5)
    controls = [(pin, 0), CONTROLS.get(kind, (other, 0))]
    return mb.optimal.Phase(
        system,
        state,
        (0.5, 2.0),
        controls,
        cost=lambda t, q, controls, hand: np.exp(0.1 * q[0]) * controls[0] ** 2 + controls[1] ** 2 + hand[1] ** 2 + t * q[1],
        end_cost=lambda duration, q_end, t_end, hand_start, parameters: (
            duration**2 * q_end[0] + t_end * hand_start[1] * parameters[0]
        ),
        start={} if kind in OF_START else None,
        path=[(lambda q, u, t: (q[0] * u[0], u[1] ** 2 * t), -5, 5), (lambda hand, parameters: hand[0] * parameters[0], -9, 9)],
        boundary=[(lambda q_start, u_end, duration: q_start[0] * u_end[1] * duration, 0, 1)],
        bounds={CONTROLS[kind]: (0.5, 12.0)} if kind in CONTROLS else None,
        parameters=parameters,
        stations={"hand": (other, (0.1, -0.6, 0.0))},
        **settings,
    )


def test_frames_and_directions_are_parameters(rng, close, derivative):
    """Away from where they began: turns follow each other, and directions keep their length."""
    system, _, other = arm()
    mb.force.Gravity(system.forces, system.matter, (2, -9, 1), name="pull")
    last = mb.mobilizer.Universal(other, LINK, name="last")
    frames = dict.fromkeys(("last.inboard_frame", "last.outboard_frame", "pull.down_direction"), (-9, 9))
    stations = {"tip": (last, (0.1, -0.6, 0.2))}
    phase = mb.optimal.Phase(system, system.realize_topology(), 1.0, [], parameters=frames, stations=stations)
    dynamics, y, t, p = phase.dynamics, rng.normal(size=(2, phase.ny)), np.zeros(2), rng.uniform(0.2, 0.6, 15)
    d = rng.normal(size=15)  # goes along all of them
    close(dynamics.derivatives(y, t, p)[2] @ d, derivative(lambda h: dynamics.rates(y, t, p + h * d)), 1e-8)

    def tip(p):
        return phase.given_at(y, t, p, ["tip"])["tip"]

    slopes = tip(p)[1][phase.ny + 1 :]
    assert np.any(slopes[:12]) and not np.any(slopes[12:]), "frames displace it, the direction of a force does not"
    close(np.tensordot(d, slopes, 1), derivative(lambda h: tip(p + h * d)[0]), 1e-8)
    with pytest.raises(mb.ModelError, match="down_direction' cannot be a control"):
        mb.optimal.Phase(system, phase.state, 1.0, ["pull.down_direction"])


def test_short_fibers_have_exact_derivatives(close):
    """Of z_dot of muscles whose tendons straighten over a millimeter, by all and by an excitation: those of linear models."""
    system, state = mb.examples.arm_lifts.build()
    dynamics = mb.optimal.Phase(system, state, 1.0, ["triceps.excitation"]).dynamics

    def model(x):
        state.q, state.u, state.z = x[:1], x[1:2], x[2:]
        system.realize(state)
        return mb.linearize(system, state, ["triceps.excitation"])

    x = np.concatenate([state.q, state.u, state.z])
    x += 0.01 * np.maximum(0.05, np.abs(x)) * np.sin(np.arange(8))
    y, t, p = np.append(x, 0.0)[None], np.zeros(1), np.zeros(0)
    J, exact = dynamics.derivatives(y, t, p)[0][0], model(x)
    close(J[:, :8], exact.A, 1e-6)
    close(J[:, 8], exact.B[:, 0], 1e-7)
    weights, h = np.cos(np.arange(8.0)), 1e-7
    H = dynamics.second(y, t, p, weights[None], False)[0]
    for k in range(2, 8):
        d = h * np.eye(8)[k]
        close(H[:8, k], weights @ (model(x + d).A - model(x - d).A) / (2 * h), 1e-3)


def test_quaternions_have_exact_derivatives(rng, close, derivative, monkeypatch):
    """Of a ball on a pin, q_dot among them; second ones beside central differences of the first, which are good to 1e-8."""
    system, pin, other = arm(ball=True)
    dynamics = mb.optimal.Phase(system, system.realize_topology(), 1.0, [(pin, 0), (other, 1)]).dynamics
    y, t, p, weights = rng.normal(size=(2, 11)), np.zeros(2), np.zeros(0), rng.normal(size=(2, 9))
    y[:, 1:5] /= np.linalg.norm(y[:, 1:5], axis=1)[:, None]
    J, d = dynamics.derivatives(y, t, p)[0], rng.normal(size=(2, 11))
    along = derivative(lambda h: dynamics.rates(y + h * d, t, p))
    close(np.einsum("nab,nb->na", J, d)[:, :5], along[:, :5], 1e-9)
    exact = dynamics.second(y, t, p, weights, False)
    monkeypatch.setattr(dynamics._core, "exact_second", lambda *_: None)
    differences = dynamics.second(y, t, p, weights, False)
    close(exact, differences, 1e-8)
    assert np.any(exact != differences)


def test_turns_of_lines_about_themselves_are_among_derivatives(rng, close, derivative):
    """No speed is along them, but q is: rates, what is missing, and stations change with them."""
    system, pin, other = arm(line=True)
    stations = {"hand": (other, (0.1, -0.6, 0.0))}
    phase = mb.optimal.Phase(system, system.realize_topology(), 1.0, [(pin, 0), (other, 1)], stations=stations)
    dynamics, inverse, t, p = phase.dynamics, InverseDynamics(system), np.zeros(2), np.zeros(0)
    y, d, weights, u_dot = (rng.normal(size=(2, size)) for size in (10, 10, 8, 3))
    q = y[:, 1:5]
    q /= np.linalg.norm(q, axis=1)[:, None]
    d[:, 1:5] -= q * np.sum(q * d[:, 1:5], axis=1)[:, None]

    def along(f):
        return derivative(lambda h: f(y + h * d))

    def missing(y):
        return y[:, :5], y[:, 5:8], u_dot

    J = dynamics.derivatives(y, t, p)[0]
    close(np.einsum("nab,nb->na", J, d), along(lambda y: dynamics.rates(y, t, p)), 1e-9)
    by_q, by_u, _ = inverse.derivatives(*missing(y))
    found = np.einsum("nab,nb->na", by_q, d[:, :5]) + np.einsum("nab,nb->na", by_u, d[:, 5:8])
    close(found, along(lambda y: inverse.value(*missing(y))), 1e-9)
    where = phase.given_at(y, t, p, ["hand"])["hand"][1]
    close(np.einsum("bkn,nb->kn", where[:10], d), along(lambda y: phase.given_at(y, t, p, ["hand"])["hand"][0]), 1e-9)
    bent = np.einsum("nab,nb->na", dynamics.second(y, t, p, weights, False)[:, :10, :10], d)
    slopes = along(lambda y: np.einsum("na,nab->nb", weights, dynamics.derivatives(y, t, p)[0]))
    for one in (bent, slopes):  # less what changes the quaternion's length
        one[:, 1:5] -= q * np.sum(q * one[:, 1:5], axis=1)[:, None]
    close(bent, slopes, 1e-7)


def drawn(program, name, rng):
    """Random unknowns of a program, quaternions normalized."""
    v = rng.normal(size=program.n)
    for part in program.parts:
        v[part.column_of_duration] = rng.uniform(0.7, 1.5)
        if name in CONTROLS:
            v[part.columns[:, -1]] = rng.uniform(1.0, 9.0, len(part.columns))
        if "ball" in name or "line" in name:
            q = v[part.columns[:, 1:5]]
            v[part.columns[:, 1:5]] = q / np.linalg.norm(q, axis=1)[:, None]
    v[program.parts[0].parameters] *= 0.1
    return v


@pytest.mark.parametrize("name", ["pins", "ball", "thermostat", "rod", "motion", "ball-rod", "line-rod"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_derivatives_are_differences(name, scheme, rng, derivative):
    if scheme != "radau" and name != "pins":
        pytest.skip("schemes are tables: one serves for all systems")
    if "line" in name:  # a rod that hardly holds a node leaves differences no digits: more often where there are fewer speeds
        rng = np.random.default_rng(1)
    system, pin, other = arm(**({} if name == "pins" else dict.fromkeys(name.split("-"), True)))
    first, second = (phase_of(name, system, pin, other, name=which) for which in ("first", "second"))
    link = NodeFunction(
        lambda q_before, u_after, hand_before: q_before[0] * u_after[0] + hand_before[1],
        "a link",
        ["q_before", "u_after", "hand_before"],
        0,
        0,
    )
    meshes = [Mesh(SCHEMES[scheme], np.array([0.0, 0.4, 1.0])), Mesh(SCHEMES[scheme], np.array([0.0, 0.7, 1.0]))]
    program = Transcription([first, second], meshes, [link])
    lam = rng.normal(size=program.m)
    while True:
        v = drawn(program, name, rng)
        upper = program.hessian_pattern.matrix(program.hessian(v, 0.7, lam)).toarray()
        if (
            np.abs(upper).max() < 1e6 or "rod" not in name
        ):  # else a node is near where the rod holds nothing: differences have no digits left
            break

    def moved(h, d):
        return v + h * d

    J = program.jacobian_pattern.matrix(program.jacobian(v)).toarray()
    H = upper + np.triu(upper, 1).T
    gradient = program.gradient(v)
    for _ in range(2):  # each goes along all columns
        d = rng.normal(size=program.n)
        if "ball" in name or "line" in name:  # along the unit quaternions: changes of their length count for nothing here
            for part in program.parts:
                q = v[part.columns[:, 1:5]]
                d[part.columns[:, 1:5]] -= q * np.sum(q * d[part.columns[:, 1:5]], axis=1)[:, None]
        h = 1e-5
        difference = derivative(lambda h, d=d: program.constraints(moved(h, d)), h)
        np.testing.assert_allclose(J @ d, difference, rtol=1e-6, atol=2e-7 * np.abs(difference).max())
        by_cost = (program.cost(moved(h, d)) - program.cost(moved(-h, d))) / (2 * h)
        np.testing.assert_allclose(gradient @ d, by_cost, rtol=1e-6, atol=1e-6)
        if "ball" in name or "line" in name:
            continue  # first derivatives are those along the unit quaternions, so that second ones see their bend

        def lagrangian(w):
            slopes = program.jacobian_pattern.matrix(program.jacobian(w))
            return 0.7 * program.gradient(w) + slopes.T @ lam

        second_d = derivative(lambda h, d=d: lagrangian(moved(h, d)), h)
        # of a thermostat's z_dot slopes are differences by 1e-5, and second derivatives those of these by 3e-6: 4e-6 of z_dot
        least = (1e-5 if name == "thermostat" else 1e-6) * np.abs(second_d).max()
        np.testing.assert_allclose(H @ d, second_d, rtol=2e-5, atol=least)
