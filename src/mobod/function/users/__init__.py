"""Users' functions of numbers and tuples, which are compiled, for all families of parts.

A family says which arguments its functions have and what they return; the rest is here, one thing a file:

- `frozen` copies a function with all that it refers to, and fingerprints it: ``freeze(function, name, arguments)``;
- `trial` calls it in plain Python, and reports errors: ``try_out(frozen, places, counts, check)``;
- `unrolled` generates functions of tuples of given lengths as source;
- `routine` makes a kernel that calls such functions into a routine: ``routine_of(family, functions, shape, make)``, and that of
  a kind whose file may be anywhere: ``routine_of_kind(make, *functions)``;
- `explanation` explains what Numba cannot compile, and `culprits` finds what it refuses without a word; `places` finds
  the line of the user's file;
- `forms` checks which of the two forms of a part is given, an object of Python or functions;
- `surroundings` has the arguments of functions of a system's motion: (t, X, V, q, u, parameters).
"""

from .culprits import find_culprit
from .forms import check_form
from .frozen import Frozen, freeze
from .places import line_in_message, line_of_error
from .routine import MOST_PARAMETERS, check_number_of_parameters, check_parameters, routine_of, routine_of_kind
from .trial import OutOfReach, check_tuples, tell, try_out

__all__ = [
    "MOST_PARAMETERS",
    "Frozen",
    "OutOfReach",
    "check_form",
    "check_number_of_parameters",
    "check_parameters",
    "check_tuples",
    "find_culprit",
    "freeze",
    "line_in_message",
    "line_of_error",
    "routine_of",
    "routine_of_kind",
    "tell",
    "try_out",
]
