"""Pictures by a graphics card, or software that stands for one, beside Matplotlib's; and what is said where there is none."""

import sys

import numpy as np
import pytest

import mobod as mb
from mobod.visual import card

pytest.importorskip("matplotlib")


@pytest.fixture
def no_card(monkeypatch):
    """As if wgpu were not installed."""
    monkeypatch.setitem(sys.modules, "wgpu", None)
    card.find_card.cache_clear()
    yield
    card.find_card.cache_clear()


@pytest.fixture(scope="module")
def run():
    system, state = mb.examples.double_pendulum.build()
    return mb.simulate(system, state, 0.2)


def environment(renderer):
    gym = pytest.importorskip("mobod.gym", reason="Gymnasium is not installed", exc_type=ImportError)
    env = gym.Env(gym.make_task("cart_pole"), render_mode="rgb_array", renderer=renderer)
    env.reset(seed=1)
    return env


def needs_card():
    try:
        card.find_card()
    except card.NoCard as error:
        pytest.skip(str(error))


def test_a_card_draws_what_matplotlib_draws():
    needs_card()
    envs = [environment(name) for name in ("matplotlib", "card")]
    pictures = [env.render().astype(int) for env in envs]
    assert [one.shape for one in pictures] == [(360, 480, 3)] * 2
    assert (pictures[0].min(axis=2) < 200).mean() > 0.005  # there is something to see
    off = np.abs(pictures[0] - pictures[1])
    assert off.mean() < 0.3
    assert (off.max(axis=2) > 40).mean() < 2e-3
    assert envs[0].envs.renderer == "Matplotlib"
    assert " by " in envs[1].envs.renderer


def test_films_by_card_are_matplotlibs(run, tmp_path):
    needs_card()
    from PIL import Image

    seen = []
    for name in ("matplotlib", "card"):
        run.animate(tmp_path / f"{name}.gif", renderer=name, fps=10, size=(3.0, 3.0))
        with Image.open(tmp_path / f"{name}.gif") as film:
            film.seek(film.n_frames - 1)
            seen.append((film.n_frames, np.array(film.convert("RGB")).astype(int)))
    assert seen[0][0] == seen[1][0] == 3
    assert np.abs(seen[0][1] - seen[1][1]).mean() < 1.5  # of two palettes


def test_without_wgpu_matplotlib_draws_and_the_reason_is_told(no_card, run, tmp_path):
    env = environment("auto")
    assert env.render().shape == (360, 480, 3)
    assert env.envs.renderer == "Matplotlib, since wgpu is not installed: pip install 'mobod[wgpu]'"
    with pytest.raises(RuntimeError, match="wgpu is not installed"):
        environment("card").render()
    with pytest.raises(RuntimeError, match="wgpu is not installed"):
        run.animate(tmp_path / "film.gif", renderer="card", fps=10)


def test_other_renderers_are_refused(run):
    with pytest.raises(ValueError, match="renderer has to be 'auto', 'card' or 'matplotlib', not 'cuda'"):
        environment("cuda")
    with pytest.raises(ValueError, match="not 'cuda'"):
        run.animate(renderer="cuda")
