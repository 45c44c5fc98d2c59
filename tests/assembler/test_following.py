"""A recording followed in one compiled loop gives what frame by frame does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from models import chain, observed, walk


def made(places):
    markers = mb.assembler.Markers()
    for place in places:
        markers.add_marker(None, *place)
    return markers


def recorded(rng, frames=40):
    """A chain of pins and sliders, its markers, and where they were seen, with noise and gaps."""
    m = mb.mobilizer
    system, bodies = chain([m.Pin, m.Slider, m.Pin, m.Pin])
    places = [(body, rng.uniform(-0.4, 0.4, 3), rng.uniform(0.5, 1.5)) for body in bodies[1:] for _ in range(3)]
    markers = made(places)
    state = system.realize_topology()
    states = walk(system, state.copy(), rng, frames)
    seen = np.array([observed(system, one, markers) for one in states]) + 0.01 * rng.normal(size=(frames, 12, 3))
    seen[7, 2], seen[8, :6], seen[20:23, 11] = np.nan, np.nan, np.nan
    seen[12] = np.nan
    return system, bodies, state, places, seen


@pytest.mark.parametrize("what", ["free", "restricted", "locked"])
def test_the_loop_gives_what_frame_by_frame_does(rng, what):
    system, bodies, state, places, seen = recorded(rng)
    time = np.cumsum(rng.uniform(0.01, 0.03, len(seen)))
    found = []
    for in_one in (True, False):
        assembler, markers = mb.Assembler(system), made(places)
        assembler.adopt_assembly_goal(markers)
        assembler.set_accuracy(1e-6)
        if what == "restricted":  # reached on the way
            assembler.restrict_q(bodies[2], 0, -0.02, 0.03)
        if what == "locked":
            assembler.lock_mobilizer(bodies[3])
        assembler.initialize(state)
        assert assembler.following(time, seen) is not None
        if not in_one:
            assembler.add_reporter(lambda state: None)  # which is told of each frame
            assert assembler.following(time, seen) is None
        found.append(assembler.track_frames(seen, time))
        assert assembler.get_internal_state().time == time[-1]
    assert_allclose(found[0], found[1], atol=2e-5)
    assert_allclose(found[0][12], found[0][11], atol=0.0)  # where nothing was seen
    if what == "restricted":
        assert found[0][:, 1].min() == -0.02 or found[0][:, 1].max() == 0.03
