"""Contact without a search: `SmoothSphereHalfSpace` and `ExponentialSpring`.

The first is compared with Simbody 3.7 in tests/reference/test_contact.py. Simbody 3.7 has no exponential spring: it is compared
with the documented formulas, written here in NumPy, with closed forms of rest and sliding, and with its balance of energy.
"""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

F = mb.force
G = 9.81


def block(model_of, angle=0.0, mass=1.0):
    """A mass that translates, in a gravity that is turned by an angle, so that the plane z = 0 is a slope down x."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    F.Gravity(forces, matter, (G * np.sin(angle), 0.0, -G * np.cos(angle)))
    body = mb.mobilizer.Translation(
        matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    )
    return system, body, model_of(forces, body)


# ------------------------------------------------------------------------------------------ the smooth sphere


def test_a_material_is_set_and_read_as_a_whole():
    rubber, ice = mb.contact.Material(1e6, 0.5, 0.9, 0.8, 0.1), mb.contact.Material(2e6, 0.1, 0.05)
    system, body, contact = block(lambda f, b: F.SmoothSphereHalfSpace(f, b, (0, 0, 0), 0.1, 0, mb.Transform(), rubber))
    assert contact.get_default_material() == rubber and contact.get_body_sphere() is body
    assert contact.get_body_half_space() is system.matter.ground
    state = system.realize_topology()
    contact.set_material(state, ice)
    assert contact.get_material(state) == ice and contact.get_default_material() == rubber
    assert contact.get_static_friction(state) == 0.05 and contact.get_dynamic_friction(state) == 0.05
    assert contact.set_default_material(ice) is contact and contact.get_default_material() == ice
    with pytest.raises(mb.ModelError, match=r"dynamic_friction of .* to its static_friction, which is 0\.05"):
        contact.set_default_dynamic_friction(0.3)
    with pytest.raises(TypeError, match=r"has to be a mobod\.contact\.Material"):
        contact.set_default_material(1e6)
    with pytest.raises(TypeError, match=r"material of 'it' has to be a mobod\.contact\.Material"):
        block(lambda f, b: F.SmoothSphereHalfSpace(f, b, (0, 0, 0), 0.1, 0, mb.Transform(), 1e6, name="it"))


def test_the_smooth_force_is_hertz_where_the_smoothing_ends():
    """At depths of 30/b_d the step is 1; of two equal materials the reference makes E / sqrt(8) where Hertz has E/2."""
    E, R, x = 1e6, 0.3, 0.05
    material = mb.contact.Material(E)
    system, body, contact = block(
        lambda f, b: F.SmoothSphereHalfSpace(
            f, b, (0, 0, 0), R, 0, mb.Transform(), material, constant_contact_force=1e-12, hertz_smoothing=600.0
        )
    )
    state = system.realize_topology()
    body.set_translation(state, (0, 0, R - x))
    system.realize(state)
    force = contact.calc_force_contribution(state)[0][1, 1]
    expected = 4 / 3 * E / np.sqrt(8) * np.sqrt(R) * x**1.5
    assert force == pytest.approx((0, 0, expected), rel=1e-9)
    assert contact.calc_potential_energy_contribution(state) == pytest.approx(0.4 * expected * x, rel=1e-9)


def test_far_apart_the_smooth_force_is_zero_and_finite_and_so_are_its_tangents():
    """No exponent overflows, however far apart or fast."""
    from mobod.state import validity
    from mobod.tree import realize

    wanted = validity.POSITIONS | validity.VELOCITIES | validity.FORCES
    system, body, contact = block(
        lambda f, b: F.SmoothSphereHalfSpace(f, b, (0, 0, 0), 0.1, 0, mb.Transform(), mb.contact.Material(1e6, 0.5, 0.3))
    )
    state = system.realize_topology()
    for z, v in ((1e3, 0.0), (0.09, 1e3), (-1e2, -1e3), (0.1, 0.0)):
        body.set_translation(state, (0, 0, z))
        state.u = (0, 0, v)
        system.realize(state)
        record = state.tree.new_record(with_tangents=True)
        for name in ("q", "u"):
            getattr(record, name)[:, 0] = getattr(state, name)
            getattr(record, name).tangents[:, 0, 0] = 1.0
        assert realize.realize(record, realize.advance.address(with_tangents=True), 0, wanted) == realize.DONE
        assert np.isfinite(record.body_forces.tangents).all() and np.isfinite(system.get_rigid_body_forces(state)).all()
        if z == 1e3:
            assert not contact.calc_force_contribution(state)[0].any()


# ------------------------------------------------------------------------------------------ the exponential spring


def documented(spring, state, p, v, e, s):
    """Normal force and friction of a point at p, in the plane's frame, as Simbody 3.8's documentation has them."""
    d0, d1, d2 = spring.get_shape_parameters(state)
    elastic = d1 * np.exp(-d2 * (p[2] - d0))
    normal = min(max(elastic * (1.0 - spring.get_normal_viscosity(state) * v[2]), 0.0), spring.get_max_normal_force(state))
    mu_s, mu_k = spring.get_static_friction(state), spring.get_kinetic_friction(state)
    limit = (mu_s - s * (mu_s - mu_k)) * normal
    k, c = spring.get_friction_elasticity(state), spring.get_friction_viscosity(state)
    damp = -c * v[:2]
    if np.linalg.norm(damp) > limit:
        damp *= limit / np.linalg.norm(damp)
    elas_spring, damp_spring = k * e, -c * v[:2]
    size = np.linalg.norm(elas_spring + damp_spring)
    if size > limit:
        elas_spring, damp_spring = elas_spring * limit / size, damp_spring * limit / size
    elas, damped = elas_spring * (1 - s), damp_spring + (damp - damp_spring) * s
    return elastic, normal, limit, elas, damped


def test_the_parts_of_an_exponential_spring_are_those_that_are_documented(make, close):
    model = make.tree(2, [mb.mobilizer.Free])
    body, X_GP, station = model.bodies[1], make.frame(), make.vector()
    spring = F.ExponentialSpring(
        model.forces, X_GP, body, station, shape_parameters=(0.1, 5.0, 2.0), max_normal_force=20.0, normal_viscosity=0.6,
        friction_elasticity=30.0, friction_viscosity=4.0,
    )  # fmt: skip
    state = model.made().state
    assert spring.get_body() is body and spring.num_z == 3
    for _ in range(20):
        state = model.randomize()
        e, s = make.rng.uniform(-0.3, 0.3, 2), float(make.rng.uniform())
        state.z = [*e, s]
        model.system.realize(state)
        at = body.find_station_location_in_ground(state, station)
        p, v = ~X_GP @ at, ~X_GP.R @ body.find_station_velocity_in_ground(state, station)
        elastic, normal, limit, elas, damp = documented(spring, state, p, v, e, s)
        close(spring.get_station_position(state), at, 1e-13)
        close(spring.get_station_position(state, in_ground=False), p, 1e-13)
        close(spring.get_station_velocity(state, in_ground=False), v, 1e-13)
        close(spring.get_anchor_point_position(state, in_ground=False), (p[0] + e[0], p[1] + e[1], 0.0), 1e-13)
        close(spring.get_normal_force(state, in_ground=False), (0, 0, normal), 1e-12)
        parts = [spring.get_normal_force_elastic_part(state), spring.get_normal_force_damping_part(state)]
        close(sum(parts), spring.get_normal_force(state), 1e-12, 1.0 + elastic)
        assert spring.get_friction_force_limit(state) == pytest.approx(limit, rel=1e-12)
        close(spring.get_friction_force_elastic_part(state, in_ground=False), (*elas, 0.0), 1e-12)
        close(spring.get_friction_force_damping_part(state, in_ground=False), (*damp, 0.0), 1e-12)
        close(spring.get_friction_force(state, in_ground=False), (*(elas + damp), 0.0), 1e-12)
        assert spring.get_sliding(state) == s
        force = X_GP.R @ np.array([*(elas + damp), normal])
        close(spring.get_force(state), force, 1e-12)
        F_B = spring.calc_force_contribution(state)[0]
        arm = at - np.asarray(body.get_body_transform(state))[:3, 3]
        close(F_B[1], [np.cross(arm, force), force], 1e-12)
        close(F_B[0], [-np.cross(at, force), -force], 1e-12)


def foot(angle, **settings):
    return block(lambda forces, body: F.ExponentialSpring(forces, mb.Transform(), body, (0, 0, 0), **settings), angle)


def rest_height(spring, load):
    d0, d1, d2 = spring.get_default_shape_parameters()
    return d0 - np.log(load / d1) / d2


def test_it_stands_on_a_slope_below_static_friction_and_does_not_creep():
    """tan(30 deg) = 0.577 < 0.7. At rest the spring is stretched by m g sin / k, and nothing moves any more."""
    angle = np.pi / 6
    system, body, spring = foot(angle)
    state = system.realize_topology()
    body.set_translation(state, (0, 0, rest_height(spring, G * np.cos(angle))))
    later = mb.simulate(system, state, 3.0, accuracy=1e-6).states[-1]
    much_later = mb.simulate(system, later, 50.0, accuracy=1e-6).states[-1]
    expected = [G * np.sin(angle) / 20_000.0, 0.0, rest_height(spring, G * np.cos(angle))]
    assert body.get_translation(much_later) == pytest.approx(expected, abs=2e-8)  # of the integrator's accuracy
    assert np.abs(body.get_translation(much_later) - body.get_translation(later)).max() < 1e-8
    system.realize(much_later)
    assert spring.get_sliding(much_later) < 1e-6 and spring.get_mu(much_later) == pytest.approx(0.7, abs=1e-6)
    assert spring.get_anchor_point_position(much_later) == pytest.approx((0, 0, 0), abs=1e-8)


def test_it_slides_above_static_friction_with_kinetic_friction():
    """tan(40 deg) = 0.839 > 0.7: after the onset the acceleration is g (sin - 0.5 cos)."""
    angle = np.radians(40)
    system, body, spring = foot(angle)
    state = system.realize_topology()
    body.set_translation(state, (0, 0, rest_height(spring, G * np.cos(angle))))
    motion = mb.simulate(system, state, 1.0, accuracy=1e-6, report_interval=0.5)
    half, end = motion.states[1], motion.states[2]
    expected = G * (np.sin(angle) - 0.5 * np.cos(angle))
    assert (end.u[0] - half.u[0]) / 0.5 == pytest.approx(expected, rel=1e-4)
    assert spring.get_sliding(end) == pytest.approx(1.0, abs=1e-6)


def test_what_slides_on_the_level_comes_to_rest_by_its_kinetic_friction():
    """After v^2 / (2 mu_k g), to about the distance in which it settles: 0.01 m/s for some milliseconds, and its onset."""
    system, body, spring = foot(0.0)
    state = system.realize_topology()
    body.set_translation(state, (0, 0, rest_height(spring, G)))
    state.u = (0.6, 0.8, 0.0)
    end = mb.simulate(system, state, 1.0, accuracy=1e-6).states[-1]
    travelled = body.get_translation(end)
    assert np.hypot(*travelled[:2]) == pytest.approx(1.0 / (2 * 0.5 * G), abs=2e-3)
    assert travelled[1] / travelled[0] == pytest.approx(0.8 / 0.6, rel=1e-6)
    assert np.abs(end.u).max() < 1e-6 and spring.get_sliding(end) < 1e-3


class Lost(mb.measure.CustomImplementation):
    """The power that an element dissipates."""

    def __init__(self, element):
        self.element = element

    def get_depends_on_stage(self, deriv_order):
        return Stage.VELOCITY

    def calc_cached_value(self, state, deriv_order):
        return self.element.calc_power_dissipation(state)


def test_energy_balances_over_a_fall_that_yields_and_slides():
    """Energy and what it has dissipated, integrated by a measure, are constant; the limit of the force acts on the way."""
    system, body, spring = foot(0.0, max_normal_force=60.0)
    rate = mb.measure.Custom(system.matter, Lost(spring))
    lost = mb.measure.Integrate(system.matter, rate, mb.measure.Constant(system.matter, 0.0))
    state = system.realize_topology()
    body.set_translation(state, (0, 0, 0.05))
    state.u = (0.5, 0.0, -0.5)
    motion = mb.simulate(system, state, 0.5, accuracy=1e-8, report_interval=0.05)
    total, heights, powers = [], [], []
    for one in motion.states:
        system.realize(one)
        total.append(system.calc_energy(one) + lost.get_value(one))
        heights.append(spring.get_station_position(one)[2])
        powers.append(spring.calc_power_dissipation(one))
    assert np.ptp(total) < 2e-6 * abs(total[0]) and min(powers) >= 0.0
    assert min(heights) < rest_height(spring, 60.0), "it never yielded"


def test_sliding_and_anchor_can_be_set():
    system, _, spring = foot(0.0)
    state = system.realize_topology()
    spring.set_sliding(state, 0.25)
    state.upd_z()[:2] = (0.1, 0.2)
    assert spring.get_sliding(state) == 0.25 and spring.get_mu(state) == pytest.approx(0.65)
    system.realize(state, Stage.POSITION)
    assert spring.get_anchor_point_position(state) == pytest.approx((0.1, 0.2, 0.0))
    spring.reset_anchor_point(state)
    assert spring.get_anchor_point_position(state) == pytest.approx((0.0, 0.0, 0.0)) and spring.get_sliding(state) == 0.25
    with pytest.raises(mb.ModelError, match=r"sliding of .* has to be from 0 to 1"):
        spring.set_sliding(state, 1.5)
    system.realize(state, Stage.POSITION)
    with pytest.raises(mb.StageError, match="get_friction_force"):
        spring.get_friction_force(state)
