"""Places of frames and stations of OpenSim's files; nothing is compiled here."""

import numpy as np
import pytest

import mobod as mb
from mobod.importer.osim.document import Item
from mobod.importer.osim.frames import Components
from mobod.importer.xml_element import read_xml

POINTS = {"o": (0.1, 0.2, 0.3), "a": (1.0, 0.0, 0.0), "b": (1.0, 0.0, 2.0), "c": (1.0, 3.0, 1.0)}


def components_of(folder, extra: str, points=POINTS) -> Components:
    stations = "".join(
        f"<Station name='{name}'><socket_parent_frame>/bodyset/shank</socket_parent_frame>"
        f"<location>{' '.join(map(str, p))}</location></Station>"
        for name, p in points.items()
    )
    path = folder / "frames.osim"
    path.write_text(
        f"<Model><BodySet><objects><Body name='shank'/><Body name='foot'/></objects></BodySet>"
        f"<components>{stations}{extra}</components></Model>"
    )
    return Components(Item(str(path), read_xml(path, with_text=True)))


def station_frame(first: str, second: str) -> str:
    sockets = {"point_a": "a", "point_b": "b", "point_c": "c", "origin_point": "o"}
    named = "".join(f"<socket_{socket}>/{name}</socket_{socket}>" for socket, name in sockets.items())
    axes = f"<ab_axis>{first}</ab_axis><ab_x_ac_axis>{second}</ab_x_ac_axis>"
    return f"<StationDefinedFrame name='s'>{named}{axes}</StationDefinedFrame>"


@pytest.mark.parametrize(("first", "second"), [("+x", "+y"), ("-z", "x"), ("y", "-z"), ("z", "-y")])
def test_a_frame_of_stations_has_the_axes_that_it_names(tmp_path, first, second):
    """ab is along z and ac has a part along y, so that ab x ac is along -x of the body."""
    parts = components_of(tmp_path, station_frame(first, second))
    body, X = parts.place(parts.paths["/s"])
    assert body.name == "shank"
    np.testing.assert_array_equal(X.p, POINTS["o"])
    R = np.asarray(X.R)
    for axis, direction in ((first, (0.0, 0.0, 1.0)), (second, (-1.0, 0.0, 0.0))):
        sign = -1.0 if axis.startswith("-") else 1.0
        np.testing.assert_allclose(sign * R[:, "xyz".index(axis[-1])], direction, atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-15)


def test_frames_on_frames_are_where_their_offsets_bring_them(tmp_path):
    """A quarter turn about z, then a step along the turned x; a station on that, whose frame is named by its end."""
    parts = components_of(
        tmp_path,
        "<PhysicalOffsetFrame name='inner'><socket_parent>outer</socket_parent><translation>2 0 0</translation>"
        "</PhysicalOffsetFrame><PhysicalOffsetFrame name='outer'><socket_parent>/bodyset/foot</socket_parent>"
        f"<translation>0 0 1</translation><orientation>0 0 {np.pi / 2!r}</orientation></PhysicalOffsetFrame>"
        "<Station name='tip'><socket_parent_frame>/elsewhere/inner</socket_parent_frame><location>1 0 0</location></Station>",
    )
    body, X = parts.place(parts.paths["/inner"])
    assert body.name == "foot"
    np.testing.assert_allclose(X.p, (0.0, 2.0, 1.0), atol=1e-15)
    _, tip = parts.station(parts.paths["/tip"])
    np.testing.assert_allclose(tip, (0.0, 3.0, 1.0), atol=1e-15)


def test_frames_that_are_nowhere_are_refused(tmp_path):
    ring = "".join(
        f"<PhysicalOffsetFrame name='{a}'><socket_parent>{b}</socket_parent></PhysicalOffsetFrame>" for a, b in ("pq", "qp")
    )
    flat = {**POINTS, "c": (1.0, 0.0, 4.0)}
    for extra, points, where, message in (
        (ring, POINTS, "/p", "in a ring: p -> q -> p"),
        (station_frame("x", "-x"), POINTS, "/s", "must be two axes"),
        (station_frame("x", "y"), flat, "/s", "lie on one line"),
        ("<PhysicalOffsetFrame name='p'/>", POINTS, "/p", "does not say its parent"),
        ("<PhysicalOffsetFrame name='p'><socket_parent>shenk</socket_parent></PhysicalOffsetFrame>", POINTS, "/p", "shank"),
    ):
        parts = components_of(tmp_path, extra, points)
        with pytest.raises(mb.ModelError, match=message):
            parts.place(parts.paths[where])


def test_names_that_come_twice_are_numbered(tmp_path):
    parts = components_of(tmp_path, "<Station name='o'/><Station name='o'/>")
    assert [parts.name_of(one) for one in parts.renamed] == ["o_1", "o_2"]


def test_a_part_of_the_owner_comes_before_others_of_its_name(tmp_path):
    both = "".join(f"<Link name='{name}'><frames><IMU name='f'/></frames></Link>" for name in "kl")
    parts = components_of(tmp_path, both)
    assert parts.look_up(parts.paths["/l"], "f", ("IMU",)) is parts.paths["/l/f"]
