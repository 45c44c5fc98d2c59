"""Joints that move no mass are found; with them welded, the mass matrix is regular."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mobod as mb
from mobod.importer.mechanism import Axis, Joint, Link, Mechanism, Options, build
from mobod.importer.mechanism.idle import find_idle
from mobod.importer.mechanism.order import find_order
from mobod.importer.parts import MASSLESS, LinkMass, rotation_matrix
from mobod.importer.urdf.describe import KINDS
from mobod.value import Rotation, Transform

SOLID = LinkMass(1.0, np.array([0.1, 0.2, 0.3]), np.diag([1.0, 2.0, 2.5]))
POINT = LinkMass(1.0, np.array([0.0, 0.0, -1.0]), np.zeros((3, 3)))
POINT_AT_ORIGIN = LinkMass(1.0, np.zeros(3), np.zeros((3, 3)))
ROD_ALONG_Z = LinkMass(1.0, np.array([0.0, 0.0, 0.5]), np.diag([1.0, 1.0, 0.0]))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Origin:
    """The place of a joint in its parent."""

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


KINDS_OF_JOINTS = ("fixed", "revolute", "prismatic", "screw", "planar", "universal", "ball", "free")


@pytest.mark.parametrize("seed", range(12))
def test_what_is_built_has_a_regular_mass_matrix_whatever_the_kinds_and_the_ends_that_joints_are_reached_from(seed, rng):
    """Random trees of all kinds, joints from either end, links of every kind of mass: by the mass matrix of what is built."""
    mechanism = Mechanism("", "tree", {"base": Link("base", static=True)}, {})
    names = ["base"]
    for number in range(1, 7):
        name, other = f"l{number}", str(rng.choice(names))
        mass = [SOLID, SOLID, POINT, ROD_ALONG_Z, MASSLESS][rng.integers(5)]
        mechanism.links[name] = Link(name, mass, mass_place="somewhere", place="somewhere")
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        X_PJ, X_CJ = (Transform(Rotation.about_axis(rng.uniform(-2, 2), rng.normal(size=3)), rng.normal(size=3)) for _ in "PC")
        ends = (other, name) if rng.random() < 0.6 else (name, other)
        joint = Joint(
            f"j{number}", str(rng.choice(KINDS_OF_JOINTS)), *ends, X_PJ=X_PJ, X_CJ=X_CJ, advance=0.3, place="somewhere"
        )
        joint.axes = [Axis(axes[0]), Axis(axes[1])] if joint.kind == "universal" else [Axis(axes[0])]
        mechanism.joints[joint.name] = joint
        names.append(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = build(mechanism, Options(), (0.0, 0.0, -9.8))
    state = model.default_state()
    state.q = rng.uniform(0.2, 1.2, len(state.q))
    model.system.project(state)  # quaternions
    model.system.realize(state, mb.Stage.POSITION)
    assert is_regular(model.matter.calc_m(state))
    welded = [
        joint.name
        for joint in mechanism.joints.values()
        if joint.kind != "fixed" and not {joint.name, f"{joint.name}[0]"} & set(model.coordinates)
    ]
    assert len([line for line in model.report if "and is welded" in line]) == len(welded)


def chain(*joints):
    """Base, a link without mass, a link with: two joints between them, whose lines the tests choose."""
    mechanism = Mechanism("", "chain", {"base": Link("base", static=True)}, {})
    mechanism.links |= {"between": Link("between"), "end": Link("end", SOLID)}
    for name, joint in zip("ab", joints, strict=True):
        joint.name, mechanism.joints[name] = name, joint
    order = find_order(mechanism).branches
    masses = {name: link.mass for name, link in mechanism.links.items()}
    return [branch.joint.name for branch in find_idle(order, masses, {"base"}).branches]


#: Poses of the link between: of the first joint in the base, which is the second's line too, and anywhere else.
LINE = Transform(Rotation.about_axis(0.7, (1, 2, 3)), (0.3, -0.2, 0.5))
ELSEWHERE = Transform(Rotation.about_axis(-1.1, (2, -1, 1)), (-0.4, 0.6, 0.1))


def about(kind, parent, child, X_PJ, X_CJ, *axes, advance=0.0):
    return Joint("", kind, parent, child, X_PJ=X_PJ, X_CJ=X_CJ, axes=[Axis(axis) for axis in axes], advance=advance)


@pytest.mark.parametrize("way", ["outward", "inward"])
def test_two_hinges_on_one_line_are_one_too_many_wherever_the_links_have_their_frames(way):
    """Whether the second is said from the inner or from the outer link; a little apart they are not."""
    for frame, expected in ((ELSEWHERE, ["a"]), (ELSEWHERE @ Transform((0.1, 0.0, 0.0)), [])):
        ends = [("between", frame), ("end", LINE)] if way == "outward" else [("end", LINE), ("between", frame)]
        (parent, X_PJ), (child, X_CJ) = ends
        first = about("revolute", "base", "between", LINE, ELSEWHERE, Z)
        assert chain(first, about("revolute", parent, child, X_PJ, X_CJ, Z)) == expected


@pytest.mark.parametrize(("axis", "expected"), [(Y, ["a"]), (Z, [])])
def test_a_universal_joint_turns_about_its_second_axis_in_the_outer_link(axis, expected):
    """A hinge along the second axis is one too many, one across both makes a ball joint of it."""
    first = about("universal", "base", "between", LINE, ELSEWHERE, X, Y)
    assert chain(first, about("revolute", "between", "end", ELSEWHERE, LINE, axis)) == expected


@pytest.mark.parametrize(("kind", "advance", "expected"), [("screw", 0.3, ["a"]), ("screw", 0.2, []), ("revolute", 0.0, [])])
def test_a_screw_and_what_is_on_its_line(kind, advance, expected):
    """Another of the same pitch is one too many; of another one, or a hinge, both make a cylindrical joint."""
    first = about("screw", "base", "between", LINE, ELSEWHERE, Z, advance=0.3)
    assert chain(first, about(kind, "between", "end", ELSEWHERE, LINE, Z, advance=advance)) == expected


@pytest.mark.parametrize(("place", "expected"), [((0.3, 0.4, 0.9), ["j"]), ((0.0, 0.0, 0.0), [])])
def test_a_point_mass_is_moved_where_it_is_off_the_hinges_line(place, expected):
    """The line is beside the link's origin: through (0.3, 0.4) along z."""
    mechanism = Mechanism("", "one", {"base": Link("base", static=True)}, {})
    mechanism.links["point"] = Link("point", LinkMass(1.0, np.array(place), np.zeros((3, 3))))
    mechanism.joints["j"] = about("revolute", "base", "point", LINE, Transform((0.3, 0.4, 0.0)), Z)
    mechanism.joints["j"].name = "j"
    masses = {name: link.mass for name, link in mechanism.links.items()}
    assert [one.joint.name for one in find_idle(find_order(mechanism).branches, masses, {"base"}).branches] == expected
