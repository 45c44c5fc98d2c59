"""What every kind refuses, in its constructor and in its setters: one rule for all, and nothing changes where it is refused.

What is no real number is a TypeError, a wrong shape a ValueError, a number that is not finite, or out of range, a ModelError.
"""

import fractions
import inspect
import pydoc
import re
import sys

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import CONSTRAINTS
from kinds.forces import FORCES
from kinds.mobilizers import MOBILIZERS
from mobod import Stage, constraint as con
from random_models import Make

F = mb.force
O, X = (0.0, 0.0, 0.0), mb.Transform((1.0, 2.0, 3.0))

#: What is no number, nor an array of numbers.
NO_NUMBERS = [None, "1", b"1", True, np.True_, 1j, object(), {}, [None, None, None], ["1", "2", "3"], [1j, 0, 0], np.array("1")]
#: Of wrong shapes, by the right one.
WRONG = {
    (): [[1.0, 2.0], np.ones(1), np.ones((1, 1)), []],
    (3,): [1.0, (1.0, 2.0), np.ones((3, 1)), np.ones(4), []],
    (2,): [1.0, np.ones(3), np.ones((2, 1))],
    (5,): [1.0, np.ones(3), np.ones((5, 1))],
    (6,): [1.0, np.ones(5), np.ones((2, 3))],
    (3, 3): [1.0, np.ones(3), np.eye(4)],
    (4, 4): [1.0, np.ones(2), np.ones((4, 3)), np.eye(2)],
}
#: No model has these, whatever the parameter.
NOT_FINITE = {
    (): [np.nan, -np.inf],
    (3,): [(0.0, np.nan, 0.0), (np.inf, 0.0, 0.0)],
    (2,): [(np.nan, 0.0)],
    (5,): [(1.0, 1.0, 1.0, np.inf, 1.0)],
    (6,): [[0.0, np.nan, 0, 0, 0, 0]],
    (3, 3): [np.full((3, 3), np.nan), 2.0 * np.eye(3), -np.eye(3)],
    (4, 4): [np.full((4, 4), np.nan), 2.0 * np.eye(4), np.diag([1.0, -1.0, 1.0, 1.0])],
}


class Parts:
    """Bodies to make elements for."""

    def __init__(self):
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        rigid = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0.2, 0.3), mb.Inertia(1.0, 1.1, 1.2)))
        self.pin = mb.mobilizer.Pin(self.matter.ground, rigid, name="pin")
        self.free = mb.mobilizer.Free(self.matter.ground, rigid, name="free")
        self.rigid, self.bodies = rigid, [self.pin, self.free, self.pin, self.free]

    def kind(self, name):
        """A kind's class, what its constructor takes to begin with, and its numbers by keyword, with their shapes."""
        kind, before, numbers = TABLE[name]
        return kind, before(self), numbers


def two(p, **numbers):
    return {"forces": p.forces, "body1": p.pin, "body2": p.free}


def between(p):
    return {"body1": p.pin, "body2": p.free}


S, V, T, R = (), (3,), (4, 4), (3, 3)

#: Kinds with numbers beside those that their records give: the class, other arguments of the constructor, and good numbers.
TABLE = {
    "Gravity": (
        F.Gravity,
        lambda p: {"forces": p.forces, "matter": p.matter},
        {"gravity_vector": (0, -9, 0), "zero_height": 1.0},
    ),
    "Gravity by direction": (
        F.Gravity,
        lambda p: {"forces": p.forces, "matter": p.matter},
        {"down_direction": (0, -2, 0), "magnitude": 9.8},
    ),
    "ExponentialSpring": (
        F.ExponentialSpring,
        lambda p: {"forces": p.forces, "body": p.free},
        {
            "X_GP": X,
            "station": O,
            "static_friction": 0.7,
            "kinetic_friction": 0.5,
            "shape_parameters": (0.01, 0.5, 1000.0),
            "normal_viscosity": 0.5,
            "max_normal_force": 1e5,
            "friction_elasticity": 2e4,
            "friction_viscosity": 300.0,
            "settle_velocity": 0.01,
            "relaxation_time": 0.01,
        },
    ),
    "BrushTyre": (
        F.BrushTyre,
        lambda p: {"forces": p.forces, "wheel": p.free},
        {
            "radius": 0.3,
            "stiffness": 2e5,
            "damping": 100.0,
            "friction": 0.9,
            "longitudinal_stiffness": 8e4,
            "cornering_stiffness": 6e4,
            "half_length": 0.06,
            "rolling_resistance": 0.01,
            "center": O,
            "axis": (0.0, 1.0, 0.0),
            "road_frame": X,
            "grip": 1.0,
        },
    ),
    "Motor": (
        F.Motor,
        lambda p: {"forces": p.forces, "mobod": p.pin, "which_u": 0, "curve": mb.function.Linear([1.0, 2.0])},
        {"throttle": 0.5, "ratio": 3.0},
    ),
    "MagicFormulaTyre": (
        F.MagicFormulaTyre,
        lambda p: {"forces": p.forces, "wheel": p.free, "coefficients": mb.examples.car.TYRE},
        {"center": O, "axis": (0.0, 1.0, 0.0), "road_frame": X, "grip": 1.0},
    ),
    "EllipsoidDrag": (
        F.EllipsoidDrag,
        lambda p: {"forces": p.forces, "body": p.free},
        {
            "radii": (1.0, 2.0, 3.0),
            "frame": X,
            "coefficients": (0.5, 0.25, 1.5, 1.0, 1.0),
            "virtual_masses": O,
            "virtual_inertias": O,
            "viscosity": 0.1,
            "density": 1.2,
            "wind": O,
        },
    ),
    "Actuator with activation": (
        F.Actuator,
        lambda p: {
            "forces": p.forces,
            "transmission": F.transmission.Coordinates(p.forces, [(p.pin, 0, 1.0)]),
            "dynamics": "filter",
        },
        {"time_constant": 0.3},
    ),
    "TransmissionSpring": (
        F.TransmissionSpring,
        lambda p: {"forces": p.forces, "transmission": F.transmission.Coordinates(p.forces, [(p.pin, 0, 1.0)])},
        {"stiffness": 2.0, "damping": 0.1, "dissipation": 0.3, "higher_stiffness": (0.1, 0.2), "higher_damping": (0.1, 0.2)},
    ),
    "ConstantCoordinate": (con.ConstantCoordinate, lambda p: {"mobod": p.pin, "which_q": 0}, {"value": 0.5}),
    "ConstantSpeed": (con.ConstantSpeed, lambda p: {"mobod": p.pin, "which_u": 0}, {"value": 0.5}),
    "ConstantAcceleration": (con.ConstantAcceleration, lambda p: {"mobod": p.pin, "which_u": 0}, {"value": 0.5}),
    "SphericalCoords": (
        mb.mobilizer.SphericalCoords,
        lambda p: {"parent": p.pin, "body": p.rigid},
        {"azimuth_offset": 0.5, "zenith_offset": 0.1},
    ),
    "Pin": (lambda **given: mb.mobilizer.Pin(**given), lambda p: {"parent": p.pin, "body": p.rigid}, {"X_PF": X, "X_BM": X}),
    "motion.Sinusoid": (
        mb.motion.Sinusoid,
        lambda p: {"mobod": p.pin, "level": mb.Motion.Level.POSITION},
        {"amplitude": 1.0, "rate": 2.0, "phase": 0.0},
    ),
}


class Seen(Exception):
    """The arguments of a constructor, in place of what it makes."""


def arguments_of(kind, make):
    """The arguments with which *make* calls a kind's constructor, by name."""
    room = sys.modules[".".join(kind.__module__.split(".")[:2])]

    def look(*args, **keywords):
        raise Seen(inspect.signature(kind).bind(*args, **keywords).arguments)

    setattr(room, kind.__name__, look)
    try:
        make()
    except Seen as seen:
        return seen.args[0]
    finally:
        setattr(room, kind.__name__, kind)


def arguments_by_record(kind, p):
    """All arguments by which a kind's record makes one; None where it has no record, or needs other bodies."""
    make = Make(np.random.default_rng(1))
    make.unit_vector = lambda: np.array([0.0, 0.6, 0.8])  # of length one to the last digit
    if kind in FORCES.keys():
        return arguments_of(kind, lambda: FORCES[kind].elements[0](p, make.vector))
    if kind in CONSTRAINTS.keys() and CONSTRAINTS[kind].of_bodies:
        return arguments_of(kind, lambda: CONSTRAINTS[kind].of_bodies[""](make, p.pin, p.free, p.matter.ground))
    if kind in MOBILIZERS.keys():
        return {"parent": p.pin, "body": p.rigid, **MOBILIZERS[kind].settings(make.rng)}
    return None


def is_number(value):
    """True of numbers and arrays of numbers, but not of counts and places."""
    if isinstance(value, tuple | list):
        return all(isinstance(one, float | int) for one in value) and np.shape(value) in WRONG
    return isinstance(value, float | np.ndarray | mb.Transform | mb.Rotation)


def by_record(kind):
    """The row of a kind by its record."""

    def others(p):
        return {name: value for name, value in arguments_by_record(kind, p).items() if name not in numbers}

    numbers = {name: value for name, value in (arguments_by_record(kind, Parts()) or {}).items() if is_number(value)}
    return kind, others, numbers


def kinds_with_parameters():
    kinds = {getattr(room, name) for room in (F, con, mb.mobilizer, mb.motion, mb.contact, mb.control) for name in room.__all__}
    return sorted((kind for kind in kinds if getattr(kind, "PARAMETERS", None)), key=lambda kind: kind.__name__)


TABLE |= {kind.__name__: by_record(kind) for kind in kinds_with_parameters() if kind.__name__ not in TABLE}
#: Arguments for which infinity is a number, and None nothing.
MAY_BE_INFINITE = {"q_low", "q_high"}
MAY_BE_NONE = {"frame", "X_PF", "X_BM", "gravity_vector", "down_direction", "magnitude"}


def test_setters_have_the_constructors_words():
    """But for frames, which it calls as books do, defaults of what is set in states, and bounds of coordinates."""
    for kind in kinds_with_parameters():
        given = inspect.signature(kind).parameters
        for one in kind.PARAMETERS.values():
            word = one.given_as
            if word in given and not word.startswith(("X_", "default", "q_")):
                assert hasattr(kind, f"set_{word}") and hasattr(kind, f"set_default_{word}"), f"{kind.__name__}: {word}"


def test_every_kind_with_parameters_is_in_the_table():
    """By a row of its own, or by its record, which gives numbers for them."""
    for kind in kinds_with_parameters():
        given = {name for row in TABLE.values() if row[0] is kind for name in row[2]}
        assert given & {one.given_as for one in kind.PARAMETERS.values()}, f"{kind.__name__}: tests/kinds, or TABLE"


def shape_of(value):
    if isinstance(value, mb.Transform):
        return T
    return R if isinstance(value, mb.Rotation) else np.shape(value)


def bad_values(argument, shape):
    """Each bad value, and the error that it has to be."""
    for value in NO_NUMBERS:
        if not (value is None and argument in MAY_BE_NONE):
            yield value, TypeError
    for value in WRONG[shape]:
        if not (shape == T and np.shape(value) in (V, R, T)):
            yield value, ValueError
    if argument not in MAY_BE_INFINITE:
        for value in NOT_FINITE[shape]:
            yield value, mb.ModelError


def is_refused(call, error, argument):
    with pytest.raises(error) as caught:
        call()
    assert error is not ValueError or not isinstance(caught.value, mb.ModelError)
    assert argument.replace("_", " ") in str(caught.value).replace("_", " "), caught.value


def made(name):
    parts = Parts()
    kind, before, numbers = parts.kind(name)
    return parts, kind(**before, **numbers)


def declared():
    """Every declared parameter: the name of the kind in the table, and its own."""
    for name, (kind, _, _) in TABLE.items():
        for parameter in getattr(kind, "PARAMETERS", ()):
            if name != "Gravity by direction":
                yield pytest.param(name, parameter, id=f"{name}-{parameter}")


@pytest.mark.parametrize(
    ("name", "argument"), [pytest.param(n, a, id=f"{n}-{a}") for n, (_, _, numbers) in TABLE.items() for a in numbers]
)
def test_constructors_refuse(name, argument):
    parts = Parts()
    kind, before, numbers = parts.kind(name)
    counts = parts.forces.get_num_forces, parts.matter.get_num_bodies, parts.matter.get_num_constraints
    there = [count() for count in counts]
    for value, error in bad_values(argument, shape_of(numbers[argument])):
        is_refused(lambda value=value: kind(**before, **{**numbers, argument: value}), error, argument)
        assert [count() for count in counts] == there
    kind(**before, **numbers)


@pytest.mark.parametrize(("name", "parameter"), list(declared()))
def test_setters_refuse_and_change_nothing(name, parameter):
    parts, element = made(name)
    declaration = element.PARAMETERS[parameter]
    state = parts.system.realize_topology()
    parts.system.realize_model(state)
    set_default, set_ = getattr(element, f"set_default_{parameter}"), getattr(element, f"set_{parameter}")

    def now():
        numbers = element.number_run(state, "test").tolist()
        return [*element.default_numbers], numbers, state.stage, parts.system.system_topology_has_been_realized()

    before = now()
    for value, error in bad_values(declaration.argument, declaration.shape):
        is_refused(lambda value=value: set_(state, value), error, declaration.argument)
        is_refused(lambda value=value: set_default(value), error, declaration.argument)
        with pytest.raises(error, match=re.escape(repr(element.name))):
            set_default(value)
    assert now() == before


@pytest.mark.parametrize(("name", "parameter"), list(declared()))
def test_a_declared_parameter_has_four_accessors(name, parameter):
    """They agree, take their argument by its name, say what they are, and are known to `Ensemble.set_each`."""
    parts, element = made(name)
    declaration = type(element).PARAMETERS[parameter]
    state = parts.system.realize_topology()
    get_default, set_default, get, set_ = (
        getattr(element, f"{what}_{parameter}") for what in ("get_default", "set_default", "get", "set")
    )
    assert np.array_equal(np.asarray(get(state)), np.asarray(get_default()))
    assert list(inspect.signature(get_default).parameters) == []
    assert list(inspect.signature(set_default).parameters) == [declaration.argument]
    assert list(inspect.signature(get).parameters) == ["state"]
    assert list(inspect.signature(set_).parameters) == ["state", declaration.argument]
    for method in (get_default, set_default, get, set_):
        owner = next(one for one in type(element).__mro__ if method.__name__ in vars(one))
        assert method.__qualname__ == f"{owner.__name__}.{method.__name__}" and method.__module__ == owner.__module__
        assert method.__name__ in pydoc.render_doc(method) and len(inspect.getdoc(method)) >= 40
    changed = declaration.invalidates - 1
    assert f"falls to {Stage(changed).name} at most" in inspect.getdoc(set_)
    for method in (get_default, get, set_, set_default):
        assert not declaration.unit or declaration.unit in inspect.getdoc(method)
    value = get_default()
    set_(state, **{declaration.argument: value})
    assert set_default(**{declaration.argument: value}) is element
    state = parts.system.realize_topology()
    ensemble = mb.Ensemble(parts.system, 3, state=state)
    ensemble.set_each(set_, [value] * 3)
    assert np.array_equal(np.asarray(get(ensemble.get_state(1))), np.asarray(value))
    with pytest.raises(TypeError, match=f"give set_{parameter} of"):
        ensemble.set_each(set_default, [value] * 3)
    with pytest.raises(TypeError) as caught:
        ensemble.set_each(set_, [value, "x", value])
    assert "this is for state 1 of the ensemble" in caught.value.__notes__[0]


@pytest.mark.parametrize("value", [2, np.float32(2.0), np.int64(2), np.array(2.0), np.array(2), fractions.Fraction(2)])
def test_numpys_scalars_and_fractions_are_numbers(value):
    parts, spring = made("TwoPointLinearSpring")
    assert spring.set_default_stiffness(value).get_default_stiffness() == 2.0
    state = parts.system.realize_topology()
    spring.set_stiffness(state, value)
    assert spring.get_stiffness(state) == 2.0 and type(spring.get_stiffness(state)) is float
    assert parts.pin.set_default_angle(value).get_default_angle() == 2.0


def test_numbers_out_of_range_are_refused():
    for name, argument, bad in [
        ("TwoPointLinearSpring", "stiffness", -1.0),
        ("Rod", "length", 0.0),
        ("Screw", "pitch", np.inf),
        ("Ellipsoid", "radii", (1.0, 0.0, 1.0)),
        ("CantileverFreeBeam", "length", -1.0),
        ("ConstantAngle", "angle", 4.0),
        ("PointInPlane", "plane_normal", O),
        ("LinearBushing", "damping", [-1.0] * 6),
        ("Thermostat", "relaxation_time", 0.0),
        ("MobilityLinearStop", "q_low", 2.0),
        ("SmoothSphereHalfSpace", "radius", 0.0),
        ("SmoothSphereHalfSpace", "constant_contact_force", 0.0),
        ("ExponentialSpring", "kinetic_friction", 0.8),
        ("ExponentialSpring", "shape_parameters", (0.0, 1.0, 0.0)),
    ]:
        parts = Parts()
        kind, before, numbers = parts.kind(name)
        is_refused(lambda: kind(**before, **{**numbers, argument: bad}), mb.ModelError, argument)  # noqa: B023


def test_numpys_numbers_are_shown_as_plain_ones():
    """As users write them, and not as ``np.float64(-1.0)``."""
    parts = Parts()
    rod = mb.constraint.Rod(parts.matter.ground, O, parts.pin, O, 1.0)
    state = parts.system.realize_topology()
    for bad, what in ((np.float64(-1.0), "-1.0"), (np.float32(-0.5), "-0.5"), (np.int64(-2), "-2"), (np.float64("nan"), "nan")):
        with pytest.raises(mb.ModelError, match=f"got {what}(;|$)"):
            rod.set_length(state, bad)
    with pytest.raises(TypeError, match=r"which has to be an integer, not 1\.5$"):
        mb.measure.Coordinate(None, parts.pin, np.float64(1.5))
    assert rod.get_length(state) == 1.0


def frames(parts):
    """Each place where a frame is taken: a function of the frame that gives back what was kept."""
    pin = parts.pin
    weld = con.Weld(pin, X, parts.free, X)
    bushing = F.LinearBushing(parts.forces, pin, X, parts.free, X, [1] * 6, [1] * 6)
    contact = con.LineOnLineContact(pin, X, 1.0, parts.free, X, 1.0, False)
    yield lambda f: mb.mobilizer.Pin(pin, parts.rigid, X_PF=f).get_default_inboard_frame()
    yield lambda f: pin.set_default_outboard_frame(f).get_default_outboard_frame()
    yield lambda f: weld.set_default_frame1(f).get_default_frame1()
    yield lambda f: bushing.set_default_frame2(f).get_default_frame2()
    yield lambda f: contact.set_default_frame2(f).get_default_frame2()
    yield lambda f: parts.free.set_default_transform(f).get_default_transform()
    yield lambda f: mb.decoration.Sphere(1.0, X=f).X


def test_a_frame_is_the_same_everywhere():
    """A `Transform`, a homogeneous matrix, a rotation or a location: at every place that takes a frame."""
    R = mb.Rotation.about_axis(0.3, "z")
    whole = mb.Transform(R, (1.0, 2.0, 3.0))
    for place in frames(Parts()):
        for given, expected in (
            (whole, whole),
            (np.asarray(whole), whole),
            (R, mb.Transform(R)),
            (np.asarray(R), mb.Transform(R)),
            ((1.0, 2.0, 3.0), mb.Transform((1.0, 2.0, 3.0))),
        ):
            kept = place(given)
            assert np.allclose(kept.R, expected.R, atol=1e-15) and np.array_equal(kept.p, expected.p)
        for bad, error in (("x", TypeError), (np.eye(2), ValueError), (2.0 * np.eye(4), mb.ModelError)):
            with pytest.raises(error):
                place(bad)


def test_set_each_of_a_declared_parameter_is_what_its_setter_makes():
    """Also of one from which other numbers follow, and after another of the same field."""
    parts, gravity = made("Gravity")
    spring = F.TwoPointLinearSpring(parts.forces, parts.pin, O, parts.free, (1, 0, 0), 2.0, 0.5)
    ensemble = mb.Ensemble(parts.system, 11, state=parts.system.realize_topology())
    sizes, stiffnesses = np.linspace(0.0, 9.0, 11), np.linspace(1.0, 3.0, 11)
    ensemble.set_each(spring.set_stiffness, stiffnesses)
    ensemble.set_each(gravity.set_magnitude, sizes)
    by_hand = mb.Ensemble(parts.system, 11, state=parts.system.realize_topology())
    by_hand.set_each(
        lambda state, both: (gravity.set_magnitude(state, both[0]), spring.set_stiffness(state, both[1])),
        list(zip(sizes, stiffnesses, strict=True)),
    )
    for i in range(11):
        state, other = ensemble.get_state(i), by_hand.get_state(i)
        assert np.array_equal(gravity.get_gravity_vector(state), (0.0, -sizes[i], 0.0))
        for element in (gravity, spring):
            assert np.array_equal(element.number_run(state, "test"), element.number_run(other, "test"))
    before = gravity.get_magnitude(ensemble.get_state(3))
    with pytest.raises(mb.ModelError, match="magnitude of 'gravity_0' has to be zero or more"):
        ensemble.set_each(gravity.set_magnitude, [1.0] * 10 + [-1.0])
    assert gravity.get_magnitude(ensemble.get_state(3)) == before


def near(value, rng):
    """A good value of the same kind."""
    if isinstance(value, mb.Transform):
        turn = mb.Rotation.about_axis(rng.uniform(0, 3), rng.normal(size=3))
        return np.asarray(mb.Transform(turn, rng.normal(size=3)))
    if isinstance(value, mb.Rotation):
        return np.asarray(mb.Rotation.about_axis(rng.uniform(0, 3), rng.normal(size=3)))
    return np.asarray(value) * rng.uniform(0.9, 0.99, np.shape(value)) + rng.uniform(0.001, 0.002, np.shape(value))


@pytest.mark.parametrize(("name", "parameter"), list(declared()))
def test_set_each_takes_an_array_for_what_the_setter_makes_of_each_row(name, parameter):
    """And does not call the setter for that; where a value is refused, the message names its state."""
    parts, element = made(name)
    set_, get_default = getattr(element, f"set_{parameter}"), getattr(element, f"get_default_{parameter}")
    n, rng = 11, np.random.default_rng(5)
    values = np.array([near(get_default(), rng) for _ in range(n)])
    if parameter == "static_friction":  # not below the dynamic one
        values *= 1.2
    state = parts.system.realize_topology()
    at_once, by_hand = (mb.Ensemble(parts.system, n, state=state) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(at_once), "_set_one_by_one", None)
        at_once.set_each(set_, values)
    by_hand.set_each(lambda state, value: set_(state, value), values)
    for i in range(n):
        numbers, expected = (element.number_run(one.get_state(i), "test") for one in (at_once, by_hand))
        np.testing.assert_allclose(numbers, expected, rtol=4e-16, atol=1e-16)
    bad = values.copy()
    bad[4] = np.nan
    with pytest.raises(mb.ModelError) as caught:
        at_once.set_each(set_, bad)
    assert "this is for state 4 of the ensemble" in caught.value.__notes__[0]
    np.testing.assert_array_equal(element.number_run(at_once.get_state(10), "test"), numbers)


def test_options_of_a_run_are_values_and_no_models():
    system = mb.examples.double_pendulum.build()[0]
    for name in ("accuracy", "fixed_step_size", "min_step_size", "max_step_size", "constraint_tolerance"):
        for value, error in (("1", TypeError), (True, TypeError), (np.nan, ValueError), (-1.0, ValueError)):
            with pytest.raises(error, match=name.removeprefix("constraint_")) as caught:
                mb.integrator.RungeKuttaMerson(system, **{name: value})
            assert not isinstance(caught.value, mb.ModelError)
    for value, error in (("5", TypeError), (True, TypeError), (1.5, ValueError), (0, ValueError)):
        with pytest.raises(error, match="internal_step_limit"):
            mb.integrator.RungeKuttaMerson(system, internal_step_limit=value)


def controller(p, **given):
    return mb.control.PID(p.forces, [(p.pin, 0)], **{"kp": 1.0, "ki": 0.0, "kd": 0.0, "sample_time": 0.01, **given})


#: One number each, of what is no element with parameters: who takes it, and the argument.
ONE_NUMBER = [
    (lambda p, value: mb.event.Gap(p.pin, p.free, value), "length"),
    (lambda p, value: mb.event.PlaneDistance(p.free, radius=value), "radius"),
    (lambda p, value: mb.event.RecordEvery(value, lambda state: 0.0), "interval"),
    (lambda p, value: mb.contact.Sphere(value), "radius"),
    (lambda p, value: mb.contact.Material(value), "stiffness"),
    (lambda p, value: mb.contact.Rope(p.pin, O, p.free, O, value), "length"),
    (lambda p, value: mb.contact.HardStopLower(p.pin, 0, 0.0, value), "restitution"),
    (lambda p, value: controller(p, sample_time=value), "sample_time"),
    (lambda p, value: controller(p, noise=value), "noise"),
    (lambda p, value: mb.function.Step(0.0, 1.0, 0.0, value), "x1"),
    (lambda p, value: mb.measure.Scale(p.forces, value, mb.measure.Time()), "factor"),
    (lambda p, value: mb.measure.Delay(p.forces, mb.measure.Time(), value), "delay"),
    (lambda p, value: mb.decoration.Sphere(value), "radius"),
    (lambda p, value: mb.integrator.RungeKuttaMerson(p.system, accuracy=value), "accuracy"),
]
#: Whole numbers.
WHOLE = [
    (lambda p, value: mb.function.Spline(value, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]), "degree"),
    (lambda p, value: mb.control.Sensor(mb.control.Coordinates(), seed=value), "seed"),
    (lambda p, value: mb.measure.Coordinate(p.forces, p.pin, value), "which"),
    (lambda p, value: mb.measure.One(p.forces, value), "n"),
    (lambda p, value: mb.assembler.QValue(p.pin, value, 0.0), "which_q"),
    (lambda p, value: mb.UnilateralContact(con.PointInPlane(p.pin, (0, 0, 1), 0.0, p.free, O), sign=value), "sign"),
]
#: True or False.
FLAGS = [
    (lambda p, value: F.GlobalDamper(p.forces, p.matter, 1.0, disabled_by_default=value), "disabled_by_default"),
    (lambda p, value: con.Ball(p.pin, O, p.free, O, disabled_by_default=value), "disabled_by_default"),
    (lambda p, value: con.SphereOnPlaneContact(p.pin, X, p.free, O, 0.5, enforce_rolling=value), "enforce_rolling"),
    (lambda p, value: mb.event.TriggerInfo(rising=value), "rising"),
    (lambda p, value: mb.integrator.RungeKuttaMerson(p.system).set_allow_interpolation(value), "allow"),
]
#: Names.
NAMES = [
    (lambda p, value: F.GlobalDamper(p.forces, p.matter, 1.0, name=value), "force"),
    (lambda p, value: con.Ball(p.pin, O, p.free, O, name=value), "constraint"),
    (lambda p, value: mb.mobilizer.Pin(p.pin, p.rigid, name=value), "body"),
    (lambda p, value: mb.contact.HardStopLower(p.pin, 0, 0.0, name=value), "contact"),
    (lambda p, value: mb.contact.Surface(mb.contact.Sphere(1.0), mb.contact.Material(1.0), name=value), "surface"),
    (lambda p, value: mb.measure.Time(p.forces, name=value), "measure"),
    (lambda p, value: mb.event.RecordEvery(1.0, lambda state: 0.0, name=value), "reporter"),
]


def test_what_else_takes_a_number_refuses_the_same():
    parts = Parts()
    for make, argument in ONE_NUMBER:
        for value in NO_NUMBERS:
            is_refused(lambda: make(parts, value), TypeError, argument)  # noqa: B023
        for value in WRONG[()]:
            is_refused(lambda: make(parts, value), ValueError, argument)  # noqa: B023
        for value in (np.nan, 10**400, -(10**400)):
            with pytest.raises(ValueError, match=argument.replace("_", ".")):
                make(parts, value)


def test_what_takes_a_whole_number_a_flag_or_a_name_refuses_all_else():
    parts = Parts()
    for table, bad in ((WHOLE, [*NO_NUMBERS, 1.5, 1.0]), (FLAGS, ["no", 0, 1.0, None, []]), (NAMES, [3, True, b"a", 1j, []])):
        for make, argument in table:
            for value in bad:
                if not (argument == "n" and value is None):
                    is_refused(lambda: make(parts, value), TypeError, argument)  # noqa: B023
    for make, what in NAMES:
        is_refused(lambda: make(parts, " "), mb.ModelError, what)  # noqa: B023
    for make, what in NAMES[:4]:
        make(parts, "one of a kind")
        is_refused(lambda: make(parts, "one of a kind"), mb.ModelError, what)  # noqa: B023
    with pytest.raises(ValueError, match="sign has to be 1 or -1"):
        WHOLE[-1][0](parts, 0)
