"""The dynamics of a system as C99: one file and its header, without allocation, from the source of the kernels."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._version import __version__
from ..simulation.names import coordinate_names, speed_names
from ..system.arguments import check_state, check_system
from ..value import checks
from ..value.files import as_path, check_writable, written
from ..value.stage import Stage
from .c_source import Function, Writer
from .model import RecordedModel, recorded
from .parameters import Parameters

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem, State

FUNCTIONS = "forward_dynamics", "inverse_dynamics", "mass_matrix", "bias"
REALS = "double", "float"
_STATE = {"t": None, "q": "required", "u": "required", "z": "required"}


class CSource(NamedTuple):
    """The result of `export_c`.

    Attributes
    ----------
    source, header : pathlib.Path
        The two files.
    functions : tuple of str
        What they declare, without the prefix.
    coordinate_names, speed_names : tuple of str
        Of q and u, in their order.
    parameter_names : tuple of str
        Of p.
    station_names : tuple of str

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> system, state = mb.examples.double_pendulum.build()
    >>> written = mb.export_c(system, pathlib.Path(tempfile.mkdtemp()) / "pendulum.c")
    >>> written.header.name, written.functions, written.speed_names
    ('pendulum.h', ('forward_dynamics', 'inverse_dynamics'), ('upper', 'lower'))
    """

    source: Path
    header: Path
    functions: tuple[str, ...]
    coordinate_names: tuple[str, ...]
    speed_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    station_names: tuple[str, ...]


def export_c(
    system: MultibodySystem,
    path: str | os.PathLike[str],
    *,
    state: State | None = None,
    functions: Sequence[str] = ("forward_dynamics", "inverse_dynamics"),
    parameters: Iterable[str] = (),
    stations: Mapping[str, Any] | None = None,
    real: str = "double",
    prefix: str | None = None,
) -> CSource:
    """Write the dynamics of a system as a file of C99 and its header, for controllers, simulators and other languages.

    The functions are straight-line code: no loop, no allocation, no static variables, nothing to link but the mathematical
    library. They have what the kernels compute, recorded from the same source: joints, gravity, springs and other forces,
    closed loops, prescribed motions.

    Parameters
    ----------
    system : MultibodySystem
    path : str or path
        Of the ``.c`` file; the header is written beside it.
    state : State, optional
        Whose locks, switches and parameters count; a default state where none is given.
    functions : sequence of str
        Some of ``forward_dynamics`` (q_dot, u_dot and z_dot), ``inverse_dynamics`` (the forces on the mobilities, beside the
        elements', that accelerations take), ``mass_matrix`` (M, by rows) and ``bias`` (the same forces at udot = 0: M udot +
        bias = f). Those but the first are of the tree: closed loops do not enter.
    parameters : iterable of str
        Numbers that the functions take as an array ``p`` in place of constants: ``"bob.mass"``, ``"bob.com[1]"``,
        ``"spring.stiffness"``. A body's mass and mass center leave its inertia about the mass center as it is, unless its
        ``inertia`` is a parameter too; ``p_PF`` and ``p_BM`` are the origins of a joint's frames.
    stations : mapping of str to (body, point), optional
        Points of bodies, in the body's frame: a function ``stations`` gives their positions ``(n, 3)``, velocities and
        Jacobians ``(n, 3, nu)``, by rows, in Ground.
    real : {"double", "float"}
        The type of all numbers.
    prefix : str, optional
        What names in C begin with; the file's name where none is given.

    Returns
    -------
    CSource

    Raises
    ------
    FormulaError
        Where a part of the system cannot be written as formulas, by its name: what Python computes, contact, events' unilateral
        contacts and friction, particles.
    ValueError, TypeError
        For a name, a function or a type that is none, or a prefix that C does not take.
    TopologyError
        If the system has no topology yet, or the state is of another system.

    Notes
    -----
    q, u, z and u_dot are as in a `State`; a quaternion has to be of length 1. Pointers to results that are not wanted, and to
    forces that are zero, may be NULL; ``p`` may be NULL for the defaults. What controllers of `mobod.control` give is left out:
    put it into the forces ``f``. Redundant equations of closed loops are dropped, one by one, as the kernels find them. The
    last digits are not those of the kernels, which fuse multiplications and additions.

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> system, state = mb.examples.double_pendulum.build()
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> written = mb.export_c(system, folder / "pendulum.c", parameters=["lower.mass"])
    >>> written.parameter_names
    ('lower.mass',)
    >>> [line for line in written.header.read_text().splitlines() if line.startswith("void")][0][:48]
    'void pendulum_forward_dynamics(pendulum_real t, '
    """
    target = as_path("path", path)
    if target.suffix != ".c":
        raise ValueError(f"path has to end in .c, got {str(target)!r}")
    check_writable("path", target)
    prefix = target.stem if prefix is None else prefix
    if not isinstance(prefix, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ValueError(f"prefix has to be a name in C, of letters, digits and underscores, got {prefix!r}; give prefix=")
    _choose("real", real, REALS)
    wanted = _listed(functions)
    check_system("export_c", system)
    state = system.realize_topology() if state is None else state
    check_state("export_c", system, state)
    if state.stage < Stage.MODEL:
        state.refuse_model("export_c")
    own = Parameters(system, state, parameters)
    points = _stations(system, stations)
    writer = Writer(prefix, real == "float")
    made = [_MAKERS[name](system, state, own) for name in wanted]
    if points:
        made.append(_of_stations(system, state, own, points))
    names = tuple(coordinate_names(system, state)), tuple(speed_names(system, state))
    texts = [writer.definition(function) for function in made]
    facts = _Facts(prefix, real, state, own, names, tuple(points))
    source, header = target, target.with_suffix(".h")
    for file, text in ((header, _header(facts, writer, made)), (source, _source(facts, writer, texts, header.name))):
        with written(file) as beside:
            beside.write_text(text, encoding="ascii", errors="replace")
    return CSource(source, header, tuple(f.name for f in made), *names, tuple(own.names), tuple(points))


def _listed(functions: Any) -> list[str]:
    if isinstance(functions, str) or not isinstance(functions, Iterable):
        raise TypeError(f"functions has to be a list of names, such as ['forward_dynamics'], not {functions!r}")
    wanted = list(dict.fromkeys(functions))
    for name in wanted:
        _choose("functions", name, FUNCTIONS)
    return wanted


def _choose(what: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{what} has to be {' or '.join(map(repr, known))}, got {value!r}")


def _stations(system: MultibodySystem, stations: Mapping[str, Any] | None) -> dict[str, tuple[int, Any]]:
    if stations is None:
        return {}
    checks.instance("stations", stations, Mapping, '{"tip": (body, point)}')
    found = {}
    for name, given in stations.items():
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise TypeError(f"station {name!r} has to be (body, point), not {given!r}")
        body = system.get_matter_subsystem().find_body(given[0])
        found[str(name)] = body.index, checks.vector(f"station {name!r}", given[1])
    return found


# ---------------------------------------------------------------------------------------------- the functions


def _forward(system: MultibodySystem, state: State, own: Parameters) -> Function:
    model = recorded(system, state, own)
    outputs = {
        "q_dot": list(model.q_dot[: model.nq, 0]),
        "u_dot": list(model.u_dot[: model.nu, 0]),
        "z_dot": list(model.z_dot[: state.tree.nz, 0]),
    }
    inputs = {**_STATE, "f": "0", "p": _default(own)}
    return Function("forward_dynamics", inputs, outputs, "Rates of q, u and z, with forces f on the mobilities.")


def _inverse(system: MultibodySystem, state: State, own: Parameters) -> Function:
    model = recorded(system, state, own, "realize_forces")
    f = model.inverse([model.tape.input("u_dot", i) for i in range(model.nu)])
    doc = "Forces on the mobilities, beside the elements', that u_dot takes; of the tree, without closed loops."
    return Function("inverse_dynamics", {**_STATE, "u_dot": "required", "p": _default(own)}, {"f": f}, doc)


def _bias(system: MultibodySystem, state: State, own: Parameters) -> Function:
    model = recorded(system, state, own, "realize_forces")
    doc = "bias of M u_dot + bias = f: velocity terms less the elements' forces."
    return Function("bias", {**_STATE, "p": _default(own)}, {"bias": model.inverse([0.0] * model.nu)}, doc)


def _mass_matrix(system: MultibodySystem, state: State, own: Parameters) -> Function:
    model = recorded(system, state, own, "realize_positions")
    M = [x for row in model.mass_matrix() for x in row]
    return Function("mass_matrix", {"q": "required", "p": _default(own)}, {"M": M}, "The mass matrix, by rows.")


def _of_stations(system: MultibodySystem, state: State, own: Parameters, points: Mapping[str, Any]) -> Function:
    model: RecordedModel = recorded(system, state, own, "realize_velocities")
    found = [model.station(b, p) for b, p in points.values()]
    outputs = {
        "position": [x for where, _, _ in found for x in where],
        "velocity": [x for _, velocity, _ in found for x in velocity],
        "jacobian": [x for _, _, J in found for row in J for x in row],
    }
    doc = "Positions and velocities of the stations in Ground, three numbers each, and Jacobians, by station and row."
    return Function("stations", {"q": "required", "u": "required", "p": _default(own)}, outputs, doc)


_MAKERS: dict[str, Callable[[Any, Any, Parameters], Function]] = {
    "forward_dynamics": _forward,
    "inverse_dynamics": _inverse,
    "mass_matrix": _mass_matrix,
    "bias": _bias,
}


def _default(own: Parameters) -> str:
    return "@p[{i}]" if own.numbers else "required"


# ---------------------------------------------------------------------------------------------- the files


class _Facts(NamedTuple):
    prefix: str
    real: str
    state: Any
    own: Parameters
    names: tuple[tuple[str, ...], tuple[str, ...]]
    stations: tuple[str, ...]


def _about(facts: _Facts) -> list[str]:
    """The comment that says in which order numbers are."""
    rows = [f"Written by mobod {__version__}. C99; link the mathematical library, -lm.", ""]
    for array, names in (("q", facts.names[0]), ("u", facts.names[1]), ("p", facts.own.names), ("stations", facts.stations)):
        rows += [f"{array}[{i}]  {name}" for i, name in enumerate(names)]
    if facts.state.tree.nz:
        rows.append(f"z  {facts.state.tree.nz} auxiliary variables of forces")
    rows += ["", "Results, f and p may be NULL: not wanted, zero, and the defaults."]
    return ["/*", *(f" * {row}".rstrip().replace("*/", "* /") if i else f" * {row}" for i, row in enumerate(rows)), " */"]


def _header(facts: _Facts, writer: Writer, functions: Sequence[Function]) -> str:
    big, tree = facts.prefix.upper(), facts.state.tree
    counts = {
        "NUM_Q": tree.nq,
        "NUM_U": tree.nu,
        "NUM_Z": tree.nz,
        "NUM_P": len(facts.own.numbers),
        "NUM_STATIONS": len(facts.stations),
    }
    lines = [*_about(facts), f"#ifndef {big}_H", f"#define {big}_H", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += [f"typedef {facts.real} {writer.real};", ""]
    lines += [f"#define {big}_{name} {count}" for name, count in counts.items()]
    if facts.own.numbers:
        lines += ["", "/* The parameters as the model has them. */"]
        lines.append(f"extern const {writer.real} {facts.prefix}_default_p[{len(facts.own.numbers)}];")
    for function in functions:
        lines += ["", f"/* {function.doc} */", f"{writer.signature(function)};"]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def _source(facts: _Facts, writer: Writer, texts: Sequence[str], header: str) -> str:
    lines = [f'#include "{header}"', "", "#include <math.h>", "#include <stddef.h>", ""]
    if facts.own.numbers:
        values = ", ".join(writer.number(float(x)) for x in facts.own.defaults)
        lines += [f"const {writer.real} {facts.prefix}_default_p[{len(facts.own.numbers)}] = {{{values}}};", ""]
    tables = writer.tables()
    lines += [tables] if tables else []
    for text in texts:
        lines += [text.replace("@p", f"{facts.prefix}_default_p"), ""]
    return "\n".join(lines)
