"""Systems: the matter and its operators, and what realizes, prescribes and projects states."""

from ..mobilizer import _check_custom
from .matter import SimbodyMatterSubsystem
from .system import MultibodySystem


def _new_matter() -> SimbodyMatterSubsystem:
    return SimbodyMatterSubsystem(MultibodySystem("check"))


_check_custom.new_matter = _new_matter
