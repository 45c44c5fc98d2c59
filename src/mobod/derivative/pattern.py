"""The pattern of the residual's derivatives: numbers that may differ from zero; products pass over the others.

A mobility's residual depends on the mobilities that carry its bodies, or that it carries: on one path from Ground. What couples
two bodies couples the mobilities on the ways to both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..algebra.record import LANES

#: The most columns in a group of lanes, and the most numbers of it: they stay in a processor's first cache.
_MOST_COLUMNS, _MOST_NUMBERS = 8, 320
#: The time of columns that are left by fours, of which each takes eight a row: see `solve`.
_OF_LEFT = (0, 5, 5, 8)


Groups = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def all_of(rows: int, columns: int) -> Groups:
    """Groups of lanes, as `Pattern.of_lanes`, where all may differ."""
    firsts = range(0, columns, _MOST_COLUMNS)
    groups = [(first, min(first + _MOST_COLUMNS, columns), 0, rows) for first in firsts]
    return np.array(groups, np.int64).reshape(-1, 4), np.arange(rows)


class Pattern:
    """The rows of each column that may differ from zero, while it is made.

    Parameters
    ----------
    ways : sequence of array of int
        Of each body the mobilities on the way to it.
    nu : int
    """

    def __init__(self, ways: Sequence[npt.NDArray[np.int64]], nu: int) -> None:
        self.ways, self.may_differ = ways, np.eye(nu, dtype=bool)
        passed = np.zeros(nu, dtype=bool)
        for way in ways:  # a body's own mobilities and those on the way to it: parents come first
            way, passing = np.asarray(way), passed[way]
            own = way[~passing]
            self.may_differ[np.ix_(way, own)] = self.may_differ[np.ix_(own, way)] = True
            passed[own] = True
        self._of_tree, self._often = self.may_differ.copy(), self.may_differ.copy()

    def beyond_tree(self, by_u: bool) -> npt.NDArray[np.int64]:
        """Rows and columns of what may differ and couples mobilities that are not on one path from Ground.

        Where it does so *by_u* too, these are below, ``nu`` rows on.
        """
        beyond = self.may_differ & ~self._of_tree
        # in rows: NumPy has found it in columns, for which kernels would be compiled a second time
        return np.ascontiguousarray(np.argwhere(np.vstack([beyond, beyond & by_u])))

    @property
    def at_once(self) -> bool:
        """True if that is so most of the time: then products by q and by u pass over the same."""
        return bool((self._often == self._of_tree).all())

    def fill(self) -> None:
        """All may differ."""
        self.may_differ[:] = self._often[:] = True

    def couple(self, rows: Iterable[int], columns: Iterable[int], seldom: bool = False) -> None:
        """Forces along some mobilities depend on others, *seldom* in a state."""
        which = np.ix_(list(rows), list(columns))
        self.may_differ[which] = True
        if not seldom:
            self._often[which] = True

    def couple_bodies(self, bodies: Iterable[int], seldom: bool = False) -> None:
        """Wrenches on bodies depend on the motion of each other."""
        for one, other in itertools.permutations(set(bodies), 2):
            self.couple(self.ways[one], self.ways[other], seldom)

    def of_lanes(self) -> Groups:
        """Groups of columns, with the rows that may differ in any: those that take the least time, by q and u at once or apart.

        They are apart where more is coupled than by the tree, mostly by q alone. A group is its first column, its end, and
        where its rows begin and end in the list; the time is that of what differs often.
        """
        n, halves = len(self.may_differ), 1 + self.at_once
        least, before = np.zeros(n + 1), np.zeros(n + 1, np.int64)
        for end in range(1, n + 1):
            least[end] = np.inf
            for first in range(end - 1, max(end - _MOST_COLUMNS, 0) - 1, -1):
                count = int(self._often[:, first:end].any(axis=1).sum())
                if halves * count * (end - first) > _MOST_NUMBERS and end - first > 1:
                    break
                fours, left = divmod(halves * (end - first), 4)
                cost = least[first] + count * (8 * fours + _OF_LEFT[left] + 1) + 20
                if cost < least[end]:
                    least[end], before[end] = cost, first
        ends = [n] if n else []
        while ends and before[ends[-1]] > 0:
            ends.append(int(before[ends[-1]]))
        return self._groups([(int(before[end]), end, int(before[end]), end) for end in reversed(ends)])

    def of_eights(self) -> Groups:
        """The same of one state, whose columns are eight in a number: a group of each."""
        n = len(self.may_differ)
        return self._groups([(k, k + 1, LANES * k, min(LANES * k + LANES, n)) for k in range(-(-n // LANES))])

    def _groups(self, parts: Sequence[tuple[int, int, int, int]]) -> Groups:
        rows = [np.flatnonzero(self.may_differ[:, column:last].any(axis=1)) for _, _, column, last in parts]
        begins = np.cumsum([0, *map(len, rows)])
        groups = [(first, end, begins[k], begins[k + 1]) for k, (first, end, _, _) in enumerate(parts)]
        return np.array(groups, np.int64).reshape(-1, 4), np.concatenate([np.zeros(0, np.int64), *rows])
