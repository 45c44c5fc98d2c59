"""Custom of compiled functions: what is wrong with them is said in words about them, and they are frozen and kept on disk."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.algebra import cos, mat33, rotation, sin, sqrt, vec3, where, zero
from mobod.compiling import cache_folder
from mobod.function.users import Frozen
from mobod.mobilizer import CompiledFunctions, Custom
from mobod.tree.realize import advance, dynamics, kinematics

LEVEL = (1, 0, 0, 0, 1, 0, 0, 0, 1)
FACTOR = 2.0
ORIGIN = np.zeros(3)


def helix(q, parameters):
    (angle,), (radius, pitch) = q, parameters
    R = rotation.about_z(angle)
    return R, (radius * R[0], radius * R[3], pitch * angle)


@pytest.fixture
def ground(make):
    return make.tree(0).matter.ground


@pytest.fixture
def alone(make):
    """A system of one body of mass 1 on a Custom that is given by keywords."""

    def build(**keywords):
        model = make.tree(0)
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))
        model.body = Custom(model.matter.ground, body, name="joint", **keywords)
        return model

    return build


# ---------------------------------------------------------------------------------------------- a transform alone


def test_a_bead_on_a_helix_falls_as_it_should(alone):
    """With r the radius, h the pitch and I about the axis: (m (r^2 + h^2) + I) a'' = -m g h, with g along -z; no HDot."""
    radius, pitch = 1.3, 0.4
    model = alone(transform=helix, num_q=1, parameters=(radius, pitch))
    model.gravity.set_default_gravity_vector((0, 0, -10))
    state = model.made().state
    model.body.set_u(state, 3.0)
    model.system.realize(state)
    inertia = radius**2 + pitch**2 + 0.4
    assert state.u_dot[0] == pytest.approx(-10.0 * pitch / inertia, rel=1e-14)
    A = model.body.get_mobilizer_acceleration(state)
    np.testing.assert_allclose(A[1], (-9.0 * radius, radius * state.u_dot[0], pitch * state.u_dot[0]), atol=1e-14)


def test_derivatives_are_exact_and_hold_for_every_form_of_what_is_returned(make, alone, close):
    """Rows, integers, constants, powers and functions of functions; against derivatives by hand."""

    def surface(x, y):
        return 2 * x**2 * y - y**3 / 3

    def transform(q, p):
        x, y = q
        tilt = mat33.mul(rotation.about_x(0.25), rotation.about_y(sqrt(1 + x * x)))
        return ((tilt[0], tilt[1], tilt[2]), (tilt[3], tilt[4], tilt[5]), (tilt[6], tilt[7], tilt[8])), (x, y, surface(x, y))

    model = alone(transform=transform, num_q=2)
    state = model.made().randomize()
    (x, y), (a, b) = state.q, state.u
    slope = np.array([4 * x * y, 2 * x**2 - y**2])
    close(model.body.get_h_fm_col(state, 0)[1], [1, 0, slope[0]], 1e-14)
    close(model.body.get_h_fm_col(state, 1)[1], [0, 1, slope[1]], 1e-14)
    axis = np.array([0, np.cos(0.25), np.sin(0.25)])
    close(model.body.get_h_fm_col(state, 0)[0], axis * x / np.sqrt(1 + x * x), 1e-14)
    bent = np.array([4 * (a * y + x * b), 4 * x * a - 2 * y * b])
    close(state.record.HDot_FM[:, 5], bent, 1e-13)
    close(state.record.HDot_FM[0, :3], axis * a / (1 + x * x) ** 1.5, 1e-13)
    report = mb.mobilizer.check_custom(model.body)
    assert report.ok and len(report.places) == 4


def test_choices_and_helpers_work_in_every_scalar(alone):
    """A cam: flat up to a quarter turn, then a lift; the second derivative jumps, the first does not."""

    def lift(a):
        rest = zero(a)
        for _ in range(2):  # a loop, a sum that begins with zero, a helper of one's own
            rest = rest + 0.5 * where(a > 0.5, (a - 0.5) * (a - 0.5), 0.0)
        return rest

    def cam(q, parameters):
        return rotation.about_z(q[0]), vec3.scale(FACTOR, (zero(q[0]), zero(q[0]), lift(q[0])))

    model = alone(transform=cam, num_q=1)
    state = model.made().state
    for q, slope in ((0.2, 0.0), (0.9, 1.6)):
        model.body.set_q(state, q)
        model.body.set_u(state, 1.0)
        model.system.realize(state, Stage.VELOCITY)
        assert model.body.get_mobilizer_velocity(state)[1, 2] == pytest.approx(slope, abs=1e-14)
    ensemble = mb.Ensemble(model.system, 2)
    ensemble.q, ensemble.u = [[0.2], [0.9]], [[1.0], [1.0]]
    ensemble.realize()
    np.testing.assert_allclose(ensemble.body_velocities[:, 1, 1, 2], [0.0, 1.6], atol=1e-14)


def test_derivatives_of_a_state_by_directions_come_through_it():
    """Its routine compiles for records with tangents too: Duals of Duals of Duals."""
    matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    body = Custom(matter.ground, mb.body.Rigid(), transform=helix, num_q=1, parameters=(1.0, 0.5))
    assert body.facts.kinematics.address(with_tangents=True) != 0


def test_parameters_of_compiled_functions_are_the_states(alone):
    model = alone(transform=helix, num_q=1, parameters=(1.0, 0.5))
    state = model.made().randomize()
    other = state.copy()
    model.body.set_parameters(other, (2.0, 0.5))
    model.system.realize(other)
    assert model.body.get_h_fm_col(other, 0)[1, 1] == 2.0 * model.body.get_h_fm_col(state, 0)[1, 1]
    ensemble = mb.Ensemble(model.system, 3, state=other)
    ensemble.realize()
    np.testing.assert_allclose(ensemble.u_dot, np.tile(other.u_dot, (3, 1)), rtol=1e-13)
    assert model.body.get_implementation.__doc__ and model.body.implementation is None
    with pytest.raises(mb.ModelError, match="no implementation"):
        model.body.get_implementation()


def test_states_of_an_ensemble_can_have_parameters_of_their_own(alone):
    model = alone(transform=helix, num_q=1, parameters=(1.0, 0.5))
    model.gravity.set_default_gravity_vector((0, 0, -10))
    model.made()
    ensemble, pitches = mb.Ensemble(model.system, 10), np.linspace(0.1, 1.0, 10)
    ensemble.set_each(model.body.set_parameters, [(1.0, pitch) for pitch in pitches])
    ensemble.realize()
    np.testing.assert_allclose(ensemble.u_dot[:, 0], -10.0 * pitches / (1.4 + pitches**2), rtol=1e-13)


def test_equal_functions_share_what_is_compiled(ground):
    one, two = (Custom(ground, mb.body.Rigid(), transform=helix, num_q=1, parameters=(r, 1.0)) for r in (1.0, 2.0))
    assert one.facts.kinematics is two.facts.kinematics
    clone = one.clone_for_new_parent(ground)
    assert clone.facts.kinematics is one.facts.kinematics and np.array_equal(clone.get_default_parameters(), (1.0, 1.0))


# ---------------------------------------------------------------------------------------------- what is wrong with functions


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda q: (LEVEL, (0, 0, 0)), r"has to take \(q, parameters\): too many positional"),
        (lambda q, p, s: (LEVEL, (0, 0, 0)), r"has to take \(q, parameters\): missing"),
        (lambda q, p: LEVEL, r"pair \(R, p\)"),
        (lambda q, p: (LEVEL[:8], (0, 0, 0)), "R of .* nine numbers"),
        (lambda q, p: (list(LEVEL), (0, 0, 0)), "R of .* lists and arrays are not taken, write tuples"),
        (lambda q, p: (LEVEL, (0, 0)), "p of .* three numbers"),
        (lambda q, p: (LEVEL, ORIGIN), "p of .* lists and arrays are not taken"),
        (lambda q, p: (LEVEL, ("x", 0, 0)), "p of .* three numbers"),
        (lambda q, p: ((1, 0, 0, 0, 1, 0, 0, 0, 2), (0, 0, 0)), "no rotation: R\\^T R is off by 3"),
        (lambda q, p: ((1, 0, 0, 0, 1, 0, 0, 0, -1), (0, 0, 0)), "left-handed"),
        (lambda q, p: (LEVEL, (q[1], 0, 0)), "IndexError.*q has 1 numbers, u 1, parameters 0"),
        (lambda q, p: (LEVEL, (undefined, 0, 0)), "NameError: name 'undefined'"),  # noqa: F821
        (lambda q, p: (LEVEL, (sqrt(-1.0 - q[0] * q[0]), 0, 0)), "domain error; and so it is at 6 places"),
        (lambda q, p: (LEVEL, (q[0] if q[0] > 0 else 0.0, 0, 0)), r"eight states at a time.*where\(condition, a, b\)"),
        (lambda q, p: (LEVEL, (max(q[0], 0.5), 0, 0)), r"eight states at a time.*where\(condition, a, b\)"),
        (lambda q, p: (LEVEL, (round(q[0]), 0, 0)), "round"),
        (lambda q, p: (LEVEL, (np.sin(q[0]), 0, 0)), r"numpy\.sin.*Use mobod\.algebra\.sin"),
    ],
)
def test_a_transform_that_cannot_be_is_refused_when_the_mobilizer_is_made(transform, message, ground):
    with pytest.raises(mb.ModelError, match=rf"(?s)transform \(<lambda>, test_custom_functions.py:\d+\).*{message}|{message}"):
        Custom(ground, mb.body.Rigid(), transform=transform, num_q=1)
    assert ground.get_matter_subsystem().get_num_bodies() == 1


def test_functions_of_floats_are_refused_by_name(ground):
    import cmath
    import math
    from math import pow as power_of_floats

    def helper(x):
        return math.tanh(x)

    for transform, name, remedy in (
        (lambda q, p: (LEVEL, (math.sin(q[0]), 0, 0)), "math.sin", "mobod.algebra.sin"),
        (lambda q, p: (LEVEL, (power_of_floats(q[0], 2), 0, 0)), "math.pow", "mobod.algebra.power"),
        (lambda q, p: (LEVEL, (helper(q[0]), 0, 0)), r"math.tanh \(in .*helper", "mobod.algebra.tanh"),
        (lambda q, p: (LEVEL, (cmath.exp(q[0]), 0, 0)), "math.exp", "mobod.algebra.exp"),
        (lambda q, p: (LEVEL, (np.arctan2(q[0], 1.0), 0, 0)), "numpy.arctan2", "mobod.algebra.atan2"),
    ):
        with pytest.raises(mb.ModelError, match=f"{name}.*knows floats only.*{remedy}"):
            Custom(ground, mb.body.Rigid(), transform=transform, num_q=1)
    fine = Custom(ground, mb.body.Rigid(), transform=lambda q, p: (LEVEL, (math.pi * sin(q[0]), 0, 0)), num_q=1)
    assert fine.facts.transform((0.5,))[1][0] == math.pi * math.sin(0.5)


def test_other_functions_that_cannot_be_are_refused_by_name(ground):
    def transform(q, p):
        return LEVEL, (q[0], q[1], 0)

    def hinge(q, p):
        return ((0, 0, 0), (1, 0, 0)), ((0, 0, 0), (0, 1, 0))

    def n(q, p):
        return (1, 0), (0, 1)

    shape = {"num_q": 2, "num_u": 2, "transform": transform}
    for functions, message in (
        ({**shape, "hinge": lambda q, p: hinge(q, p)[0]}, r"hinge \(.*2 columns, a tuple of 2"),
        ({**shape, "hinge": lambda q, p: hinge(q, p) + hinge(q, p)[:1]}, r"hinge \(.*2 columns"),
        ({**shape, "hinge": lambda q, u, p: hinge(q, p)}, r"hinge \(.*has to take \(q, parameters\)"),
        ({**shape, "hinge_dot": lambda q, p: hinge(q, p)}, r"hinge_dot \(.*has to take \(q, u, parameters\)"),
        ({**shape, "hinge_dot": lambda q, u, p: ((0, 0, 0),) * 2}, r"hinge_dot \(.*2 columns"),
        ({**shape, "n": n}, "needs n_inv"),
        ({**shape, "n_inv": n}, "belong to n"),
        ({**shape, "n": n, "n_inv": lambda q, p: ((1, 0, 0), (0, 1, 0))}, r"n_inv \(.*2 rows, a tuple of 2, each of 2"),
        ({**shape, "n": lambda q, p: 1.0, "n_inv": n}, r"n \(.*2 rows"),
        ({**shape, "hinge": lambda q, p: hinge(q, p) if q[0] > 9.0 else ()}, "hinge .*2 columns"),
        (
            {**shape, "hinge": lambda q, p: (((0, 0, 0), (1 / (q[0] - q[0]), 0, 0)),) * 2},
            r"hinge .*fails at q = .*division by zero; and so it is",
        ),
        ({"num_q": 3, "num_u": 2, "transform": transform}, "give n and n_inv"),
        ({"num_q": 2, "num_u": 2, "transform": None}, "needs a transform"),
        ({"num_q": 2, "num_u": 7, "transform": transform}, "num_u = 7"),
        ({"num_q": 8, "num_u": 2, "transform": transform}, "num_q = 8"),
        ({"num_q": 2, "num_u": 2, "transform": transform, "num_angles": 4}, "too few|num_angles"),
    ):
        with pytest.raises(mb.ModelError, match=f"(?s){message}"):
            Custom(ground, mb.body.Rigid(), compiled=CompiledFunctions(**functions))
    for transform, error in ((len, TypeError), (3, TypeError), (mb.Rotation.about_axis, TypeError)):
        with pytest.raises(error, match="plain function"):
            Custom(ground, mb.body.Rigid(), transform=transform, num_q=1)
    assert ground.get_matter_subsystem().get_num_bodies() == 1


def test_one_form_is_given_and_only_one(ground):
    functions = CompiledFunctions(num_q=1, num_u=1, transform=helix)
    body = mb.body.Rigid()
    with pytest.raises(TypeError, match="none of them"):
        Custom(ground, body)
    with pytest.raises(TypeError, match="compiled and transform"):
        Custom(ground, body, compiled=functions, transform=helix, num_q=1)
    with pytest.raises(TypeError, match="num_q"):
        Custom(ground, body, transform=helix)
    with pytest.raises(TypeError, match="num_q"):
        Custom(ground, body, compiled=functions, num_q=1)
    with pytest.raises(TypeError, match="CompiledFunctions"):
        Custom(ground, body, compiled=helix)
    for num_q, error in ((0, mb.ModelError), (7, mb.ModelError), (1.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="num_q"):
            Custom(ground, body, transform=helix, num_q=num_q)
    with pytest.raises(mb.ModelError, match="32 parameters"):
        Custom(ground, body, transform=helix, num_q=1, parameters=np.ones(33))


def test_what_only_the_compiler_finds_is_said_in_plain_words(alone):
    def summed(q, p):
        total = 0.0
        for x in q:
            total = total + x
        return LEVEL, (total, 0, 0)

    def listed(q, p):
        values = {"x": q[0]}
        return LEVEL, (values["x"], 0, 0)

    class Settings:
        factor = 2.0

    def configured(q, p):
        return LEVEL, (Settings.factor * q[0], 0, 0)

    for transform, message in (
        (summed, r"line \d+ of test_custom_functions.*total is .* in one place and .* in another.*zero\(q\[0\]\)"),
        (listed, "lists, dictionaries or strings"),
        (configured, "Settings is neither a number"),
    ):
        model = alone(transform=transform, num_q=1)
        with pytest.raises(mb.ModelError, match=rf"(?s)transform \(.*{transform.__name__}.*cannot be compiled for .*{message}"):
            model.system.realize_topology()


@pytest.mark.parametrize("stage", [Stage.POSITION, Stage.VELOCITY, Stage.ACCELERATION], ids=lambda stage: stage.name)
def test_what_is_not_finite_names_the_function(stage, alone):
    """At a q where the transform is, its derivatives may not be."""

    def root(q, p):
        return LEVEL, (sqrt(q[0]), 0, 0)

    def pole(q, p):
        return (((0, 0, 0), (1.0 / q[0], 0, 0)),)

    model = alone(transform=root, num_q=1)
    state = model.made().state
    model.body.set_q(state, -1.0)
    with pytest.raises(mb.ModelError, match=r"transform \(.*root\) of 'joint' is not finite at q = \[-1\.0\]"):
        model.system.realize(state, stage)
    assert state.stage < Stage.POSITION
    model.body.set_q(state, 0.0)
    with pytest.raises(mb.ModelError, match=r"the derivative of transform \(.*root\) of 'joint' is not finite at q = \[0\.0\]"):
        model.system.realize(state, stage)
    model = alone(compiled=CompiledFunctions(num_q=1, num_u=1, transform=root, hinge=pole))
    model.body.set_default_q(1.0)
    state = model.made().state
    model.body.set_q(state, 0.0)
    with pytest.raises(mb.ModelError, match=r"hinge \(.*pole\) of 'joint' is not finite"):
        model.system.realize(state, stage)
    model.body.set_q(state, 1.0)
    model.system.realize(state, stage)


# ---------------------------------------------------------------------------------------------- frozen


def test_numbers_outside_a_function_are_those_of_when_the_mobilizer_was_made(alone, monkeypatch):
    def transform(q, p):
        return LEVEL, (FACTOR * q[0], cos(0.0), 0)

    models = [alone(transform=transform, num_q=1)]
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    models.append(alone(transform=transform, num_q=1))
    for model, factor in zip(models, (2.0, 5.0), strict=True):
        state = model.made().state
        model.body.set_q(state, 1.0)
        model.system.realize(state, Stage.POSITION)
        assert model.body.get_mobilizer_transform(state).p[0] == factor == model.body.get_h_fm_col(state, 0)[1, 0]
        model.body.set_q_to_fit_translation(state, (4.0, 1.0, 0.0))
        assert model.body.get_q(state)[0] == pytest.approx(4.0 / factor, abs=1e-10)


def test_a_fingerprint_is_of_all_that_a_function_is_made_of(monkeypatch):
    def made(source, **names):
        exec(source, names)
        return Frozen(names["f"], "f").fingerprint

    plain = "def f(q, p):\n    return g(q[0]) + A * T[1] + B[0]\ndef g(x, k=2.0):\n    return k * x\nA, T, B = 1.0, (1, 2), a"
    array = np.arange(2.0)
    prints = {made(plain, a=array)}
    assert made(plain, a=array.copy()) in prints
    for old, new in (
        ("g(q[0]) +", "g(q[0]) -"),
        ("k * x", "k / x"),
        ("k=2.0", "k=2"),
        ("1.0, (1, 2)", "1, (1, 2)"),
        ("(1, 2)", "(1, 3)"),
        ("B[0]", "B[1]"),
        ("a", "a + 1"),
    ):
        assert old in plain
        edited = plain.replace(old, new) if old != "a" else plain
        fingerprint = made(edited, a=array + (old == "a"))
        assert fingerprint is not None and fingerprint not in prints
        prints.add(fingerprint)
    assert made(plain, a=object()) is None, "what cannot be hashed is compiled in every process"
    assert made("def f(q, p):\n    return f(q, p)") == made("def f(q, p):\n    return f(q, p)"), "a circle comes to an end"


def test_functions_of_a_module_of_ones_own_are_frozen_too(alone, monkeypatch, tmp_path):
    (tmp_path / "curves_for_this_test.py").write_text("HEIGHT = 3.0\ndef lift(x):\n    return HEIGHT * x * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import curves_for_this_test as curves

    model = alone(transform=lambda q, p: (LEVEL, (q[0], curves.lift(q[0]), curves.HEIGHT)), num_q=1)
    monkeypatch.setattr(curves, "HEIGHT", 0.0)
    state = model.made().state
    model.body.set_q(state, 2.0)
    model.system.realize(state, Stage.POSITION)
    assert np.array_equal(model.body.get_mobilizer_transform(state).p, [2.0, 12.0, 3.0])


# ---------------------------------------------------------------------------------------------- on disk

MODEL = """
import mobod as mb
from mobod.algebra import rotation
PITCH = 0.25
import collections
settings = collections.namedtuple("Settings", "pitch")(0.25)
def along(a): return PITCH * a
def helix(q, parameters):
    R = rotation.about_z(q[0])
    return R, (R[0], R[3], along(q[0]))
matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
mb.mobilizer.Custom(matter.ground, mb.body.Rigid(), transform=helix, num_q=1)
matter.get_system().realize_topology()
"""


@pytest.fixture
def run(tmp_path):
    """Run a script in a process of its own; which files of its functions' code there are afterwards, and what it said.

    What every model needs is in the cache that it begins with, so that nothing but these functions is compiled.
    """
    for routine in (advance, kinematics, dynamics):
        routine.address()
    others = shutil.ignore_patterns("[!tC]*", "tree.[!r]*")  # all but tree.realize.* and the folder's mark
    shutil.copytree(cache_folder(), tmp_path / "cache" / cache_folder().name, ignore=others)

    def start(code):
        script, cache = tmp_path / "model.py", tmp_path / "cache"
        script.write_text(code)
        path = {"PYTHONPATH": str(Path(mb.__file__).parent.parent), "MOBOD_CACHE_DIR": str(cache)}
        environment = {key: value for key, value in os.environ.items() if key != "MOBOD_QUIET"}
        done = subprocess.run(
            [sys.executable, script], env={**environment, **path}, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return {file.name: file.stat().st_mtime_ns for file in cache.rglob("users.*.bin")}, done.stderr

    return start


def test_compiled_code_of_users_functions_is_kept_and_found_by_what_they_are_made_of(run):
    first, said = run(MODEL)
    assert len(first) == 1 and "compiling" in said
    again, said = run("# another line\n" + MODEL)
    assert again == first and "compiling" not in said
    calls, number = (
        MODEL.replace("PITCH * a", "PITCH + a"),
        MODEL.replace("0.25", "0.5"),
    )  # which a called function finds outside
    unknown = MODEL.replace("PITCH * a", "settings.pitch * a")
    edited, _ = run("\n".join([calls, number, unknown]))
    assert len(edited) == 3, "two more, and none of what has no hash"
