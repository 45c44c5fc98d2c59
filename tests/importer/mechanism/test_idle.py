"""Joints that move no mass are found; with them welded, the mass matrix is regular."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mobod.importer.mechanism.description import Axis, Joint, Link, Mechanism
from mobod.importer.mechanism.idle import find_idle
from mobod.importer.mechanism.order import find_order
from mobod.importer.parts import MASSLESS, LinkMass, rotation_matrix
from mobod.importer.urdf.describe import KINDS
from mobod.value import Transform

SOLID = LinkMass(1.0, np.array([0.1, 0.2, 0.3]), np.diag([1.0, 2.0, 2.5]))
POINT = LinkMass(1.0, np.array([0.0, 0.0, -1.0]), np.zeros((3, 3)))
POINT_AT_ORIGIN = LinkMass(1.0, np.zeros(3), np.zeros((3, 3)))
ROD_ALONG_Z = LinkMass(1.0, np.array([0.0, 0.0, 0.5]), np.diag([1.0, 1.0, 0.0]))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Origin:
    """Where a joint is in its parent."""

    def __init__(self, xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
        self.X = Transform.trusted(rotation_matrix(rpy), np.array(xyz))


def tree_of(*parts, parents=None, floating=False):
    """Branches of a chain or tree of joints `(type, axis, mass)` on a solid base, half a metre apart in y, and the masses."""
    mechanism = Mechanism("", "tree", {"base": Link("base", static=not floating)}, {})
    masses = {"base": SOLID}
    names = ["base"]
    for number, (kind, axis, mass, *origin) in enumerate(parts, 1):
        name = f"l{number}"
        parent = names[number - 1 if parents is None else parents[number - 1]]
        where = origin[0] if origin else Origin((0.0, 0.5, 0.0))
        mechanism.links[name] = Link(name)
        mechanism.joints[f"j{number}"] = Joint(f"j{number}", KINDS[kind], parent, name, where.X, axes=[Axis(axis)])
        masses[name] = mass
        names.append(name)
    return find_order(mechanism).branches, masses


def idle(*parts, parents=None) -> list[str]:
    return names_of(*tree_of(*parts, parents=parents))


def names_of(branches, masses):
    return [branch.joint.name for branch in find_idle(branches, masses, {"base"}).branches]


SAME = Origin()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("continuous", Z, SOLID)], []),
        ([("continuous", Z, MASSLESS)], ["j1"]),
        ([("prismatic", Z, MASSLESS)], ["j1"]),
        ([("planar", Z, MASSLESS)], ["j1"]),
        ([("floating", Z, MASSLESS)], ["j1"]),
        ([("fixed", Z, MASSLESS)], []),
        ([("continuous", Z, MASSLESS), ("fixed", Z, SOLID)], []),
        ([("continuous", Z, MASSLESS), ("fixed", Z, MASSLESS)], ["j1"]),
        ([("continuous", Z, MASSLESS), ("continuous", Z, MASSLESS)], ["j1", "j2"]),
        # a ball joint of three hinges; the same with two of them on one line
        (
            [
                ("continuous", X, MASSLESS),
                ("continuous", Y, MASSLESS, SAME),
                ("continuous", Z, SOLID, SAME),
            ],
            [],
        ),
        ([("continuous", X, MASSLESS), ("continuous", X, SOLID, SAME)], ["j1"]),
        ([("continuous", X, MASSLESS), ("continuous", X, SOLID)], []),  # parallel, but apart
        ([("prismatic", X, MASSLESS), ("prismatic", X, SOLID)], ["j1"]),
        # point masses: swung on an arm, spun on the spot, and at the end of a ball joint
        ([("continuous", X, POINT)], []),
        ([("continuous", Z, POINT)], ["j1"]),
        ([("prismatic", Z, POINT)], []),
        ([("continuous", X, POINT_AT_ORIGIN), ("continuous", Y, SOLID)], []),
        (
            [
                ("continuous", X, MASSLESS),
                ("continuous", Y, MASSLESS, SAME),
                ("continuous", Z, POINT, SAME),
            ],
            ["j3"],
        ),
        ([("continuous", Z, ROD_ALONG_Z)], ["j1"]),
        ([("continuous", X, ROD_ALONG_Z)], []),
        ([("floating", Z, ROD_ALONG_Z)], ["j1"]),
        ([("floating", Z, SOLID)], []),
        ([("floating", Z, MASSLESS), ("continuous", X, SOLID)], ["j1"]),
        ([("planar", Z, POINT)], ["j1"]),
        ([("planar", X, POINT)], ["j1"]),
        ([("planar", X, ROD_ALONG_Z)], []),
    ],
)
def test_joints_that_move_no_mass(parts, expected):
    assert idle(*parts) == expected


def test_two_point_masses_on_one_link_make_a_rod():
    left, right = Origin((0.0, -1.0, 0.0)), Origin((0.0, 1.0, 0.0))
    parts = [
        ("continuous", X, MASSLESS),
        ("fixed", Z, POINT_AT_ORIGIN, left),
        ("fixed", Z, POINT_AT_ORIGIN, right),
    ]
    assert idle(*parts, parents=[0, 1, 1]) == []
    parts[0] = ("continuous", Y, MASSLESS)
    assert idle(*parts, parents=[0, 1, 1]) == ["j1"]


def test_a_base_without_mass_can_float_if_all_its_motions_move_mass():
    branches, masses = tree_of(("fixed", Z, SOLID), floating=True)
    assert find_idle(branches, masses | {"base": MASSLESS}, set()) == ([], [])
    branches, masses = tree_of(("continuous", Z, SOLID), floating=True)
    idle, light = find_idle(branches, masses | {"base": MASSLESS}, set())
    assert idle == [] and [branch.link for branch in light] == ["base"]


def mass_matrix(tree, masses, welded, rng):
    """M of a fixed-base tree of hinges and sliders at random coordinates, from Jacobians."""
    carried = [(branch.link, branch.joint) for branch in tree if branch.joint is not None]
    joints = [joint for _, joint in carried if joint.kind != "fixed" and joint.name not in welded]
    column = {joint.name: number for number, joint in enumerate(joints)}
    pose = {"base": (np.eye(3), np.zeros(3))}
    J = {"base": np.zeros((6, len(joints)))}  # of the link's origin, in the base frame
    M = np.zeros((len(joints), len(joints)))
    for link, joint in carried:
        R_parent, p_parent = pose[joint.parent]
        R, p = (
            R_parent @ joint.X_PJ.R.matrix,
            p_parent + R_parent @ np.array(joint.X_PJ.p),
        )
        axis = R @ np.array(joint.axes[0].direction)
        q = rng.uniform(0.2, 1.2) if joint.name in column else 0.0
        if joint.kind == "revolute":
            a = np.array(joint.axes[0].direction)
            K = np.cross(np.eye(3), -a)
            R = R @ (np.eye(3) + math.sin(q) * K + (1 - math.cos(q)) * K @ K)
        else:
            p = p + q * axis
        own = J[joint.parent].copy()
        own[3:] += np.cross(own[:3], p - p_parent, axis=0)
        if joint.name in column:
            own[:3, column[joint.name]] += axis if joint.kind == "revolute" else 0.0
            own[3:, column[joint.name]] += 0.0 if joint.kind == "revolute" else axis
        pose[link], J[link] = (R, p), own
        m = masses[link]
        at_com = own[3:] + np.cross(own[:3], R @ m.com, axis=0)
        M += m.mass * at_com.T @ at_com + own[:3].T @ R @ m.central_inertia @ R.T @ own[:3]
    return M


def is_regular(M) -> bool:
    if not M.size:
        return True
    values = np.linalg.eigvalsh(M)
    # singular ones have rounding, 1e-16; the geometry below cannot come near 1e-10 by itself
    return bool(values[0] > 1e-10 * max(1.0, values[-1]))


steps = st.tuples(
    st.sampled_from(["continuous", "continuous", "prismatic", "fixed"]),
    st.sampled_from([X, Y, Z, (0.6, 0.8, 0.0)]),
    st.sampled_from([SOLID, POINT, POINT_AT_ORIGIN, ROD_ALONG_Z, MASSLESS, MASSLESS]),
    st.sampled_from([SAME, SAME, Origin((0.0, 0.5, 0.0)), Origin((0.3, 0.0, 0.0), (0.5, 0.0, 0.7))]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(steps, st.integers(0, 2)), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_what_is_found_is_what_makes_the_mass_matrix_singular(parts, seed):
    parents = [max(0, number - back) for number, (_, back) in enumerate(parts)]
    tree, masses = tree_of(*(step for step, _ in parts), parents=parents)
    found = names_of(tree, masses)
    rng = np.random.default_rng(seed)
    assert is_regular(mass_matrix(tree, masses, found, rng))
    assert bool(found) != is_regular(mass_matrix(tree, masses, [], rng))
    for name in found:  # none is welded without need
        assert not is_regular(mass_matrix(tree, masses, [other for other in found if other != name], rng))
