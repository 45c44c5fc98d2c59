"""A system from an MJCF file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import force
from ...force.subsystem import GeneralForceSubsystem
from ...system.matter import SimbodyMatterSubsystem
from ...system.system import MultibodySystem
from ..model import Model
from . import options
from .bodies import Tree
from .compiled import compile_file
from .conversion import Conversion

if TYPE_CHECKING:
    from ...state.state import State


def load_mjcf(path: str | os.PathLike[str], *, strict: bool = False) -> Model:
    """Build a multibody system from an MJCF file, the format of MuJoCo."""
    source = compile_file(path, bool(strict))
    m = source.m
    system = MultibodySystem()
    matter = SimbodyMatterSubsystem(system)
    forces = GeneralForceSubsystem(system)
    gravity = np.zeros(3) if source.disabled("GRAVITY") else np.array(m.opt.gravity)
    tree = Tree(source, matter)
    coordinates, speeds, angles = tree.name_coordinates()
    model = Model(
        name=source.spec.modelname,
        system=system,
        matter=matter,
        forces=forces,
        gravity=force.Gravity(forces, matter, gravity),
        bodies=dict(zip(source.bodies[1:], tree.bodies[1:], strict=True)),
        coordinates=coordinates,
        speeds=speeds,
        angles=angles,
        report=source.report,
    )
    options.report(source)
    model.data["mujoco"] = Conversion(model, tree.joints, [], m.nq, m.nv)
    return model
