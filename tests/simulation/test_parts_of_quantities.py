"""Recorded quantities are asked for by the names that tables have for their numbers, wherever quantities are asked for."""

import numpy as np
import pytest

import mobod as mb
from mobod.cli.main import main

PARTS = ["reactions.crank", "reactions.rocker.fy", "momentum.linear", "u_dot.crank", "quantity.constraint_forces.loop.fx"]


@pytest.fixture(scope="module")
def motion():
    system, state = mb.examples.four_bar.build()
    return mb.simulate(system, state, 0.2, record=[*PARTS, "reactions", "momentum", "u_dot", "constraint_forces"])


def test_parts_are_those_numbers_of_the_whole(motion):
    found, system = motion.quantities, motion.system
    b, c = system.matter.bodies["crank"].index, system.matter.bodies["rocker"].index
    np.testing.assert_array_equal(found["reactions.crank"], found["reactions"][:, b])
    np.testing.assert_array_equal(found["reactions.rocker.fy"], found["reactions"][:, c, 1, 1])
    np.testing.assert_array_equal(found["momentum.linear"], found["momentum"][:, 1])
    np.testing.assert_array_equal(found["u_dot.crank"], found["u_dot"][:, 0])
    np.testing.assert_array_equal(found["constraint_forces.loop.fx"], found["constraint_forces"][:, 0, 1, 0])


def test_coordinates_and_speeds_are_quantities_and_exact_outputs_of_linear_models():
    """A joint of one, a quaternion and one number of three; rows of C are those of differences of a function of the state."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.2, 0), mb.UnitInertia(0.1, 0.1, 0.1)))
    cart = mb.mobilizer.Slider(matter.ground, body, name="cart")
    hand = mb.mobilizer.Ball(cart, body, name="hand")
    mb.mobilizer.Pin(hand, body, name="arm")
    state = system.realize_topology()
    hand.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.4, (1, 2, 0)))
    state.u = 0.1 * np.arange(5)
    system.realize(state)
    names = {"x": "q.cart", "turn": "q.hand", "w": "u.hand", "one": "u.hand[1]", "angle": "q.arm"}
    functions = [lambda s: s.q[0], lambda s: s.q[1:5], lambda s: s.u[1:4], lambda s: s.u[2], lambda s: s.q[5]]
    found = mb.linearize(system, state, ["cart"], names)
    expected = mb.linearize(system, state, ["cart"], functions)
    assert found.output_names == ["x", *(f"turn[{k}]" for k in range(4)), *(f"w[{k}]" for k in range(3)), "one", "angle"]
    assert not found.by_differences and not found.D.any()
    np.testing.assert_allclose(found.C, expected.C, atol=1e-10)
    motion = mb.simulate(system, state, 0.2, record=list(names.values()))
    assert {"u.hand[2]", "q.cart"} < set(motion.quantity_columns())
    np.testing.assert_array_equal(motion.quantities["u.hand"], motion.u[:, 1:4])
    np.testing.assert_array_equal(motion.quantities["q.arm"], motion.q[:, 5])


@pytest.mark.parametrize("behind", [True, False])
def test_a_body_that_is_called_as_a_number_of_a_joint_has_a_name_of_its_own(behind):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    kinds = [(mb.mobilizer.Translation, "hand"), (mb.mobilizer.Slider, "hand[2]")]
    last = matter.ground
    for kind, name in kinds if behind else kinds[::-1]:
        last = kind(last, body, name=name)
    state = system.realize_topology()
    state.u = 1.0, 2.0, 3.0, 4.0
    motion = mb.simulate(system, state, 0.1, record=["u.hand", "u.hand[2]", "u.hand[2]_"])
    names = ["hand[0]", "hand[1]", "hand[2]"]
    assert list(motion.speed_names) == ([*names, "hand[2]_"] if behind else ["hand[2]_", *names])
    own = slice(0, 3) if behind else slice(1, 4)
    assert (motion.quantities["u.hand"] == motion.u[:, own]).all()
    assert (motion.quantities["u.hand[2]_"] == motion.u[:, 3 if behind else 0]).all()


@pytest.mark.parametrize("other", ["hand[2]", "hand[0]x", "hand.x", "hand[3]"])
def test_all_numbers_of_a_joint_are_its_own_whatever_others_are_called(other):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    hand = mb.mobilizer.Translation(matter.ground, body, name="hand")
    mb.mobilizer.Translation(hand, body, name=other)
    state = system.realize_topology()
    state.u = np.arange(6)
    motion = mb.simulate(system, state, 0.1, record=["u.hand", f"u.{other}[1]"])
    np.testing.assert_array_equal(motion.quantities["u.hand"], motion.u[:, :3])
    np.testing.assert_array_equal(motion.quantities[f"u.{other}[1]"], motion.u[:, 4])


@pytest.mark.parametrize("extension", ["csv", "npz", "parquet", "h5"])
@pytest.mark.parametrize("with_system", [False, True])
def test_parts_keep_their_names_in_tables_and_files(tmp_path, extension, with_system):
    system, state = mb.examples.four_bar.build()
    motion = mb.simulate(system, state, 0.1, record=PARTS)
    columns = motion.quantity_columns()
    assert {"reactions.crank.mx", "reactions.crank.fz", "momentum.linear.y", "u_dot.crank"} < set(columns)
    assert motion.quantity_kinds() == mb.simulate(system, state, 0.1, record=PARTS).quantity_kinds()
    path = tmp_path / f"motion.{extension}"
    motion.save(path)
    read = mb.Trajectory.load(path, system=system if with_system else None)
    assert list(read.quantity_columns()) == list(columns)
    for name, values in read.quantity_columns().items():
        np.testing.assert_array_equal(values, columns[name])


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("reactions.crnk.fx", "reactions.crank.fx"),
        ("reaction.crank", "reactions"),
        ("u_dot.cran", "u_dot.crank"),
        ("momentum.lin", "momentum.linear.x"),
        ("kinetic", "kinetic_energy"),
        ("u.crnk", "u.crank"),
        ("q.couple", "q.coupler"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_near_ones(name, near):
    system, state = mb.examples.four_bar.build()
    with pytest.raises(ValueError, match=f"there is no quantity '{name}'; .*{near}"):
        mb.simulate(system, state, 0.1, record=[name])


def test_ensembles_linear_models_and_plots_take_them(motion, tmp_path):
    system, state = mb.examples.four_bar.build()
    motions = mb.Ensemble(system, 2, state=state).simulate(0.1, record=["reactions.crank.fx", "reactions"])
    np.testing.assert_array_equal(motions.quantities["reactions.crank.fx"], motions.quantities["reactions"][:, :, 1, 1, 0])
    figure = motion.plot(quantities=["quantity.reactions.crank.fx", "u.crank"], snapshots=0, units=("kg", "m", "s"))
    said = [text for axes in figure.axes for text in (axes.get_ylabel(), axes.get_title("left"))]
    assert any("force (N)" in text and "angular speed (rad/s)" in text for text in said), said
    free, start = mb.examples.double_pendulum.build()
    free.realize(start)
    model = mb.linearize(free, start, ["upper"], outputs=["reactions.lower.fx"])
    assert list(model.output_names) == ["reactions.lower.fx"] and np.isfinite(model.C).all()


def test_datasets_of_many_motions_have_the_quantities():
    pytest.importorskip("xarray")
    system, state = mb.examples.four_bar.build()
    motions = mb.Ensemble(system, 2, state=state).simulate(0.1, record=["reactions", "reactions.crank.fx"])
    table = motions.to_xarray()
    own = table["reactions"].sel(body="crank", part="linear", axis="x")
    np.testing.assert_array_equal(own, table["reactions.crank.fx"])


def test_datasets_keep_what_a_user_has_named_as_something_else_of_theirs():
    """Names of dimensions were errors, statistics took the place of quantities, and u_dot was labelled by coordinates."""
    pytest.importorskip("xarray")
    system, state = mb.examples.four_bar.build()
    record = {"time": "kinetic_energy", "failed": "potential_energy", "q": "u_dot", "energy": "kinetic_energy"}
    motions = mb.Ensemble(system, 2, state=state).simulate(0.1, record=record)
    table = motions.to_xarray()
    for name, own in (("time", "quantity.time"), ("failed", "quantity.failed"), ("q", "quantity.q"), ("energy", "energy")):
        np.testing.assert_array_equal(table[own], motions.quantities[name])
    assert "coordinate" not in table["quantity.q"].dims


def test_loads_between_two_surfaces_are_asked_for_by_their_names():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    rubber = mb.contact.Material(1e5, dissipation=0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber, name="floor"))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    ball = mb.mobilizer.Free(matter.ground, body, name="ball")
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber, name="ball"))
    ball.set_default_q((1, 0, 0, 0, 0, 0, 0.15))
    one, other, table = "contacts.floor.ball.normal", "contacts.ball.floor.normal", "contacts"
    run = mb.simulate(system, system.realize_topology(), 0.5, record=[one, other, table])
    expected = run.contacts
    sums = np.zeros(len(run))
    np.add.at(sums, expected["report"], (expected["force"] * expected["normal"]).sum(axis=1))
    assert sums.max() > 9.81
    for name in (one, other):
        np.testing.assert_allclose(run.quantities[name], sums, rtol=1e-12)
    with pytest.raises(ValueError, match=r"contacts\.floor\.ball\.normal"):
        mb.simulate(system, system.realize_topology(), 0.5, record=["contacts.floor.bal.normal"])


def test_the_command_line_records_and_draws_them(tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("motion.csv", "motion.png")]
    asked = ["--quantity", "reactions.crank.fx", "--output", files[0], "--plot", files[1]]
    assert main(["simulate", "four_bar", "--time", "0.2", *asked]) == 0
    head = (tmp_path / "motion.csv").read_text().splitlines()[0]
    assert "quantity.reactions.crank.fx" in head
    assert main(["simulate", "four_bar", "--time", "0.2", "--quantity", "reactions.crnk.fx"]) == 2
    assert "did you mean reactions.crank.fx" in capsys.readouterr().err


def test_methods_of_data_frames_are_told_where_they_are(motion):
    with pytest.raises(AttributeError, match=r"no attribute 'to_csv': save\('motion.csv'\) writes files"):
        motion.to_csv("motion.csv")
    assert not hasattr(motion, "anything_else")


@pytest.mark.parametrize("extension", ["csv", "npz"])
def test_numbers_of_what_a_user_has_named_have_their_names_too(tmp_path, extension):
    system, state = mb.examples.four_bar.build()
    record = {"load": "reactions.crank", "all": "reactions", "torque": "motion_forces", "one": "reactions.crank.fx"}
    run = mb.simulate(system, state, 0.1, record=record)
    columns = run.quantity_columns()
    assert {"load.fx", "load.mz", "all.rocker.fy", "torque.coupler", "one"} <= set(columns)
    np.testing.assert_array_equal(columns["load.fx"], columns["one"])
    np.testing.assert_array_equal(columns["load.fy"], columns["all.crank.fy"])
    run.save(tmp_path / f"motion.{extension}")
    assert list(mb.Trajectory.load(tmp_path / f"motion.{extension}").quantity_columns()) == list(columns)


def _chain(*names):
    """Bodies of these names on pins, each on the one before."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    inertia = mb.UnitInertia.sphere(0.1).shift_from_centroid((0.3, 0, 0))
    ball, parent = mb.body.Rigid(mb.MassProperties(1.0, (0.3, 0, 0), inertia)), matter.ground
    for name in names:
        parent = mb.mobilizer.Pin(parent, ball, name=name)
    return system, system.realize_topology()


def test_names_of_bodies_may_begin_with_that_of_another():
    """As Blender names copies; of `arm` all numbers of both were taken, which have not the shape of one."""
    system, state = _chain("arm", "arm.001")
    run = mb.simulate(system, state, 0.1, record=["reactions.arm", "reactions.arm.001", "u_dot.arm", "reactions", "u_dot"])
    np.testing.assert_array_equal(run.quantities["reactions.arm"], run.quantities["reactions"][:, 1])
    np.testing.assert_array_equal(run.quantities["reactions.arm.001"], run.quantities["reactions"][:, 2])
    np.testing.assert_array_equal(run.quantities["u_dot.arm"], run.quantities["u_dot"][:, 0])


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_grounds_part_keeps_its_names_in_files(tmp_path, extension):
    """It was taken for the whole, of a system of fewer bodies than it has, and lost its names."""
    system, state = _chain("arm", "hand")
    for record in (["reactions.ground"], ["reactions.ground", "reactions.arm"]):
        run = mb.simulate(system, state, 0.1, record=record)
        run.save(tmp_path / f"motion.{extension}")
        read = mb.Trajectory.load(tmp_path / f"motion.{extension}")
        assert list(read.quantity_columns()) == list(run.quantity_columns())


def test_plots_tell_a_quantity_from_coordinates_by_what_tables_call_it():
    system, state = _chain("arm")
    run = mb.simulate(system, state, 0.1, record={"q": "u_dot"})
    for name, values in (("q.arm", run.q[:, 0]), ("quantity.q.arm", run.quantities["q"][:, 0])):
        figure = run.plot(quantities=[name], snapshots=0)
        np.testing.assert_array_equal(figure.axes[-1].lines[-1].get_ydata(), values)


def test_the_command_line_draws_what_is_asked_for_as_tables_call_it(tmp_path, monkeypatch):
    drawn, plot = [], mb.Trajectory.plot

    def draw(self, path, **given):
        drawn.append(given["quantities"])
        plot(self, path, **given)

    monkeypatch.setattr(mb.Trajectory, "plot", draw)
    asked = ["--quantity", "quantity.reactions.crank.fx", "--plot", str(tmp_path / "motion.png")]
    assert main(["simulate", "four_bar", "--time", "0.1", *asked]) == 0
    assert drawn == [["reactions.crank.fx"]]
