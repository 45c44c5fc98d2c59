"""Flags of functions that read models are True or False: text such as "no" would count as True."""

import inspect

import pytest

import mobod as mb

LOADERS = ("load_urdf", "load_sdf", "load_mjcf", "load_osim")


def flags_of(loader):
    return [one.name for one in inspect.signature(getattr(mb, loader)).parameters.values() if isinstance(one.default, bool)]


@pytest.mark.parametrize("loader", LOADERS)
def test_each_flag_is_true_or_false(loader, tmp_path):
    """Said before the file is looked for."""
    if loader == "load_mjcf":
        pytest.importorskip("mujoco")
    assert "strict" in flags_of(loader)
    for flag in flags_of(loader):
        for value in ("yes", "no", 1, None):
            with pytest.raises(TypeError, match=f"{flag} of {loader} has to be True or False, not {value!r}"):
                getattr(mb, loader)(tmp_path / "none", **{flag: value})
