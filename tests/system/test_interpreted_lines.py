"""Parts of a system that Python computes, a line each: witnesses and measures that are functions of a State."""

import mobod as mb
from mobod.system.interpreted import interpreted_lines


def test_a_witness_of_a_state_has_a_line_and_one_of_a_coordinate_has_none():
    system, _ = mb.examples.double_pendulum.build()
    arm = system.matter.bodies["lower"]

    def far(state):
        return 1.0 - arm.get_one_q(state, 0)

    class Watcher(mb.event.TriggeredReporter):
        def get_value(self, state):
            return far(state)

        def handle_event(self, state):
            pass

    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(arm, 0, 1e3)))
    system.realize_topology()
    assert interpreted_lines(system) == []
    system.add_event_handler(mb.event.StopWhen(mb.event.FunctionWitness(far), name="bound"))
    system.add_event_reporter(Watcher(mb.Stage.POSITION))
    system.realize_topology()
    bound, watcher = interpreted_lines(system)
    assert bound == (
        "interpreted: StopWhen 'bound' watches <FunctionWitness far>, a function of a State; "
        "Coordinate, PlaneDistance or Gap would compile"
    )
    assert watcher.startswith("interpreted: Watcher") and "what get_value returns" in watcher


def test_measures_that_python_computes_in_each_step_are_named():
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    angle = mb.measure.Coordinate(matter, matter.bodies["lower"])
    mb.measure.Maximum(matter, angle)
    system.realize_topology()
    assert interpreted_lines(system) == []
    speed = mb.measure.Function(matter, lambda state: state.u[0], mb.Stage.VELOCITY, name="speed")
    mb.measure.Integrate(matter, speed, mb.measure.Constant(matter, 0.0))
    system.realize_topology()
    assert not system.is_interpreted
    (line,) = interpreted_lines(system)
    assert "speed" in line and line.endswith("is a function of a State; measure.Custom of numbers would compile")
    mb.measure.Maximum(matter, mb.measure.Variable(matter, mb.Stage.MODEL, 1.0, name="target"))
    system.realize_topology()
    assert system.is_interpreted
    lines = interpreted_lines(system)
    assert len([one for one in lines if "measures are computed by Python, as" in one and "target" in one]) == 1
