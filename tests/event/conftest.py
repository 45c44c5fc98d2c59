"""Models that things happen to: a ball over a floor, a pendulum beside a wall, each also with a part in Python."""

import pytest

import mobod as mb


class Nothing(mb.force.CustomImplementation):
    """A force of zero, which makes a system run interpreted."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        pass


class Ball:
    """A ball on a vertical slider, its height the only coordinate."""

    g = 9.81

    def __init__(self, height=1.0, interpreted=False, balls=1):
        self.system = mb.MultibodySystem("ball")
        matter = mb.SimbodyMatterSubsystem(self.system)
        forces = mb.GeneralForceSubsystem(self.system)
        mb.force.Gravity(forces, matter, (0, -self.g, 0))
        if interpreted:
            mb.force.Custom(forces, Nothing())
        upward = mb.Transform(mb.Rotation.about_axis(1.5707963267948966, (0, 0, 1)))
        body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
        self.balls = [mb.mobilizer.Slider(matter.ground, body, X_PF=upward, X_BM=upward, name=f"ball{k}") for k in range(balls)]
        self.ball = self.balls[0]
        self.state = self.system.realize_topology()
        self.state.q = [height] * balls

    def stepper(self, accuracy=1e-8, **settings):
        """A stepper at the beginning."""
        stepper = mb.TimeStepper(self.system, mb.integrator.RungeKuttaMerson(self.system, accuracy=accuracy, **settings))
        stepper.initialize(self.state)
        return stepper


@pytest.fixture
def ball():
    """Makes balls."""
    return Ball


class Recorder:
    """The events, as (time, what)."""

    def __init__(self):
        self.events = []

    def times(self, what=None):
        """The times of *what*."""
        return [time for time, name in self.events if what is None or name == what]

    def handler(self, kind, what, *args, act=None, value=None, **settings):
        """A handler of *kind* that notes its calls, and then does *act*."""
        return self._one(kind, what, args, settings, act, value, lambda self, state, accuracy: self.do(state))

    def reporter(self, kind, what, *args, act=None, value=None, **settings):
        """A reporter of *kind* that notes its calls, and then does *act*."""
        return self._one(kind, what, args, settings, act, value, lambda self, state: self.do(state))

    def _one(self, kind, what, args, settings, act, value, handle_event):
        def do(self, state, events=self.events):
            events.append((state.time, what))
            return None if act is None else act(state)

        body = {"handle_event": handle_event, "do": do}
        if value is not None:
            body["get_value"] = lambda self, state: value(state)
        return type(kind.__name__ + "Noted", (kind,), body)(*args, name=what, **settings)


@pytest.fixture
def recorder():
    """Notes what happens."""
    return Recorder()
