"""How the pages are built: ``python -m sphinx -W --keep-going -b html docs build/docs``."""

import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import _api
import _commands
import _messages
import gallery

import mobilizers
import mobod

project = "mobod"
author = "the mobod developers"
version = release = mobod.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "sphinx_design"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_*"]
nitpicky = False
default_role = "py:obj"  # docstrings say `name`: a link where the reference has it
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

numpydoc_show_class_members = False  # members are grouped by task, on pages of their own
autodoc_typehints = "none"  # the docstrings say them in words
toc_object_entries = False  # a page lists its groups at its side, not two hundred names

html_theme = "pydata_sphinx_theme"
html_title = f"mobod {release}"
html_static_path = []
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_align": "left",
}


def signature_of_class(app, what, name, one, options, signature, returned):
    """What a constructor takes; Sphinx would show what ``__new__`` passes on."""
    if what != "class":
        return None
    try:
        found = inspect.signature(one)
    except (TypeError, ValueError):
        return None
    bare = [parameter.replace(annotation=parameter.empty) for parameter in found.parameters.values()]
    return str(inspect.Signature(bare)), ""


def setup(app):
    """The pages of the reference are written before Sphinx looks for pages."""
    app.connect("builder-inited", write_reference)
    app.connect("build-finished", write_replays)
    app.connect("autodoc-process-signature", signature_of_class)


def write_reference(app):
    """Everything that is read off the package."""
    _api.write_pages()
    _messages.write_page()
    _commands.write_page()
    gallery.write_page()
    mobilizers.write_page()


def write_replays(app, error):
    """What the gallery's pictures open, beside the pages; for builders of HTML only."""
    if error is None and app.builder.format == "html":
        gallery.write_replays(Path(app.outdir) / "replays")
        mobilizers.write_motions(Path(app.outdir) / "replays")
