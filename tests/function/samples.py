"""One function or more of every kind, random, and points where they are worth a look."""

import numpy as np

import mobod as mb


def samples(rng):
    """Of each kind that compiled code knows."""
    x = np.cumsum(rng.uniform(0.3, 1.0, 9)) - 3.0
    functions = [
        mb.function.Constant(rng.normal(), 0),
        mb.function.Constant(rng.normal(), 3),
        mb.function.Linear(rng.normal(size=1)),
        mb.function.Linear(rng.normal(size=2)),
        mb.function.Linear(rng.normal(size=5)),
        mb.function.Polynomial(rng.normal(size=1)),
        mb.function.Polynomial(rng.normal(size=2)),
        mb.function.Polynomial(rng.normal(size=6)),
        mb.function.Sinusoid(*rng.normal(size=3)),
        mb.function.Step(*rng.normal(size=2), -1.1, 1.2),
        mb.function.Step(*rng.normal(size=2), 1.3, -0.4),
        *(mb.function.Spline(degree, x, rng.normal(size=9)) for degree in (1, 3, 5, 7)),
        mb.function.Spline(3, x[:2], rng.normal(size=2)),
    ]
    assert {type(f) for f in functions} == set(mb.function.KINDS)
    return functions


def points(f, rng, n):
    """Points (n, argument_size) on all pieces and beyond both ends, some at the joints themselves."""
    x = rng.uniform(-4.5, 4.5, (n, f.get_argument_size()))
    if isinstance(f, mb.function.Spline):
        x[: n // 3, 0] = rng.choice(f._x, n // 3)
    if isinstance(f, mb.function.Step):
        x[: n // 3, 0] = rng.choice([f._x0, f._x1], n // 3)
    return x
