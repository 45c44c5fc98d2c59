"""Options of MuJoCo's solver, and elements without a counterpart: reported."""

from __future__ import annotations

from typing import Any

import numpy as np

from .source import Source, plural

#: Options that are followed, or of which something else is said; all others are the solver's.
_NOT_OF_THE_SOLVER = {"gravity", "wind", "magnetic", "density", "viscosity", "disableflags", "enableflags", "disableactuator"}
#: Features whose switching off needs no word, since nothing here depends on it.
_SILENT = {
    "WARMSTART",
    "FILTERPARENT",
    "REFSAFE",
    "SENSOR",
    "MIDPHASE",
    "NATIVECCD",
    "MULTICCD",
    "ISLAND",
    "EULERDAMP",
    "AUTORESET",
}
#: Features whose switching on changes what MuJoCo computes beside the motion, or how its solver goes about it.
_BESIDE = {"ENERGY", "FWDINV", "INVDISCRETE", "DIAGEXACT"}
#: Those that are followed.
_FOLLOWED = {
    "GRAVITY",
    "SPRING",
    "DAMPER",
    "ACTUATION",
    "CLAMPCTRL",
    "EQUALITY",
    "LIMIT",
    "FRICTIONLOSS",
    "CONTACT",
    "CONSTRAINT",
}
#: Elements that have no counterpart, by MuJoCo's count of them.
_ELEMENTS = {"flex": "nflex", "skin": "nskin", "plugin": "nplugin", "height field": "nhfield"}


def report(source: Source) -> None:
    """Every option that is not as MuJoCo has it unless told, and every feature that is switched off."""
    m, mujoco = source.m, source.mujoco
    usual = mujoco.MjOption()
    said = [
        f"{name} {_word(mujoco, name, value)}"
        for name, value in _solvers(source).items()
        if not np.array_equal(value, getattr(usual, name))
    ]
    if said:
        source.note(f"options of MuJoCo's solver, kept as data: {', '.join(said)}")
    for name, member in mujoco.mjtDisableBit.__members__.items():
        flag = name.removeprefix("mjDSBL_")
        if flag not in ("mjNDISABLE",) and member.value and m.opt.disableflags & int(member) and flag not in _SILENT:
            what = "followed" if flag in _FOLLOWED else "not simulated"
            say = source.note if flag in _FOLLOWED else source.depart
            say(f"flag {flag.lower()} is disabled in the file: {what}")
    for name, member in mujoco.mjtEnableBit.__members__.items():
        if m.opt.enableflags & int(member) and name.startswith("mjENBL_"):
            flag = name.removeprefix("mjENBL_")
            beside = flag in _BESIDE
            say = source.note if beside else source.depart
            what = "MuJoCo's own, of no matter for the motion" if beside else "not simulated"
            say(f"flag {flag.lower()} is enabled in the file: {what}")
    for what, count in _ELEMENTS.items():
        number = int(getattr(m, count, 0))
        if number and what not in ("height field",):
            many = what + ("es" if what == "flex" else "s")
            line = f"{plural(number, what, many)}: not simulated"
            if what == "skin":  # which is drawn, and moves nothing
                source.note(line)
            else:
                source.lose(line, many, number)
    for field, what in (("jnt_springyield", "joint"), ("tendon_springyield", "tendon")):
        if np.any(getattr(m, field, 0.0)):
            source.depart(f"springyield of {what}s: springs stay elastic")


def _solvers(source: Source) -> dict[str, Any]:
    """The options of the solver, by name."""
    opt = source.m.opt
    names = [name for name in dir(opt) if name[0] != "_" and not callable(getattr(opt, name))]
    return {name: getattr(opt, name) for name in names if name not in _NOT_OF_THE_SOLVER}


def _word(mujoco: Any, name: str, value: Any) -> str:
    kinds = {"integrator": "mjtIntegrator", "cone": "mjtCone", "solver": "mjtSolver", "jacobian": "mjtJacobian"}
    if name in kinds:
        return str(getattr(mujoco, kinds[name])(int(value))).rpartition("_")[2].lower()
    return " ".join(f"{x:g}" for x in np.ravel(value).tolist())


def kept(source: Source) -> dict[str, Any]:
    """The options as data."""
    opt = source.m.opt
    names = [*_solvers(source), *sorted(_NOT_OF_THE_SOLVER - {"gravity"})]
    return {name: np.array(getattr(opt, name)) if np.ndim(getattr(opt, name)) else getattr(opt, name) for name in names}
