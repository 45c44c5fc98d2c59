"""Forces that the reference file has no example of, beside OpenSim's own."""

import re

import numpy as np
import pytest

import mobod as mb
from when_used import Package

opensim = Package("opensim")

FORCES = """<ForceSet name="forceset"><objects>
  <Blankevoort1991Ligament name="ligament"><GeometryPath name="path"><PathPointSet name="points"><objects>
      <PathPoint name="a"><socket_parent_frame>/bodyset/b0</socket_parent_frame><location>0.1 0.2 0.3</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/b1</socket_parent_frame><location>0.3 -0.1 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath>
    <linear_stiffness>200</linear_stiffness><slack_length>0.9</slack_length><damping_coefficient>20</damping_coefficient>
    <transition_strain>0.4</transition_strain>
  </Blankevoort1991Ligament>
  <ExpressionBasedPathForce name="formula"><GeometryPath name="path"><PathPointSet name="points"><objects>
      <PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0.2 0 0</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/b0</socket_parent_frame><location>0.2 0 0.4</location></PathPoint>
      <PathPoint name="c"><socket_parent_frame>/bodyset/b1</socket_parent_frame><location>0.2 0.6 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath>
    <resting_length>1.5</resting_length><expression>100*s+3*s*ldot^2-2*ldot</expression></ExpressionBasedPathForce>
  <FunctionBasedBushingForce name="bushing"><socket_frame1>/bodyset/b0</socket_frame1><socket_frame2>/bodyset/b1</socket_frame2>
    <m_x_theta_x_function><LinearFunction><coefficients>3 1</coefficients></LinearFunction></m_x_theta_x_function>
    <m_y_theta_y_function><Constant><value>1.7</value></Constant></m_y_theta_y_function>
    <f_z_delta_z_function><Sine><amplitude>2</amplitude><omega>3</omega><phase>0.4</phase></Sine></f_z_delta_z_function>
    <rotational_damping>1 2 3</rotational_damping><translational_damping>4 5 6</translational_damping>
  </FunctionBasedBushingForce>
  <ClutchedPathSpring name="clutch"><GeometryPath name="path"><PathPointSet name="points"><objects>
      <PathPoint name="a"><socket_parent_frame>/bodyset/b0</socket_parent_frame><location>0.1 0 0.3</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/b1</socket_parent_frame><location>0.3 -0.1 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath><stiffness>30</stiffness><dissipation>0.2</dissipation>
    <relaxation_time_constant>0.3</relaxation_time_constant><initial_stretch>0.05</initial_stretch></ClutchedPathSpring>
  <McKibbenActuator name="pneumatic"><GeometryPath name="path"><PathPointSet name="points"><objects>
      <PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0.2 0 0.1</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/b0</socket_parent_frame><location>0.2 0.3 0.4</location></PathPoint>
      <PathPoint name="c"><socket_parent_frame>/bodyset/b1</socket_parent_frame><location>-0.2 0.6 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath><thread_length>1.3</thread_length><number_of_turns>2.5</number_of_turns>
    <cord_length>0.4</cord_length></McKibbenActuator>
  <MeyerFregly2016Force name="floor"><socket_station>/heel</socket_station><stiffness>900</stiffness>
    <dissipation>0.1</dissipation><spring_resting_length>0.2</spring_resting_length><dynamic_friction>0.4</dynamic_friction>
    <viscous_friction>0.7</viscous_friction><latch_velocity>0.3</latch_velocity></MeyerFregly2016Force>
  <BodyActuator name="wrench"><socket_body>/bodyset/b1</socket_body><point>0.1 0.2 -0.3</point></BodyActuator>
  <ActivationCoordinateActuator name="motor"><coordinate>j0_coord_1</coordinate><optimal_force>30</optimal_force>
  </ActivationCoordinateActuator>
  <PointToPointActuator name="strut"><bodyA>b0</bodyA><bodyB>b1</bodyB><points_are_global>false</points_are_global>
    <pointA>0.1 0 0</pointA><pointB>0 0.2 0.1</pointB><optimal_force>20</optimal_force></PointToPointActuator>
</objects></ForceSet><components><Station name="heel"><socket_parent_frame>/bodyset/b1</socket_parent_frame>
  <location>0.1 -0.9 0.2</location></Station></components>"""


def test_forces_are_opensims(tmp_path, rng):
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
    clutch, pneumatic = ours.actuators["clutch"], ours.actuators["pneumatic"]
    assert clutch.get_stretch(state) == 0.05 and clutch.get_control(state) == 0.0
    for control in [0.0, 1.7, *rng.uniform(-0.2, 1.0, 8)]:
        state.q, state.u = rng.uniform(-0.8, 0.8, 12), rng.uniform(-1, 1, 12)
        state.z, pressure, effort = rng.uniform(0.0, 0.2, 2), rng.uniform(0.0, 30.0), rng.uniform(-9.0, 9.0, 6)
        clutch.set_control(state, control)
        pneumatic.set_control(state, pressure)
        ours.actuators["wrench"].set_effort(state, effort)
        ours.actuators["strut"].set_effort(state, 20.0 * control)
        given = {"clutch": [control], "pneumatic": [pressure], "wrench": effort, "motor": [0.0], "strut": [control]}
        in_order = [given[theirs.getActuators().get(k).getName()] for k in range(len(given))]
        controls = opensim.Vector.createFromMat(np.concatenate(in_order))
        theirs.setStateVariableValue(their_state, "/forceset/motor/activation", float(state.z[1]))
        theirs.setStateVariableValue(their_state, "/forceset/clutch/stretch", clutch.get_stretch(state))
        ours.system.realize(state)
        for name, k in ours.coordinates.items():
            coordinates.get(name).setValue(their_state, float(state.q[k]), False)
            coordinates.get(name).setSpeedValue(their_state, float(state.u[k]))
        theirs.realizeVelocity(their_state)
        theirs.setControls(their_state, controls)
        theirs.realizeAcceleration(their_state)
        u_dot = their_state.getUDot().to_numpy()
        np.testing.assert_allclose(state.u_dot, u_dot, atol=1e-11 * np.abs(u_dot).max())
        energy = ours.data["forces"]["ligament"].calc_potential_energy_contribution(state)
        assert energy == pytest.approx(ligament.computePotentialEnergy(their_state), rel=1e-11, abs=1e-14)
        rate = theirs.getStateVariableDerivativeValue(their_state, "/forceset/clutch/stretch")
        assert state.z_dot[0] == pytest.approx(rate, rel=1e-11, abs=1e-13)
    ours.set_controls({"clutch": control, "pneumatic": pressure, "strut": control})  # which functions of time drive as well
    driven = ours.default_state()
    driven.q, driven.u, driven.z = state.q, state.u, state.z
    ours.actuators["wrench"].set_effort(driven, effort)
    ours.system.realize(driven)
    np.testing.assert_allclose(driven.u_dot, state.u_dot, rtol=1e-13)


WRONG = {
    "<number_of_turns>2.5": ("<number_of_turns>0", "McKibbenActuator 'pneumatic' needs a number_of_turns other than zero"),
    "<relaxation_time_constant>0.3": ("<relaxation_time_constant>0", "ClutchedPathSpring 'clutch' needs numbers"),
    "<socket_station>/heel": (
        "<socket_station>/hel",
        "the station of MeyerFregly2016Force 'floor' is '/hel', and there is none",
    ),
    "<stiffness>900": ("<stiffness>0.1", "needs a stiffness above 0.1, and a latch_velocity above zero"),
}


@pytest.mark.parametrize("old", WRONG)
def test_what_is_wrong_is_named(tmp_path, old):
    new, message = WRONG[old]
    bodies = "".join(f'<Body name="b{k}"><mass>1</mass></Body>' for k in range(2))
    head = '<OpenSimDocument Version="40600"><Model name="m"><BodySet><objects>'
    text = f"{head}{bodies}</objects></BodySet>{FORCES.replace(old, new)}</Model></OpenSimDocument>"
    (tmp_path / "wrong.osim").write_text(text)
    with pytest.raises(mb.ModelError, match=rf"wrong.osim:\d+: .*{message}"):
        mb.load_osim(tmp_path / "wrong.osim")


EXPONENTIAL = """<ForceSet><objects><ExponentialContactForce name="heel">
  <contact_plane_transform>-1.4 0.1 0.2 0.1 -0.3 0.2</contact_plane_transform>
  <exponential_shape_parameters>0.01 0.6 4</exponential_shape_parameters><normal_viscosity>0.4</normal_viscosity>
  <max_normal_force>1000</max_normal_force><initial_mu_static>0</initial_mu_static><initial_mu_kinetic>0</initial_mu_kinetic>
  <Station name="station"><socket_parent_frame>/bodyset/b</socket_parent_frame><location>0.1 0.2 -0.3</location></Station>
</ExponentialContactForce></objects></ForceSet>"""


def test_exponential_contact_is_opensims(tmp_path, rng):
    """Without friction, which remembers in another way here."""
    opensim.Logger.setLevelString("Off")
    path = str(tmp_path / "contact.osim")
    made = opensim.Model()
    body, zero = opensim.Body("b", 1.0, opensim.Vec3(0.1, 0.2, 0), opensim.Inertia(1, 1.1, 1.2)), opensim.Vec3(0)
    made.addBody(body)
    made.addJoint(opensim.FreeJoint("j", made.getGround(), zero, zero, body, zero, zero))
    made.finalizeConnections()
    made.printToXML(path)
    with open(path) as bare:
        text = re.sub(r"<ForceSet name=.*?</ForceSet>", "", bare.read(), flags=re.DOTALL)
    with open(path, "w") as file:
        file.write(text.replace("</Model>", EXPONENTIAL + "</Model>"))
    theirs, ours = opensim.Model(path), mb.load_osim(path)
    their_state, state = theirs.initSystem(), ours.default_state()
    pushed = 0
    for _ in range(8):
        state.q, state.u = rng.uniform(-0.4, 0.4, 6), rng.uniform(-1, 1, 6)
        ours.system.realize(state)
        for name, k in ours.coordinates.items():
            theirs.getCoordinateSet().get(name).setValue(their_state, float(state.q[k]), False)
            theirs.getCoordinateSet().get(name).setSpeedValue(their_state, float(state.u[k]))
        theirs.realizeAcceleration(their_state)
        u_dot = their_state.getUDot().to_numpy()
        np.testing.assert_allclose(state.u_dot, u_dot, atol=1e-8 * np.abs(u_dot).max())
        force = ours.data["forces"]["heel"].get_normal_force(state)
        pushed += bool(np.linalg.norm(force) > 0.05)
    assert pushed > 1


ODD = """<OpenSimDocument Version="40600"><Model name="odd"><BodySet name="bodyset"><objects>
  <Body name="ball"><mass>2</mass><inertia>0.1 0.1 0.1 0 0 0</inertia></Body>
  <Body name="post"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet name="jointset"><objects>
  <PlanarJoint name="slides"><socket_parent_frame>/ground</socket_parent_frame>
    <socket_child_frame>/bodyset/ball</socket_child_frame><coordinates><Coordinate name="a"/><Coordinate name="x"/>
    <Coordinate name="y"/></coordinates></PlanarJoint>
  <WeldJoint name="stands"><socket_parent_frame>/ground</socket_parent_frame>
    <socket_child_frame>/bodyset/post</socket_child_frame></WeldJoint></objects></JointSet>
 <ConstraintSet name="constraintset"><objects><PointConstraint name="idle"><socket_body_1>/ground</socket_body_1>
  <socket_body_2>/bodyset/post</socket_body_2></PointConstraint></objects></ConstraintSet>
 <ForceSet name="forceset"><objects><SmoothSphereHalfSpaceForce name="touch">
  <socket_sphere>/contactgeometryset/foot</socket_sphere>
  <socket_half_space>/contactgeometryset/floor</socket_half_space><static_friction>0.3</static_friction>
  <dynamic_friction>0.7</dynamic_friction><stiffness>1e5</stiffness></SmoothSphereHalfSpaceForce></objects></ForceSet>
 <ContactGeometrySet name="contactgeometryset"><objects>
  <ContactSphere name="foot"><socket_frame>/bodyset/ball</socket_frame><radius>0.1</radius></ContactSphere>
  <ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><orientation>0 0 -1.5707963267948966</orientation>
  </ContactHalfSpace></objects></ContactGeometrySet></Model></OpenSimDocument>"""


def test_friction_that_grows_and_constraints_that_can_change_nothing_are_taken(tmp_path):
    """A dynamic friction above the static one acts as in OpenSim; a constraint between bodies that do not move is told."""
    path = str(tmp_path / "odd.osim")
    with open(path, "w") as file:
        file.write(ODD)
    opensim.Logger.setLevelString("Off")
    theirs, ours = opensim.Model(path), mb.load_osim(path)
    assert "'idle' is left out, it can change nothing" in str(ours.report)
    their_state, state = theirs.initSystem(), ours.default_state()
    state.q, state.u = (0.1, 0.2, 0.08), (0.5, 1.5, -0.2)
    ours.system.realize(state)
    for (name, k), speed in zip(ours.coordinates.items(), state.u, strict=True):
        theirs.getCoordinateSet().get(name).setValue(their_state, float(state.q[k]), False)
        theirs.getCoordinateSet().get(name).setSpeedValue(their_state, float(speed))
    theirs.realizeAcceleration(their_state)
    u_dot = their_state.getUDot().to_numpy()
    assert np.abs(u_dot).max() > 1.0
    np.testing.assert_allclose(state.u_dot, u_dot, atol=1e-10 * np.abs(u_dot).max())
