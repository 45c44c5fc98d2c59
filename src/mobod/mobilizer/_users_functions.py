"""From `CompiledFunctions` to what the engine takes: checked by calling them in plain Python, then made into one routine.

What can be found out by a call with numbers, with arrays of eight and with dual numbers is found out when the mobilizer is
made, in words about the user's own function; what only Numba finds out, when its topology is realized.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._frozen import Frozen
from .._jit import UsersRoutine, why_not
from ..errors import ModelError
from . import _of_functions as of
from . import _written as w
from ._by_address import BY_ADDRESS
from ._users_trial import NAMES, Trial
from .base import Facts
from .compiled_functions import CompiledFunctions
from .custom_implementation import check_counts

#: How many parameters compiled functions can have: each is an argument that Numba has to type.
MOST_PARAMETERS = 32


def facts_of(functions: CompiledFunctions, parameters: tuple[float, ...]) -> Facts:
    """What the tree has to know of a mobilizer made of users' functions, which are checked and frozen."""
    if not isinstance(functions, CompiledFunctions):
        raise TypeError(f"compiled has to be a mobod.mobilizer.CompiledFunctions(...), not {functions!r}")
    check_counts("CompiledFunctions", functions.num_u, functions.num_q, functions.num_angles, ("num_u", "num_q", "num_angles"))
    if len(parameters) > MOST_PARAMETERS:
        raise ModelError(f"compiled functions take {MOST_PARAMETERS} parameters at most, got {len(parameters)}")
    frozen = {name: Frozen(f, name) for name in NAMES if (f := getattr(functions, name)) is not None}
    _check_what_is_there(functions, frozen)
    three_rows = Trial(functions, frozen, parameters).run()
    return _made(functions, frozen, three_rows, len(parameters))


def _check_what_is_there(functions: CompiledFunctions, frozen: dict[str, Frozen]) -> None:
    for name, takes_u in NAMES.items():
        if name not in frozen:
            continue
        wanted = ("q", "u", "parameters") if takes_u else ("q", "parameters")
        try:
            inspect.signature(frozen[name].function).bind(*wanted)
        except TypeError as error:
            raise ModelError(f"{frozen[name].what} has to take ({', '.join(wanted)}): {error}") from None
    if "transform" not in frozen:
        raise ModelError("CompiledFunctions needs a transform; the other functions can follow from it")
    if "n" in frozen and "n_inv" not in frozen:
        raise ModelError(f"{frozen['n'].what} needs n_inv beside it: the inverse of N, for u of q_dot")
    if "n" not in frozen and ("n_inv" in frozen or "n_dot" in frozen):
        raise ModelError("n_inv and n_dot belong to n, which is not there: give it too, or leave them out")
    expected = functions.num_u + (functions.num_angles == 4)
    if "n" not in frozen and functions.num_q != expected:
        raise ModelError(
            f"with {functions.num_q} coordinates and {functions.num_u} speeds q_dot cannot be u: give n and n_inv, q_dot = N u"
        )


def _made(functions: CompiledFunctions, frozen: dict[str, Frozen], three_rows: bool, num_parameters: int) -> Facts:
    num_q, num_u, has_quaternion = functions.num_q, functions.num_u, functions.num_angles == 4

    def columns(name: str) -> of.Function | None:
        if name not in frozen:
            return None
        return of.with_scalars_of_q(frozen[name].function, w.as_columns(num_u), NAMES[name])

    def rows(name: str, rows: int, columns: int) -> of.Function | None:
        if name not in frozen:
            return None
        return of.with_scalars_of_q(frozen[name].function, w.as_rows(rows, columns), NAMES[name])

    given = of.Given(
        of.as_nine(frozen["transform"].function, three_rows),
        columns("hinge"),
        columns("hinge_dot"),
        rows("n", num_q, num_u),
        rows("n_inv", num_u, num_q),
        rows("n_dot", num_q, num_u),
    )
    of_q = of.completed(given, num_q, num_u, has_quaternion)
    of_a = of.of_angles(of_q, num_q, num_u) if has_quaternion else None
    kernel = of.kinematics_of(of_q, of_a, num_q, num_u, num_parameters)
    kernel.__module__ = __name__

    def explain(scalar: str, error: Exception) -> Exception:
        return _explained(functions, frozen, num_parameters, scalar, error)

    parts = [part for f in frozen.values() for part in f.parts]
    fingerprint = _fingerprint(functions, frozen, three_rows, num_parameters)
    return Facts(
        BY_ADDRESS,
        num_q=num_q,
        num_u=num_u,
        transform=_for_python(of_q.transform),
        hinge=_for_python(of_q.hinge),
        transform_euler=_for_python(of_a.transform) if of_a else None,
        hinge_euler=_for_python(of_a.hinge) if of_a else None,
        constant_hinge=False,
        num_parameters=num_parameters,
        has_matrix_n=of_q.n is not None,
        kinematics=_routine(kernel, parts, fingerprint, explain),
    )


#: The routines made so far: a system's copies, and mobilizers made of equal functions, share them.
_routines: dict[str, UsersRoutine] = {}


def _routine(
    kernel: of.Function, parts: list[Any], fingerprint: str | None, explain: Callable[[str, Exception], Exception]
) -> UsersRoutine:
    if fingerprint is None:
        return UsersRoutine(kernel, parts, None, explain)
    if fingerprint not in _routines:
        _routines[fingerprint] = UsersRoutine(kernel, parts, fingerprint, explain)
    return _routines[fingerprint]


def _fingerprint(functions: CompiledFunctions, frozen: dict[str, Frozen], three_rows: bool, num_parameters: int) -> str | None:
    prints = {name: f.fingerprint for name, f in frozen.items()}
    if None in prints.values():
        return None
    shape = functions.num_q, functions.num_u, functions.num_angles == 4, three_rows, num_parameters
    return hashlib.blake2b(repr((shape, prints)).encode(), digest_size=16).hexdigest()


def _for_python(function: of.Function) -> of.Function:
    """A function of q and the parameters, for `Facts`, which gives the latter only where there are some."""

    @functools.wraps(function)
    def of_q(q: Any, p: Any = ()) -> Any:
        return function(q, p)

    return of_q


# ---------------------------------------------------------------------------------------------- what Numba finds


def _explained(
    functions: CompiledFunctions, frozen: dict[str, Frozen], num_parameters: int, scalar: str, error: Exception
) -> ModelError:
    """Which function it is that Numba cannot compile, and the heart of what it says."""
    of_what = {"state": "numbers", "lanes": "eight states at a time", "duals": "dual numbers"}
    for kind in dict.fromkeys((scalar, "duals")):  # of which derivatives are made
        for name, f in frozen.items():
            lengths = [functions.num_q, functions.num_u, num_parameters] if NAMES[name] else [functions.num_q, num_parameters]
            said = why_not(f.function, lengths, kind)
            if said is not None:
                return ModelError(f"{f.what} cannot be compiled for {of_what[kind]}: {_in_plain_words(said, f)}")
    return ModelError(
        f"{frozen['transform'].what} cannot be compiled for {of_what[scalar]}: {_in_plain_words(str(error), None)}"
    )


#: What Numba says, and what that means for a function of numbers.
_MEANINGS = (
    (r"Cannot unify (.+) and (.+) for '([A-Za-z_]\w*)", r"\3 is \1 in one place and \2 in another; begin sums with zero(q[0])"),
    (r"Untyped global name '(\w+)'", r"\1 is neither a number, nor a tuple of numbers, nor a plain function"),
    (r"NameError: (.+)", r"\1"),
    (r"(DictType|ListType|reflected|unicode_type)", "it makes lists, dictionaries or strings, of which it can make none"),
    (r"No implementation of function Function\(.*\) found for signature:\s*>>> (.+)", r"there is no \1"),
    (r"(Unknown attribute .+)", r"\1"),
    (r"(NRT required)", "it makes lists, dictionaries, strings or arrays, of which it can make none"),
)
_TYPES = ((r"Dual\([^()]*(\([^()]*\))?[^()]*\)", "a dual number"), (r"Lanes8", "eight states"), (r"\bfloat64\b", "a float"))


def _in_plain_words(message: str, function: Frozen | None) -> str:
    """The heart of a message of Numba's, and the line of the user's file that it is about."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line.strip() for line in plain.splitlines() if line.strip() and not line.strip().startswith("Failed in nopython")]
    text = lines[0] if lines else plain
    for pattern, meaning in _MEANINGS:
        found = re.search(pattern, plain)
        if found:
            text = found.expand(meaning)
            break
    for pattern, name in _TYPES:
        text = re.sub(pattern, name, text)
    for part in function.parts if function is not None else ():
        file = part.__code__.co_filename
        places = re.findall(rf"{re.escape(Path(file).name)}\"?,? (?:line )?\(?(\d+)", plain)
        if places:
            source = linecache.getline(file, int(places[-1])).strip()
            return f"{text} (line {places[-1]} of {Path(file).name}: {source})"
    return text
