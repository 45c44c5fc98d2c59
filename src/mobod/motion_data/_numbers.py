"""Rows of numbers in text, compiled: several times as fast as NumPy's own reader, and as exact.

A number of up to 18 digits is m 10^k, m an integer below 2^60. Up to 2^53, and k up to 22 either way, one product or quotient
is rounded as it should be; beyond, the remainder of the quotient says how to round. Source: Clinger 1990, How to read floating
point numbers accurately. What is not certain then is left to Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import compiled, generic

TAB, NEWLINE, SPACE, PLUS, MINUS, POINT, ZERO, NINE = 9, 10, 32, 43, 45, 46, 48, 57
UPPER_E, LOWER_E = 69, 101
#: Powers of ten that are exact.
POWERS = np.array([float(f"1e{k}") for k in range(23)])
#: m up to which one rounding is enough, and the most digits of m.
EXACT, DIGITS = 2**53, 18
#: Numbers that may be left to Python.
MOST = 4096


@generic
def _quotient(m: int, p: float) -> Any:
    """m / p rounded to the nearest, and whether that is certain."""
    high = float(m)
    low = float(m - int(high))
    q = high / p
    # halves of few bits, whose products are exact
    q_high, p_high = np.float64(np.float32(q)), np.float64(np.float32(p))
    q_low, p_low = q - q_high, p - p_high
    rest = ((((high - q_high * p_high) - q_high * p_low) - q_low * p_high) - q_low * p_low) + low
    more = rest / p
    doubt = 1e-14 * abs(more) + 1e-21 * q
    return q + more, q + (more - doubt) == q + (more + doubt)


@generic
def _number(data: Any, i: int, powers: Any) -> Any:
    """The end of a number that begins at i, its value, and if that is certain; -1 where there is none."""
    c = int(data[i])
    negative = c == MINUS
    if c == MINUS or c == PLUS:
        i += 1
        c = int(data[i])
    m = exponent = 0
    first = i
    while ZERO <= c <= NINE:
        m = 10 * m + (c - ZERO)
        i += 1
        c = int(data[i])
    digits = i - first
    if c == POINT:
        i += 1
        c = int(data[i])
        after = i
        while ZERO <= c <= NINE:
            m = 10 * m + (c - ZERO)
            i += 1
            c = int(data[i])
        exponent = after - i
        digits += i - after
    if digits == 0:
        return -1, 0.0, False
    if digits > DIGITS:  # zeros in front do not count; of more m holds nothing
        while digits > DIGITS and (int(data[first]) == ZERO or int(data[first]) == POINT):
            digits -= int(data[first]) == ZERO
            first += 1
    if c == UPPER_E or c == LOWER_E:
        i += 1
        c = int(data[i])
        down = c == MINUS
        if c == MINUS or c == PLUS:
            i += 1
            c = int(data[i])
        if not ZERO <= c <= NINE:
            return -1, 0.0, False
        e = 0
        while ZERO <= c <= NINE:
            if e < 10000:
                e = 10 * e + (c - ZERO)
            i += 1
            c = int(data[i])
        exponent += -e if down else e
    value, certain = 0.0, True
    if digits > DIGITS or (m != 0 and (exponent < -22 or exponent > 22)):
        certain = False
    elif m == 0:
        value = 0.0
    elif exponent == 0:
        value = float(m)
    elif m <= EXACT:
        value = float(m) / powers[-exponent] if exponent < 0 else float(m) * powers[exponent]
    elif exponent < 0:
        value, certain = _quotient(m, powers[-exponent])
    else:
        certain = False
    return i, -value if negative else value, certain


@compiled
def scan(data: Any, width: int, powers: Any, out: Any, left: Any, counts: Any) -> None:
    """Rows of *width* numbers from text.

    Parameters
    ----------
    data : (n,) array of uint8
        That ends in a newline.
    width : int
    powers : (23,) array
        `POWERS`.
    out : (rows, width) array
        The numbers.
    left : (m, 3) array of int64
        Of numbers that are not certain: which, and from where to where.
    counts : (2,) array of int64
        The rows, or -1 where the text is not that plain, and how many are left.
    """
    i, n, row, column, num_left = 0, len(data), 0, 0, 0
    tabs = spaces = False
    counts[0] = -1
    while i < n:
        c = int(data[i])
        if c == NEWLINE or c == SPACE:  # of a blank line, or before its first number
            i += 1
            continue
        column, tabs, spaces = 0, False, False
        if row >= len(out):
            return
        while True:
            start = i
            i, value, certain = _number(data, i, powers)
            if i < 0 or column >= width:
                return
            c = int(data[i])
            out[row, column] = value
            if not certain:
                if num_left >= len(left):
                    return
                left[num_left, 0], left[num_left, 1], left[num_left, 2] = row * width + column, start, i
                num_left += 1
            column += 1
            gap = False
            while c == SPACE:
                gap = True
                i += 1
                c = int(data[i])
            while c == TAB:  # to the next number; between tabs there is none
                tabs, gap = True, False
                i += 1
                c = int(data[i])
                while c == SPACE:
                    i += 1
                    c = int(data[i])
                if (c == TAB or c == NEWLINE) and column < width:
                    out[row, column] = np.nan
                    column += 1
            if c == NEWLINE:
                break
            if gap:
                spaces = True
            elif not tabs or int(data[i - 1]) not in (TAB, SPACE):
                return
        if column != width or (tabs and spaces):
            return
        row += 1
    counts[0], counts[1] = row, num_left


def at_hand() -> bool:
    """True if `scan` was compiled or loaded before, so that short texts have not to wait for that."""
    return "dispatcher" in vars(scan)


def read_plain(text: str, width: int) -> Array | None:
    """All rows; None where the text is not that plain, torn for example, or has numbers in words."""
    raw = (text if text.endswith("\n") else text + "\n").encode()
    out = np.empty((len(raw) // (2 * width) + 1, width))  # of numbers of one digit; memory that nobody writes to costs nothing
    left, counts = np.empty((MOST, 3), np.int64), np.empty(2, np.int64)
    scan(np.frombuffer(bytearray(raw), np.uint8), width, POWERS, out, left, counts)  # of arrays that can be written to
    rows, num_left = counts.tolist()
    if rows < 0:
        return None
    flat = out.reshape(-1)
    for place, start, end in left[:num_left].tolist():
        flat[place] = float(raw[start:end])
    return out[:rows]
