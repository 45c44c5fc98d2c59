"""The bundled tasks, one a file."""

from __future__ import annotations

import importlib

from ...value.checks import all_known
from ..task import Task

#: By name, the identifier with which Gymnasium knows each.
TASKS = {
    "cart_pole": "mobod/CartPole-v0",
    "pendulum": "mobod/Pendulum-v0",
    "double_pendulum": "mobod/DoublePendulumSwingUp-v0",
    "panda_reach": "mobod/PandaReach-v0",
    "g1_stand": "mobod/G1Stand-v0",
    "walker": "mobod/Walker-v0",
}


def make_task(name: str) -> Task:
    """A bundled task.

    Parameters
    ----------
    name : str
        One of `TASKS`.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if not isinstance(name, str):
        raise TypeError(f"a task is named by a str, one of {', '.join(TASKS)}; got {name!r}")
    all_known("there is no task", [name], TASKS)
    return importlib.import_module(f"{__name__}.{name}").TASK
