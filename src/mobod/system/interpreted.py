"""Parts of a system that Python computes while it runs, and the reasons: a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..function import Custom, Multiplier
from ..function._routine import is_compiled

if TYPE_CHECKING:
    from .system import MultibodySystem


def interpreted_lines(system: MultibodySystem) -> list[str]:
    """Which functions of users' kernels call Python for, and which parts are in Python.

    Returns
    -------
    list of str
        Such as ``interpreted: CoordinateCoupler 'cam' uses function.Custom (line 12 of cam.py: a dict);
        function.Expression would compile``.
    """
    matter, lines = system.get_matter_subsystem(), []
    for part in (*system.all_forces(), *matter.body_list, *matter.constraints):
        for function, _ in getattr(part, "used_functions", ()):
            core = function.core()[0] if isinstance(function, Multiplier) else function
            if is_compiled(core):
                continue
            why, remedy = "", ""
            if isinstance(core, Custom):
                why, remedy = f" ({core.why_interpreted})", "; function.Expression would compile"
            lines.append(f"interpreted: {type(part).__name__} {part.name!r} uses function.{type(core).__name__}{why}{remedy}")
    for part in system.parts_in_python:
        why = getattr(part, "why_interpreted", "")
        lines.append(f"interpreted: {part!r} is computed by Python{f' ({why})' if why else ''}")
    return list(dict.fromkeys(lines))
