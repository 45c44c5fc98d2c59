"""Figures of motions and forces over time: one panel a coordinate, those of both sides together."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..motion_data import Table
from ..value.files import written

COLUMNS = 4
#: The least height of a panel, in degrees and the units of the table.
LEAST_SPAN = 1e-3
#: Names that end so are of one side; the other's is drawn into the same panel.
_SIDE = re.compile(r"(?:_([rl]))(?=$|_(?:moment|force)$)")
COLORS = {"r": "tab:blue", "l": "tab:orange", "": "tab:blue"}


def plot_table(
    path: str | os.PathLike[str],
    table: Table,
    *,
    degrees: Any = (),
    residuals: Table | None = None,
    title: str = "",
    unit: str = "",
) -> None:
    """Draw a table of numbers over time.

    Parameters
    ----------
    path : path
        ``.png``, ``.pdf`` or ``.svg``.
    table : Table
    degrees : collection of str
        Columns that are angles: drawn in degrees.
    residuals : Table, optional
        Of markers: their root mean square and greatest value become a panel of their own.
    title : str
    unit : str
        Of what is no angle.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mobod as mb, numpy as np
    >>> table = mb.Table(np.linspace(0, 1, 11), {"knee": np.linspace(0, 1, 11)})
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "knee.png"
    >>> done = mb.biomechanics.plot_table(path, table, degrees=["knee"], unit="degrees")
    >>> path.stat().st_size > 1000
    True
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a figure needs Matplotlib: pip install 'mobod[plot]'") from None
    panels: dict[str, list[str]] = {}
    for label in table.labels:
        panels.setdefault(_SIDE.sub("", label), []).append(label)
    count = len(panels) + (residuals is not None)
    rows = -(-count // COLUMNS)
    figure = Figure(figsize=(3.1 * COLUMNS, 2.1 * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, squeeze=False, sharex=True).ravel()
    for axis, (name, labels) in zip(axes, panels.items(), strict=False):
        is_angle = labels[0] in degrees
        for label in labels:
            found = _SIDE.search(label)
            side = str(found[1]) if found and len(labels) > 1 else ""
            column = np.rad2deg(table[label]) if label in degrees else table[label]
            axis.plot(table.time, column, color=COLORS[side], lw=1.2, label={"r": "right", "l": "left"}.get(side))
        low, high = axis.get_ylim()
        if high - low < LEAST_SPAN:  # what does not move is not drawn as noise
            axis.set_ylim(0.5 * (low + high - LEAST_SPAN), 0.5 * (low + high + LEAST_SPAN))
        axis.set_title(name.replace("_", " "), fontsize=9)
        axis.set_ylabel("degrees" if is_angle else unit, fontsize=8)
        if len(labels) > 1:
            axis.legend(fontsize=7, frameon=False)
    if residuals is not None:
        apart = 1000.0 * np.stack([residuals[label] for label in residuals.labels], axis=1)
        axis = axes[len(panels)]
        axis.plot(residuals.time, np.sqrt(np.nanmean(apart**2, axis=1)), color="tab:green", lw=1.2, label="rms")
        axis.plot(residuals.time, np.nanmax(apart, axis=1), color="tab:red", lw=1.0, label="greatest")
        axis.set_title("distance of markers", fontsize=9)
        axis.set_ylabel("mm", fontsize=8)
        axis.legend(fontsize=7, frameon=False)
    for k, axis in enumerate(axes):
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.25)
        axis.set_visible(k < count)
        if k + COLUMNS >= count:
            axis.set_xlabel("time (s)", fontsize=8)
            axis.tick_params(labelbottom=True)
    if title:
        figure.suptitle(title, fontsize=11)
    with written(path) as beside:
        figure.savefig(beside, format=Path(path).suffix.lstrip(".") or "png", dpi=110)
