"""Formulas as MathML, which browsers show by themselves: no script, and nothing from the network."""

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer, node):
    """A formula in a line."""
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def block(writer, node):
    """A formula of its own."""
    writer.body.append(f'<div class="formula">{convert(node.astext().strip(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Offer the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
