"""MagicFormulaTyre: a tyre by Pacejka's Magic Formula, MF 5.2 or 6.1 and 6.2, from the coefficients of its .tir file.

With F_z0 the nominal load times its scale, df = (F_z - F_z0) / F_z0, dp = (p - p_0) / p_0, and

    M(B, C, D, E; x) = D sin(C atan(B x - E (B x - atan(B x))))   G likewise with cos, and D = 1

    F_x = F_x0 G_xa   F_x0 = M(K_x / (C_x D_x), C_x, D_x, E_x; kappa + S_Hx) + S_Vx
    F_y = F_y0 G_yk + S_Vyk   F_y0 = M(K_y / (C_y D_y), C_y, D_y, E_y; alpha + S_Hy) + S_Vy
    M_z = -t (F_y - S_Vyk) + M_zr + s F_x   M_x, M_y: overturning and rolling resistance

Its coefficients by load, camber and pressure are those of the source, 4.E1 to 4.E78, without turn slip; where it differs
from the solver that files are made for (QBZ4, QDZ3's sign, QSX12 to QSX14, the angles that stand for both slips), as there.
alpha stands for tan(alpha) and gamma for sin(gamma) in MF 6, for the angles in MF 5.2, whose S_Hy differs. Relaxation
lengths are those of the file's PTX and PTY, or K_x / C_Fx and K_y / C_Fy by its horizontal stiffnesses. With the free radius
R_W at the spin Omega, o = Omega R_0 / V_0, rho = R_W - r, k the stiffness at the nominal load F_n and d = rho k' / F_n,

    R_W = R_0 (Q_RE0 + Q_V1 o^2)   k' = k (1 + P_FZ1 dp)   q_1^2 = (k R_0 / F_n)^2 - 4 Q_FZ2
    F_z = (1 + Q_V2 |o|) (q_1 rho / R_0 + Q_FZ2 rho^2 / R_0^2) (1 + P_FZ1 dp) F_n   R_e = R_W - F_n / k' (D atan(B d) + F d)

Source: Pacejka 2012, Tire and Vehicle Dynamics, 3rd edition, 4.3.2 (the load: 4.E65 to 4.E70), 7.2; MF 5.2: 2nd edition, 4.3.2;
the solver: Besselink, Schmeitz and Pacejka 2010, An improved Magic Formula/Swift tyre model, A47, A58, A60. Left out:
turn slip, the load's dependence on horizontal forces and camber (Q_FCX, Q_FCY, Q_CAM), friction's decay by speed and its
digressive factor (LMUV, 4.E7 and 4.E8), contact patch sizes and the belt.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from ..algebra.order import size_of
from ..algebra.scalar import atan, cos, exp, log, sin, sqrt, where
from ..compiling import generic
from ..contact.height_field import HeightField
from ..errors import ModelError, ModelWarning
from ..function.base import Function
from ..mobilizer.base import MobilizedBody
from ..value import Transform, checks
from ..value.callers import callers_level
from ._tir_file import read_tir
from ._tyre import GRIP, IN_GROUND, OWN, RADIUS, STIFFNESS, Tyre, adding, direction, leaving, pressed, slips
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem

_NAMES = """
    MF5 FNOMIN DPI LONGVL LFZO
    PCX1 PDX1 PDX2 PDX3 PEX1 PEX2 PEX3 PEX4 PKX1 PKX2 PKX3 PHX1 PHX2 PVX1 PVX2 PPX1 PPX2 PPX3 PPX4
    PCY1 PDY1 PDY2 PDY3 PEY1 PEY2 PEY3 PEY4 PEY5 PKY1 PKY2 PKY3 PKY4 PKY5 PKY6 PKY7
    PHY1 PHY2 PHY3 PVY1 PVY2 PVY3 PVY4 PPY1 PPY2 PPY3 PPY4 PPY5
    RBX1 RBX2 RBX3 RCX1 REX1 REX2 RHX1
    RBY1 RBY2 RBY3 RBY4 RCY1 REY1 REY2 RHY1 RHY2 RVY1 RVY2 RVY3 RVY4 RVY5 RVY6
    QBZ1 QBZ2 QBZ3 QBZ4 QBZ5 QBZ6 QBZ9 QBZ10 QCZ1 QDZ1 QDZ2 QDZ3 QDZ4 QDZ6 QDZ7 QDZ8 QDZ9 QDZ10 QDZ11
    QEZ1 QEZ2 QEZ3 QEZ4 QEZ5 QHZ1 QHZ2 QHZ3 QHZ4 PPZ1 PPZ2 SSZ1 SSZ2 SSZ3 SSZ4
    QSX1 QSX2 QSX3 QSX4 QSX5 QSX6 QSX7 QSX8 QSX9 QSX10 QSX11 QSX12 QSX13 QSX14 PPMX1
    QSY1 QSY2 QSY3 QSY4 QSY5 QSY6 QSY7 QSY8 PRATIO
    PTX1 PTX2 PTX3 PTY1 PTY2 LONGITUDINAL_STIFFNESS LATERAL_STIFFNESS BREFF DREFF FREFF
    QRE0 QV1 QV2 QFZ2 PFZ1
    LCX LMUX LEX LKX LHX LVX LCY LMUY LEY LKY LHY LVY LKYC LKZC LTR LRES LXAL LYKA LVYKA LS LMX LVMX LMY LSGKP LSGAL
    LGAX LGAY LGAZ
""".split()
(
    MF5, FNOMIN, DPI, LONGVL, LFZO,
    PCX1, PDX1, PDX2, PDX3, PEX1, PEX2, PEX3, PEX4, PKX1, PKX2, PKX3, PHX1, PHX2, PVX1, PVX2, PPX1, PPX2, PPX3, PPX4,
    PCY1, PDY1, PDY2, PDY3, PEY1, PEY2, PEY3, PEY4, PEY5, PKY1, PKY2, PKY3, PKY4, PKY5, PKY6, PKY7,
    PHY1, PHY2, PHY3, PVY1, PVY2, PVY3, PVY4, PPY1, PPY2, PPY3, PPY4, PPY5,
    RBX1, RBX2, RBX3, RCX1, REX1, REX2, RHX1,
    RBY1, RBY2, RBY3, RBY4, RCY1, REY1, REY2, RHY1, RHY2, RVY1, RVY2, RVY3, RVY4, RVY5, RVY6,
    QBZ1, QBZ2, QBZ3, QBZ4, QBZ5, QBZ6, QBZ9, QBZ10, QCZ1, QDZ1, QDZ2, QDZ3, QDZ4, QDZ6, QDZ7, QDZ8, QDZ9, QDZ10, QDZ11,
    QEZ1, QEZ2, QEZ3, QEZ4, QEZ5, QHZ1, QHZ2, QHZ3, QHZ4, PPZ1, PPZ2, SSZ1, SSZ2, SSZ3, SSZ4,
    QSX1, QSX2, QSX3, QSX4, QSX5, QSX6, QSX7, QSX8, QSX9, QSX10, QSX11, QSX12, QSX13, QSX14, PPMX1,
    QSY1, QSY2, QSY3, QSY4, QSY5, QSY6, QSY7, QSY8, PRATIO,
    PTX1, PTX2, PTX3, PTY1, PTY2, LONGITUDINAL_STIFFNESS, LATERAL_STIFFNESS, BREFF, DREFF, FREFF,
    QRE0, QV1, QV2, QFZ2, PFZ1,
    LCX, LMUX, LEX, LKX, LHX, LVX, LCY, LMUY, LEY, LKY, LHY, LVY, LKYC, LKZC, LTR, LRES, LXAL, LYKA, LVYKA, LS, LMX, LVMX,
    LMY, LSGKP, LSGAL, LGAX, LGAY, LGAZ,
) = range(OWN, OWN + len(_NAMES))  # fmt: skip
#: What files have to have; and what others are where they have not.
_NEEDED = ("FNOMIN", "UNLOADED_RADIUS", "VERTICAL_STIFFNESS", "PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1", "PKY2")
_USUAL = {"QRE0": 1.0, "PKY4": 2.0, "QCZ1": 1.0, "RCX1": 1.0, "RCY1": 1.0, "LONGVL": 16.7}
#: Names of coefficients and scales, of which those that are not used are told, and a value without effect.
_COEFFICIENT = re.compile(r"[PQRS][A-Z]{1,4}\d+|QCAM|QFC[XY]|QBV[XT]|L[A-Z]{1,4}")
_NOTHING = {"LMUV": 0.0}
#: What is left out, by the names of its coefficients.
_LEFT_OUT = {
    "turn slip": re.compile(r"P(DX|KY|DY|HY|EC)P\d|Q(DT|CR|BR|DR)P\d"),
    "the load by horizontal forces and camber": re.compile(r"QFC[XYG]\d?|QCAM\d?|QFZ3|QFYS\d"),
    "contact patch sizes and the belt": re.compile(r"Q(RA|RB|A|BVX|BVT|TZ)\d?|PC(FX|FY|MZ)\d"),
    "friction by speed": re.compile(r"LMUV"),
}
#: Relaxation lengths are this part of the radius at least.
_LEAST = 0.02


@generic
def _sign(x: Any) -> Any:
    o = 0.0 * x
    return where(x < 0.0, o - 1.0, o + 1.0)


@generic
def _not_zero(x: Any) -> Any:
    """X, or a number of its sign near zero."""
    small = size_of(x) < 1e-9
    return where(small, 1e-9 * _sign(x), x)


@generic
def _at_most(x: Any, most: float) -> Any:
    return where(x > most, 0.0 * x + most, x)


@generic
def _angle(B: Any, C: Any, E: Any, x: Any) -> Any:
    t = B * x
    return C * atan(t - E * (t - atan(t)))


@generic
def _load_terms(model: Any, x: int, Fz: Any) -> Any:
    """F_z0, df and dp."""
    Fz0 = number(model, x + FNOMIN) * number(model, x + LFZO)
    return Fz0, (Fz - Fz0) / Fz0, number(model, x + DPI)


@generic
def _pure_x(model: Any, x: int, Fz: Any, gamma: Any, kappa: Any) -> Any:
    """F_x0, K_x, and S_Hx."""
    _, df, dp = _load_terms(model, x, Fz)
    mu = (number(model, x + PDX1) + number(model, x + PDX2) * df) * (1.0 - number(model, x + PDX3) * gamma * gamma)
    mu = mu * (1.0 + number(model, x + PPX3) * dp + number(model, x + PPX4) * dp * dp) * number(model, x + LMUX)
    mu = mu * number(model, x + GRIP)
    C, D = number(model, x + PCX1) * number(model, x + LCX), mu * Fz
    K = Fz * (number(model, x + PKX1) + number(model, x + PKX2) * df) * exp(number(model, x + PKX3) * df)
    K = K * (1.0 + number(model, x + PPX1) * dp + number(model, x + PPX2) * dp * dp) * number(model, x + LKX)
    SH = (number(model, x + PHX1) + number(model, x + PHX2) * df) * number(model, x + LHX)
    k = kappa + SH
    E = number(model, x + PEX1) + number(model, x + PEX2) * df + number(model, x + PEX3) * df * df
    E = _at_most(E * (1.0 - number(model, x + PEX4) * _sign(k)) * number(model, x + LEX), 1.0)
    SV = Fz * (number(model, x + PVX1) + number(model, x + PVX2) * df) * number(model, x + LVX) * number(model, x + LMUX)
    SV = SV * number(model, x + GRIP)
    return D * sin(_angle(K / _not_zero(C * D), C, E, k)) + SV, K, mu


@generic
def _cornering(model: Any, x: int, Fz: Any, gamma: Any) -> Any:
    """K_y, and K_y by gamma, K_yg."""
    Fz0, df, dp = _load_terms(model, x, Fz)
    bend = (number(model, x + PKY2) + number(model, x + PKY5) * gamma * gamma) * (1.0 + number(model, x + PPY2) * dp)
    K = number(model, x + PKY1) * Fz0 * (1.0 + number(model, x + PPY1) * dp)
    K = K * sin(number(model, x + PKY4) * atan(Fz / (bend * Fz0))) * (1.0 - number(model, x + PKY3) * size_of(gamma))
    by_camber = Fz * (number(model, x + PKY6) + number(model, x + PKY7) * df) * (1.0 + number(model, x + PPY5) * dp)
    return K * number(model, x + LKY), by_camber * number(model, x + LKYC)


@generic
def _pure_y(model: Any, x: int, Fz: Any, gamma: Any, alpha: Any) -> Any:
    """F_y0, K_y, mu_y, S_Hy, S_Vy, B_y and C_y."""
    _, df, dp = _load_terms(model, x, Fz)
    K, by_camber = _cornering(model, x, Fz, gamma)
    mu = (number(model, x + PDY1) + number(model, x + PDY2) * df) * (1.0 - number(model, x + PDY3) * gamma * gamma)
    mu = mu * (1.0 + number(model, x + PPY3) * dp + number(model, x + PPY4) * dp * dp) * number(model, x + LMUY)
    mu = mu * number(model, x + GRIP)
    C, D = number(model, x + PCY1) * number(model, x + LCY), mu * Fz
    rubs = number(model, x + LMUY) * number(model, x + GRIP)
    SV_camber = Fz * (number(model, x + PVY3) + number(model, x + PVY4) * df) * gamma * number(model, x + LKYC) * rubs
    SV = Fz * (number(model, x + PVY1) + number(model, x + PVY2) * df) * number(model, x + LVY) * rubs + SV_camber
    of_5 = number(model, x + PHY3) * gamma * number(model, x + LKYC)
    of_6 = (by_camber * gamma - SV_camber) / _not_zero(K)
    SH = (number(model, x + PHY1) + number(model, x + PHY2) * df) * number(model, x + LHY)
    SH = SH + where(number(model, x + MF5) > 0.5, of_5, of_6)
    a = alpha + SH
    E = (number(model, x + PEY1) + number(model, x + PEY2) * df) * (
        1.0 + number(model, x + PEY5) * gamma * gamma - (number(model, x + PEY3) + number(model, x + PEY4) * gamma) * _sign(a)
    )
    E = _at_most(E * number(model, x + LEY), 1.0)
    B = K / _not_zero(C * D)
    return D * sin(_angle(B, C, E, a)) + SV, K, mu, SH, SV, B, C


@generic
def _weakened_x(model: Any, x: int, df: Any, gamma: Any, kappa: Any, alpha: Any) -> Any:
    """G_xa."""
    r = number(model, x + RBX2) * kappa
    B = (number(model, x + RBX1) + number(model, x + RBX3) * gamma * gamma) / sqrt(1.0 + r * r) * number(model, x + LXAL)
    C, SH = number(model, x + RCX1), number(model, x + RHX1)
    E = _at_most(number(model, x + REX1) + number(model, x + REX2) * df, 1.0)
    return cos(_angle(B, C, E, alpha + SH)) / cos(_angle(B, C, E, 0.0 * alpha + SH))


@generic
def _weakened_y(model: Any, x: int, df: Any, gamma: Any, kappa: Any, alpha: Any, load_and_friction: Any) -> Any:
    """G_yk and S_Vyk."""
    r = number(model, x + RBY2) * (alpha - number(model, x + RBY3))
    B = (number(model, x + RBY1) + number(model, x + RBY4) * gamma * gamma) / sqrt(1.0 + r * r) * number(model, x + LYKA)
    C, SH = number(model, x + RCY1), number(model, x + RHY1) + number(model, x + RHY2) * df
    E = _at_most(number(model, x + REY1) + number(model, x + REY2) * df, 1.0)
    G = cos(_angle(B, C, E, kappa + SH)) / cos(_angle(B, C, E, 0.0 * kappa + SH))
    s = number(model, x + RVY4) * alpha
    D = load_and_friction * (number(model, x + RVY1) + number(model, x + RVY2) * df + number(model, x + RVY3) * gamma)
    D = D / sqrt(1.0 + s * s)
    return G, D * sin(number(model, x + RVY5) * atan(number(model, x + RVY6) * kappa)) * number(model, x + LVYKA)


@generic
def _with_kappa(angle: Any, per: Any) -> Any:
    """The slip angle that stands for both slips."""
    t = sin(angle) / cos(angle)
    return atan(sqrt(t * t + per * per + 1e-20)) * _sign(angle)


@generic
def _aligning(model: Any, x: int, Fz: Any, gamma: Any, kappa: Any, alpha: Any, of_x: Any, of_y: Any, F: Any, way: Any) -> Any:
    """M_z. *F* are F_x, F_y, and F_y without S_Vyk; *of_x* is K_x, *of_y* what `_pure_y` gives beside F_y0."""
    nominal, df, dp = _load_terms(model, x, Fz)
    K, _, SH, SV, By, Cy = of_y
    R0 = number(model, x + RADIUS)
    bent = size_of(gamma)
    per = of_x / _not_zero(K) * kappa
    at = alpha + number(model, x + QHZ1) + number(model, x + QHZ2) * df
    at = at + (number(model, x + QHZ3) + number(model, x + QHZ4) * df) * gamma
    ar = alpha + SH + SV / _not_zero(K)
    together, rest = _with_kappa(at, per), _with_kappa(ar, per)
    B = number(model, x + QBZ1) + number(model, x + QBZ2) * df + number(model, x + QBZ3) * df * df
    B = B * (1.0 + number(model, x + QBZ4) * gamma + number(model, x + QBZ5) * bent + number(model, x + QBZ6) * gamma * gamma)
    scale = number(model, x + LKY) / _not_zero(number(model, x + LMUY) * number(model, x + GRIP))
    B = B * scale
    C = number(model, x + QCZ1)
    D = Fz * (number(model, x + QDZ1) + number(model, x + QDZ2) * df) * (1.0 - number(model, x + PPZ1) * dp) * R0 / nominal
    D = D * (1.0 + number(model, x + QDZ3) * gamma + number(model, x + QDZ4) * gamma * gamma) * number(model, x + LTR)
    E = number(model, x + QEZ1) + number(model, x + QEZ2) * df + number(model, x + QEZ3) * df * df
    E = E * (1.0 + (number(model, x + QEZ4) + number(model, x + QEZ5) * gamma) * 0.6366197723675814 * atan(B * C * at))
    E = _at_most(E, 1.0)
    level = way * where(number(model, x + MF5) > 0.5, cos(alpha), 1.0 / sqrt(1.0 + alpha * alpha))
    trail = D * cos(_angle(B, C, E, together)) * level
    Br = number(model, x + QBZ9) * scale + number(model, x + QBZ10) * By * Cy
    Dr = (number(model, x + QDZ6) + number(model, x + QDZ7) * df) * number(model, x + LRES)
    by_camber = (number(model, x + QDZ8) + number(model, x + QDZ9) * df) * (1.0 + number(model, x + PPZ2) * dp)
    by_camber = by_camber + (number(model, x + QDZ10) + number(model, x + QDZ11) * df) * bent
    Dr = Dr + by_camber * gamma * number(model, x + LKZC)
    r = Br * rest
    residual = Fz * R0 * Dr * number(model, x + LMUY) * number(model, x + GRIP) / sqrt(1.0 + r * r) * level
    arm = number(model, x + SSZ1) + number(model, x + SSZ2) * F[1] / nominal
    arm = (arm + (number(model, x + SSZ3) + number(model, x + SSZ4) * df) * gamma) * R0 * number(model, x + LS)
    return residual - trail * F[2] + arm * F[0]


@generic
def _overturning(model: Any, x: int, Fz: Any, gamma: Any, Fy: Any) -> Any:
    """M_x."""
    nominal, y = number(model, x + FNOMIN), Fy / number(model, x + FNOMIN)
    z, bent = where(Fz > 0.0, Fz, 0.0 * Fz + nominal) / nominal, size_of(gamma)
    m = number(model, x + QSX1) * number(model, x + LVMX) + number(model, x + QSX3) * y
    m = m - number(model, x + QSX2) * gamma * (1.0 + number(model, x + PPMX1) * number(model, x + DPI))
    t = number(model, x + QSX6) * z
    turn = sin(number(model, x + QSX7) * gamma + number(model, x + QSX8) * atan(number(model, x + QSX9) * y))
    m = m + number(model, x + QSX4) * cos(number(model, x + QSX5) * atan(t * t)) * turn
    m = m + (number(model, x + QSX10) * atan(number(model, x + QSX11) * z) - number(model, x + QSX12) * bent) * gamma
    m = m + y / z * (number(model, x + QSX13) + number(model, x + QSX14) * bent)
    return number(model, x + RADIUS) * Fz * m * number(model, x + LMX)


@generic
def _rolling(model: Any, x: int, Fz: Any, gamma: Any, Fx: Any, Vx: Any) -> Any:
    """M_y, which goes over from one sign to the other within a tenth of a metre a second."""
    nominal, speed = number(model, x + FNOMIN), Vx / number(model, x + LONGVL)
    z, fast = Fz / nominal, speed * speed
    m = number(model, x + QSY1) + number(model, x + QSY2) * Fx / nominal + number(model, x + QSY3) * size_of(speed)
    m = m + number(model, x + QSY4) * fast * fast + (number(model, x + QSY5) + number(model, x + QSY6) * z) * gamma * gamma
    off = z <= 0.0
    m = m * where(off, 0.0 * z, exp(number(model, x + QSY7) * log(where(off, 1.0 + 0.0 * z, z))))
    m = m * exp(number(model, x + QSY8) * log(number(model, x + PRATIO)))
    slow = Vx / sqrt(Vx * Vx + 0.01)
    return -number(model, x + RADIUS) * Fz * m * slow * number(model, x + LMY)


@generic
def _relaxation(model: Any, x: int, Fz: Any, gamma: Any, Kx: Any, Ky: Any) -> Any:
    """L_x and L_y."""
    _, df, _ = _load_terms(model, x, Fz)
    R0, nominal = number(model, x + RADIUS), number(model, x + FNOMIN)
    x5 = Fz * (number(model, x + PTX1) + number(model, x + PTX2) * df) * exp(-number(model, x + PTX3) * df) * R0 / nominal
    t = Fz / (number(model, x + PTY2) * nominal)
    y5 = number(model, x + PTY1) * sin(2.0 * atan(t)) * (1.0 - number(model, x + PKY3) * size_of(gamma)) * R0
    x5, y5 = x5 * number(model, x + LSGKP), y5 * number(model, x + LSGAL)
    by_file = number(model, x + PTX1) > 0.0
    Lx = where(by_file, x5, size_of(Kx) / number(model, x + LONGITUDINAL_STIFFNESS))
    Ly = where(number(model, x + PTY1) > 0.0, y5, size_of(Ky) / number(model, x + LATERAL_STIFFNESS))
    least = _LEAST * R0
    return where(Lx < least, least + 0.0 * Lx, Lx), where(Ly < least, least + 0.0 * Ly, Ly)


@generic
def _camber(model: Any, x: int, sine: Any) -> Any:
    """The angle in MF 5.2, its sine in MF 6."""
    return where(number(model, x + MF5) > 0.5, atan(sine / sqrt(1.0 - sine * sine + 1e-12)), sine)


@generic
def evaluate(model: Any, x: int, Fz: Any, camber: Any, kappa: Any, tangent: Any, Vx: Any) -> Any:
    """(F_x, F_y, F_z), (M_x, M_y, M_z) of sin(gamma), kappa and tan(alpha)."""
    _, df, _ = _load_terms(model, x, Fz)
    alpha, gamma = where(number(model, x + MF5) > 0.5, atan(tangent), tangent), _camber(model, x, camber)
    Fx0, Kx, _ = _pure_x(model, x, Fz, gamma * number(model, x + LGAX), kappa)
    Fy0, Ky, mu, SH, SV, B, C = _pure_y(model, x, Fz, gamma * number(model, x + LGAY), alpha)
    Fx = Fx0 * _weakened_x(model, x, df, gamma, kappa, alpha)
    G, SV_kappa = _weakened_y(model, x, df, gamma, kappa, alpha, mu * Fz)
    Fy = G * Fy0 + SV_kappa
    of_y = Ky, mu, SH, SV, B, C
    F = Fx, Fy, Fy - SV_kappa
    Mz = _aligning(model, x, Fz, gamma * number(model, x + LGAZ), kappa, alpha, Kx, of_y, F, direction(Vx))
    return (Fx, Fy, Fz), (_overturning(model, x, Fz, gamma, Fy), _rolling(model, x, Fz, gamma, Fx, Vx), Mz)


@generic
def _grown(model: Any, x: int, spin: Any) -> Any:
    """R_W - R_0, and o."""
    R0 = number(model, x + RADIUS)
    turned = spin * R0 / number(model, x + LONGVL)
    return R0 * (number(model, x + QRE0) - 1.0 + number(model, x + QV1) * turned * turned), turned


@generic
def _load(model: Any, x: int, rho: Any, rate: Any, spin: Any) -> Any:
    """F_z."""
    grown, turned = _grown(model, x, spin)
    deflection = where(rho == 0.0, 0.0 * grown + rho, rho + grown)  # a wheel that lies on its side has none, exactly
    steep = number(model, x + FNOMIN) / number(model, x + RADIUS)
    curved, k = number(model, x + QFZ2) * steep / number(model, x + RADIUS), number(model, x + STIFFNESS)
    square = k * k - 4.0 * number(model, x + QFZ2) * steep * steep
    spring = deflection * (sqrt(where(square > 0.0, square, 0.0 * square)) + curved * deflection)
    spring = (
        spring * (1.0 + number(model, x + PFZ1) * number(model, x + DPI)) * (1.0 + number(model, x + QV2) * size_of(turned))
    )
    return pressed(model, x, deflection, rate, spring)


@generic
def law(model: Any, x: int, bent: Any, rho: Any, camber: Any, Vx: Any, Vsy: Any, spin: Any, Fz: Any) -> Any:
    """Forces and moments, and the rates of the deflections."""
    grown, _ = _grown(model, x, spin)
    rho = rho + grown
    stiffness = number(model, x + STIFFNESS) * (1.0 + number(model, x + PFZ1) * number(model, x + DPI))
    nominal = number(model, x + FNOMIN) / stiffness
    d = where(rho < 0.0, 0.0 * rho, rho) / nominal
    deeper = number(model, x + DREFF) * atan(number(model, x + BREFF) * d) + number(model, x + FREFF) * d
    Vsx = Vx - spin * (number(model, x + RADIUS) + grown - nominal * deeper)
    _, Kx, _ = _pure_x(model, x, Fz, camber, 0.0 * Fz)
    gamma = _camber(model, x, camber) * number(model, x + LGAY)
    Ky, _ = _cornering(model, x, Fz, gamma)
    Lx, Ly = _relaxation(model, x, Fz, gamma, Kx, Ky)
    kappa, tangent, e_rate, s_rate = slips(bent, Vx, Vsx, Vsy, Lx, Ly)
    force, moment = evaluate(model, x, Fz, camber, kappa, tangent, Vx)
    up = Fz <= 0.0
    o = 0.0 * Fz
    return (
        (where(up, o, force[0]), where(up, o, force[1]), Fz),
        (where(up, o, moment[0]), where(up, o, moment[1]), where(up, o, moment[2])),
        where(up, -bent[0] / 0.01, e_rate),  # what is in the air straightens
        where(up, -bent[1] / 0.01, s_rate),
    )


class MagicFormulaTyre(Tyre):
    """A tyre by Pacejka's Magic Formula, with the coefficients of a .tir file.

    Parameters
    ----------
    wheel : MobilizedBody
        The body that turns.
    coefficients : path or mapping
        A file of TNO's format, MF 5.2 (FITTYP 5, 6, 51, 52), 6.1 or 6.2, or its numbers by name in SI units, such as
        ``{"FNOMIN": 4000, ...}``.
    center, axis : (3,) array_like
        The wheel's center and its spin axis, to the left, in the wheel's frame.
    road : HeightField or Function, optional
        The road's height by x and y of its frame; a plane unless given.
    road_frame : Transform or array_like, optional
        The road's frame in Ground, whose z is up; Ground's unless given.
    grip : float
        What the coefficients of friction are multiplied by.
    mirrored : bool
        Whether it is fitted on the other side than the file's tyre: what is not symmetric is turned round.
    inflation_pressure : float, optional
        Force/length^2, in the unit of NOMPRES of a mapping; that of the file unless given.

    Raises
    ------
    TypeError
        If the body, the road or a number is none.
    ModelError
        If a file cannot be read, is of another tyre model, or lacks what the formula cannot do without; or if lateral
        forces have the sign of another convention than ISO's, PKY1 > 0.
    TopologyError
        If the wheel belongs to another system.

    Warns
    -----
    ModelWarning
        In one line, of coefficients that it does not use: what they are of, and those that may be misspelled.

    Notes
    -----
    Its two variables are the deflections of the contact patch, with the relaxation lengths. It needs no minimum speed. See
    `force._tyre` and the module for the equations.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> rim = mb.body.Rigid(mb.MassProperties(20.0, (0, 0, 0), mb.UnitInertia(0.05, 0.1, 0.05)))
    >>> wheel = mb.mobilizer.Free(matter.ground, rim)
    >>> tyre = mb.force.MagicFormulaTyre(forces, wheel, mb.examples.car.TYRE)
    >>> state = system.realize_topology()
    >>> wheel.set_q_to_fit_translation(state, (0, 0, tyre.get_radius(state) - 0.02))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> float(tyre.calc_forces(state)[0, 2].round(6))
    4000.0
    """

    routine, wrench_routine = by_address(adding(law, _load), with_z=True), leaving(law, _load)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        wheel: MobilizedBody,
        coefficients: str | os.PathLike[str] | Mapping[str, float],
        *,
        center: npt.ArrayLike = (0.0, 0.0, 0.0),
        axis: npt.ArrayLike = (0.0, 1.0, 0.0),
        road: HeightField | Function | None = None,
        road_frame: Transform | npt.ArrayLike = IN_GROUND,
        grip: float = 1.0,
        mirrored: bool = False,
        inflation_pressure: float | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(coefficients, (str, os.PathLike, Mapping)):
            raise TypeError(
                f"coefficients of a MagicFormulaTyre are a .tir file's path or numbers by name, not {coefficients!r}"
            )
        given = dict(coefficients) if isinstance(coefficients, Mapping) else read_tir(coefficients)
        of_file = {_named(str(key).upper()): value for key, value in given.items()}
        own = _numbers(of_file, checks.flag("mirrored", mirrored), inflation_pressure)
        numbers = self.declared(
            name,
            center=center,
            axis=axis,
            road_frame=road_frame,
            grip=grip,
            radius=of_file["UNLOADED_RADIUS"],
            stiffness=_stiffness(of_file),
            damping=of_file.get("VERTICAL_DAMPING", 0.0),
        )
        self._begin(forces, wheel, road, disabled_by_default, name)
        self.default_numbers = [*numbers, *own]


def _named(name: str) -> str:
    """A coefficient's name, as one of two programs writes it: Q_V1 is QV1, and QPFZ1 is PFZ1."""
    return {"QPFZ1": "PFZ1"}.get(name, f"Q{name[2:]}" if name.startswith("Q_") else name)


def _stiffness(given: Mapping[str, Any]) -> float:
    """The vertical stiffness at the nominal load, by QFZ1 where the file has it.

    Raises
    ------
    ModelError
        If QFZ2 is too large for it.
    """
    nominal, R0 = float(given["FNOMIN"]), checks.positive("radius of a MagicFormulaTyre", given["UNLOADED_RADIUS"])
    first, second = (checks.finite(f"{name} of a MagicFormulaTyre", given.get(name, 0.0)) for name in ("QFZ1", "QFZ2"))
    k = checks.positive("VERTICAL_STIFFNESS of a MagicFormulaTyre", given["VERTICAL_STIFFNESS"])
    square = first * first + 4.0 * second if first else (k * R0 / nominal) ** 2
    if square <= 4.0 * second or square <= 0.0:
        raise ModelError(
            f"QFZ2 of a MagicFormulaTyre is {second:g}: with it no linear part is left of the vertical stiffness, "
            f"whose square is {square:g} (FNOMIN / UNLOADED_RADIUS)^2"
        )
    scale: float = checks.positive("LCZ of a MagicFormulaTyre", given.get("LCZ", 1.0))
    return scale * nominal / R0 * square**0.5


def _numbers(given: Mapping[str, Any], mirrored: bool, pressure: float | None) -> list[float]:
    """The coefficients in the order of _NAMES, checked."""
    lacking = [name for name in _NEEDED if name not in given]
    if lacking:
        raise ModelError(f"the coefficients of a MagicFormulaTyre lack {', '.join(lacking)}")
    found = {
        name: checks.finite(f"{name} of a MagicFormulaTyre", given[name])
        for name in {*_NAMES, "FITTYP", "NOMPRES", "INFLPRES", "IP", "IP_NOM"}
        if name in given
    }
    if found["PKY1"] > 0.0:
        raise ModelError(
            "PKY1 of a MagicFormulaTyre is above zero: these coefficients have the signs of the adapted SAE axes; give those "
            "of the ISO axes, in which .tir files are"
        )
    for name in ("FNOMIN", "PCX1", "PCY1", "PKY2"):
        checks.positive(f"{name} of a MagicFormulaTyre", found[name])
    version = int(found.get("FITTYP", 61))
    if version not in (5, 6, 51, 52, 60, 61, 62):
        raise ModelError(f"FITTYP {version} of a tyre is no Magic Formula that is known: 5, 6, 51, 52, 60, 61, 62")
    usual = found.get("NOMPRES", found.get("IP_NOM", 0.0))
    if pressure is not None and usual <= 0.0:
        raise ModelError(
            "inflation_pressure of a MagicFormulaTyre is given, but its coefficients have no NOMPRES to compare it with"
        )
    now = (
        checks.positive("inflation_pressure", pressure)
        if pressure is not None
        else found.get("INFLPRES", found.get("IP", usual))
    )
    values = {name: (1.0 if name.startswith("L") and name not in _LENGTHS else 0.0) for name in _NAMES} | _USUAL
    values |= {name: value for name, value in found.items() if name in values}
    values["MF5"] = float(version in (5, 6, 51, 52))
    values["DPI"], values["PRATIO"] = (now / usual - 1.0, now / usual) if usual > 0.0 and now > 0.0 else (0.0, 1.0)
    values["PTY2"] = values["PTY2"] or 1.0
    k = float(given["VERTICAL_STIFFNESS"])
    for name in _LENGTHS[:2]:
        values[name] = values[name] or k  # of a tyre without these the patch is as stiff as the tyre
    _tell_unused(given)
    if mirrored:
        for name in _TURNED:
            values[name] = -values[name]
    return [values[name] for name in _NAMES]


def _tell_unused(given: Mapping[str, Any]) -> None:
    unused = [
        name
        for name, value in given.items()
        if name not in (*_NAMES, "QFZ1", "LCZ")
        and _COEFFICIENT.fullmatch(name)
        and value != _NOTHING.get(name, 1.0 if name.startswith("L") else 0.0)
    ]
    said = []
    for what, names in _LEFT_OUT.items():
        own = [name for name in unused if names.fullmatch(name)]
        unused = [name for name in unused if name not in own]
        if own:
            said.append(f"leaves out {what} ({own[0]}{f' and {len(own) - 1} more' if len(own) > 1 else ''})")
    if unused:
        said.append(f"does not know {', '.join(unused)}, which may be misspelled")
    if said:
        warnings.warn(f"a MagicFormulaTyre {'; '.join(said)}", ModelWarning, stacklevel=callers_level())


#: Names that begin with L and are no scales.
_LENGTHS = "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS", "LONGVL"
#: Coefficients of what is not symmetric, which change their signs on the other side.
_TURNED = "PEY3 PHY1 PHY2 PVY1 PVY2 RHX1 RBY3 RVY1 RVY2 QBZ4 QDZ3 QDZ6 QDZ7 QEZ4 QHZ1 QHZ2 SSZ1 QSX1".split()
