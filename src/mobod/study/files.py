"""A study's folder: one file a chunk, written whole or not at all, and what the study is."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_STUDY = "study.json"


class Folder:
    """The folder of a study's chunks.

    Raises
    ------
    ValueError
        If the folder has another study.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def begin(self, study: dict[str, Any]) -> dict[str, Any]:
        """Begin a study, or go on with the one that is there: what it is, with the chunks that it was begun with."""
        self.path.mkdir(parents=True, exist_ok=True)
        there = self.study()
        if there is None:
            self._write(_STUDY, json.dumps(study, indent=1).encode())
            return study
        for what, why in (
            ("parameters", "other parameters"),
            ("n", "another number of states"),
            ("seed", "another seed"),
            ("build", "another build, or another model"),
            ("mobod", "another version of mobod"),
        ):
            if there.get(what) != study[what]:
                raise ValueError(
                    f"{self.path} has a study of {why}; give it a folder of its own, or delete this one to begin anew"
                )
        return there

    def study(self) -> dict[str, Any] | None:
        """The study's description; None where there is none yet."""
        try:
            return json.loads((self.path / _STUDY).read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path / _STUDY} cannot be read as a study: {error}") from None

    def name_of(self, begin: int, end: int) -> str:
        """The file of states *begin* to *end*."""
        return f"states-{begin:09d}-{end:09d}.npz"

    def has(self, begin: int, end: int) -> bool:
        """True if these states are done."""
        return (self.path / self.name_of(begin, end)).exists()

    def save(self, begin: int, end: int, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep the results of states *begin* to *end*."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        self._write(self.name_of(begin, end), buffer.getbuffer())

    def load(self, begin: int, end: int, name: str | None = None) -> dict[str, npt.NDArray[Any]]:
        """The results of states *begin* to *end*, or one of them."""
        with np.load(self.path / self.name_of(begin, end), allow_pickle=False) as kept:
            return {one: kept[one] for one in kept.files if name is None or one == name}

    def _write(self, name: str, content: Any) -> None:
        """Write a file under another name and give it its own in one go: a reader never meets half of it."""
        handle, draft = tempfile.mkstemp(dir=self.path, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self.path / name)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
