"""VectorEnv: any number of environments of one task, in one ensemble."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..ensemble.ensemble import Ensemble
from ..value.attributes import named_arguments
from ..value.checks import among, instance, integer, numbers
from ..value.stage import Stage
from .camera import Camera
from .delay import Delay
from .rows import functions_of
from .seen import Seen
from .task import Task, of_moments

if TYPE_CHECKING:
    from ..viewer.crowd_viewer import CrowdViewer

Array = npt.NDArray[Any]


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Environments of one task, each a state of an ensemble.

    State i has a generator of random numbers of its own, seeded by ``seed + i``, so that its episodes are the same whatever the
    other states, their number and the threads are; and the same as those of a single `Env` of that seed.

    Parameters
    ----------
    task : Task
    num_envs : int
    threads : int
        See `Ensemble`.
    autoreset_mode : AutoresetMode or str
        What becomes of an environment whose episode has ended: ``"NextStep"``, its next step begins a new one and ignores the
        action; ``"SameStep"``, the step that ends it already returns the new one's first observation, and the last as
        ``infos["final_obs"]``; ``"Disabled"``, the caller resets, by ``reset(options={"reset_mask": mask})``.
    max_episode_steps : int, optional
        In place of the task's.
    render_mode : str, optional
        ``"rgb_array"``: `render` gives pictures (``mobod[plot]``). ``"human"``: a page in the browser shows all environments
        side by side (``mobod[view]``), no faster than they move.
    renderer : str
        What makes pictures: ``"auto"``, a graphics card where there is one (``mobod[wgpu]``), or else Matplotlib, 30 to 60 ms
        each; ``"card"`` or ``"matplotlib"``, that and no other.

    Attributes
    ----------
    ensemble : Ensemble
        The states, for looking at.
    task : Task
    renderer : str
        What makes pictures, once there has been one: the card's name, or Matplotlib, and why.

    Notes
    -----
    Observations are float32, rewards float64. Actions are clipped to their bounds. A state that the integrator cannot advance
    terminates its episode, with ``infos["integration_failed"]``.

    Examples
    --------
    >>> import mobod.gym, numpy as np
    >>> envs = mobod.gym.VectorEnv(mobod.gym.make_task("cart_pole"), 16)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations.shape
    (16, 4)
    >>> observations, rewards, terminations, truncations, infos = envs.step(np.zeros((16, 1)))
    >>> rewards.sum()
    np.float64(16.0)
    """

    @named_arguments
    def __init__(
        self,
        task: Task,
        num_envs: int,
        *,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        renderer: str = "auto",
    ) -> None:
        instance("task", task, Task, "mobod.gym.make_task(name)")
        self.task, self.num_envs = task, integer("num_envs", num_envs, least=1)
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise ValueError(f"autoreset_mode is one of {modes}; got {autoreset_mode!r}") from None
        self.metadata = {**metadata_of(task), "autoreset_mode": self.autoreset_mode}
        among("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.render_mode = render_mode
        self.renderer = among("renderer", renderer, ("auto", "card", "matplotlib"))
        self._camera: Camera | None = None
        self._page: CrowdViewer | None = None
        self._shown = -np.inf
        system, state, self._points, more = task.make()
        self.ensemble = Ensemble(system, num_envs, state=state, threads=threads)
        longest = task.max_episode_steps if max_episode_steps is None else max_episode_steps
        self._longest = integer("max_episode_steps", longest, least=1)
        m = task.num_observations
        bounds = (
            np.full(m, sign * np.inf) if given is None else np.asarray(given)
            for sign, given in ((-1, task.observation_low), (1, task.observation_high))
        )
        low, high = (bound.astype(np.float32) for bound in bounds)
        self.single_observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.single_action_space = gymnasium.spaces.Box(*np.array([task.low, task.high], np.float32), dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._q, self._u, self._time = self.ensemble.q, self.ensemble.u, self.ensemble.time  # views, which stay
        self._goal = np.zeros((num_envs, task.num_goals))
        self._forces = np.zeros((num_envs, self.ensemble.u.shape[1]))
        self._observed = np.zeros((num_envs, m))
        self._seen = Seen(self.ensemble, self._points, more)
        self._vary = task.varied(system)
        self._varied = [np.tile(low, (num_envs, 1)) for _, low, _ in self._vary]
        self._parameters = np.array([[low[0] for _, low, _ in self._vary]] * num_envs).reshape(num_envs, len(self._vary))
        # bounds for each environment: NumPy takes three times as long where it has to stretch them
        self._low, self._high = (np.tile(np.array(bound, float), (num_envs, 1)) for bound in (task.low, task.high))
        self._neutral = np.clip(np.zeros(task.num_actions), self._low[0], self._high[0])
        self._action = np.tile(self._neutral, (num_envs, 1))
        self._drawn = np.zeros((num_envs, task.num_random + len(self._vary) + 2))
        self._for_start = np.zeros((num_envs, task.num_random))  # by themselves: `start` is compiled for arrays without gaps
        self._late_actions = Delay(task.delays("action_delay"), self._action)
        self._late_observations = Delay(task.delays("observation_delay"), np.zeros((num_envs, m)))
        self._steps, self._over = np.zeros(num_envs, np.int64), np.ones(num_envs, np.bool_)
        self._random: list[np.random.Generator] = []
        self._functions = functions_of(task)
        self._try_out()

    def _try_out(self) -> None:
        """Compile the task's functions, on copies of the first states."""
        task, q, u, goal = self.task, self.ensemble.q[:1].copy(), self.ensemble.u[:1].copy(), self._goal[:1].copy()
        action, points = self._action[:1].copy(), np.zeros((1, len(self._points), 6))
        contacts, sensors = (np.zeros((1, *shape)) for shape in self._seen.shapes())
        parameters = self._parameters[:1].copy()
        # read-only, as they are in steps: for others each function would be compiled twice
        seen_q, seen_u, time = (array[:1].copy() for array in (self._q, self._u, self._time))
        for array in (seen_q, seen_u, time):
            array.setflags(write=False)
        more = contacts, sensors, parameters, time
        m, no = task.num_observations, np.zeros(1, np.bool_)
        counted = np.zeros(1, np.int64), self._longest, no.copy()
        self._functions.try_out(
            {
                "start": (np.ones(1, np.bool_), np.full((1, task.num_random), 0.5), q, u, goal, parameters),
                "act": (action, seen_q, seen_u, goal, np.zeros_like(u), parameters, time),
                "look": (seen_q, seen_u, points, goal, np.zeros((1, m)), action, *more, np.zeros((1, m), np.float32)),
                "judge": (seen_q, seen_u, points, action, goal, np.zeros(1), no.copy(), *more, no, no, *counted),
            }
        )

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin new episodes.

        Parameters
        ----------
        seed : int or sequence of int or None, optional
            ``seed + i`` is state i's; a sequence has one for each. The generators go on unless given; those of a first reset
            without seeds are drawn by the operating system.
        options : dict, optional
            ``{"reset_mask": mask}``, an ``(n,)`` array of bools, resets these environments only.

        Returns
        -------
        observations : (n, m) float32 array
        infos : dict

        Raises
        ------
        ValueError, TypeError
            If there are not as many seeds as environments, or the mask is none.
        """
        mask = _mask(options, self.num_envs)
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds: Sequence[int | None] = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        elif isinstance(seed, str) or not isinstance(seed, Iterable):
            raise TypeError(f"seed is an integer, or a sequence of one for each environment, not {seed!r}")
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seeds are one for each of the {self.num_envs} environments, got {len(seeds)}")
        if not self._random:
            self._random = [seeding.np_random(one)[0] for one in seeds]
        else:
            for i, one in enumerate(seeds):
                if mask[i] and one is not None:
                    self._random[i] = seeding.np_random(one)[0]
        self._begin(mask)
        self._show()
        observed = self._look()
        self._late_observations.fill(mask, observed)
        return self._late_observations.now(observed), {}

    def take_generator(self, i: int, generator: np.random.Generator) -> None:
        """Give environment *i* a random generator of the caller's."""
        if not self._random:
            self._random = [generator] * self.num_envs
        self._random[i] = generator

    def _begin(self, mask: npt.NDArray[np.bool_]) -> None:
        """New episodes of the environments that a mask picks."""
        which = mask.nonzero()[0]
        if not len(which):
            return
        own, varied = self.task.num_random, len(self._vary)
        random = self._drawn
        drawn = own + varied + (2 if self._late_actions.is_drawn or self._late_observations.is_drawn else 0)
        for i in which.tolist():
            self._random[i].random(out=random[i, :drawn])
        self.ensemble.reset(mask)
        for j, (setter, low, high) in enumerate(self._vary):
            values = self._varied[j]
            values[which] = low + (high - low) * random[which, own + j, None]
            self._parameters[which, j] = values[which, 0]
            self.ensemble.set_each(setter, of_moments(values) if len(low) > 1 else values[:, 0].copy())
        self._late_actions.draw(mask, random[:, own + varied])
        self._late_observations.draw(mask, random[:, own + varied + 1])
        self._action[which] = self._neutral
        self._late_actions.fill(mask, self._action)
        q, u = self.ensemble.upd_q(), self.ensemble.upd_u()
        self._for_start[which] = random[which, :own]
        self._functions.start(mask, self._for_start, q, u, self._goal, self._parameters)
        self._steps[which], self._over[which] = 0, False

    def step(self, actions: npt.ArrayLike) -> tuple[Array, Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """One step of each environment.

        Parameters
        ----------
        actions : (n, k) array_like
            Those of environments that begin a new episode in this step are ignored.

        Returns
        -------
        observations : (n, m) float32 array
        rewards : (n,) array
        terminations, truncations : (n,) bool arrays
        infos : dict

        Raises
        ------
        ValueError
            If the actions have another shape or are not numbers.
        RuntimeError
            Before the first `reset`, and where ``"Disabled"`` leaves an ended episode that has not been reset.
        """
        if not self._random:
            raise RuntimeError("an environment has to be reset before its first step: call reset(seed=...)")
        task, n = self.task, self.num_envs
        wanted = numbers("actions", actions)
        if wanted.shape != (n, task.num_actions):
            raise ValueError(f"actions have shape {(n, task.num_actions)}, got {wanted.shape}")
        if not np.isfinite(wanted.sum()) and not np.isfinite(wanted).all():
            raise ValueError("actions have to be finite")
        begins = self._over
        any_begins = bool(begins.any())
        if any_begins and self.autoreset_mode == AutoresetMode.DISABLED:
            raise RuntimeError(
                f"the episodes of environments {np.flatnonzero(begins)[:8].tolist()} have ended: reset them by "
                'reset(options={"reset_mask": mask}) before the next step'
            )
        action = np.maximum(wanted, self._low, order="C")
        np.minimum(action, self._high, out=action)
        failed = self._advance(action)
        rewards, terminations, truncations = np.empty(n), np.empty(n, np.bool_), np.empty(n, np.bool_)
        seen = points, contacts, sensors = self._seen.look()
        self._functions.judge(
            self._q, self._u, points, action, self._goal, rewards, terminations,
            contacts, sensors, self._parameters, self._time, begins, failed, self._steps, self._longest, truncations,
        )  # fmt: skip
        self._action[:] = action
        infos: dict[str, Any] = {}
        if failed.any():
            failed &= ~begins
            if failed.any():
                infos = {"integration_failed": failed, "_integration_failed": failed.copy()}
        self._over = terminations | truncations
        if any_begins:
            self._begin(begins)
        current = self._look(None if any_begins else seen)
        self._late_observations.fill(begins, current)
        observed = self._late_observations.step(current)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            ended = self._over.copy()
            infos |= {"final_obs": observed.copy(), "_final_obs": ended, "final_info": {}, "_final_info": ended.copy()}
            self._begin(ended)
            current = self._look()
            self._late_observations.fill(ended, current)
            observed[ended] = current[ended]
        self._show()
        return observed, rewards, terminations, truncations, infos

    def _advance(self, action: Array) -> npt.NDArray[np.bool_]:
        """Simulate for the interval; which states could not."""
        task, ensemble = self.task, self.ensemble
        failed = np.zeros(self.num_envs, np.bool_)
        for _ in range(task.repeats):
            late = self._late_actions.step(action)
            self._functions.act(late, self._q, self._u, self._goal, self._forces, self._parameters, self._time)
            ensemble.step(
                task.interval / task.repeats,
                integrator=task.integrator,
                fixed_step_size=task.step_size,
                mobility_forces=self._forces,
            )
            failed |= ensemble.failed
        return failed

    def _look(self, seen: tuple[Array, Array, Array] | None = None) -> Array:
        """Observations of all states, from what has been *seen* of them since they were changed."""
        points, contacts, sensors = self._seen.look() if seen is None else seen
        more = self._action, contacts, sensors, self._parameters, self._time
        found = np.empty(self._observed.shape, np.float32)
        self._functions.look(self._q, self._u, points, self._goal, self._observed, *more, found)
        return found

    def render(self) -> tuple[Array, ...] | None:
        """Pictures of all environments as they are, ``(360, 480, 3)`` each; None unless the render mode is ``"rgb_array"``.

        Raises
        ------
        ImportError
            If Matplotlib is not installed.
        RuntimeError
            If the renderer is ``"card"`` and there is no graphics card, nor software that stands for one.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() shows nothing: make the environment with render_mode='rgb_array' or 'human'")
            return None
        if self.render_mode == "human":
            self._show()
            return None
        if self._camera is None:
            self._camera = Camera(self.ensemble.get_state(0), self.renderer)
            self.renderer = self._camera.renderer
            if "finds no" in self.renderer:  # somebody installed wgpu, and expects a card
                gymnasium.logger.warn(f"pictures are drawn by {self.renderer}")
        self.ensemble.realize(Stage.POSITION)
        return tuple(self._camera.take(i, X_GB) for i, X_GB in enumerate(self.ensemble.body_transforms))

    def _show(self) -> None:
        """Bring the page to where the environments are, not before it is time for that."""
        if self.render_mode != "human":
            return
        if self._page is None:
            self.ensemble.realize(Stage.POSITION)
            size = float(np.ptp(self.ensemble.body_transforms[0, :, :3, 3], axis=0).max())
            self._page = self.ensemble.view(spacing=3.0 * (size or 1.0), title="mobod.gym")
        time.sleep(max(0.0, self._shown + self.task.interval - time.perf_counter()))
        self._shown = time.perf_counter()
        self._page.show()

    def close_extras(self, **settings: Any) -> None:
        """Close the page, if there is one."""
        if self._page is not None:
            self._page.close()
            self._page = None

    def __repr__(self) -> str:
        return f"<mobod.gym.VectorEnv of {self.num_envs} environments>"


def metadata_of(task: Task) -> dict[str, Any]:
    """Metadata of a task's environments: how they are rendered."""
    return {"render_modes": ["human", "rgb_array"], "render_fps": max(1, round(1.0 / task.interval))}


def _mask(options: dict[str, Any] | None, n: int) -> npt.NDArray[np.bool_]:
    """Mask of the environments to reset."""
    if options:
        instance("options", options, Mapping, "{'reset_mask': mask}")
        for name in options:
            if name != "reset_mask":
                raise ValueError(f"options has no {name!r}; there is 'reset_mask', of those to reset")
    given = (options or {}).get("reset_mask")
    if given is None:
        return np.ones(n, np.bool_)
    mask = np.asarray(given)
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise ValueError(f'options["reset_mask"] is {n} bools, one an environment; got {mask.dtype} of shape {mask.shape}')
    return mask
