"""A state of an ensemble that is not a number leaves its neighbours' bits as they are: in each operator, and in each run."""

import inspect
import os
import warnings

import numpy as np
import pytest

import mobod as mb

SEED = int(os.environ.get("MOBOD_TEST_SEED", "20261128"))
N = 11  # a full eight, and three


def pair(example, seed, field, bad):
    """Two ensembles of the same states, of which one has what is not a number in one state."""
    system, state = getattr(mb.examples, example).build()
    rng = np.random.default_rng(seed)
    q = state.q + 0.05 * rng.standard_normal((N, len(state.q)))
    u = 0.1 * rng.standard_normal((N, len(state.u)))
    made = []
    which = int(rng.integers(N))
    for hurt in (False, True):
        ensemble = mb.Ensemble(system, N, state=state)
        own_q, own_u = q.copy(), u.copy()
        if hurt:
            array = own_q if field == "q" else own_u
            array[which, rng.integers(array.shape[1])] = bad
        ensemble.q, ensemble.u = own_q, own_u
        made.append(ensemble)
    return *made, which


def rows(value):
    """The arrays of a result that have a row a state."""
    if isinstance(value, np.ndarray):
        return [value] if value.ndim and len(value) == N else []
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in rows(part)]
    return []


def same_but(which, healthy, hurt, what):
    others = np.arange(N) != which
    assert len(healthy) == len(hurt), what
    for a, b in zip(healthy, hurt, strict=True):
        assert a[others].tobytes() == b[others].tobytes(), f"seed {SEED}: {what} of the others changed"


def quiet(call, *arguments, **more):
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            return call(*arguments, **more)
        except (mb.MobodError, ValueError, NotImplementedError, TypeError) as error:
            return error


@pytest.mark.parametrize("field", ["q", "u"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("example", ["double_pendulum", "four_bar"])
def test_operators(example, field, bad):
    healthy, hurt, which = pair(example, SEED, field, bad)
    others = np.arange(N) != which
    quiet(healthy.realize)
    quiet(hurt.realize)
    same_but(which, rows(healthy.u_dot), rows(hurt.u_dot), "u_dot")
    seen = 0
    rng = np.random.default_rng(SEED)
    u_like, station = rng.standard_normal((N, healthy.u.shape[1])), (0.1, 0.2, -0.3)
    for name, _ in inspect.getmembers(type(healthy), callable):
        if not name.startswith(("calc_", "multiply_", "get_", "find_", "body_", "linearize")):
            continue
        method = getattr(healthy, name)
        required = [p.name for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        known = {"u": u_like, "a": u_like, "v": u_like, "u_dot": u_like, "known_udot": u_like, "F_ga": np.ones((N, 2, 3))}
        known |= {"f_gp": np.ones((N, 3)), "on_body_b": 2}
        known |= dict.fromkeys(("origin_ao_in_b", "station_p_in_b"), station)
        if not set(required) <= set(known):
            continue
        found = [quiet(getattr(one, name), *(known[p] for p in required)) for one in (healthy, hurt)]
        if isinstance(found[0], Exception) or isinstance(found[1], Exception):
            continue
        compared = [rows(one) for one in found]
        same_but(which, *compared, name)
        seen += bool(compared[0])
    for attribute in ("q", "u", "q_dot", "u_dot", "q_err", "u_err", "multipliers"):
        values = [quiet(getattr, one, attribute, None) for one in (healthy, hurt)]
        if isinstance(values[0], np.ndarray) and isinstance(values[1], np.ndarray):
            assert values[0][others].tobytes() == values[1][others].tobytes(), attribute
            seen += 1
    assert seen >= 25, seen


METHODS = [
    "ExplicitEuler",
    "RungeKutta2",
    "RungeKutta3",
    "RungeKuttaFeldberg",
    "RungeKuttaMerson",
    "SemiExplicitEuler",
    "SemiExplicitEuler2",
    "Verlet",
    "BDF",
    "TimeStepping",
]


@pytest.mark.parametrize("method", METHODS)
def test_runs(method):
    """The one that is not a number is told among the failures; the others end at the same bits."""
    for k, field in enumerate(("q", "u")):
        healthy, hurt, which = pair("double_pendulum", SEED + k, field, np.nan)
        ended = []
        for one in (healthy, hurt):
            with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                more = {"fixed_step_size": 0.01} if method in ("ExplicitEuler", "SemiExplicitEuler", "TimeStepping") else {}
                ended.append(one.simulate(0.1, integrator=method, report_interval=0.05, **more))
        others = np.arange(N) != which
        for name in ("q", "u"):
            a, b = (np.asarray(getattr(one, name)) for one in ended)
            axis = a.shape.index(N)
            kept = [np.moveaxis(array, axis, 0)[others].tobytes() for array in (a, b)]
            assert kept[0] == kept[1], f"seed {SEED + k}: {method}, {name}"
        assert not ended[0].failures and set(ended[1].failures) == {which}
