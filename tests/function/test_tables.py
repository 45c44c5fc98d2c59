"""Tables: what lies between their points, files of them, and calls of functions in users' own compiled functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.algebra import sin
from mobod.function import Expression, Linear, Multiplier, Polynomial, Sinusoid, Spline, Step, Table

X, Y = np.linspace(0.0, 2.0, 6), np.linspace(-1.0, 1.0, 5)


def test_points_are_met(rng):
    for how in ("smooth", "linear", "monotone"):
        values = rng.normal(size=6)
        assert_allclose(Table(X, values, how)(X[:, None]), values, atol=1e-14)
    for how in ("smooth", "linear"):
        values = rng.normal(size=(6, 5))
        grid = np.stack(np.meshgrid(X, Y, indexing="ij"), axis=-1).reshape(-1, 2)
        assert_allclose(Table((X, Y), values, how)(grid), values.ravel(), atol=1e-13)


def test_a_grid_is_scipys_tensor_product_of_splines(rng):
    from scipy.interpolate import make_interp_spline

    values = rng.normal(size=(6, 5))
    natural = lambda x, y: make_interp_spline(x, y, 3, bc_type="natural")  # noqa: E731
    for x, y in zip(rng.uniform(0.0, 2.0, 20), rng.uniform(-1.0, 1.0, 20), strict=True):
        expected = natural(Y, natural(X, values)(x))(y)
        assert_allclose(Table((X, Y), values)([x, y]), expected, rtol=1e-12, atol=1e-12)


def test_a_linear_grid_is_scipys(rng):
    from scipy.interpolate import RegularGridInterpolator

    values = rng.normal(size=(6, 5))
    points = rng.uniform((0.0, -1.0), (2.0, 1.0), (50, 2))
    assert_allclose(Table((X, Y), values, "linear")(points), RegularGridInterpolator((X, Y), values)(points), atol=1e-13)


def test_a_periodic_table_follows_a_sine_and_repeats_it():
    """A cubic spline of 48 points a turn is off by h^4 / 384 = 8e-7, its second derivative by h^2 / 8 = 2e-3."""
    x = np.linspace(0.0, 2.0 * np.pi, 49)
    f = Table(x, np.sin(x), periodic=True)
    at = np.linspace(-20.0, 20.0, 999)[:, None]
    assert np.abs(f(at) - np.sin(at[:, 0])).max() < 8e-7
    assert np.abs(f.calc_derivative([0, 0], at) + np.sin(at[:, 0])).max() < 2.1e-3
    left, right = f.calc_derivative([0, 0], 2.0 * np.pi - 1e-9), f.calc_derivative([0, 0], 2.0 * np.pi + 1e-9)
    assert abs(left - right) < 1e-7


def test_a_monotone_table_does_not_overshoot():
    values = [0.0, 0.0, 1.0, 1.0, 0.2, 0.2]
    at = np.linspace(-1.0, 3.0, 400)[:, None]
    assert Table(X, values, "monotone", "hold")(at).min() >= 0.0 and Table(X, values, "monotone", "hold")(at).max() <= 1.0
    assert Table(X, values, "smooth", "hold")(at).max() > 1.05


def test_outside_it_goes_on_or_stays():
    f, g = Table(X, X**2, "linear"), Table(X, X**2, "smooth", "hold")
    assert f(3.0) == pytest.approx(4.0 + 3.6) and f(-1.0) == pytest.approx(-0.4)
    assert g(3.0) == 4.0 and g(-1.0) == 0.0 and g.calc_derivative([0], 3.0) == 0.0
    h = Table((X, Y), np.outer(X, Y), "linear", "hold")
    assert h([5.0, 7.0]) == 2.0


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            (X, X, "cubic"),
            ValueError,
            "interpolation of a Table has to be 'smooth', 'not-a-knot', .*, not 'cubic'",
        ),
        ((X, X, "linear", "clamp"), ValueError, "outside of a Table has to be"),
        ((X, X[:4]), ValueError, "values of a Table"),
        ((X[::-1], X), mb.ModelError, "must increase"),
        (((X, Y), np.zeros((5, 6))), ValueError, r"\(6, 5\); they have the shape \(5, 6\)"),
        (((X, Y), np.zeros((6, 5)), "monotone"), ValueError, "is for one argument"),
        ((X, X, "smooth", "extend", True), mb.ModelError, "ends with the value of its first point; at 0.0 and at 2.0"),
        (((X, Y), np.zeros((6, 5)), "smooth", "extend", (True,)), ValueError, "periodic of a Table of 2 arguments"),
        ((X, [np.nan] * 6), mb.ModelError, "finite"),
    ],
)
def test_bad_tables_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Table(*arguments)


# ---------------------------------------------------------------------------------------------- files


def written(folder, text):
    file = folder / "table.csv"
    file.write_text(text)
    return file


def test_columns_of_a_file(tmp_path):
    file = written(tmp_path, "# measured\nspeed [rad/s]; torque; power\n\n0;2.0;0\n100;1.5;150\n200;0;0\n")
    f = Table.from_csv(file, ["speed [rad/s]", "power"], interpolation="linear")
    assert f(50.0) == 75.0
    assert Table.from_csv(file, [0, 1], "linear", "hold")(50.0) == 1.75
    assert Table.from_csv(written(tmp_path, "0 1\n1 3\n"), interpolation="linear", outside="hold")(2.0) == 3.0


def test_grids_of_a_file(tmp_path):
    grid = written(tmp_path, "x \\ y,0,1,2\n0,1,2,3\n1,3,4,5\n")
    f = Table.from_csv(grid, interpolation="linear")
    assert f([0.5, 1.5]) == 3.5
    lines = written(tmp_path, "y\tx\tz\n0\t0\t1\n1\t0\t2\n2\t0\t3\n2\t1\t5\n0\t1\t3\n1\t1\t4\n")
    assert Table.from_csv(lines, ["x", "y", "z"], interpolation="linear")([0.5, 1.5]) == 3.5


@pytest.mark.parametrize(
    "text, columns, message",
    [
        ("", None, "has no numbers"),
        ("a,b\n", None, "has names of columns, and no numbers"),
        ("a,b\n1,2\n3\n", None, "line 3 of .* has 1 columns, the first one has 2"),
        ("a,b\n1,2\n3,x\n", None, "line 3 of .* has 'x', which is no number"),
        ("1\n2\n", None, "has one column"),
        ("time,force\n0,1\n", ["time", "Force"], "has no column 'Force'.*force"),
        ("0,1\n", ["time", "force"], "its first line has no names"),
        ("0,0,1\n0,1,1\n1,1,1\n", None, r"no value at \(1, 0\)"),
        ("0,0,1\n0,1,1\n1,1,1\n1,0,2\n1,0,3\n", None, "one comes twice"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, text, columns, message):
    with pytest.raises(mb.ModelError, match=message):
        Table.from_csv(written(tmp_path, text), columns)


# ---------------------------------------------------------------------------------------------- in users' functions


table, grid = Table(X, np.cos(X)), Table((X, Y), np.outer(X**2, Y + 2.0), "linear")
wave = Table(X, np.append(np.sin(X[:-1]), 0.0), "smooth", periodic=True)
step, bend, sine, line = Step(0.0, 1.0, -1.0, 1.0), Polynomial([1.0, 0.5, 0.2]), Sinusoid(1.0, 2.0, 0.3), Linear([0.3, 0.1])
spline, text, plane, twice = Spline(5, X, X**3), Expression("x * sin(x)"), Expression("x * y"), Multiplier(table, 2.0)
ALL = [table, wave, step, bend, sine, line, spline, text, twice]


def of_all(q, v):
    first = table(q) + wave(q) * step(q) + bend(q) * sine(q) + line(q) * spline(q) + text(q) + twice(q)
    return first * grid((q, v)) + plane((sin(q), v))


def force(t, X, V, q, u, parameters):
    return (), ((of_all(q[0][0], u[0][0]),),)


@pytest.fixture
def model():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0))
    mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(force, mobilizers=[slider]))
    return system


def in_python(q, v):
    first = table(q) + wave(q) * step(q) + bend(q) * sine(q) + line(q) * spline(q) + text(q) + twice(q)
    return first * grid((q, v)) + plane((np.sin(q), v))


def test_users_compiled_functions_call_them_in_every_scalar(model, rng):
    state = model.realize_topology()
    assert not model.is_interpreted and not model.calls_python
    q, u = rng.uniform(-1.0, 3.0, 11), rng.uniform(-1.5, 1.5, 11)
    found = []
    for x, v in zip(q, u, strict=True):
        state.q, state.u = [x], [v]
        model.realize(state)
        found.append(state.u_dot[0])
        d = model.calc_forward_dynamics_derivatives(state)
        h = 1e-6
        assert_allclose(d.q[0, 0], (in_python(x + h, v) - in_python(x - h, v)) / (2 * h), rtol=1e-6, atol=1e-7)
        assert_allclose(d.u[0, 0], (in_python(x, v + h) - in_python(x, v - h)) / (2 * h), rtol=1e-6, atol=1e-7)
    assert_allclose(found, [in_python(x, v) for x, v in zip(q, u, strict=True)], rtol=1e-12, atol=1e-12)
    ensemble = mb.Ensemble(model, 11)
    ensemble.q, ensemble.u = q[:, None], u[:, None]
    ensemble.realize()
    assert_allclose(ensemble.u_dot[:, 0], found, rtol=1e-14, atol=1e-14)


def test_another_table_is_another_function():
    def made(values):
        inner = Table(X, values)

        def force(t, X, V, q, u, parameters):
            return (), ((inner(q[0][0]),),)

        system = mb.MultibodySystem()
        matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
        slider = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0))
        mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(force, mobilizers=[slider]))
        state = system.realize_topology()
        system.realize(state)
        return state.u_dot[0]

    assert made(X + 1.0) == 1.0 and made(X + 2.0) == 2.0


def test_a_function_in_python_is_refused_in_words():
    known = {"slope": 2.0}
    inner = mb.function.Custom(lambda x: known["slope"] * x)

    def force(t, X, V, q, u, parameters):
        return (), ((inner(q[0][0]),),)

    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0))
    with pytest.raises(
        mb.ModelError, match=r"function\.Custom, which only Python can evaluate; call the Python function itself"
    ):
        mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(force, mobilizers=[slider]))
