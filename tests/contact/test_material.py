"""Materials: plain data that is right from the start."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import mobod as mb

Material = mb.contact.Material


def test_what_is_not_given():
    steel = Material(2e11)
    assert dataclasses.astuple(steel) == (2e11, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert Material(1e6, 0.5, 0.9).dynamic_friction == 0.9
    assert Material(1e6, 0.5, 0.9, 0.0).dynamic_friction == 0.0
    assert Material(1e6, 0.5, 0.9, 0.8, 0.1) == Material(
        stiffness=1e6, dissipation=0.5, static_friction=0.9, dynamic_friction=0.8, viscous_friction=0.1
    )


def test_it_is_plain_data():
    rubber = Material(np.float64(1e6), 1, static_friction=np.array(0.9))
    assert all(type(value) is float for value in dataclasses.astuple(rubber))
    assert "static_friction=0.9" in repr(rubber)
    assert copy.deepcopy(rubber) == pickle.loads(pickle.dumps(rubber)) == rubber and hash(rubber) == hash(copy.copy(rubber))
    with pytest.raises(dataclasses.FrozenInstanceError):
        rubber.stiffness = 2.0
    assert dataclasses.replace(rubber, stiffness=2e6).stiffness == 2e6


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "stiffness": (0.0, -1.0, np.nan, np.inf),
        "dissipation": (-1e-9, np.nan, np.inf),
        "static_friction": (-0.1, np.nan, np.inf),
        "dynamic_friction": (-0.1, 0.51, np.nan),
        "viscous_friction": (-0.1, np.nan, -np.inf),
    }.items(),
)
def test_what_no_material_has_is_named(name, values):
    right = {"stiffness": 1e6, "static_friction": 0.5}
    for value in values:
        with pytest.raises(mb.ModelError, match=rf"{name} of a Material has to be .*{value}"):
            Material(**{**right, name: value})
    for value in ("1", True, [1.0, 2.0] if name == "stiffness" else 1j):
        with pytest.raises((TypeError, ValueError), match=f"{name} of a Material"):
            Material(**{**right, name: value})


def test_dynamic_above_static_says_what_static_is():
    with pytest.raises(mb.ModelError, match=r"from zero to its static_friction, which is 0, got 0\.3"):
        Material(1e6, dynamic_friction=0.3)
