"""The gallery of the bundled examples: its page, and its replays, are made when the documentation is built.

Its pictures are kept beside the pages: ``python docs/gallery.py`` makes them anew, or those of the examples that it is given.
"""

import sys
import tempfile
from pathlib import Path

import mobod as mb

HERE = Path(__file__).parent
IMAGES = HERE / "images" / "gallery"
REPLAYED = 4.0  # seconds at most
HEAD = """Gallery
=======

The bundled examples. A click on a picture opens the motion, to be turned with the mouse and played. A name is what
``mobod simulate`` takes; ``mb.examples.NAME.build()`` returns the system and its state.

.. grid:: 2 3 3 4
   :gutter: 2
"""


def simulate(name, frames):
    """The trajectory of an example."""
    example = getattr(mb.examples, name)
    system, state = example.build()
    time = min(getattr(example, "TIME", REPLAYED), REPLAYED)
    return mb.simulate(system, state, time, report_interval=time / frames, progress=False)


def write_page():
    """A card for each example: its picture, what it shows, and its replay."""
    lines = [HEAD]
    for name in dir(mb.examples):
        if not (IMAGES / f"{name}.png").exists():
            make(name)  # of a new example
        says = " ".join(getattr(mb.examples, name).__doc__.partition("\n\n")[0].split()).partition(": ")[2]
        lines += [f"   .. grid-item-card:: {name}", f"      :img-top: images/gallery/{name}.png"]
        lines += [f"      :link: replays/{name}.html", "      :link-type: url", "", f"      {says}", ""]
    text = "\n".join(lines)
    page = HERE / "gallery.rst"
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


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
