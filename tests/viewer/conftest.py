"""A real browser: Chromium or Chrome, on the path or where the environment variable MOBOD_BROWSER says; else tests skip."""

import io
import os
import shutil
import time

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Drawing by the processor: there may be no graphics card.
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


class Page:
    """A page, and what went wrong on it."""

    def __init__(self, page):
        self.page, self.errors, self.requests = page, [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: self.requests.append(request.url))

    def picture(self, selector="canvas"):
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.page.locator(selector).first.screenshot())).convert("RGB"), dtype=float)

    def until(self, condition, seconds=60.0):
        """Wait for a condition; playwright's own way of it is forbidden by pages that forbid `eval`."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"{condition} has not come about; errors: {self.errors}"
            self.page.wait_for_timeout(20)

    def outside(self):
        """Requests that leave this machine."""
        own = ("data:", "blob:", "file:", "http://127.0.0.1:", "ws://127.0.0.1:", "http://localhost:", "ws://localhost:")
        return [url for url in self.requests if not url.startswith(own)]


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="the viewer is not tested in a browser: no playwright here")
    path = os.environ.get("MOBOD_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("the viewer is not tested in a browser: there is no Chromium here; apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def page(browser):
    # few dots: the processor draws them
    opened = browser.new_page(viewport={"width": 720, "height": 420}, device_scale_factor=0.5)
    opened.set_default_timeout(90_000.0)  # milliseconds, on a busy machine
    yield Page(opened)
    opened.close()
