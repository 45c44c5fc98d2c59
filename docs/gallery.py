"""The gallery of the bundled examples: its pages, and its replays, are made when the documentation is built.

Its pictures are kept beside the pages: ``python docs/gallery.py`` makes them anew, or those of the examples that it is given.
"""

import os
import sys
import tempfile
from pathlib import Path

import mobod as mb

HERE = Path(__file__).parent
IMAGES = HERE / "images" / "gallery"
PAGES = HERE / "examples"
REPLAYED = 4.0  # seconds at most
HEAD = """Gallery
=======

The bundled examples: a click opens the motion, to be turned with the mouse and played, and the code that makes it.

.. grid:: 2 3 3 4
   :gutter: 2
"""
TAIL = """
.. toctree::
   :hidden:
   :glob:

   examples/*
"""
EXAMPLE = """{name}
{line}

{says}

.. raw:: html

   <iframe src="../replays/{name}.html" title="{name}" loading="lazy" style="width: 100%; height: 32rem; border: 0"></iframe>

``mobod simulate {name}`` runs it, ``mobod examples copy {name}`` gives you a copy to change, and in Python
``mb.examples.{name}.build()`` returns the system and its state.

"""


def simulate(name, frames):
    """The trajectory of an example."""
    example = getattr(mb.examples, name)
    system, state = example.build()
    time = min(getattr(example, "TIME", REPLAYED), REPLAYED)
    return mb.simulate(system, state, time, report_interval=time / frames, progress=False)


def write_pages():
    """A card for each example, and a page with its replay and its source."""
    lines = [HEAD]
    PAGES.mkdir(exist_ok=True)
    for name in dir(mb.examples):
        if not (IMAGES / f"{name}.png").exists():
            make(name)  # of a new example
        example = getattr(mb.examples, name)
        says = " ".join(example.__doc__.partition("\n\n")[0].split()).partition(": ")[2]
        says = says[:1].upper() + says[1:].rstrip(".") + "."
        lines += [f"   .. grid-item-card:: {name}", f"      :img-top: images/gallery/{name}.png"]
        lines += [f"      :link: examples/{name}", "      :link-type: doc", "", f"      {says}", ""]
        text = EXAMPLE.format(name=name, line="=" * len(name), says=says)
        source = Path(example.__file__)
        if source.suffix == ".py":
            text += f".. literalinclude:: {os.path.relpath(source, PAGES)}\n   :language: python\n"
        else:
            text += f"The model is a file, ``{source.name}``.\n"
        write(PAGES / f"{name}.rst", text)
    write(HERE / "gallery.rst", "\n".join(lines) + TAIL)


def write(path, text):
    """Write a page, if it has changed: Sphinx reads only such pages again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_replays(folder):
    """A file for each example, which needs no network."""
    folder.mkdir(exist_ok=True)
    for name in dir(mb.examples):
        if not (folder / f"{name}.html").exists():
            simulate(name, 100).save_html(folder / f"{name}.html")


def make(name):
    """The frame in the middle of an example's film, with 64 colours."""
    from PIL import Image

    motion = simulate(name, 200)  # so many points has its trace
    time = motion.time[-1]
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.gif"
        motion.animate(film, fps=4 / time, size=(3.6, 3.0), progress=lambda done, total: None)
        with Image.open(film) as image:
            image.seek(min(1, image.n_frames - 1))
            image.convert("RGB").quantize(64).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for one in sys.argv[1:] or dir(mb.examples):
        make(one)
        print(one, (IMAGES / f"{one}.png").stat().st_size, flush=True)
