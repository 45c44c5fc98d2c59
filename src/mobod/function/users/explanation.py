"""Numba's errors on a user's function that it cannot compile, in plain words, with the line concerned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import CodeType

from ...compiling import why_not
from ...errors import ModelError
from .culprits import find_culprit
from .frozen import Frozen
from .places import line_in_message

_INSTEAD = {
    "generator": "write the tuple out, (a, b, c), or a loop that adds to a number",
    "growing": "write it out, (a, b, c)",
}
_KINDS = {"state": "numbers", "lanes": "eight states at a time", "duals": "dual numbers"}


def explained(
    functions: Mapping[str, Frozen], scalar: str, error: Exception, lengths: Mapping[str, Sequence[int]] | None = None
) -> ModelError:
    """The name of the function that Numba cannot compile for a kind of number, and the core of its message.

    Where each takes tuples of numbers alone, *lengths* gives their lengths: a function is then sought that cannot be compiled
    by itself, for these numbers or for the dual ones of derivatives. Else it is the function that the message names.
    """
    for f in functions.values():
        culprit = find_culprit(f, _INSTEAD)
        if culprit is not None:
            return ModelError(f"{culprit}. {f.what} is compiled")
    for kind in dict.fromkeys((scalar, "duals")) if lengths else ():
        for name, f in functions.items():
            said = why_not(f.function, lengths[name], kind) if lengths else None
            if said is not None:
                return ModelError(f"{f.what} cannot be compiled for {_KINDS[kind]}: {_in_plain_words(said, f)}")
    first, message = next(iter(functions.values())), str(error)
    f = next((f for f in functions.values() if f.function.__name__ in message), first)
    return ModelError(f"{f.what} cannot be compiled for {_KINDS[scalar]}: {_in_plain_words(message, f)}")


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


def _is_generator_expression(constant: object) -> bool:
    """True if a constant of a function is the code of an expression such as ``(-x for x in u)``."""
    return isinstance(constant, CodeType) and constant.co_name == "<genexpr>"


def _in_plain_words(message: str, function: Frozen) -> str:
    """The core of a message of Numba's, and the line of the user's file concerned."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line.strip() for line in plain.splitlines() if line.strip() and not line.strip().startswith("Failed in nopython")]
    text = lines[0] if lines else plain
    if any(_is_generator_expression(one) for part in function.parts for one in part.__code__.co_consts):
        return "it has a generator expression, as in tuple(-x for x in u); write the numbers of a tuple one after the other"
    for pattern, meaning in _MEANINGS:
        found = list(re.finditer(pattern, plain))
        if found:
            text = found[-1].expand(meaning)  # the innermost
            break
    for pattern, name in _TYPES:
        text = re.sub(pattern, name, text)
    place = line_in_message(function.parts, plain)
    return f"{place}: {text}" if place else text
