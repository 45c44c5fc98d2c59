"""Recording: what a run keeps beside q and u, in memory and on disk, and what is left when it is killed."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import mobod as mb
from mobod.simulation.hdf5_file import DiskArray, FileRows
from mobod.simulation.table import MemoryRows
from pages import run


@pytest.fixture
def model(make):
    model = make.tree(4)
    model.randomize()
    return model


def test_rows_grow_and_keep_what_they_have(rng):
    rows, whole = MemoryRows(3), rng.normal(size=(50, 2, 3))
    for start, stop in ((0, 1), (1, 3), (3, 20), (20, 21), (21, 50)):
        rows.append({"time": np.arange(start, stop, dtype=float), "x": whole[start:stop]})
    assert len(rows) == 50 and np.array_equal(rows.columns()["x"], whole)
    assert np.array_equal(rows.columns()["time"], np.arange(50))


def test_rows_of_a_known_number_are_never_copied():
    rows = MemoryRows(100)
    rows.append({"time": np.zeros(1)})
    first = rows.columns()["time"].ctypes.data
    for _ in range(99):
        rows.append({"time": np.zeros(1)})
    assert rows.columns()["time"].ctypes.data == first


class Energy:
    """An object that has get_value(state), as measures have."""

    name = "energy"

    def __init__(self, system):
        self.system = system

    def get_value(self, state):
        return self.system.calc_kinetic_energy(state)


def test_quantities_and_poses_are_those_of_the_states(model):
    last = model.bodies[-1]
    chosen = {
        "u_dot": lambda state: state.u_dot,
        "speed": lambda state: last.get_body_velocity(state),
        "K": Energy(model.system),
    }
    run = mb.simulate(model.system, model.state, 0.3, report_interval=0.1, record=chosen, record_bodies=[last, 1])
    assert set(run.quantities) == {"u_dot", "speed", "K"} and run.body_names == (last.name, model.bodies[1].name)
    assert run.quantities["speed"].shape == (4, 2, 3) and run.quantities["K"].shape == (4,)
    assert np.array_equal(run.q, mb.simulate(model.system, model.state, 0.3, report_interval=0.1).q), "it changes no bit"
    for i, state in enumerate(run.states):
        model.system.realize(state)
        assert np.array_equal(run.quantities["u_dot"][i], state.u_dot)
        assert np.array_equal(run.quantities["speed"][i], last.get_body_velocity(state))
        assert run.quantities["K"][i] == model.system.calc_kinetic_energy(state)
        assert np.array_equal(run.get_body_poses(last)[i], np.asarray(last.get_body_transform(state)))
        assert np.array_equal(
            run.get_body_poses(model.bodies[1].name)[i], np.asarray(model.bodies[1].get_body_transform(state))
        )


def test_named_quantities_and_all_bodies(model):
    names = list(mb.simulation.quantities.NAMED)
    run = mb.simulate(model.system, model.state, 0.1, report_interval=0.05, record=names, record_bodies=True)
    assert list(run.quantities) == names and run.body_poses.shape == (3, 4, 3, 4)
    together = run.quantities["kinetic_energy"] + run.quantities["potential_energy"]
    assert np.allclose(together, run.energy, rtol=1e-12, atol=1e-12)
    one = mb.simulate(model.system, model.state, 0.1, record=Energy(model.system).get_value and [Energy(model.system)])
    assert list(one.quantities) == ["energy"]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"record": ["kinetic_enrgy"]}, ValueError, "did you mean kinetic_energy"),
        ({"record": {"x": 3.0}}, TypeError, r"'x' is 3.0; it has to have get_value"),
        ({"record": {"x": lambda state: "high"}}, ValueError, "'x' is 'high'; it has to be a number"),
        ({"record": ["momentum", "momentum"]}, ValueError, "two quantities are called 'momentum'"),
        ({"record": [lambda state: 1.0, lambda state: 2.0]}, ValueError, "two quantities are called"),
        ({"record": [3.0]}, TypeError, "3.0 has no name"),
        ({"record_bodies": ["elbw"]}, ValueError, "there is no body 'elbw'"),
        ({"record_bodies": [1, 1]}, ValueError, "twice"),
        ({"record_to": "run.txt"}, ValueError, "must end in .h5 or .hdf5"),
        ({"audit": "often"}, ValueError, "'reports' or 'steps'"),
        ({"estimate_error": -1.0}, ValueError, "estimate_error"),
        ({"checkpoint_interval": -1.0}, ValueError, "checkpoint_interval"),
        ({"resume": True}, ValueError, "resume needs checkpoint"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_runs(model, keywords, error, message):
    y = model.state.y.copy()
    with pytest.raises(error, match=message):
        mb.simulate(model.system, model.state, 0.1, **keywords)
    assert np.array_equal(model.state.y, y)


def test_a_quantity_that_changes_its_shape_is_named_with_the_time(model):
    with pytest.raises(ValueError, match=r"'x' has the shape \(2,\) at time 0\.05.*had \(3,\)") as caught:
        mb.simulate(model.system, model.state, 0.1, report_interval=0.05, record={"x": lambda s: np.ones(2 if s.time else 3)})
    assert len(caught.value.trajectory) == 1, "the row before"


def test_a_body_that_was_not_recorded_is_said_so(model):
    run = mb.simulate(model.system, model.state, 0.1, record_bodies=[1])
    with pytest.raises(KeyError, match="were not recorded"):
        run.get_body_poses(model.bodies[2])


class Counter(mb.Subsystem):
    """Has a discrete variable: what is recorded depends on more than y."""

    def realize_topology(self, state):
        self.index = self.allocate_discrete_variable(state, mb.Stage.REPORT, 7.0)


def test_a_system_that_remembers_is_recorded_as_it_goes(make):
    model = make.tree(3)
    counter = Counter(model.system, "counter")
    state = model.made().randomize(mb.Stage.MODEL) or model.state
    record = {"count": lambda s: counter.get_discrete_variable(s, counter.index)}
    run = mb.simulate(model.system, state, 0.2, report_interval=0.05, record=record)
    assert np.array_equal(run.quantities["count"], np.full(5, 7.0))
    plain = mb.simulate(model.system, state, 0.2, report_interval=0.05)
    assert np.array_equal(run.q, plain.q) and np.allclose(run.energy, plain.energy, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------------------- on disk


def test_a_recording_on_disk_is_what_memory_would_hold(model, tmp_path):
    keywords = {"report_interval": 0.01, "record": ["momentum"], "record_bodies": True}
    in_memory = mb.simulate(model.system, model.state, 0.5, **keywords)
    path = tmp_path / "run.h5"
    run = mb.simulate(model.system, model.state, 0.5, **keywords, record_to=path)
    loaded = mb.Trajectory.load(path, system=model.system)
    for one in (run, loaded):
        assert isinstance(one.q, DiskArray) and one.q.shape == in_memory.q.shape and len(one) == len(in_memory)
        for name in ("time", "q", "u", "energy", "body_poses"):
            assert np.array_equal(getattr(one, name), getattr(in_memory, name)), name
        assert np.array_equal(one.quantities["momentum"], in_memory.quantities["momentum"])
        assert one.coordinate_names == in_memory.coordinate_names and one.body_names == in_memory.body_names
        assert one.statistics["steps_taken"] == in_memory.steps_taken and one.energy_drift == in_memory.energy_drift
        assert np.array_equal(one.states[3].q, in_memory.states[3].q)
    assert np.array_equal(loaded.get_body_poses(model.bodies[1]), in_memory.get_body_poses(model.bodies[1]))


def test_a_motion_that_is_open_when_python_ends(model, tmp_path):
    """HDF5 closes its files after Python is gone, and calls it where they are not closed before."""
    path = tmp_path / "run.h5"
    motion = mb.simulate(model.system, model.state, 0.02, record_to=path)
    kept_for_good = "ctypes.pythonapi.Py_IncRef(ctypes.py_object(motion))"
    lines = f"import ctypes, mobod; motion = mobod.Trajectory.load({str(path)!r}); print(motion.q[-1, 0]); {kept_for_good}"
    ended = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, env=os.environ, check=True)
    assert float(ended.stdout) == motion.q[-1, 0]


def test_an_array_on_disk_is_like_one_in_memory(model, tmp_path):
    run = mb.simulate(model.system, model.state, 0.2, report_interval=0.01, record_to=tmp_path / "run.hdf5")
    q = np.asarray(run.q)
    for key in (
        3,
        -1,
        slice(2, 9),
        slice(None, None, 3),
        slice(9, 2, -2),
        (slice(None), 0),
        (4, 1),
        [1, 5, 5, 2],
        ...,
        q[:, 0] > 0,
    ):
        assert np.array_equal(run.q[key], q[key])
    assert np.array_equal(2.0 * run.q - 1.0, 2.0 * q - 1.0) and np.array_equal(np.sin(run.q), np.sin(q))
    assert run.q.max() == q.max() and np.array_equal(list(run.q), q) and np.array_equal(run.q.T, q.T)
    assert run.q.ndim == 2 and run.q.size == q.size and "array" in repr(run.q)
    with pytest.raises(IndexError, match="there are 21 rows; no number 21"):
        run.q[21]


@pytest.mark.parametrize("extension", [".npz", ".h5", ".csv", ".parquet"])
def test_quantities_and_poses_survive_a_file(model, tmp_path, extension):
    record = {"one": lambda state: state.time, "row": lambda state: [state.time], "momentum": "momentum"}
    run = mb.simulate(model.system, model.state, 0.1, report_interval=0.05, record=record, record_bodies=[2])
    run.save(tmp_path / f"run{extension}")
    loaded = mb.Trajectory.load(tmp_path / f"run{extension}")
    assert set(loaded.quantities) == {"one", "row", "momentum"} and loaded.body_names == run.body_names
    for name, values in run.quantities.items():
        assert np.array_equal(loaded.quantities[name], values)
    assert np.array_equal(loaded.body_poses, run.body_poses) and np.array_equal(loaded.q, run.q)


def test_a_missing_h5py_is_named_with_the_extra(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"record_to needs h5py: pip install 'mobod\[record\]'"):
        mb.simulate(model.system, model.state, 0.1, record_to=tmp_path / "run.h5")


@pytest.mark.parametrize("content", [b"", b"not HDF5"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "run.h5"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"run\.h5 is not"):
        mb.Trajectory.load(path)
    with pytest.raises(FileNotFoundError):
        mb.Trajectory.load(tmp_path / "missing.h5")


def test_another_hdf5_file_is_refused(tmp_path):
    import h5py

    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["numbers"] = np.zeros(3)
    with pytest.raises(ValueError, match="is not a recording: it holds numbers"):
        mb.Trajectory.load(tmp_path / "other.h5")


def test_memory_does_not_grow_with_the_number_of_rows(tmp_path):
    """100,000 rows of 4 numbers and a pose of 12: 17 MB, of which a few at a time are held."""
    system, state = mb.examples.double_pendulum.build()
    mb.simulate(system, state, 0.01, record_to=tmp_path / "warm.h5")
    tracemalloc.start()
    run = mb.simulate(system, state, 1.0, report_interval=1e-5, record_to=tmp_path / "run.h5")
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    whole = 8 * 100_001 * (2 * len(state.q) + 2)
    assert len(run) == 100_001 and (tmp_path / "run.h5").stat().st_size > whole
    # the times themselves are held twice, and a chunk of rows
    assert held < 3e6 and peak < 3 * 8 * 100_001 + 2 * 8 * (1 << 19) + 3e6
    assert run.q[100_000].shape == (2,)


KILLED = """
import os, sys
import mobod as mb
from mobod.simulation import run as _run
_run.FLUSH_INTERVAL = 0.0
system, state = mb.examples.double_pendulum.build()
def show(time, end):
    print(time, flush=True)
mb.simulate(system, state, 1e6, report_interval=0.01, record=["momentum"], record_to=sys.argv[1], progress=show)
"""


def test_what_was_flushed_can_be_read_after_a_kill(tmp_path):
    path = tmp_path / "run.h5"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        for line in process.stdout:
            if float(line) > 8.0:
                break
        assert len(mb.Trajectory.load(path)) > 100  # while it is written
        process.send_signal(signal.SIGKILL)
    system, state = mb.examples.double_pendulum.build()
    left = mb.Trajectory.load(path, system=system)
    assert left.time[-1] >= 4.0 and not np.isnan(left.q).any() and not np.isnan(left.quantities["momentum"]).any()
    again = mb.simulate(system, state, 3.0, report_interval=0.01)
    assert np.array_equal(left.q[:301], again.q) and np.array_equal(left.energy[:301], again.energy)


def test_rows_beyond_a_checkpoint_are_dropped_when_a_file_goes_on(tmp_path):
    path = tmp_path / "run.h5"
    rows = FileRows(path, {"a": 1})
    rows.append({"time": np.arange(10.0), "q": np.arange(20.0).reshape(10, 2), "z": np.zeros((10, 0))})
    rows.close()
    more = FileRows.go_on(path, 4)
    more.append({"time": np.array([9.0]), "q": np.full((1, 2), 7.0), "z": np.zeros((1, 0))})
    more.close()
    columns = more.columns()
    assert np.array_equal(columns["time"], [0, 1, 2, 3, 9]) and np.array_equal(columns["q"][4], [7, 7])
    assert columns["z"].shape == (5, 0)
    with pytest.raises(ValueError, match="has 5 rows, and the checkpoint was written after 6"):
        FileRows.go_on(path, 6)


# ---------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize("to_disk", [False, True])
def test_a_run_that_fails_leaves_the_motion_so_far(make, tmp_path, to_disk):
    class Wall(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces += np.inf if state.time > 0.1 else 0.0

    model = make.tree(3)
    mb.force.Custom(model.forces, Wall())
    model.made().randomize(mb.Stage.MODEL)
    keywords = {"record_to": tmp_path / "run.h5"} if to_disk else {}
    with pytest.raises(mb.ConvergenceError, match="not finite") as caught:
        mb.simulate(model.system, model.state, 1.0, report_interval=0.02, **keywords)
    left = caught.value.trajectory
    assert 1 <= len(left) <= 6 and left.time[-1] <= 0.11 and np.isfinite(left.q).all()
    assert "trajectory" in caught.value.__notes__[-1]


def test_an_interrupted_run_leaves_the_motion_so_far(model):
    def stop(time, end):
        if time > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        mb.simulate(model.system, model.state, 1.0, accuracy=1e-9, progress=stop)
    whole = mb.simulate(model.system, model.state, 1.0, accuracy=1e-9)
    left = caught.value.trajectory
    assert 0 < len(left) <= len(whole) and np.array_equal(left.q, whole.q[: len(left)])


def test_the_integrators_final_time_ends_a_run(model):
    integrator = mb.integrator.RungeKuttaMerson(model.system, final_time=0.25)
    run = mb.simulate(model.system, model.state, 1.0, integrator=integrator, report_interval=0.1)
    assert np.allclose(run.time, [0.0, 0.1, 0.2, 0.25])


def test_statistics_are_the_integrators(model):
    run = mb.simulate(model.system, model.state, 0.5, accuracy=1e-6)
    s = run.statistics
    assert s["steps_attempted"] == s["steps_taken"] + s["error_test_failures"] and s["evaluations"] == run.evaluations > 0
    assert s["integrator"] == "RungeKuttaMerson" and s["accuracy"] == 1e-6 and s["last_step_size"] > 0.0
    json.dumps(s)
    assert time.time() > s["wall_time"] > 0.0


def test_the_page_on_recording_is_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("recording.md")
    said = capsys.readouterr().out
    assert "(201, 3) (201, 4, 4)" in said and "401 times from 0 to 4" in said and "global error" in said


def test_what_motors_exert_is_recorded_by_name():
    system, _ = mb.examples.double_pendulum.build()
    bodies = system.matter.bodies
    mb.motion.Sinusoid(bodies["upper"], mb.Motion.Level.POSITION, 0.4, 3.0, 0.2)
    state = system.realize_topology()
    state.u = [0.0, 2.0]
    names = ["motion_forces", "motion_power", "kinetic_energy"]
    run = mb.simulate(system, state, 0.5, accuracy=1e-8, report_interval=0.1, record=names)
    forces, power = run.quantities["motion_forces"], run.quantities["motion_power"]
    assert forces.shape == (6, 2) and power.shape == (6,) and np.abs(forces[:, 0]).min() > 0.0
    assert not forces[:, 1].any() and not np.signbit(forces[:, 1]).any(), "the lower arm is free"
    np.testing.assert_allclose(power, (forces * run.u).sum(axis=1), rtol=1e-12, atol=1e-12)
    for i, state in enumerate(run.states):
        system.realize(state)
        np.testing.assert_array_equal(forces[i], -system.matter.find_motion_forces(state))
    columns = list(run.to_pandas())
    assert ["quantity.motion_forces.upper", "quantity.motion_forces.lower", "quantity.motion_power"] == [
        name for name in columns if "motion" in name
    ]
    assert run.speed_names == ("upper", "lower")


def test_a_recording_leaves_no_journal_where_files_have_no_locks(tmp_path, monkeypatch):
    """As on Windows, which removes no file that is open."""
    from mobod.simulation import journal

    monkeypatch.setattr(journal, "fcntl", None)
    unlink, closed, close = journal.Path.unlink, [], journal.os.close
    monkeypatch.setattr(journal.os, "close", lambda handle: (closed.append(handle), close(handle))[1])

    def only_closed(path, missing_ok=False):
        assert path.suffix != journal.journal_of(tmp_path / "run.h5").suffix or closed
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(journal.Path, "unlink", only_closed)
    system, state = mb.examples.double_pendulum.build()
    mb.simulate(system, state, 0.1, record_to=tmp_path / "run.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["run.h5"]


def test_numbers_of_quantities_have_the_names_of_bodies_and_speeds_in_tables_and_files(tmp_path):
    system, state = mb.examples.double_pendulum.build()
    names = ["reactions", "u_dot", "momentum", "mass_center", "kinetic_energy"]
    tip = system.matter.bodies["lower"]
    record = {name: name for name in names} | {"tip": lambda s: tip.find_station_location_in_ground(s, (0, -1, 0))}
    run = mb.simulate(system, state, 0.3, report_interval=0.1, record=record)
    frame = run.to_pandas()
    for column, value in {
        "reactions.lower.fx": run.quantities["reactions"][:, 2, 1, 0],
        "reactions.upper.mz": run.quantities["reactions"][:, 1, 0, 2],
        "u_dot.lower": run.quantities["u_dot"][:, 1],
        "momentum.linear.y": run.quantities["momentum"][:, 1, 1],
        "mass_center.x": run.quantities["mass_center"][:, 0],
        "tip[1]": run.quantities["tip"][:, 1],
    }.items():
        assert np.array_equal(frame[f"quantity.{column}"], value), column
    for ending in (".csv", ".npz"):
        path = tmp_path / f"run{ending}"
        run.save(path)
        again = mb.Trajectory.load(path, system)
        assert list(again.quantities) == list(run.quantities) or ending == ".csv"
        assert again.quantities.keys() == run.quantities.keys()
        alone = mb.Trajectory.load(path)  # the names are in the file
        assert alone.quantity_columns().keys() == run.quantity_columns().keys()
        alone.save(path)
        assert "reactions.lower.fx" in mb.Trajectory.load(path).quantity_columns()
        for name, array in run.quantities.items():
            np.testing.assert_allclose(again.quantities[name], array, rtol=1e-15)


def test_a_quantity_of_ones_own_keeps_its_indices_under_whatever_name(tmp_path):
    system, state = mb.examples.double_pendulum.build()
    run = mb.simulate(system, state, 0.2, report_interval=0.1, record={"reactions": lambda s: s.u, "u_dot.x": lambda s: s.u[0]})
    assert [name for name in run.to_pandas() if "quantity" in name] == [
        *(f"quantity.reactions[{k}]" for k in range(2)),
        "quantity.u_dot.x",
    ]
