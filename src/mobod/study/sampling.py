"""Designs of experiments: values of named parameters that fill their ranges evenly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..value.attributes import named_arguments
from ..value.checks import among, instance, integer, numbers

_METHODS = "sobol", "halton", "latin", "uniform"


@named_arguments
def sample_parameters(
    ranges: Mapping[str, Any], n: int, *, method: str = "sobol", seed: int = 0
) -> dict[str, npt.NDArray[np.float64]]:
    """Draw *n* values of each of several parameters, together filling their ranges evenly.

    Parameters
    ----------
    ranges : dict of str to (low, high), or to a distribution
        Bounds are numbers, or arrays of one shape for a parameter that is an array, such as a location. A distribution is one
        of ``scipy.stats``, frozen: ``scipy.stats.norm(1.0, 0.1)``.
    n : int
        How many; a power of two suits ``"sobol"`` best.
    method : str
        ``"sobol"`` or ``"halton"``, sequences of low discrepancy, scrambled; ``"latin"``, a Latin hypercube; ``"uniform"``,
        independent random numbers.
    seed : int
        The same seed gives the same values.

    Returns
    -------
    dict of str to (n, ...) array
        As `run_many` takes them, and row by row `Ensemble.set_each`.

    Raises
    ------
    ValueError
        If a range has no width, bounds differ in shape or are not finite, or the method is none of these.
    TypeError
        If a range is neither two bounds nor a distribution.

    Notes
    -----
    The numbers are those of ``scipy.stats.qmc``; a distribution gets them through its inverse. The first m of n points of a
    sequence are those that m alone would give.

    Examples
    --------
    >>> import mobod as mb
    >>> values = mb.sample_parameters({"mass": (0.5, 2.0), "place": ((0, 0, 0), (1, 1, 2))}, 256)
    >>> values["mass"].shape, values["place"].shape
    ((256,), (256, 3))
    """
    n = integer("n", n, least=1)
    instance("ranges", ranges, Mapping, '{"mass": (0.5, 2.0)}')
    columns = {name: _Range(name, given) for name, given in ranges.items()}
    if not columns:
        raise ValueError("ranges of sample_parameters names no parameter")
    unit = _points(sum(one.size for one in columns.values()), n, method, integer("seed", seed, least=0))
    found, at = {}, 0
    for name, one in columns.items():
        found[name] = one.at(unit[:, at : at + one.size])
        at += one.size
    return found


def _points(dimension: int, n: int, method: str, seed: int) -> Any:
    """Points of the unit cube ``(n, dimension)``."""
    among("method", method, _METHODS)
    rng = np.random.default_rng(seed)
    if method == "uniform":
        return rng.random((n, dimension))
    from scipy.stats import qmc

    if method == "sobol":  # to a power of two, which its balance needs, and of that the first
        return qmc.Sobol(dimension, rng=rng).random_base2((n - 1).bit_length())[:n]
    engine = qmc.Halton(dimension, rng=rng) if method == "halton" else qmc.LatinHypercube(dimension, rng=rng)
    return engine.random(n)


class _Range:
    """The range of one parameter."""

    def __init__(self, name: str, given: Any) -> None:
        self._inverse = getattr(given, "ppf", None)
        self.size, self._shape = 1, ()
        if self._inverse is not None:
            return
        if not isinstance(given, (tuple, list, np.ndarray)) or len(given) != 2:
            raise TypeError(f"the range of {name} has to be (low, high) or a distribution of scipy.stats, got {given!r}")
        self._low, self._high = (numbers(f"a bound of {name}", bound) for bound in given)
        if self._low.shape != self._high.shape:
            raise ValueError(
                f"the bounds of {name} have shapes {self._low.shape} and {self._high.shape}; give one of each number"
            )
        if not (np.isfinite(self._low) & np.isfinite(self._high) & (self._low < self._high)).all():
            raise ValueError(f"the range of {name} has to go from a low to a higher bound, both finite; got {given!r}")
        self.size, self._shape = self._low.size, self._low.shape

    def at(self, unit: Any) -> Any:
        """Values ``(n, ...)`` at points of the unit cube ``(n, size)``."""
        if self._inverse is not None:
            return self._inverse(unit[:, 0])
        points = unit.reshape(-1, *self._shape)
        return self._low + (self._high - self._low) * points
