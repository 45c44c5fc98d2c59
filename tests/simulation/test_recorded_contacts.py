"""Contacts as a quantity of recordings: any number of rows a time, in memory, in files, and over checkpoints."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.lib import recfunctions
from numpy.testing import assert_allclose

import mobod as mb
from mobod.force.contact.of_system import contacts_of
from mobod.force.contact.subsystem import CONTACT
from mobod.shapes.contact_arrows import calc_contact_arrows
from mobod.simulation import contact_table
from mobod.simulation.table import MemoryRows, part_of
from mobod.simulation.trajectory import Trajectory
from mobod.unilateral.problem import ContactRows

RUBBER = mb.contact.Material(stiffness=1e5, dissipation=0.3, static_friction=0.7)
EVERYTHING = ["contacts", "contact_wrenches", "centers_of_pressure", "kinetic_energy"]


def drop(with_surfaces=True):
    """Two balls that fall beside each other onto a floor, and touch."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    contacts = mb.CompliantContactSubsystem(system) if with_surfaces else None
    if with_surfaces:
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), RUBBER))
    for i in range(2):
        part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
        ball = mb.mobilizer.Free(matter.ground, part, name=f"ball{i}")
        if with_surfaces:
            ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), RUBBER))
        ball.set_default_q((1, 0, 0, 0, 0.199 * i, 0, 0.12 + 0.05 * i))
    return system, contacts, system.realize_topology()


@pytest.fixture(scope="module")
def run():
    system, _, state = drop()
    return mb.simulate(system, state, 0.4, report_interval=0.01, record=EVERYTHING)


def same(one, other):
    assert one.contacts.dtype == other.contacts.dtype and np.array_equal(one.contacts, other.contacts)
    assert np.array_equal(one.time, other.time) and np.array_equal(one.q, other.q)


def test_the_rows_are_those_of_the_states(run):
    contacts = contacts_of(run.system, "contacts")
    counts = []
    for i, state in enumerate(run.states):
        run.system.realize(state, mb.Stage.VELOCITY)
        expected, found = contacts.get_contacts(state), run.contacts_at(i)
        counts.append(len(expected))
        assert (found["report"] == i).all() and (found["time"] == run.time[i]).all()
        for name in expected.dtype.names:
            assert np.array_equal(found[name], expected[name]), name
        assert np.array_equal(run.quantities["contact_wrenches"][i], contacts.calc_body_wrenches(state))
        assert_allclose(run.quantities["centers_of_pressure"][i], contacts.calc_centers_of_pressure(state), rtol=0, atol=0)
    assert min(counts) == 0 and max(counts) == 3
    assert len(run.contacts) == sum(counts)
    assert np.array_equal(run.contacts_at(-1), run.contacts_at(len(run) - 1))
    with pytest.raises(IndexError):
        run.contacts_at(len(run))


def test_recording_them_changes_no_bit(run):
    system, _, state = drop()
    assert np.array_equal(mb.simulate(system, state, 0.4, report_interval=0.01).q, run.q)


def test_tables_grow_beside_columns_of_one_row_a_time(rng):
    rows, counts = MemoryRows(), rng.integers(0, 4, 50)
    table, time = rng.normal(size=(counts.sum(), 3)), np.arange(50.0)
    block = {"time": time, "contact_counts": counts * 1.0, "contacts": table}
    at = 0
    while at < 50:
        more = at + int(rng.integers(0, 9))
        rows.append(part_of(block, at, more))
        at = more
    assert len(rows) == 50 and all(np.array_equal(rows.columns()[name], block[name]) for name in block)


@pytest.mark.parametrize("extension", [".npz", ".h5"])
def test_contacts_survive_a_file(run, tmp_path, extension):
    run.save(tmp_path / f"run{extension}")
    read = Trajectory.load(tmp_path / f"run{extension}")
    same(run, read)
    assert np.array_equal(read.contacts_at(20), run.contacts_at(20))


@pytest.mark.parametrize("extension", [".csv", ".parquet"])
def test_a_table_of_times_says_that_it_holds_none(run, tmp_path, extension):
    with pytest.warns(UserWarning, match="contacts_dataframe"):
        run.save(tmp_path / f"run{extension}")
    read = Trajectory.load(tmp_path / f"run{extension}")
    assert_allclose(read.quantities["contact_wrenches"], run.quantities["contact_wrenches"], rtol=0)
    with pytest.raises(KeyError, match="record="):
        _ = read.contacts


def test_a_data_frame_has_a_row_a_contact(run):
    frame = run.contacts_dataframe()
    assert len(frame) == len(run.contacts)
    assert list(frame.columns[:4]) == ["report", "time", "surface1", "surface2"]
    assert_allclose(frame["force.z"].to_numpy(), run.contacts["force"][:, 2], rtol=0)
    total = frame[frame.body1 == 0].groupby("report")["force.z"].sum()
    assert_allclose(-total, run.quantities["contact_wrenches"][total.index, 0, 1, 2], rtol=1e-12)


def test_tables_have_the_loads_of_two_surfaces_by_their_names(run, tmp_path):
    """Of a ball normal and friction make its momentum, with gravity; a file has what the table has."""
    columns = run.quantity_columns()
    loads = {name.removeprefix("contacts."): values for name, values in columns.items() if name.startswith("contacts.")}
    floor, balls = "surface 0 of ground", [f"surface 0 of ball{i}" for i in range(2)]
    pairs = [f"{floor}.{balls[0]}", f"{floor}.{balls[1]}", f"{balls[0]}.{balls[1]}"]
    assert sorted(loads) == sorted(f"{pair}.{what}" for pair in pairs for what in ("normal", "friction"))
    upward = run.quantities["contact_wrenches"][:, 1:, 1, 2].sum(axis=1)
    assert_allclose(loads[f"{pairs[0]}.normal"] + loads[f"{pairs[1]}.normal"], upward, atol=1e-9)
    rows = run.contacts[run.contacts["id"] == run.contacts["id"].max()]
    size = np.hypot(loads[f"{pairs[2]}.normal"], loads[f"{pairs[2]}.friction"])
    assert_allclose(size[rows["report"]], np.linalg.norm(rows["force"], axis=1), rtol=1e-12)
    assert np.count_nonzero(size) == len(rows)
    with pytest.warns(UserWarning, match="contacts_dataframe"):
        run.save(tmp_path / "run.csv")
    assert_allclose(
        Trajectory.load(tmp_path / "run.csv").quantities[f"contacts.{pairs[0]}.normal"], loads[f"{pairs[0]}.normal"]
    )
    frame = run.contacts_dataframe()
    assert {*frame.name1} | {*frame.name2} == {floor, *balls}
    assert_allclose(np.hypot(frame.normal_force, frame.friction_force), np.linalg.norm(run.contacts["force"], axis=1))
    run.save(tmp_path / "run.npz")
    read = Trajectory.load(tmp_path / "run.npz")
    assert read.surface_names == (floor, *balls) and {name for name in columns if "contacts." in name} < {
        *read.quantity_columns()
    }


def of_contacts(surface_names=None):
    """A brick that spins on the spot, on two points of its lower face, and pushes a wall aside."""
    rows = np.zeros(4, CONTACT)
    rows["surface1"], rows["surface2"] = [0, 0, 0, 0], [1, 1, 2, 2]
    rows["normal"] = 0, 0, 1
    rows["force"] = (0, 3, 5), (0, -3, 6), (3, 0, 1), (0, 4, 1)
    names = {} if surface_names is None else {"surface_names": surface_names}
    plain = recfunctions.structured_to_unstructured(rows, np.float64)
    more = {"time": [0.0], "q": [[0.0]], "u": [[0.0]], "energy": [0.0], "coordinate_names": "a", "speed_names": "a"}
    return Trajectory(**more, contacts=plain, contact_counts=[4], **names)


def test_friction_of_a_pair_is_the_size_of_the_sum_of_its_vectors():
    columns = of_contacts(["floor", "brick", "wall"]).quantity_columns()
    of_brick, of_wall = (
        [columns[f"contacts.floor.{b}.{what}"][0] for what in ("normal", "friction")] for b in ("brick", "wall")
    )
    assert_allclose([of_brick, of_wall], [[11, 0], [2, 5]], atol=1e-12)
    assert of_contacts().surface_names == ("surface0", "surface1", "surface2")


def test_surfaces_of_one_name_have_names_of_their_own(monkeypatch):
    contacts = SimpleNamespace(surfaces=[SimpleNamespace(name=name) for name in ("floor", "ball", "ball", "ball[1]")])
    monkeypatch.setattr(contact_table, "find_contacts", lambda system: contacts)
    assert contact_table.surface_names(object()) == ["floor", "ball[1]_", "ball[2]", "ball[1]"]


def test_a_recording_on_disk_is_what_memory_would_hold(run, tmp_path):
    system, _, state = drop()
    path = tmp_path / "run.h5"
    there = mb.simulate(system, state, 0.4, report_interval=0.01, record=EVERYTHING, record_to=path)
    same(run, there)
    same(run, Trajectory.load(path))
    assert run.surface_names == Trajectory.load(path).surface_names and len(run.surface_names) == 3


@pytest.mark.parametrize("to_disk", [False, True])
def test_a_run_with_contacts_goes_on(run, tmp_path, to_disk):
    more = {"checkpoint": tmp_path / "run.ckpt", "report_interval": 0.01, "record": EVERYTHING}
    if to_disk:
        more["record_to"] = tmp_path / "run.h5"
    system, _, state = drop()
    mb.simulate(system, state, 0.2, **more)
    system, _, state = drop()
    same(run, mb.simulate(system, state, 0.4, **more, resume=True))
    with pytest.raises(mb.CheckpointError, match="contacts besides q and u"):
        mb.simulate(system, state, 0.4, **more | {"record": None}, resume=True)


def test_rows_beyond_a_checkpoint_are_dropped(run, tmp_path):
    """The file has got further than the checkpoint when the run was killed."""
    more = {
        "checkpoint": tmp_path / "run.ckpt",
        "report_interval": 0.01,
        "record": EVERYTHING,
        "record_to": tmp_path / "run.h5",
    }
    system, _, state = drop()
    mb.simulate(system, state, 0.1, **more)
    kept = (tmp_path / "run.ckpt").read_bytes()
    mb.simulate(system, state, 0.3, **more, resume=True)
    (tmp_path / "run.ckpt").write_bytes(kept)
    same(run, mb.simulate(system, state, 0.4, **more, resume=True))


def test_of_a_damaged_file_whole_times_are_saved(run, tmp_path):
    path = tmp_path / "run.h5"
    run.save(path)
    data = bytearray(path.read_bytes())
    read = 0
    for at in range(2000, len(data), max(1, len(data) // 20)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
        try:
            found = Trajectory.load(path, salvage=True)
        except mb.ModelError:
            continue
        n = len(found)
        assert np.array_equal(found.contacts, run.contacts[run.contacts["report"] < n])
        read += n < len(run)
    assert read, "nothing was cut"


def test_an_interrupted_run_has_whole_rows(tmp_path):
    system, _, state = drop()

    def late(state):
        if state.time > 0.2:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt) as caught:
        mb.simulate(system, state, 0.4, report_interval=0.01, record={"contacts": "contacts", "late": late})
    found = caught.value.trajectory
    assert found.time[-1] == pytest.approx(0.2) and found.contacts["report"].max() < len(found)


def test_with_events_the_very_states_are_recorded(run):
    system, _, state = drop()
    system.add_event_handler(mb.event.StopWhen(lambda state: state.time - 0.3))
    found = mb.simulate(system, state, 0.4, report_interval=0.01, record=EVERYTHING)
    n = found.contacts["report"].max()
    assert n > 25 and len(found.contacts_at(n)) == len(run.contacts_at(n))


def test_what_cannot_be_recorded_is_refused(run):
    system, _, state = drop(with_surfaces=False)
    for name in ("contacts", "contact_wrenches", "centers_of_pressure"):
        with pytest.raises(mb.ModelError, match="CompliantContactSubsystem"):
            mb.simulate(system, state, 0.1, record=[name])
    system, _, state = drop()
    with pytest.raises(ValueError, match="own name"):
        mb.simulate(system, state, 0.1, record={"touching": "contacts"})
    plain = mb.simulate(system, state, 0.1, record=["kinetic_energy"])
    with pytest.raises(KeyError, match=r"record=\['contacts'\]"):
        _ = plain.contacts
    with pytest.raises(ValueError, match="contact_counts"):
        Trajectory(
            time=[0.0], q=[[0.0]], u=[[0.0]], energy=[0.0], coordinate_names="a", speed_names="a", contacts=np.zeros((1, 24))
        )


def test_a_file_with_other_columns_is_of_another_version(run, tmp_path):
    arrays = {"contacts": np.zeros((1, 7)), "contact_counts": np.ones(1)}
    other = Trajectory(time=[0.0], q=[[0.0]], u=[[0.0]], energy=[0.0], coordinate_names="a", speed_names="a", **arrays)
    with pytest.raises(mb.ModelError, match="version"):
        _ = other.contacts
    assert os.fspath(tmp_path)


def no_rows(state):
    """An element that makes Python take steps."""
    o = np.zeros(0)
    return ContactRows(o, np.zeros((0, len(state.u))), np.zeros(1, np.int64), o, o, o, [])


@pytest.mark.parametrize("steps", [None, "fixed", "halves", "in Python"])
def test_friction_that_sticks_is_in_what_is_recorded(steps):
    """A brick at rest on a belt of 10 degrees, moving up: friction is m g sin a, the normal force m g cos a.

    By bristles, and by the impulses of steps: where errors are controlled, by two halves of each, which gave half the forces.
    """
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system, friction="bristle")
    steel, a = mb.contact.Material(1e6, dissipation=2.0, static_friction=0.5), np.radians(10.0)
    tilt = mb.Rotation.about_axis(-a, "y")
    belt = mb.contact.Surface(mb.contact.HalfSpace(), steel, velocity=(1.0, 0, 0), name="belt")
    matter.ground.add_contact_surface(belt, mb.Transform(tilt))
    body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.brick((0.1, 0.1, 0.1))))
    parcel = mb.mobilizer.Free(matter.ground, body, name="parcel")
    parcel.add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.1, 0.1, 0.1)), steel, name="parcel"))
    state = system.realize_topology()
    parcel.set_q_to_fit_transform(state, mb.Transform(tilt, 0.1 * tilt[:, 2]))
    integrator = mb.integrator.TimeStepping(system, max_step_size=0.004) if steps else None
    if steps == "fixed":
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
    elif steps == "in Python":
        integrator.sources.append(no_rows)
    record = ["contacts", "contact_wrenches", "contacts.belt.parcel.friction", "centers_of_pressure"]
    run = mb.simulate(system, state, 1.5, report_interval=0.5, record=record, integrator=integrator)
    weight = 2.0 * 9.81
    assert run.u[-1, 3:] @ tilt[:, 0] == pytest.approx(1.0, abs=1e-4)  # it goes with the belt
    np.testing.assert_allclose(run.quantities["contact_wrenches"][-1, 1, 1], [0, 0, weight], atol=0.01)
    np.testing.assert_allclose(run.contacts_at(-1)["force"], [[0, 0, weight]], atol=0.01)
    assert run.quantities["contacts.belt.parcel.friction"][-1] == pytest.approx(weight * np.sin(a), rel=3e-3)
    columns = run.quantity_columns()
    assert columns["contacts.belt.parcel.normal"][-1] == pytest.approx(weight * np.cos(a), rel=1e-3)
    # the load acts below the center of mass; points of a step are where it began, 2 mm before its end
    at = run.quantities["centers_of_pressure"][-1, parcel.index]
    np.testing.assert_allclose(at[:2], run.q[-1, 4:6], atol=2.1e-3)
    (arrow,) = calc_contact_arrows(run, run.time[-1:], 1.0, 1.0)[0]
    np.testing.assert_allclose(arrow[1] - arrow[0], [0, 0, weight], atol=0.01)
