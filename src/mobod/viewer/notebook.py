"""What notebooks show of a motion and of a model: pages that play, within the notebook's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..value.annotations import Trajectory


def show_motion(trajectory: Trajectory) -> str | None:
    """A motion as notebooks show it: a page that plays within the notebook's; None where there is no system."""
    from .html_file import make_frame
    from .replay import make_replay

    if trajectory.system is None or not len(trajectory):
        return None
    span = float(trajectory.time[-1] - trajectory.time[0])
    fps = min(25.0, 500.0 / span) if span > 0.0 else None
    return make_frame(make_replay(trajectory, fps=fps, detail=1.0), repr(trajectory))


def show_pose(system: Any, state: Any, title: str) -> str:
    """A pose as notebooks show it, in a frame that can be turned."""
    from ..shapes.mechanism import Mechanism, find_body_transforms
    from ..shapes.tracks import find_tracks
    from .html_file import make_frame
    from .replay import make_still

    X_GB = find_body_transforms(system, state)
    return make_frame(make_still(Mechanism.of(system, state, 1.5), X_GB, state.time, find_tracks(system, [state])), title)
