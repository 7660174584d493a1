"""The display of a model at the end of a notebook's cell: a table, the page or a picture, a line of text.

A notebook keeps all of it in its file, so that there is a budget. What is past it is not shown, and a line says how to
get it.
"""

from __future__ import annotations

import functools
import html
import json
from collections.abc import Callable, Collection

from onnxsmith.diagnostics import clipped
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.node_counts import node_count
from onnxsmith.view import notebook, writing
from onnxsmith.view.content import Viewed
from onnxsmith.view.showing import viewed

#: How much one model may add to a notebook's file, all kinds of content together.
MOST_BYTES = 60_000
#: Larger models are shown when they are asked for: a cell that only names one should not take seconds.
_MOST_NODES = 1500
#: The page of more than this is past the budget, however small its nodes are.
_MOST_PAGE_NODES = 150
_SHOWN_PORTS = 20
_LONGEST_PORT = 120


def model_bundle(
    model: Model, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """The model by kinds of content, for IPython; `include` and `exclude` are kinds that are asked for or not."""

    def is_wanted(kind: str) -> bool:
        return (not include or kind in include) and kind not in (exclude or ())

    result = {"text/plain": repr(model)}
    shown = _viewed(model)
    picture = functools.cache(lambda: _picture(shown))
    if is_wanted("text/html"):
        result["text/html"] = summary(model)
        result["text/html"] += _view(shown, picture, MOST_BYTES - _kept_bytes(*result.values()))
    if is_wanted("image/svg+xml") and 0 < _kept_bytes(picture()) <= MOST_BYTES - _kept_bytes(
        *result.values()
    ):
        result["image/svg+xml"] = picture()
    return result


def _viewed(model: Model) -> Viewed | None:
    try:
        return viewed(model)
    except OnnxsmithError:  # a cell that names a broken model still shows what it is
        return None


def _kept_bytes(*texts: str) -> int:
    """The size of texts in a notebook's file, which is JSON; nothing is as long as its quotes."""
    return sum(len(json.dumps(each, ensure_ascii=False).encode("utf-8", "replace")) - 2 for each in texts)


def _picture(shown: Viewed | None) -> str:
    if shown is None or node_count(shown.model) > _MOST_NODES:
        return ""
    return writing.made(shown, ".svg").decode()


def _view(shown: Viewed | None, picture: Callable[[], str], room: int) -> str:
    """The page, or else the picture, or else where to find them: the first that has room."""
    if shown is None:
        return ""
    count = node_count(shown.model)
    if count <= _MOST_PAGE_NODES:
        framed = notebook.page_frame(writing.made(shown, ".html"))
        if _kept_bytes(framed) <= room:
            return framed
    hint = "<p><code>model.show()</code> shows a page to click through.</p>"
    drawn = picture()
    image = notebook.picture_frame(drawn) + hint if drawn else ""
    if image and _kept_bytes(image) <= room:
        return image
    return f"<p>{count:,} nodes: <code>model.show()</code> shows them.</p>"


def summary(model: Model) -> str:
    """The inputs and outputs of the model, as a table."""
    rows: list[str] = []
    groups = (
        ("input", model.inputs),
        ("optional input", model.optional_inputs),
        ("output", model.outputs),
    )
    for kind, ports in groups:
        rows += [
            f"<tr><td>{kind}</td><td><code>{_escaped(port.name)}</code></td>"
            f"<td><code>{_escaped(repr(port.type))}</code></td></tr>"
            for port in ports[:_SHOWN_PORTS]
        ]
        if len(ports) > _SHOWN_PORTS:
            rows.append(f"<tr><td></td><td>and {len(ports) - _SHOWN_PORTS} more</td><td></td></tr>")
    return f"<p>{html.escape(repr(model))}</p><table>{''.join(rows)}</table>"


def _escaped(text: str) -> str:
    return html.escape(clipped(text, _LONGEST_PORT))
