"""How the pages are built: ``python -m sphinx -W --keep-going -b html docs build/docs``."""

import inspect
import re
import sys
import tomllib
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

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "_mathml",
    "sphinx_design",
    "sphinx_codeautolink",
]
codeautolink_concat_default = True  # the blocks of a page go on from each other
suppress_warnings = ["codeautolink.match_block"]  # Sphinx takes flags of doctest out of what it shows
html_math_renderer = "mathml"
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
html_static_path = ["_static"]
html_css_files = ["mobod.css"]
# pages that stand alone
html_sidebars = {page: [] for page in ("index", "gallery", "benchmarks", "faq", "changelog", "examples/*")}
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


SEARCH_WORDS = tomllib.loads((Path(__file__).parent / "search_words.toml").read_text())["pages"]


def add_search_words(app, page, source):
    """Behind a page's title, what people type who look for it: main entries of the index come first in a search."""
    if page in SEARCH_WORDS:
        title = re.match(r"# .*\n|.*\n=+\n", source[0])
        block = ".. index::\n" + "".join(f"   ! single: {word}\n" for word in SEARCH_WORDS[page])
        if title[0].startswith("#"):  # a page in Markdown
            block = f"```{{eval-rst}}\n{block}```\n"
        source[0] = f"{title[0]}\n{block}\n{source[0][title.end() :]}"


def check_search_words(app, environment):
    """Each page that has words is there."""
    missing = set(SEARCH_WORDS) - set(environment.found_docs)
    if missing:
        raise ValueError(f"docs/search_words.toml names pages that are not there: {', '.join(sorted(missing))}")


def setup(app):
    """The pages of the reference are written before Sphinx looks for pages."""
    app.connect("builder-inited", write_reference)
    app.connect("build-finished", write_replays)
    app.add_config_value("search_words", SEARCH_WORDS, "env")  # all pages are read anew when a word has changed
    app.connect("source-read", add_search_words)
    app.connect("env-updated", check_search_words)
    app.connect("autodoc-process-signature", signature_of_class)


def write_reference(app):
    """Everything that is read off the package."""
    _api.write_pages()
    _messages.write_page()
    _commands.write_page()
    gallery.write_pages()
    mobilizers.write_page()


def write_replays(app, error):
    """What the gallery's pictures open, beside the pages; for builders of HTML only."""
    if error is None and app.builder.format == "html":
        gallery.write_replays(Path(app.outdir) / "replays")
        mobilizers.write_motions(Path(app.outdir) / "replays")
