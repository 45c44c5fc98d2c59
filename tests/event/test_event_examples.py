"""The bundled examples with events: energy is kept, and the balls go where arithmetic says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.examples import bouncing_ball, newtons_cradle
from pages import run


@pytest.mark.parametrize("example", [bouncing_ball, newtons_cradle], ids=lambda e: e.__name__.rpartition(".")[2])
def test_no_impact_loses_energy(example):
    system, state = example.build()
    motion = mb.simulate(system, state, 4.0, accuracy=1e-8)
    # sixty impacts, each of them late by a window of 1e-10, and steps with errors of 1e-8
    assert motion.energy_drift < 1e-5 and "termination" not in motion.statistics
    assert 20 < len(example.__doc__.partition("\n")[0]) < 110


def test_the_balls_in_the_valley_bounce_as_parabolas_do():
    """Between two bounces a ball's distance d from a slope is d + d' t - g cos(slope) t^2 / 2, whose root is the next."""
    b = bouncing_ball
    s, c, g = np.sin(b.SLOPE), np.cos(b.SLOPE), 9.81
    normals = np.array([[s, c], [-s, c]])
    p, v, time, end = np.array(b.START), np.zeros(2), 0.0, 3.0
    bounces = 0
    while True:
        d, d_dot = normals @ p - b.RADIUS, normals @ v
        roots = (d_dot + np.sqrt(d_dot**2 + 2 * g * c * np.maximum(d, 0.0))) / (g * c)
        side = int(np.argmin(roots))
        h = min(roots[side], end - time)
        p, v, time = p + v * h - [0, 0.5 * g * h * h], v - [0, g * h], time + h
        if time >= end:
            break
        v -= 2.0 * normals[side] * (normals[side] @ v)
        p -= normals[side] * (normals[side] @ p - b.RADIUS)
        bounces += 1
    assert bounces >= 4
    system, state = b.build()
    motion = mb.simulate(system, state, end, accuracy=1e-10)
    # the motion is chaotic: a bounce multiplies what was wrong before it by a number below ten
    assert_allclose(motion.q[-1, :2], p, atol=1e-6)
    apart = np.linalg.norm(mb.simulate(system, state, b.TIME, accuracy=1e-8).q[:, :2] - motion.q[0, 3:5], axis=1)
    assert apart.max() > 0.5


def test_the_cradle_gives_as_many_as_it_takes():
    n = newtons_cradle
    system, state = n.build()
    motion = mb.simulate(system, state, 2.0, accuracy=1e-8)
    inertia = n.LENGTH**2 + 0.4 * n.RADIUS**2  # of unit mass
    from scipy.special import ellipk

    half = 2.0 * np.sqrt(inertia / (9.81 * n.LENGTH)) * ellipk(np.sin(0.5 * n.ANGLE) ** 2)
    row = np.searchsorted(motion.time, half)  # when the others are at the top on the other side
    assert_allclose(motion.q[row], [0, 0, 0, -n.ANGLE, -n.ANGLE], atol=2e-3)


def test_the_page_on_events_runs(capsys):
    names = run("events.md")
    assert abs(float(capsys.readouterr().out.split()[0])) < 0.05
    trajectory = names["trajectory"]
    assert trajectory.q[:, 1].min() > -1e-6 and abs(trajectory.q[-1, 0] - 2.0) < 1e-6
