"""Opens built pages in Chromium, wide and narrow, light and dark, and reports what does not fit the screen.

`python tools/check_pages.py docs/_build/html` looks at every page; more arguments name single ones. What counts:
nothing makes the page scroll sideways, no table is wider than the text, no text is cut off, and nothing is asked of the
network. Code may scroll in a frame of its own.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Pages that hold nothing to read.
_SKIPPED = frozenset({"genindex.html", "search.html", "py-modindex.html"})
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

#: Returns what does not fit, as words. Elements that scroll in their own frame, and what is in them, are left out.
_LOOK = """() => {
  const wide = window.innerWidth, found = [];
  const name = e => e.tagName.toLowerCase() + (e.className && e.className.baseVal === undefined ?
    '.' + String(e.className).trim().split(/\\s+/).slice(0, 2).join('.') : '') +
    ' "' + (e.textContent || '').trim().slice(0, 50) + '"';
  if (document.documentElement.scrollWidth > wide)
    found.push('the page is ' + document.documentElement.scrollWidth + ' px wide');
  const content = document.querySelector('article, .content, main') || document.body;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const framed = e => { for (let p = e; p && p !== content; p = p.parentElement)
    if (p.tagName === 'PRE' || (p.tagName !== 'TABLE' && p.classList.contains('text_html') && scrolls(p))) return true;
    return false; };
  for (const e of content.querySelectorAll('*')) {
    if (framed(e) || e.closest('svg')) continue;
    const box = e.getBoundingClientRect();
    if (box.width && box.right > wide + 1) found.push('beyond the screen: ' + name(e));
    else if (e.tagName === 'TABLE' && box.width > e.closest('article, main, body').getBoundingClientRect().width + 1)
      found.push('a table wider than the text: ' + name(e));
    const style = getComputedStyle(e);
    if (['hidden', 'clip'].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1)
      found.push('text is cut off: ' + name(e));
  }
  return found.slice(0, 5);
}"""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a page, and how it was looked at."""

    page: str
    width: int
    scheme: str
    words: str

    def __str__(self) -> str:
        return f"{self.page} at {self.width} px, {self.scheme}: {self.words}"


def check(browser: Any, folder: Path, pages: Sequence[Path]) -> Iterator[Problem]:
    """The problems of pages. Colours change no layout, so that dark is looked at on pages that people wrote alone."""
    for width, scheme in ((1280, "light"), (390, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        for path in pages:
            if scheme == "dark" and "operators" in path.parts:
                continue
            asked.clear()
            page.goto(path.as_uri(), wait_until="load")
            shown = path.relative_to(folder).as_posix()
            for words in page.evaluate(_LOOK):
                yield Problem(shown, width, scheme, words)
            for url in asked:
                if not url.startswith(("file:", "data:", "blob:", "about:")):
                    yield Problem(shown, width, scheme, f"asks the network for {url}")
        context.close()


def search_problems(browser: Any, folder: Path, words: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Whether the search, opened as a file, finds a page for each word."""
    page = browser.new_page()
    for word, wanted in words:
        page.goto(f"{(folder / 'search.html').as_uri()}?q={word}", wait_until="load")
        try:
            page.wait_for_selector(f"ul.search a[href*='{wanted}']", timeout=20_000)
        except Exception:  # playwright's own class, of a module that may be missing
            yield f"the search for {word!r} does not find {wanted}"
    page.close()


def launch(engine: Any) -> Any:
    """Chromium, as it is installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    return engine.chromium.launch(executable_path=program, args=_FLAGS)


def main(arguments: list[str] | None = None) -> int:
    """Print what does not fit; return 1 if anything does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the built documentation")
    parser.add_argument("pages", nargs="*", help="pages, from that folder; all by default")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    pages = [folder / each for each in options.pages] or [
        each
        for each in sorted(folder.rglob("*.html"))
        if each.name not in _SKIPPED and "_static" not in each.parts
    ]
    # Here, because it is the browser's, and what imports this module may do without.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        browser = launch(engine)
        problems = [str(each) for each in check(browser, folder, pages)]
        problems += search_problems(browser, folder, [("Softmax", "Softmax"), ("training_step", "training")])
        browser.close()
    for each in problems:
        print(each)
    print(f"pages: {len(pages)} looked at, {len(problems) or 'no'} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
