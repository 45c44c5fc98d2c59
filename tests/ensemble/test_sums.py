"""Energies, momentum, reactions and forces of many states are those of each alone, with parameters of their own or without."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

N = 19  # three groups of lanes, the last one not full


@pytest.fixture(scope="module", params=["alike", "each its own", "python"])
def ensemble(request):
    """A loop of bodies with springs, dampers, a motion, rotors and particles."""
    rng = np.random.default_rng(11)
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.3, -9.8, 0.1))
    link = mb.body.Rigid(mb.MassProperties(1.5, (0.1, 0.2, 0), mb.UnitInertia(0.5, 0.6, 0.7)))
    pin = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)), name="pin")
    ball = mb.mobilizer.Ball(pin, link, X_BM=mb.Transform((0, 1, 0)), name="ball")
    end = mb.mobilizer.Pin(ball, link, X_PF=mb.Transform((0.2, 0, 0)), X_BM=mb.Transform((0, 1, 0)), name="end")
    free = mb.mobilizer.Translation(matter.ground, link, name="free")
    mb.constraint.Rod(matter.ground, (1, 0, 0), end, (0, 0, 0), 2.0)
    mb.constraint.ConstantSpeed(free, 1, 0.5)
    pin.set_default_rotor_inertia(0.3)
    spring = mb.force.TwoPointLinearSpring(forces, pin, (0, 0, 0), free, (0, 0, 1), 20.0, 0.5)
    mb.force.TwoPointLinearDamper(forces, matter.ground, (0, 0, 0), end, (0, 0, 1), 2.0)
    mb.force.MobilityLinearDamper(forces, pin, 0, 1.5)
    matter.add_particles([1.0, 2.0], [(0, 0, 0), (1, 0, 0)])
    if request.param == "python":
        mb.force.Custom(forces, Wind())
    state = system.realize_topology()
    made = mb.Ensemble(system, N, state=state, threads=2)
    made.q = rng.normal(size=made.q.shape)
    made.u = rng.normal(size=made.u.shape)
    made.particle_velocities = rng.normal(size=(N, 2, 3))
    if request.param == "each its own":
        masses = rng.uniform(1.0, 3.0, N)
        made.set_each(
            ball.set_body_mass_properties, [mb.MassProperties(m, (0, 0.1, 0), mb.UnitInertia(1, 1, 1)) for m in masses]
        )
        made.set_each(spring.set_stiffness, rng.uniform(5.0, 50.0, N))
        made.set_each(end.set_rotor_inertia, rng.uniform(0.1, 1.0, N))
        made.set_each(matter.set_all_particle_masses, rng.uniform(1.0, 2.0, (N, 2)))
    made.project()
    made.realize()
    return made


class Wind(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces[1:, 1, 0] += 2.0

    def calc_potential_energy(self, state):
        return 3.0


OF_SYSTEM = {
    "calc_kinetic_energy": Stage.VELOCITY,
    "calc_potential_energy": Stage.POSITION,
    "calc_energy": Stage.VELOCITY,
    "calc_power_dissipation": Stage.VELOCITY,
    "get_rigid_body_forces": Stage.DYNAMICS,
    "get_mobility_forces": Stage.DYNAMICS,
}
OF_MATTER = {
    "calc_system_mass": Stage.POSITION,
    "calc_system_mass_center_location_in_ground": Stage.POSITION,
    "calc_system_central_inertia_in_ground": Stage.POSITION,
    "calc_system_momentum_about_ground_origin": Stage.VELOCITY,
    "calc_system_central_momentum": Stage.VELOCITY,
    "calc_system_mass_center_velocity_in_ground": Stage.VELOCITY,
    "calc_system_mass_center_acceleration_in_ground": Stage.ACCELERATION,
    "calc_mobilizer_reaction_forces": Stage.ACCELERATION,
    "find_constraint_forces": Stage.ACCELERATION,
}


@pytest.mark.parametrize("name", [*OF_SYSTEM, *OF_MATTER])
def test_results_are_those_of_each_state_alone(name, ensemble, close):
    state = ensemble.get_state(0)
    system = state.system
    of_one = getattr(system if name in OF_SYSTEM else system.matter, name)
    found = getattr(ensemble, name)()
    pairs = found if isinstance(found, tuple) else (found,)
    for i in range(N):
        state = ensemble.get_state(i)
        system.realize(state, Stage.ACCELERATION)
        expected = of_one(state)
        for ours, theirs in zip(pairs, expected if isinstance(expected, tuple) else (expected,), strict=True):
            # rounding, times the condition of the mass matrix
            close(ours[i], np.asarray(theirs), 1e-10)


@pytest.mark.parametrize(("name", "stage"), (OF_SYSTEM | OF_MATTER).items())
def test_they_need_their_stage(name, stage, ensemble):
    other = ensemble.copy()
    other.reset()
    other.realize(Stage(stage - 1))
    with pytest.raises(mb.StageError, match=rf"{name} needs Stage\.{stage.name}"):
        getattr(other, name)()


def test_operators_see_each_states_own_masses(ensemble, close):
    """All groups of a thread, and not the first one's again."""
    a = np.random.default_rng(1).normal(size=ensemble.u.shape)
    M, Ma = ensemble.calc_m(), ensemble.multiply_by_m(a)
    residual = ensemble.calc_residual_force_ignoring_constraints(known_udot=a)
    for i in range(N):
        state = ensemble.get_state(i)
        system = state.system
        system.realize(state, Stage.VELOCITY)
        close(M[i], system.matter.calc_m(state), 1e-12)
        close(Ma[i], system.matter.multiply_by_m(state, a[i]), 1e-12)
        close(residual[i], system.matter.calc_residual_force_ignoring_constraints(state, known_udot=a[i]), 1e-12)


def test_get_each_gives_whatever_a_state_has(ensemble):
    system = ensemble.get_state(0).system
    place = ensemble.get_each(system.matter.bodies["end"].get_body_origin_location)
    np.testing.assert_allclose(place, ensemble.body_transforms[:, 3, :3, 3], atol=1e-14)
    names = ensemble.get_each(lambda state: f"{state.time:g}")
    assert names == ["0"] * N
    assert len(ensemble.get_each(system.diagnose_constraints)) == N
    other = ensemble.copy()
    other.upd_q()[3] = np.nan
    other.realize()
    energies = other.get_each(system.calc_energy)
    assert np.flatnonzero(np.isnan(energies)).tolist() == [3]
    assert other.get_each(lambda state: "good")[3] is None
