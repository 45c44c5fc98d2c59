"""A task's functions, compiled, at all states of an ensemble; they are given what the names of their arguments say."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..compiling import engine
from ..compiling.disk_cache import DiskCache
from ..compiling.fingerprint import code_facts
from ..errors import ModelError
from ..function.users import Frozen
from .task import Task

#: What each function of a task can ask for, by the names of its arguments.
ARGUMENTS = {
    "act": ("action", "q", "u", "goal", "forces", "parameters", "time"),
    "start": ("random", "q", "u", "goal", "parameters"),
    "observe": ("q", "u", "points", "goal", "out", "action", "contacts", "sensors", "parameters", "time"),
    "reward": ("q", "u", "points", "action", "goal", "contacts", "sensors", "parameters", "time"),
    "fails": ("q", "u", "points", "goal", "contacts", "sensors", "parameters", "time"),
}


class Functions:
    """A task's functions over rows of arrays, one a state.

    Parameters
    ----------
    task : Task

    Attributes
    ----------
    act : compiled function
        ``act(action, q, u, goal, forces, parameters, time)``.
    start : compiled function
        ``start(mask, random, q, u, goal, parameters)``, of the states that the mask picks.
    look : compiled function
        ``look(q, u, points, goal, out, action, contacts, sensors, parameters, time)``: observations.
    judge : compiled function
        ``judge(q, u, points, action, goal, reward, fails, contacts, sensors, parameters, time, begins, failed, steps, longest,
        late)``: of states that begin a new episode in this step, nothing; *fails* has been given those that *failed*, and
        *late* those with *longest* steps behind them.

    Raises
    ------
    ModelError
        If a function has an argument of another name.
    """

    def __init__(self, task: Task) -> None:
        numba = engine.numba()
        engine.begin_arrays()  # which code that is loaded does not do by itself
        self._task = task
        given = {name: getattr(task, name) for name in ("act", "start", "observe", "reward")}
        functions, key = _frozen({**given, "fails": task.fails or _never})
        calls = {name: _call(numba, name, function) for name, function in functions.items()}
        loop = functools.partial(_loop, numba, calls, key)
        self.act = loop("act", ARGUMENTS["act"], ["{act}"])
        self.start = loop("start", ("mask", *ARGUMENTS["start"]), ["if mask[i]: {start}"])
        more = "contacts", "sensors", "parameters", "time"
        self.look = loop("look", (*ARGUMENTS["observe"], "seen"), ["{observe}", *_SEEN])
        judged = "q", "u", "points", "action", "goal", "reward_of", "fails_of", *more
        self.judge = loop("judge", (*judged, "begins", "failed", "steps", "longest", "late"), _JUDGED)

    def try_out(self, calls: dict[str, tuple[Any, ...]]) -> None:
        """Call functions by name, each with its arguments, so that they are compiled.

        Raises
        ------
        ModelError
            If Numba cannot compile one, or it fails, or goes beyond an array where Python runs it.
        """
        for name, arguments in calls.items():
            function = getattr(self, name)
            rows = dict(zip(inspect.signature(function.py_func).parameters, arguments, strict=True))
            for of in _TRIED[name]:
                _keep_within(of, getattr(self._task, of), rows)
            try:
                function.compile(tuple(map(engine.numba().typeof, arguments)))
                function(*arguments)
            except Exception as error:
                said = [line.strip() for line in str(error).splitlines() if line.strip()]
                where = next((line for line in said if line.startswith("File")), "")
                raise ModelError(
                    f"{_MEANT[name]} of the task cannot be compiled or fails: {'; '.join(said[:3])} {where}. It gets NumPy "
                    "arrays and may call what Numba compiles: math, NumPy, functions decorated with numba.njit"
                ) from error


#: What is seen is single, and no larger than that can be: a state that flies apart has larger speeds.
_LARGEST = float(np.finfo(np.float32).max)
_SEEN = [
    "for k in range(out.shape[1]):",
    "    x = out[i, k]",
    f"    seen[i, k] = {_LARGEST} if x > {_LARGEST} else -{_LARGEST} if x < -{_LARGEST} else x",
]
_JUDGED = [
    "reward_of[i], fails_of[i], late[i] = 0.0, False, False",
    "if not begins[i]:",
    "    steps[i] += 1",
    "    reward_of[i] = {reward}",
    "    fails_of[i] = {fails} or failed[i]",
    "    late[i] = steps[i] >= longest",
]


@functools.lru_cache(maxsize=64)
def functions_of(task: Task) -> Functions:
    """Those of a task, compiled once for all environments of it."""
    return Functions(task)


#: Numba's options for all of them.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_TRIED = {"act": ["act"], "start": ["start"], "look": ["observe"], "judge": ["reward", "fails"]}
_MEANT = {"act": "act", "start": "start", "look": "observe", "judge": "reward or fails"}


def _keep_within(name: str, function: Any, rows: dict[str, Any]) -> None:
    """Run a task's function in Python, on copies of a state's rows: what is compiled would go beyond them without a word."""
    if function is None:
        return
    plain = getattr(function, "py_func", function)
    given = {one: rows[one][0].copy() for one in inspect.signature(plain).parameters}
    try:
        with np.errstate(all="ignore"):
            plain(**given)
    except IndexError as error:
        shapes = ", ".join(f"{one} {row.shape}" for one, row in given.items())
        raise ModelError(f"{name} of the task goes beyond an array: {error}. It gets {shapes}") from error
    except Exception:  # what Numba compiles need not run in Python; what fails in both is said by the compiled call
        return


def _compiled(numba: Any, name: str, function: Any, from_python: bool = False) -> Any:
    """The function compiled, to be called by others that are, or from Python, too."""
    if not callable(function):
        raise TypeError(f"{name} of a Task is a function, not {function!r}")
    if hasattr(function, "py_func"):
        return function
    return numba.njit(**_OPTIONS, no_cpython_wrapper=not from_python)(function)


def _frozen(functions: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """Copies of a task's functions, and a hash by which what they are compiled to is kept on the disk.

    Without a hash, themselves: where Numba has compiled one, or one calls others of the user's, for which Numba may have
    options of their own, or refers to what cannot be hashed.
    """
    from ._row import _row  # which imports Numba

    copies, facts = dict[str, Callable[..., Any]](), [repr((sorted(_OPTIONS.items()), code_facts(_row.__code__)))]
    try:
        for name, function in functions.items():
            frozen = Frozen(function, name, of_floats=True)
            if hasattr(function, "py_func") or len(frozen.parts) > 1 or frozen.fingerprint is None:
                return functions, None
            copies[name] = frozen.function
            facts += name, frozen.fingerprint
    except (TypeError, ModelError):
        return functions, None
    key = hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()
    for copy in copies.values():  # machine code that several processes have made meets in one
        copy.__qualname__ = f"{copy.__qualname__}_{key}"
    return copies, key


def _call(numba: Any, name: str, function: Any) -> tuple[Any, str]:
    """A task's function, compiled, and the text of its call for state i: of rows that it names, and of no others.

    A view of a row that nobody wants takes longer than many a reward.
    """
    compiled, known = _compiled(numba, name, function), ARGUMENTS[name]
    wanted = list(inspect.signature(getattr(function, "py_func", function)).parameters)
    for one in wanted:
        if one not in known:
            raise ModelError(f"{name} of a Task asks for {one!r}; it can ask for {', '.join(known)}")
    return compiled, f"{name}({', '.join('time[i]' if one == 'time' else f'row({one}, i)' for one in wanted)})"


def _loop(
    numba: Any, calls: dict[str, tuple[Any, str]], key: str | None, name: str, arguments: Sequence[str], lines: Sequence[str]
) -> Any:
    """A compiled function of arrays with a row a state, which does these lines for each; kept on the disk by a *key*."""
    from ._row import row  # which imports Numba

    namespace: dict[str, Any] = {"__name__": __name__, "row": row, **{of: function for of, (function, _) in calls.items()}}
    body = "".join(f"\n        {line.format(**{of: call for of, (_, call) in calls.items()})}" for line in lines)
    text = f"def {name}_all({', '.join(arguments)}):\n    for i in range(len(q)):{body}"
    exec(text, namespace)
    function = namespace[f"{name}_all"]
    function.__qualname__ = f"{name}_all_{key}"
    compiled = _compiled(numba, name, function, True)
    # of the functions that it calls the key says all
    DiskCache(_never, f"users.{name}", f"{key} {text}", keep=key is not None).serve(compiled)
    return compiled


def _never(q: Any, u: Any, points: Any, goal: Any) -> bool:
    return False
