"""One HTML file with everything in it: the page's style and script, and the model as packed data.

Its content-security policy names the script and the style by their hashes and allows nothing else: no request, no
frame, no script that a model could have smuggled in. The files of the page lie beside this module, in `page`.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
from collections.abc import Mapping
from importlib import resources

from onnxsmith.view.page_data import Json, packed

#: In the order in which they need each other.
_SCRIPTS = (
    "dom.js",
    "data.js",
    "sizes.js",
    "placing.js",
    "scene.js",
    "colours.js",
    "drawing.js",
    "camera.js",
    "minimap.js",
    "search.js",
    "overlay.js",
    "charts.js",
    "panel.js",
    "source.js",
    "walking.js",
    "pane.js",
    "together.js",
    "changes.js",
    "main.js",
)

#: What each page begins with, so that a page of ours is known from a stranger's file.
MARK = b'<meta name="generator" content="onnxsmith view">'


@functools.cache
def _file(name: str) -> str:
    return (resources.files("onnxsmith.view") / "page" / name).read_text("utf-8")


@functools.cache
def _script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(_file(name) for name in _SCRIPTS) + "})();\n"


def _source_of(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def page_text(content: Mapping[str, Json], title: str) -> str:
    """The whole page."""
    script, style = _script(), _file("page.css")
    policy = (
        f"default-src 'none'; script-src {_source_of(script)}; style-src {_source_of(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "@POLICY@": policy,
        "@TITLE@": html.escape(title),
        "@STYLE@": style,
        "@DATA@": packed(content),
        "@SCRIPT@": script,
    }
    text = _file("page.html")
    result: list[str] = []
    # Piece by piece: what is put in is never looked through for the next mark.
    for mark, put in parts.items():
        before, _, text = text.partition(mark)
        result += [before, put]
    return "".join([*result, text])
