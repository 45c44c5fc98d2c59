"""A task's functions, compiled, at all states of an ensemble."""

from __future__ import annotations

import functools
from typing import Any

from ..compiling import engine
from ..errors import ModelError
from .task import Task


class Functions:
    """A task's functions over rows of arrays.

    Parameters
    ----------
    task : Task

    Attributes
    ----------
    act : compiled function
        ``act(action, q, u, goal, forces)`` of arrays with a row a state.
    start : compiled function
        ``start(mask, random, q, u, goal)``, of the states that the mask picks.
    look : compiled function
        ``look(q, u, points, goal, out)``: observations.
    judge : compiled function
        ``judge(q, u, points, action, goal, reward, fails)``.
    """

    def __init__(self, task: Task) -> None:
        numba = engine.numba()
        one_act, one_start, one_look, one_reward = (
            _compiled(numba, name, getattr(task, name)) for name in ("act", "start", "observe", "reward")
        )
        one_fails = _compiled(numba, "fails", task.fails or _never)

        def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
            for i in range(len(q)):
                one_act(action[i], q[i], u[i], goal[i], forces[i])

        def start(mask: Any, random: Any, q: Any, u: Any, goal: Any) -> None:
            for i in range(len(q)):
                if mask[i]:
                    one_start(random[i], q[i], u[i], goal[i])

        def look(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
            for i in range(len(q)):
                one_look(q[i], u[i], points[i], goal[i], out[i])

        def judge(q: Any, u: Any, points: Any, action: Any, goal: Any, reward: Any, fails: Any) -> None:
            for i in range(len(q)):
                reward[i] = one_reward(q[i], u[i], points[i], action[i], goal[i])
                fails[i] = one_fails(q[i], u[i], points[i], goal[i])

        self.act, self.start, self.look, self.judge = (_compiled(numba, f.__name__, f) for f in (act, start, look, judge))

    def try_out(self, calls: dict[str, tuple[Any, ...]]) -> None:
        """Call functions by name, each with its arguments, so that they are compiled.

        Raises
        ------
        ModelError
            If Numba cannot compile one, or it fails.
        """
        for name, arguments in calls.items():
            try:
                getattr(self, name)(*arguments)
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


def _compiled(numba: Any, name: str, function: Any) -> Any:
    if not callable(function):
        raise TypeError(f"{name} of a Task is a function, not {function!r}")
    return function if hasattr(function, "py_func") else numba.njit(nogil=True, error_model="numpy")(function)


def _never(q: Any, u: Any, points: Any, goal: Any) -> bool:
    return False
