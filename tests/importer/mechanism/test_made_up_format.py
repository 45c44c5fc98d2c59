"""A new format is a reader: what the description of a mechanism and its builder do for a format that nobody has."""

import math

import numpy as np
import pytest

import mobod as mb
from mobod.importer import formats

FORMAT = formats.Format("linkage", "linkage_format", "load_linkage", (".linkage.toml",))

FOUR_BAR = """
name = "four bars"
colour = "red"
[bar.crank]
mass = 1.0
centre = [0.5, 0, 0]
inertia = [0.01, 0.1, 0.1]
[bar.coupler]
mass = 2.0
centre = [1, 0, 0]
inertia = [0.02, 0.7, 0.7]
[bar.rocker]
mass = 1.5
centre = [0, 0.75, 0]
inertia = [0.3, 0.01, 0.3]
[bar.hand]
mass = 0.1
centre = [0, 0, 0.1]
inertia = [0.01, 0.01, 0.01]
[pair.A]
kind = "turning pair"
of = ["frame", "crank"]
at = [[0, 0, 0], [0, 0, 0]]
damping = 0.3
[pair.B]
kind = "turning pair"
of = ["crank", "coupler"]
at = [[1, 0, 0], [0, 0, 0]]
[pair.C]
kind = "turning pair"
of = ["rocker", "coupler"]
at = [[0, 1.5, 0], [2, 0, 0]]
[pair.D]
kind = "turning pair"
of = ["frame", "rocker"]
at = [[3, -1.5, 0], [0, 0, 0]]
[pair.clock]
kind = "turning pair"
of = ["frame", "hand"]
at = [[0, 0, 1], [0, 0, 0]]
geared = { to = "A", ratio = -2.0 }
"""


@pytest.fixture
def load(write, monkeypatch):
    monkeypatch.syspath_prepend(__file__.rsplit("test_made_up_format", 1)[0])
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, FORMAT))
    return lambda text, **options: mb.load(write(text, "a.linkage.toml"), **options)


def test_it_is_a_linkage_with_a_closed_loop_a_gear_and_a_report(load):
    model = load(FOUR_BAR)
    assert set(model.bodies) == {"crank", "coupler", "rocker", "hand"}
    assert [*model.coordinates] == ["A", "B", "D", "clock", "C"]
    assert set(model.constraints) == {"C", "clock"}
    assert "colour is left out" in model.report and "damping of 1 joint: simulated" in model.report
    state = model.default_state()
    state.upd_u()[model.speeds["A"]] = 1.0
    model.system.realize(state, mb.Stage.POSITION)
    assert np.abs(state.q_err).max() < 1e-14
    model.system.project(state, accuracy=1e-10)
    assert np.isclose(state.u[model.speeds["clock"]], -2.0 * state.u[model.speeds["A"]])


def test_the_loop_moves_as_one_by_hand_with_the_law_of_cosines(load):
    """Where the crank has turned by a, its end and the rocker's foot are sides of a triangle with coupler and rocker."""
    model = load(FOUR_BAR, joint_damping=False)
    motion = mb.simulate(model.system, model.default_state(), 0.8, accuracy=1e-8)
    state = motion.states[-1]
    model.system.realize(state)
    end = np.array(model.bodies["crank"].find_station_location_in_ground(state, (1, 0, 0)))
    pin = np.array(model.bodies["coupler"].find_station_location_in_ground(state, (2, 0, 0)))
    assert math.isclose(np.linalg.norm(end), 1.0, rel_tol=1e-12)
    assert math.isclose(np.linalg.norm(pin - end), 2.0, rel_tol=1e-12)
    assert math.isclose(np.linalg.norm(pin - (3, -1.5, 0)), 1.5, rel_tol=1e-6)
    energies = [model.system.calc_energy(one) for one in (motion.states[0], state) if model.system.realize(one) or True]
    assert math.isclose(*energies, abs_tol=1e-6)


def test_its_faults_are_named_with_the_place(load):
    with pytest.raises(mb.ModelError, match=r"pair A: no kind 'magic'"):
        load(FOUR_BAR.replace('"turning pair"', '"magic"', 1))
    with pytest.raises(mb.ModelError, match=r"pair clock: joint 'clock' connects 'hand' with itself"):
        load(FOUR_BAR.replace('["frame", "hand"]', '["hand", "hand"]'))
    with pytest.raises(mb.ModelError, match="strict, and not all of the model is simulated:\n  colour is left out"):
        load(FOUR_BAR, strict=True)
    with pytest.raises(mb.ModelError, match=r"no format that can be read has files that end in '\.toml'"):
        formats.find_format("b.toml")
