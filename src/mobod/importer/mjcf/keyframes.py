"""Keyframes as states."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...state.state import State
from ...value import Transform
from ..model import Model
from .bodies import Tree
from .source import Source, rotation_of


def add_keyframes(source: Source, tree: Tree, model: Model) -> None:
    """A callable each, which makes the state: time, coordinates, speeds, activations, controls and mocap bodies."""
    m = source.m
    mocap = {int(k): tree.bodies[b] for b, k in enumerate(m.body_mocapid.tolist()) if k >= 0}
    for k, name in enumerate(source.keys):
        numbers = {
            field: np.array(getattr(m, f"key_{field}")[k]) for field in ("time", "qpos", "qvel", "act", "ctrl", "mpos", "mquat")
        }
        model.keyframes[name] = partial(_make, model, mocap, numbers)  # which can be pickled
    if mocap:
        source.note(
            f"{len(mocap)} mocap {'body' if len(mocap) == 1 else 'bodies'}: welded to Ground where the file has them; "
            "set_inboard_frame(state, X) moves one"
        )


def _make(model: Model, mocap: dict[int, Any], numbers: dict[str, Any]) -> State:
    state: State = model.data["mujoco"].make_state(numbers["qpos"], numbers["qvel"], numbers["act"])
    state.time = float(numbers["time"])
    for k, body in mocap.items():
        quaternion = numbers["mquat"].reshape(-1, 4)[k]
        X = Transform.trusted(rotation_of(quaternion / np.linalg.norm(quaternion)), numbers["mpos"].reshape(-1, 3)[k].copy())
        body.set_inboard_frame(state, X)
    if numbers["ctrl"].size:
        model.data["controls"].set_controls(state, numbers["ctrl"])
    return state
