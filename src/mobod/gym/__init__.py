"""Reinforcement learning: vector environments of Gymnasium's over an `Ensemble`, and six tasks. Needs the extra ``gym``.

`Task` says what an environment is: a system and compiled functions of its states. `VectorEnv` has any number of them in one
ensemble; `Env` has one, for what expects a single environment. Importing this registers the bundled tasks with Gymnasium.
"""

from typing import Any

try:
    import gymnasium as _gymnasium
except ImportError as error:
    raise ImportError("mobod.gym needs Gymnasium: pip install 'mobod[gym]'") from error

from .env import Env
from .task import Task
from .tasks import TASKS, make_task
from .vector_env import VectorEnv

__all__ = ["TASKS", "Env", "Task", "VectorEnv", "make_task"]


def _make_env(task: str, **settings: Any) -> Env:
    return Env(make_task(task), **settings)


def _make_vector_env(task: str, num_envs: int, **settings: Any) -> VectorEnv:
    return VectorEnv(make_task(task), num_envs, **settings)


for _name, _id in TASKS.items():
    if _id not in _gymnasium.registry:
        _makers: Any = {"entry_point": _make_env, "vector_entry_point": _make_vector_env}
        _gymnasium.register(_id, **_makers, kwargs={"task": _name}, disable_env_checker=True)
