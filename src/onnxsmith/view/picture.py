"""A model as a still picture, SVG: the boxes that a page opens at first, in the same layout."""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from onnxsmith.view.boxes import Box, Boxes, Item
from onnxsmith.view.description import Description
from onnxsmith.view.placing import Placement, place

#: What each picture has in it, so that one of ours is known from a stranger's.
MARK = b"<!-- onnxsmith view -->"
#: As many items are shown at first; the page has the same number.
_OPENED_AT_FIRST = 80
#: Boxes are opened no deeper at first; the page has the same number.
_DEEPEST = 40
_HEADER, _MARGIN, _ROW, _CHIP = 30.0, 16.0, 15.0, 22.0

_FAMILIES = {
    "function": ("λ", "#5b5bd6"),
    "elementwise": ("+", "#64748b"),
    "linear": ("×", "#2563c9"),
    "activation": ("ƒ", "#1f8a5b"),
    "normalization": ("μ", "#8b4fc0"),
    "reduction": ("Σ", "#0f8398"),
    "shape": ("⇄", "#a2711a"),
    "control": ("◇", "#c0356f"),
    "constant": ("#", "#7d8592"),
    "quantization": ("q", "#c25a1c"),
}
_STYLE = (
    "text{font-family:Inter,system-ui,'Segoe UI',Roboto,'Helvetica Neue','DejaVu Sans',Arial,sans-serif}"
    ".m{font-family:'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}"
)


@dataclass(slots=True)
class _Face:
    title: str
    detail: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    width: float = 10.0
    height: float = 10.0
    head: float = 32.0


@dataclass(slots=True)
class _Open:
    """A box that is drawn open: its frames side by side, and what they are called."""

    frames: list[_Frame]
    titles: list[str]
    width: float = 0.0
    height: float = 0.0


@dataclass(slots=True)
class _Frame:
    box: Box
    number: int
    #: The boxes around it.
    around: tuple[int, ...] = ()
    inner: dict[int, _Open] = field(default_factory=dict[int, "_Open"])
    faces: list[_Face] = field(default_factory=list[_Face])
    placement: Placement | None = None


def picture(description: Description, boxes: Boxes, title: str) -> str:
    """The SVG text."""
    return _Picture(description, boxes).draw(title)


class _Picture:
    def __init__(self, description: Description, boxes: Boxes) -> None:
        self.description = description
        self.boxes = boxes
        self.root = self._frame(0)
        self._open_first()
        self._compute(self.root)
        self.parts: list[str] = []

    # -- what is open ------------------------------------------------------------------------------------

    def _frame(self, number: int, outer: _Frame | None = None) -> _Frame:
        around = () if outer is None else (*outer.around, outer.number)
        return _Frame(self.boxes.boxes[number], number, around)

    def _inside(self, item: Item) -> list[tuple[str, int]]:
        """The boxes that an item holds, with what they are called beside each other."""
        if item.kind == "box":
            return [("", item.number)]
        if item.kind != "node":
            return []
        node = self.description.nodes[item.number]
        if node.callee >= 0:
            return [("", node.callee)]
        return [(each.attribute, each.graph) for each in node.bodies]

    def _open_first(self) -> None:
        """Open the boxes of a frame, all or none, as long as the picture stays small enough to take in.

        A function that calls itself stands in itself without end: of that, nothing more is opened.
        """
        shown = len(self.root.box.items)
        waiting = deque([self.root])
        while waiting:
            frame = waiting.popleft()
            if frame.number in frame.around or len(frame.around) >= _DEEPEST:
                continue
            sizes = [
                (sum(len(self.boxes.boxes[box].items) for _, box in inside), position, inside)
                for position, item in enumerate(frame.box.items)
                if (inside := self._inside(item))
            ]
            more = sum(size for size, _, _ in sizes)
            is_only = len(sizes) == 1 and len(frame.box.items) < 8 and more < 400
            if shown + more > _OPENED_AT_FIRST and not is_only:
                continue
            shown += more
            for _, position, inside in sizes:
                frames = [self._frame(box, frame) for _, box in inside]
                frame.inner[position] = _Open(frames, [title for title, _ in inside])
                waiting.extend(frames)

    # -- sizes -------------------------------------------------------------------------------------------

    def _compute(self, frame: _Frame) -> None:
        for opened in frame.inner.values():
            for each in opened.frames:
                self._compute(each)
        frame.faces = [self._face(frame, item) for item in frame.box.items]
        for position, opened in frame.inner.items():
            self._measure(opened, frame.faces[position])
        widths = [
            frame.inner[k].width if k in frame.inner else face.width for k, face in enumerate(frame.faces)
        ]
        heights = [
            frame.inner[k].height if k in frame.inner else face.height for k, face in enumerate(frame.faces)
        ]
        assert frame.box.arrangement is not None
        has_dots = frame.box.parent >= 0
        frame.placement = place(frame.box.arrangement, widths, heights, has_port_gaps=has_dots)

    def _measure(self, opened: _Open, face: _Face) -> None:
        inside = [_placed(each) for each in opened.frames]
        width = sum(each.width + 2 * _MARGIN for each in inside)
        label = 18.0 if any(opened.titles) else 0.0
        opened.width = max(width, _text_width(face.title + face.detail, 13) + 70)
        opened.height = _HEADER + label + max((each.height for each in inside), default=0.0) + _MARGIN + 6

    def _face(self, frame: _Frame, item: Item) -> _Face:
        match item.kind:
            case "node":
                return self._node_face(item.number)
            case "box":
                box = self.boxes.boxes[item.number]
                count = "1 node" if box.node_count == 1 else f"{box.node_count:,} nodes"
                detail = f"{box.detail} · {count}" if box.detail else count
                width = max(120.0, _text_width(box.label, 13) + 46, _text_width(detail, 11) + 24)
                return _Face(box.label or "graph", detail, width=width, height=44, head=44)
            case _:
                return self._port_face(frame, item.number)

    def _port_face(self, frame: _Frame, number: int) -> _Face:
        value = self.description.values[number]
        if frame.box.parent >= 0:
            return _Face("")
        name = _cut(value.name or "value", 30)
        if frame.number:
            return _Face(name, width=_text_width(name, 11) + 18, height=20)
        width = max(_text_width(name, 13), _text_width(value.short, 11)) + 30
        return _Face(name, value.short, width=width, height=40)

    def _node_face(self, number: int) -> _Face:
        node = self.description.nodes[number]
        operator = self.description.operators.entries[node.operator]
        rows: list[tuple[str, str]] = []
        for position, value in enumerate(node.inputs):
            if value < 0 or not self.description.is_weight(value) or len(rows) == 4:
                continue
            name = operator.inputs[position][0] if position < len(operator.inputs) else str(position)
            rows.append((_cut(name, 12), _cut(self.description.values[value].short, 26)))
        title, detail = _cut(operator.name, 26), _cut(node.summary, 30)
        keys = max((_text_width(name, 10.5, mono=True) for name, _ in rows), default=0.0)
        widest = max((_text_width(text, 10.5, mono=True) for _, text in rows), default=0.0)
        head = 38.0 if detail else 32.0
        width = max(
            92.0, max(_text_width(title, 13), _text_width(detail, 11)) + _CHIP + 26, keys + widest + 26
        )
        return _Face(title, detail, rows, width, head + (len(rows) * _ROW + 7 if rows else 0), head)

    # -- drawing -----------------------------------------------------------------------------------------

    def draw(self, title: str) -> str:
        """The whole text."""
        placed, pad = _placed(self.root), 28
        width, height = round(placed.width + 2 * pad), round(placed.height + 2 * pad)
        self._draw(self.root, pad, pad, 0)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">{MARK.decode()}<title>{_escaped(title)}</title>'
            f'<style>{_STYLE}</style><rect width="{width}" height="{height}" fill="#f6f7f9"/>'
            + "".join(self.parts)
            + "</svg>\n"
        )

    def _draw(self, frame: _Frame, left: float, top: float, depth: int) -> None:
        placed = _placed(frame)
        for position, opened in frame.inner.items():
            x, y = left + placed.x[position] - opened.width / 2, top + placed.y[position]
            fill = "#f8f9fb" if depth % 2 else "#eef1f6"
            self._card(x, y, opened.width, opened.height, 11, fill)
        self.parts += self._lines(frame, left, top)
        for position, item in enumerate(frame.box.items):
            face, opened = frame.faces[position], frame.inner.get(position)
            if opened is not None:
                x, y = left + placed.x[position] - opened.width / 2, top + placed.y[position]
                self._draw_open(opened, face, x, y, depth)
            else:
                x, y = left + placed.x[position] - face.width / 2, top + placed.y[position]
                self._draw_item(item, face, x, y)

    def _draw_open(self, opened: _Open, face: _Face, x: float, y: float, depth: int) -> None:
        self._text(x + 14, y + 20, face.title, 13, "#171c26", weight=600)
        self._text(x + 22 + _text_width(face.title, 13), y + 20, face.detail, 11, "#525c6e")
        label = 18.0 if any(opened.titles) else 0.0
        at = x + (opened.width - sum(_placed(each).width + 2 * _MARGIN for each in opened.frames)) / 2
        for inner, name in zip(opened.frames, opened.titles, strict=True):
            if name:
                self._text(at + 8, y + _HEADER + 12, name, 11, "#525c6e")
            self._draw(inner, at + _MARGIN, y + _HEADER + label + 4, depth + 1)
            at += _placed(inner).width + 2 * _MARGIN

    def _draw_item(self, item: Item, face: _Face, x: float, y: float) -> None:
        if item.kind in ("input", "output"):
            if not face.title:
                self.parts.append(f'<circle cx="{x + 5:.1f}" cy="{y + 5:.1f}" r="3" fill="#a5adbb"/>')
                return
            self._card(x, y, face.width, face.height, face.height / 2, "#e6edff", "#2f6bff")
            middle = x + face.width / 2
            size = 13 if face.detail else 11
            self._text(middle, y + (17 if face.detail else 14), face.title, size, "#171c26", anchor="middle")
            self._text(middle, y + 31, face.detail, 11, "#525c6e", anchor="middle")
            return
        if item.kind == "box":
            self._card(x + 4, y + 4, face.width, face.height, 9, "#eef1f6")
            self._card(x, y, face.width, face.height, 9, "#eef1f6")
            self._text(x + 12, y + 18, face.title, 13, "#171c26", weight=600)
            self._text(x + 12, y + 34, face.detail, 11, "#525c6e")
            return
        self._draw_node(item.number, face, x, y)

    def _draw_node(self, number: int, face: _Face, x: float, y: float) -> None:
        node = self.description.nodes[number]
        sign, colour = _FAMILIES[self.description.operators.entries[node.operator].family]
        self._card(x, y, face.width, face.height, 8, "#ffffff")
        chip = face.head - 12
        self.parts.append(
            f'<rect x="{x + 6:.1f}" y="{y + 6:.1f}" width="{_CHIP:g}" height="{chip:g}" rx="5" fill="{colour}"/>'
        )
        self._text(x + 6 + _CHIP / 2, y + 10.5 + chip / 2, sign, 13, "#fff", anchor="middle", weight=600)
        self._text(x + _CHIP + 14, y + (17 if face.detail else 20.5), face.title, 13, "#171c26", weight=600)
        self._text(x + _CHIP + 14, y + 31, face.detail, 11, "#525c6e")
        if not face.rows:
            return
        keys = max(_text_width(name, 10.5, mono=True) for name, _ in face.rows)
        self.parts.append(
            f'<path d="M{x + 1:.1f} {y + face.head:.1f}h{face.width - 2:.1f}" stroke="#e3e6eb" fill="none"/>'
        )
        for position, (name, text) in enumerate(face.rows):
            at = y + face.head + 15 + position * _ROW
            self._text(x + 8, at, name, 10.5, "#778294", mono=True)
            self._text(x + 16 + keys, at, text, 10.5, "#525c6e", mono=True)

    def _lines(self, frame: _Frame, left: float, top: float) -> Iterator[str]:
        placed, count = _placed(frame), len(frame.box.items)
        assert frame.box.arrangement is not None
        path: list[str] = []
        labels: dict[int, str] = {}
        for value, a, b in frame.box.arrangement.segments:
            is_down = placed.layer[a] < placed.layer[b]
            x1, x2 = left + placed.x[a], left + placed.x[b]
            y1 = top + placed.y[a] + (placed.heights[a] if is_down else 0)
            y2 = top + placed.y[b] + (0 if is_down else placed.heights[b])
            pull = max(12.0, min(60.0, abs(y2 - y1) * 0.55)) * (1 if is_down else -1)
            start = f"M{x1:.1f} {top + placed.y[a] + (0 if is_down else placed.heights[a]):.1f}V{y1:.1f}"
            path.append(start if a >= count else f"M{x1:.1f} {y1:.1f}")
            path.append(f"C{x1:.1f} {y1 + pull:.1f} {x2:.1f} {y2 - pull:.1f} {x2:.1f} {y2:.1f}")
            if b < count and is_down and frame.faces[b].title:
                path.append("m-4 -6l4 6l4 -6")
            text = self.description.values[value].short
            if a < count and value not in labels and text and frame.box.items[a].kind != "input":
                labels[value] = _text_element(x1 + 7, y1 + 14, text, 10.5, "#778294", mono=True)
        yield f'<path d="{"".join(path)}" fill="none" stroke="#a5adbb" stroke-width="1.25"/>'
        yield from labels.values()

    def _card(
        self, x: float, y: float, width: float, height: float, radius: float, fill: str, line: str = "#c9ced8"
    ) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:g}" '
            f'fill="{fill}" stroke="{line}"/>'
        )

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        fill: str,
        *,
        anchor: str = "",
        weight: int = 0,
        mono: bool = False,
    ) -> None:
        if text:
            self.parts.append(_text_element(x, y, text, size, fill, anchor=anchor, weight=weight, mono=mono))


def _placed(frame: _Frame) -> Placement:
    assert frame.placement is not None
    return frame.placement


def _text_element(
    x: float,
    y: float,
    text: str,
    size: float,
    fill: str,
    *,
    anchor: str = "",
    weight: int = 0,
    mono: bool = False,
) -> str:
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += f' font-weight="{weight}"' if weight else ""
    more += ' class="m"' if mono else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}"{more}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    # XML has no place for half a surrogate pair, however it is written.
    return html.escape(text.encode("utf-8", "replace").decode())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _text_width(text: str, size: float, *, mono: bool = False) -> float:
    """About how wide a text is: without a browser nobody knows the reader's fonts."""
    if mono:
        return 0.61 * size * len(text)
    narrow = sum(each in "iljtfrI.,:;'|()[]1 " for each in text)
    wide = sum(each in "MWmw×@%" for each in text)
    return size * (0.6 * len(text) - 0.26 * narrow + 0.22 * wide)


def size_of(text: str) -> int:
    """The longer side of a picture of ours."""
    found = re.search(r'width="(\d+)" height="(\d+)"', text)
    return 1 if found is None else max(map(int, found.groups()))
