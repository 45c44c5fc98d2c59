"""A semicircular arch of rigid stones stands where its joints can bear it, and falls where they cannot.

Whether forces exist that hold each stone, press at each joint and stay within its friction, is a linear programme (Livesley
1978, Int. J. Num. Meth. Eng. 12, 1853). In the limit of many stones the least thickness is 0.1075 of the radius
(Milankovitch 1907).
"""

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from touching_models import G, empty

import mobod as mb

STONES, HALF_WIDTH = 7, 0.2


def corners(k, thickness):
    """(4, 2): x and z of a stone's corners, inner and outer at its first joint, outer and inner at its second."""
    angles = np.pi * np.array([k, k, k + 1, k + 1]) / STONES
    radii = 1.0 + 0.5 * thickness * np.array([-1.0, 1.0, 1.0, -1.0])
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def centroid_and_moments(points):
    """Of a plane quadrilateral, by its two triangles: centroid, and means of products of x and z about it."""
    area, first, second = 0.0, np.zeros(2), np.zeros((2, 2))
    for triangle in (points[[0, 1, 2]], points[[0, 2, 3]]):
        size, middle = 0.5 * abs(np.linalg.det(triangle[1:] - triangle[0])), triangle.mean(axis=0)
        area, first = area + size, first + size * middle
        second += size / 12.0 * (triangle.T @ triangle + 9.0 * np.outer(middle, middle))
    return first / area, second / area - np.outer(first, first) / area**2


def lacking(thickness, friction):
    """The least force that has to be added along x, z and in moment, so that all stones of weight 1 are held; 0 if they are."""
    unknowns = 3 * (STONES + 1)  # of each joint: pressure at its inner and outer edge, and friction
    balance = np.zeros((3 * STONES, unknowns + 6 * STONES))
    limits = np.zeros((2 * (STONES + 1), unknowns + 6 * STONES))
    for joint in range(STONES + 1):
        angle = np.pi * joint / STONES
        along, out = np.array([-np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
        edges = [(1.0 - 0.5 * thickness) * out, (1.0 + 0.5 * thickness) * out, out]
        for stone, sign in ((joint, 1.0), (joint - 1, -1.0)):
            if 0 <= stone < STONES:
                middle = centroid_and_moments(corners(stone, thickness))[0]
                for which, (force, place) in enumerate(zip((along, along, out), edges, strict=True)):
                    arm = place - middle
                    column = sign * np.array([*force, arm[0] * force[1] - arm[1] * force[0]])
                    balance[3 * stone : 3 * stone + 3, 3 * joint + which] = column
        for row, sign in enumerate((1.0, -1.0)):
            limits[2 * joint + row, 3 * joint : 3 * joint + 3] = -friction, -friction, sign
    more = np.eye(3 * STONES)
    balance[:, unknowns : unknowns + 3 * STONES], balance[:, unknowns + 3 * STONES :] = more, -more
    cost = np.concatenate([np.zeros(unknowns), np.ones(6 * STONES)])
    bounds = [(0, None), (0, None), (None, None)] * (STONES + 1) + [(0, None)] * (6 * STONES)
    found = linprog(cost, limits, np.zeros(len(limits)), balance, np.tile([0.0, 1.0, 0.0], STONES), bounds)
    assert found.success
    return found.fun


def stands(thickness, friction):
    """True if it has kept its shape after half a second, in which a stone that is let go falls by 1.2."""
    system, matter = empty((0, 0, -G))
    stone = mb.contact.Material(1e7, 1.0, friction)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone))
    places, bodies = [], []
    for k in range(STONES):
        flat = corners(k, thickness)
        (x, z), S = centroid_and_moments(flat)
        yy = HALF_WIDTH**2 / 3.0
        inertia = mb.UnitInertia(yy + S[1, 1], S[0, 0] + S[1, 1], S[0, 0] + yy, 0.0, -S[0, 1], 0.0)
        body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), inertia)))
        hull = mb.contact.ConvexHull([(a - x, y, b - z) for a, b in flat for y in (-HALF_WIDTH, HALF_WIDTH)])
        body.add_contact_surface(mb.contact.Surface(hull, stone))
        places.append((x, 0.0, z))
        bodies.append(body)
    mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    for body, place in zip(bodies, places, strict=True):
        body.set_q_to_fit_translation(state, place)
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(0.5)
    moved = stepper.state.q.reshape(STONES, 7)[:, 4:] - places
    return np.abs(moved).max() < 1e-3 and np.abs(stepper.state.u).max() < 1e-4


def critical(lack, low, high):
    """The place where a function that is zero above becomes so."""
    return brentq(lambda x: lack(x) - 1e-6, low, high, xtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*may have carried:RuntimeWarning")
def test_it_stands_if_and_only_if_it_is_thick_enough():
    least = critical(lambda thickness: lacking(thickness, 0.7), 0.03, 0.3)
    assert 0.08 < least < 0.1075  # of fewer joints than Milankovitch's it needs less
    assert stands(1.05 * least, 0.7)
    assert not stands(0.95 * least, 0.7)


@pytest.mark.filterwarnings("ignore:.*may have carried:RuntimeWarning")
def test_it_stands_if_and_only_if_friction_is_enough():
    least = critical(lambda friction: lacking(0.3, friction), 0.05, 0.8)
    assert stands(0.3, 1.05 * least)
    assert not stands(0.3, 0.95 * least)
