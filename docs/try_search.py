"""Searches the built pages in a real browser: ``python docs/try_search.py build/docs [all]``.

The first word of each page in ``search_words.toml``, or all of them, and some names, have to find their page among the first
three.
Needs the package playwright and a chromium; without one it says so, and checks nothing.
"""

import shutil
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

NAMES = {"get_rod_tension": "module_constraint", "MobilityDiscreteForce": "module_force", "calc_m": "SimbodyMatterSubsystem"}


def queries(every):
    """Pairs of what is typed and a part of the address that it has to find."""
    words = tomllib.loads((Path(__file__).parent / "search_words.toml").read_text())["pages"]
    return [*NAMES.items(), *((word, page) for page in words for word in words[page][: None if every else 1])]


def main(folder, every):
    """The number of queries whose page is not among the first three results."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no browser here: the search is not tried")
        return 0
    from playwright.sync_api import sync_playwright

    missed, asked = 0, queries(every)
    with sync_playwright() as play:
        page = play.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        for query, wanted in asked:
            page.goto(f"{folder.resolve().as_uri()}/search.html?q={quote(query)}")
            page.wait_for_function("/found|did not match/.test(document.querySelector('#search-results').textContent)")
            links = page.eval_on_selector_all(
                "#search-results ul.search li > a", "all => all.map(one => one.getAttribute('href'))"
            )
            if not any(wanted in link for link in links[:3]):
                print(f"{query!r} finds {links[:3]}, not {wanted}")
                missed += 1
    print(f"search: {len(asked) - missed} of {len(asked)} words find their page among the first three")
    return missed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "all" in sys.argv[2:]) > 0)
