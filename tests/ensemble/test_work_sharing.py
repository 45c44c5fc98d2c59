"""Work shared among threads: all of it is done once, by threads that are kept, and end."""

import copy
import gc
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest

import mobod as mb
from mobod.ensemble import work_sharing
from mobod.ensemble.chunks import DONE, STOPPED
from mobod.ensemble.work_sharing import AGAIN, SOON, TRIALS, Helpers, Paces, Task, by_chunks


def helpers_alive():
    return sum(thread.name == "mobod-helper" for thread in threading.enumerate())


def share(helpers, work, items, threads):
    helpers.share(Task(work, items, paces=helpers.paces_of("work")), threads)


def settles(wanted):
    """Wait for threads that are on their way out."""
    for _ in range(200):
        if helpers_alive() == wanted:
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(scope="module", autouse=True)
def collections_are_quick():
    """What Numba has left takes seconds of each collection; none of it is of these tests, but for helpers of others."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch, collections_are_quick):
    monkeypatch.setattr(Helpers, "_pays", lambda *given: True)
    if helpers_alive():
        gc.collect()
    assert settles(0)


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
@pytest.mark.parametrize("items", [1, 2, 7, 64, 1000])
def test_every_item_is_done_once_by_workers_of_their_own(items, threads):
    helpers, done, inside = Helpers(), np.zeros(items, int), set()

    def work(worker, begin, end):
        assert 0 <= worker < threads and worker not in inside
        inside.add(worker)
        time.sleep(1e-4)
        done[begin:end] += 1
        inside.remove(worker)

    for _ in range(5):
        share(helpers, by_chunks(work), items, threads)
    assert (done == 5).all()


def test_threads_are_kept_and_end_with_what_they_help():
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 64, state=state, threads=3)
    assert helpers_alive() == 0
    for _ in range(20):
        ensemble.q = ensemble.q
        ensemble.realize()
    assert helpers_alive() == 2
    del ensemble
    gc.collect()
    assert settles(0)


def test_little_work_stays_on_one_thread(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(work_sharing, "WORTH", 10.0)
    helpers, workers = Helpers(), set()
    for _ in range(3):
        share(helpers, by_chunks(lambda worker, begin, end: workers.add((worker, begin, end))), 64, 8)
    assert workers == {(0, 0, 64)} and helpers_alive() == 0


def test_help_that_does_not_help_is_called_seldom(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(work_sharing, "WORTH", 1e-9)
    helpers, calls = Helpers(), []

    def work(worker, begin, end):
        calls.append((begin, end))
        time.sleep(1e-4 if (begin, end) == (0, 64) else 1e-3)

    for _ in range(300):
        share(helpers, by_chunks(work), 64, 2)
    assert calls.count((0, 64)) >= 280


@pytest.mark.parametrize("whose", ["caller's", "helper's"])
def test_an_error_of_any_thread_comes_out_and_leaves_the_helpers_fit(whose):
    helpers, together = Helpers(), threading.Barrier(2, timeout=10.0)

    def fail(worker, begin, end):
        if begin in (0, 4):  # the first chunk of each
            together.wait()
            if (worker == 0) == (whose == "caller's"):
                raise ValueError("of mine")

    with pytest.raises(ValueError, match="of mine"):
        share(helpers, by_chunks(fail), 8, 2)
    done = np.zeros(8, int)

    def work(worker, begin, end):
        done[begin:end] += 1

    share(helpers, by_chunks(work), 8, 2)
    assert (done == 1).all() and helpers_alive() == 1


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_makes_its_own():
    helpers, done = Helpers(), np.zeros(64, int)

    def work(worker, begin, end):
        done[begin:end] += 1

    share(helpers, by_chunks(work), 64, 2)
    child = os.fork()
    if child == 0:
        share(helpers, by_chunks(work), 64, 2)
        os._exit(0 if (done == 2).all() and helpers_alive() == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_copies_have_helpers_of_their_own():
    helpers = Helpers()
    share(helpers, by_chunks(lambda worker, begin, end: None), 64, 2)
    for other in (copy.deepcopy(helpers), pickle.loads(pickle.dumps(helpers))):
        share(other, by_chunks(lambda worker, begin, end: None), 64, 2)
    assert settles(2) or helpers_alive() <= 3


def test_quick_calls_one_after_the_other_miss_nothing():
    system, state = mb.examples.double_pendulum.build()
    one, three = (mb.Ensemble(system, 203, state=state, threads=threads) for threads in (1, 3))
    rng = np.random.default_rng(5)
    for k in range(150):  # helpers are awake for most, and some come late
        q = rng.uniform(-3.0, 3.0, (203, 2))
        for ensemble in (one, three):
            ensemble.q = q
            if k % 3:
                ensemble.realize()
            else:
                ensemble.step(1e-3, fixed_step_size=5e-4)
                ensemble.realize()
        assert np.array_equal(one.u_dot, three.u_dot)
        assert np.array_equal(one.u, three.u)
        if k % 50 == 7:
            time.sleep(2.0 * work_sharing.AWAKE)


@pytest.mark.parametrize("threads", [2, 4])
def test_the_same_task_again_and_again_sees_what_was_written_meanwhile(threads):
    """Helpers that are awake in its kernel go on without a word; some have just left, and some come late."""
    system, state = mb.examples.double_pendulum.build()
    one, more = (mb.Ensemble(system, 203, state=state, threads=n) for n in (1, threads))
    rng = np.random.default_rng(6)
    for k in range(200):
        q = rng.uniform(-3.0, 3.0, (203, 2))
        for ensemble in (one, more):
            ensemble.upd_q()[:] = q
            ensemble.realize()
        assert np.array_equal(one.u_dot, more.u_dot), k
        if k % 20 == 7:  # around the time at which they fall asleep
            time.sleep(rng.uniform(0.5, 1.5) * work_sharing.AWAKE)
        if k % 100 == 50:  # and with a record of another kind
            inertias = rng.uniform(0.0, 1.0, 203)
            for ensemble in (one, more):
                ensemble.set_each(system.matter.bodies["lower"].set_rotor_inertia, inertias)


@pytest.mark.parametrize("threads", [2, 4])
def test_steps_again_and_again_take_each_call_s_forces_and_duration(threads):
    """Six calls in a row, in which helpers are awake."""
    system, state = mb.examples.double_pendulum.build()
    one, more = (mb.Ensemble(system, 203, state=state, threads=n) for n in (1, threads))
    rng = np.random.default_rng(7)
    for k in range(40):
        calls = [(rng.uniform(1e-3, 3e-3), rng.normal(size=(203, 2))) for _ in range(6)]
        for ensemble in (one, more):
            for duration, forces in calls:
                ensemble.step(duration, fixed_step_size=1e-3, mobility_forces=forces)
        assert np.array_equal(one.q, more.q) and np.array_equal(one.time, more.time), k
        assert more._step_plan.task.job.chunks[DONE] == 203  # more would let the caller go before a helper has ended
        if k % 20 == 7:
            time.sleep(rng.uniform(0.5, 1.5) * work_sharing.AWAKE)
    assert np.ptp(one.u[:, 0]) > 0.1  # each state had forces of its own


def test_a_worker_is_one_thread_however_late_it_comes():
    """Else two threads would be at work with the arrays of one: one that is late for a job, and one in the next."""
    helpers, threads = Helpers(), {}

    def work(worker, begin, end):
        threads.setdefault(worker, set()).add(threading.get_ident())
        if worker:
            time.sleep(1e-5 * (begin % 7))

    for k in range(200):
        helpers.share_all(Task(by_chunks(work), 8), 2 + k % 4)
    assert threads[0] == {threading.get_ident()} and all(len(ids) == 1 for ids in threads.values())
    assert max(threads) <= 4


@pytest.mark.seconds
@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_ctrl_c_ends_long_work_of_a_helper_when_the_caller_has_done_its_own():
    helpers, together, main = Helpers(), threading.Barrier(2, timeout=10.0), threading.main_thread().ident

    def work(worker, chunks, calls):
        together.wait()
        if worker:
            signal.pthread_kill(main, signal.SIGINT)
            for _ in range(1000):
                if chunks[STOPPED]:
                    return
                time.sleep(0.01)

    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        helpers.share_all(Task(work, 2), 2)
        time.sleep(1.0)
    assert time.perf_counter() - begin < 5.0


def test_where_no_thread_can_be_made_the_caller_does_the_work(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    helpers, done = Helpers(), np.zeros(64, int)

    def work(worker, begin, end):
        done[begin:end] += 1

    for _ in range(2):
        share(helpers, by_chunks(work), 64, 2)
    assert (done == 2).all() and not helpers._jobs


def test_what_wakes_helpers_is_not_taken_for_what_help_takes():
    """Alone 36 us, with help 20, but 500 where helpers sleep: as after calls alone, also in each trial."""
    paces, asleep = Paces(), True
    chosen = []
    for _ in range(600):
        with_help = paces.alone > 0.0 and paces.choose()
        paces.learn(with_help, 36.0 if not with_help else 500.0 if asleep else 20.0)
        asleep = not with_help
        chosen.append(with_help)
    assert paces.helped == 20.0 and paces.alone == 36.0
    settled = chosen[4 * SOON :]
    assert settled.count(False) == 2 * TRIALS and all(
        chosen[-50:]
    )  # two trials of the slower way, as 256 and 512 calls were made


def test_a_trial_is_of_one_way_to_its_end():
    paces = Paces()
    paces.alone, paces.helped, paces.count, paces.with_help = 36.0, 50.0, AGAIN, False
    chosen = []
    for _ in range(TRIALS):
        chosen.append(paces.choose())
        paces.learn(chosen[-1], 5.0)
    assert chosen == TRIALS * [True] and paces.choose()
