"""Systems, models from files and states are saved by pickle, and another process goes on with them, bit for bit."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
from kinds.forces import elements, tree
from mobod.algebra import rotation

m, fn = mb.mobilizer, mb.function


def cubic(t, X, V, q, u, parameters):
    """A user's force, which pickle finds by its name."""
    return (), ((-parameters[0] * q[0][0] ** 3,),)


def bent(q, parameters):
    """A user's mobilizer."""
    return rotation.about_z(q[0]), (parameters[0] * q[0], 0.0 * q[0], 0.0 * q[0])


class Pull(mb.force.CustomImplementation):
    """A user's force in Python."""

    def __init__(self, body):
        self.body = body

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces[self.body.get_mobilized_body_index(), 1, 2] += 0.1 * np.cos(state.time)


def everything(make):
    """A system with one of nearly all that there is, and a state of it."""
    model = tree(make)
    forces = elements(model)[-1].get_force_subsystem()
    matter, system, part = model.matter, model.system, make.body
    arm = m.Pin(matter.ground, part(), X_PF=make.frame(), name="arm")
    arm.set_default_rotor_inertia(0.3)
    hand = m.Ball(arm, part(), X_PF=make.frame(), name="hand")
    finger = m.Universal(hand, part(), X_PF=make.frame(), name="finger")
    functions = [fn.Linear([0.3, 0.1]), *[fn.Constant(0.0, 0)] * 5]
    indices = [[0], [], [], [], [], []]
    m.FunctionBased(finger, part(), num_mobilities=1, functions=functions, coordinate_indices=indices, name="toe")
    m.Custom(finger, part(), transform=bent, num_q=1, parameters=[0.2], name="bent")
    driven = m.Slider(matter.ground, part(), name="driven")
    m.Cylinder(driven, part(), name="locked").lock_by_default()
    mb.motion.Sinusoid(driven, mb.Motion.Level.POSITION, 0.3, 2.0, 0.1)
    matter.add_particles([0.5, 0.7], make.rng.normal(size=(2, 3)))
    mb.constraint.SpeedCoupler(matter, fn.Linear([1.0, -2.0, 0.0]), [arm, finger], [0, 1], name="gear")
    state = system.realize_topology()
    system.realize(state, mb.Stage.POSITION)
    end = make.vector()
    length = np.linalg.norm(hand.find_station_location_in_ground(state, (0.1, 0, 0)) - end)
    mb.constraint.Rod(hand, (0.1, 0, 0), matter.ground, end, float(length), name="rod")
    mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(cubic, mobilizers=[arm], parameters=[2.0]), name="cubic")
    mb.force.Custom(forces, Pull(hand), name="pull")
    contacts = mb.CompliantContactSubsystem(system, friction="bristle")
    contacts.set_adjacent_bodies_touch(True)  # a body and Ground are
    rubber = mb.contact.Material(1e3, dissipation=0.2, static_friction=0.9)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber), mb.Transform((0, 0, -3)))
    ball = m.Free(matter.ground, part(), name="ball")
    ball.set_default_q((1, 0, 0, 0, 0, 0, -2.505))
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.5), rubber))
    ball.add_body_decoration(mb.decoration.Sphere(0.5))
    mb.contact.HardStopUpper(arm, 0, 2.0, restitution=0.3)
    angle = mb.measure.Function(forces, swing, mb.Stage.POSITION)
    mb.measure.Maximum(forces, mb.measure.Integrate(forces, angle, name="swung"), name="most")
    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(arm, value=1.9)))
    state = system.realize_topology()
    arm.set_rotor_inertia(state, 0.4)
    state.u = 0.1 * make.rng.normal(size=len(state.u))
    system.prescribe(state, mb.Stage.POSITION)
    system.project(state)
    system.realize(state)
    return system, state


def swing(state):
    """A user's measure."""
    return float(np.cos(state.q[0]))


def go_on(system, state):
    """Numbers of a run, a text each."""
    system.realize(state)
    end = mb.simulate(system, state, 0.02, accuracy=1e-5, report_interval=0.01)
    return [float(x).hex() for x in (*state.u_dot, *end.q[-1], *end.u[-1], *end.z[-1], *end.energy)]


def in_another_process(path):
    """The result of `go_on` there, with the file's contents."""
    tests = Path(__file__).parent
    code = (
        f"import sys, pickle; sys.path[:0] = [{str(tests)!r}, {str(tests.parent)!r}]; import test_saving\n"
        f"with open({str(path)!r}, 'rb') as file: print(*test_saving.go_on(*pickle.load(file)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_system_of_everything_goes_on_in_another_process(make, tmp_path):
    system, state = everything(make)
    path = tmp_path / "everything.pickle"
    with path.open("wb") as file:
        pickle.dump((system, state), file)
    expected = go_on(system, state)
    assert len(expected) > 100 and in_another_process(path) == expected


URDF = """<robot name="arm">
  <link name="base"/>
  <link name="link"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="link"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.3"/></joint>
</robot>"""
MJCF = """<mujoco model="arm"><worldbody><body name="link"><joint name="hinge" axis="0 1 0" armature="0.1" stiffness="2"/>
  <geom size="0.1" pos="0.3 0 0"/></body></worldbody><actuator><motor name="motor" joint="hinge"/></actuator>
  <keyframe><key name="up" qpos="0.5"/></keyframe></mujoco>"""


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_a_model_of_a_file_is_saved_with_its_names(suffix, tmp_path):
    if suffix == "xml":
        pytest.importorskip("mujoco")
    path = tmp_path / f"arm.{suffix}"
    path.write_text(URDF if suffix == "urdf" else MJCF)
    model = mb.load(path, **({"collision": False} if path.suffix == ".xml" else {}))
    again = pickle.loads(pickle.dumps(model))
    assert again.bodies["link"].matter is again.matter and again.matter.get_system() is again.system is not model.system
    assert list(again.coordinates) == list(model.coordinates) and again.report == model.report
    for name, make in model.keyframes.items():
        assert np.array_equal(again.keyframes[name]().q, make().q) and make().q[0] == 0.5
    states = [one.default_state() for one in (model, again)]
    for one, state in zip((model, again), states, strict=True):
        one.system.realize(state)
    assert np.array_equal(states[0].u_dot, states[1].u_dot)


def test_what_pickle_cannot_find_by_name_it_names(make):
    model = make.tree(1)
    mb.measure.Function(model.forces, lambda state: 0.0, mb.Stage.TIME)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(model.system)
