"""Tasks with contact forces, sensors, parameters that vary and delays: what functions are given, by name."""

import dataclasses

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="NO Gymnasium HERE: install mobod[gym]")

import mobod as mb  # noqa: E402
import mobod.gym  # noqa: E402
from mobod.gym import Env, Task, VectorEnv  # noqa: E402

MASS = 2.0


def build():
    """A ball that rests on the ground, and slides along it as a motor pushes it; time is its sensor."""
    system = mb.MultibodySystem("ball")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -10))
    ball = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    body = mb.mobilizer.Translation(matter.ground, ball, name="ball")
    rubber = mb.contact.Material(stiffness=1e6, dissipation=2.0)
    mb.force.SmoothSphereHalfSpace(forces, body, (0, 0, 0), 0.1, matter.ground, mb.Transform(), rubber)
    mb.force.MobilityLinearDamper(forces, body, 0, 1.0, name="drag")
    clock = mb.measure.Time(matter)
    state = system.realize_topology()
    state.q = (0.0, 0.0, 0.0999)
    return system, state, [(body, (0, 0, 0))], {"contacts": [body], "sensors": [clock]}


def act(action, forces):
    forces[0], forces[1], forces[2] = action[0], 0.0, 0.0


def observe(contacts, sensors, parameters, time, u, q, out, action):
    out[0], out[1] = contacts[0, 2], sensors[0]
    out[2], out[3], out[4], out[5], out[6] = parameters[0], time, u[0], q[0], action[0]


def reward(u, contacts):
    return contacts[0, 2] + u[0]


def vary(system):
    drag = next(force for force in system.all_forces() if force.name == "drag")
    return [(drag.set_damping, 0.5, 4.0)]


def start(q, u):
    u[0] = 0.0


TASK = Task(
    build=build,
    low=[-1.0],
    high=[1.0],
    act=act,
    start=start,
    observe=observe,
    num_observations=7,
    reward=reward,
    interval=0.02,
    control_interval=0.01,
    step_size=0.001,
    integrator=mb.integrator.SemiExplicitEuler,
    max_episode_steps=30,
    vary=vary,
)


def played(envs, steps, action, seed=3):
    first = envs.reset(seed=seed)[0]
    rows = [envs.step(np.full((envs.num_envs, 1), action)) for _ in range(steps)]
    return first, [row[0] for row in rows], [row[1] for row in rows]


def test_contact_forces_carry_the_weight_and_sensors_are_measures():
    envs = VectorEnv(TASK, 5, autoreset_mode="Disabled")
    _, seen, rewards = played(envs, 29, 0.0)
    assert np.abs(seen[-1][:, 0] - 10.0 * MASS).max() < 0.05
    assert np.abs(rewards[-1] - seen[-1][:, 0]).max() < 1e-4
    assert np.abs(seen[-1][:, 1] - 29 * 0.02).max() < 1e-6 and np.abs(seen[-1][:, 3] - 29 * 0.02).max() < 1e-6


def test_each_episode_has_parameters_of_its_own_which_act():
    """u_dot m = a - c u from rest: the drag that is observed is that which acts."""
    envs = VectorEnv(TASK, 6, autoreset_mode="Disabled")
    _, seen, _ = played(envs, 25, 1.0)
    c, u = seen[-1][:, 2].astype(float), seen[-1][:, 4]
    assert len(set(c.tolist())) == 6 and (c >= 0.5).all() and (c <= 4.0).all()
    assert np.abs(u - (1.0 - np.exp(-c / MASS * 0.5)) / c).max() < 2e-3
    before = c.copy()
    envs.reset(options={"reset_mask": np.arange(6) == 2})
    after = np.array(envs.step(np.zeros((6, 1)))[0][:, 2])
    assert after[2] != before[2] and np.array_equal(np.delete(after, 2), np.delete(before, 2).astype(np.float32))


def test_an_episode_is_that_of_its_seed_alone():
    envs, one = VectorEnv(TASK, 3, autoreset_mode="Disabled"), Env(TASK)
    _, seen, _ = played(envs, 4, 0.5, seed=10)
    one.reset(seed=12)
    for k in range(4):
        assert np.abs(one.step([0.5])[0] - seen[k][2]).max() < 1e-6


def test_actions_and_observations_come_late():
    """A push of unit mass and known drag: late by so many control intervals, and seen so many steps after."""
    plain = VectorEnv(dataclasses.replace(TASK, vary=None, observe=without), 2, autoreset_mode="Disabled")
    late = VectorEnv(
        dataclasses.replace(TASK, vary=None, observe=without, action_delay=2, observation_delay=3), 2, autoreset_mode="Disabled"
    )
    first, now, _ = played(plain, 12, 1.0)
    held, then, _ = played(late, 12, 1.0)
    assert np.array_equal(first, held)
    for k in range(12):
        # two control intervals are one step; with three more it is four steps behind
        wanted = now[k - 4][:, 4] if k >= 4 else np.zeros(2)
        assert np.abs(then[k][:, 4] - wanted).max() < 1e-6


def without(contacts, time, u, out):
    out[:] = 0.0
    out[0], out[3], out[4] = contacts[0, 2], time, u[0]


def test_delays_are_drawn_by_episode_and_begin_anew():
    task = dataclasses.replace(TASK, vary=None, observe=without, action_delay=(0, 4))
    envs = VectorEnv(task, 40, autoreset_mode="SameStep", max_episode_steps=5)
    envs.reset(seed=1)
    lags = []
    for _ in range(2):
        for k in range(5):
            observed, _, _, over, infos = envs.step(np.ones((40, 1)))
            if k == 3:
                lags.append(np.round(observed[:, 4], 4))
        assert over.all() and np.abs(observed[:, 4]).max() == 0.0  # of the new episodes
        assert (infos["final_obs"][:, 4] > 0.0).all()
    assert [len(set(some.tolist())) for some in lags] == [5, 5] and not np.array_equal(*lags)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"observe": lambda q, velocity, out: None}, mb.ModelError, "asks for 'velocity'"),
        ({"action_delay": -1}, ValueError, "action_delay"),
        ({"action_delay": (3, 1)}, ValueError, "above the largest"),
        ({"observation_delay": (1, 2, 3)}, ValueError, "least and the largest"),
        ({"vary": 3}, TypeError, "vary of a Task is a function"),
        ({"vary": lambda system: None}, TypeError, "list of"),
        ({"vary": lambda system: [(print, 1.0)]}, TypeError, "list of"),
        ({"vary": lambda system: [(print, 2.0, 1.0)]}, ValueError, "the lower one comes first"),
        ({"vary": lambda system: [(print, np.nan, 1.0)]}, mb.ModelError, "has to be finite"),
        ({"build": lambda: (*build()[:3], {"contact": []})}, mb.ModelError, "'contacts' and 'sensors'"),
        (
            {"build": lambda: (*mb.examples.double_pendulum.build(), [], {"contacts": [1]})},
            mb.ModelError,
            "no compliant contact",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, says):
    with pytest.raises(error, match=says):
        VectorEnv(dataclasses.replace(TASK, **change), 2)


def test_bodies_vary_between_two_as_mixtures_of_these():
    """Mass, first moments and inertia are between those of a heavy body and a light one far away, as the observed mass says.

    Halfway between their mass centers the body would be too heavy for its inertia.
    """
    light = mb.MassProperties(0.1, (1, 0, 0), mb.UnitInertia.sphere(0.1).shift_from_centroid((1, 0, 0)))
    heavy = mb.MassProperties(3.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))

    def vary(system):
        return [(system.matter.bodies["ball"].set_body_mass_properties, light, heavy)]

    task = dataclasses.replace(TASK, vary=vary)
    envs = VectorEnv(task, 6, autoreset_mode="Disabled")
    _, seen, _ = played(envs, 2, 0.0)
    masses = seen[-1][:, 2].astype(float)
    assert len(set(masses.tolist())) == 6 and (masses >= 0.1).all() and (masses <= 3.0).all()
    for i, mass in enumerate(masses):
        state = envs.ensemble.get_state(i)
        state.system.realize(state, mb.Stage.INSTANCE)
        own, part = state.system.matter.bodies["ball"].get_body_mass_properties(state), (mass - 0.1) / 2.9
        assert abs(own.mass - mass) < 1e-6 and np.allclose(own.mass * own.com, (0.1 * (1.0 - part), 0, 0), atol=1e-6)
        between = (1.0 - part) * np.asarray(light.inertia) + part * np.asarray(heavy.inertia)
        assert np.allclose(own.inertia, between, atol=1e-6)
    with pytest.raises(TypeError, match="both are numbers or MassProperties"):
        dataclasses.replace(task, vary=lambda system: [(vary(system)[0][0], light, 3.0)]).varied(build()[0])


def build_that_remembers():
    """As above, by `TimeStepping` with surfaces, with an extreme, which takes states out of lanes."""
    system = mb.MultibodySystem("ball")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -10))
    body = mb.mobilizer.Translation(
        matter.ground, mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.sphere(0.1))), name="ball"
    )
    rubber = mb.contact.Material(stiffness=1e5, dissipation=2.0, static_friction=0.8)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0.3, 0, 0), mb.UnitInertia(0.01, 0.1, 0.1)))
    about_y = mb.Transform(mb.Rotation.about_axis(-0.5 * np.pi, "x"))
    tail = mb.mobilizer.Pin(body, rod, X_PF=about_y, X_BM=about_y)
    body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
    tail.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber), mb.Transform((0.3, 0, 0)))
    mb.CompliantContactSubsystem(system)
    mb.force.MobilityLinearDamper(forces, body, 0, 1.0, name="drag")
    farthest = mb.measure.Maximum(matter, mb.measure.Coordinate(matter, body, 0))
    height = mb.measure.Coordinate(matter, body, 2)
    state = system.realize_topology()
    state.q = (0.0, 0.0, 0.12, -0.2)
    return system, state, [], {"contacts": [body], "sensors": [farthest, height]}


@pytest.mark.filterwarnings("ignore:TimeStepping steps one state", "error:surfaces start deep")
def test_where_others_begin_anew_an_episode_goes_on_to_the_bit():
    """`set_each` gives all states their parameters again where one begins; those that keep theirs keep what steps remember."""
    seed = np.random.default_rng().integers(1 << 30)
    print("seed", seed)

    def observe(contacts, sensors, u, q, out):
        out[0], out[1], out[2] = contacts[0, 2], sensors[0], sensors[1]
        out[3], out[4], out[5], out[6] = u[0], u[2], q[0], q[2]

    def push(action, forces):
        forces[0], forces[1], forces[2], forces[3] = 60.0 * action[0], 0.0, 0.0, 0.0

    task = dataclasses.replace(
        TASK, build=build_that_remembers, act=push, observe=observe, integrator=mb.integrator.TimeStepping, step_size=0.002,
        fails=lambda q: abs(q[0]) > 0.01, reward=lambda u: u[0],
    )  # fmt: skip
    envs, one = VectorEnv(task, 5, autoreset_mode="SameStep"), Env(task)
    envs.reset(seed=7)
    one.reset(seed=7 + 3)
    count = 0
    for k in range(40):
        actions = np.random.default_rng(seed + k).uniform(-1.0, 1.0, (5, 1))
        seen, _, over, cut, infos = envs.step(actions)
        row, _, *ends, _ = one.step(actions[3])
        assert ends == [over[3], cut[3]]
        if any(ends):
            count += 1
            assert np.array_equal(infos["final_obs"][3], row)
            row = one.reset()[0]
        assert np.array_equal(seen[3], row), k
    assert count > 0
