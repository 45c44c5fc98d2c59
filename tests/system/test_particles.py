"""Particles: a block of their own in the state, moved by forces, counted by mass, momentum and energy and by nothing else."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage

G = np.array([0.5, -9.8, 1.0])


class Scene:
    """Particles above a pendulum, in gravity."""

    def __init__(self, rng, n=5, bodies=True, gravity=True):
        self.system = mb.MultibodySystem("dust")
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        self.gravity = mb.force.Gravity(self.forces, self.matter, G, zero_height=0.3) if gravity else None
        if bodies:
            self.arm = mb.mobilizer.Pin(self.matter.ground, mb.body.Rigid(), X_BM=mb.Transform((0, 1, 0)), name="arm")
        self.m, self.r, self.v = rng.uniform(0.5, 2.0, n), rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
        self.added = self.matter.add_particles(self.m, self.r, self.v)

    def state(self, stage=Stage.ACCELERATION):
        state = self.system.realize_topology()
        if stage > Stage.MODEL:
            self.system.realize(state, stage)
        return state


@pytest.fixture
def scene(rng):
    return Scene(rng)


class Springs(mb.force.CustomImplementation):
    """A spring from each particle to a point of a body, a damper between them: what one gets the other gives."""

    def __init__(self, scene, k=3.0, c=0.0, positions=False):
        self.scene, self.k, self.c, self.positions, self.calls = scene, k, c, positions, 0

    def _at(self, state):
        return self.scene.arm.find_station_location_in_ground(state, (0.1, -0.5, 0.2))

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        self.calls += 1
        matter = self.scene.matter
        f = -self.k * (matter.get_all_particle_locations(state) - self._at(state))
        if self.c:
            v = self.scene.arm.find_station_velocity_in_ground(state, (0.1, -0.5, 0.2))
            f -= self.c * (matter.get_all_particle_velocities(state) - v)
        particle_forces += f
        self.scene.arm.apply_force_to_body_point(state, (0.1, -0.5, 0.2), -f.sum(axis=0), body_forces)

    def calc_potential_energy(self, state):
        return 0.5 * self.k * float(np.sum((self.scene.matter.get_all_particle_locations(state) - self._at(state)) ** 2))

    def depends_only_on_positions(self):
        return self.positions


# ------------------------------------------------------------------------------------------ in the state


def test_particles_are_apart_from_bodies_and_coordinates(scene):
    state, matter = scene.state(), scene.matter
    assert scene.added == range(5) and matter.get_num_particles() == 5
    assert matter.get_num_bodies() == 2 and len(state.q) == len(state.u) == 1 and len(state.z) == 0
    assert matter.calc_m(state).shape == (1, 1) and matter.calc_system_jacobian(state).shape == (12, 1)
    assert_allclose(state.y, [*state.q, *state.u, *scene.r.ravel(), *scene.v.ravel()])
    assert np.array_equal(matter.get_all_particle_masses(state), scene.m)
    assert np.array_equal(matter.get_all_particle_locations(state), scene.r)
    assert np.array_equal(matter.get_all_particle_velocities(state), scene.v)
    assert np.array_equal(matter.get_particle_location(state, 3), scene.r[3])
    assert np.array_equal(matter.get_particle_velocity(state, 3), scene.v[3])
    assert_allclose(matter.get_all_particle_accelerations(state), np.tile(G, (5, 1)), rtol=1e-15)
    assert_allclose(matter.get_particle_acceleration(state, 3), G, rtol=1e-15)
    assert "5 particles" in repr(state) and "5 particles" in str(matter)
    assert matter.add_particles(2.0, [(1, 2, 3)]) == range(5, 6)
    again = scene.state(Stage.VELOCITY)
    assert_allclose(matter.get_all_particle_masses(again), [*scene.m, 2.0])
    assert_allclose(matter.get_particle_location(again, 5), (1, 2, 3))
    assert_allclose(matter.get_particle_velocity(again, 5), (0, 0, 0))


def test_setting_and_updating_lower_the_stage_as_for_q_and_u(scene, rng):
    system, matter, state = scene.system, scene.matter, scene.state()
    r, v = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    for change, stage in [
        (lambda: matter.set_all_particle_locations(state, r), Stage.TIME),
        (lambda: matter.set_particle_location(state, 2, r[0]), Stage.TIME),
        (lambda: matter.set_all_particle_velocities(state, v), Stage.POSITION),
        (lambda: matter.set_particle_velocity(state, 4, v[1]), Stage.POSITION),
        (lambda: matter.upd_all_particle_locations(state).__setitem__((0, 1), 7.0), Stage.TIME),
        (lambda: matter.upd_particle_location(state, 1).__setitem__(2, 8.0), Stage.TIME),
        (lambda: matter.upd_all_particle_velocities(state).__setitem__((0, 1), 9.0), Stage.POSITION),
        (lambda: matter.upd_particle_velocity(state, 1).__setitem__(2, 10.0), Stage.POSITION),
        (lambda: matter.set_all_particle_masses(state, [1, 2, 3, 4, 5]), Stage.MODEL),
        (lambda: matter.upd_all_particle_masses(state).__setitem__(0, 6.0), Stage.MODEL),
    ]:
        system.realize(state)
        change()
        assert state.stage == stage
    system.realize(state)
    r[2], v[4], r[0, 1], r[1, 2], v[0, 1], v[1, 2] = r[0], v[1], 7.0, 8.0, 9.0, 10.0
    assert np.array_equal(matter.get_all_particle_locations(state), r)
    assert np.array_equal(matter.get_all_particle_velocities(state), v)
    assert_allclose(matter.get_all_particle_masses(state), [6, 2, 3, 4, 5])
    assert_allclose(matter.get_all_particle_masses(scene.state(Stage.INSTANCE)), scene.m)
    y = state.y + 1.0
    state.y = y
    system.realize(state)
    assert_allclose(matter.get_all_particle_velocities(state), v + 1.0)


def test_copies_pickles_and_modelling_choices_keep_particles(scene, rng):
    mb.mobilizer.Ball(scene.arm, mb.body.Rigid())
    state, r = scene.state(), rng.normal(size=(5, 3))
    scene.matter.set_all_particle_locations(state, r)
    scene.matter.set_all_particle_masses(state, np.arange(1.0, 6.0))
    scene.system.realize(state)
    for other in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        matter = other.system.matter
        other.system.realize(other)
        assert np.array_equal(matter.get_all_particle_locations(other), r)
        assert matter.calc_system_mass(other) == 17.0 and np.array_equal(other.y, state.y)
        matter.set_particle_location(other, 0, (9, 9, 9))
        assert np.array_equal(scene.matter.get_all_particle_locations(state), r)
    angles = scene.matter.convert_to_euler_angles(state)
    scene.system.realize(angles)
    assert np.array_equal(scene.matter.get_all_particle_locations(angles), r)
    assert np.array_equal(scene.matter.get_all_particle_velocities(angles), scene.v)


def test_bad_particles_are_refused_and_nothing_changes(scene):
    matter, state = scene.matter, scene.state(Stage.POSITION)
    for call, error, message in [
        (lambda: matter.add_particles(1.0, (1, 2, 3)), ValueError, r"shape \(n, 3\)"),
        (lambda: matter.add_particles([1.0, 2.0], [(1, 2, 3)]), ValueError, r"have shape \(1,\), got \(2,\)"),
        (lambda: matter.add_particles(0.0, [(1, 2, 3)]), mb.ModelError, r"masses\[0\] is 0"),
        (lambda: matter.add_particles([1, -2], np.zeros((2, 3))), mb.ModelError, r"masses\[1\] is -2"),
        (lambda: matter.add_particles(1.0, [(1, 2, np.nan)]), ValueError, r"locations\[0\] is \[ 1\.  2\. nan\]"),
        (lambda: matter.add_particles(np.inf, [(1, 2, 3)]), ValueError, r"masses\[0\] is inf"),
        (lambda: matter.add_particles(1.0, [(1, 2, 3)], [(1, 2)]), ValueError, r"velocities has to have shape \(1, 3\)"),
        (lambda: matter.set_all_particle_locations(state, np.zeros((4, 3))), ValueError, r"\(5, 3\), got \(4, 3\)"),
        (lambda: matter.set_particle_velocity(state, 0, (1, 2)), ValueError, r"\(3,\), got \(2,\)"),
        (lambda: matter.set_particle_location(state, 5, (1, 2, 3)), IndexError, "has 5 particles"),
        (lambda: matter.get_particle_location(state, -1), IndexError, "no number -1"),
        (lambda: matter.set_all_particle_masses(state, [1, 2, 3, 4, 0]), mb.ModelError, r"masses\[4\] is 0"),
        (lambda: matter.set_all_particle_masses(state, 1.0), ValueError, r"have shape \(5,\)"),
        (lambda: matter.get_all_particle_velocities(state), mb.StageError, "needs Stage.VELOCITY"),
        (lambda: matter.get_all_particle_accelerations(state), mb.StageError, "needs Stage.ACCELERATION"),
        (lambda: scene.system.get_particle_forces(state), mb.StageError, "needs Stage.DYNAMICS"),
        (lambda: scene.gravity.get_particle_force(state, 0), mb.StageError, "needs Stage.VELOCITY"),
    ]:
        with pytest.raises(error, match=message):
            call()
    assert state.stage == Stage.POSITION and matter.get_num_particles() == 5
    assert scene.system.system_topology_has_been_realized()
    with pytest.raises(mb.StageError, match=r"needs Stage\.POSITION"):
        matter.get_all_particle_locations(scene.state(Stage.TIME))
    matter.set_particle_location(state, 2, (0, np.nan, 0))
    with pytest.raises(mb.ModelError, match="the location of particle 2 is"):
        scene.system.realize(state)
    matter.set_particle_location(state, 2, (0, 0, 0))
    matter.upd_particle_velocity(state, 1)[0] = np.inf
    with pytest.raises(mb.ModelError, match="the velocity of particle 1 is"):
        scene.system.realize(state)
    matter.add_particles(1.0, [(0, 0, 0)])
    with pytest.raises(mb.TopologyError, match="the system was changed"):
        matter.get_all_particle_masses(state)


# ------------------------------------------------------------------------------------------ sums


def test_mass_momentum_and_energy_count_particles(scene):
    """Against a system whose particles are bodies on Translations, which have other coordinates and the same mechanics."""
    system, matter = scene.system, scene.matter
    built = Scene(np.random.default_rng(0), n=0)
    for m in scene.m:
        mb.mobilizer.Translation(built.matter.ground, mb.body.Particle(m))
    state, expected = scene.state(Stage.MODEL), built.state(Stage.MODEL)
    state.q, state.u = [0.4], [1.5]
    expected.q, expected.u = [0.4, *scene.r.ravel()], [1.5, *scene.v.ravel()]
    system.realize(state)
    built.system.realize(expected)
    for name in (
        "calc_system_mass", "calc_system_mass_center_location_in_ground", "calc_system_momentum_about_ground_origin",
        "calc_system_central_momentum", "calc_system_mass_center_velocity_in_ground",
        "calc_system_mass_center_acceleration_in_ground", "calc_kinetic_energy",
    ):  # fmt: skip
        assert_allclose(getattr(matter, name)(state), getattr(built.matter, name)(expected), rtol=1e-12, atol=1e-13)
    inertia, other = (one.calc_system_central_inertia_in_ground(s) for one, s in ((matter, state), (built.matter, expected)))
    assert_allclose(np.asarray(inertia), np.asarray(other), rtol=1e-12, atol=1e-12)
    assert_allclose(system.calc_potential_energy(state), built.system.calc_potential_energy(expected), rtol=1e-12)
    assert_allclose(system.calc_energy(state), built.system.calc_energy(expected), rtol=1e-12)
    assert_allclose(state.u_dot, expected.u_dot[:1], rtol=1e-12)


# ------------------------------------------------------------------------------------------ forces


def test_gravity_pulls_on_particles(scene):
    state = scene.state()
    weight = scene.m[:, None] * G
    F, f, mobility = scene.gravity.calc_force_contribution(state)
    assert F.shape == (2, 2, 3) and mobility.shape == (1,)
    for found in (f, scene.gravity.get_particle_forces(state), scene.system.get_particle_forces(state)):
        assert_allclose(found, weight, rtol=1e-15)
    assert_allclose(scene.gravity.get_particle_force(state, 2), weight[2], rtol=1e-15)
    second = mb.force.Gravity(scene.forces, scene.matter, (0, 0, 2.0))
    state = scene.state()
    assert_allclose(scene.system.get_particle_forces(state), scene.m[:, None] * (G + np.array([0, 0, 2.0])), rtol=1e-14)
    scene.gravity.disable(state)
    second.disable(state)
    scene.system.realize(state)
    assert not scene.system.get_particle_forces(state).any()


@pytest.mark.parametrize("positions", [False, True])
def test_forces_of_users_act_between_particles_and_bodies(scene, positions, derivative):
    springs = Springs(scene, positions=positions)
    mb.force.Custom(scene.forces, springs)
    state = scene.state(Stage.MODEL)
    state.q, state.u = [0.7], [2.0]
    scene.system.realize(state)
    f = scene.system.get_particle_forces(state) - scene.m[:, None] * G
    at = springs._at(state)
    assert_allclose(f, -3.0 * (scene.matter.get_all_particle_locations(state) - at), rtol=1e-13)
    assert_allclose(scene.matter.get_all_particle_accelerations(state), G + f / scene.m[:, None], rtol=1e-13)
    # on the pin it acts as a torque of -sum f about z at the station
    without = Scene(np.random.default_rng(0), n=0)
    alone = without.state(Stage.MODEL)
    alone.q, alone.u = state.q, state.u
    without.system.realize(alone)
    torque = np.cross(at - scene.arm.find_station_location_in_ground(state, (0, 1, 0)), -f.sum(axis=0))[2]
    assert_allclose(state.u_dot - alone.u_dot, torque / scene.matter.calc_m(state)[0], rtol=1e-10)
    calls = springs.calls
    scene.matter.set_all_particle_velocities(state, np.zeros((5, 3)))
    scene.system.realize(state)
    assert springs.calls == calls + (not positions)
    scene.matter.set_all_particle_locations(state, scene.r + 1.0)
    scene.system.realize(state)
    assert_allclose(scene.system.get_particle_forces(state) - scene.m[:, None] * G, f - 3.0, rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------------------------------ in time


def test_free_fall_is_a_parabola_at_every_report(scene):
    """A cubic in time is integrated exactly by a method of fourth order, and so it is interpolated: rounding remains."""
    trajectory = mb.simulate(scene.system, scene.state(), 2.0, accuracy=1e-9, report_interval=0.13)
    t = trajectory.time[:, None, None]
    assert trajectory.particle_locations.shape == (len(trajectory), 5, 3)
    assert_allclose(trajectory.particle_locations, scene.r + t * scene.v + 0.5 * t * t * G, rtol=1e-12, atol=1e-12)
    assert_allclose(trajectory.particle_velocities, scene.v + t * G, rtol=1e-12, atol=1e-12)
    assert trajectory.energy_drift < 1e-6
    assert "5 particles" in repr(trajectory)


def test_oscillating_particles_keep_to_the_accuracy_asked_for(rng):
    """A spring of k = m w^2 from each to the origin: r = r0 cos wt + v0/w sin wt."""

    class ToOrigin(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            matter = state.system.matter
            particle_forces -= 9.0 * matter.get_all_particle_masses(state)[:, None] * matter.get_all_particle_locations(state)

    scene = Scene(rng, bodies=False, gravity=False)
    mb.force.Custom(scene.forces, ToOrigin())
    errors = []
    for accuracy in (1e-5, 1e-8):
        trajectory = mb.simulate(scene.system, scene.state(), 3.0, accuracy=accuracy)
        t = trajectory.time[:, None, None]
        r = scene.r * np.cos(3.0 * t) + scene.v / 3.0 * np.sin(3.0 * t)
        v = -3.0 * scene.r * np.sin(3.0 * t) + scene.v * np.cos(3.0 * t)
        errors.append(max(np.abs(trajectory.particle_locations - r).max(), np.abs(trajectory.particle_velocities - v).max()))
    # local errors of the largest number, of some ten, add up over a hundred steps or so; that many times less is the claim
    assert errors[0] < 1e-2 and errors[1] < 1e-5 and errors[1] < 0.02 * errors[0]


def test_energy_of_particles_coupled_to_a_body_is_kept(scene):
    mb.force.Custom(scene.forces, Springs(scene))
    trajectory = mb.simulate(scene.system, scene.state(), 1.0, accuracy=1e-9)
    assert trajectory.energy_drift < 1e-6
    assert np.ptp(trajectory.particle_velocities, axis=0).max() > 0.1
    last = trajectory.states[-1]
    scene.system.realize(last)
    assert_allclose(scene.system.calc_energy(last), trajectory.energy[-1], rtol=1e-12)


def test_a_system_of_particles_alone_can_be_simulated_and_stepped(rng):
    scene = Scene(rng, n=200, bodies=False)
    stepper = mb.TimeStepper(scene.system, mb.integrator.RungeKuttaMerson(scene.system, accuracy=1e-6))
    stepper.initialize(scene.state(Stage.MODEL))
    stepper.step_to(0.5)
    r = scene.matter.get_all_particle_locations(stepper.state)
    assert_allclose(r, scene.r + 0.5 * scene.v + 0.125 * G, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("extension", ["npz", "csv"])
def test_a_trajectory_keeps_particles_in_files(scene, extension, tmp_path):
    trajectory = mb.simulate(scene.system, scene.state(), 0.2, report_interval=0.1)
    path = tmp_path / f"dust.{extension}"
    trajectory.save(path)
    read = mb.Trajectory.load(path, scene.system)
    assert np.array_equal(read.particle_locations, trajectory.particle_locations)
    assert np.array_equal(read.particle_velocities, trajectory.particle_velocities)
    state = read.states[1]
    scene.system.realize(state)
    assert np.array_equal(scene.matter.get_all_particle_locations(state), trajectory.particle_locations[1])
    other = Scene(np.random.default_rng(0), n=2)
    with pytest.raises(ValueError, match="has 2 particles, this trajectory 5"):
        mb.Trajectory.load(path, other.system).states  # noqa: B018


def test_plots_show_particles(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    scene = Scene(np.random.default_rng(1), n=100, bodies=False)
    trajectory = mb.simulate(scene.system, scene.state(), 0.5)
    figure = trajectory.plot(tmp_path / "dust.png", snapshots=2)
    dots = [line for axes in figure.axes for line in axes.lines if axes.name == "3d"]
    assert [len(line.get_data_3d()[0]) for line in dots] == [100, 100]
    with Image.open(tmp_path / "dust.png") as picture:
        assert picture.width > 0


# ------------------------------------------------------------------------------------------ ensembles


@pytest.mark.parametrize("with_python", [False, True])
def test_an_ensemble_moves_particles_as_states_one_by_one(scene, rng, with_python):
    if with_python:
        mb.force.Custom(scene.forces, Springs(scene, c=0.4))
    state, n = scene.state(), 11
    ensemble = mb.Ensemble(scene.system, n, state=state)
    assert np.array_equal(ensemble.particle_locations, np.tile(scene.r, (n, 1, 1)))
    r, v = rng.normal(size=(n, 5, 3)), rng.normal(size=(n, 5, 3))
    ensemble.particle_locations, ensemble.particle_velocities = r, v
    ensemble.q, ensemble.u = rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
    masses = rng.uniform(1, 2, (n, 5))
    for own in (False, True):
        if own:
            ensemble.set_each(scene.matter.set_all_particle_masses, masses)
        ensemble.realize()
        assert not ensemble.failed.any() and np.array_equal(ensemble.particle_velocities, v)
        for i in range(n):
            one = ensemble.get_state(i)
            scene.system.realize(one)
            assert np.array_equal(scene.matter.get_all_particle_masses(one), masses[i] if own else scene.m)
            a = scene.matter.get_all_particle_accelerations(one)
            assert_allclose(ensemble.particle_accelerations[i], a, rtol=1e-13)
            assert_allclose(ensemble.u_dot[i], one.u_dot, rtol=1e-11)
    with pytest.raises(ValueError, match=r"particle_locations has shape \(11, 5, 3\)"):
        ensemble.particle_locations = r[0]
    assert ensemble.stage == Stage.ACCELERATION
    r[3, 1, 0] = np.nan
    ensemble.particle_locations = r
    assert ensemble.stage == Stage.TIME
    ensemble.realize()
    assert np.flatnonzero(ensemble.failed).tolist() == [3]


# ------------------------------------------------------------------------------------------ beside other parts of a state


class Decaying(mb.Subsystem):
    """z' = -z, and a q of its own that stays."""

    def realize_topology(self, state):
        self.z = self.allocate_z(state, [2.0])
        self.q = self.allocate_q(state, [7.0])

    def realize_dynamics(self, state):
        self.upd_z_dot(state)[:] = -self.get_z(state)


def test_particles_are_at_the_end_of_y_whatever_other_subsystems_add(rng, scene):
    Decaying(scene.system, "decaying")
    state = scene.state(Stage.MODEL)
    assert_allclose(state.y, [0.0, 7.0, 0.0, 2.0, *scene.r.ravel(), *scene.v.ravel()])
    r = rng.normal(size=(5, 3))
    scene.matter.set_all_particle_locations(state, r)
    again = pickle.loads(pickle.dumps(state))
    assert np.array_equal(again.y, state.y) and np.array_equal(state.copy().y, state.y)
    trajectory = mb.simulate(scene.system, state, 1.0, accuracy=1e-9)
    t = trajectory.time
    assert_allclose(trajectory.z[:, 0], 2.0 * np.exp(-t), atol=1e-7)
    assert_allclose(trajectory.particle_locations[-1], r + scene.v + 0.5 * G, rtol=1e-11, atol=1e-11)
    state.y = trajectory.states[-1].y
    scene.system.realize(state)
    assert_allclose(scene.matter.get_all_particle_velocities(state), scene.v + G, rtol=1e-11, atol=1e-11)
    ensemble = mb.Ensemble(scene.system, 2, state=state)
    ensemble.realize()
    assert_allclose(ensemble.particle_accelerations, np.tile(G, (2, 5, 1)), rtol=1e-13)


def test_a_locked_body_leaves_particles_alone(scene):
    state = scene.state(Stage.MODEL)
    scene.arm.lock(state)
    trajectory = mb.simulate(scene.system, state, 1.0, accuracy=1e-9)
    assert np.ptp(trajectory.q) == 0.0
    assert_allclose(trajectory.particle_locations[-1], scene.r + scene.v + 0.5 * G, rtol=1e-11, atol=1e-11)


# ------------------------------------------------------------------------------------------ found by attacks


@pytest.mark.parametrize("mass", [0.0, -2.0, np.nan, np.inf])
@pytest.mark.parametrize("interpreted", [False, True])
def test_a_mass_that_cannot_be_is_found_when_the_state_is_realized(scene, mass, interpreted):
    if interpreted:
        mb.force.Custom(scene.forces, Springs(scene))
    state = scene.state()
    before = state.stage
    scene.matter.upd_all_particle_masses(state)[3] = mass
    with pytest.raises(ValueError, match=rf"masses\[3\] is {mass}"):
        scene.system.realize(state)
    assert state.stage == Stage.MODEL < before
    scene.matter.upd_all_particle_masses(state)[3] = 2.0
    scene.system.realize(state)
    assert scene.matter.get_all_particle_masses(state)[3] == 2.0


@pytest.mark.parametrize("number", [1.0, "a", None, True])
def test_a_particle_goes_by_an_integer(scene, number):
    state, matter = scene.state(), scene.matter
    for call in (
        lambda: matter.get_particle_location(state, number),
        lambda: matter.get_particle_velocity(state, number),
        lambda: matter.get_particle_acceleration(state, number),
        lambda: matter.upd_particle_location(state, number),
        lambda: matter.set_particle_velocity(state, number, (0, 0, 0)),
        lambda: scene.gravity.get_particle_force(state, number),
    ):
        with pytest.raises(TypeError, match=r"one of the particles of .* has to be an integer, not"):
            call()
    assert state.stage == Stage.ACCELERATION


def test_no_particles_are_some_and_what_is_no_number_is_named(scene):
    matter, state = scene.matter, scene.state()
    for call, message in [
        (lambda: matter.add_particles(1.0, "abc"), "locations has to be real numbers, got 'abc'"),
        (lambda: matter.add_particles("a", [(1, 2, 3)]), "masses has to be real numbers, got 'a'"),
        (lambda: matter.add_particles(1.0, [(1, 2, 3)], [("a", 2, 3)]), "velocities has to be real numbers"),
        (lambda: matter.set_all_particle_locations(state, "abc"), "r has to be real numbers, got 'abc'"),
        (lambda: matter.set_all_particle_masses(state, ["a"] * 5), "masses has to be real numbers"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match=r"locations has to be real numbers, got .* with rows of different lengths"):
        matter.add_particles(1.0, [(1, 2, 3), (4, 5)])
    assert state.stage == Stage.ACCELERATION and matter.get_num_particles() == 5
    assert matter.add_particles([], []) == matter.add_particles(1.0, []) == range(5, 5)


def test_an_implicit_method_says_that_particles_are_too_many(rng):
    scene = Scene(rng, n=20_000)
    bdf = mb.integrator.BDF(scene.system)
    stepper = mb.TimeStepper(scene.system, bdf)
    with pytest.raises(mb.ModelError, match=r"120002, 120000 of them of 20000 particles, .* Take RungeKuttaMerson"):
        stepper.initialize(scene.state(Stage.MODEL))


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan])
def test_a_mass_that_cannot_be_is_found_by_an_ensemble_too(scene, mass):
    state = scene.state()
    ensemble = mb.Ensemble(scene.system, 3, state=state)

    def write(one, value):
        scene.matter.upd_all_particle_masses(one)[0] = value

    with pytest.raises(ValueError, match=r"masses\[0\] is"):
        ensemble.set_each(write, [1.0, mass, 1.0])
    write(state, mass)
    with pytest.raises(ValueError, match=r"masses\[0\] is"):
        mb.Ensemble(scene.system, 3, state=state)
