"""Pages and pictures as files: written whole or not at all, and never over what is not a page or picture of ours."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import importlib
import os
import struct
import zlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from onnxsmith.errors import AttributeValueError, MissingDependencyError, ModelWriteError
from onnxsmith.graphs import existing_files, files
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.view import picture
from onnxsmith.view.content import Viewed, ViewedPair, describe, page_content
from onnxsmith.view.overlays import Note
from onnxsmith.view.page_data import Json, packed
from onnxsmith.view.svg import size_of

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_MARK = b"Software\x00onnxsmith view"
#: A picture that is larger than this to one side is made smaller: decoders refuse more.
_MOST_PIXELS = 16_000
_MARKED_BYTES = 1024

FORMATS = (".html", ".htm", ".svg", ".png")


def check_format(place: Path) -> str:
    """The ending of a file that can be written."""
    ending = place.suffix.lower()
    if ending not in FORMATS:
        raise AttributeValueError(
            f"a model is shown as a page or a picture, and {str(place)!r} is neither",
            help="name a file that ends in .html, .svg or .png",
        )
    return ".html" if ending == ".htm" else ending


def write(viewed: Viewed | ViewedPair, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a model, or two, as a page or a picture, by the ending of the file, and give its path."""
    place = path_of(path)
    ending = check_format(place)
    files.check_place(place)
    if not overwrite and os.path.exists(place) and not _is_ours(place):
        raise existing_files.refuse(place, "it is no page or picture of a model", "write to another file")
    content = made(viewed, ending)
    try:
        with files.replacing(place) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise ModelWriteError(f"cannot write {str(place)!r}: {error.strerror or error}") from None
    return place


def made(viewed: Viewed | ViewedPair, ending: str) -> bytes:
    """The bytes of a page (`.html`) or picture (`.svg`, `.png`)."""
    if ending == ".html":
        return page_text(page_content(viewed), viewed.title).encode("utf-8", "replace")
    text = _picture(viewed)
    return text.encode() if ending == ".svg" else _png(text)


def _picture(viewed: Viewed | ViewedPair) -> str:
    if isinstance(viewed, Viewed):
        return picture.picture([_part(viewed, "")], viewed.title)
    parts = zip((viewed.first, viewed.second), viewed.both.called, strict=True)
    return picture.picture([_part(each, called) for each, called in parts], viewed.both.title)


def _part(viewed: Viewed, called: str) -> picture.Part:
    notes = dict[str, Note]() if viewed.overlay is None else viewed.overlay.notes
    return picture.Part(*describe(viewed.model), notes, called)


def _png(text: str) -> bytes:
    try:
        # An extra, which only pictures of dots need; it comes without annotations.
        resvg: Any = importlib.import_module("resvg_py")
    except ImportError:
        raise MissingDependencyError(
            "a PNG picture is drawn by resvg-py, which is not installed",
            help="pip install 'onnxsmith[view]', or write a .svg file, which needs nothing",
        ) from None
    scale = 2.0 if size_of(text) * 2 <= _MOST_PIXELS else _MOST_PIXELS / size_of(text)
    drawn = bytes(resvg.svg_to_bytes(svg_string=text, zoom=1 if scale < 1 else int(scale)))
    return _marked(drawn)


def _marked(drawn: bytes) -> bytes:
    """A PNG that says who made it, behind its header."""
    end = len(_PNG) + 25  # the header chunk has a fixed size
    check = zlib.crc32(b"tEXt" + _PNG_MARK)
    chunk = struct.pack(">I", len(_PNG_MARK)) + b"tEXt" + _PNG_MARK + struct.pack(">I", check)
    return drawn[:end] + chunk + drawn[end:]


def _is_ours(place: Path) -> bool:
    try:
        with open(place, "rb") as file:
            start = file.read(_MARKED_BYTES)
    except OSError:
        return False
    marks = (MARK, picture.MARK, _PNG_MARK)
    return not start or any(mark in start for mark in marks)


# -- one file with everything in it ----------------------------------------------------------------------

# Its content-security policy names the script and the style by their hashes and allows nothing else: no
# request, no frame, no script that a model could have smuggled in. The files of the page lie beside this
# module, in `page`.

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
    """The page's script without its comments and margins, a seventh of it."""
    lines = (line.lstrip() for name in _SCRIPTS for line in _file(name).splitlines())
    kept = (line for line in lines if line and not line.startswith("//"))
    return '"use strict";\n(() => {\n' + "\n".join(kept) + "\n})();\n"


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
