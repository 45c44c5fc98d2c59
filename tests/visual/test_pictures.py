"""Plots and films: they are written, they show something, and what they show moves."""

import subprocess
import sys

import numpy as np
import pytest

import mobod as mb
from mobod.examples import double_pendulum
from mobod.simulation.trajectory import Trajectory

matplotlib = pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")

ORANGE = (238, 119, 51)  # the lower arm's


@pytest.fixture(scope="module")
def motion():
    system, state = double_pendulum.build()
    return mb.simulate(system, state, 0.6)


def count_like(picture, color):
    """The number of dots that have a colour's hue, in light or in shade."""
    rgb = np.asarray(picture.convert("RGB"), dtype=float)
    brightness = rgb.max(axis=2, keepdims=True)
    return int((np.abs(rgb / np.maximum(brightness, 1) - np.array(color) / max(color)).max(axis=2) < 0.08).sum())


def find_like(picture, color):
    """The middle of these dots: right, down."""
    rgb = np.asarray(picture.convert("RGB"), dtype=float)
    like = np.abs(rgb / np.maximum(rgb.max(axis=2, keepdims=True), 1) - np.array(color) / max(color)).max(axis=2) < 0.08
    return np.argwhere(like).mean(axis=0)[::-1]


def test_a_plot_shows_the_mechanism_at_each_of_several_times(motion, tmp_path):
    path = tmp_path / "plot.png"
    figure = motion.plot(path)
    titles = [text.get_text() for text in figure.texts]
    assert titles == ["t = 0", "t = 0.15", "t = 0.3", "t = 0.45", "t = 0.6"]
    with Image.open(path) as picture:
        strip = picture.crop((0, 0, picture.width, picture.height * 2 // 5))
    for part in range(5):
        panel = strip.crop((part * strip.width // 5, 0, (part + 1) * strip.width // 5, strip.height))
        assert count_like(panel, ORANGE) > 100


def drop(seconds):
    """The snapshots of a ball of radius 0.3 that falls, and the texts of the figure."""
    system, matter = _system()
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.3)))
    mb.mobilizer.Free(matter.ground, body, name="ball")
    figure = mb.simulate(system, system.realize_topology(), seconds).plot()
    figure.canvas.draw()
    return [axes for axes in figure.axes if axes.name == "3d"], [text.get_text() for text in figure.texts]


def test_snapshots_that_follow_a_fall_say_so_and_each_has_its_numbers():
    scenes, texts = drop(2.0)
    assert len(scenes) == 5 and "view follows: each picture has its own numbers" in texts
    for scene, time in zip(scenes, np.linspace(0.0, 2.0, 5), strict=True):
        numbers = [float(label.get_text()) for label in scene.zaxis.get_ticklabels()]
        assert len(numbers) > 1
        assert abs(np.mean(numbers) + 4.9 * time**2) < 0.6
        assert scene.zaxis.label.get_window_extent().x1 <= scene.figure.bbox.width


def test_snapshots_of_a_short_fall_share_their_box():
    scenes, texts = drop(0.4)  # 0.78 m
    assert len(texts) == 5 and all(text.startswith("t = ") for text in texts)
    for scene in scenes[1:]:
        for limits in ("get_xlim3d", "get_ylim3d", "get_zlim3d"):
            assert getattr(scene, limits)() == getattr(scenes[0], limits)()


def test_every_kind_of_decoration_is_on_the_picture(tmp_path):
    """Five a picture, each of its own colour, in a column of its own, front to the viewer."""
    from test_decoration import TETRAHEDRON, stl_text

    from mobod import decoration

    file = tmp_path / "part.stl"
    file.write_bytes(stl_text(*map(np.array, TETRAHEDRON)))
    kinds = [
        decoration.Point((0, 0, 0), line_width=12), decoration.Line((0, 0, 0), (0.5, 0.5, 0), line_width=5),
        decoration.Circle(0.4, line_width=5), decoration.Sphere(0.4), decoration.Ellipsoid((0.4, 0.3, 0.2)),
        decoration.Brick((0.3, 0.3, 0.3)), decoration.Cylinder(0.3, 0.3), decoration.Cone(direction=(0, 1, 0), height=0.5),
        decoration.Arrow((0, 0, 0), (0.4, 0.5, 0), line_width=5), decoration.Torus(0.4, 0.1),
        decoration.Frame(0.5, line_width=5), decoration.Text("text"), decoration.Mesh(*TETRAHEDRON),
        decoration.MeshFile(file),
    ]  # fmt: skip
    assert {type(kind).__name__ for kind in kinds} == set(decoration.__all__) - {"Decoration"}
    colors = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.0, 1.0, 1.0)
    for first in range(0, len(kinds), 5):
        shown = list(zip(kinds[first : first + 5], colors, strict=False))
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        for place, (kind, color) in enumerate(shown):
            body = mb.body.Rigid()
            kind.color = color
            body.add_decoration(kind, mb.Transform((0.2, 0.1, 0)))
            mb.mobilizer.Pin(matter.ground, body, X_PF=mb.Transform((1.2 * place, 0.3, 0)), name=f"turn{place}")
        state, n = system.realize_topology(), len(shown)
        one = Trajectory(
            system=system, state=state, time=[0.0], q=[[0.0] * n], u=[[0.0] * n], energy=[0.0],
            coordinate_names=[f"turn{i}" for i in range(n)], speed_names=[f"turn{i}" for i in range(n)],
        )  # fmt: skip
        path = tmp_path / "plot.png"
        one.plot(path, snapshots=1)
        with Image.open(path) as picture:
            strip = picture.crop((0, 0, picture.width, picture.height * 2 // 5))
        for kind, color in shown:
            assert count_like(strip, 255 * np.array(color)) > 15, kind  # a short text has some twenty


def test_a_plot_names_coordinates_and_energies(motion):
    figure = motion.plot(snapshots=0)
    coordinates, energy, change = figure.axes
    assert [text.get_text() for text in coordinates.get_legend().get_texts()] == ["upper", "lower"]
    assert [text.get_text() for text in energy.get_legend().get_texts()] == ["kinetic", "potential", "total"]
    total = energy.lines[0].get_ydata() + energy.lines[1].get_ydata()
    np.testing.assert_allclose(total, motion.energy, atol=1e-12)
    assert change.get_title(loc="left") == "change of the total energy"
    np.testing.assert_array_equal(change.lines[-1].get_ydata(), motion.energy - motion.energy[0])


def test_a_plot_has_axes_for_angles_and_lengths_with_units(tmp_path):
    system, state = mb.examples.cart_pole.build()
    figure = mb.simulate(system, state, 1.0).plot(snapshots=0, units=("kg", "m", "s"))
    angles, lengths, energy, change = figure.axes
    assert (angles.get_ylabel(), lengths.get_ylabel(), angles.get_xlabel()) == ("angle (rad)", "length (m), broken", "time (s)")
    assert (energy.get_ylabel(), change.get_ylabel()) == ("energy (J)", "change (J)")
    assert len(angles.lines) == 1 and len(lengths.lines) == 1
    system, state = mb.examples.double_pendulum.build()
    figure = mb.simulate(system, state, 1.0).plot(snapshots=0, units=("g", "cm", "s"))
    assert (
        figure.axes[0].get_ylabel() == "angle (rad)"
        and figure.axes[1].get_ylabel() == "energy (g cm\N{SUPERSCRIPT TWO}/s\N{SUPERSCRIPT TWO})"
    )
    with pytest.raises(ValueError, match="units are three words"):
        mb.simulate(system, state, 0.1).plot(units="SI")


@pytest.mark.parametrize(
    ("pin", "euler", "label"), [(0, 0, "quaternion"), (1, 0, "angle (rad), quaternion"), (0, 1, "angle (rad)")]
)
def test_numbers_of_quaternions_are_no_angles_on_axes(pin, euler, label):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    top = mb.mobilizer.Ball(matter.ground, body)
    if pin:
        mb.mobilizer.Pin(top, body)
    state = system.realize_topology()
    matter.set_use_euler_angles(state, bool(euler))
    system.realize_model(state)
    assert mb.simulate(system, state, 0.1).plot(snapshots=0).axes[0].get_ylabel() == label


def test_the_axis_of_recorded_quantities_says_what_they_are():
    system, state = mb.examples.double_pendulum.build()
    record = {name: name for name in ("u_dot", "motion_forces", "momentum", "mass_center", "motion_power", "reactions")}
    run = mb.simulate(system, state, 0.1, record={**record, "area": lambda state: state.q[0], "fx": lambda state: state.u})
    for quantities, units, says in (
        (["reactions.lower"], ("kg", "m", "s"), "moment (N m), force (N)"),
        (["reactions.lower.mz"], ("kg", "m", "s"), "moment (N m)"),
        (["reactions.lower.fy", "motion_power"], ("g", "cm", "s"), "force (g cm/s²), power (g cm²/s³)"),
        (["u_dot", "motion_forces", "area"], None, "angular acceleration, moment"),
        (["u_dot.upper", "mass_center"], ("kg", "m", "s"), "angular acceleration (rad/s²), length (m)"),
        (["momentum"], ("kg", "m", "s"), "angular momentum (kg m²/s), momentum (kg m/s)"),
        ({"area": "m²", "motion_forces": "N mm", "fx": "1/s"}, None, "area (m²), moment (N mm), fx (1/s)"),
        (["fx"], ("kg", "m", "s"), ""),
    ):
        axes = run.plot(snapshots=0, quantities=quantities, units=units).axes[-1]
        title = axes.get_title(loc="left").removeprefix("recorded quantities").removeprefix(": ")
        assert (axes.get_ylabel(), title) == (("", says) if "," in says else (says, ""))
    with pytest.raises(TypeError, match="units as text"):
        run.plot(quantities={"area": 2})


def test_recorded_quantities_are_drawn_by_name():
    system, state = mb.examples.double_pendulum.build()
    run = mb.simulate(system, state, 1.0, record=["reactions"])
    figure = run.plot(snapshots=0, quantities=["reactions.lower.fy", "reactions.upper"])
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[-1].get_lines()}
    assert list(lines)[:2] == ["reactions.lower.fy", "reactions.upper.mx"] and len(lines) == 7
    np.testing.assert_array_equal(lines["reactions.lower.fy"], run.quantities["reactions"][:, 2, 1, 1])
    for arguments, error, says in (
        ({"quantities": ["reactions.lowr.fy"]}, ValueError, "is not recorded; did you mean reactions.lower.fy"),
        ({"quantities": ["reactions.lower.f"]}, ValueError, "is not recorded"),
        ({"quantities": "reactions.lower.fy"}, TypeError, "a list of names"),
        ({"path": "reactions.lower.fy"}, ValueError, r"plot\(quantities=\['reactions.lower.fy'\]\)"),
    ):
        with pytest.raises(error, match=says):
            run.plot(**arguments)


def _system():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    return system, matter


def test_names_and_texts_are_shown_as_they_are(tmp_path):
    """Matplotlib reads mathematics between dollars, and leaves out of legends what begins with an underscore."""
    system, matter = _system()
    names = ["_arm", "$\\frac{$", "long " * 10]
    for name in names:
        body = mb.body.Rigid()
        body.add_decoration(mb.decoration.Text("of $5 and $\\frac", opacity=0.5))
        mb.mobilizer.Pin(matter.ground, body, X_BM=mb.Transform((0, 1, 0)), name=name)
    figure = mb.simulate(system, system.realize_topology(), 0.1).plot(tmp_path / "names.png", snapshots=1)
    (scene,) = [axes for axes in figure.axes if axes.name == "3d"]
    assert [text.get_parse_math() for text in scene.texts] == [False] * 3
    assert [text.get_color()[3] for text in scene.texts] == [0.5] * 3
    (coordinates,) = [axes for axes in figure.axes if axes.get_title(loc="left").startswith("coordinates")]
    shown = coordinates.get_legend().get_texts()
    assert [text.get_text() for text in shown] == names and not any(text.get_parse_math() for text in shown)
    assert coordinates.get_legend().get_window_extent().x1 < figure.bbox.width * 0.56


def nothing(matter):
    mb.mobilizer.Pin(matter.ground, mb.body.Rigid(), X_BM=mb.Transform((0, 1, 0)))
    matter.set_show_default_geometry(False)


def words(matter):
    nothing(matter)
    matter.bodies[1].add_body_decoration(mb.decoration.Text("here"))


def falling(matter):
    matter.add_particles(1.0, [(1, 2, 3)])


def resting(matter):
    falling(matter)
    forces = matter.system.get_subsystem(1)
    forces.get_force(0).set_disabled_by_default(True)


@pytest.mark.parametrize("build", [nothing, words, falling, resting, lambda matter: None])
def test_what_has_no_extent_can_be_drawn(build, tmp_path):
    system, matter = _system()
    build(matter)
    motion = mb.simulate(system, system.realize_topology(), 0.3)
    figure = motion.plot(tmp_path / "little.png")
    for axes in (axes for axes in figure.axes if axes.name == "3d"):
        limits = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()])
        assert np.isfinite(limits).all() and (np.ptp(limits, axis=1) > 0.0).all()
        for dots in axes.lines:
            points = np.array(dots.get_data_3d())
            assert (points >= limits[:, :1]).all() and (points <= limits[:, 1:]).all()


def test_a_plot_of_particles_alone_has_no_graph_of_coordinates():
    system, matter = _system()
    falling(matter)
    figure = mb.simulate(system, system.realize_topology(), 0.3).plot()
    flat = [axes for axes in figure.axes if axes.name != "3d"]
    assert [axes.get_title(loc="left") for axes in flat] == ["energy", "change of the total energy"]
    for axes in flat:  # they have all of the width
        assert axes.get_position().x0 < 0.1 and axes.get_position().x1 > 0.95


@pytest.mark.parametrize("turned", [0.0, 90.0])
def test_numbers_and_texts_are_within_the_figure(turned):
    """Of a pendulum seen from z, and from x, whose upright axis is at the left."""
    from mpl_toolkits.mplot3d import proj3d

    system, matter = _system()
    X_PF = mb.Transform(mb.Rotation.about_axis(np.radians(turned), "y"))
    arm = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(), X_PF=X_PF, X_BM=mb.Transform((0, 1, 0)))
    arm.add_body_decoration(mb.decoration.Brick((0.1, 1.0, 0.1)))
    arm.add_body_decoration(mb.decoration.Text("a text that goes on for quite a while"))
    state = system.realize_topology()
    arm.set_angle(state, 1.5)
    figure = mb.simulate(system, state, 1.0).plot()
    figure.canvas.draw()
    for axes in (axes for axes in figure.axes if axes.name == "3d"):
        for label in (axis.label for axis in (axes.xaxis, axes.yaxis, axes.zaxis)):
            box = label.get_window_extent()
            assert box.x0 >= 0.0 and box.x1 <= figure.bbox.width
        (text,) = axes.texts
        x, y, _ = proj3d.proj_transform(*text.get_position_3d(), axes.get_proj())
        at, width = axes.transData.transform((x, y))[0], text.get_window_extent().width
        assert 0.0 <= (at - width if text.get_horizontalalignment() == "right" else at) <= figure.bbox.width - width


def test_of_many_coordinates_only_a_few_are_named():
    time = np.linspace(0, 1, 50)
    q = np.sin(time)[:, None] * np.arange(40)
    names = [f"joint{i}" for i in range(40)]
    motion = Trajectory(time=time, q=q, u=q, energy=time, coordinate_names=names, speed_names=names)
    axes = motion.plot().axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"joint{i}" for i in range(34, 40)]
    assert "6 of 40" in axes.get_title(loc="left")
    low, high = axes.get_ylim()
    assert low < 0.0 < q.max() < high


@pytest.mark.parametrize("points", [1, 2])
def test_short_trajectories_can_be_drawn(points, tmp_path):
    system, state = double_pendulum.build()
    q = np.tile(state.q, (points, 1))
    names = ["upper", "lower"]
    motion = Trajectory(
        system=system,
        time=np.arange(points),
        q=q,
        u=0 * q,
        energy=np.ones(points),
        coordinate_names=names,
        speed_names=names,
    )
    motion.plot(tmp_path / "a.png")
    motion.animate(tmp_path / "a.gif")


def test_a_motion_of_a_system_that_was_changed_says_what_to_do():
    system, matter = _system()
    mb.mobilizer.Pin(matter.ground, mb.body.Rigid())
    motion = mb.simulate(system, system.realize_topology(), 0.1)
    matter.bodies[1].add_body_decoration(mb.decoration.Sphere(0.1))
    with pytest.raises(mb.TopologyError, match=r"was changed after this motion, by a decoration .* simulate again"):
        motion.plot()


@pytest.mark.parametrize("far", [0.0, 1234.0, -1e6])
def test_numbers_of_axes_differ_however_far_away_the_mechanism_is(far):
    system, matter = _system()
    X_PF = mb.Transform((far, far, far))
    arm = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(), X_PF=X_PF, X_BM=mb.Transform((0, 1, 0)), name="arm")
    arm.add_body_decoration(mb.decoration.Line((0, 0, 0), (0, 1, 0)))
    state = system.realize_topology()
    arm.set_angle(state, 1.0)
    figure = mb.simulate(system, state, 1.0).plot(snapshots=1)
    figure.canvas.draw()
    (scene,) = [axes for axes in figure.axes if axes.name == "3d"]
    for axis in (scene.xaxis, scene.zaxis):  # of the display; the third is short, and has no numbers
        numbers = [float(label.get_text()) for label in axis.get_ticklabels()]
        assert len(numbers) > 1 and len(set(numbers)) == len(numbers)
        assert np.abs(np.array(numbers) - far).max() < 2.0


def test_snapshots_are_counted(motion):
    for number, error in ((1.5, TypeError), ("5", TypeError), (-1, ValueError)):
        with pytest.raises(error, match="snapshots has to be"):
            motion.plot(snapshots=number)


def test_a_trajectory_without_a_system_has_graphs_but_no_film(tmp_path):
    motion = Trajectory(time=[0, 1], q=[[0], [1]], u=[[0], [1]], energy=[1, 1], coordinate_names=["a"], speed_names=["a"])
    assert len(motion.plot().axes) == 3
    with pytest.raises(ValueError, match="an animation needs a system"):
        motion.animate(tmp_path / "a.gif")


def test_a_gif_plays_at_the_speed_of_the_motion_and_moves(motion, tmp_path):
    done = []
    motion.animate(tmp_path / "film.gif", progress=lambda *numbers: done.append(numbers))
    assert done[-1] == (16, 16)
    places = []
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 16  # 25 a second, and the first
        assert film.info["duration"] == 40
        for frame in (0, 15):
            film.seek(frame)
            assert count_like(film, ORANGE) > 400
            places.append(find_like(film, ORANGE))
    assert places[1][1] > places[0][1] + 50  # it falls, by more than fifty dots


def test_frames_of_a_gif_last_whole_hundredths_of_a_second(motion, tmp_path):
    motion.animate(tmp_path / "film.gif", fps=30, speed=1.5)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.info["duration"] == 30
        frames = film.n_frames
    assert frames == 14  # 0.6 at half as much again are 0.4 s


def test_an_mp4_has_every_frame(motion, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    motion.animate(tmp_path / "film.mp4", size=(3.21, 2.8))
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert frames == 16
    assert abs(seconds - 0.64) < 0.01


def test_films_have_the_even_numbers_of_dots_that_were_asked_for(motion, tmp_path):
    """Of a size whose dots are no whole number in binary Matplotlib cuts one off: a film by a card was sheared by it."""
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    motion.animate(tmp_path / "odd.mp4", size=(4.013, 3.007), fps=5)
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "odd.mp4"))
    assert next(frames)["size"] == (402, 300)
    frames.close()


def test_a_notebook_shows_plots_and_films(motion):
    assert motion.plot()._repr_png_().startswith(b"\x89PNG")
    film = motion.animate(size=(2.0, 2.0), fps=5)
    assert "not written to a file" in repr(film)
    assert film._repr_html_().startswith(("<video", "<img"))


def test_a_film_has_a_smooth_trace(motion, monkeypatch, tmp_path):
    from mobod.visual.scene import Scene

    lengths, show = [], Scene.show

    def listen(self, X_GB, particles, trace=None, arrows=None, row=0):
        lengths.append(len(trace))
        show(self, X_GB, particles, trace, arrows, row)

    monkeypatch.setattr(Scene, "show", listen)
    motion.animate(tmp_path / "film.gif", size=(2.0, 2.0), fps=2)  # pictures at 0 and 0.5 s
    assert lengths[1:] == [1, 51]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 0}, "fps has to be positive"),
        ({"speed": -1}, "speed has to be positive"),
        ({"path": "film.avi"}, "must end in"),
    ],
)
def test_a_film_that_cannot_be_is_refused(motion, options, message):
    with pytest.raises(ValueError, match=message):
        motion.animate(**options)


def test_an_mp4_without_ffmpeg_says_what_to_install(motion, tmp_path, monkeypatch):
    monkeypatch.setattr("mobod.visual.animate.find_ffmpeg", lambda: None)
    with pytest.raises(ImportError, match=r"pip install 'mobod\[video\]'"):
        motion.animate(tmp_path / "film.mp4")


def test_the_users_matplotlib_is_left_alone(motion, tmp_path):
    settings = dict(matplotlib.rcParams)
    motion.plot(tmp_path / "a.png")
    motion.animate(tmp_path / "a.gif", fps=5)
    assert dict(matplotlib.rcParams) == settings


def test_pictures_are_loaded_only_when_asked_for():
    heavy = "('matplotlib', 'pandas', 'pyarrow', 'tqdm', 'PIL')"
    assert (
        run(f"import sys, mobod.simulation.trajectory, mobod.cli.main; print([m for m in {heavy} if m in sys.modules])") == "[]"
    )
    assert run("import sys, mobod.visual.plot, mobod.visual.animate; print('matplotlib.pyplot' in sys.modules)") == "False"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_translucent_surfaces_have_no_net_of_edges():
    system, matter = _system()
    for name, opacity in (("pale", 0.4), ("solid", 1.0)):
        body = mb.body.Rigid()
        body.add_decoration(mb.decoration.Brick((0.1, 0.1, 0.1), opacity=opacity))
        mb.mobilizer.Free(matter.ground, body, name=name)
    figure = mb.simulate(system, system.realize_topology(), 0.1).plot(snapshots=1)
    (scene,) = [axes for axes in figure.axes if axes.name == "3d"]
    figure.canvas.draw()
    drawn = [(one.get_facecolor(), one.get_edgecolor()) for one in scene.collections]
    ((faces, edges),) = [(faces, edges) for faces, edges in drawn if 0.4 in faces[:, 3]]
    assert set(faces[:, 3]) == {0.4, 1.0}
    assert np.array_equal(edges[:, 3], np.where(faces[:, 3] < 1.0, 0.0, 1.0))


@pytest.mark.parametrize("units", [None, ("kg", "m", "s")])
def test_a_long_title_of_quantities_stays_within_the_picture(units):
    system, state = mb.examples.car.build()
    names = ["tyre_forces.tyre front left", "u.body"]
    figure = mb.simulate(system, state, 0.1, record=names).plot(snapshots=0, quantities=names, units=units)
    axes = figure.axes[-1]
    figure.canvas.draw()
    title = next(text for text in axes.get_children() if getattr(text, "get_text", str)().startswith("recorded quantities"))
    box, legend, above = (one.get_window_extent() for one in (title, axes.get_legend(), figure.axes[-2]))
    assert box.x1 <= figure.bbox.x1 and "that move most" in title.get_text().replace("\n", " ")
    assert axes.get_position().height > 0.05
    assert legend.y1 <= box.y0 + 1.0 and box.y1 < above.y0
