"""Bodies: default mass properties, what each kind may have, decorations, copies."""

import copy
import math
import pickle

import pytest

from mobod import body, decoration
from mobod.errors import ConvergenceError, MobodError, ModelError, StageError, TopologyError
from mobod.value import Inertia, MassProperties, Rotation, Transform, UnitInertia

KINDS = [body.Rigid, body.Massless, body.Particle, body.Linear, body.Ground]
ROD = MassProperties(2, (0, 0, 1), UnitInertia.cylinder_along_z(0, 1).shift_from_centroid((0, 0, 1)))
BALL = MassProperties(1, (0, 0, 0), UnitInertia.sphere(1))


def mass_properties(b):
    return b.get_default_rigid_body_mass_properties()


def test_defaults_are_those_of_simbody():
    assert mass_properties(body.Rigid()) == MassProperties(1, (0, 0, 0), Inertia(1, 1, 1))
    assert mass_properties(body.Linear()) == MassProperties(1, (0, 0, 0), Inertia(1, 1, 0))
    assert mass_properties(body.Particle(3)) == MassProperties(3, (0, 0, 0), Inertia.point_mass_at_origin())
    assert mass_properties(body.Massless()).mass == 0
    assert mass_properties(body.Ground()).mass == math.inf


def test_mass_properties_are_set():
    b = body.Rigid(BALL)
    assert b.set_default_rigid_body_mass_properties(ROD) is b and mass_properties(b) is ROD
    particle = body.Particle(1).set_default_rigid_body_mass_properties(mass_properties(body.Particle(2)))
    assert mass_properties(particle).mass == 2
    assert mass_properties(body.Linear(ROD)) is ROD


@pytest.mark.parametrize("make", KINDS)
def test_decorations_keep_their_order_and_place(make):
    b = make()
    X_BD = Transform((1, 2, 3))
    sphere, line, brick = decoration.Sphere(), decoration.Line(), decoration.Brick()
    assert b.add_decoration(sphere, X_BD) == 0 and b.add_decoration(line) == 1
    assert b.add_decoration(brick, (0, 0, 1)) == 2
    sphere.color = "red"  # of the caller's, not of the body's
    assert b.get_num_decorations() == 3 and b.get_decoration(0)[0].color is None
    assert [type(geometry) for geometry, _ in b.decorations] == [decoration.Sphere, decoration.Line, decoration.Brick]
    assert [X for _, X in b.decorations] == [X_BD, Transform(), Transform((0, 0, 1))]
    for i in (-1, 3):
        with pytest.raises(IndexError, match="has 3 decorations"):
            b.get_decoration(i)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("again", [lambda b: b.copy(), copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_a_copy_is_another_body(make, again):
    b = make()
    b.add_decoration(decoration.Sphere())
    other = again(b)
    assert type(other) is make and other != b and mass_properties(other) == mass_properties(b)
    other.get_decoration(0)[0].color = "red"
    assert b.get_decoration(0)[0].color is None
    other.add_decoration(decoration.Line())
    assert b.get_num_decorations() == 1 and other.get_num_decorations() == 2


def test_repr_says_what_a_person_can_use():
    assert repr(body.Massless()) == "Massless()" and repr(body.Ground()) == "Ground()"
    assert repr(body.Particle(2)) == "Particle(2.0)"
    b = body.Rigid(BALL)
    b.add_decoration(decoration.Sphere())
    assert repr(b).startswith("Rigid(MassProperties(mass=1, ") and repr(b).endswith(", 1 decoration)")


BAD = [
    (lambda: body.Body(BALL), TypeError, "create a body.Rigid"),
    (lambda: body.Rigid(3), TypeError, r"MassProperties\(mass, com, inertia\), not 3"),
    (lambda: body.Particle(-1), ModelError, "mass must not be negative"),
    (lambda: body.Particle().set_default_rigid_body_mass_properties(BALL), ModelError, "Particle is a point mass"),
    (lambda: body.Massless().set_default_rigid_body_mass_properties(BALL), ModelError, "Massless body has no mass; 1"),
    (lambda: body.Ground().set_default_rigid_body_mass_properties(BALL), ModelError, "Ground cannot be set"),
    (lambda: body.Linear(BALL), ModelError, "no inertia about its z axis"),
    (lambda: body.Linear(ROD.reexpress(Rotation.about_axis(1, "x"))), ModelError, "no inertia about its z axis"),
    # beside z: with the inertia that the mass has there, and with what a rod would have
    (
        lambda: body.Linear(MassProperties(1, (0.1, 0, 0), UnitInertia(1, 1, 0).shift_from_centroid((0.1, 0, 0)))),
        ModelError,
        "no inertia about its z axis",
    ),
    (lambda: body.Linear(MassProperties(1, (0.1, 0, 0), UnitInertia(1, 1, 0))), ModelError, "mass center"),
    (lambda: body.Rigid().add_decoration(decoration.Sphere(), (1, 2)), ValueError, r"\(3,\)"),
    (lambda: body.Rigid().add_decoration("sphere"), TypeError, "Decoration, such as"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_refused_change_leaves_the_body_as_it_was():
    b = body.Linear(ROD)
    with pytest.raises(ModelError):
        b.set_default_rigid_body_mass_properties(BALL)
    assert mass_properties(b) is ROD


def test_errors_are_a_family_that_python_knows():
    for kind, builtin in (
        (StageError, RuntimeError),
        (TopologyError, RuntimeError),
        (ConvergenceError, RuntimeError),
        (ModelError, ValueError),
    ):
        assert issubclass(kind, MobodError) and issubclass(kind, builtin)
    assert issubclass(MobodError, Exception)
