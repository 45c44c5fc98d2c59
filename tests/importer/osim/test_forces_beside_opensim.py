"""Forces that the reference file has no example of, beside OpenSim's own."""

import re

import numpy as np
import pytest

import mobod as mb

opensim = pytest.importorskip("opensim")

FORCES = """<ForceSet name="forceset"><objects>
  <Blankevoort1991Ligament name="ligament"><GeometryPath name="path"><PathPointSet name="points"><objects>
      <PathPoint name="a"><socket_parent_frame>/bodyset/b0</socket_parent_frame><location>0.1 0.2 0.3</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/b1</socket_parent_frame><location>0.3 -0.1 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath>
    <linear_stiffness>200</linear_stiffness><slack_length>0.9</slack_length><damping_coefficient>20</damping_coefficient>
  </Blankevoort1991Ligament>
  <ExpressionBasedPathForce name="formula"><GeometryPath name="path"><PathPointSet name="points"><objects>
      <PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0.2 0 0</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/b0</socket_parent_frame><location>0.2 0 0.4</location></PathPoint>
      <PathPoint name="c"><socket_parent_frame>/bodyset/b1</socket_parent_frame><location>0.2 0.6 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath>
    <resting_length>1.5</resting_length><expression>100*s+3*s*ldot^2-2*ldot</expression></ExpressionBasedPathForce>
  <FunctionBasedBushingForce name="bushing"><socket_frame1>/bodyset/b0</socket_frame1><socket_frame2>/bodyset/b1</socket_frame2>
    <m_x_theta_x_function><LinearFunction><coefficients>3 1</coefficients></LinearFunction></m_x_theta_x_function>
    <f_z_delta_z_function><Sine><amplitude>2</amplitude><omega>3</omega><phase>0.4</phase></Sine></f_z_delta_z_function>
    <rotational_damping>1 2 3</rotational_damping><translational_damping>4 5 6</translational_damping>
  </FunctionBasedBushingForce>
</objects></ForceSet>"""


def test_ligaments_formulas_along_paths_and_function_bushings(tmp_path, rng):
    path, other = str(tmp_path / "bare.osim"), str(tmp_path / "forces.osim")
    opensim.Logger.setLevelString("Off")
    made = opensim.Model()
    inboard = made.getGround()
    for k in range(2):
        body = opensim.Body(f"b{k}", 1.0, opensim.Vec3(0.1, 0.2, 0), opensim.Inertia(1, 1.1, 1.2))
        made.addBody(body)
        zero = opensim.Vec3(0)
        made.addJoint(opensim.FreeJoint(f"j{k}", inboard, opensim.Vec3(0, 1, 0), zero, body, zero, opensim.Vec3(0.1, 0, 0.2)))
        inboard = body
    made.finalizeConnections()
    made.printToXML(path)
    with open(path) as bare, open(other, "w") as file:
        text = re.sub(r"<ForceSet name=.*?</ForceSet>", "", bare.read(), flags=re.DOTALL)
        file.write(text.replace("</Model>", FORCES + "</Model>"))
    theirs, ours = opensim.Model(other), mb.load_osim(other, strict=True)
    their_state, state = theirs.initSystem(), ours.default_state()
    coordinates = theirs.updCoordinateSet()
    ligament = opensim.Blankevoort1991Ligament.safeDownCast(theirs.getForceSet().get("ligament"))
    for _ in range(10):
        state.q, state.u = rng.uniform(-0.8, 0.8, 12), rng.uniform(-1, 1, 12)
        ours.system.realize(state)
        for name, k in ours.coordinates.items():
            coordinates.get(name).setValue(their_state, float(state.q[k]), False)
            coordinates.get(name).setSpeedValue(their_state, float(state.u[k]))
        theirs.realizeAcceleration(their_state)
        u_dot = their_state.getUDot().to_numpy()
        np.testing.assert_allclose(state.u_dot, u_dot, atol=1e-11 * np.abs(u_dot).max())
        energy = ours.data["forces"]["ligament"].calc_potential_energy_contribution(state)
        assert energy == pytest.approx(ligament.computePotentialEnergy(their_state), rel=1e-11, abs=1e-14)
