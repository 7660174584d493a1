"""The display of a model at the end of a notebook's cell: the page, a picture, a table, a line of text.

A page that would make the notebook's file too large is not made; the table says how to get it.
"""

from __future__ import annotations

import html
from collections.abc import Collection

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.node_counts import node_count
from onnxsmith.view import notebook, writing
from onnxsmith.view.content import Viewed
from onnxsmith.view.showing import viewed

#: Larger models are shown when they are asked for: a cell that only names one should not take seconds.
_MOST_NODES = 1500
#: A picture of more than this is not what somebody wants in their notebook's file.
_MOST_PICTURE_NODES = 300
_SHOWN_PORTS = 30


def model_bundle(
    model: Model, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """The model by kinds of content, for IPython; `include` and `exclude` are kinds that are asked for or not."""

    def is_wanted(kind: str) -> bool:
        return (not include or kind in include) and kind not in (exclude or ())

    result = {"text/plain": repr(model)}
    shown = _viewed(model)
    count = 0 if shown is None else node_count(shown.model)
    if is_wanted("text/html"):
        result["text/html"] = summary(model) + _page(shown, count)
    if shown is not None and count <= _MOST_PICTURE_NODES and is_wanted("image/svg+xml"):
        result["image/svg+xml"] = writing.made(shown, ".svg").decode()
    return result


def _viewed(model: Model) -> Viewed | None:
    try:
        return viewed(model)
    except OnnxsmithError:  # a cell that names a broken model still shows what it is
        return None


def _page(shown: Viewed | None, count: int) -> str:
    if shown is None:
        return ""
    if count > _MOST_NODES:
        return f"<p>{count:,} nodes: <code>model.show()</code> shows them.</p>"
    page = writing.made(shown, ".html")
    return notebook.page_frame(page) if len(page) <= notebook.MOST_BYTES else notebook.too_large(len(page))


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
            f"<tr><td>{kind}</td><td><code>{html.escape(port.name)}</code></td>"
            f"<td><code>{html.escape(repr(port.type))}</code></td></tr>"
            for port in ports[:_SHOWN_PORTS]
        ]
        if len(ports) > _SHOWN_PORTS:
            rows.append(f"<tr><td></td><td>and {len(ports) - _SHOWN_PORTS} more</td><td></td></tr>")
    return f"<p>{html.escape(repr(model))}</p><table>{''.join(rows)}</table>"
