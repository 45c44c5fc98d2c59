"""`run_many`: a study in chunks, on whatever a map runs on, that goes on where it was interrupted."""

from __future__ import annotations

import builtins
import hashlib
import io
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._version import __version__
from ..ensemble.ensemble_trajectory import EnsembleTrajectory
from ..simulation.fingerprint import UNKNOWN, choices_fingerprint, part_fingerprint, system_fingerprint, users_fingerprint
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.attributes import named_arguments
from ..value.checks import integer
from .files import Folder
from .study import SHARED, Part, Study

if TYPE_CHECKING:
    Arrays = Mapping[str, npt.NDArray[Any]]

#: How long a chunk should take, s: shorter ones cost more to hand out, longer ones are lost when a worker is.
SHORTEST, LONGEST = 10.0, 60.0
#: States of the trial that compiles, and by how much larger trials grow that say how long one takes.
TRIAL = 8
#: How long a trial takes that says enough, s.
ENOUGH = 0.2


@named_arguments
def run_many(
    build: Callable[[Part], Any],
    parameters: Any,
    *,
    map: Callable[..., Iterable[Any]] = builtins.map,
    path: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    seed: int = 0,
) -> Study:
    """Run a study of many states in chunks, on one core or on many machines; interrupted, it goes on where it was.

    Parameters
    ----------
    build : callable
        ``build(part)`` builds the ensemble of some of the states, runs it, and returns what it found: a dict of arrays, each
        with a row a state, or the motions that `Ensemble.simulate` returns. ``part["mass"]`` are values of a parameter, a row
        a state; see `Part`. The model may be built in it, or outside: it is sent by value.
    parameters : mapping of str to (n, ...) array_like, or int
        A row a state: a dict as `sample_parameters` makes it, a DataFrame of pandas, a Dataset of xarray; or how many states
        there are, where they differ in their seeds alone.
    map : callable
        ``map(function, chunks)`` with the meaning of Python's own, which is used unless given: ``pool.map`` of
        concurrent.futures, multiprocessing or Ray, ``client.map`` of Dask, or a function of two arguments that calls
        another. What comes back may be futures.
    path : str or path, optional
        A folder for the results, one file a chunk, written whole or not at all. What is there of the same study is not
        computed again; the same call after an interruption goes on. Without it results are kept in memory.
    chunk : int, optional
        States of a chunk, rounded up to a multiple of eight. Unless given, as many as take 10 to 60 s by a trial.
    seed : int
        From which, and its number in the study, each state's own seed follows.

    Returns
    -------
    Study
        ``study[name]``, a row a state in the order of the parameters.

    Raises
    ------
    ValueError
        If parameters have different numbers of rows, or the folder has another study.
    RuntimeError
        If a chunk failed, with its error as cause, after all the others are done and kept; the next call does it again. Also
        if *map* has left some out.

    Notes
    -----
    Before anything is handed out, eight states are run here: what has to be compiled then is in the cache on disk, for all
    workers that share it. Each worker checks by a fingerprint of the code and of the model's numbers that it runs what was
    sent. An ensemble's results have the same bits in any company: so a study's do not depend on chunks, workers or
    interruptions. A process that is killed in the middle of a chunk leaves no file; Dask and Ray then give the chunk to
    another, and of concurrent.futures' pools, which break, the next call goes on.

    Functions that are not in an installed package are sent by value where ``cloudpickle`` is installed, as it is with Dask,
    Ray and joblib; otherwise workers have to be able to import them.

    Examples
    --------
    >>> import mobod as mb
    >>> def build(part):
    ...     system, state = mb.examples.double_pendulum.build()
    ...     ensemble = mb.Ensemble(system, len(part), state=state)
    ...     ensemble.upd_q()[:, 0] = part["angle"]
    ...     motions = ensemble.simulate(0.5, report_interval=0.5)
    ...     return {"end": motions.q[:, -1]}
    >>> study = mb.run_many(build, mb.sample_parameters({"angle": (-1.0, 1.0)}, 32), chunk=16)
    >>> study["end"].shape
    (32, 2)
    """
    rows, n = _rows_of(parameters)
    seed = integer("seed", seed, least=0)
    if not callable(build):
        raise TypeError(f"build has to be a function of a part of the study, not {build!r}")
    if not callable(map):
        raise TypeError(f"map has to be callable as map(function, chunks), such as pool.map; got {map!r}")
    size = None if chunk is None else -(-integer("chunk", chunk, least=1) // 8) * 8
    worker = ChunkRunner(build, seed, path)
    folder = None if path is None else Folder(path)
    what = {"n": n, "seed": seed, "parameters": _digest(rows), "build": worker.fingerprint, "mobod": __version__}
    begun = None if folder is None else folder.study()
    if begun is None and size is None:
        size = _chunk_of(n, _time_by_trial(worker, rows, n, seed))
    if folder is not None:
        size = int(folder.begin({**what, "chunk": size})["chunk"])
    assert size is not None
    chunks = [(begin, min(begin + size, n)) for begin in range(0, n, size)]
    missing = chunks if folder is None else [one for one in chunks if not folder.has(*one)]
    if missing and map is not builtins.map and not worker.tried:
        _try_out(worker, rows, min(TRIAL, n), seed)
    found: dict[tuple[int, int], Arrays] = {}
    failures: list[Outcome] = []
    tasks = [Task(begin, end, {name: values[begin:end] for name, values in rows.items()}) for begin, end in missing]
    for one in map(worker, tasks) if tasks else ():
        outcome: Outcome = one.result() if callable(getattr(one, "result", None)) else one  # a future's
        if outcome.error is not None:
            failures.append(outcome)
        elif outcome.arrays is not None:  # of a worker that does not see the folder, or there is none
            if folder is None:
                found[outcome.begin, outcome.end] = outcome.arrays
            else:
                folder.save(outcome.begin, outcome.end, outcome.arrays)
    if failures:
        first = failures[0]
        where = "; the others are kept" if folder is not None else ""
        raise RuntimeError(
            f"{len(failures)} of {len(chunks)} chunks failed{where}; the first is of states {first.begin} to {first.end - 1}:\n"
            f"{first.trace}"
        ) from first.error
    undone = [one for one in chunks if not (one in found if folder is None else folder.has(*one))]
    if undone:
        raise RuntimeError(
            f"{len(undone)} of {len(chunks)} chunks are not done, the first of states {undone[0][0]} to {undone[0][1] - 1}: "
            "map has not run them, or their files went to a folder that is not seen from here; call again to go on"
        )
    return Study(rows, n, chunks, found if folder is None else folder)


class Task(NamedTuple):
    """A chunk that is handed out."""

    begin: int
    end: int
    rows: Arrays


class Outcome(NamedTuple):
    """The outcome of a chunk: nothing where it is kept in a file, arrays, or the error."""

    begin: int
    end: int
    arrays: Arrays | None = None
    error: Exception | None = None
    trace: str = ""


class ChunkRunner:
    """The function that is mapped over chunks: *build* by value, and the fingerprint that it has to have where it arrives."""

    def __init__(self, build: Callable[[Part], Any], seed: int, path: Any) -> None:
        self._build: Callable[[Part], Any] | None = build
        self._seed, self._path = seed, None if path is None else os.path.abspath(path)
        self._sent: bytes | None = None
        self._sent_as = UNKNOWN
        self.fingerprint = fingerprint_of(build)
        #: Whether it has run here.
        self.tried = False

    def __getstate__(self) -> dict[str, Any]:
        if self._sent is None:
            self._sent = _by_value(self._build)
            # what was sent by value may see less of what surrounds it: it is compared as it arrives
            self._sent_as = fingerprint_of(_received(self._sent))
        return {**vars(self), "_build": None}

    def __call__(self, task: Task) -> Outcome:
        """Run a chunk and keep what it gives, or send it back."""
        begin, end, rows = task
        try:
            arrays = self.run(Part(rows, np.arange(begin, end), self._seed))
            if self._path is not None:
                folder = Folder(self._path)
                there = folder.study() if folder.path.is_dir() else None
                if there is not None and there["build"] == self.fingerprint:
                    folder.save(begin, end, arrays)
                    return Outcome(begin, end)
            return Outcome(begin, end, arrays)
        except Exception as error:
            return Outcome(begin, end, None, _that_travels(error), traceback.format_exc())

    def run(self, part: Part) -> Arrays:
        """Build and run a part, and check what it gives."""
        if self._build is None:
            assert self._sent is not None
            self._build = _received(self._sent)
            here = fingerprint_of(self._build)
            if UNKNOWN not in (here, self._sent_as) and here != self._sent_as:
                raise RuntimeError(
                    "this worker would run other code than what was sent: its modules, or its mobod, which is "
                    f"{__version__}, differ from the sender's; install the same on both, or install cloudpickle, so that "
                    "functions are sent by value"
                )
        return _checked(self._build(part), len(part))


def fingerprint_of(build: Callable[[Part], Any]) -> str:
    """A fingerprint of a function's code, of models and states that it refers to; `UNKNOWN` where that cannot be told."""

    def model(value: Any) -> str | None:
        if isinstance(value, MultibodySystem):
            if not value.system_topology_has_been_realized():
                value.realize_topology()
            return repr((sorted(system_fingerprint(value).items()), users_fingerprint(value)))
        return choices_fingerprint(value) if isinstance(value, State) else None

    parts = part_fingerprint(build, model)
    return UNKNOWN if UNKNOWN in parts.values() else hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()[:16]


def _rows_of(parameters: Any) -> tuple[dict[str, npt.NDArray[Any]], int]:
    """Parameters by name, a row a state, and how many states there are."""
    if isinstance(parameters, (int, np.integer)):
        return {}, integer("the number of states", parameters, least=1)
    if not hasattr(parameters, "keys"):
        raise TypeError(f"parameters have to be arrays by name, or a number of states, not {type(parameters).__name__}")
    rows = {str(name): np.asarray(parameters[name]) for name in list(parameters.keys())}  # of a DataFrame, its columns
    lengths = {name: len(values) if values.ndim else -1 for name, values in rows.items()}
    if not rows or len(set(lengths.values())) != 1 or min(lengths.values()) < 1:
        raise ValueError(f"parameters have to have as many rows each, one a state, and one or more; got {lengths}")
    for name, values in rows.items():
        if values.dtype == object:
            raise TypeError(f"parameter {name} has to be an array of numbers or texts; it is one of objects")
    return rows, next(iter(lengths.values()))


def _digest(rows: Arrays) -> str:
    """A digest of parameters."""
    digest = hashlib.sha256()
    for name in sorted(rows):
        values = np.ascontiguousarray(rows[name])
        digest.update(repr((name, values.dtype.str, values.shape)).encode())
        digest.update(values.tobytes())
    return digest.hexdigest()[:16]


def _try_out(worker: ChunkRunner, rows: Arrays, few: int, seed: int) -> float:
    """The time that the first few states take, s."""
    begin = time.perf_counter()
    worker.run(Part({name: values[:few] for name, values in rows.items()}, np.arange(few), seed))
    worker.tried = True
    return time.perf_counter() - begin


def _time_by_trial(worker: ChunkRunner, rows: Arrays, n: int, seed: int) -> float:
    """The time that a state of many takes, s; the trial compiles all that is needed.

    Building a model and an ensemble may take as long as thousands of states: more and more of them are tried, as long as that
    takes no time to speak of, and what counts is what the last ones have added.
    """
    few = min(TRIAL, n)
    _try_out(worker, rows, few, seed)  # which compiles
    took = _try_out(worker, rows, few, seed)
    each = took / few
    while took < ENOUGH and TRIAL * few <= n // TRIAL:
        before, few = took, TRIAL * few
        took = _try_out(worker, rows, few, seed)
        each = max((took - before) / (few - few // TRIAL), 0.1 * took / few)
    return each


def _chunk_of(n: int, each: float) -> int:
    """The number of states of a chunk, where each takes so many seconds."""
    seconds = min(max(n * each / 64.0, SHORTEST), LONGEST)
    whole = 8 * (os.cpu_count() or 1)
    return max(int(seconds / each) // whole, 1) * whole


def _checked(found: Any, n: int) -> Arrays:
    """The arrays by name that *build* has returned."""
    if isinstance(found, EnsembleTrajectory):
        found = _of_motions(found)
    if not isinstance(found, Mapping):
        raise TypeError(
            f"build has to return a dict of arrays with a row a state, or the motions of Ensemble.simulate; got {found!r:.200}"
        )
    arrays = {str(name): np.asarray(values) for name, values in found.items()}
    for name, values in arrays.items():
        if not name.startswith(SHARED) and (values.ndim == 0 or len(values) != n):
            raise ValueError(f"build has returned {name} of shape {values.shape}; it has to have a row for each of {n} states")
        if values.dtype == object:
            raise TypeError(f"build has returned {name} as an array of objects; it has to be one of numbers or texts")
    return arrays


def _of_motions(motions: EnsembleTrajectory) -> dict[str, npt.NDArray[Any]]:
    """The arrays of motions that `run_many` keeps."""
    time = {"time" if motions.time.ndim == 2 else SHARED + "time": motions.time}
    parts = {name: np.asarray(getattr(motions, name)[:]) for name in ("q", "u", "z")}
    reasons = {i: failure.reason for i, failure in motions.failures.items()}
    return {
        **time,
        **{name: values for name, values in parts.items() if values.shape[-1]},
        "end_time": motions.end_time,
        "failed": motions.failed,
        "reason": np.array([reasons.get(i, "") for i in range(len(motions))]),
    }


def _by_value(build: Any) -> bytes:
    """A function as bytes: with its code, unless it is of an installed package."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(build)
    module = sys.modules.get(getattr(build, "__module__", "") or "")
    name = "" if module is None else module.__name__
    file = getattr(module, "__file__", None) or ""
    if not name or name == "__main__" or "site-packages" in file or name.partition(".")[0] == __name__.partition(".")[0]:
        return cloudpickle.dumps(build)
    cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps(build)
    finally:
        cloudpickle.unregister_pickle_by_value(module)


class _Unpickler(pickle.Unpickler):
    """Makes classes anew that were sent by value.

    cloudpickle itself gives a class that the process has already the methods that arrive, whose names then stand for the model
    that arrives with them: its owner's would be called with another model than its own.
    """

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        if module.startswith("cloudpickle") and name in ("_make_skeleton_class", "_make_skeleton_enum"):
            return lambda *given: found(*given[:-2], None, given[-1])  # without the number by which it would be found
        return found


def _received(sent: bytes) -> Any:
    """The function of which `_by_value` has made bytes."""
    return _Unpickler(io.BytesIO(sent)).load()


def _that_travels(error: Exception) -> Exception:
    """An error that can be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
