"""Runs a function of the algebra in its three forms: plain Python on floats, compiled float64, and compiled lanes.

`forms(f, *shapes)` gives functions of arrays: each takes one (n, 8) array of numbers a shape and returns (m, 8), column by
column one case. Tuples are laid out end to end; a shape is the number of entries of an argument, 0 for a bare scalar.
"""

import functools

import numpy as np

from mobod.algebra.scalar import load, store
from mobod.compiling import engine
from mobod.compiling.disk_cache import DiskCache


def flat(value):
    """The numbers of nested tuples."""
    if isinstance(value, tuple):
        return [x for part in value for x in flat(part)]
    return [value]


def taken(shape, rows, first):
    if shape == 0:
        return f"load({rows}, {first}, 0)", first + 1
    return "(" + "".join(f"load({rows}, {first + i}, 0), " for i in range(shape)) + ")", first + shape


def source_of(shapes, results):
    """A kernel that loads its arguments, calls f and stores what comes back."""
    first, parts = 0, []
    for shape in shapes:
        text, first = taken(shape, "given", first)
        parts.append(text)
    lines = ["def kernel(given, out):", f"    r = f({', '.join(parts)})"]
    lines += [f"    store(out, {i}, 0, r{path})" for i, path in enumerate(results)]
    return "\n".join(lines)


def paths_of(value, path=""):
    if isinstance(value, tuple):
        return [p for i, part in enumerate(value) for p in paths_of(part, f"{path}[{i}]")]
    return [path]


@functools.cache
def _compiled(function, shapes):
    probe = [tuple([0.5] * shape) if shape else 0.5 for shape in shapes]
    results = paths_of(function(*probe))
    source = source_of(shapes, results)
    names = {"f": function, "load": load, "store": store, "__name__": __name__}
    exec(source, names)
    kernel = names["kernel"]
    # kept on the disk beside the package's own kernels
    numba = engine.numba()
    if not function.__module__.startswith("mobod."):  # a test's own
        from numba.extending import register_jitable

        register_jitable(**engine.OPTIONS)(function)
    kernel.__qualname__ = function.__name__
    dispatcher = numba.njit(**engine.OPTIONS)(kernel)
    DiskCache(kernel).serve(dispatcher)
    return dispatcher, len(results)


def python(function, shapes, numbers):
    """Case by case, as plain Python."""
    columns = []
    for case in numbers.T:
        first, arguments = 0, []
        for shape in shapes:
            arguments.append(tuple(case[first : first + shape].tolist()) if shape else float(case[first]))
            first += max(shape, 1)
        columns.append(flat(function(*arguments)))
    return np.array(columns).T


def float64(function, shapes, numbers):
    """Case by case, compiled."""
    kernel, n = _compiled(function, shapes)
    out = np.full((n, numbers.shape[1]), np.nan)
    for i in range(numbers.shape[1]):
        column = np.full((n, 1), np.nan)
        kernel(np.ascontiguousarray(numbers[:, i : i + 1]), column)
        out[:, i] = column[:, 0]
    return out


def lanes(function, shapes, numbers):
    """All eight cases at once, compiled."""
    kernel, n = _compiled(function, shapes)
    out = np.full((n, 1, 8), np.nan)
    kernel(np.ascontiguousarray(numbers.reshape(-1, 1, 8)), out)
    return out[:, 0]


FORMS = {"python": python, "float64": float64, "lanes": lanes}


def in_every_form(function, shapes, numbers):
    """(name, results) of each form; numbers is (n, 8)."""
    for name, form in FORMS.items():
        yield name, form(function, tuple(shapes), np.asarray(numbers, dtype=np.float64))
