"""How the pages are built: ``python -m sphinx -W --keep-going -b html docs build/docs``."""

import mobod

project = "mobod"
author = "the mobod developers"
version = release = mobod.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "sphinx_design"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_*"]
nitpicky = False
default_role = "code"  # docstrings say `name` for what is typed
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

numpydoc_show_class_members = False  # members are grouped by task, on pages of their own
autodoc_typehints = "none"  # the docstrings say them in words

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
