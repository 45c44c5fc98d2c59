"""Makes the gallery's pictures of the bundled examples: ``python docs/gallery.py``, or with the names of some."""

import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path

import mobod as mb

IMAGES = Path(__file__).parent / "images" / "gallery"


def names():
    """All bundled examples."""
    return sorted(info.name for info in pkgutil.iter_modules(mb.examples.__path__) if not info.name.startswith("_"))


def make(name):
    """The frame in the middle of an example's film, with 64 colours."""
    from PIL import Image

    example = importlib.import_module(f"mobod.examples.{name}")
    system, state = example.build()
    time = min(getattr(example, "TIME", 4.0), 4.0)
    motion = mb.simulate(system, state, time, report_interval=time / 4, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.gif"
        motion.animate(film, fps=4 / time, size=(3.6, 3.0), progress=lambda done, total: None)
        with Image.open(film) as image:
            image.seek(min(1, image.n_frames - 1))
            image.convert("RGB").quantize(64).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for one in sys.argv[1:] or names():
        make(one)
        print(one, (IMAGES / f"{one}.png").stat().st_size, flush=True)
