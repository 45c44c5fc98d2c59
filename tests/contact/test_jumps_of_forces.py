"""Forces that jump, and forces that are not the slope of their energy: `jumps` hunts for both on random ways."""

import numpy as np
import pytest
from jumps import PAIRS, hunt

#: What two flat faces, edges and rims do where the direction of least overlap changes, which the documentation says: of what is
#: round with anything nothing jumps, and of these the pairs are let be.
ANGULAR = {"cylinder", "brick", "hull", "mesh"}
#: The most by which a force may differ from the slope: of what bends, the depth over the length along which it does.
MOST, OF_ANGULAR = 0.05, 0.2


def jumping(first, second):
    """True if both have edges, whose directions can change at once; of meshes each face has a direction of its own."""
    return {first, second} <= ANGULAR or (first, second) in {("capsule", "cylinder"), ("capsule", "hull")}


@pytest.mark.parametrize("pair", [("capsule", "ellipsoid"), ("capsule", "brick")], ids=",".join)
def test_forces_of_what_is_round_do_not_jump(pair):
    jumps, slopes = hunt(*pair, 2, seed=5)
    assert jumps.max() < 0.04 and slopes.max() < MOST


@pytest.mark.parametrize("pair", [("cylinder", "brick"), ("cylinder", "cylinder")], ids=",".join)
def test_forces_of_edges_are_the_slope_of_their_energy(pair):
    _, slopes = hunt(*pair, 3, seed=6)
    assert np.quantile(slopes, 0.9) < 1e-3 and slopes.max() < OF_ANGULAR


@pytest.mark.exhaustive
@pytest.mark.parametrize("pair", PAIRS, ids=",".join)
def test_a_hunt_for_jumps(pair):
    jumps, slopes = hunt(*pair, 20)
    assert np.quantile(slopes, 0.9) < 0.01
    assert slopes.max() < (OF_ANGULAR if jumping(*pair) else MOST)
    if not jumping(*pair):
        assert jumps.max() < 0.04
    elif pair == ("cylinder", "cylinder"):
        assert (jumps > 0.04).sum() <= 4
    elif pair[0] == "capsule":
        assert (jumps > 0.04).sum() <= 1
