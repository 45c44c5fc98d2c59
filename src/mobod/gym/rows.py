"""A task's functions, compiled, at all states of an ensemble; they are given what the names of their arguments say."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from ..compiling import engine
from ..compiling.numba_patches import quickly
from ..errors import ModelError
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
        ``judge(q, u, points, action, goal, reward, fails, contacts, sensors, parameters, time)``.

    Raises
    ------
    ModelError
        If a function has an argument of another name.
    """

    def __init__(self, task: Task) -> None:
        numba = engine.numba()
        one_act, one_start, one_look, one_reward = (
            _by_names(numba, name, getattr(task, name)) for name in ("act", "start", "observe", "reward")
        )
        one_fails = _by_names(numba, "fails", task.fails or _never)

        def act(action: Any, q: Any, u: Any, goal: Any, forces: Any, parameters: Any, time: Any) -> None:
            for i in range(len(q)):
                one_act(action[i], q[i], u[i], goal[i], forces[i], parameters[i], time[i])

        def start(mask: Any, random: Any, q: Any, u: Any, goal: Any, parameters: Any) -> None:
            for i in range(len(q)):
                if mask[i]:
                    one_start(random[i], q[i], u[i], goal[i], parameters[i])

        def look(
            q: Any,
            u: Any,
            points: Any,
            goal: Any,
            out: Any,
            action: Any,
            contacts: Any,
            sensors: Any,
            parameters: Any,
            time: Any,
        ) -> None:
            for i in range(len(q)):
                more = action[i], contacts[i], sensors[i], parameters[i], time[i]
                one_look(q[i], u[i], points[i], goal[i], out[i], *more)

        def judge(
            q: Any,
            u: Any,
            points: Any,
            action: Any,
            goal: Any,
            reward: Any,
            fails: Any,
            contacts: Any,
            sensors: Any,
            parameters: Any,
            time: Any,
        ) -> None:
            for i in range(len(q)):
                more = contacts[i], sensors[i], parameters[i], time[i]
                reward[i] = one_reward(q[i], u[i], points[i], action[i], goal[i], *more)
                fails[i] = one_fails(q[i], u[i], points[i], goal[i], *more)

        self.act, self.start, self.look, self.judge = (_compiled(numba, f.__name__, f, True) for f in (act, start, look, judge))

    def try_out(self, calls: dict[str, tuple[Any, ...]]) -> None:
        """Call functions by name, each with its arguments, so that they are compiled.

        Raises
        ------
        ModelError
            If Numba cannot compile one, or it fails.
        """
        for name, arguments in calls.items():
            function = getattr(self, name)
            try:
                with engine.compiling(), quickly(function):
                    function.compile(tuple(map(engine.numba().typeof, arguments)))
                function(*arguments)
            except Exception as error:
                said = [line.strip() for line in str(error).splitlines() if line.strip()]
                where = next((line for line in said if line.startswith("File")), "")
                raise ModelError(
                    f"{_MEANT[name]} of the task cannot be compiled or fails: {'; '.join(said[:3])} {where}. It gets NumPy "
                    "arrays and may call what Numba compiles: math, NumPy, functions decorated with numba.njit"
                ) from error


@functools.lru_cache(maxsize=64)
def functions_of(task: Task) -> Functions:
    """Those of a task, compiled once for all environments of it."""
    return Functions(task)


_MEANT = {"act": "act", "start": "start", "look": "observe", "judge": "reward or fails"}


def _compiled(numba: Any, name: str, function: Any, from_python: bool = False) -> Any:
    """The function compiled, to be called by others that are, or from Python, too."""
    if not callable(function):
        raise TypeError(f"{name} of a Task is a function, not {function!r}")
    if hasattr(function, "py_func"):
        return function
    return numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=not from_python)(function)


def _by_names(numba: Any, name: str, function: Any) -> Any:
    """A function of all that there is, which gives a task's function what it names."""
    compiled, known = _compiled(numba, name, function), ARGUMENTS[name]
    wanted = list(inspect.signature(getattr(function, "py_func", function)).parameters)
    for one in wanted:
        if one not in known:
            raise ModelError(f"{name} of a Task asks for {one!r}; it can ask for {', '.join(known)}")
    namespace: dict[str, Any] = {"function": compiled}
    exec(f"def one({', '.join(known)}):\n    return function({', '.join(wanted)})", namespace)
    return _compiled(numba, name, namespace["one"])


def _never(q: Any, u: Any, points: Any, goal: Any) -> bool:
    return False
