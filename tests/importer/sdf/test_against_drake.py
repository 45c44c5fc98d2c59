"""Drake reads the same file independently: poses, mass matrix and accelerations agree."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

SOLID = """<inertial><pose>0.1 0.2 {z} 0.3 0.2 0.1</pose><mass>{m}</mass>
  <inertia><ixx>1</ixx><iyy>1.2</iyy><izz>0.9</izz><ixy>0.1</ixy><ixz>-0.05</ixz><iyz>0.02</iyz></inertia></inertial>"""

TEXT = f"""<sdf version="1.9"><world name="default">
  <model name="m"><pose>0 0 1 0.1 0.2 0.3</pose>
    <link name="base"><pose>1 0 0 0 0.5 0</pose>{SOLID.format(m=2, z=0)}</link>
    <link name="arm"><pose relative_to="base">0 1 0 0.3 0 0</pose>{SOLID.format(m=1, z=0.2)}</link>
    <link name="slider"><pose relative_to="f">0 0 0.5 0 0 1</pose>{SOLID.format(m=1.5, z=-0.1)}</link>
    <link name="ball"><pose relative_to="arm">0.5 0 0 0 0 0</pose>{SOLID.format(m=0.5, z=0)}</link>
    <frame name="f" attached_to="arm"><pose>0.2 0.1 0 0 0 0.4</pose></frame>
    <joint name="r" type="revolute"><pose>0.1 0 0 0 0.2 0</pose><parent>base</parent><child>arm</child>
      <axis><xyz expressed_in="f">1 2 3</xyz><dynamics><spring_stiffness>3</spring_stiffness></dynamics></axis></joint>
    <joint name="p" type="prismatic"><parent>f</parent><child>slider</child><axis><xyz>0 1 1</xyz></axis></joint>
    <joint name="b" type="ball"><pose>0 0.3 0 0 0 0</pose><parent>arm</parent><child>ball</child></joint>
    <model name="tool" placement_frame="grip"><pose relative_to="slider">0 0 0.3 0 0 0</pose>
      <link name="hand">{SOLID.format(m=0.7, z=0)}</link>
      <frame name="grip" attached_to="hand"><pose>0 0 -0.2 0.5 0 0</pose></frame>
    </model>
    <joint name="u" type="universal"><parent>slider</parent><child>tool::hand</child>
      <axis><xyz>0 0.6 0.8</xyz></axis><axis2><xyz>1 0 0</xyz></axis2></joint>
  </model></world></sdf>"""


def test_a_tree_of_all_kinds(tmp_path):
    plant_of = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    from pydrake.math import RollPitchYaw
    from pydrake.multibody.tree import BodyIndex

    path = tmp_path / "m.sdf"
    path.write_text(TEXT)
    model = mb.load_sdf(path, gravity=(0, 0, -9.81))
    plant = plant_of.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(path))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(7)
    state = model.default_state()
    q, theirs, order = state.q.copy(), plant.GetPositions(context), np.full(len(state.u), -1)
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        name, first, nv = joint.name(), joint.position_start(), joint.num_velocities()
        numbers = [key for key in model.speeds if key.split("::")[-1].partition("[")[0] == name]
        if not nv:
            continue
        for k, key in enumerate(numbers):
            order[model.speeds[key]] = joint.velocity_start() + k
        if nv == 6:
            x = rng.normal(size=4)
            ours = [*(x / np.linalg.norm(x)), *rng.uniform(-1, 1, 3)]
            theirs[first : first + 7] = ours
        elif nv == 3:
            angles = rng.uniform(-1, 1, 3)
            ours = RollPitchYaw(*angles).ToQuaternion().wxyz()
            theirs[first : first + 3] = angles
        else:
            ours = rng.uniform(-1, 1, nv)
            theirs[first : first + nv] = ours
        prefix = numbers[0].partition("[")[0]
        own = [key for key in model.coordinates if key.partition("[")[0] == prefix]
        q[[model.coordinates[key] for key in own]] = ours
    assert (order >= 0).all()
    v = rng.uniform(-1, 1, len(order))
    plant.SetPositions(context, theirs)
    plant.SetVelocities(context, v)
    state.q, state.u = q, v[order]
    model.system.realize(state)
    compared = 0
    for number in range(1, plant.num_bodies()):
        body = plant.get_body(BodyIndex(number))
        name = f"{plant.GetModelInstanceName(body.model_instance())}::{body.name()}"
        X = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
        assert_allclose(np.asarray(model.bodies[name].get_body_transform(state)), X, atol=1e-13)
        compared += 1
    assert compared == 5
    M = plant.CalcMassMatrix(context)[np.ix_(order, order)]
    assert_allclose(model.matter.calc_m(state), M, rtol=0, atol=1e-12 * np.abs(M).max())
    derivatives = plant.get_generalized_acceleration_output_port().Eval(context)[order]
    assert_allclose(state.u_dot, derivatives, rtol=0, atol=1e-10 * np.abs(derivatives).max())
