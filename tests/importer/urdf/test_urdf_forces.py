"""Damping and limits of a URDF's joints, as forces."""

import numpy as np
import pytest

import mobod as mb

ROBOT = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.5" effort="40" velocity="1"/><dynamics damping="0.7" friction="0.1"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/>
    <limit lower="0.1" upper="0.4" effort="0" velocity="1"/></joint>
  <joint name="wrist" type="{wrist}"><parent link="lower"/><child link="hand"/><axis xyz="0 1 0"/>
    <limit {limit} effort="3" velocity="1"/><dynamics damping="0.2"/></joint>
</robot>
"""


@pytest.fixture
def load(tmp_path):
    def load(wrist="revolute", limit='lower="-2" upper="2"', **keywords):
        path = tmp_path / "arm.urdf"
        path.write_text(ROBOT.format(wrist=wrist, limit=limit))
        return mb.load_urdf(path, gravity=(0, 0, 0), **keywords)

    return load


def test_what_the_file_says_resists_unless_it_is_told_not_to(load):
    model = load()
    assert set(model.dampers) == {"shoulder", "wrist"} and set(model.stops) == {"shoulder", "slide", "wrist"}
    model = load(joint_damping=False, joint_limits=False)
    assert model.dampers == {} and model.stops == {} and model.forces.get_num_forces() == 1
    assert "limits of 3 joints: kept as data, not simulated, as was asked" in model.report
    assert "damping of 2 joints: kept as data, not simulated, as was asked" in model.report
    assert "friction of 1 joint: kept as data, not simulated" in model.report


def test_damping_takes_the_speed_of_its_joint(load):
    model = load(joint_limits=False)
    assert set(model.dampers) == {"shoulder", "wrist"} and model.stops == {}
    state = model.default_state()
    state.u = [2.0, 1.0, -3.0]
    model.system.realize(state)
    assert np.allclose(model.system.get_mobility_forces(state), [-0.7 * 2.0, 0.0, 0.2 * 3.0], rtol=1e-15, atol=0)
    assert "damping of 2 joints: simulated" in model.report
    assert "friction of 1 joint: kept as data, not simulated" in model.report


def test_a_negative_effort_counts_as_none(tmp_path):
    stiffness = []
    for effort in ("0", "-7"):
        path = tmp_path / f"arm{effort}.urdf"
        path.write_text(
            ROBOT.format(wrist="revolute", limit='lower="-2" upper="2"').replace('effort="40"', f'effort="{effort}"')
        )
        stiffness.append(mb.load_urdf(path).stops["shoulder"].get_default_stiffness())
    assert stiffness[0] == stiffness[1] > 0.0


def test_a_stop_gives_way_a_little_to_the_effort(load):
    model = load(joint_limits=True)
    assert set(model.stops) == {"shoulder", "slide", "wrist"}
    state = model.default_state()
    for q, force in (([0.52, 0.2, 0.0], [-40.0, 0.0, 0.0]), ([-1.02, 0.2, 2.02], [40.0, 0.0, -3.0])):
        state.q = q
        model.system.realize(state)
        assert np.allclose(model.system.get_mobility_forces(state), force, rtol=1e-12, atol=1e-12)
    # without an effort, the weight of the two links that hang on it
    assert model.stops["slide"].get_default_stiffness() == pytest.approx(9.81 * 2.0 / 0.002)
    assert "joint 'slide' starts at its limit, 0.1: zero is outside (0.1 to 0.4)" in model.report
    assert model.default_state().q.tolist() == [0.0, 0.1, 0.0]


def test_stops_are_as_hard_as_one_says(load):
    model = load(joint_limits=True, stop_stiffness=123.0, stop_dissipation=0.0)
    assert {stop.get_default_stiffness() for stop in model.stops.values()} == {123.0}
    assert {stop.get_default_dissipation() for stop in model.stops.values()} == {0.0}
    with pytest.raises(ValueError, match="stiffness"):
        load(joint_limits=True, stop_stiffness=-1.0)


@pytest.mark.parametrize(
    ("wrist", "limit"),
    [
        ("continuous", ""),
        ("revolute", 'lower="0.25" upper="0.25"'),
        ("revolute", 'lower="inf" upper="inf"'),
        ("floating", ""),
        ("fixed", ""),
    ],
)
def test_what_has_no_bounds_has_no_stop(load, wrist, limit):
    model = load(wrist, limit, joint_limits=True, joint_damping=True)
    assert set(model.stops) == {"shoulder", "slide"}
    assert set(model.dampers) == ({"shoulder", "wrist"} if wrist in ("continuous", "revolute") else {"shoulder"})
    said = [note for note in model.report if "joint 'wrist' has limits that leave nothing between them, and is locked" in note]
    state = model.default_state()
    model.system.realize(state, mb.Stage.INSTANCE)
    locked = [body.joint_name for body in model.matter.body_list if body.is_locked(state)]
    assert (len(said), locked) == ((1, ["wrist"]) if "0.25" in limit else (0, []))
    assert state.q[model.coordinates["wrist"]] == 0.25 if "0.25" in limit else True


def test_a_joint_stays_between_its_stops_and_the_balance_of_energy_closes(load):
    model = load(joint_limits=True, joint_damping=True)
    state = model.default_state()
    state.q, state.u = [0.0, 0.2, 0.0], [3.0, 1.0, -2.0]
    run = mb.simulate(model.system, state, 3.0, accuracy=1e-7, audit="steps")
    assert run.q[:, 0].max() < 0.6 and run.q[:, 0].min() > -1.1 and run.q[:, 1].max() < 0.43 and run.q[:, 1].min() > 0.07
    audit = run.audit
    assert set(audit.work) == {"2 MobilityLinearDampers", "3 MobilityLinearStops"} and max(audit.work.values()) < 0.0
    assert audit.energy_error < 2e-4 * audit.energy_scale
