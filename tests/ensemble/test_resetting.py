"""States begin anew, and are written in place."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

import mobod as mb
from mobod import Stage


@pytest.fixture
def ensemble():
    system, state = mb.examples.double_pendulum.build()
    state.q, state.u, state.time = [0.3, -0.2], [1.0, 2.0], 0.5
    made = mb.Ensemble(system, 11, state=state)
    rng = np.random.default_rng(3)
    made.time, made.q, made.u = np.arange(11.0), rng.normal(size=(11, 2)), rng.normal(size=(11, 2))
    made.realize()
    return made


def test_reset_without_values_is_back_at_the_state_that_it_was_made_from(ensemble):
    mask = np.arange(11) % 3 == 0
    q, u_dot = ensemble.q.copy(), ensemble.u_dot.copy()
    ensemble.reset(mask)
    assert ensemble.stage == Stage.INSTANCE
    assert np.array_equal(ensemble.q[mask], np.tile([0.3, -0.2], (4, 1))) and np.array_equal(ensemble.q[~mask], q[~mask])
    assert np.all(ensemble.u[mask] == [1.0, 2.0]) and np.all(ensemble.time[mask] == 0.5)
    ensemble.realize()
    assert np.array_equal(ensemble.u_dot[~mask], u_dot[~mask])
    alone = ensemble.get_state(0)
    alone.system.realize(alone)
    np.testing.assert_allclose(ensemble.u_dot[mask], np.tile(alone.u_dot, (4, 1)), rtol=1e-12)


def test_reset_takes_a_row_for_each_that_the_mask_picks_or_one_for_all(ensemble):
    mask = np.zeros(11, bool)
    mask[[2, 7]] = True
    ensemble.reset(mask, q=[[1, 2], [3, 4]], u=(5, 6), time=[7, 8])
    assert ensemble.q[[2, 7]].tolist() == [[1, 2], [3, 4]] and ensemble.u[[2, 7]].tolist() == [[5, 6], [5, 6]]
    assert ensemble.time[[2, 7]].tolist() == [7, 8]
    ensemble.reset(time=1.0)
    assert np.all(ensemble.time == 1.0) and np.all(ensemble.q == [0.3, -0.2])
    ensemble.reset(np.zeros(11, bool), q=np.zeros((0, 2)))  # none of them


def test_reset_clears_failed(ensemble):
    q = ensemble.q.copy()
    q[4] = np.nan
    ensemble.q = q
    ensemble.realize()
    assert ensemble.failed.nonzero()[0].tolist() == [4]
    ensemble.reset(ensemble.failed)
    assert not ensemble.failed.any()
    ensemble.realize()
    assert not ensemble.failed.any() and np.all(np.isfinite(ensemble.u_dot))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"mask": [0, 1]}, TypeError, "11 bools.*isin"),
        ({"mask": [True, False]}, ValueError, r"mask has shape \(11,\).*got \(2,\)"),
        ({"q": np.zeros((2, 2))}, ValueError, r"q of Ensemble.reset has shape \(11, 2\).*or \(2,\).*got \(2, 2\)"),
        ({"u": "fast"}, TypeError, "u of Ensemble.reset"),
        ({"time": np.zeros(2)}, ValueError, "time of Ensemble.reset"),
    ],
)
def test_a_bad_reset_changes_nothing(arguments, error, says, ensemble):
    before = ensemble.q.copy(), ensemble.u.copy(), ensemble.time.copy()
    with pytest.raises(error, match=says):
        ensemble.reset(**{"q": (9, 9)} | arguments)
    assert ensemble.stage == Stage.ACCELERATION
    assert all(np.array_equal(a, b) for a, b in zip(before, (ensemble.q, ensemble.u, ensemble.time), strict=True))


@pytest.mark.parametrize(("name", "stage"), [("q", Stage.TIME), ("u", Stage.POSITION), ("z", Stage.VELOCITY)])
def test_upd_is_the_ensembles_own_memory_and_lowers_the_stage(name, stage, ensemble):
    array = getattr(ensemble, f"upd_{name}")()
    assert ensemble.stage == stage and array.flags.writeable and array.flags.c_contiguous
    array[...] = 0.25
    assert np.array_equal(getattr(ensemble, name), array)
    other = np.from_dlpack(array)
    assert np.shares_memory(other, getattr(ensemble, f"upd_{name}")()) or array.size == 0
    ensemble.realize()
    setattr(ensemble, name, array + 1.0)
    assert np.array_equal(other, array) and np.all(other == 1.25), "assigning writes to the same memory"


SHARES = """
import warnings
import mobod as mb
warnings.simplefilter("error")
ensemble = mb.Ensemble(mb.examples.double_pendulum.build()[0], 11)
assert {address} == ensemble.q.ctypes.data
"""


@pytest.mark.parametrize(
    ("module", "address"),
    [
        ("torch", "torch.from_dlpack(ensemble.upd_q()).data_ptr()"),
        ("jax", "jax.numpy.from_dlpack(ensemble.upd_q()).unsafe_buffer_pointer()"),
    ],
)
def test_torch_and_jax_share_the_memory_without_a_warning(module, address):
    """In a process of its own: a process with their threads should not fork, as other tests do."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    code = f"import {module}\n" + SHARES.format(address=address)
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "JAX_ENABLE_X64": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_rows_are_what_is_named_side_by_side_in_any_precision(ensemble):
    rows = ensemble.get_rows("q", "time", "body_transforms", "calc_m", dtype=np.float32)
    assert rows.dtype == np.float32 and rows.shape == (11, 2 + 1 + 3 * 16 + 4)
    np.testing.assert_array_equal(rows[:, :3], np.column_stack([ensemble.q, ensemble.time]).astype(np.float32))
    np.testing.assert_array_equal(rows[:, 3:51], ensemble.body_transforms.reshape(11, -1).astype(np.float32))
    out = np.zeros_like(rows)
    assert ensemble.get_rows("q", "time", "body_transforms", "calc_m", out=out) is out and np.array_equal(out, rows)
    assert ensemble.get_rows().shape == (11, 0)
    with pytest.raises(ValueError, match=r"out has to be of shape \(11, 2\) for q; got \(11, 55\)"):
        ensemble.get_rows("q", out=out)
    with pytest.raises(ValueError, match="stage of an ensemble is no array"):
        ensemble.get_rows("stage")
    with pytest.raises(AttributeError, match="no 'udot'; did you mean u_dot"):
        ensemble.get_rows("udot")
    with pytest.raises(TypeError, match="named"):
        ensemble.get_rows(3)
    with pytest.raises(TypeError, match="int64 would cut them off"):
        ensemble.get_rows("q", dtype=int)
    ensemble.upd_q()
    with pytest.raises(mb.StageError, match="u_dot"):
        ensemble.get_rows("u_dot")
