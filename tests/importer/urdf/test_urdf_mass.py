"""Mass properties come out physical, or are refused; moving them changes no motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mobod.errors import ModelError
from mobod.importer.urdf.mass import calc_link_masses, rotation_matrix
from mobod.importer.urdf.reader import read_urdf
from mobod.importer.urdf.tree import build_tree


def link(name: str, mass: float = 0.0, diagonal=(0, 0, 0), xyz=(0, 0, 0), rpy=(0, 0, 0)) -> str:
    if mass == 0.0:
        return f'<link name="{name}"/>\n'
    ixx, iyy, izz = diagonal
    return (
        f'<link name="{name}"><inertial><origin xyz="{_words(xyz)}" rpy="{_words(rpy)}"/>'
        f'<mass value="{mass}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
    )


def joint(name: str, parent: str, child: str, type: str = "fixed", xyz=(0, 0, 0), rpy=(0, 0, 0)) -> str:
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_words(xyz)}" rpy="{_words(rpy)}"/></joint>\n'
    )


def _words(values) -> str:
    return " ".join(map(repr, map(float, values)))


def masses_of(write, *parts: str):
    document = read_urdf(write("<robot>\n" + "".join(parts) + "</robot>"))
    return calc_link_masses(document, build_tree(document))


def total(masses, places):
    """Mass, mass centre and inertia about it of everything, the links at the given positions."""
    mass = sum(m.mass for m in masses.values())
    com = sum(m.mass * (m.com + places[name]) for name, m in masses.items()) / mass
    inertia = np.zeros((3, 3))
    for name, m in masses.items():
        r = m.com + places[name] - com
        inertia += m.central_inertia + m.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, com, inertia


@given(st.tuples(*[st.floats(-4, 4)] * 3))
def test_roll_pitch_yaw_are_turns_about_fixed_x_then_y_then_z(rpy):
    def about(axis, angle):
        c, s = math.cos(angle), math.sin(angle)
        return np.array(
            {
                "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
                "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
                "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
            }[axis]
        )

    roll, pitch, yaw = rpy
    assert_allclose(rotation_matrix(rpy), about("z", yaw) @ about("y", pitch) @ about("x", roll), atol=1e-15)


def test_inertia_is_turned_into_the_links_frame_and_shifted_to_its_origin(write):
    masses, notes = masses_of(write, link("a", 2.0, (3, 4, 5), xyz=(1, 0, 0), rpy=(0, 0, math.pi / 2)))
    a = masses["a"]
    assert notes == []
    assert_allclose(a.com, [1, 0, 0])
    assert_allclose(a.central_inertia, np.diag([4.0, 3.0, 5.0]), atol=1e-15)
    assert_allclose(a.inertia, np.diag([4.0, 5.0, 7.0]), atol=1e-15)


def test_a_link_without_mass_and_a_point_mass(write):
    masses, notes = masses_of(write, link("a"), link("b", 1.0, (1e-19, -1e-19, 0)), joint("j", "a", "b"))
    assert notes == []
    assert masses["a"].mass == 0.0
    assert not masses["b"].central_inertia.any()


def test_rods_and_plates_are_bodies(write):
    masses, notes = masses_of(
        write,
        link("rod", 1.0, (0, 1, 1)),
        link("plate", 1.0, (1, 2, 3)),
        joint("j", "rod", "plate"),
    )
    assert notes == []
    assert masses["plate"].mass == 1.0


def test_rounded_digits_are_mended(write):
    masses, notes = masses_of(write, link("plate", 1.0, (1.0, 2.0, 3.012)))
    moments = np.linalg.eigvalsh(masses["plate"].central_inertia)
    assert_allclose(moments, [1.006, 2.006, 3.012])
    assert len(notes) == 1
    assert notes[0].startswith("line 2: the inertia of link 'plate' misses that of a body by 0.4 %")


BAD = (1.0, 1.0, 10.0)


@pytest.mark.parametrize(
    ("diagonal", "shown"),
    [(BAD, "1, 1, 10"), ((-1, 1, 1), "-1, 1, 1"), ((0, 0, 1), "0, 0, 1"), ((-1, -1, -1), "-1")],
)
@pytest.mark.parametrize("moving", [False, True])
def test_what_no_body_has_is_refused(write, diagonal, shown, moving):
    parts = [
        link("base", 1.0, (1, 1, 1)),
        link("arm", 1.0, diagonal),
        joint("j", "base", "arm", "continuous"),
    ]
    with pytest.raises(ModelError) as caught:
        masses_of(write, *(parts if moving else parts[1:2]))
    message = str(caught.value)
    assert f":{3 if moving else 2}: link 'arm': its inertia is not that of any body" in message
    assert f"the principal moments are {shown}" in message


def test_a_fixed_link_is_counted_with_what_it_is_fixed_to(write):
    places = {"base": np.zeros(3), "mount": np.array([0, 0, 1.0]), "camera": np.array([0, 0, 3.0])}
    parts = [
        link("base", 10.0, (10, 10, 10)),
        link("mount"),
        link("camera", 0.1, BAD, xyz=(1, 0, 0)),
        joint("j1", "base", "mount", xyz=(0, 0, 1)),
        joint("j2", "mount", "camera", xyz=(0, 0, 2)),
    ]
    masses, notes = masses_of(write, *parts)
    assert [m.mass for m in masses.values()] == [10.1, 0.0, 0.0]
    mass, com, inertia = total(masses, places)
    r = np.array([1.0, 0.0, 3.0])
    assert_allclose(mass, 10.1)
    assert_allclose(com, 0.1 * r / 10.1)
    reduced = 10 * 0.1 / 10.1  # two bodies about their common mass centre
    assert_allclose(inertia, 10 * np.eye(3) + np.diag(BAD) + reduced * (r @ r * np.eye(3) - np.outer(r, r)))
    assert len(notes) == 1
    assert "the inertia of link 'camera' is not that of a body (principal moments 1, 1, 10); its" in notes[0]


def test_a_base_takes_what_is_fixed_to_it(write):
    parts = [
        link("base", 1e-6, (0, 0, 3e-6)),
        link("trunk", 10.0, (1, 1, 1), xyz=(0, 0, 1)),
        link("arm", 1.0, (1, 1, 1)),
        joint("j1", "base", "trunk", xyz=(1, 0, 0), rpy=(0, math.pi / 2, 0)),
        joint("j2", "trunk", "arm", "continuous"),
    ]
    masses, notes = masses_of(write, *parts)
    assert_allclose([m.mass for m in masses.values()], [10.000001, 0.0, 1.0])
    assert_allclose(masses["base"].com, [2.0, 0.0, 0.0], atol=1e-6)
    assert_allclose(masses["base"].central_inertia, np.eye(3), atol=1e-5)
    assert notes[0].startswith("line 2: the inertia of link 'base' is not that of a body; the masses of all links")


def test_the_link_with_the_fault_is_the_one_that_is_named(write):
    parts = [link("base", 1e-3), link("tip", 1.0, BAD), joint("j1", "base", "tip")]
    with pytest.raises(
        ModelError,
        match=r":3: link 'tip': .* are 1, 1, 10 \(with the links fixed to it: 1, 1, 10\)",
    ):
        masses_of(write, *parts)
