"""Constraints of coordinates, and users' functions, in records with tangents: derivatives of udot and of multipliers."""

import numpy as np
from numpy.testing import assert_allclose

import mobod as mb
from mobod import constraint as con, function as fn
from mobod.state import validity
from mobod.tree import realize as _realize

EVERYTHING = validity.EVERYTHING


def error(X, q, parameters):
    ((R, p),) = X
    return (p[0] * p[1] - parameters[0] * R[1] + q[0][0] * q[0][0] - 0.5 * p[2],)


def build():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0.0, -9.8, 0.3))
    link = mb.body.Rigid(mb.MassProperties(1.2, (0.1, -0.5, 0.2), mb.UnitInertia(1.3, 1.2, 1.5)))
    a = mb.mobilizer.Pin(matter.ground, link)
    b = mb.mobilizer.Ball(a, link, X_PF=mb.Transform((0, -1, 0)))
    c = mb.mobilizer.Universal(b, link, X_PF=mb.Transform((0, -1, 0)))
    con.CoordinateCoupler(matter, fn.Sinusoid(0.7, 1.1, 0.1), [b], [1])
    con.SpeedCoupler(matter, fn.Linear([0.5, -1.0, 0.3, 0.2]), [b, c], [1, 0], [c], [1])
    con.PrescribedMotion(matter, fn.Sinusoid(0.4, 1.3, 0.2), c, 1)
    functions = con.CompiledFunctions(error, bodies=[c], mobilizers=[a], parameters=[0.3])
    con.Custom(compiled=functions)
    return system


def test_tangents_are_differences(rng, derivative):
    system = build()
    state = system.realize_topology()
    state.time, state.q, state.u = 0.3, rng.uniform(-0.5, 0.5, len(state.q)), rng.uniform(-1.0, 1.0, len(state.u))
    system.normalize_quaternions(state)
    system.realize(state)
    dq, du = rng.uniform(-1.0, 1.0, len(state.q)), rng.uniform(-1.0, 1.0, len(state.u))
    record = state.tree.new_record(with_tangents=True)
    for name in ("time", "q", "u"):
        getattr(record, name)[:] = getattr(state.record, name)
    record.q.tangents[:, 0, 0], record.u.tangents[:, 0, 0] = dq, du
    address = _realize.advance.address(with_tangents=True)
    assert _realize.realize(record, address, 0, EVERYTHING) == _realize.DONE

    def at(h):
        other = state.copy()
        other.q, other.u = state.q + h * dq, state.u + h * du
        system.realize(other)
        return np.concatenate([other.record.u_dot[:, 0], other.record.multiplier[:, 0]])

    values = np.concatenate([record.u_dot.values[:, 0], record.multiplier.values[:, 0]])
    found = np.concatenate([record.u_dot.tangents[:, 0, 0], record.multiplier.tangents[:, 0, 0]])
    scale = np.abs(values).max()
    assert_allclose(values, at(0.0), atol=1e-10 * scale)  # fused elsewhere, behind a matrix of condition 1e3
    expected = derivative(at, 1e-3)
    assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
