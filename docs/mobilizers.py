"""The table of mobilizers: pictures of all kinds, and motions that open in the browser, each coordinate in its turn.

The page and the motions are made when the documentation is built; ``python docs/mobilizers.py`` makes the pictures anew.
"""

import math
import re
import tempfile
from pathlib import Path

import numpy as np

import mobod as mb

HERE = Path(__file__).parent
IMAGES = HERE / "images" / "mobilizers"
FRAMES = 40  # a coordinate
HEAD = """Mobilizers
==========

How a body can move on its parent. The frame F is fixed on the parent, M on the body; a mobilizer's coordinates q say where M is
in F, its speeds u how M moves. In the pictures the axes are F's, the black box is the body where all coordinates are at their
start, and each colour is one coordinate: red the first, green the second, blue the third, then orange, purple and light blue. A
click opens the motion, each coordinate in its turn. Orientations are shown by their three angles; ``Ball``, ``Ellipsoid``,
``Free``, ``LineOrientation`` and ``FreeLine`` have a quaternion unless a state is told otherwise.

.. grid:: 2 2 3 3
   :gutter: 2

"""
TAIL = """
Besides these there is ``FunctionBased``, whose six functions of its coordinates say where M is, and ``Custom``:
:doc:`one function of your own </how-to/custom_mobilizers>`. All kinds, their keywords and their accessors are in
:doc:`the reference <api/module_mobilizer>`.

``Torsion`` and ``Revolute`` are ``Pin``; ``Prismatic`` is ``Slider``; ``PolarCoords`` is ``BendStretch``; ``Cartesian`` and
``CartesianCoords`` are ``Translation``; ``Orientation`` and ``Spherical`` are ``Ball``. Every kind takes
``direction=mb.Direction.REVERSE``: q and u are then of F in M.
"""
COLORS = ("#cc3333", "#228833", "#3355cc", "#ee7733", "#aa3377", "#33aabb")
CORNERS = np.array([(x, y, z) for x in (-0.25, 0.25) for y in (-0.14, 0.14) for z in (-0.07, 0.07)])
EDGES = np.array([(a, b) for i, a in enumerate(CORNERS) for b in CORNERS[i + 1 :] if np.count_nonzero(a != b) == 1])
KEYWORDS = {"Screw": {"pitch": 0.15}, "Ellipsoid": {"radii": (0.25, 0.25, 0.5)}, "CantileverFreeBeam": {"length": 1.0}}
#: Which coordinates are lengths.
LENGTHS = {
    "Slider": [0],
    "Cylinder": [1],
    "BendStretch": [1],
    "Planar": [1, 2],
    "Bushing": [3, 4, 5],
    "Translation": [0, 1, 2],
    "SphericalCoords": [2],
    "Free": [3, 4, 5],
    "FreeLine": [3, 4, 5],
}
#: Where the motion starts, of kinds that are at their singularity, or have no extent, where all is zero.
START = {"BendStretch": [0.0, 0.6], "SphericalCoords": [0.0, 0.8, 0.6], "Screw": [0.0]}


def build(kind):
    """A body on a mobilizer of a kind, both frames drawn: F thin, M thick."""
    system = mb.MultibodySystem(kind.__name__)
    matter = mb.SimbodyMatterSubsystem(system)
    matter.set_show_default_geometry(False)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    body.add_decoration(mb.decoration.Brick((0.22, 0.12, 0.06), color="#4477aa", opacity=0.5))
    for axis, color in zip(np.eye(3), ("#cc3333", "#228833", "#3355cc"), strict=True):
        body.add_decoration(mb.decoration.Line((0, 0, 0), 0.4 * axis, color=color, line_width=4))
        matter.ground.add_body_decoration(mb.decoration.Line((0, 0, 0), 0.7 * axis, color=color, line_width=1))
    if kind is mb.mobilizer.Ellipsoid:
        matter.ground.add_body_decoration(mb.decoration.Ellipsoid((0.25, 0.25, 0.5), color="#bbbbbb", opacity=0.4))
    kind(matter.ground, body, **KEYWORDS.get(kind.__name__, {}))
    state = system.realize_topology()
    matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    return system, state


def sweep(kind, count, phase):
    """The coordinates at the start, and as each goes out and back, by the sines of so many phases."""
    system, state = build(kind)
    body = system.matter.bodies[1]
    start = np.zeros(body.get_num_q(state))
    start[:] = START.get(kind.__name__, 0.0)
    rows = []
    for k in range(len(start)):
        reach = 0.35 if k in LENGTHS.get(kind.__name__, []) else 2.0 * math.pi if kind is mb.mobilizer.Screw else 1.0
        rows += [start + reach * math.sin(phase * (frame + 1) / count) * np.eye(len(start))[k] for frame in range(count)]
    return system, state, start, rows


def motion(kind):
    """The trajectory in which each coordinate goes out and back, one after the other."""
    system, state, start, rows = sweep(kind, FRAMES, 2.0 * math.pi)
    trajectory = mb.simulate(system, state, len(rows) / 20.0, report_interval=0.05, progress=False)
    trajectory.q = np.array([start, *rows])
    return trajectory


def write_page():
    """A card for each kind: its picture, and what its coordinates and speeds are, from the page on conventions."""
    rows = re.findall(
        r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", (HERE / "explanation" / "conventions.md").read_text(), flags=re.MULTILINE
    )
    says = {name: (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", q), u) for name, q, u in rows}
    lines = [HEAD]
    for kind in sorted(mb.mobilizer.KINDS, key=lambda kind: (kind.facts.num_u, kind.__name__)):
        name = kind.__name__
        lines += [f"   .. grid-item-card:: {name}", f"      :img-top: ../images/mobilizers/{name}.png"]
        if kind is not mb.mobilizer.Weld:
            lines += [f"      :link: ../replays/mobilizer_{name}.html", "      :link-type: url"]
        q, u = (re.sub(r"`(.*?)`", r"``\1``", text) for text in says[name])
        lines += ["", f"      **q**: {q}", "", f"      **u**: {u}", ""]
    text = "\n".join(lines) + TAIL
    page = HERE / "reference" / "mobilizers.rst"
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def write_motions(folder):
    """A file for each kind."""
    folder.mkdir(exist_ok=True)
    for kind in mb.mobilizer.KINDS:
        path = folder / f"mobilizer_{kind.__name__}.html"
        if not path.exists() and kind is not mb.mobilizer.Weld:
            motion(kind).save_html(path, title=kind.__name__)


def make(kind):
    """A picture: the frame F, and where the body goes, in one colour a coordinate."""
    import matplotlib.pyplot as plt
    from PIL import Image

    system, state, start, rows = sweep(kind, 4, 0.5 * math.pi)
    body = system.matter.bodies[1]
    figure = plt.figure(figsize=(2.4, 2.2), dpi=100)
    axes = figure.add_axes((-0.12, -0.12, 1.24, 1.24), projection="3d")
    for axis, letter in zip(0.8 * np.eye(3), "xyz", strict=True):
        axes.plot(*np.stack([np.zeros(3), axis], axis=1)[[2, 0, 1]], color="black", lw=0.8)
        axes.text(*(1.1 * axis)[[2, 0, 1]], letter, fontsize=8, ha="center", va="center")
    for number, q in enumerate([start, *rows]):
        if len(q):
            body.set_q(state, q if len(q) > 1 else float(q[0]))
        system.realize(state, mb.Stage.POSITION)
        points = body.get_body_transform(state) @ EDGES.reshape(-1, 3)
        color = "#444444" if number == 0 else COLORS[(number - 1) // 4]
        for edge in points.reshape(-1, 2, 3):
            # y is up
            axes.plot(*edge.T[[2, 0, 1]], color=color, lw=1.6 if number == 0 else 1.0, alpha=1.0 if number % 4 == 0 else 0.35)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.view_init(20, 35)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        figure.savefig(path)
        plt.close(figure)
        with Image.open(path) as image:
            image.convert("RGB").quantize(64).save(IMAGES / f"{kind.__name__}.png", optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for one in mb.mobilizer.KINDS:
        make(one)
        print(one.__name__, (IMAGES / f"{one.__name__}.png").stat().st_size, flush=True)
