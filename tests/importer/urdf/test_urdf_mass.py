"""Mass properties come out physical, or are refused; moving them changes no motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose

import mobod as mb
from mobod.errors import ModelError
from mobod.importer.mechanism.masses import find_masses
from mobod.importer.mechanism.order import find_order
from mobod.importer.parts import rotation_matrix
from mobod.importer.urdf.describe import describe
from mobod.importer.urdf.reader import read_urdf


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
    mechanism = describe(read_urdf(write("<robot>\n" + "".join(parts) + "</robot>")))
    masses = find_masses(mechanism, find_order(mechanism).branches, strict=False)
    return masses, mechanism.report, mechanism.report.departures


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
    masses, notes, _ = masses_of(write, link("a", 2.0, (3, 4, 5), xyz=(1, 0, 0), rpy=(0, 0, math.pi / 2)))
    a = masses["a"]
    assert notes == []
    assert_allclose(a.com, [1, 0, 0])
    assert_allclose(a.central_inertia, np.diag([4.0, 3.0, 5.0]), atol=1e-15)
    assert_allclose(a.inertia, np.diag([4.0, 5.0, 7.0]), atol=1e-15)


def test_a_link_without_mass_and_a_point_mass(write):
    masses, notes, _ = masses_of(write, link("a"), link("b", 1.0, (1e-19, -1e-19, 0)), joint("j", "a", "b"))
    assert notes == []
    assert masses["a"].mass == 0.0
    assert not masses["b"].central_inertia.any()


def test_rods_and_plates_are_bodies(write):
    masses, notes, _ = masses_of(
        write,
        link("rod", 1.0, (0, 1, 1)),
        link("plate", 1.0, (1, 2, 3)),
        joint("j", "rod", "plate"),
    )
    assert notes == []
    assert masses["plate"].mass == 1.0


def test_rounded_digits_are_kept(write):
    masses, notes, impossible = masses_of(write, link("plate", 1.0, (1.0, 2.0, 3.012)))
    assert_allclose(masses["plate"].central_inertia, np.diag([1.0, 2.0, 3.012]))
    assert notes == ["line 2: the inertia of link 'plate' misses that of a body by 0.4 %, as by rounding; it is kept as it is"]
    assert impossible == []


BAD = (1.0, 1.0, 10.0)


@pytest.mark.parametrize(
    ("diagonal", "shown"),
    [(BAD, "1, 1, 10"), ((-1, 1, 1), "-1, 1, 1"), ((0.1, 0.1, 1), "0.1, 0.1, 1"), ((-1, -1, -1), "-1, -1, -1")],
)
@pytest.mark.parametrize("joined", ["continuous", "fixed"])
def test_what_no_body_has_is_kept_with_one_warning_or_refused(write, diagonal, shown, joined):
    path = write(
        "<robot>\n"
        + link("base", 1.0, (1, 1, 1))
        + link("arm", 1.0, diagonal)
        + link("hand", 1.0, BAD, xyz=(1, 1, 1))
        + joint("j", "base", "arm", joined)
        + joint("k", "arm", "hand", "continuous")
        + "</robot>"
    )
    with pytest.warns(UserWarning) as caught:
        model = mb.load_urdf(path)
    assert len(caught) == 1 and str(caught[0].message) == (
        f"{path}: 2 links have inertias that no body has; they are kept as in the file: line 3: link 'arm', with principal "
        f"moments {shown}; line 4: link 'hand', with principal moments 1, 1, 10"
    )
    assert sum("no body has such an inertia; it is kept as it is" in note for note in model.report) == 2
    assert_allclose(np.asarray(model.bodies["arm"].get_default_mass_properties().inertia), np.diag(diagonal))
    with pytest.raises(ModelError, match=f"{path}: 2 links have inertias that no body has: line 3: link 'arm'"):
        mb.load_urdf(path, strict=True)


def test_an_inertia_without_mass_is_counted_with_what_it_is_fixed_to(write):
    """It is the same about every point, so that it needs only to be turned."""
    parts = [
        link("base", 10.0, (10, 10, 10)),
        link("mount"),
        link("rotor").replace("/>", '><inertial><mass value="0"/><inertia ixx="1" iyy="2" izz="3"/></inertial></link>'),
        joint("j1", "base", "mount", xyz=(0, 0, 1)),
        joint("j2", "mount", "rotor", xyz=(0, 0, 2), rpy=(math.pi / 2, 0, 0)),
    ]
    masses, notes, _ = masses_of(write, *parts)
    assert [m.mass for m in masses.values()] == [10.0, 0.0, 0.0]
    assert_allclose(masses["base"].central_inertia, np.diag([11.0, 13.0, 12.0]), atol=1e-15)
    assert not masses["mount"].central_inertia.any() and not masses["rotor"].central_inertia.any()
    assert any("link 'rotor' has an inertia and no mass: it is counted with that of 'mount'" in note for note in notes)


def test_an_inertia_without_mass_that_moves_is_in_the_mass_matrix(write):
    parts = [
        link("base", 1.0, (1, 1, 1)),
        link("rotor").replace("/>", '><inertial><mass value="0"/><inertia ixx="1" iyy="2" izz="3"/></inertial></link>'),
        joint("spin", "base", "rotor", "continuous", xyz=(5, 0, 0)).replace("</joint>", '<axis xyz="0 0 1"/></joint>'),
    ]
    model = mb.load_urdf(write("<robot>" + "".join(parts) + "</robot>"))
    state = model.default_state()
    model.system.realize(state)
    assert_allclose(model.matter.calc_m(state), [[3.0]], rtol=1e-11)
    assert_allclose(state.u_dot, 0.0, atol=1e-11)
