"""Studies in chunks: the same bits in any chunks, on any workers, after any interruption."""

import concurrent.futures
import importlib
import json
import multiprocessing
import os
import pickle
import signal
import time
import types

import numpy as np
import pytest

import mobod as mb

N = 60
PARAMETERS = mb.sample_parameters({"angle": (-1.0, 1.0), "mass": (0.5, 2.0)}, N, seed=3)


@pytest.fixture(scope="module", autouse=True)
def model():
    """Made outside of what runs; not when tests are collected, which each process does, and would compile for it."""
    global SYSTEM, STATE
    SYSTEM, STATE = mb.examples.double_pendulum.build()


def build(part):
    """Of a model made outside, with parameters, initial values and random numbers of each state's own."""
    ensemble = mb.Ensemble(SYSTEM, len(part), state=STATE)
    ensemble.upd_q()[:, 0] = part["angle"]
    ensemble.upd_u()[:, 1] = [rng.normal() for rng in part.generators()]
    numbers = np.zeros((len(part), 10))
    numbers[:, 0] = part["mass"]
    numbers[:, 4:7] = part["mass"][:, None]
    ensemble.set_each(SYSTEM.matter.bodies[2].set_body_mass_properties, numbers)
    return ensemble.simulate(0.2, report_interval=0.1)


def quickly(part):
    """Without a simulation."""
    return {"square": part["angle"] ** 2, "seed": part.seeds, "index": part.index}


def equal(a, b):
    assert list(a) == list(b) and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def whole():
    return mb.run_many(build, PARAMETERS, chunk=N)


def test_a_study_is_what_one_ensemble_gives(whole):
    ensemble = mb.Ensemble(SYSTEM, N, state=STATE)
    assert whole["q"].shape == (N, 3, 2) and whole.num_states == N
    assert whole["time"].tolist() == [0.0, 0.1, 0.2] and not whole["failed"].any() and (whole["reason"] == "").all()
    np.testing.assert_array_equal(whole["q"][:, 0, 0], PARAMETERS["angle"])
    assert len(ensemble) == N and "Study of 60 states" in repr(whole)
    with pytest.raises(KeyError, match="has no 'energy'; it has time, q"):
        whole["energy"]


def test_results_do_not_depend_on_chunks_or_workers(whole, tmp_path):
    equal(mb.run_many(build, PARAMETERS, chunk=8), whole)
    equal(mb.run_many(build, PARAMETERS), whole)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        equal(mb.run_many(quickly, PARAMETERS, map=pool.map, chunk=8), mb.run_many(quickly, PARAMETERS))
        futures = mb.run_many(
            quickly, PARAMETERS, map=lambda f, tasks: [pool.submit(f, task) for task in tasks], chunk=24, path=tmp_path
        )
        equal(futures, mb.run_many(quickly, PARAMETERS))


def test_other_processes_get_the_function_and_the_model_by_value(whole, tmp_path):
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        equal(mb.run_many(build, PARAMETERS, map=pool.map, chunk=16, path=tmp_path), whole)
    names = sorted(one.name for one in tmp_path.iterdir())
    assert names == [*(f"states-{a:09d}-{min(a + 16, N):09d}.npz" for a in range(0, N, 16)), "study.json"]


def test_it_goes_on_where_it_was_interrupted(tmp_path):
    done = []

    def once(function, tasks):
        for task in list(tasks)[:2]:
            done.append(task.begin)
            yield function(task)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mb.run_many(quickly, PARAMETERS, map=once, path=tmp_path, chunk=16)
    assert done == [0, 16]

    def counted(function, tasks):
        return [done.append(task.begin) or function(task) for task in tasks]

    study = mb.run_many(quickly, PARAMETERS, map=counted, path=tmp_path)  # with the chunks that it was begun with
    assert done == [0, 16, 32, 48]
    equal(study, mb.run_many(quickly, PARAMETERS))
    equal(mb.run_many(quickly, PARAMETERS, map=counted, path=tmp_path), study)
    assert len(done) == 4, "nothing is computed again"


def test_a_map_that_leaves_chunks_out_is_told(tmp_path):
    def every_other(function, tasks):
        return [function(task) for task in list(tasks)[::2]]

    for path in (None, tmp_path):
        with pytest.raises(RuntimeError, match="2 of 4 chunks are not done, the first of states 16 to 31"):
            mb.run_many(quickly, PARAMETERS, map=every_other, path=path, chunk=16)
    equal(mb.run_many(quickly, PARAMETERS, path=tmp_path), mb.run_many(quickly, PARAMETERS))


def test_half_a_file_is_never_met(tmp_path, monkeypatch):
    def interrupted(old, new):
        raise OSError("disk full")

    mb.run_many(quickly, PARAMETERS, path=tmp_path, chunk=32)
    (tmp_path / "states-000000032-000000060.npz").unlink()
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(RuntimeError, match="1 of 2 chunks failed"):
        mb.run_many(quickly, PARAMETERS, path=tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["states-000000000-000000032.npz", "study.json"]


def test_seeds_go_by_the_number_of_the_state():
    one, other = (mb.run_many(quickly, PARAMETERS, chunk=chunk)["seed"] for chunk in (8, 40))
    assert np.array_equal(one, other) and len(set(one.tolist())) == N
    assert not np.array_equal(mb.run_many(quickly, PARAMETERS, seed=1)["seed"], one)
    assert np.array_equal(mb.run_many(lambda part: {"seed": part.seeds}, 5)["seed"], one[:5])


def test_another_study_in_the_folder_is_refused(tmp_path):
    mb.run_many(quickly, PARAMETERS, path=tmp_path)
    for changed, says in (
        ({"parameters": {**PARAMETERS, "angle": PARAMETERS["angle"] + 1.0}}, "other parameters"),
        ({"parameters": {name: values[:50] for name, values in PARAMETERS.items()}}, "other parameters"),
        ({"seed": 2}, "another seed"),
        ({"build": lambda part: {"square": part["angle"] ** 3}}, "another build, or another model"),
    ):
        arguments = {"build": quickly, "parameters": PARAMETERS, "path": tmp_path} | changed
        with pytest.raises(ValueError, match=says):
            mb.run_many(**arguments)
    content = json.loads((tmp_path / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps({**content, "mobod": "0.0"}))
    with pytest.raises(ValueError, match="another version of mobod"):
        mb.run_many(quickly, PARAMETERS, path=tmp_path)
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read as a study"):
        mb.run_many(quickly, PARAMETERS, path=tmp_path)


def test_a_change_of_the_model_is_another_study(tmp_path):
    system, state = mb.examples.double_pendulum.build()

    def with_model(part):
        return {"mass": np.full(len(part), system.matter.calc_system_mass(state))}

    system.realize(state, mb.Stage.INSTANCE)
    mb.run_many(with_model, 16, path=tmp_path)
    system.matter.bodies[1].set_default_inboard_frame(mb.Transform((0, 0.5, 0)))
    with pytest.raises(ValueError, match="another build, or another model"):
        mb.run_many(with_model, 16, path=tmp_path)


def test_a_change_of_a_handler_or_of_the_start_is_another_study(tmp_path):
    def study(body=2, value=0.3, start=1.0):
        system, state = mb.examples.double_pendulum.build()
        bodies = system.matter.bodies

        class Loosen(mb.event.When):
            def handle_event(self, state, accuracy):
                bodies[body].lock(state)

        system.add_event_handler(Loosen(mb.event.Coordinate(bodies[2], 0, value)))
        state.q = start, 0.5

        def ends(part):
            return mb.Ensemble(system, len(part), state=state).simulate(0.1, report_interval=0.1)

        return mb.run_many(ends, 8, path=tmp_path)

    study()
    study()
    for changed in ({"body": 1}, {"value": 0.2}, {"start": 1.1}):
        with pytest.raises(ValueError, match="another build, or another model"):
            study(**changed)


def test_a_chunk_that_fails_does_not_harm_the_others(tmp_path):
    def sometimes(part):
        if 20 in part.index and not (tmp_path / "mended").exists():
            raise ZeroDivisionError("of state 20")
        return quickly(part)

    with pytest.raises(
        RuntimeError, match="1 of 8 chunks failed; the others are kept; the first is of states 16 to 23"
    ) as caught:
        mb.run_many(sometimes, PARAMETERS, path=tmp_path / "study", chunk=8)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(list((tmp_path / "study").glob("*.npz"))) == 7
    (tmp_path / "mended").touch()
    equal(mb.run_many(sometimes, PARAMETERS, path=tmp_path / "study"), mb.run_many(quickly, PARAMETERS))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"build": "x"}, TypeError, "build has to be a function"),
        ({"map": 2}, TypeError, "pool.map"),
        ({"chunk": 0}, ValueError, "chunk"),
        ({"parameters": 0}, ValueError, "number of states"),
        ({"parameters": [1.0]}, TypeError, "arrays by name"),
        ({"parameters": {"a": [1.0], "b": [1.0, 2.0]}}, ValueError, "as many rows each.*'a': 1, 'b': 2"),
        ({"parameters": {"a": [object()]}}, TypeError, "parameter a has to be an array of numbers"),
        ({"build": lambda part: 3}, RuntimeError, "build has to return a dict of arrays"),
        ({"build": lambda part: {"x": [1.0]}}, RuntimeError, r"returned x of shape \(1,\); .* each of 60"),
        ({"build": lambda part: {"x": part["length"]}}, RuntimeError, "no parameter 'length'; it has angle, mass"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        mb.run_many(**{"build": quickly, "parameters": PARAMETERS, "chunk": 64} | arguments)


def test_tables_are_parameters():
    pd = pytest.importorskip("pandas")
    equal(mb.run_many(quickly, pd.DataFrame(PARAMETERS)), mb.run_many(quickly, PARAMETERS))


def test_a_study_has_labels(whole):
    pytest.importorskip("xarray")
    table = whole.to_xarray()
    assert table["q"].dims == ("state", "time", "q_2") and table["time"].values.tolist() == [0.0, 0.1, 0.2]
    assert np.array_equal(table["angle"], PARAMETERS["angle"]) and table.sizes["state"] == N
    assert np.array_equal(table["q"].sel(time=0.2), whole["q"][:, 2])


def once_killed(part):
    """Kills its process in the middle of a chunk, the first time that the chunk is begun."""
    mark = os.environ["MOBOD_TEST_MARK"]
    time.sleep(0.2)
    if 20 in part.index and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return build(part)


@pytest.fixture
def mark(tmp_path, monkeypatch):
    path = tmp_path / "killed"
    monkeypatch.setenv("MOBOD_TEST_MARK", str(path))
    return path


@pytest.mark.long
def test_a_pool_whose_worker_is_killed_goes_on_with_the_next_call(whole, mark, tmp_path):
    context = multiprocessing.get_context("spawn")
    arguments = {"build": once_killed, "parameters": PARAMETERS, "path": tmp_path / "study", "chunk": 8}
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        with pytest.raises(concurrent.futures.process.BrokenProcessPool):
            mb.run_many(map=pool.map, **arguments)
    assert mark.exists()
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        equal(mb.run_many(map=pool.map, **arguments), whole)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_chunk_of_a_killed_worker_to_another(whole, mark):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            equal(mb.run_many(once_killed, PARAMETERS, map=client.map, chunk=8), whole)
    assert mark.exists()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_chunk_of_a_killed_worker_to_another(whole, mark):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:

        def on_ray(function, tasks):
            remote = ray.remote(lambda task: function(task))
            return ray.get([remote.remote(task) for task in tasks])

        equal(mb.run_many(once_killed, PARAMETERS, map=on_ray, chunk=8), whole)
    finally:
        ray.shutdown()
    assert mark.exists()


@pytest.mark.filterwarnings("ignore")
def test_joblib_runs_chunks(whole):
    joblib = pytest.importorskip("joblib")

    def parallel(function, tasks):
        return joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(function)(task) for task in tasks)

    equal(mb.run_many(build, PARAMETERS, map=parallel, chunk=16), whole)


NOTEBOOK = """
system, state = mb.examples.double_pendulum.build()
bodies = system.matter.bodies


class Loosen(mb.event.When):
    def handle_event(self, state, accuracy):
        bodies[2].lock(state)


loosen = Loosen(mb.event.Coordinate(bodies[2], 0, 0.3))
system.add_event_handler(loosen)


def build(part):
    assert Loosen.__name__ == "Loosen"  # it arrives before the model that its methods refer to
    ensemble = mb.Ensemble(system, len(part), state=state)
    ensemble.upd_q()[:, 0] = part["angle"]
    return ensemble.simulate(0.5, report_interval=0.5)
"""


def test_classes_of_a_notebook_go_by_value_and_stay_as_they_were():
    """Their methods refer to the model, which refers to them; what arrives does not change what is there."""
    pytest.importorskip("cloudpickle")
    cells = {"__name__": "__main__", "mb": mb}
    exec(NOTEBOOK, cells)
    build, handle = cells["build"], cells["Loosen"].handle_event
    values = {"angle": np.linspace(-1.0, 1.0, 16)}
    whole = mb.run_many(build, values)

    def elsewhere(function, tasks):
        return [pickle.loads(pickle.dumps(function))(task) for task in tasks]

    for _ in range(2):
        study = mb.run_many(build, values, map=elsewhere, chunk=8)
        assert not study["failed"].any()
        np.testing.assert_array_equal(study["q"], whole["q"])
        assert cells["Loosen"].handle_event is handle
    assert handle.__globals__ is cells


def test_chunks_take_ten_seconds_where_building_takes_as_long_as_many_states(monkeypatch):
    """By a clock of its own: what building takes once a chunk does not count as time of the few states that are tried."""
    now, sizes = [0.0], []
    monkeypatch.setattr(
        importlib.import_module("mobod.study.run_many"), "time", types.SimpleNamespace(perf_counter=lambda: now[0])
    )

    def slow_to_build(part):
        now[0] += 0.05 + 1e-4 * len(part)
        return {"index": part.index}

    def counted(function, tasks):
        sizes.extend(task.end - task.begin for task in tasks)
        return map(function, tasks)

    mb.run_many(slow_to_build, 300_000, map=counted)
    assert 8.0 <= 1e-4 * sizes[0] <= 12.0
    assert now[0] < 1.5 + 300_000 * 1e-4 + 0.05 * len(sizes)
