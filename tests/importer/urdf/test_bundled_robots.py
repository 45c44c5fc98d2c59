"""The bundled robots: complete, physical, and as published."""

from __future__ import annotations

import json
from importlib.resources import as_file, files

import pytest
from numpy.testing import assert_allclose

from mobod.importer.mechanism.idle import find_idle
from mobod.importer.mechanism.masses import find_masses
from mobod.importer.mechanism.order import find_order
from mobod.importer.urdf.describe import describe
from mobod.importer.urdf.reader import read_urdf
from mobod.importer.urdf.tree import find_root

#: Coordinates of the types of joints that the robots have.
NUM_Q = {"revolute": 1, "continuous": 1, "prismatic": 1, "fixed": 0}

ROBOTS = ["panda", "g1"]
EXAMPLES = files("mobod") / "examples"


def read(name: str):
    with as_file(EXAMPLES / f"{name}.urdf") as path:
        return read_urdf(path)


@pytest.mark.parametrize("name", ROBOTS)
def test_nothing_in_it_is_dropped_mended_or_idle(name):
    document = read(name)
    mechanism = describe(document, floating_base=True)
    branches = find_order(mechanism).branches
    masses = find_masses(mechanism, branches, strict=True)
    assert document.name == name
    assert mechanism.report == []
    assert find_idle(branches, masses, set()) == ([], [])


# sums of the published masses: Gaz et al. with the manufacturer's base and hand; the G1's less two
# covers of 1 g
@pytest.mark.parametrize(("name", "joints", "mass"), [("panda", 7, 17.451901), ("g1", 29, 33.33914202)])
def test_joints_and_mass(name, joints, mass):
    document = read(name)
    assert sum(NUM_Q[joint.type] for joint in document.joints.values()) == joints
    assert_allclose(
        sum(link.inertial.mass for link in document.links.values() if link.inertial),
        mass,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", ROBOTS)
def test_it_can_be_drawn_with_shapes_and_colours_alone(name):
    document = read(name)
    visuals = [visual for link in document.links.values() for visual in link.visuals]
    assert len(visuals) >= 15
    assert all(visual.rgba is not None for visual in visuals)
    assert not any(hasattr(visual.geometry, "filename") for visual in visuals)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_initial_pose_names_coordinates_within_their_limits(name):
    document = read(name)
    start = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    assert set(start) == {"title", "floating_base", "time", "q", "u"}
    root = find_root(document)
    base = {"q": 7, "u": 6} if start["floating_base"] else {"q": 0, "u": 0}
    for kind in ("q", "u"):
        names = {joint.name for joint in document.joints.values() if NUM_Q[joint.type] == 1}
        names |= {f"{root}[{number}]" for number in range(base[kind])}
        assert set(start[kind]) <= names
    for joint in document.joints.values():
        if joint.limit is not None:
            assert joint.limit.lower <= start["q"].get(joint.name, joint.limit.upper) <= joint.limit.upper
