"""What Simbody's Assembler reaches, mobod's reaches too, or something better."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

FOLDER = Path(os.environ.get("MOBOD_TEST_REFERENCE") or Path(__file__).parents[1] / "reference")
FILE = FOLDER / "assembled" / "assembler.json.gz"
CASES = json.loads(gzip.decompress(FILE.read_bytes()))["cases"]


def frame(record):
    return mb.Transform(mb.Rotation(np.reshape(record["R"], (3, 3))), record["p"])


def numbers(values):
    return np.array([np.nan if x is None else x for x in values])


def build(case):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bodies = [matter.ground]
    for record in case["bodies"]:
        kind, body = (
            getattr(mb.mobilizer, record["kind"]),
            mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1))),
        )
        bodies.append(kind(bodies[record["parent"]], body, X_PF=frame(record["X_PF"]), X_BM=frame(record["X_BM"])))
    for record in case["constraints"]:
        more = [record["length"]] if "length" in record else []
        one, two = bodies[record["body1"]], bodies[record["body2"]]
        getattr(mb.constraint, record["kind"])(one, record["point1"], two, record["point2"], *more)
    state = system.realize_topology()
    state.q = case["q"]
    assembler = mb.Assembler(system)
    markers, sensors = mb.assembler.Markers(), mb.assembler.OrientationSensors()
    for record in case["markers"]:
        markers.add_marker(None, record["body"], record["station"], record["weight"])
    for record in case["sensors"]:
        sensors.add_o_sensor(None, record["body"], np.reshape(record["R_BS"], (3, 3)), record["weight"])
    markers.move_all_observations([numbers(record["observed"]) for record in case["markers"]])
    sensors.move_all_observations([np.reshape(record["observed"], (3, 3)) for record in case["sensors"]])
    assembler.adopt_assembly_goal(markers)
    assembler.adopt_assembly_goal(sensors, case["sensors_weight"] if case["sensors"] else 0.0)
    weight = case["constraints_weight"]
    assembler.set_system_constraints_weight(np.inf if weight is None else weight)
    for record in case["restricted"]:
        assembler.restrict_q(record["body"], record["q"], record["low"], record["high"])
    for body in case["locked"]:
        assembler.lock_mobilizer(body)
    return system, assembler, state


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "_"))
def test_goals_and_what_is_reached(case):
    system, assembler, state = build(case)
    assembler.initialize(state)
    # sums of the same squares, 1e-11 being rounding of q that was read and normalized again
    assert_allclose(assembler.calc_current_goal(), case["goal_at_start"], rtol=1e-11)
    assert_allclose(assembler.calc_current_error_norm(), case["error_at_start"], rtol=1e-11, atol=1e-14)
    start = state.q.copy()
    goal = assembler.assemble(state)
    assert goal <= case["goal"] * (1.0 + 1e-6)
    assert assembler.calc_current_error_norm() < 1e-8
    assert_allclose(assembler.calc_current_goal(), goal, rtol=1e-12)
    for body in case["locked"]:
        part = system.matter.bodies[body].q_slice(state)
        assert np.array_equal(start[part], state.q[part])
    for record in case["restricted"]:
        q = system.matter.bodies[record["body"]].get_one_q(state, record["q"])
        assert record["low"] <= q <= record["high"]
    # the least is one point, which goals of this accuracy tell to four digits
    system.realize(state, mb.Stage.POSITION)
    other = state.copy()
    other.q = case["final_q"]
    system.realize(other, mb.Stage.POSITION)
    if goal > case["goal"] * (1.0 - 1e-6):
        for body in system.matter.bodies:
            assert_allclose(np.asarray(body.get_body_transform(state)), np.asarray(body.get_body_transform(other)), atol=2e-4)


def test_there_are_cases():
    assert len(CASES) > 10
