"""Files of tyres' properties (.tir): TNO's and ADAMS's text format of names and numbers."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from ..errors import ModelError

#: A line ``NAME = number``, with a comment behind $ or !.
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^$!]*)")
_COEFFICIENT = re.compile(r"[PQR][A-Z]{1,4}\d+")
#: What numbers of a file's units are in SI units.
_LENGTHS = {"meter": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "inch": 0.0254, "foot": 0.3048}
_FORCES = {"newton": 1.0, "kilo_newton": 1e3, "kn": 1e3, "pound_force": 4.4482216152605}
_ANGLES, _TIMES = {"radians": 1.0, "radian": 1.0, "rad": 1.0}, {"second": 1.0, "seconds": 1.0, "sec": 1.0, "s": 1.0}
_PRESSURES = {"pascal": 1.0, "pa": 1.0, "kpa": 1e3, "bar": 1e5, "psi": 6894.757293168361}
#: Formats of MF 5.2, whose files may lack FITTYP.
_OLDER = ("pac2002", "mf_05", "mf-05", "mf05", "mf5")
#: More than the longest of such files has.
_MOST = 1 << 22


def read_tir(path: str | os.PathLike[str]) -> dict[str, float]:
    """Read a file of a tyre's properties: its numbers by name, in SI units.

    Raises
    ------
    OSError
        If it cannot be read.
    ModelError
        If it is no such file, or has units that are not known, or says a number twice.
    """
    where = Path(path)
    if where.stat().st_size > _MOST:
        raise ModelError(f"{where}: {where.stat().st_size} bytes are no file of a tyre's properties")
    found: dict[str, float] = {}
    units: dict[str, str] = {}
    for count, line in enumerate(where.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            continue
        name, text = match[1].upper(), match[2].strip()
        if text.startswith(("'", '"')):
            units[name] = text.strip("'\" ").lower()
            continue
        try:
            value = float(text.replace("D", "E").replace("d", "e"))
        except ValueError:
            if _COEFFICIENT.fullmatch(name):
                raise ModelError(f"{where}, line {count}: {name} is {text!r}, which is no number") from None
            continue  # words
        if not math.isfinite(value):
            raise ModelError(f"{where}, line {count}: {name} is {text}, which is no finite number")
        if name in found and found[name] != value:
            raise ModelError(f"{where}, line {count}: {name} is there twice, as {found[name]:g} and {value:g}")
        found[name] = value
    if not found:
        raise ModelError(f"{where} is no file of a tyre's properties: it has no lines NAME = number")
    kind = units.get("PROPERTY_FILE_FORMAT", "mf")
    # TNO's own files of 6.1 and 6.2 say 'USER', and FITTYP which formula it is
    if "FITTYP" not in found and not kind.startswith(("mf", "pac2002")):
        known = "Magic Formula 5.2, 6.1 and 6.2 are known, by this or by FITTYP"
        raise ModelError(f"{where}: PROPERTY_FILE_FORMAT is {kind!r}, and there is no FITTYP; {known}")
    if kind.startswith(_OLDER):
        found.setdefault("FITTYP", 5)
    return _in_si(where, found, units)


def _in_si(where: Path, found: dict[str, float], units: dict[str, str]) -> dict[str, float]:
    length = _unit(where, "LENGTH", _LENGTHS, units.get("LENGTH", "meter"))
    force = _unit(where, "FORCE", _FORCES, units.get("FORCE", "newton"))
    for what, known, usual in (("ANGLE", _ANGLES, "radians"), ("TIME", _TIMES, "second")):
        _unit(where, what, known, units.get(what, usual))
    pressure = _unit(where, "PRESSURE", _PRESSURES, units.get("PRESSURE", "pascal"))
    powers = {
        **dict.fromkeys(("INFLPRES", "NOMPRES", "IP", "IP_NOM"), pressure),
        "UNLOADED_RADIUS": length,
        "WIDTH": length,
        "RIM_RADIUS": length,
        "FNOMIN": force,
        **dict.fromkeys(
            ("VERTICAL_STIFFNESS", "VERTICAL_DAMPING", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS"), force / length
        ),
        "LONGVL": length,
    }
    return {name: value * powers.get(name, 1.0) for name, value in found.items()}


def _unit(where: Path, what: str, known: dict[str, float], given: str) -> float:
    if given not in known:
        raise ModelError(f"{where}: the unit of {what} is {given!r}; known are {', '.join(known)}")
    return known[given]
