"""Controllers: what drives muscles and actuators over time, as files of models have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import function
from ...errors import ModelError
from ...function import Function
from ...motion_data import read_sto
from ..controls import Controls, plain_name, read_controls
from ..opensim_file import beside
from .building import Building
from .document import Item
from .elements.driven import drive
from .functions import make_function
from .keep_controls import DRIVING


def add_controllers(build: Building) -> None:
    """Connect PrescribedControllers and ControlSetControllers to what they drive; others are left to be reported."""
    for item in _members(build):
        if item.tag not in _READERS:
            continue
        item.is_read = True
        item.find("socket_actuators")
        if not item.flag("enabled", True):
            item.read_all()
            build.report.append(item.note(f"{item.tag} {item.name!r} is switched off, and drives nothing"))
            continue
        try:
            found = _READERS[item.tag](build, item)
        except FileNotFoundError as error:
            build.lose(
                item,
                f"{item.tag} {item.name!r} is left out: its file of controls, {error.filename}, is not there",
                "controllers, which do not act",
            )
            continue
        item.read_all()
        known = {**build.model.actuators, **build.model.muscles}
        build.model.data.setdefault("control ranges", {}).update({k: v for k, v in found.ranges.items() if k in known})
        driven = build.model.data.setdefault("controls", {})
        for name, one in found.functions.items():
            why = (
                "there is no such actuator"
                if name not in known
                else "another controller drives it, too"
                if name in driven
                else ""
            )
            if not why:
                try:
                    drive(name, known[name], one)
                    driven[name] = one
                except ModelError:
                    why = "no function of time drives an actuator of its kind"
            if why and build.muscles_act:
                build.report.depart(item.note(f"{item.tag} {item.name!r} does not drive {name!r}: {why}"))


def _members(build: Building) -> list[Item]:
    loose = [item for item in build.document.objects("components") if item.tag in _READERS]
    return loose + build.document.objects("ControllerSet")


def _names(build: Building, item: Item) -> list[str]:
    """Names of the actuators that a controller lists, in order; all of the model's for ALL."""
    words = item.word_list("socket_actuators")
    if any(word.upper() == "ALL" for word in words):
        return [*build.model.data.get("actuators in order", [])]
    return [plain_name(word) for word in words]


def _prescribed(build: Building, item: Item) -> Controls:
    found = Controls()
    held = item.find("ControlFunctions") or next((one for one in item.children if one.name == "ControlFunctions"), None)
    items: list[Item] = []
    if held is not None:
        inner = next((child for child in held.children if child.tag == "FunctionSet"), held)
        objects = inner.find("objects")
        items = [one for one in (inner if objects is None else objects).children if one.tag not in ("objects", "groups")]
    names = _names(build, item)
    if items and len(names) != len(items):
        item.refuse(f"{item.tag} {item.name!r} has {len(items)} functions for {len(names)} actuators")
    for name, one in zip(names, items, strict=False):
        found.functions[name] = _of_time(make_function(one))
    file = item.text("controls_file")
    if file:
        table, method = read_sto(beside(Path(build.path), file)), round(item.number("interpolation_method", 1.0))
        for label in table.labels:
            name, column = plain_name(label), np.asarray(table[label])
            if name in found.functions:
                continue
            if method == 0:
                found.functions[name] = function.PiecewiseConstant(table.time, column)
            else:
                found.functions[name] = function.GCVSpline(method, table.time, column)
    return found


def _of_time(one: Function) -> Function:
    size = one.get_argument_size()
    return function.Constant(float(one.calc_value([])), 1) if size == 0 else one


def _of_set(build: Building, item: Item) -> Controls:
    file = item.text("controls_file")
    if not file or file.lower() == "unassigned":
        build.report.append(item.note(f"{item.tag} {item.name!r} names no file of controls, and drives nothing"))
        return Controls()
    return read_controls(beside(Path(build.path), file))


_READERS: dict[str, Any] = dict(zip(DRIVING, (_prescribed, _of_set), strict=True))
