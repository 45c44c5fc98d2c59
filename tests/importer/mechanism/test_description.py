"""Models that the builder makes of a description: inertias without mass, parts of Ground that touch."""

import numpy as np
import pytest

import mobod as mb
from mobod.importer.mechanism import Collision, Joint, Link, Mechanism, Options, build
from mobod.importer.mechanism.shapes import Sphere
from mobod.importer.parts import LinkMass
from mobod.value import Rotation, Transform

TURN = Rotation.about_axis(0.5, (1, 2, -1))


@pytest.mark.parametrize("way", ["outward", "inward"])
def test_an_inertia_without_mass_is_turned_into_the_link_to_which_it_is_fixed(way):
    moments = np.diag([1.0, 2.0, 2.5])
    solid = LinkMass(2.0, np.array([0.1, 0.0, 0.0]), np.eye(3))
    links = {"a": Link("a", solid, "a"), "rotor": Link("rotor", LinkMass(0.0, np.zeros(3), moments), "rotor")}
    joints = {"free": Joint("free", "free", None, "a"), "j": Joint("j", "fixed", "a", "rotor", X_PJ=Transform(TURN))}
    if way == "inward":
        joints["j"] = Joint("j", "fixed", "rotor", "a", X_CJ=Transform(TURN))
    model = build(Mechanism("", "one", links, joints), Options(), (0, 0, 0))
    expected = np.eye(3) + TURN.matrix @ moments @ TURN.matrix.T + 2.0 * 0.01 * np.diag([0.0, 1.0, 1.0])
    state = model.default_state()
    model.system.realize(state, mb.Stage.POSITION)
    assert np.allclose(model.matter.calc_m(state)[:3, :3], expected, atol=1e-14)
    assert any("counted with that of 'a'" in line for line in model.report)


@pytest.mark.parametrize("free", [False, True])
def test_parts_of_ground_do_not_touch_each_other(free):
    ball = [Collision(Sphere(1.0), Transform(), "ball")]
    solid = LinkMass(1.0, np.zeros(3), np.eye(3))
    links = {
        name: Link(name, solid, collisions=ball, static=not free, X_WL=Transform((x, 0, 0)))
        for name, x in (("a", 0), ("b", 1.5))
    }
    model = build(Mechanism("", "two", links, {}), Options(collision=True, exclude_overlapping=False), (0, 0, 0))
    state = model.default_state()
    model.system.realize(state, mb.Stage.VELOCITY)
    assert len(model.contacts.get_contacts(state)) == free


def test_a_free_link_with_too_little_mass_is_refused_and_one_with_none_stays():
    point = LinkMass(1.0, np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(mb.ModelError, match=r"f\.x:7: a link cannot move freely: link 'a' has too little mass of its own"):
        build(Mechanism("f.x", "one", {"a": Link("a", point, place="line 7")}, {}), Options(), (0, 0, 0))
    with pytest.warns(UserWarning, match="free links without any mass are welded to Ground: 'a'"):
        model = build(Mechanism("f.x", "one", {"a": Link("a", place="line 7")}, {}), Options(), (0, 0, 0))
    assert model.coordinates == {} and "link 'a' and what hangs on it have no mass" in model.report[0]
