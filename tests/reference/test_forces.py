"""Forces against Simbody 3.7: what each element contributes and tells of itself, and the motion that follows."""

from __future__ import annotations

import numpy as np
import pytest
import reader
from test_reference import differences, plain

import mobod as mb
from kinds.forces import FORCES, SIMBODY

CASES = [case for case in reader.all_cases() if case.has_forces]


def set_state(model, record):
    """Give the model's state what a recorded state has, and realize it to ACCELERATION."""
    state = model.state
    state.q, state.u, state.z = record["q"], record["u"], record["z"]
    for force, discrete in zip(model.forces, record["forces"], strict=True):
        for method, value in discrete.items():
            getattr(force, method)(state, value)
    model.system.realize(state)
    return state


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_element_agrees_with_simbody(case):
    model = reader.build_model(case)
    found = []
    for number, record in enumerate(case.states):
        state = set_state(model, record)
        for force, results in zip(model.forces, record["results"]["forces"], strict=True):
            for method, expected in results.items():
                text = differences(expected, plain(getattr(force, method)(state)))
                found += [f"state {number}, {method} of {force.name}{one}" for one in text]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_motion_and_energy_agree_with_simbody(case):
    model = reader.build_model(case)
    found = []
    for number, record in enumerate(case.states):
        state = set_state(model, record)
        results = record["results"]
        for key, expected in results["state"].items():
            found += [f"state {number}, {key}{one}" for one in differences(expected, plain(getattr(state, key)))]
        for key, expected in results["system"].items():
            found += [f"state {number}, {key}{one}" for one in differences(expected, plain(getattr(model.system, key)(state)))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_many_states_at_once_agree_with_simbody(case):
    """The recorded states as an ensemble; what was discrete is a parameter of each."""
    model = reader.build_model(case)
    ensemble = mb.Ensemble(model.system, len(case.states), state=model.state)
    for name in ("q", "u", "z"):
        setattr(ensemble, name, np.array([record[name] for record in case.states]).reshape(len(case.states), -1))

    def set_discrete(state, record):
        for force, discrete in zip(model.forces, record["forces"], strict=True):
            for method, value in discrete.items():
                getattr(force, method)(state, value)

    ensemble.set_each(set_discrete, case.states)
    ensemble.realize()
    for number, record in enumerate(case.states):
        assert not differences(record["results"]["state"]["u_dot"], ensemble.u_dot[number], f"state {number}, u_dot")
        assert not differences(record["results"]["state"]["z_dot"], ensemble.z_dot[number], f"state {number}, z_dot")


def test_every_kind_has_cases():
    covered = {record["kind"] for case in CASES for record in case.data["forces"]}
    assert {record.kind.__name__ for record in FORCES.values() if record.reference is SIMBODY} == covered
