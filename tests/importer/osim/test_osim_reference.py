"""OpenSim models against OpenSim: numbers from its wheel, committed, and afresh where the wheel is installed."""

import json
import pathlib

import numpy as np
import pytest
from osim_cases import CASES, EFFORTS

import mobod as mb

REFERENCE = json.loads((pathlib.Path(__file__).parent / "osim_reference.json").read_text())
#: Rounding of sums of terms of the size of the largest, as the committed numbers have 13 digits.
ROUNDING = 1e-10


def close(found, expected, what, tolerance=ROUNDING):
    """Equal but for this part of the largest number, or of 1."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    error = np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0))
    assert error < tolerance, f"{what}: {error:.2e}"


def prepared(path):
    """A model and its state, with nothing locked, and actuators that act."""
    model = mb.load(path)
    state = model.default_state()
    for name, effort in EFFORTS.items():
        if name in model.actuators:
            model.actuators[name].set_effort(state, effort)
    return model, state


#: OpenSim takes the inertia of the copy that it makes of a body in a loop for a unit inertia, and so adds to the body's.
POSES_ONLY = ("loop",)


def compare(model, state, measured, poses_only=False):
    """Hold a model to what was measured."""
    names = measured["names"]
    assert sorted(model.coordinates) == sorted(names)
    assert model.angles == set(measured["angles"])
    matter, system = model.matter, model.system
    q_of, u_of = [model.coordinates[name] for name in names], [model.speeds[name] for name in names]
    for one in measured["states"]:
        q, u, udot = state.q.copy(), state.u.copy(), np.zeros(len(state.u))
        q[q_of], u[u_of], udot[u_of] = one["q"], one["u"], one["udot"]
        state.q, state.u, state.time = q, u, 0.3
        system.realize(state)
        for name, (R, p, w, v) in one["poses"].items():
            body = model.bodies[name]
            X = body.get_body_transform(state)
            close(X.R, R, f"orientation of {name}")
            close(X.p, p, f"place of {name}")
            close(body.get_body_velocity(state), [w, v], f"velocity of {name}")
        for name, p in one["markers"].items():
            body, station = model.markers[name]
            close(body.get_body_transform(state) @ station, p, f"marker {name}")
        if poses_only:
            continue
        close(matter.calc_m(state)[np.ix_(u_of, u_of)], one["M"], "M")
        forces = system.get_mobility_forces(state), system.get_rigid_body_forces(state)
        missing = matter.calc_residual_force_ignoring_constraints(state, *forces, udot)
        close(missing[u_of], one["missing"], "what is missing for an acceleration")
        close(state.u_dot[u_of], one["accelerations"], "accelerations", 1e-8)


@pytest.mark.parametrize("case", CASES)
def test_it_moves_as_in_opensim(case, tmp_path):
    path = tmp_path / "case.osim"
    path.write_text(CASES[case])
    compare(*prepared(path), REFERENCE[case], case in POSES_ONLY)


@pytest.mark.parametrize("case", CASES)
def test_opensim_still_says_so(case):
    pytest.importorskip("opensim")
    from make_osim_reference import measure

    fresh = measure(CASES[case])
    for old, new in zip(REFERENCE[case]["states"], fresh["states"], strict=True):
        for what in ("q", "u", "M", "missing", "accelerations"):
            close(new[what], old[what], what, 1e-8)
