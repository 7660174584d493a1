"""Pages and pictures inside notebooks: a frame that holds the whole page, and cannot reach the notebook around it."""

from __future__ import annotations

import base64
import html
import importlib
import zlib
from pathlib import Path
from typing import Any

from onnxsmith.errors import OnnxsmithError
from onnxsmith.view import writing
from onnxsmith.view.content import Viewed, ViewedPair

#: A notebook keeps every page that it shows in its file.
MOST_BYTES = 2_000_000
_HEIGHT = 560
#: Puts the page in its own place; from then on the page's policy holds.
_UNPACKING = (
    '<!doctype html><meta charset="utf-8"><script>(async()=>{'
    'const packed=Uint8Array.from(atob("@PAGE@"),(each)=>each.charCodeAt(0));'
    'const stream=new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));'
    "const page=await new Response(stream).text();document.open();document.write(page);document.close()})()</script>"
)


def page_frame(page: bytes) -> str:
    """The page in a frame that may run its script and nothing else; packed, since most of it is script."""
    packed = base64.b64encode(zlib.compress(page, 9)).decode("ascii")
    text = html.escape(_UNPACKING.replace("@PAGE@", packed), quote=True)
    style = f"width:100%;height:{_HEIGHT}px;border:1px solid #8884;border-radius:8px"
    # In a block of its own: IPython warns of a bare frame, and would have one with an address.
    return (
        f'<div><iframe sandbox="allow-scripts" srcdoc="{text}" style="{style}" title="The model">'
        "</iframe></div>"
    )


def picture_frame(picture: str) -> str:
    """The picture as an image, so that its style is its own, in a window that scrolls."""
    source = base64.b64encode(picture.encode()).decode("ascii")
    return (
        f'<div style="max-height:{_HEIGHT}px;overflow:auto">'
        f'<img alt="The model" src="data:image/svg+xml;base64,{source}"></div>'
    )


def display_page(shown: Viewed | ViewedPair) -> None:
    """Show the page below the cell; of one that is too large, a button that writes it to a file.

    A notebook without widgets has no button that could do that: there the file is written at once, since somebody asked
    to see the model, and a link leads to it.
    """
    # There, because this is a notebook; its annotations leave things open.
    displays: Any = importlib.import_module("IPython.display")
    page = writing.made(shown, ".html")
    if len(page) <= MOST_BYTES:
        displays.display(displays.HTML(page_frame(page)))
        return
    button = _button(shown)
    if button is None:
        displays.display(displays.HTML(too_large(len(page)) + _link(shown)))
        return
    displays.display(displays.HTML(too_large(len(page))))
    displays.display(button)


def _name(shown: Viewed | ViewedPair) -> str:
    """A file beside the notebook."""
    stem = Path(shown.title.replace(" → ", "_")).stem
    return f"{''.join(each if each.isalnum() or each in '._-' else '_' for each in stem) or 'model'}.html"


def _link(shown: Viewed | ViewedPair) -> str:
    try:
        name = html.escape(str(writing.write(shown, _name(shown))), quote=True)
    except OnnxsmithError as error:  # a file of somebody's that is called so stays
        return f"<p>{html.escape(error.message)}</p>"
    return (
        f'<p>It is written to <a href="{name}" target="_blank" download>{name}</a>, beside the notebook.</p>'
    )


def _button(shown: Viewed | ViewedPair) -> Any:
    """A button that writes the page beside the notebook; None where the notebook has no widgets."""
    try:
        widgets: Any = importlib.import_module("ipywidgets")
    except ImportError:
        return None
    name = _name(shown)
    button = widgets.Button(description=f"Write {name}", layout=widgets.Layout(width="auto"))

    def write(_: object) -> None:
        try:
            button.description = f"{writing.write(shown, name)} is written"
        except OnnxsmithError as error:
            button.description = error.message

    button.on_click(write)
    return button


def too_large(size: int) -> str:
    """The replacement for a page that would make the notebook's file too large."""
    return (
        f"<p>The page of this model has {size / 1e6:.1f} MB, too much to keep in a notebook. "
        "<code>model.show('model.html')</code> writes it to a file.</p>"
    )
