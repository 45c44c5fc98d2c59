"""Laws of controllers: users' functions of floats and arrays, frozen, compiled by themselves, explained where that fails."""

from __future__ import annotations

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra.scalar import load, load_lane, num_lanes, store, store_lane
from ..compiling import UsersRoutine
from ..errors import ModelError
from ..function.users import Frozen, find_culprit, line_in_message
from ..tree.sampling import ENDED, TIME, WORK_EFFORTS

#: The routines made so far, by fingerprint.
_made: dict[str, UsersRoutine] = {}
#: What Numba says; what that means; and how to write it instead.
_MEANINGS = (
    (
        r"setitem\(array\(float64, 1d, C\), slice<a:b>, none\)",
        "it returns nothing; return the efforts, one a mobility, as an array, a tuple or one number",
    ),
    (
        r"setitem\(array\(float64, 1d, C\), slice<a:b>, (?:Uni|Literal|DictType|\w*[Ll]ist|Tuple)",
        "it returns neither an array of efforts, one a mobility, nor a tuple of numbers or one number",
    ),
    (
        r"Cannot unify (?:Uni)?Tuple\(.*?\) and (?:Uni)?Tuple\(.*?\) for '(\w+)",
        r"\1 is a tuple that grows in a loop, or is of two lengths; make an array first, \1 = np.zeros(n), and fill it in",
    ),
    (
        r"Cannot unify (.+?) and (.+?) for '(\w+)",
        r"\3 is \1 in one place and \2 in another; give it one type from the start, such as np.zeros(n) or 0.0",
    ),
    (
        r"(?i)use of yield|generator|op_YIELD|RETURN_GENERATOR",
        "it is a generator, which cannot be compiled; write a loop that adds to a number or fills an array",
    ),
    (
        r"Use of unsupported NumPy function '(numpy\.[\w.]+)'|Unknown attribute '(\w+)' of type Module\((?:<module )?'?numpy",
        r"\1\2 of NumPy cannot be compiled; write it out with sums and products, or np.linalg",
    ),
    (r"Unknown attribute '(\w+)' of type array", r"arrays have no \1 that can be compiled"),
    (
        r"Untyped global name '(\w+)'",
        r"\1 is neither a number, an array, a tuple of these, nor a plain function; hand it over as a parameter",
    ),
    (r"NameError: (.+)", r"\1"),
    (r"(?i)try.*(?:except|finally)|SETUP_FINALLY", "try and except cannot be compiled; test beforehand what may fail"),
    (r"reflected|ListType|list\(", "lists cannot be compiled here; make an array, np.zeros(n), and fill it in"),
    (r"DictType|dict\(|unicode_type", "dictionaries and text cannot be compiled here; use arrays and numbers"),
    (
        r"No implementation of function Function\((?!<function sample_)"
        r"(?:<(?:built-in )?\w+ )?'?(?:.+?)'?(?: at 0x.*?)?>?\) found for signature:\s*>>> (.+)",
        r"there is no \1",
    ),
    (r"No matching definition for argument type", "a function is called with arguments of types that it does not take"),
)


_INSTEAD = {
    "generator": "write a loop that adds to a number or fills an array",
    "growing": "make an array before it, np.zeros(n), and fill it in",
}
_WAY_OUT = "is compiled; with compiled=False Python calls it, and anything goes"


def arguments_of(law: Any) -> tuple[str, ...]:
    """The names of a law's arguments."""
    if not callable(law):
        raise TypeError(f"law has to be a plain function, not {law!r}")
    parameters = inspect.signature(law).parameters.values()
    for one in parameters:
        if one.kind is not one.POSITIONAL_OR_KEYWORD:
            raise ModelError(f"a law names each of its arguments; {one} of {law!r} has to be one of them")
    return tuple(one.name for one in parameters)


def routine_of(law: Callable[..., Any], names: tuple[str, ...], places: Mapping[str, Any], num_efforts: int) -> UsersRoutine:
    """The routine of a law, which reads its arguments from the scratch at *places*: name to (first, shape)."""
    frozen = Frozen(law, "law", of_floats=True)
    return _made_of(frozen, _text(names, places, num_efforts), "sample")


def _made_of(frozen: Frozen, text: str, name: str) -> UsersRoutine:
    """The routine whose function has a *name* in a *text*, which calls ``law``; made once."""
    fingerprint = None
    if frozen.fingerprint is not None:
        fingerprint = hashlib.blake2b(f"named law {text} {frozen.fingerprint}".encode(), digest_size=16).hexdigest()
        if fingerprint in _made:
            return _made[fingerprint]
    tools = {"load": load, "load_lane": load_lane, "num_lanes": num_lanes, "store": store, "store_lane": store_lane}
    namespace: dict[str, Any] = {"law": frozen.function, "np": np, **tools}
    exec(compile(text, __file__, "exec"), namespace)
    function: Any = namespace[name]
    function.__module__ = __name__
    if fingerprint is not None:
        # machine code that several processes have made meets in one: what is not inlined has to have a name of its own
        for part in (function, *frozen.parts):
            part.__qualname__ = f"{part.__qualname__}_{fingerprint}"

    def explain(scalar: str, error: Exception) -> Exception:
        return explained(frozen, error)

    made = UsersRoutine(function, frozen.parts, fingerprint, explain, makes_arrays=True)
    if fingerprint is not None:
        _made[fingerprint] = made
    return made


def _text(names: tuple[str, ...], places: Mapping[str, Any], num_efforts: int) -> str:
    """The source of the kernel that calls the law; its arrays are views of a copy of the scratch, which kernels see as rows."""
    arguments = []
    for name in names:
        first, shape = places[name]
        part = f"work[{first}:{first + math.prod(shape)}]"
        if name == "t":
            part = f"work[{TIME}]"
        elif name == "which":
            part += ".astype(np.int64)"
        arguments.append(part if len(shape) < 2 else f"{part}.reshape({shape})")
    end = max(WORK_EFFORTS + num_efforts, *(first + math.prod(shape) for first, shape in places.values()))
    first_kept, kept = places["memory"] if "memory" in names else (0, (0,))
    return "\n    ".join(
        (
            "def sample(model, e, what):",
            f"work = np.empty({end})",
            f"for i in range({end}):",
            "    work[i] = load(model.control_work, i, 0)",
            "ended = 0.0",
            "try:",
            f"    work[{WORK_EFFORTS}:{WORK_EFFORTS + num_efforts}] = law({', '.join(arguments)})",
            "    ended = 1.0",
            "except Exception:  # which Numba would print, and forget; `keep` looks at this",
            "    ended = 0.0",
            f"for i in range({WORK_EFFORTS}, {WORK_EFFORTS + num_efforts}):",
            "    store(model.control_work, i, 0, work[i])",
            f"for i in range({first_kept}, {first_kept + kept[0]}):",
            "    store(model.control_work, i, 0, work[i])",
            f"store(model.control_work, {ENDED}, 0, ended)",
            "return 0\n",
        )
    )


def routine_in_lanes(function: Callable[..., Any], names: tuple[str, ...], nq: int, nu: int, adds: bool) -> UsersRoutine:
    """The routine of a function of arrays, called for one lane after the other, whatever a record's width.

    Parameters
    ----------
    function : function
        Of what *names* say: ``t``, ``q``, ``u``.
    names : tuple of str
    nq, nu : int
        How many coordinates and speeds it is given.
    adds : bool
        Whether it gives forces ``(nu,)`` that are added to `mobility_forces`; otherwise a number, for `witness_values`.
    """
    frozen = Frozen(function, "controller" if adds else "terminate", of_floats=True)
    give = {"t": "load_lane(model.time, 0, 0, lane)", "q": "q", "u": "u"}
    call = f"law({', '.join(give[name] for name in names)})"
    rows = "model.mobility_forces"
    text = "\n".join(
        (
            "def run_function(model, i, k):",
            "    for lane in range(num_lanes(load(model.time, 0, 0))):",
            f"        q, u, found = np.empty({nq}), np.empty({nu}), np.full({nu if adds else 1}, np.nan)",
            f"        for j in range({nq}):",
            "            q[j] = load_lane(model.q, j, 0, lane)",
            f"        for j in range({nu}):",
            "            u[j] = load_lane(model.u, j, 0, lane)",
            "        try:",
            f"            found[:] = {call}",
            "        except Exception:  # whose lane then has no rates",
            "            found[0] = np.nan",
            f"        for j in range({nu if adds else 0}):",
            f"            store_lane({rows}, j, 0, lane, load_lane({rows}, j, 0, lane) + found[j])",
            f"        for j in range({0 if adds else 2}):",
            "            store_lane(model.witness_values, 0, j, lane, found[0] if j == 0 else 0.0)",
            "    return 0",
            "",
        )
    )
    return _made_of(frozen, text, "run_function")


def reason(error: Exception) -> str:
    """Why a law cannot be compiled, of what was raised, without the way out."""
    why, found, _ = str(error).partition(_WAY_OUT)
    return why.rpartition(". ")[0] if found else why


def explained(frozen: Frozen, error: Exception) -> ModelError:
    """Why a law cannot be compiled: the user's own line first, what is wrong there, and how to write it."""
    culprit = find_culprit(frozen, _INSTEAD)
    if culprit is not None:
        return ModelError(f"{culprit}. {frozen.what} {_WAY_OUT}")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    where = line_in_message(frozen.parts, plain) or frozen.what
    lines = [line.strip() for line in plain.splitlines() if line.strip() and not line.strip().startswith("Failed in nopython")]
    why = lines[0] if lines else plain
    for pattern, meaning in _MEANINGS:
        matches = list(re.finditer(pattern, plain))
        if matches:
            groups = matches[-1].groups()  # the innermost
            for number, group in enumerate(groups, 1):
                meaning = meaning.replace(f"\\{number}", group or "")
            why = _in_words(meaning)
            break
    return ModelError(f"{where}: {why}. {frozen.what} {_WAY_OUT}")


def _in_words(text: str) -> str:
    text = re.sub(r"array\(float64, (\d)d, \w+\)", r"an array of \1 dimensions", text)
    return re.sub(
        r"\bfloat64\b|Literal\[float\]\([^)]*\)", "a float", re.sub(r"\bint64\b|Literal\[int\]\(\d+\)", "an integer", text)
    )
