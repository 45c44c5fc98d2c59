"""Links and joints as model files of several formats describe them, and the builder that makes a system of them.

A reader of a format fills a `description.Mechanism`; `build.build` makes the `Model`. What is between: `order` puts links in
order, `masses` and `idle` look at what moves, `bodies` makes bodies and mobilizers, `acting` what acts at joints, `mimicry`
couples them, `surfaces` makes surfaces of contact.
"""

from .build import build
from .description import Axis, Collision, Joint, Link, Mechanism, Mimic, Visual
from .options import Options

__all__ = ["Axis", "Collision", "Joint", "Link", "Mechanism", "Mimic", "Options", "Visual", "build"]
