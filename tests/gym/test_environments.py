"""Environments conform to Gymnasium, and a state's episode depends on its seed alone."""

import dataclasses
from collections import namedtuple

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="NO Gymnasium HERE: install mobod[gym]")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import SyncVectorEnv  # noqa: E402

import mobod as mb  # noqa: E402
import mobod.gym  # noqa: E402
from mobod.gym import TASKS, Env, VectorEnv, make_task  # noqa: E402
from pages import run  # noqa: E402

SEED = 20261123
SLOW = {"g1_stand", "walker"}
each_task = pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n in SLOW)) for n in TASKS])


def play(envs, actions, seed):
    """Everything that comes back from episodes with these actions."""
    out = [envs.reset(seed=seed)[0]]
    for action in actions:
        out += envs.step(action)[:4]
    return out


@pytest.mark.filterwarnings("ignore:.*infinity")
@each_task
def test_gymnasiums_checker(name):
    env = gymnasium.make(TASKS[name])
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.id == TASKS[name]
    observation, _ = env.reset(seed=SEED)
    assert env.observation_space.contains(observation)


@each_task
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_as_environments_one_by_one(name, mode):
    """Beside Gymnasium's own vector of single environments: the same numbers, resets included."""
    n, steps, longest = 3, 12, 5
    task, rng = make_task(name), np.random.default_rng(SEED)
    actions = rng.uniform(-1, 1, (steps, n, task.num_actions)).astype(np.float32)
    ours = VectorEnv(task, n, autoreset_mode=mode, max_episode_steps=longest)
    theirs = SyncVectorEnv([lambda: Env(task, max_episode_steps=longest)] * n, autoreset_mode=mode)
    columns = actions.swapaxes(1, 2).copy().swapaxes(1, 2)  # each step's in Fortran's order
    for a, b in zip(play(ours, columns, SEED), play(theirs, actions, SEED), strict=True):
        assert np.array_equal(a, b)
    if mode == "SameStep":
        ours.reset(seed=SEED), theirs.reset(seed=SEED)
        for action in actions[:longest]:
            one, other = ours.step(action)[4], theirs.step(action)[4]
        assert one["_final_obs"].tolist() == other["_final_obs"].tolist() == [True] * n
        assert np.array_equal(one["final_obs"], np.stack(list(other["final_obs"])))


def test_an_episode_depends_on_its_seed_alone():
    """Not on how many others there are, nor on threads."""
    task, rng = make_task("pendulum"), np.random.default_rng(SEED)
    actions = rng.uniform(-1, 1, (30, 40, 1))
    few, many = VectorEnv(task, 3), VectorEnv(task, 40, threads=2)
    for a, b in zip(play(few, actions[:, :3], 5), play(many, actions, 5), strict=True):
        assert np.array_equal(a, b[:3])
    shifted = VectorEnv(task, 3)
    for a, b in zip(play(shifted, actions[:, 7:10], [12, 13, 14]), play(many, actions, 5), strict=True):
        assert np.array_equal(a, b[7:10])


def test_what_functions_of_tasks_are_compiled_to_is_kept_on_disk(monkeypatch):
    """Once for all calls; also of two that differ by a number in a closure alone; not where one calls another of Numba's."""
    from numba import njit
    from numba.core import compiler

    from mobod.gym import rows

    def pushed(gain):
        def act(action, forces):
            forces[0] = gain * action[0]

        return dataclasses.replace(make_task("pendulum"), act=act)

    tasks, actions = [pushed(1.0), pushed(-3.0)], np.full((3, 2, 1), 0.5)
    first = [play(VectorEnv(task, 2), actions, 5) for task in tasks]
    assert not np.array_equal(first[0][1], first[1][1])
    for task in tasks:
        functions = rows.functions_of(task)
        assert all(len(getattr(functions, name).overloads) == 1 for name in ("act", "start", "look", "judge"))
    rows.functions_of.cache_clear()
    compile_it = compiler.compile_extra
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_extra", None)
        again = [play(VectorEnv(task, 2), actions, 5) for task in tasks]
    assert compiler.compile_extra is compile_it
    for one, other in zip(first, again, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    half = njit(lambda x: 0.5 * x)

    def act(action, forces):
        forces[0] = half(2.0 * action[0])

    called = play(VectorEnv(dataclasses.replace(tasks[0], act=act), 2), actions, 5)
    assert all(np.array_equal(a, b) for a, b in zip(called, first[0], strict=True))


def test_what_depends_on_a_users_class_is_not_kept_on_disk():
    """As compiled code of one whose fields are in another order would be found."""

    def rewarded(pair):
        return dataclasses.replace(make_task("pendulum"), reward=lambda q: pair.first)

    pairs = [namedtuple("Pair", fields)(2.0, 4.0) for fields in ("first second", "second first")]
    assert [play(VectorEnv(rewarded(pair), 1), [np.zeros((1, 1))], 5)[2] for pair in pairs] == [2.0, 4.0]


def test_make_vec_takes_the_ensemble():
    envs = gymnasium.make_vec("mobod/CartPole-v0", num_envs=5, vectorization_mode="vector_entry_point", threads=2)
    assert isinstance(envs.unwrapped, VectorEnv)
    assert envs.reset(seed=1)[0].shape == (5, 4)
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    assert gymnasium.make_vec("mobod/CartPole-v0", num_envs=2, vectorization_mode="sync").reset(seed=1)[0].shape == (2, 4)


def test_disabled_autoreset_asks_for_a_mask():
    envs = VectorEnv(make_task("cart_pole"), 4, autoreset_mode="Disabled", max_episode_steps=3)
    with pytest.raises(RuntimeError, match="reset before its first step"):
        envs.step(np.zeros((4, 1)))
    envs.reset(seed=0)
    for _ in range(3):
        _, _, terminations, truncations, _ = envs.step(np.zeros((4, 1)))
    assert truncations.all() and not terminations.any()
    with pytest.raises(RuntimeError, match=r"environments \[0, 1, 2, 3\] have ended"):
        envs.step(np.zeros((4, 1)))
    before = envs.ensemble.q.copy()
    mask = np.array([True, False, True, True])
    envs.reset(options={"reset_mask": mask})
    assert np.array_equal(envs.ensemble.q[1], before[1]) and not np.array_equal(envs.ensemble.q[0], before[0])
    with pytest.raises(RuntimeError, match=r"environments \[1\] have ended"):
        envs.step(np.zeros((4, 1)))


def test_the_cart_pole_is_that_of_barto_sutton_and_anderson():
    """Against their equations of motion, integrated by SciPy over one step."""
    from scipy.integrate import solve_ivp

    def rates(t, y, force):
        _, v, a, w = y
        g, m, pole, half = 9.8, 1.1, 0.1, 0.5
        lean, upright = -a, np.cos(a)  # theirs is positive to the right, a hinge about z turns to the left
        part = (force + pole * half * w * w * np.sin(lean)) / m
        turn = (g * np.sin(lean) - upright * part) / (half * (4.0 / 3.0 - pole * upright**2 / m))
        return [v, part - pole * half * turn * upright / m, w, -turn]

    envs = VectorEnv(make_task("cart_pole"), 8)
    start, _ = envs.reset(seed=SEED)
    actions = np.linspace(-1, 1, 8)[:, None]
    end = envs.step(actions)[0]
    for i in range(8):
        begin, force = start[i].astype(float), 10.0 * actions[i, 0]
        exact = solve_ivp(rates, (0, 0.02), begin, args=(force,), rtol=1e-10, atol=1e-12).y[:, -1]
        assert np.allclose(end[i], exact, atol=1e-6)


def test_rewards_and_what_ends_an_episode():
    envs = VectorEnv(make_task("cart_pole"), 2, autoreset_mode="SameStep")
    envs.reset(seed=0)
    total = np.zeros(2)
    for _ in range(100):
        _, rewards, terminations, _, infos = envs.step(np.ones((2, 1)))
        total += rewards
        if terminations.any():
            break
    assert terminations.any() and 5 < total[0] < 30
    last = infos["final_obs"][np.flatnonzero(terminations)[0]]
    assert abs(last[2]) > np.radians(12) or abs(last[0]) > 2.4
    assert infos["_final_obs"].tolist() == terminations.tolist()


def test_actions_are_clipped():
    ends = []
    for action in (1.0, 7.0):
        envs = VectorEnv(make_task("pendulum"), 1)
        envs.reset(seed=SEED)
        ends.append(envs.step([[action]])[:2])
    assert np.array_equal(ends[0][0], ends[1][0]) and ends[0][1] == ends[1][1]


def too_fast(random, q, u, goal):
    """A start from which centrifugal forces overflow."""
    q[0], q[1], u[0] = 0.1, 0.5, 1e200


def test_a_state_that_cannot_be_advanced_ends_its_episode():
    envs = VectorEnv(dataclasses.replace(make_task("double_pendulum"), start=too_fast), 2)
    envs.reset(seed=0)
    for fails in (True, False, True):  # the step between begins anew, and what its state did before does not count
        observations, _, terminations, truncations, infos = envs.step(np.zeros((2, 1)))
        assert terminations.tolist() == [fails] * 2 and not truncations.any()
        assert infos.get("integration_failed", np.zeros(2, bool)).tolist() == [fails] * 2
        assert np.isfinite(observations[:, :4]).all()


def test_what_a_task_must_not_be():
    task = make_task("pendulum")

    def changed(**what):
        return dataclasses.replace(task, **what)

    with pytest.raises(ValueError, match="did you mean cart_pole"):
        make_task("cartpole")
    with pytest.raises(ValueError, match="low and high are bounds"):
        changed(low=[2.0])
    with pytest.raises(ValueError, match="multiple of control_interval"):
        changed(control_interval=0.03)
    with pytest.raises(ValueError, match=r"step_size has to be positive, got -1\.0"):
        changed(step_size=-1.0)
    with pytest.raises(ValueError, match="observation_low has 3 numbers, got 1"):
        changed(observation_low=[0.0])
    with pytest.raises(mb.ModelError, match="observe of the task cannot be compiled or fails"):
        VectorEnv(changed(observe=lambda q, u, points, goal, out: open("nothing")), 1)
    with pytest.raises(mb.ModelError, match=r"observe of the task goes beyond an array: .* out \(3,\)"):
        VectorEnv(changed(observe=lambda q, u, points, goal, out: out.__setitem__(3, q[0])), 1)
    with pytest.raises(TypeError, match="integrator is a class of"):
        changed(integrator=mb.integrator.RungeKutta3(task.build()[0]))
    with pytest.raises(TypeError, match="reward of a Task is a function, not 3"):
        VectorEnv(changed(reward=3), 1)
    with pytest.raises(TypeError, match=r"has to be a Task, such as mobod\.gym\.make_task.*, not 'pendulum'"):
        VectorEnv("pendulum", 1)
    with pytest.raises(mb.ModelError, match=r"returns \(system, state\)"):
        VectorEnv(changed(build=lambda: None), 1)
    envs = VectorEnv(task, 2)
    envs.reset(seed=0)
    before = envs.ensemble.q.copy()
    with pytest.raises(ValueError, match=r"actions have shape \(2, 1\), got \(1, 2\)"):
        envs.step(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="actions have to be finite"):
        envs.step([[np.nan], [0.0]])
    with pytest.raises(ValueError, match="seeds are one for each of the 2 environments, got 3"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": [1, 0]})
    assert np.array_equal(envs.ensemble.q, before)


def test_the_examples_of_the_tutorial_run_and_teach_a_policy(capsys, tmp_path, monkeypatch):
    pytest.importorskip("cma")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names = run("environment.md")
    assert names["history"][-1].max() > 300.0
    assert "mean return" in capsys.readouterr().out


def test_pictures_show_each_environment_as_it_is():
    pytest.importorskip("matplotlib")
    task = make_task("pendulum")
    envs = VectorEnv(task, 3, render_mode="rgb_array")
    envs.reset(seed=[1, 2, 1])
    one, other, same = envs.render()
    assert one.shape == (360, 480, 3) and one.dtype == np.uint8 and one.std() > 5.0
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    single = Env(task, render_mode="rgb_array")
    single.reset(seed=1)
    assert np.array_equal(single.render(), one)
    for _ in range(20):
        single.step([1.0])
    assert not np.array_equal(single.render(), one)
    envs.ensemble.upd_q()[1] = np.nan
    assert (envs.render()[1] == 255).all()


@pytest.mark.filterwarnings("ignore:.*infinity")
def test_the_checker_looks_at_pictures_too(monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("viser")
    monkeypatch.setattr("webbrowser.open", lambda *_, **__: True)
    env = gymnasium.make(TASKS["cart_pole"], render_mode="rgb_array")
    check_env(env.unwrapped)


def test_a_page_shows_the_environments_and_is_closed(monkeypatch):
    pytest.importorskip("viser")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url, *_, **__: opened.append(url))
    envs = gymnasium.make_vec(TASKS["cart_pole"], 2, vectorization_mode="vector_entry_point", render_mode="human")
    envs.reset(seed=SEED)
    for _ in range(3):
        envs.step(np.zeros((2, 1)))
    assert envs.render() is None and len(opened) == 1
    page = envs.unwrapped._page
    envs.close()
    assert page.is_closed


def test_what_cannot_be_rendered_says_so():
    task = make_task("pendulum")
    with pytest.raises(ValueError, match="render_mode has to be None"):
        Env(task, render_mode="ansi")
    envs = VectorEnv(task, 1)
    envs.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert envs.render() is None


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda task: VectorEnv(task, 2, thread=2), TypeError, "did you mean 'threads'"),
        (lambda task: VectorEnv(task, 0), ValueError, "num_envs has to be 1 or more"),
        (lambda task: VectorEnv(task, 2, max_episode_steps="many"), TypeError, "max_episode_steps"),
        (lambda task: Env(task, render="human"), TypeError, "did you mean 'render_mode' or 'renderer'"),
        (lambda task: VectorEnv(task, 2).reset(options={"mask": [True, False]}), ValueError, "reset_mask"),
        (lambda task: VectorEnv(task, 2).reset(seed="a"), TypeError, "seed"),
        (lambda task: VectorEnv(task, 2).reset(seed=1.5), TypeError, "seed is an integer"),
        (lambda task: VectorEnv(task, 2).reset(options=3), TypeError, "options has to be a Mapping"),
        (
            lambda task: VectorEnv(task, 2, autoreset_mode="never"),
            ValueError,
            "'SameStep', 'Disabled'; got 'never'",
        ),
        (lambda task: make_task("cartpole"), ValueError, "did you mean cart_pole"),
        (lambda task: make_task(5), TypeError, "cart_pole"),
    ],
)
def test_what_cannot_be_asked_for_says_so(ask, error, says):
    with pytest.raises(error, match=says):
        ask(make_task("cart_pole"))
