"""Trajectory: arrays, states, files."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mobod as mb
from mobod.simulation.trajectory import Trajectory

NAMES = ["hip", "ball[0]", 'odd, "name"']


def make(n=5, **changes):
    rng = np.random.default_rng(3)
    values = {
        "time": np.linspace(0.0, 1.0, n),
        "q": rng.normal(size=(n, 3)),
        "u": rng.normal(size=(n, 2)),
        "energy": 2.0 + 1e-3 * rng.normal(size=n),
        "coordinate_names": NAMES,
        "speed_names": ["hip", "ball"],
        "statistics": {"steps_taken": np.int64(12), "evaluations": 60, "wall_time": 0.25, "integrator": "RKM"},
    }
    return Trajectory(**(values | changes))


def pendulum():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    bob = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    mb.mobilizer.Pin(matter.ground, bob, X_BM=mb.Transform((0, 1, 0)), name="pin")
    ball = mb.mobilizer.Ball(matter.bodies["pin"], bob, X_BM=mb.Transform((0, 1, 0)), name="ball")
    state = system.realize_topology()
    matter.bodies["pin"].set_rate(state, 2.0)
    ball.set_u(state, (1.0, 0.5, 0.0))
    return system, state


def test_it_has_what_it_was_given_and_cannot_be_changed():
    motion = make()
    assert len(motion) == 5
    assert motion.coordinate_names == tuple(NAMES)
    assert (motion.steps_taken, motion.evaluations, motion.wall_time) == (12, 60, 0.25)
    assert motion.energy_drift == np.abs(motion.energy - motion.energy[0]).max()
    assert repr(motion) == "<Trajectory: 5 times from 0 to 1, 3 coordinates, 2 speeds>"
    with pytest.raises(ValueError, match="read-only"):
        motion.q[0, 0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": np.zeros((4, 3))}, "q must have a row for each of the 5 times; it has 4"),
        ({"q": np.zeros(5)}, r"q must have 2 dimensions; it has the shape \(5,\)"),
        ({"coordinate_names": ["a", "b"]}, "coordinate_names must name each of the 3 columns of q; there are 2"),
        ({"speed_names": ["a", "a"]}, "speed_names must differ from each other; 'a' is there twice"),
        ({"time": [0.0, 1.0, 0.5, 2.0, 3.0]}, "time must not go backward; it does after index 1"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


@pytest.mark.parametrize("extension", ["npz", "csv", "parquet", "NPZ"])
def test_every_number_survives_a_file(tmp_path, extension):
    if extension == "parquet":
        pytest.importorskip("pyarrow")
    motion = make(z=np.random.default_rng(4).normal(size=(5, 2)))
    path = tmp_path / f"motion.{extension}"
    motion.save(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    loaded = Trajectory.load(path)
    for name in ("time", "q", "u", "z", "energy"):
        assert_array_equal(getattr(loaded, name), getattr(motion, name))
    assert loaded.coordinate_names == motion.coordinate_names
    assert loaded.speed_names == motion.speed_names
    if extension != "csv":
        assert loaded.statistics == motion.statistics


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'motion.txt' must end in .npz, .csv, .parquet, .h5 or .hdf5"):
        make().save(tmp_path / "motion.txt")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="is not a trajectory: it holds a"):
        Trajectory.load(tmp_path / "other.npz")
    (tmp_path / "other.csv").write_text("time,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a trajectory: it has no columns time and energy"):
        Trajectory.load(tmp_path / "other.csv")
    (tmp_path / "words.csv").write_text("time,energy\n1,two\n")
    with pytest.raises(ValueError, match="is not a table of numbers"):
        Trajectory.load(tmp_path / "words.csv")


def test_the_table_has_a_column_a_coordinate():
    pytest.importorskip("pandas")
    motion = make()
    table = motion.to_pandas()
    assert table.index.name == "time"
    assert list(table.columns) == ["q.hip", "q.ball[0]", 'q.odd, "name"', "u.hip", "u.ball", "energy"]
    assert_array_equal(table["u.ball"], motion.u[:, 1])


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("pandas", "table", lambda motion, folder: motion.to_pandas()),
        ("pyarrow", "table", lambda motion, folder: motion.save(folder / "a.parquet")),
        ("matplotlib", "plot", lambda motion, folder: motion.plot()),
    ],
)
def test_a_missing_package_is_named(monkeypatch, tmp_path, package, extra, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}: pip install 'mobod\[{extra}\]'"):
        call(make(), tmp_path)


def test_states_can_be_realized():
    system, state = pendulum()
    motion = mb.simulate(system, state, 1.0)
    states = motion.states
    assert len(states) == len(motion)
    for i in (0, 7, -1):
        system.realize(states[i], mb.Stage.VELOCITY)
        assert states[i].time == motion.time[i]
        assert_array_equal(states[i].q, motion.q[i])
        assert_array_equal(states[i].u, motion.u[i])
    assert [s.time for s in states[2:8:3]] == [motion.time[2], motion.time[5]]
    assert states[-3:][0].time == motion.time[-3]
    with pytest.raises(IndexError, match="there are 201 states; no number 201"):
        states[201]


def test_a_state_is_the_callers_own_and_keeps_what_was_set_in_the_first():
    system, state = pendulum()
    gravity = system.get_subsystem(1).get_force(0)
    gravity.set_gravity_vector(state, (0, -1.62, 0))
    motion = mb.simulate(system, state, 0.5)
    gravity.set_gravity_vector(state, (0, 0, 0))
    first, again = motion.states[0], motion.states[0]
    assert_array_equal(gravity.get_gravity_vector(first), (0, -1.62, 0))
    first.q = first.q + 1.0
    assert_array_equal(again.q, motion.q[0])


def test_kinetic_energy_is_that_of_the_states():
    system, state = pendulum()
    motion = mb.simulate(system, state, 0.5)
    chosen = motion.calc_kinetic_energy([0, -1])
    last = motion.states[-1]
    system.realize(last, mb.Stage.VELOCITY)
    assert chosen[1] == system.get_matter_subsystem().calc_kinetic_energy(last)
    assert motion.calc_kinetic_energy().shape == (len(motion),)


@pytest.mark.parametrize("extension", ["npz", "csv"])
def test_a_loaded_trajectory_needs_its_system(tmp_path, extension):
    system, state = pendulum()
    matter = system.get_matter_subsystem()
    state = matter.convert_to_euler_angles(state)  # found again by the number of coordinates
    path = tmp_path / f"motion.{extension}"
    mb.simulate(system, state, 0.5).save(path)
    with pytest.raises(ValueError, match=r"load it with Trajectory.load\(path, system=system\)"):
        _ = Trajectory.load(path).states
    loaded = Trajectory.load(path, system=system)
    last = loaded.states[-1]
    system.realize(last, mb.Stage.VELOCITY)
    assert_array_equal(last.q, loaded.q[-1])
    with pytest.raises(ValueError, match=r"has [45] q, this trajectory 3: another system's\?"):
        _ = make(system=system).states
