"""Models that the tests of integrators share."""

import numpy as np

import mobod as mb
from kinds.integrators import INTEGRATORS

ALL = [kind for kind, record in INTEGRATORS.items() if record.of_rates]
EXPLICIT = [kind for kind in ALL if INTEGRATORS[kind].explicit]
#: Those that choose their steps.
CONTROLLED = [kind for kind in ALL if INTEGRATORS[kind].error_control]


class Nothing(mb.force.CustomImplementation):
    """A force that adds nothing, and whose hook of a stage makes its system run interpreted."""

    def realize_velocity(self, state):
        pass

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        pass


class Push(mb.force.CustomImplementation):
    """Generalized forces by a function of the state."""

    def __init__(self, function):
        self.function = function

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces += self.function(state)


def point_mass(mass=1.0):
    return mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(0.1)))


def slider(function):
    """A unit mass on a line, named slider, pushed by *function* of the state."""
    system = mb.MultibodySystem("slider")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Custom(mb.GeneralForceSubsystem(system), Push(function), name="push")
    mb.mobilizer.Slider(matter.ground, point_mass(), name="slider")
    return system, system.realize_topology()


def pendulum(interpreted=False, angle=2.0):
    """A point of unit mass, nearly, on a rod of unit length: q'' = -k sin q."""
    system = mb.MultibodySystem("pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    if interpreted:
        mb.force.Custom(forces, Nothing())
    mb.mobilizer.Pin(matter.ground, point_mass(), X_BM=mb.Transform((0, 1, 0)))
    state = system.realize_topology()
    state.q = [angle]
    return system, state


def swing(t, angle=2.0):
    """The pendulum's angle in closed form: sin(q/2) = k sn(K - w t, k^2), let go at *angle* at rest."""
    from scipy.special import ellipj, ellipk

    k = np.sin(angle / 2.0)
    rate = np.sqrt(9.8 / (1.0 + 0.4 * 0.1**2))  # the sphere's own inertia, 2/5 m r^2
    sn = ellipj(ellipk(k * k) - rate * np.asarray(t), k * k)[0]
    return 2.0 * np.arcsin(k * sn)


def tumbler(interpreted=False):
    """A free body that tumbles, with a pendulum on it, under gravity: a quaternion, and no closed form."""
    system = mb.MultibodySystem("tumbler")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    if interpreted:
        mb.force.Custom(forces, Nothing())
    body = mb.body.Rigid(mb.MassProperties(2.0, (0.1, 0, 0), mb.Inertia(0.5, 0.8, 1.1)))
    free = mb.mobilizer.Free(matter.ground, body, name="tumbler")
    mb.mobilizer.Pin(free, point_mass(0.5), X_PF=mb.Transform((0, -0.2, 0.1)), X_BM=mb.Transform((0, 0.4, 0)), name="bob")
    state = system.realize_topology()
    free.set_u(state, (0.4, 1.0, 0.3, 0.2, 3.0, -0.1))
    return system, state


def rates_of(system, state):
    """The right-hand side of *system*, for SciPy's solvers."""
    work = state.copy()

    def rates(t, y):
        work.time, work.y = t, y
        system.realize(work)
        return work.record.y_dot[:, 0].copy()

    return rates


def truth(system, state, time):
    """y at *time* by SciPy's DOP853 at 1e-13, quaternions normalized."""
    from scipy.integrate import solve_ivp

    end = solve_ivp(rates_of(system, state), (state.time, time), state.y, method="DOP853", rtol=1e-13, atol=1e-13)
    final = state.copy()
    final.time, final.y = time, end.y[:, -1]
    system.project(final)
    return final.y.copy()


def stepper_of(kind, system, state, **settings):
    if not INTEGRATORS[kind].error_control:
        settings.setdefault("fixed_step_size", 1e-3)
    stepper = mb.TimeStepper(system, kind(system, **settings))
    stepper.initialize(state)
    return stepper


def end(kind, system, state, time, **settings):
    stepper = stepper_of(kind, system, state, **settings)
    stepper.step_to(time)
    return stepper
