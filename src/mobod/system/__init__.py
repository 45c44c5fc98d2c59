"""Systems: the matter and its operators, and what realizes, prescribes and projects states."""

from ..mobilizer import custom_check
from .matter import SimbodyMatterSubsystem
from .system import MultibodySystem


def _new_matter() -> SimbodyMatterSubsystem:
    return SimbodyMatterSubsystem(MultibodySystem("check"))


custom_check.new_matter = _new_matter
