"""Constraints against Simbody 3.7: errors, G, multipliers, accelerations, forces, projection, on the manifold and off it.

As in `test_reference.py`, to 1e-10 of the largest entry of each array, or better said of the numbers that it comes of: see
`SCALES`. A case's `start` is a state near the manifold, from which Simbody's `project` made the state itself.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import reader
import test_reference as reference

import mobod as mb
from kinds.constraints import CONSTRAINTS, SIMBODY

CASES = [
    case
    for case in reader.constrained_cases()
    if all(hasattr(mb.constraint, record["kind"]) for record in case.data["constraints"])
]

# What methods of the matter are asked with, after the state.
ARGUMENTS = reference.ARGUMENTS | {
    "multiply_by_g": ("u_like",),
    "multiply_by_g_transpose": ("lambda",),
    "calc_constraint_acceleration_errors": ("known_udot",),
    "solve_for_constraint_impulses": ("delta_v",),
    "calc_constraint_forces_from_multipliers": ("lambda",),
    "calc_acceleration": ("f_mobility", "F_body"),
    "calc_residual_force": ("f_mobility", "F_body", "known_udot", "lambda"),
}
# Errors at rest on the manifold are rounding of numbers of order one, which the largest entry does not show; multipliers of
# redundant equations, and what comes of them, are as good as the pseudoinverse is conditioned.
ABSOLUTE = 1e-11
REDUNDANT = 1e-7
# Both projections stop when errors are below 1e-11; what is left of either is of that size.
PROJECTED = 1e-8
# Where equations are not linear in u, they go there by different steps.
PROJECTED_CURVED = 1e-5


@functools.lru_cache(maxsize=4)
def model_named(name):
    """Build a case's model once for all its tests."""
    return reader.build_model(next(case for case in CASES if case.name == name))


def differences(expected, actual, where, tolerance):
    """Return the places where `actual` differs from `expected`, as text."""
    if isinstance(expected, (list, tuple)) and isinstance(actual, list):
        pairs = zip(expected, actual, strict=True)
        return [text for i, (one, other) in enumerate(pairs) for text in differences(one, other, f"{where}[{i}]", tolerance)]
    wanted, found = np.asarray(expected, dtype=float), np.asarray(actual, dtype=float)
    if wanted.size == 0 and found.size == 0:
        return []
    if wanted.shape != found.shape:
        return [f"{where}: shape {found.shape}, not {wanted.shape}"]
    error = np.abs(found - wanted).max()
    if error <= tolerance * np.abs(wanted).max() + ABSOLUTE:  # False for NaN
        return []
    return [f"{where}: off by {error:.2e} of {np.abs(wanted).max():.2e}"]


def as_documented(kind, name, value):
    """Undo what 3.7 does against its own documentation: the sign of a Ball's reactions, the order of x, y, z."""
    if name.startswith("get_ball_reaction_force"):
        return np.negative(value)
    if kind == "PointOnPlaneContact" and name in ("get_velocity_errors", "get_acceleration_errors", "get_multipliers"):
        return np.roll(value, -1)
    return value


def constraint_results(model, results):
    """Yield (name, expected, what mobod says) of every constraint."""
    for constraint, answers in zip(model.matter.constraints, results, strict=True):
        for key, value in answers.items():
            if key == "own":
                for name, one in value.items():
                    method = getattr(constraint, name)
                    expected = as_documented(type(constraint).__name__, name, one)
                    yield f"{constraint!r}.{name}", expected, method() if name.startswith("is_") else method(model.state)
            else:
                yield f"{constraint!r}.{key}", value, getattr(constraint, key)(model.state)


def results_of(model, record):
    """Yield (name, expected, what mobod says) of everything recorded."""
    results = record["results"]
    yield from constraint_results(model, results["constraints"])
    for key, value in results["state"].items():
        yield f"state.{key}", value, getattr(model.state, key)
    for key, value in results["matter"].items():
        arguments = [record[name] for name in ARGUMENTS.get(key, ())]
        yield f"matter.{key}", value, getattr(model.matter, key)(model.state, *arguments)
    for key, value in results.get("mobod", {}).items():
        yield f"mobod.{key}", value[1:], reference.ask_mobod(model, record, key)[1:]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_simbody(case):
    """Everything recorded is what mobod computes."""
    model = model_named(case.name)
    tolerance = REDUNDANT if case.file.startswith("constraints_redundant") else reference.TOLERANCE
    found = []
    for i, record in enumerate(case.states):
        reference.set_inputs(model, record)
        for name, expected, actual in results_of(model, record):
            found += differences(expected, reference.plain(actual), f"state {i}, {name}", tolerance)
    assert not found, f"{len(found)} differences\n" + "\n".join(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_projects_as_simbody_does(case):
    """From the same start both projections end at the same q and u: the nearest, measured by speeds."""
    model = model_named(case.name)
    state = model.state
    for record in case.states:
        if "start" not in record:
            continue
        state.time, state.q, state.u = record["time"], record["start"]["q"], record["start"]["u"]
        model.system.realize(state, mb.Stage.VELOCITY)
        model.system.project(state, 1e-11)
        curved = any(record["kind"] == "SpeedCoupler" for record in case.data["constraints"])
        tolerance = PROJECTED_CURVED if curved else PROJECTED
        found = differences(record["q"], state.q, "q", PROJECTED) + differences(record["u"], state.u, "u", tolerance)
        assert not found


def test_every_hold_has_cases():
    """Locks and motions at every level, beside constraints."""
    found = set()
    for body in (body for case in CASES if case.is_held for body in case.data["bodies"]):
        if "lock" in body:
            found.add(("lock", body["lock"]["level"]))
        elif "motion" in body:
            found.add((body["motion"]["kind"], body["motion"].get("level", "velocity")))
    levels = ("position", "velocity", "acceleration")
    assert found == {(kind, level) for kind in ("lock", "Sinusoid") for level in levels} | {("Steady", "velocity")}


def test_every_kind_has_cases():
    """A new kind of constraint comes with its cases, or its record says what its tests rest on instead."""
    covered = {record["kind"] for case in CASES for record in case.data["constraints"]}
    assert {record.kind.__name__ for record in CONSTRAINTS.values() if record.reference is SIMBODY} == covered
