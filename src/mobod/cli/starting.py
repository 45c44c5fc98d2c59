"""A model that the command is to simulate or show, where its options have it start."""

from __future__ import annotations

import argparse
from dataclasses import fields

from ..errors import CommandError
from ..importer.named_models import Choices, Loaded, assign, load_model, put_floor


def load_and_start(model: str, options: argparse.Namespace) -> Loaded:
    """Read a model, and put it where it is to start."""
    choices = Choices(**{each.name: getattr(options, each.name) for each in fields(Choices)})
    loaded = load_model(model, choices)
    if options.states is not None:
        _put_first_row(loaded, options)
    assign(loaded.state, "q", loaded.coordinates, options.q)
    assign(loaded.state, "u", loaded.speeds, options.u)
    put_floor(loaded, choices)
    if options.equilibrate and loaded.model is not None:
        loaded.model.equilibrate_muscles(loaded.state)
    return loaded


def _put_first_row(loaded: Loaded, options: argparse.Namespace) -> None:
    """Begin as a file of states does, at its time."""
    from ..biomechanics.states import MotionRows

    if loaded.model is None or "document" not in loaded.model.data:
        raise CommandError("--states is for OpenSim files; others start by --q and --u")
    rows = MotionRows(loaded.model, options.states, loaded.state.copy(), equilibrate=options.equilibrate)
    loaded.notes += rows.notes
    state = loaded.state
    state.time, state.q, state.u, state.z = float(rows.time[0]), rows.q[0], rows.u[0], rows.z[0]
