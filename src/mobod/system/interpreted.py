"""Parts of a system that Python computes while it runs, and the reasons: a line each."""

from __future__ import annotations

from ..event.triggered import Triggered
from ..event.watched import is_compiled as is_watched_by_kernels
from ..event.when import When
from ..function import Custom, Multiplier
from ..function.routines import is_compiled
from ..measure.base import NotCompiled
from .system import MultibodySystem


def interpreted_lines(system: MultibodySystem) -> list[str]:
    """Functions of users' that kernels call Python for, and parts that are in Python.

    Returns
    -------
    list of str
        Such as ``interpreted: CoordinateCoupler 'cam' uses function.Custom (line 12 of cam.py: a dict);
        function.Expression would compile``.
    """
    if system.lines_of_functions is None:
        system.lines_of_functions = _of_functions(system)
    lines = list(system.lines_of_functions)
    for part in system.parts_in_python:
        why = getattr(part, "why_interpreted", "")
        if part in system.measures_in_python:
            lines.append(f"interpreted: {part!r} is a function of a State; measure.Custom of numbers would compile")
        else:
            lines.append(f"interpreted: {part!r} is computed by Python{f' ({why})' if why else ''}")
    for owner in (*system.event_handlers, *system.event_reporters):
        if isinstance(owner, Triggered) and not is_watched_by_kernels(owner):
            what = repr(owner.witness) if isinstance(owner, When) else "what get_value returns"
            name = getattr(owner, "name", None)
            whose = f"{type(owner).__name__} {name!r}" if name else type(owner).__name__
            remedy = "Coordinate, PlaneDistance or Gap would compile"
            lines.append(f"interpreted: {whose} watches {what}, a function of a State; {remedy}")
    if not system.compiles_measures and any(subsystem.acting_measures for subsystem in system.subsystems):
        try:
            system.program_of(system.tree_for(system.matter.default_use_euler_angles))
        except NotCompiled as error:
            why = f", as {error.args[0]!r} is not of numbers that kernels know" if error.args else ""
            lines.append(f"interpreted: measures are computed by Python{why}; measure.Custom of numbers would compile")
    return list(dict.fromkeys(lines))


def _of_functions(system: MultibodySystem) -> list[str]:
    """Those of functions that parts use."""
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
    return lines
