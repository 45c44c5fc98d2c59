"""Tyres: the Magic Formula by formulas written out again, brushes in closed form, relaxation, a car in a curve, and files."""

import collections
import types

import numpy as np
import pytest

import mobod as mb
from mobod import ModelError, ModelWarning
from mobod.force import magic_formula_tyre
from mobod.force._tir_file import read_tir
from mobod.simulation.labels import kind_of

TYRE = dict(mb.examples.car.TYRE)
SPINNING = {"Q_RE0": 0.995, "Q_V1": 7e-4, "Q_V2": 0.05, "QFZ2": 20.0, "PFZ1": 0.7, "NOMPRES": 2e5, "INFLPRES": 2.3e5}
OF_LOAD = ("QRE0", "QV1", "QV2", "QFZ2", "PFZ1")


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


def sine(B, C, D, E, x):
    return D * np.sin(C * np.arctan(B * x - E * (B * x - np.arctan(B * x))))


def cosine(B, C, D, E, x):
    return sine(B, C, D, E, x) if C == 0.0 else D * np.cos(C * np.arctan(B * x - E * (B * x - np.arctan(B * x))))


def formula(t, Fz, kappa, tangent, angle, Vx=10.0):
    """Forces and moments of Pacejka 2012, 4.E1 to 4.E78, with A47, A58, A60 of Besselink and others 2010; by names of files."""
    c = collections.defaultdict(float, PKY4=2.0, RCX1=1.0, RCY1=1.0, QCZ1=1.0, LONGVL=16.7) | t
    for name in "FZO CX MUX EX KX HX VX CY MUY EY KY HY VY KYC KZC TR RES XAL YKA VYKA S MX VMX MY GAX GAY GAZ".split():
        c.setdefault(f"L{name}", 1.0)
    old = c["FITTYP"] in (5, 6, 51, 52)
    R0, nominal = c["UNLOADED_RADIUS"], c["FNOMIN"]
    Fz0 = c["LFZO"] * nominal
    df = (Fz - Fz0) / Fz0
    dp = (c["INFLPRES"] - c["NOMPRES"]) / c["NOMPRES"] if c["NOMPRES"] else 0.0
    a, g = (np.arctan(tangent), angle) if old else (tangent, np.sin(angle))
    # longitudinal force, pure
    gx = g * c["LGAX"]
    kx = kappa + (c["PHX1"] + c["PHX2"] * df) * c["LHX"]
    mux = (c["PDX1"] + c["PDX2"] * df) * (1 + c["PPX3"] * dp + c["PPX4"] * dp**2) * (1 - c["PDX3"] * gx**2) * c["LMUX"]
    Kx = Fz * (c["PKX1"] + c["PKX2"] * df) * np.exp(c["PKX3"] * df) * (1 + c["PPX1"] * dp + c["PPX2"] * dp**2) * c["LKX"]
    Cx = c["PCX1"] * c["LCX"]
    Ex = (c["PEX1"] + c["PEX2"] * df + c["PEX3"] * df**2) * (1 - c["PEX4"] * np.sign(kx)) * c["LEX"]
    Fx0 = sine(Kx / (Cx * mux * Fz), Cx, mux * Fz, Ex, kx) + Fz * (c["PVX1"] + c["PVX2"] * df) * c["LVX"] * c["LMUX"]
    # lateral force, pure
    gy = g * c["LGAY"]
    Ky = c["PKY1"] * Fz0 * (1 + c["PPY1"] * dp) * (1 - c["PKY3"] * abs(gy)) * c["LKY"]
    Ky *= np.sin(c["PKY4"] * np.arctan(Fz / Fz0 / ((c["PKY2"] + c["PKY5"] * gy**2) * (1 + c["PPY2"] * dp))))
    SVg = Fz * (c["PVY3"] + c["PVY4"] * df) * gy * c["LKYC"] * c["LMUY"]
    SVy = Fz * (c["PVY1"] + c["PVY2"] * df) * c["LVY"] * c["LMUY"] + SVg
    Kg = Fz * (c["PKY6"] + c["PKY7"] * df) * (1 + c["PPY5"] * dp) * c["LKYC"]
    SHy = (c["PHY1"] + c["PHY2"] * df) * c["LHY"] + (c["PHY3"] * gy if old else (Kg * gy - SVg) / Ky)
    ay, Cy = a + SHy, c["PCY1"] * c["LCY"]
    muy = (c["PDY1"] + c["PDY2"] * df) * (1 + c["PPY3"] * dp + c["PPY4"] * dp**2) * (1 - c["PDY3"] * gy**2) * c["LMUY"]
    Ey = 1 + c["PEY5"] * gy**2 - (c["PEY3"] + c["PEY4"] * gy) * np.sign(ay)
    Ey *= (c["PEY1"] + c["PEY2"] * df) * c["LEY"]
    By = Ky / (Cy * muy * Fz)
    Fy0 = sine(By, Cy, muy * Fz, Ey, ay) + SVy
    # both slips
    Bxa = (c["RBX1"] + c["RBX3"] * g**2) * np.cos(np.arctan(c["RBX2"] * kappa)) * c["LXAL"]
    Exa = c["REX1"] + c["REX2"] * df
    Fx = Fx0 * cosine(Bxa, c["RCX1"], 1, Exa, a + c["RHX1"]) / cosine(Bxa, c["RCX1"], 1, Exa, c["RHX1"])
    Byk = (c["RBY1"] + c["RBY4"] * g**2) * np.cos(np.arctan(c["RBY2"] * (a - c["RBY3"]))) * c["LYKA"]
    Eyk, SHyk = c["REY1"] + c["REY2"] * df, c["RHY1"] + c["RHY2"] * df
    DV = muy * Fz * (c["RVY1"] + c["RVY2"] * df + c["RVY3"] * g) * np.cos(np.arctan(c["RVY4"] * a))
    SVyk = DV * np.sin(c["RVY5"] * np.arctan(c["RVY6"] * kappa)) * c["LVYKA"]
    Fy = Fy0 * cosine(Byk, c["RCY1"], 1, Eyk, kappa + SHyk) / cosine(Byk, c["RCY1"], 1, Eyk, SHyk) + SVyk
    # overturning, rolling resistance
    z, y = Fz / nominal, Fy / nominal
    Mx = c["QSX1"] * c["LVMX"] - c["QSX2"] * g * (1 + c["PPMX1"] * dp) - c["QSX12"] * g * abs(g) + c["QSX3"] * y
    turn = np.sin(c["QSX7"] * g + c["QSX8"] * np.arctan(c["QSX9"] * y))
    Mx += c["QSX4"] * np.cos(c["QSX5"] * np.arctan((c["QSX6"] * z) ** 2)) * turn
    Mx += c["QSX10"] * np.arctan(c["QSX11"] * z) * g
    Mx = R0 * c["LMX"] * (Fz * Mx + Fy * (c["QSX13"] + c["QSX14"] * abs(g)))
    My = c["QSY1"] + c["QSY2"] * Fx / nominal + c["QSY3"] * abs(Vx / c["LONGVL"]) + c["QSY4"] * (Vx / c["LONGVL"]) ** 4
    My += (c["QSY5"] + c["QSY6"] * z) * g**2
    My *= -R0 * Fz * z ** c["QSY7"] * (1 + dp) ** c["QSY8"] * c["LMY"] * Vx / np.hypot(Vx, 0.1)
    # aligning
    gz = g * c["LGAZ"]
    at = a + c["QHZ1"] + c["QHZ2"] * df + (c["QHZ3"] + c["QHZ4"] * df) * gz
    ar = a + SHy + SVy / Ky
    Bt = (c["QBZ1"] + c["QBZ2"] * df + c["QBZ3"] * df**2) * c["LKY"] / c["LMUY"]
    Bt *= 1 + c["QBZ4"] * gz + c["QBZ5"] * abs(gz) + c["QBZ6"] * gz**2
    Dt = Fz * R0 / Fz0 * (c["QDZ1"] + c["QDZ2"] * df) * (1 - c["PPZ1"] * dp) * c["LTR"]
    Dt *= 1 + c["QDZ3"] * gz + c["QDZ4"] * gz**2
    Et = c["QEZ1"] + c["QEZ2"] * df + c["QEZ3"] * df**2
    Et *= 1 + (c["QEZ4"] + c["QEZ5"] * gz) * 2 / np.pi * np.arctan(Bt * c["QCZ1"] * at)
    Dr = (c["QDZ8"] + c["QDZ9"] * df) * (1 + c["PPZ2"] * dp) + (c["QDZ10"] + c["QDZ11"] * df) * abs(gz)
    Dr = Fz * R0 * c["LMUY"] * ((c["QDZ6"] + c["QDZ7"] * df) * c["LRES"] + Dr * gz * c["LKZC"])
    Br = c["QBZ9"] * c["LKY"] / c["LMUY"] + c["QBZ10"] * By * Cy
    both = [np.arctan(np.hypot(np.tan(one), Kx / Ky * kappa)) * (-1.0 if one < 0.0 else 1.0) for one in (at, ar)]
    level = np.cos(np.arctan(tangent))
    arm = R0 * (c["SSZ1"] + c["SSZ2"] * Fy / Fz0 + (c["SSZ3"] + c["SSZ4"] * df) * gz) * c["LS"]
    Mz = -cosine(Bt, c["QCZ1"], Dt, Et, both[0]) * level * (Fy - SVyk)
    Mz += Dr * np.cos(np.arctan(Br * both[1])) * level + arm * Fx
    return np.array([[Fx, Fy, Fz], [Mx, My, Mz]])


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
    expected = formula(TYRE, Fz, kappa, np.tan(angle), camber)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("first", [None, 12.0])
@pytest.mark.parametrize("spin", [31.0, 90.0])
def test_load_and_rolling_radius_are_those_of_the_formula(spin, first):
    """4.E65 to 4.E70 of Pacejka 2012: a tyre that grows by its spin, and is stiffer by that, by pressure and deflection."""
    R0, nominal, k, lift = 0.313, 4000.0, 2e5, -0.025
    own = SPINNING | {"LONGVL": 15.0}
    given = TYRE | own | ({} if first is None else {"Q_FZ1": first})
    system, state, tyre = rolling(
        lambda forces, wheel, road: mb.force.MagicFormulaTyre(forces, wheel, given), lift=lift, spin=spin
    )
    turned = spin * R0 / 15.0
    free = R0 * (0.995 + 7e-4 * turned**2)
    rho = free - (R0 + lift)
    first = np.sqrt((k * R0 / nominal) ** 2 - 80.0) if first is None else first
    expected = (1.0 + 0.05 * turned) * (first * rho / R0 + 20.0 * (rho / R0) ** 2) * (1.0 + 0.7 * 0.15) * nominal
    assert tyre.calc_forces(state)[0, 2] == pytest.approx(expected, rel=1e-12)
    at_nominal = tyre.get_stiffness(state)
    assert at_nominal == pytest.approx(nominal / R0 * np.sqrt(first**2 + 80.0), rel=1e-12)
    nominal_rho = nominal / (at_nominal * 1.105)
    d = rho / nominal_rho
    rolls = free - nominal_rho * (TYRE["DREFF"] * np.arctan(TYRE["BREFF"] * d) + TYRE["FREFF"] * d)
    state.z = (0.01 / (1.0 + 100.0) * (10.0 - spin * rolls), 0.0)  # no slip: less what the delay adds
    system.realize(state, mb.Stage.DYNAMICS)
    assert state.z_dot[0] == pytest.approx(spin * rolls - 10.0, rel=1e-12)
    _, high, off = rolling(lambda forces, wheel, road: mb.force.MagicFormulaTyre(forces, wheel, given), lift=0.01, spin=0.0)
    assert not off.calc_forces(high).any()


def fresh():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    rim = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    return system, forces, mb.mobilizer.Free(matter.ground, rim)


def a_tyre(rng, version):
    """Every coefficient that a file of this version may have, at random, of a size at which the formula is one."""
    needed = "PCX1 PDX1 PKX1 PCY1 PDY1 PKY1 PKY2 PKY4 RBX1 RCX1 RBY1 RCY1 QBZ1 QCZ1 QDZ1"
    names = [name for name in magic_formula_tyre._NAMES if name[0] in "PQRS" and name not in ("PRATIO", *needed.split())]
    given = {name: rng.uniform(-0.1, 0.1) for name in names}
    given |= {name: rng.uniform(0.5, 1.5) for name in "RVY4 RVY5 RVY6 QSX4 QSX5 QSX6 QSX7 QSX8 QSX9 QSX10 QSX11".split()}
    given |= {name: TYRE.get(name, 1.9) * rng.uniform(0.9, 1.1) for name in needed.split()}
    given |= {name: rng.uniform(0.7, 1.3) for name in magic_formula_tyre._NAMES if name[0] == "L" and len(name) < 6}
    given |= {"PTX1": 1.2, "PTY1": 1.3, "PTY2": 1.9, "FITTYP": version, "NOMPRES": 2e5, "INFLPRES": 2.3e5, "LONGVL": 15.0}
    if version < 60:
        newer = "PKY5 PKY6 PKY7 PEY5 RBX3 RBY4 QBZ6 QDZ10 QDZ11 LKYC LKZC".split()
        given = {name: value for name, value in given.items() if not name.startswith("PP") and name not in newer}
    else:
        del given["PHY3"]
    return given | {name: TYRE[name] for name in ("UNLOADED_RADIUS", "FNOMIN", "VERTICAL_STIFFNESS")}


@pytest.mark.parametrize("version", [52, 61])
def test_every_coefficient_of_a_file_is_in_the_formula(version, tmp_path):
    """By a file of all of them, on both sides, uncompiled: each one's change is felt as the formula's is."""
    seed = 20261129 + version
    print("seed", seed)
    rng = np.random.default_rng(seed)
    given = a_tyre(rng, version)
    path = tmp_path / f"mf{version}.tir"
    path.write_text("[MODEL]\n" + "".join(f"{name:<20}= {value!r}  $ {name}\n" for name, value in given.items()))
    _, forces, wheel = fresh()

    def calc(coefficients, where, **settings):
        tyre = mb.force.MagicFormulaTyre(forces, wheel, coefficients, **settings)
        model = types.SimpleNamespace(force_numbers=np.array(tyre.default_numbers))
        Fz, kappa, tangent, angle, Vx = where
        return np.array(magic_formula_tyre.evaluate(model, 0, Fz, np.sin(angle), kappa, tangent, Vx))

    signs = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
    for _ in range(4):
        where = rng.uniform((2e3, -0.3, -0.3, -0.2, 3.0), (6e3, 0.3, 0.3, 0.2, 30.0))
        expected = formula(given, *where)
        np.testing.assert_allclose(calc(path, where), expected, rtol=1e-9, atol=1e-7)
        other = where * (1.0, 1.0, -1.0, -1.0, 1.0)
        np.testing.assert_allclose(signs * calc(path, other, mirrored=True), expected, rtol=1e-9, atol=1e-7)
    unfelt = []
    for name in given:
        changed = given | {name: given[name] * 1.01 + (given[name] == 0.0) * 0.01}
        if name in ("FITTYP", "VERTICAL_STIFFNESS", "LSGKP", "LSGAL", *OF_LOAD) or name.startswith("PT"):
            continue  # of the load, and of the relaxation lengths
        found = calc(changed, where)
        if np.abs(found - calc(given, where)).max() < 1e-9:
            unfelt.append(name)
        np.testing.assert_allclose(found, formula(changed, *where), rtol=1e-9, atol=1e-7, err_msg=name)
    assert not unfelt


def test_what_a_file_has_and_is_not_used_is_named(tmp_path):
    _, forces, wheel = fresh()
    left_out = {"PDXP1": 0.4, "PHYP1": 1.0, "PECP1": 0.0, "Q_RA1": 0.7, "PCMZ1": 0.2, "Q_FCX": 0.1, "Q_CAM": 0.2, "LMUV": 0.5}
    used = {"Q_FZ2": 2.0, "Q_RE0": 0.998, "Q_V1": 8e-4, "Q_V2": 0.04, "PFZ1": 0.7}
    says = (
        r"turn slip \(PDXP1 and 1 more\); leaves out the load by .* \(QFCX and 1 more\); leaves out contact patch .* \(QRA1 "
        r"and 1 more\); leaves out friction by speed \(LMUV\); does not know PDY11, which may be misspelled$"
    )
    with pytest.warns(ModelWarning, match=says):
        mb.force.MagicFormulaTyre(forces, wheel, TYRE | used | left_out | {"PDY11": 1.0})
    path = tmp_path / "tyre.tir"
    lines = "".join(f"{name} = {value}\n" for name, value in TYRE.items() if name != "FITTYP")
    path.write_text("[UNITS]\nPRESSURE = 'bar'\n[MODEL]\nPROPERTY_FILE_FORMAT = 'PAC2002'\n" + lines + "NOMPRES = 2.0\n")
    of_old = mb.force.MagicFormulaTyre(forces, wheel, path, inflation_pressure=3e5).default_numbers
    assert (of_old[magic_formula_tyre.MF5], of_old[magic_formula_tyre.DPI]) == (1.0, 0.5)
    path.write_text("[MODEL]\nPROPERTY_FILE_FORMAT ='USER'\nUSER_SUB_ID = 815\nTEST1 = none\n" + lines + "FITTYP = 61\n")
    assert read_tir(path)["FITTYP"] == 61.0  # as TNO writes them
    for wrong, says in (
        ("ANGLE = 'degree'\nFITTYP = 61", "the unit of ANGLE is 'degree'"),
        ("PDX2 = -0,06", "line 1: PDX2 is '-0,06'"),
        ("PROPERTY_FILE_FORMAT = 'PAC89'\nA = 1", "pac89"),
    ):
        path.write_text(wrong)
        with pytest.raises(ModelError, match=says):
            mb.force.MagicFormulaTyre(forces, wheel, path)


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
    steady = formula(TYRE, Fz, 0.0, np.tan(-angle), 0.0)[0, 1] if make is magic else 6e4 * angle
    # the delay of slip velocities, 1e-4 s; after 8 L 3e-4 are lacking; the brush bends its line by a tenth
    np.testing.assert_allclose(Fy[1:] / Fy[-1], 1.0 - np.exp(-np.arange(1, 9)), atol=0.02)
    assert Fy[-1] == pytest.approx(steady, rel=1e-3 if make is magic else 0.06)


@pytest.mark.parametrize("speed", [1.0, 3.0, 20.0])
def test_slips_of_steady_motion_are_those_of_the_rigid_wheel(speed):
    """V_sy / |V_x| and -V_sx / |V_x|, however slow it goes: what damps the patch at rest has no part in it."""
    angle, kappa = 0.03, 0.02
    system, state, tyre = rolling(magic, speed, steer=-angle)
    Fz = tyre.calc_forces(state)[0, 2]
    ratio = 0.02 * 2e5 / 4000.0
    effective = 0.313 - 4000.0 / 2e5 * (0.24 * np.arctan(8.0 * ratio) + 0.01 * ratio)
    state.u = (speed, (1.0 + kappa) * speed * np.cos(angle) / effective)
    system.matter.bodies["wheel"].lock(state, "velocity")
    run = mb.simulate(system, state, 20.0 / speed, accuracy=1e-9, record={"forces": tyre.calc_forces})
    expected = formula(TYRE, Fz, kappa, np.tan(angle), 0.0)[0]
    np.testing.assert_allclose(run.quantities["forces"][-1, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("make", [magic, brush])
def test_forces_of_steady_rolling_are_right_at_the_accuracy_unless_given(make):
    """Patches deflect by millimetres: an error of a thousandth of a metre, which the accuracy is of other z, is not small."""
    system, state, tyre = rolling(make, steer=0.01)
    exact = mb.simulate(system, state, 2.0, accuracy=1e-8, record={"forces": tyre.calc_forces}).quantities["forces"][-1, 0, 1]
    found = mb.simulate(system, state, 2.0, record={"forces": tyre.calc_forces}).quantities["forces"]
    assert np.abs(found[len(found) // 2 :, 0, 1] - exact).max() < 0.01 * abs(exact)
    assert np.allclose(state.z_weights, 30.0 / 0.313)


@pytest.mark.parametrize("make", [magic, brush])
def test_a_wheel_that_rolls_backwards_is_one_that_rolls_ahead_seen_from_the_other_side(make):
    """Turned about z by half a turn, all velocities and both forces change their signs, and M_z stays; they oppose slips."""
    rng = np.random.default_rng()
    print("seed", rng.bit_generator.seed_seq.entropy)
    for blocked in (True, False, False):
        steer, speed = rng.uniform(-0.2, 0.2), rng.uniform(0.5, 15.0)
        spin = 0.0 if blocked else speed / 0.3 * rng.uniform(0.5, 1.5)
        found = []
        for way in (1.0, -1.0):
            system, state, tyre = rolling(make, speed=way * speed, steer=steer)
            wheel = system.matter.bodies["wheel"]
            state.u = (way * speed, way * spin)
            wheel.lock(state, mb.Motion.Level.VELOCITY)
            run = mb.simulate(system, state, 6.0 / speed, accuracy=1e-7, record={"forces": tyre.calc_forces})
            found.append(run.quantities["forces"][-1])
            slip = way * (speed * np.cos(steer) - 0.307 * spin), -way * speed * np.sin(steer)
            assert blocked <= (found[-1][0, :2] @ slip < 0.0)
        signs = np.array([(-1.0, -1.0, 1.0), (-1.0, -1.0, 1.0)])
        assert np.abs(found[1] - signs * found[0]).max() < 1e-4 * np.abs(found[0]).max()


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
    across = mb.contact.HeightField(x, x, slope * np.outer(np.ones(6), x))
    for road, angle, axis in ((field, -np.arctan(slope), "y"), (across, np.arctan(slope), "x")):
        tilted = mb.Transform(mb.Rotation.about_axis(angle, axis))

        def on_a_plane(forces, wheel, road=None, tilted=tilted):
            return magic(forces, wheel, road_frame=tilted)

        _, state, tyre = rolling(magic, 0.0, lift=-0.02, spin=0.0, road=road)
        _, other, same = rolling(on_a_plane, 0.0, lift=-0.02, spin=0.0)
        np.testing.assert_allclose(same.calc_forces(other), tyre.calc_forces(state), atol=1e-6)
    _, high, off = rolling(magic, lift=0.01, state_of_slip=(0.01, 0.02))
    assert not off.calc_forces(high).any()


def test_lanes_and_derivatives_are_those_of_one_state():
    seed = 4711
    print("seed", seed)
    rng = np.random.default_rng(seed)
    given = TYRE | SPINNING
    system, state, _ = rolling(lambda forces, wheel, road: mb.force.MagicFormulaTyre(forces, wheel, given), 5.0, steer=0.02)
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


def test_the_librarys_car_rolls_on_a_tyre_of_ones_own(tmp_path):
    """A larger one, from its file: it stands on its springs as before, and its wheels turn slower."""
    own = TYRE | {"UNLOADED_RADIUS": 0.35}
    file = tmp_path / "own.tir"
    file.write_text("[MODEL]\n" + "\n".join(f"{name} = {value}" for name, value in own.items()))
    straight = np.column_stack([np.linspace(0.0, 60.0, 7), np.zeros(7)])
    system, state = mb.examples.car.build(straight, 15.0, tyre=file)
    run = mb.simulate(system, state, 1.0, accuracy=1e-4, record=["tyre_forces"])
    loads = run.quantities["tyre_forces"][:, :, 0, 2]
    system.realize(state)
    weight = 9.81 * system.matter.calc_system_mass(state)
    np.testing.assert_allclose(loads.sum(axis=1), weight, rtol=0.02)
    places = [run.coordinate_names.index(name) for name in ("front left", "front right", "rear left", "rear right")]
    assert np.abs(run.q[:, places]).max() < 2e-3
    wheel = run.u[-1, run.speed_names.index("wheel rear left")]
    assert 15.0 / 0.35 < wheel < 15.0 / 0.33


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"PKY1": 17.0}, "PKY1"),
        ({"FITTYP": 3}, "FITTYP"),
        ({"FNOMIN": -1.0}, "FNOMIN"),
        ({"PDX1": np.nan}, "PDX1"),
        ({"UNLOADED_RADIUS": 0.0}, "radius"),
        ({"VERTICAL_STIFFNESS": 0.0}, "VERTICAL_STIFFNESS"),
        ({"QFZ2": 62.0}, "QFZ2 of a MagicFormulaTyre is 62: with it no linear part"),
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
    with pytest.raises(TypeError, match="coefficients of a MagicFormulaTyre"):
        mb.force.MagicFormulaTyre(forces, wheel, None)
    with pytest.raises(ModelError, match="NOMPRES"):
        mb.force.MagicFormulaTyre(forces, wheel, TYRE, inflation_pressure=2e5)


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


def test_forces_of_all_tyres_are_recorded_by_name(tmp_path):
    system, state = mb.examples.car.build()
    run = mb.simulate(system, state, 0.02, record=["tyre_forces"])
    last, place = run.states[-1], "rear right"
    system.realize(last, mb.Stage.VELOCITY)
    exact = system.forces.get_force(f"tyre {place}").calc_forces(last)
    assert run.quantities["tyre_forces"].shape == (len(run.time), 4, 2, 3)
    assert system.owner_of(last, "z", 5) == "z[5], number 1 of 'tyre rear left'"
    run.save(tmp_path / "car.csv")
    read = mb.Trajectory.load(tmp_path / "car.csv")
    assert np.array_equal(read.quantities["tyre_forces"], run.quantities["tyre_forces"])
    assert [kind_of(f"tyre_forces.tyre {place}.{name}", {}) for name in ("fz", "mx")] == ["force", "moment"]
    table = run.to_pandas()
    for k, name in enumerate(("fx", "fy", "fz", "mx", "my", "mz")):
        assert abs(table[f"quantity.tyre_forces.tyre {place}.{name}"].iloc[-1] - exact.ravel()[k]) < 1e-9 * np.abs(exact).max()


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
