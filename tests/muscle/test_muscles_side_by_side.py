"""Muscles of one state act eight at a time: with what each does alone, and with what lanes of states, of another source, do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.algebra.beside import RowsBeside, add_scaled_row, eight_rows_at, lanes_scratch, put_beside, row_beside
from mobod.algebra.scalar import load_lane, store_lane
from mobod.compiling import compiled

M, T = mb.muscle, mb.force.transmission
OTHERS = M.Thelen2003, M.DeGrooteFregly2016, M.RigidTendon, M.Schutte1993


def random_muscles(rng, number):
    """Arms with muscles of all forms in random order, and a state with some of them off."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mass = mb.MassProperties(1.0, (0, -0.2, 0), mb.UnitInertia(0.1, 0.1, 0.1))
    bodies, place = [matter.ground], mb.Transform(p=(0, -0.4, 0))
    for kind in (mb.mobilizer.Pin, mb.mobilizer.Ball, mb.mobilizer.Pin):
        bodies.append(kind(bodies[-1], mb.body.Rigid(mass), X_PF=place))
    turn = bodies[1], 0

    def path(exact):
        n, points = int(rng.integers(2, 6)), []
        if rng.random() < 0.15:
            return T.FunctionBasedPath(forces, mb.function.Linear([0.02, 0.03, 0.25]), [(bodies[1], 0), (bodies[3], 0)])
        for k in np.sort(rng.integers(0, 4, n)):
            body, station = bodies[k], rng.uniform(-0.1, 0.1, 3) - (0, 0.1, 0)
            which = rng.random()
            if which < 0.1 and points:
                points.append(T.ConditionalPoint(body, station, *turn, -0.2, 0.3))
            elif which < 0.2 and points:
                exact.append(bool(rng.random() < 0.5))
                functions = [mb.function.Linear([slope, at]) for slope, at in zip((0.02, 0.01, -0.01), station, strict=True)]
                points.append(T.MovingPoint(body, functions, [turn] * 3, as_opensim=not exact[-1]))
            else:
                points.append((body, station))
        points += [(bodies[3], (0.05, -0.3, 0.0))] if not isinstance(points[-1], tuple) else []
        wraps, n = [], len(points)
        if rng.random() < 0.6:  # of some ten forms
            side, second = str(rng.choice(["all", "-x", "+y"])), rng.random()
            last = n - 1 if rng.random() < 0.8 else n - 2
            wraps = [T.PathWrap(T.WrapCylinder(body=bodies[2], radius=0.05, length=1.0, quadrant=side), first=0, last=last)]
            if second < 0.4:
                frame = mb.Transform(p=rng.uniform(-0.05, 0.05, 3))
                kind = (T.WrapSphere, T.WrapCylinder)[int(second < 0.2)]
                wraps.append(
                    T.PathWrap(kind(body=bodies[1], frame=frame, radius=0.04, **{"length": 1.0} if second < 0.2 else {}))
                )
            elif second < 0.5:
                wraps.append(T.PathWrap(T.WrapEllipsoid(body=bodies[1], dimensions=(0.03, 0.04, 0.05))))
            exact.append(len(wraps) == 1)
        return T.Path(forces, points, wraps, ratio=float(rng.choice([1.0, -0.7])) if wraps else 1.0)

    muscles = []
    for _ in range(number):
        exact = [True]
        own = {"max_isometric_force": rng.uniform(50, 200), "optimal_fiber_length": rng.uniform(0.1, 0.3)}
        own |= {"tendon_slack_length": rng.uniform(0.1, 0.3), "default_excitation": rng.random(), "default_activation": 0.3}
        own["pennation_angle_at_optimal"] = rng.uniform(0, 0.4)
        kind = M.Millard2012Equilibrium if rng.random() < 0.6 else rng.choice(OTHERS)
        if kind is M.Millard2012Equilibrium:
            own["fiber_damping"] = float(rng.choice([0.0, 0.1]))
        if kind is M.RigidTendon:
            del own["default_activation"]
        elif kind in (M.Millard2012Equilibrium, M.DeGrooteFregly2016):
            own["ignore_tendon_compliance"] = kind is M.DeGrooteFregly2016 or bool(rng.random() < 0.5)
            own["ignore_activation_dynamics"] = bool(rng.random() < 0.2)
        muscle = kind(forces, path(exact), **own)
        muscles.append((muscle, all(exact)))
        if rng.random() < 0.2:
            muscle.set_excitation_function(mb.function.Linear([0.5, 0.1]))
    state = system.realize_topology()
    state.time, state.q, state.u = 0.3, rng.normal(0.0, 0.3, len(state.q)), rng.normal(0.0, 0.5, len(state.u))
    for muscle, _ in muscles:
        system.realize(state, mb.Stage.POSITION)
        try:
            muscle.equilibrate(state)
        except mb.ConvergenceError:
            muscle.disable(state)
        system.realize(state, mb.Stage.VELOCITY)
        if rng.random() < 0.15 or not muscle.get_tendon_force(state) < 1e4:  # of exponential curves far beyond their range
            muscle.disable(state)
    state.z = state.z_values * rng.uniform(0.99, 1.01, len(state.z_values))
    system.realize(state)
    assert number < 5 or sum(not muscle.is_disabled(state) for muscle, _ in muscles) > number // 3
    return system, state, muscles


@pytest.mark.parametrize("number", [1, 5, 8, 9, 47, 160])
def test_muscles_of_all_forms_do_side_by_side_what_they_do_alone(number):
    rng = np.random.default_rng(20291130 + number)
    system, state, muscles = random_muscles(rng, number)
    own = [muscle.calc_force_contribution(state) for muscle, _ in muscles]
    on_bodies, on_mobilities = sum(one[0] for one in own), sum(one[2] for one in own)
    size = max(1.0, max(np.abs(one[0]).max() for one in own))
    assert_allclose(system.get_rigid_body_forces(state), on_bodies, rtol=0.0, atol=1e-12 * size)
    assert_allclose(system.get_mobility_forces(state), on_mobilities, rtol=0.0, atol=1e-12 * size)
    ensemble = mb.Ensemble(system, 3, state=state, threads=1)
    ensemble.realize()
    assert_allclose(ensemble.u_dot[1], state.u_dot, rtol=1e-9, atol=1e-9)
    assert_allclose(ensemble.z_dot[1], state.z_dot, rtol=1e-9, atol=1e-9)
    for (muscle, exact), forces in zip(muscles, own, strict=True):
        if exact and not muscle.is_disabled(state):
            power = float((forces[0] * state.V_GB).sum() + forces[2] @ state.u)
            tension, speed = muscle.get_tendon_force(state), muscle.get_lengthening_speed(state)
            assert_allclose(power, -tension * speed, rtol=1e-9, atol=1e-9 * size)


def test_a_path_of_very_many_points_acts_as_one_of_few():
    """It is left to the routine that takes muscles one by one."""
    found = []
    for between in (0, 80):
        system, state = mb.examples.double_pendulum.build()
        ends = (system.matter.ground, (0.2, 0.1, 0)), (system.matter.bodies["lower"], (0.2, -0.5, 0))
        middle = [(system.matter.ground, (0.2, 0.1 + 0.01 * k, 0)) for k in range(between)]
        path = T.Path(system.forces, [*middle[:0:-1], *ends])
        M.Millard2012Equilibrium(
            system.forces, path, 100.0, 0.3, 0.5 + 0.01 * max(between - 1, 0), ignore_tendon_compliance=True
        )
        state = system.realize_topology()
        state.q, state.u = (0.3, 0.4), (1.0, -0.5)
        system.realize(state)
        found.append(np.array([*state.u_dot, *state.z_dot]))
    assert_allclose(found[1], found[0], rtol=1e-9)


def test_rows_of_eight_elements_in_python():
    rows = np.arange(80.0)[:, None]
    first = np.array([0, 8, 3, 5, 40, 1, 2, 9])
    beside = RowsBeside(rows, first)
    assert (beside.load(2, 0) == first + 2).all()
    assert (eight_rows_at(beside, 1, 8.0 * np.ones(8))[3] == first + 12).all()
    assert eight_rows_at(rows, 1, 8.0)[0] == 9.0
    block = np.zeros((2, 8))
    put_beside(block, 1, first)
    assert (row_beside(block, 1) == first).all()
    add_scaled_row(block[:, :6], 1, 2.0, rows.reshape(8, 10), 3, 4)
    assert (block[1] == first + 2.0 * np.array([34, 35, 36, 37, 38, 39, 0, 0])).all()


@compiled
def fill_stack(value, row):
    """Leave a value wherever kernels that are called next put their rows."""
    rows = lanes_scratch(2048)
    for k in range(2048):
        for lane in range(8):
            store_lane(rows, k, 0, lane, value)
    return load_lane(rows, row, 0, 3)


@pytest.mark.parametrize("number", [1, 2])  # alone, and as lanes
@pytest.mark.parametrize("surfaces", [1, 2])
def test_what_memory_holds_of_surfaces_that_no_path_touches_is_not_read(surfaces, number):
    """Places of points of touch that there are not, times no pull: NaN of the stack was a moment in a model of the shoulder."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    weight = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    slider = mb.mobilizer.Slider(matter.ground, weight)
    for _ in range(number):
        frames = [mb.Transform(p=(0, 1.0 + k, 0)) for k in range(surfaces)]
        wraps = [T.PathWrap(T.WrapSphere(body=slider, frame=frame, radius=0.1)) for frame in frames]
        path = T.Path(forces, [(matter.ground, (0, 0, 0)), (slider, (0, 0, 0))], wraps)
        M.Thelen2003(forces, path, 100.0, 0.1, 0.2, default_activation=0.5, default_fiber_length=0.1)
    state = system.realize_topology()
    state.q = [0.31]
    system.realize(state)
    wanted = system.get_rigid_body_forces(state).copy()
    assert np.abs(wanted).max() > 10.0
    state.record.function_value[:] = np.nan
    state.u = [0.0]
    fill_stack(np.nan, 7)
    system.realize(state)
    assert_allclose(system.get_rigid_body_forces(state), wanted, rtol=1e-14)
