"""Triangles as pixels: what they cover, what hides what, and what is seen through."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mobod.visual.raster import rasterize

RED, GREEN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def draw(*triangles, size=(40, 30), samples=3):
    """Triangles of three corners (x, y, depth), a colour, and an opacity; the whole picture, premultiplied, in 0 to 1."""
    corners = np.array([corners for corners, _, _ in triangles], dtype=float).reshape(-1, 3, 3)
    colors = np.array([[(*color, opacity)] * 3 for _, color, opacity in triangles], dtype=float).reshape(-1, 3, 4)
    x, y, image = rasterize(corners, colors, *size, samples)
    whole = np.zeros((size[1], size[0], 4))
    whole[y : y + image.shape[0], x : x + image.shape[1]] = image / 255.0
    whole[..., :3] *= whole[..., 3:]
    return whole


def square(x0, y0, x1, y1, depth):
    """Two triangles; depths at the corners x0 y0, x1 y0, x1 y1, x0 y1."""
    a, b, c, d = (x0, y0, depth[0]), (x1, y0, depth[1]), (x1, y1, depth[2]), (x0, y1, depth[3])
    return (a, b, c), (a, c, d)


def test_what_is_covered_has_the_triangles_area_whichever_way_it_turns():
    rng = np.random.default_rng(1)
    for _ in range(20):
        corners = np.column_stack([rng.uniform((2, 2), (38, 28), (3, 2)), np.zeros(3)])
        u, v = corners[1, :2] - corners[0, :2], corners[2, :2] - corners[0, :2]
        area = abs(u[0] * v[1] - u[1] * v[0]) / 2.0
        edges = np.linalg.norm(np.roll(corners, 1, axis=0) - corners, axis=1).sum()
        # a sample is a ninth of a pixel; along an edge half of them are in
        assert abs(draw((corners, RED, 1.0))[..., 3].sum() - area) < 0.06 * edges + 0.2


def test_neighbours_leave_no_gap_and_do_not_show_their_edge():
    image = draw(*((one, RED, 1.0) for one in square(5, 5, 35, 25, (0, 0, 0, 0))))
    assert_allclose(image[5:25, 5:35], np.broadcast_to((1, 0, 0, 1), (20, 30, 4)))
    assert image.sum() == 2 * 20 * 30


def test_two_faces_that_cut_each_other_meet_where_their_depths_are_equal():
    flat = [(one, RED, 1.0) for one in square(0, 0, 40, 30, (0.5, 0.5, 0.5, 0.5))]
    steep = [(one, GREEN, 1.0) for one in square(0, 0, 40, 30, (0.0, 1.0, 1.0, 0.0))]
    for order in (flat + steep, steep + flat):
        image = draw(*order)
        assert_allclose(image[:, :20], np.broadcast_to((0, 1, 0, 1), (30, 20, 4)))
        assert_allclose(image[:, 20:], np.broadcast_to((1, 0, 0, 1), (30, 20, 4)))


def test_what_is_translucent_is_seen_through_the_nearest_last():
    whole = (0, 0, 40, 30)
    back = [(one, RED, 1.0) for one in square(*whole, (0.9,) * 4)]
    middle = [(one, GREEN, 0.5) for one in square(*whole, (0.6,) * 4)]
    front = [(one, (0.0, 0.0, 1.0), 0.25) for one in square(*whole, (0.3,) * 4)]
    behind = [(one, (1.0, 1.0, 1.0), 0.5) for one in square(*whole, (0.95,) * 4)]  # not seen
    expected = 0.25 * np.array((0, 0, 1)) + 0.75 * (0.5 * np.array(GREEN) + 0.5 * np.array(RED))
    for order in (back + middle + front + behind, front + behind + middle + back):
        assert_allclose(draw(*order)[5:25, 5:35], np.broadcast_to((*expected, 1.0), (20, 30, 4)), atol=0.01)


def test_colours_are_interpolated():
    corners = np.array(square(0, 0, 40, 30, (0, 0, 0, 0)), dtype=float)
    colors = np.ones((2, 3, 4))
    colors[..., 0] = corners[..., 0] / 40.0
    _, _, image = rasterize(corners, colors, 40, 30, 2)
    assert_allclose(image[10, :, 0] / 255.0, (np.arange(40) + 0.5) / 40.0, atol=0.004)


@pytest.mark.parametrize(
    "corners", [[(0, 0, 0)] * 3, [(50, 0, 0), (60, 0, 0), (50, 9, 0)], [(np.nan, 0, 0), (9, 0, 0), (0, 9, 0)]]
)
def test_what_has_no_area_or_is_elsewhere_is_not_drawn(corners):
    assert draw((corners, RED, 1.0)).max() == 0.0
    assert draw().max() == 0.0
