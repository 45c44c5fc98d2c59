"""Pictures of contacts: arrows of forces, and planes without end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

pytest.importorskip("matplotlib")

from mobod.shapes.contact_arrows import calc_contact_arrows
from mobod.shapes.mechanism import Mechanism
from mobod.visual.scene import _cut_box

RUBBER = mb.contact.Material(stiffness=1e5, dissipation=0.5)


@pytest.fixture(scope="module")
def bounce():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), RUBBER))
    part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    ball = mb.mobilizer.Free(matter.ground, part, name="ball")
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), RUBBER))
    ball.set_default_q((1, 0, 0, 0, 0, 0, 0.15))
    return mb.simulate(system, system.realize_topology(), 0.5, report_interval=0.005, record=["contacts"])


def test_arrows_are_the_forces(bounce):
    arrows = calc_contact_arrows(bounce, bounce.time, 1.0, 0.01)
    assert [len(one) for one in arrows] == [len(bounce.contacts_at(i)) for i in range(len(bounce))]
    arrows, rows = np.concatenate(arrows), bounce.contacts
    assert len(rows) > 3
    assert_allclose(arrows[:, 0], rows["point"], atol=1e-12)
    assert_allclose(arrows[:, 1] - arrows[:, 0], 0.01 * rows["force"], atol=1e-9)


def test_without_a_scale_arrows_fit_the_picture(bounce):
    arrows = np.concatenate(calc_contact_arrows(bounce, bounce.time, 0.3, True))
    lengths = np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1)
    assert lengths.max() <= 0.6 * 0.3 * (1 + 1e-12) and np.quantile(lengths, 0.9) == pytest.approx(0.25 * 0.3)


def test_pictures_and_films_take_them(bounce, tmp_path):
    with_arrows = bounce.plot(tmp_path / "a.png", snapshots=3, contact_forces=True)
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert with_arrows.get_size_inches().tolist() == bounce.plot(snapshots=3).get_size_inches().tolist()
    bounce.animate(tmp_path / "a.gif", fps=10, contact_forces=0.02)
    assert (tmp_path / "a.gif").stat().st_size > 1000
    with pytest.raises(mb.ModelError, match="contact_forces"):
        bounce.plot(contact_forces=-1.0)
    with pytest.raises(TypeError, match="contact_forces"):
        bounce.animate(contact_forces="yes")


def test_of_a_system_without_contacts_none_can_be_drawn():
    system, state = mb.examples.double_pendulum.build()
    with pytest.raises(mb.ModelError, match="contact_forces needs"):
        mb.simulate(system, state, 0.1).plot(contact_forces=True)


def test_a_plane_makes_no_picture_larger(bounce):
    state = bounce.states[0]
    mechanism = Mechanism.of(bounce.system, state)
    assert mechanism.size < 0.4
    (plane,) = mechanism.planes
    assert plane.body == 0 and plane.normal.tolist() == [0, 0, 1]


def test_a_planes_part_of_a_box_is_a_polygon_in_both(rng):
    low, high = np.array([-1.0, -2.0, 0.5]), np.array([1.0, 1.0, 4.0])
    assert_allclose(np.sort(_cut_box(low, high, np.array([9.0, 9.0, 1.0]), np.array([0.0, 0.0, 1.0]))[:, 2]), 1.0)
    assert len(_cut_box(low, high, np.array([0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]))) == 0
    for _ in range(50):
        n, p = rng.normal(size=3), rng.uniform(low, high)
        n /= np.linalg.norm(n)
        corners = _cut_box(low, high, p, n)
        assert 3 <= len(corners) <= 6
        assert_allclose((corners - p) @ n, 0.0, atol=1e-12)
        assert (corners >= low - 1e-12).all() and (corners <= high + 1e-12).all()
