"""A model that the command is to simulate or show, where its options have it start."""

from __future__ import annotations

import argparse
from dataclasses import fields

from ..errors import CommandError
from ..importer import Model
from ..importer.named_models import Choices, Loaded, assign, load_model, put_floor
from ..state.state import State
from ..value.stage import Stage

#: Times its muscle's largest isometric force, with which no tendon is left whole.
_TORN = 2.0


def load_and_start(model: str, options: argparse.Namespace) -> Loaded:
    """Read a model, and put it where it is to start."""
    choices = Choices(**{each.name: getattr(options, each.name) for each in fields(Choices)})
    loaded = load_model(model, choices)
    if options.states is not None:
        _put_first_row(loaded, options)
    assign(loaded.state, "q", loaded.coordinates, options.q)
    assign(loaded.state, "u", loaded.speeds, options.u)
    put_floor(loaded, choices)
    if loaded.model is not None and loaded.model.muscles:
        if options.equilibrate:
            loaded.model.equilibrate_muscles(loaded.state)
        else:
            loaded.notes += _overstretched(loaded.model, loaded.state)
    return loaded


def _overstretched(model: Model, state: State) -> list[str]:
    """A note on tendons that begin far out of balance, as default lengths of fibers may have them."""
    model.system.realize(state, Stage.VELOCITY)
    pulls = {name: one.get_tendon_force(state) for name, one in model.muscles.items()}
    over = {name: pull / model.muscles[name].get_max_isometric_force(state) for name, pull in pulls.items()}
    far = [name for name in over if over[name] > _TORN]
    if not far:
        return []
    worst = max(far, key=lambda name: over[name])
    others = f", and those of {len(far) - 1} more beyond {_TORN:g} times theirs" if len(far) > 1 else ""
    return [
        f"the tendon of {worst!r} begins with {pulls[worst]:.3g}, {over[worst]:.3g} times its largest isometric force{others}: "
        "fibers begin at lengths at which they do not balance; --equilibrate (model.equilibrate_muscles(state)) finds those"
    ]


def _put_first_row(loaded: Loaded, options: argparse.Namespace) -> None:
    """Begin as a file of states does, at its time."""
    from ..biomechanics.states import MotionRows

    if loaded.model is None or "document" not in loaded.model.data:
        raise CommandError("--states is for OpenSim files; others start by --q and --u")
    rows = MotionRows(loaded.model, options.states, loaded.state.copy(), equilibrate=options.equilibrate)
    loaded.notes += rows.notes
    state = loaded.state
    state.time, state.q, state.u, state.z = float(rows.time[0]), rows.q[0], rows.u[0], rows.z[0]
