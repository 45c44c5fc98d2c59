"""Pages in notebooks that play a motion or show a model, within the notebook's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..value.checks import suggest
from .curves import name_of_curve

if TYPE_CHECKING:
    from ..value.annotations import Trajectory


def show_motion(trajectory: Trajectory) -> str | None:
    """A motion as notebooks show it: a page that plays within the notebook's; None where there is no system."""
    from .html_file import make_frame
    from .replay import make_replay

    if trajectory.system is None or not len(trajectory):
        return None
    return make_frame(make_replay(trajectory, fps=_pictures_a_second(trajectory), detail=2.0), repr(trajectory))


class Shown:
    """Motions that a notebook plays in a cell; `Trajectory.show` makes it.

    Attributes
    ----------
    html : str
        The frame.
    """

    def __init__(
        self,
        trajectories: Sequence[Trajectory],
        *,
        beside: bool,
        quantity: str | None,
        contact_forces: bool | float,
        units: Sequence[str] | None,
        height: int,
    ) -> None:
        from .html_file import make_frame, make_replay_of

        first = trajectories[0]
        fps = _pictures_a_second(first) if first.system is not None and len(first) else None
        replay = make_replay_of(trajectories, beside=beside, fps=fps, contact_forces=contact_forces, units=units)
        self._said = f"{len(trajectories)} motion{'s' if len(trajectories) > 1 else ''}"
        if quantity is not None:
            known = replay.about["curves"]
            curve = quantity if quantity in known else name_of_curve(quantity)
            if curve not in known:
                raise ValueError(f"there is no curve {quantity!r} to show; {suggest(quantity, known)}")
            replay.about["curve"] = known.index(curve)
            self._said += f", {quantity!r} over time"
        self.html = make_frame(replay, repr(first), height)

    def __repr__(self) -> str:
        return f"<Shown: {self._said}>"

    def _repr_html_(self) -> str:
        return self.html


def _pictures_a_second(trajectory: Trajectory) -> float | None:
    span = float(trajectory.time[-1] - trajectory.time[0])
    return min(25.0, 500.0 / span) if span > 0.0 else None


def show_pose(system: Any, state: Any, title: str) -> str:
    """A pose as notebooks show it, in a frame that can be turned."""
    from ..shapes.mechanism import Mechanism, find_body_transforms
    from ..shapes.tracks import find_tracks
    from .html_file import make_frame
    from .replay import make_still

    X_GB = find_body_transforms(system, state)
    return make_frame(make_still(Mechanism.of(system, state, 1.5), X_GB, state.time, find_tracks(system, [state])), title)
