"""Checks that the parts of a C3D file lie where it says: ezc3d believes it, and where they do not, it takes Python down.

The file is blocks of 512 bytes: a header, the parameters in groups, and the frames. Source: The C3D File Format User Guide,
Motion Lab Systems 2021.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

BLOCK = 512
#: The bytes of an element of a parameter, by its type: text, integers of one and two bytes, numbers.
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}
#: By the kind of processor: Intel, DEC, MIPS.
_ORDERS = {84: "<", 85: "<", 86: ">"}
#: More samples a frame than a body's orientation has.
_MOST_SAMPLES = 1000
#: More frames than are in a file of the largest size, all of one point.
_MOST_FRAMES = 1 << 31


class Parameter(NamedTuple):
    """A parameter: the type of its elements, its dimensions, and its bytes."""

    kind: int
    dimensions: tuple[int, ...]
    data: bytes


class _Fault(Exception):
    """A fault of the structure."""


def find_fault(data: bytes) -> str:
    """The fault of a file's structure, in words; empty if there is none."""
    try:
        _look(data)
    except _Fault as fault:
        return str(fault)
    except (struct.error, IndexError):
        return "it ends too early"
    return ""


def _need(holds: object, otherwise: str) -> None:
    if not holds:
        raise _Fault(otherwise)


def _look(data: bytes) -> None:
    _need(len(data) >= 2 * BLOCK, "it is shorter than a header and a block of parameters")
    _need(data[1] == 0x50, "it does not begin as a C3D file does")
    start = BLOCK * (data[0] - 1)
    _need(BLOCK <= start <= len(data) - BLOCK, f"its parameters begin in block {data[0]}, which is not there")
    order = _ORDERS.get(data[start + 3])
    _need(order, f"its processor is of the unknown kind {data[start + 3]}")
    order = order or "<"
    points, samples, first, last = struct.unpack_from(f"{order}4H", data, 2)
    block, rates = struct.unpack_from(f"{order}2H", data, 16)
    end = start + BLOCK * data[start + 2]
    _need(start < end <= len(data), f"its parameters are {data[start + 2]} blocks, which are not there")
    groups = _groups(data, start + 4, end, order)
    _need("POINT" in groups or points == 0, "it has no group POINT")
    known = {(name, of): one for name, group in groups.items() for of, one in group.items()}
    _look_at_frames(known, first, last, order)
    used = _integer(known, "POINT", "USED", order, points)
    _need(used == points, f"it has {points} points in its header and {used} among its parameters")
    channels = _integer(known, "ANALOG", "USED", order, samples // max(rates, 1))
    _need(samples == channels * rates, f"{samples} samples a frame are not {channels} channels at {rates} times")
    # it may lie among the parameters, and end early: ezc3d reads the frames that are there
    _need(0 < block <= len(data) // BLOCK, f"its frames begin in block {block}, which is not there")
    for name, count in (("GEN_SCALE", 1), ("SCALE", channels), ("OFFSET", channels)) if channels else ():
        one = known.get(("ANALOG", name))
        _need(one is not None, f"it has no ANALOG:{name}")
        _need(one and one.kind != -1 and len(one.data) // _SIZES[one.kind] >= count, f"ANALOG:{name} has not {count} numbers")
    ratio = _integer(known, "ROTATION", "RATIO", order, 0)  # samples a frame, for which room is made
    _need(ratio <= _MOST_SAMPLES, f"ROTATION:RATIO is {ratio}")
    _look_at_texts(known)
    _look_at_plates(known, channels, order)


def _groups(data: bytes, at: int, end: int, order: str) -> dict[str, dict[str, Parameter]]:
    """The parameters by their names, by the groups' names."""
    names: dict[int, str] = {}
    found: dict[int, dict[str, Parameter]] = {}
    while at < end:
        length, group = struct.unpack_from("bb", data, at)
        if length == 0:
            break
        place = at + 2 + abs(length)
        name = data[at + 2 : place].decode("latin-1").upper().strip()
        (step,) = struct.unpack_from(f"{order}h", data, place)
        following = place + step if step else end
        _need(group != 0, f"the parameter {name!r} is of no group")
        _need(place + 2 < following <= end, f"the parameter {name!r} is longer than all of them")
        if group < 0:
            _need(-group not in names, f"there are two groups of number {-group}")
            names[-group] = name
            rest = place + 2
        else:
            parameter, rest = _parameter(data, place + 2, following, name)
            found.setdefault(group, {})[name] = parameter
        _need(rest < end and rest + 1 + data[rest] <= following, f"the description of {name!r} is longer than its place")
        at = following
        if step == 0:
            break
    _need(set(found) <= set(names), "a parameter is of a group that is not there")
    _need(len(set(names.values())) == len(names), "two groups have one name")
    return {name: found.get(number, {}) for number, name in names.items()}


def _parameter(data: bytes, at: int, end: int, name: str) -> tuple[Parameter, int]:
    kind, count = struct.unpack_from("bB", data, at)
    _need(kind in _SIZES and count <= 7, f"the parameter {name!r} is of the unknown type {kind}, with {count} dimensions")
    _need(kind != -1 or count > 0, f"the parameter {name!r} is text without a length")
    dimensions = tuple(data[at + 2 : at + 2 + count])
    begin, size = at + 2 + count, _SIZES[kind] * math.prod(dimensions)
    _need(begin + size < end, f"the parameter {name!r} is longer than its place")
    return Parameter(kind, dimensions, data[begin : begin + size]), begin + size


def _integers(known: dict[tuple[str, str], Parameter], group: str, name: str, order: str) -> list[int]:
    one = known[group, name]
    _need(one.kind in (1, 2, 4), f"{group}:{name} is no number")
    text = f"{order}{len(one.data) // _SIZES[one.kind]}{ {1: 'B', 2: 'H', 4: 'f'}[one.kind] }"
    numbers = struct.unpack(text, one.data)
    _need(all(math.isfinite(x) and 0 <= x < _MOST_FRAMES for x in numbers), f"{group}:{name} is {numbers}")
    return [int(x) for x in numbers]


def _integer(known: dict[tuple[str, str], Parameter], group: str, name: str, order: str, otherwise: int) -> int:
    if (group, name) not in known:
        return otherwise
    numbers = _integers(known, group, name, order)
    _need(len(numbers) >= 1, f"{group}:{name} is empty")
    return numbers[0]


def _look_at_frames(known: dict[tuple[str, str], Parameter], first: int, last: int, order: str) -> None:
    _need(last >= first - 1, f"its frames are from {first} to {last}")
    for which in ("START", "END"):
        if ("TRIAL", f"ACTUAL_{which}_FIELD") in known:
            _integers(known, "TRIAL", f"ACTUAL_{which}_FIELD", order)


def _look_at_texts(known: dict[tuple[str, str], Parameter]) -> None:
    for (group, name), one in known.items():
        text = any(name.startswith(stem) for stem in ("LABELS", "UNITS", "DESCRIPTIONS"))
        if group in ("POINT", "ANALOG") and text and one.kind != -1:
            raise _Fault(f"{group}:{name} is no text")


def _look_at_plates(known: dict[tuple[str, str], Parameter], channels: int, order: str) -> None:
    group = "FORCE_PLATFORM"
    if (group, "USED") not in known:
        return
    count = _integer(known, group, "USED", order, 0)
    shapes = {"TYPE": (count,), "CORNERS": (3, 4, count), "ORIGIN": (3, count)}
    for name, shape in shapes.items():
        one = known.get((group, name))
        if count and one is not None:
            size = len(one.data) // _SIZES[one.kind]
            _need(size >= math.prod(shape), f"{group}:{name} has {size} numbers for {count} plates")
    if count and (group, "CHANNEL") in known:
        one = known[group, "CHANNEL"]
        _need(len(one.dimensions) >= 1 and math.prod(one.dimensions[1:]) >= count, f"{group}:CHANNEL has too few plates")
        numbers = _integers(known, group, "CHANNEL", order)
        _need(max(numbers, default=0) <= channels, f"{group}:CHANNEL names channel {max(numbers, default=0)} of {channels}")
