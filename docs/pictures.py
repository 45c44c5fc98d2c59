"""Makes the pictures of the pages anew, by running the pages' own code: ``python docs/pictures.py pendulum.md walker.md``.

Without names, all pages that show pictures which their code makes. Pictures are kept with 128 colours, a third of the size.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from pages import page, run, text_of  # noqa: E402


def pictures_of(name):
    """The names of the pictures that a page both makes and shows."""
    text = text_of(name)
    shown = set(re.findall(r"\]\(\.\./images/(\w+\.png)\)", text))
    return sorted(picture for picture in shown if f'"{picture}"' in text)


def make(name):
    """Run a page and keep its pictures."""
    from PIL import Image

    start = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            run(name)
        finally:
            os.chdir(start)
        for picture in pictures_of(name):
            with Image.open(Path(folder) / picture) as image:
                image.convert("RGB").quantize(128).save(DOCS / "images" / picture, optimize=True)
            print(picture, (DOCS / "images" / picture).stat().st_size)


if __name__ == "__main__":
    names = sys.argv[1:] or sorted(
        path.name for path in DOCS.rglob("*.md") if path.name != "index.md" and pictures_of(path.name)
    )
    for one in names:
        make(page(one).name)
