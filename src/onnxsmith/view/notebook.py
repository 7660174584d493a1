"""Pages inside notebooks: a frame that holds the whole page, and cannot reach the notebook around it."""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any

from onnxsmith.view import writing
from onnxsmith.view.content import Viewed

#: A notebook keeps every page that it shows in its file.
MOST_BYTES = 2_000_000
_HEIGHT = 560


def is_notebook() -> bool:
    """Whether this runs in a notebook, and not at a prompt in a terminal."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def page_frame(page: bytes) -> str:
    """The page in a frame that may run its script and nothing else."""
    text = html.escape(page.decode(), quote=True)
    style = f"width:100%;height:{_HEIGHT}px;border:1px solid #8884;border-radius:8px"
    return f'<iframe sandbox="allow-scripts" srcdoc="{text}" style="{style}" title="The model"></iframe>'


def display_page(shown: Viewed) -> None:
    """Show the page below the cell; one that is too large as a line that says how to get it."""
    # There, because this is a notebook; its annotations leave things open.
    displays: Any = importlib.import_module("IPython.display")
    page = writing.made(shown, ".html")
    displays.display(displays.HTML(page_frame(page) if len(page) <= MOST_BYTES else too_large(len(page))))


def too_large(size: int) -> str:
    """What stands in the place of a page that would make the notebook's file too large."""
    return (
        f"<p>The page of this model has {size / 1e6:.1f} MB, too much to keep in a notebook. "
        "<code>model.show('model.html')</code> writes it to a file.</p>"
    )
