"""Tyres: the Magic Formula by formulas written out again, brushes in closed form, relaxation, a car in a curve, and files."""

import numpy as np
import pytest

import mobod as mb
from mobod import ModelError

TYRE = dict(mb.examples.car.TYRE)


def rolling(make, speed=10.0, steer=0.0, camber=0.0, lift=-0.02, spin=None, road=None, state_of_slip=(0.0, 0.0)):
    """A wheel on a carriage that goes ahead at a given speed, turned by *steer*, with a *camber*; state at VELOCITY."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    bar = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    cart = mb.mobilizer.Slider(matter.ground, bar, name="cart")
    mb.motion.Steady(cart, speed)
    turn = mb.Rotation.about_axis(steer, "z") @ mb.Rotation.about_axis(camber, "x")
    about_y = mb.Rotation.about_axis(-0.5 * np.pi, "x")
    rim = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(0.05, 0.1, 0.05)))
    at = mb.Transform(turn @ about_y, (0.0, 0.0, 0.313 + lift))
    wheel = mb.mobilizer.Pin(cart, rim, X_PF=at, X_BM=mb.Transform(about_y), name="wheel")
    tyre = make(forces, wheel, road=road)
    state = system.realize_topology()
    state.u = (speed, speed / 0.313 if spin is None else spin)
    state.z = state_of_slip
    system.realize(state, mb.Stage.VELOCITY)
    return system, state, tyre


def magic(forces, wheel, **settings):
    return mb.force.MagicFormulaTyre(forces, wheel, TYRE, **settings)


def brush(forces, wheel, **settings):
    own = {"longitudinal_stiffness": 8e4, "cornering_stiffness": 6e4, "friction": 0.9, "half_length": 0.07}
    return mb.force.BrushTyre(forces, wheel, 0.313, 2e5, 100.0, **own, **settings)


def formula(t, Fz, kappa, tangent, gamma):
    """F_x, F_y and M_z of Pacejka 2012, 4.E9 to 4.E78, of coefficients by name; those that TYRE has not are zero."""
    c = (
        dict.fromkeys(
            "PEX2 PKX2 PHX1 PVX1 PEY3 PEY4 PKY3 PHY1 PVY1 REX1 RHX1 REY1 RHY1 RVY1 QBZ9 QDZ3 QDZ4 QDZ6 QHZ1".split(), 0.0
        )
        | t
    )
    df = Fz / c["FNOMIN"] - 1.0
    s = np.sin(gamma)

    def sine(B, C, D, E, x):
        return D * np.sin(C * np.arctan(B * x - E * (B * x - np.arctan(B * x))))

    mux = c["PDX1"] + c["PDX2"] * df
    Kx = Fz * c["PKX1"] * np.exp(c["PKX3"] * df)
    Fx0 = sine(Kx / (c["PCX1"] * mux * Fz), c["PCX1"], mux * Fz, c["PEX1"], kappa)
    muy = c["PDY1"] + c["PDY2"] * df
    Ky = c["PKY1"] * c["FNOMIN"] * np.sin(2.0 * np.arctan(Fz / (c["PKY2"] * c["FNOMIN"])))
    SVg = Fz * c["PVY3"] * s
    SH = (Fz * c["PKY6"] * s - SVg) / Ky
    Ey = c["PEY1"] + c["PEY2"] * df
    By = Ky / (c["PCY1"] * muy * Fz)
    Fy0 = sine(By, c["PCY1"], muy * Fz, Ey, tangent + SH) + SVg
    Gx = np.cos(c["RCX1"] * np.arctan(c["RBX1"] * np.cos(np.arctan(c["RBX2"] * kappa)) * tangent))
    Gy = np.cos(c["RCY1"] * np.arctan(c["RBY1"] * np.cos(np.arctan(c["RBY2"] * tangent)) * kappa))
    Fx, Fy = Gx * Fx0, Gy * Fy0
    together = np.arctan(np.sqrt(np.tan(np.arctan(tangent)) ** 2 + (Kx / Ky * kappa) ** 2)) * (-1.0 if tangent < 0.0 else 1.0)
    together = np.tan(together)
    B, D = c["QBZ1"] + c["QBZ2"] * df, Fz * 0.313 / c["FNOMIN"] * c["QDZ1"]
    trail = D * np.cos(c["QCZ1"] * np.arctan(B * together - c["QEZ1"] * (B * together - np.arctan(B * together))))
    return Fx, Fy, -trail * np.cos(np.arctan(tangent)) * Fy


def relaxation(t, Fz):
    df = Fz / t["FNOMIN"] - 1.0
    Kx = Fz * t["PKX1"] * np.exp(t["PKX3"] * df)
    Ky = -t["PKY1"] * t["FNOMIN"] * np.sin(2.0 * np.arctan(Fz / (t["PKY2"] * t["FNOMIN"])))
    return Kx / t["LONGITUDINAL_STIFFNESS"], Ky / t["LATERAL_STIFFNESS"]


@pytest.mark.parametrize("camber", [0.0, 0.05, -0.08])
@pytest.mark.parametrize(("kappa", "angle"), [(0.02, 0.0), (-0.1, 0.0), (0.0, 0.03), (0.0, -0.2), (0.05, 0.06), (-0.3, -0.1)])
def test_forces_are_those_of_the_formula(kappa, angle, camber):
    """Deflections of the patch are set to what the slips have in steady motion, less what the delay adds."""
    lift = -0.025
    system, state, tyre = rolling(magic, camber=camber, lift=lift)
    Fz = tyre.calc_forces(state)[0, 2]
    deflection = 0.313 - (0.313 + lift) / np.cos(camber)
    assert Fz == pytest.approx(2e5 * deflection, rel=1e-9)
    Lx, Ly = relaxation(TYRE, Fz)
    delay = 0.01 / (1.0 + 100.0)
    ratio = deflection * 2e5 / 4000.0
    effective = 0.313 - 4000.0 / 2e5 * (0.24 * np.arctan(8.0 * ratio) + 0.01 * ratio)
    slip = 10.0 - state.u[1] * effective
    state.z = (kappa * Lx + delay * slip, np.tan(angle) * Ly)
    system.realize(state, mb.Stage.VELOCITY)
    found = tyre.calc_forces(state)
    # the ISO axes: camber is about the wheel's x, and sin(gamma) = a . n
    Fx, Fy, Mz = formula(TYRE, Fz, kappa, np.tan(angle), camber)
    np.testing.assert_allclose(found[0], (Fx, Fy, Fz), rtol=1e-7, atol=1e-6)
    assert found[1, 2] == pytest.approx(Mz, rel=1e-6, abs=1e-6)
    assert found[1, 1] == pytest.approx(-0.313 * Fz * 0.01, rel=1e-3)


@pytest.mark.parametrize(("kappa", "angle"), [(0.01, 0.0), (0.0, -0.05), (0.03, 0.04), (-0.5, 0.3), (0.0, 0.6), (0.0, 0.0)])
def test_brushes_are_their_closed_form(kappa, angle):
    system, state, tyre = rolling(brush)
    Fz, a = 0.02 * 2e5, 0.07
    slip = 10.0 - state.u[1] * (0.313 - 0.02 / 3.0)
    state.z = (kappa * a + 0.01 / 101.0 * slip, np.tan(angle) * a)
    system.realize(state, mb.Stage.VELOCITY)
    sx, sy = 8e4 * kappa / (1.0 + kappa), 6e4 * np.tan(angle) / (1.0 + kappa)
    size = np.hypot(sx, sy)
    t = min(1.0, size / (3.0 * 0.9 * Fz))
    F = 0.9 * Fz * (3.0 * t - 3.0 * t**2 + t**3)
    unit = np.array((sx, -sy)) / max(size, 1e-30)
    found = tyre.calc_forces(state)
    np.testing.assert_allclose(found[0], (*(F * unit), Fz), rtol=1e-9, atol=1e-7)
    assert found[1, 2] == pytest.approx(-0.9 * Fz * a * t * (1.0 - t) ** 3 * unit[1], abs=1e-7)


@pytest.mark.parametrize("make", [magic, brush], ids=["magic formula", "brush"])
def test_side_force_grows_with_the_way_rolled(make):
    """A wheel that is turned by a small angle: 1 - exp(-x / L), with the relaxation length L."""
    angle, speed = 0.01, 10.0
    system, state, tyre = rolling(make, speed, steer=angle)
    Fz = tyre.calc_forces(state)[0, 2]
    L = relaxation(TYRE, Fz)[1] if make is magic else 0.07
    side = {"Fy": lambda s: tyre.calc_forces(s)[0, 1]}
    run = mb.simulate(system, state, 8.0 * L / speed, report_interval=L / speed, accuracy=1e-8, record=side)
    Fy = run.quantities["Fy"]
    steady = formula(TYRE, Fz, 0.0, np.tan(-angle), 0.0)[1] if make is magic else 6e4 * angle
    # the delay of slip velocities, 1e-4 s; the brush bends its line by a tenth
    np.testing.assert_allclose(Fy[1:] / Fy[-1], 1.0 - np.exp(-np.arange(1, 9)), atol=0.02)
    assert Fy[-1] == pytest.approx(steady, rel=0.02 if make is magic else 0.06)


def test_a_wheel_stands_on_a_slope_and_rolls_onto_a_height_field():
    """On ground of an even slope all is as on a plane that is turned; and off the ground there is no force."""
    slope = 0.1
    x = np.linspace(-5.0, 5.0, 6)
    field = mb.contact.HeightField(x, x, slope * np.outer(x, np.ones(6)))
    _, state, tyre = rolling(magic, 0.0, lift=-0.02, spin=0.0, road=field)
    n = np.array((-slope, 0.0, 1.0)) / np.hypot(slope, 1.0)
    depth = 0.313 - (0.313 - 0.02) * n[2]
    found = tyre.calc_forces(state)[0]
    assert found[2] == pytest.approx(2e5 * depth, rel=1e-6)
    contact = tyre.calc_contact_point(state)
    np.testing.assert_allclose(contact, np.array((0.0, 0.0, 0.293)) - 0.293 * n[2] * n, atol=1e-9)
    tilted = mb.Transform(mb.Rotation.about_axis(-np.arctan(slope), "y"))

    def on_a_plane(forces, wheel, road=None):
        return magic(forces, wheel, road_frame=tilted)

    _, other, same = rolling(on_a_plane, 0.0, lift=-0.02, spin=0.0)
    np.testing.assert_allclose(same.calc_forces(other), tyre.calc_forces(state), atol=1e-6)
    _, high, off = rolling(magic, lift=0.01, state_of_slip=(0.01, 0.02))
    assert not off.calc_forces(high).any()


def test_lanes_and_derivatives_are_those_of_one_state():
    seed = 4711
    print("seed", seed)
    rng = np.random.default_rng(seed)
    system, state, _ = rolling(magic, 5.0, steer=0.02)
    ensemble = mb.Ensemble(system, 9)
    states = []
    for _ in range(9):
        one = state.copy()
        one.u = (5.0, rng.uniform(-5.0, 30.0))
        one.z = rng.normal(size=2) * 0.03
        system.realize(one, mb.Stage.ACCELERATION)
        states.append(one)
    ensemble.q, ensemble.u, ensemble.z = (np.array([getattr(one, what) for one in states]) for what in ("q", "u", "z"))
    ensemble.realize(mb.Stage.ACCELERATION)
    np.testing.assert_allclose(ensemble.u_dot, [one.u_dot for one in states], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ensemble.z_dot, [one.z_dot for one in states], rtol=1e-9, atol=1e-9)
    one = states[0]
    exact = system.calc_forward_dynamics_derivatives(one).z[1]
    for k in range(2):
        ends = []
        for h in (1e-6, -1e-6):
            other = one.copy()
            z = one.z.copy()
            z[k] += h
            other.z = z
            system.realize(other, mb.Stage.ACCELERATION)
            ends.append(other.u_dot[1])
        assert exact[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-3)


def test_a_car_steers_in_a_curve_as_the_bicycle_says():
    """delta = L / R + (m_f / C_f - m_r / C_r) a, of axles' masses and cornering stiffnesses at their loads."""
    car, radius, speed = mb.examples.car, 100.0, 10.0
    angle = np.linspace(0.0, 1.8 * np.pi, 600)
    path = radius * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    system, state = car.build(path, speed)
    last = mb.simulate(system, state, 10.0, accuracy=1e-4).states[-1]
    system.realize(last, mb.Stage.VELOCITY)
    steer = np.mean([system.matter.bodies[f"steering {side}"].get_angle(last) for side in ("left", "right")])
    tyres = {one.name: one.calc_forces(last)[0] for one in system.all_forces() if isinstance(one, mb.force.MagicFormulaTyre)}
    rate, v = last.u[2], np.hypot(*last.u[3:5])
    loads = [car.loads()[0] + 9.81 * (car.CARRIER + car.WHEEL + car.KNUCKLE), car.loads()[1] + 9.81 * (car.CARRIER + car.WHEEL)]
    stiff = [-TYRE["PKY1"] * 4000.0 * np.sin(2.0 * np.arctan(one / (TYRE["PKY2"] * 4000.0))) for one in loads]
    expected = car.WHEELBASE * rate / v + (loads[0] / stiff[0] - loads[1] / stiff[1]) / 9.81 * v * rate
    # the tyres' change of stiffness by load transfer, and their camber, at a tenth of g
    assert steer == pytest.approx(expected, rel=0.02)
    assert sum(F[1] for F in tyres.values()) == pytest.approx(sum(loads) * 2.0 / 9.81 * v * rate, rel=0.01)
    assert np.hypot(last.q[4], last.q[5] - radius) == pytest.approx(radius, abs=0.2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"PKY1": 17.0}, "PKY1"),
        ({"FITTYP": 3}, "FITTYP"),
        ({"FNOMIN": -1.0}, "FNOMIN"),
        ({"PDX1": np.nan}, "PDX1"),
        ({"UNLOADED_RADIUS": 0.0}, "radius"),
        ({"PCY1": None}, "lack PCY1"),
    ],
)
def test_coefficients_that_cannot_be_are_refused(change, says):
    given = {name: value for name, value in (TYRE | change).items() if value is not None}
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    wheel = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    with pytest.raises(ModelError, match=says):
        mb.force.MagicFormulaTyre(forces, wheel, given)
    assert len(list(system.all_forces())) == 0
    with pytest.raises(TypeError, match="road"):
        mb.force.MagicFormulaTyre(forces, wheel, TYRE, road=3.0)


FILE = """[UNITS]
LENGTH = 'mm'
FORCE = 'kN'
$ a comment
[MODEL]
PROPERTY_FILE_FORMAT = 'MF62'
FITTYP = 62   $ which formula
[DIMENSION]
UNLOADED_RADIUS = 313.0
[VERTICAL]
FNOMIN = 4.0
VERTICAL_STIFFNESS = 0.2
"""


def test_a_file_is_read_in_si_units(tmp_path):
    path = tmp_path / "tyre.tir"
    names = [name for name in TYRE if name.startswith(("P", "R", "Q"))]
    path.write_text(FILE + "\n".join(f"{name} = {TYRE[name]:.6E} $ of {name}" for name in names))
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    wheel = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    tyre = mb.force.MagicFormulaTyre(forces, wheel, path)
    assert tyre.get_default_radius() == pytest.approx(0.313)
    assert tyre.get_default_stiffness() == pytest.approx(2e5)
    for wrong, says in (
        ("LENGTH = 'yard'\nA = 1", "yard"),
        ("nothing", "NAME = number"),
        ("A = 1\nA = 2", "twice"),
        ("A = inf", "finite"),
    ):
        path.write_text(wrong)
        with pytest.raises(ModelError, match=says):
            mb.force.MagicFormulaTyre(forces, wheel, path)
    with pytest.raises(OSError):
        mb.force.MagicFormulaTyre(forces, wheel, tmp_path / "none.tir")
