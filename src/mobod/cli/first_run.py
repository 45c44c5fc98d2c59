"""Compiling all that a simulation needs: ahead of the first run, or in front of it, on all processors."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from ..compiling import Job
from ..importer.named_models import Choices, find_examples, load_model
from ..integrator import Integrator

#: How long a model is simulated to see that nothing is missing, of its own time.
PART = 1e-3


def compile_for(model: str, integrator: type[Integrator] | None) -> None:
    """Compile what every model needs, if *model* can be read at all; what it alone needs comes when it is built."""
    from ..compiling import compile_ahead

    if Path(model).is_file() or model in find_examples():
        compile_ahead(_common(integrator))


def _common(integrator: type[Integrator] | None) -> list[Job]:
    """Kernels that every simulation needs, and those that report on it afterwards."""
    from ..compiling import Job
    from ..integrator import RungeKuttaMerson
    from ..tree import momentum

    block, out = np.zeros(1, np.int64), np.zeros((1, 1))
    sums = momentum.calc_mass_properties, momentum.calc_momentum, momentum.calc_kinetic_energy, momentum.calc_energy
    return [*(integrator or RungeKuttaMerson).entry_points(), *(Job(kernel, (block, out)) for kernel in sums)]


def warm_up(options: argparse.Namespace) -> None:
    """The command `mobod warmup`."""
    from ..compiling import cache_folder, compile_ahead, routines_of_package
    from ..simulation.simulate import simulate

    most = max(1, (os.cpu_count() or 1) - 1)
    compile_ahead([*_common(None), *(routines_of_package() if options.all else [])], most)
    names = [*options.models, *(sorted(find_examples()) if options.all else [])]
    for name in names or ["double_pendulum"]:
        print(f"{name}")
        loaded = load_model(name, Choices())
        trajectory = simulate(loaded.system, loaded.state, PART * loaded.time, record=loaded.quantities)
        str(trajectory.audit), trajectory.calc_kinetic_energy([0])  # what a run is summed up by
    print(f"compiled code is in {cache_folder()}")
