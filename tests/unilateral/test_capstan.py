"""Euler's capstan: a chain around half of a drum holds weights up to a ratio of exp(mu pi), and slides beyond it."""

import numpy as np
import pytest
from touching_models import empty

import mobod as mb

RADIUS, SIZE, LINKS = 0.5, 0.02, 18


def chain(ratio, mu, rigid):
    """Balls on light links, hinged, over a drum; weights of 1 and *ratio* at its ends, two links below the drum's middle."""
    system, matter = empty()
    material = mb.contact.Material(1e7, 1.0, mu)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(RADIUS - SIZE), material, name="drum"))
    angles = np.linspace(np.pi, 0, LINKS + 1)
    length = 2.0 * RADIUS * np.sin(0.5 * np.pi / LINKS)
    over = [(RADIUS * np.cos(angle), 0.0, RADIUS * np.sin(angle)) for angle in angles]
    places = np.array([(-RADIUS, 0, -2 * length), (-RADIUS, 0, -length), *over, (RADIUS, 0, -length), (RADIUS, 0, -2 * length)])
    turn = mb.Rotation.about_axis(-np.pi / 2, "x")
    bodies = []
    for k in range(len(places)):
        mass = {0: 1.0, len(places) - 1: ratio}.get(k, 0.01)
        ball = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(SIZE)))
        ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(SIZE), material, cliques={"chain"}))
        if k == 0:
            bodies.append(mb.mobilizer.Translation(matter.ground, ball))
        else:
            own = mb.Transform(turn), mb.Transform(turn, (-length, 0, 0))
            bodies.append(mb.mobilizer.Pin(bodies[-1], ball, X_PF=own[0], X_BM=own[1]))
    if rigid:
        assert mb.contact.rigid(system, stepped=True) == []
    else:
        mb.CompliantContactSubsystem(system)
    state = system.realize_topology()
    steps = np.diff(places, axis=0)
    headings = np.unwrap(np.concatenate([[0.0], np.arctan2(steps[:, 2], steps[:, 0])]))
    state.q = np.concatenate([places[0], -np.diff(headings)])
    return system, state, bodies[-1]


@pytest.mark.parametrize("rigid", [False, True], ids=["compliant", "rigid"])
@pytest.mark.parametrize(("part", "slides"), [(0.85, False), (1.15, True)])
def test_a_chain_over_a_drum_holds_up_to_the_exponential_of_friction_times_angle(rigid, part, slides):
    system, state, end = chain(part * np.exp(0.3 * np.pi), 0.3, rigid)
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.001)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    speeds = []
    for time in (0.1, 0.15):
        stepper.step_to(time)
        system.realize(stepper.state)
        speeds.append(-end.get_body_origin_velocity(stepper.state)[2])
    print(speeds, integrator.get_num_convergence_test_failures(), integrator.get_num_unconverged())
    assert integrator.get_num_unconverged() <= (3 if rigid else 0)
    assert len(integrator.get_contact_points()) >= LINKS - 1
    if slides:
        assert speeds[1] > speeds[0] > 0.04
    else:
        assert abs(speeds[1]) < 2e-3
