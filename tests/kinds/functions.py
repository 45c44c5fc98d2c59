"""Records of the kinds of functions, by which tests go."""

import dataclasses
from collections.abc import Callable

import numpy as np

import mobod as mb
from kinds import Records

fn = mb.function


@dataclasses.dataclass(frozen=True, kw_only=True)
class Function:
    """The record of a kind of function.

    Parameters
    ----------
    kind : type
        The class.
    samples : callable
        ``samples(rng)``: random ones, a list of them in every form that compiled code tells apart.
    joints : callable or None
        ``joints(f)``: arguments at which its pieces meet, a tuple of these for several arguments; None where it has one piece.
    """

    kind: type
    samples: Callable
    joints: Callable | None


def splines(rng):
    x = np.cumsum(rng.uniform(0.3, 1.0, 9)) - 3.0
    return [
        *(fn.Spline(degree, x, rng.normal(size=9)) for degree in (1, 3, 5, 7)),
        fn.Spline(3, x[:2], rng.normal(size=2)),
        fn.Spline(3, np.linspace(-3.0, 2.5, 50), rng.normal(size=50)),  # as many pieces as are searched by halving
    ]


def simm_splines(rng):
    """One of two points, which is straight, one of three, and one of a repeated point, beside the usual one."""
    x = np.cumsum(rng.uniform(0.3, 1.0, 8)) - 3.0
    twice = np.insert(x, 4, x[4])
    return [fn.SimmSpline(one, rng.normal(size=len(one))) for one in (x, x[:2], x[:3], x[:4], twice)]


def gcv_splines(rng):
    x = np.cumsum(rng.uniform(0.3, 1.0, 10)) - 3.5
    found = [fn.GCVSpline(degree, x, rng.normal(size=10), 0.05) for degree in (1, 3, 5, 7)]
    return [*found, fn.GCVSpline(5, x, np.sin(x) + 0.1 * rng.normal(size=10), -1.0)]


def expressions(rng):
    a, b = rng.uniform(0.3, 1.0, 2).tolist()
    return [
        fn.Expression(f"{a} * sin(x)^3 + exp(-{b} * x^2)"),
        fn.Expression("a * tanh(y) - x * cube(y) / 9; a = 2 * atan(x)", ["x", "y"]),
    ]


def of_points(kind, least):
    def samples(rng):
        x = np.cumsum(rng.uniform(0.3, 1.0, 7)) - 2.5
        return [kind(x[:n], rng.normal(size=n)) for n in (least, 7)]

    return samples


def pieces(rng):
    """Smooth ones, of many pieces and of one, since tests look at derivatives at the joints."""
    from scipy.interpolate import CubicSpline

    x = np.cumsum(rng.uniform(0.3, 1.0, 8)) - 3.0
    through = CubicSpline(x, rng.normal(size=8))
    return [fn.PiecewisePolynomial(through.c, x), fn.PiecewisePolynomial(rng.normal(size=(4, 1)), x[:2])]


def multiples(rng):
    x = np.cumsum(rng.uniform(0.3, 1.0, 7)) - 2.5
    cores = [fn.Linear(rng.normal(size=3)), fn.Sinusoid(*rng.normal(size=3)), fn.SimmSpline(x, rng.normal(size=7))]
    cores.append(fn.Multiplier(fn.Polynomial(rng.normal(size=4)), 0.6))
    return [fn.Multiplier(core, rng.normal()) for core in cores]


def tables(rng):
    """Of one and two arguments, in each way to interpolate, to go on outside and to repeat."""
    x, y = (np.cumsum(rng.uniform(0.3, 1.0, n)) - 2.5 for n in (7, 6))
    row, grid = rng.normal(size=7), rng.normal(size=(7, 6))
    round_, around = np.append(row[:-1], row[0]), np.vstack([grid[:-1], grid[:1]])
    found = [fn.Table(x, row, how, outside) for how in ("smooth", "linear", "monotone") for outside in ("extend", "hold")]
    found += [fn.Table(x, round_, how, periodic=True) for how in ("smooth", "linear", "monotone")]
    found += [fn.Table((x, y), grid, how, outside) for how in ("smooth", "linear") for outside in ("extend", "hold")]
    return [*found, fn.Table((x, y), around, periodic=(True, False)), fn.Table((x[:2], y), grid[:2])]


def polynomials(rng):
    """Of one argument and of several, which have kernels of their own."""
    return [fn.MultivariatePolynomial(rng.normal(size=size), n, order) for n, order, size in ((1, 3, 4), (2, 2, 6), (3, 2, 10))]


def joints_of_table(f):
    """Of a periodic one in the periods that are tried, too, but where derivatives jump: rounding says on which side one is."""
    return tuple(
        (
            x[1:-1]
            if f._interpolation in ("linear", "monotone")
            else np.concatenate([x + k * (x[-1] - x[0]) for k in range(-9, 10)])
        )
        if wraps
        else x
        for x, wraps in zip(f._axes, f._periods, strict=True)
    )


FUNCTIONS = Records(
    "function",
    Function(kind=fn.Constant, samples=lambda rng: [fn.Constant(rng.normal(), n) for n in (0, 3)], joints=None),
    Function(kind=fn.Linear, samples=lambda rng: [fn.Linear(rng.normal(size=n)) for n in (1, 2, 5)], joints=None),
    Function(kind=fn.Polynomial, samples=lambda rng: [fn.Polynomial(rng.normal(size=n)) for n in (1, 2, 6)], joints=None),
    Function(kind=fn.Sinusoid, samples=lambda rng: [fn.Sinusoid(*rng.normal(size=3))], joints=None),
    Function(
        kind=fn.Step,
        samples=lambda rng: [fn.Step(*rng.normal(size=2), -1.1, 1.2), fn.Step(*rng.normal(size=2), 1.3, -0.4)],
        joints=lambda f: [f._x0, f._x1],
    ),
    Function(kind=fn.Spline, samples=splines, joints=lambda f: f._x),
    Function(kind=fn.SimmSpline, samples=simm_splines, joints=lambda f: f._x),
    Function(kind=fn.GCVSpline, samples=gcv_splines, joints=lambda f: f._x),
    Function(kind=fn.Expression, samples=expressions, joints=None),
    Function(kind=fn.PiecewiseLinear, samples=of_points(fn.PiecewiseLinear, 2), joints=lambda f: f._x),
    Function(kind=fn.PiecewiseConstant, samples=of_points(fn.PiecewiseConstant, 1), joints=lambda f: f._x),
    Function(kind=fn.PiecewisePolynomial, samples=pieces, joints=lambda f: f._x),
    Function(kind=fn.Table, samples=tables, joints=joints_of_table),
    Function(kind=fn.MultivariatePolynomial, samples=polynomials, joints=None),
    Function(kind=fn.Multiplier, samples=multiples, joints=lambda f: getattr(f._function, "_x", [9.0])),
)


def samples(rng):
    """One function or more of every kind that compiled code knows."""
    return [f for record in FUNCTIONS.values() for f in record.samples(rng)]


#: Of each of them its kind, and which of the kind's it is.
WHICH = [(kind, n) for kind, record in FUNCTIONS.items() for n in range(len(record.samples(np.random.default_rng(0))))]


def sample(rng, i):
    """One of them, number *i*: no other kind's are made, which takes longer than most tests of one."""
    kind, n = WHICH[i]
    return FUNCTIONS[kind].samples(rng)[n]


def points(f, rng, n):
    """Points (n, argument_size) on all pieces and beyond both ends, some at the joints themselves."""
    x = rng.uniform(-4.5, 4.5, (n, f.get_argument_size()))
    joints = FUNCTIONS[type(f)].joints
    if joints is not None:
        found = joints(f)
        x[: n // 3, 0] = rng.choice(found[0] if isinstance(found, tuple) else found, n // 3)
    return x
