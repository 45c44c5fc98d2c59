"""The build of wheels: without what is unproven, and with compiled kernels where ``MOBOD_BUNDLES_FROM`` names their folder.

Without that, the wheel is pure Python and compiles what is needed when it is first needed. The folder is made by
`tools/compile_kernels.py`.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The oldest C library of Linux that the wheels of Numba, by which the kernels are loaded, run with.
MANYLINUX = "manylinux_2_28"


class WheelHook(BuildHookInterface):
    """Leaves `mobod.gpu` out; puts the bundles into the wheel, and gives it the tag of this Python and platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by Hatchling before it builds."""
        if self.target_name != "wheel":
            return
        if version == "standard":  # an editable install has the sources themselves
            build_data["force_include"][str(Path(self.root) / "tools" / "gpu_of_wheels.py")] = "mobod/gpu.py"
        folder = os.environ.get("MOBOD_BUNDLES_FROM")
        if not folder:
            return
        files = sorted(Path(folder).glob("*.zip"))
        if not files:
            raise FileNotFoundError(f"there are no bundles in {folder}: make them by python tools/compile_kernels.py {folder}")
        build_data["force_include"].update({str(file.resolve()): f"mobod/bundles/{file.name}" for file in files})
        build_data["pure_python"] = False
        python, abi, platform = self.build_config.builder.get_best_matching_tag().split("-")
        build_data["tag"] = f"{python}-{abi}-{re.sub(r'^(many)?linux(_2_[0-9]+)?(?=_)', MANYLINUX, platform)}"
