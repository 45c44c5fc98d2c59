"""Env: one environment of a task, for what expects a single one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from ..value.attributes import named_arguments
from .task import Task
from .vector_env import VectorEnv, metadata_of

Array = npt.NDArray[Any]


class Env(gymnasium.Env[Array, Array]):
    """One environment of a task. For learning take a `VectorEnv`, which is many times faster a step.

    Parameters
    ----------
    task : Task
    max_episode_steps : int, optional
        In place of the task's.
    render_mode : str, optional
        ``"rgb_array"`` or ``"human"``, see `VectorEnv`.
    renderer : str
        What makes pictures, see `VectorEnv`; its ``envs.renderer`` is what does.

    Examples
    --------
    >>> import mobod.gym
    >>> env = mobod.gym.Env(mobod.gym.make_task("pendulum"))
    >>> observation, info = env.reset(seed=3)
    >>> observation.shape
    (3,)
    """

    @named_arguments
    def __init__(
        self, task: Task, *, max_episode_steps: int | None = None, render_mode: str | None = None, renderer: str = "auto"
    ) -> None:
        choices: dict[str, Any] = {"max_episode_steps": max_episode_steps, "render_mode": render_mode, "renderer": renderer}
        self.envs = VectorEnv(task, 1, autoreset_mode=AutoresetMode.DISABLED, **choices)
        self.metadata, self.render_mode = metadata_of(task), render_mode
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode; the generator goes on unless a seed is given."""
        super().reset(seed=seed)
        self.envs.take_generator(0, self.np_random)
        observations, _ = self.envs.reset()
        return observations[0], {}

    def step(self, action: npt.ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One step; see `VectorEnv.step`."""
        observations, rewards, terminations, truncations, infos = self.envs.step(np.asarray(action, float)[None])
        failed = {"integration_failed": True} if "integration_failed" in infos else {}
        return observations[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), failed

    def render(self) -> Array | None:
        """The picture ``(360, 480, 3)`` of the environment as it is, None in mode ``"human"``; see `VectorEnv.render`."""
        pictures = self.envs.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """Close the page, if there is one."""
        self.envs.close()
