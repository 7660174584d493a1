"""A model as a still picture, SVG: the boxes that a page opens at first, in the same layout."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from onnxsmith.view.boxes import Box, Boxes, Item
from onnxsmith.view.description import Description
from onnxsmith.view.overlays import Note, NoteKind
from onnxsmith.view.placing import Placement, place
from onnxsmith.view.svg import TextStyle, card, cut, escaped, text_element, text_width

#: What each picture has in it, so that one of ours is known from a stranger's.
MARK = b"<!-- onnxsmith view -->"
#: As many items are shown at first; the page has the same number.
_OPENED_AT_FIRST = 80
#: And up to so many where that shows what differs from another model, which a closed box would hide.
_OPENED_FOR_CHANGES = 400
_CHANGES = ("added", "removed", "changed")
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
#: Sign and colour of a note; heat has none of its own.
_NOTES: dict[NoteKind, tuple[str, str]] = {
    "added": ("+", "#1d8a4c"),
    "removed": ("−", "#c93a3a"),
    "changed": ("~", "#b26a00"),
    "differs": ("!", "#c2255c"),
    "heat": ("", "#d9480f"),
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


@dataclass(frozen=True, slots=True)
class Part:
    """One model of a picture: what is known of it, notes on its nodes by address, and what stands above it."""

    description: Description
    boxes: Boxes
    notes: Mapping[str, Note]
    called: str = ""


def picture(parts: Sequence[Part], title: str) -> str:
    """The SVG text: the models beside each other."""
    pad, between = 28.0, 48.0
    body: list[str] = []
    left, tallest = pad, 0.0
    for part in parts:
        drawn = _Picture(part)
        head = 30.0 if part.called else 0.0
        if part.called:
            body.append(text_element(left, pad + 14, cut(part.called, 60), 15, "#171c26", weight=600))
        body += drawn.draw(left, pad + head)
        width = max(drawn.width, text_width(cut(part.called, 60), 15, bold=True))
        left, tallest = left + width + between, max(tallest, drawn.height + head)
    width, height = round(left - between + pad), round(tallest + 2 * pad)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">{MARK.decode()}<title>{escaped(title)}</title>'
        f'<style>{_STYLE}</style><rect width="{width}" height="{height}" fill="#f6f7f9"/>'
        + "".join(body)
        + "</svg>\n"
    )


class _Picture:
    def __init__(self, part: Part) -> None:
        self.description = part.description
        self.boxes = part.boxes
        self.notes = part.notes
        #: How many notes stand in each box.
        self._noted: Counter[int] = Counter()
        self._has_change: defaultdict[int, bool] = defaultdict(bool)
        for address, note in part.notes.items():
            number = part.description.by_address.get(address)
            box = -1 if number is None else part.boxes.box_of[number]
            while box >= 0:
                self._noted[box] += 1
                self._has_change[box] |= note.kind in _CHANGES
                box = part.boxes.boxes[box].parent
        self.root = self._frame(0)
        self._open_first()
        self._compute(self.root)
        self.parts: list[str] = []
        #: How far to the right the types beside the lines reach: they stand beyond the nodes.
        self._reach = self._left = 0.0

    @property
    def width(self) -> float:
        """How wide the model is; with the types beside its lines once it is drawn."""
        return max(_placed(self.root).width, self._reach)

    @property
    def height(self) -> float:
        """How tall it is."""
        return _placed(self.root).height

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

        Beyond that only those are opened in which something differs from another model.
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
            # What is alone in its frame is opened as well, though not where that repeats itself at every level.
            is_only = len(sizes) == 1 and len(frame.box.items) < 8 and shown + more < _OPENED_FOR_CHANGES
            if shown + more > _OPENED_AT_FIRST and not is_only:
                sizes = [each for each in sizes if any(self._has_change[box] for _, box in each[2])]
                more = sum(size for size, _, _ in sizes)
                if shown + more > _OPENED_FOR_CHANGES:
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
        head = text_width(face.title, 13, bold=True) + text_width(face.detail, 11)
        opened.width = max(width, head + 60)
        opened.height = _HEADER + label + max((each.height for each in inside), default=0.0) + _MARGIN + 6

    def _face(self, frame: _Frame, item: Item) -> _Face:
        match item.kind:
            case "node":
                return self._node_face(item.number)
            case "box":
                box = self.boxes.boxes[item.number]
                count = "1 node" if box.node_count == 1 else f"{box.node_count:,} nodes"
                detail = f"{box.detail} · {count}" if box.detail else count
                width = max(120.0, text_width(box.label, 13, bold=True) + 46, text_width(detail, 11) + 24)
                return _Face(box.label or "graph", detail, width=width, height=44, head=44)
            case _:
                return self._port_face(frame, item.number)

    def _port_face(self, frame: _Frame, number: int) -> _Face:
        value = self.description.values[number]
        if frame.box.parent >= 0:
            return _Face("")
        name = cut(value.name or "value", 30)
        if frame.number:
            return _Face(name, width=text_width(name, 11) + 18, height=20)
        width = max(text_width(name, 13), text_width(value.short, 11)) + 30
        return _Face(name, value.short, width=width, height=40)

    def _node_face(self, number: int) -> _Face:
        node = self.description.nodes[number]
        operator = self.description.operators.entries[node.operator]
        rows: list[tuple[str, str]] = []
        for position, value in enumerate(node.inputs):
            if value < 0 or not self.description.is_weight(value) or len(rows) == 4:
                continue
            name = operator.inputs[position][0] if position < len(operator.inputs) else str(position)
            rows.append((cut(name, 12), cut(self.description.values[value].short, 26)))
        title, detail = cut(operator.name, 26), cut(node.summary, 30)
        keys = max((text_width(name, 10.5, mono=True) for name, _ in rows), default=0.0)
        widest = max((text_width(text, 10.5, mono=True) for _, text in rows), default=0.0)
        head = 38.0 if detail else 32.0
        width = max(
            92.0,
            max(text_width(title, 13, bold=True), text_width(detail, 11)) + _CHIP + 26,
            keys + widest + 26,
        )
        return _Face(title, detail, rows, width, head + (len(rows) * _ROW + 7 if rows else 0), head)

    # -- drawing -----------------------------------------------------------------------------------------

    def draw(self, left: float, top: float) -> list[str]:
        """The elements of the model, from a corner on."""
        self._left = left
        self._draw(self.root, left, top, 0)
        return self.parts

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
        self._text(x + 14, y + 20, face.title, 13, "#171c26", weight=600, beside=face.detail)
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
            if self._noted[item.number]:
                self._badge(x + face.width, y, str(self._noted[item.number]), "#2f6bff")
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
        note = self.notes.get(node.address)
        if note is not None:
            self._draw_note(note, face, x, y)
        if not face.rows:
            return
        keys = max(text_width(name, 10.5, mono=True) for name, _ in face.rows)
        self.parts.append(
            f'<path d="M{x + 1:.1f} {y + face.head:.1f}h{face.width - 2:.1f}" stroke="#e3e6eb" fill="none"/>'
        )
        for position, (name, text) in enumerate(face.rows):
            at = y + face.head + 15 + position * _ROW
            self._text(x + 8, at, name, 10.5, "#778294", mono=True)
            self._text(x + 16 + keys, at, text, 10.5, "#525c6e", mono=True)

    def _draw_note(self, note: Note, face: _Face, x: float, y: float) -> None:
        """A frame in the note's colour, and its sign and word above the corner."""
        sign, colour = _NOTES[note.kind]
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{face.width:.1f}" height="{face.height:.1f}" rx="8" '
            f'fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        self._badge(x + face.width, y, cut(f"{sign} {note.label}".strip(), 30), colour)

    def _badge(self, right: float, y: float, text: str, colour: str) -> None:
        width = text_width(text, 10, bold=True) + 14
        self._card(right - width, y - 11, width, 16, 8, colour, colour)
        self._text(right - width / 2, y + 0.5, text, 10, "#fff", anchor="middle", weight=600)

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
                labels[value] = text_element(x1 + 7, y1 + 14, text, 10.5, "#778294", mono=True)
                self._reach = max(self._reach, x1 + 7 + text_width(text, 10.5, mono=True) - self._left)
        yield f'<path d="{"".join(path)}" fill="none" stroke="#a5adbb" stroke-width="1.25"/>'
        yield from labels.values()

    def _card(
        self, x: float, y: float, width: float, height: float, radius: float, fill: str, line: str = "#c9ced8"
    ) -> None:
        self.parts.append(card(x, y, width, height, radius, fill, line))

    def _text(
        self, x: float, y: float, text: str, size: float, fill: str, **style: Unpack[TextStyle]
    ) -> None:
        if text:
            self.parts.append(text_element(x, y, text, size, fill, **style))


def _placed(frame: _Frame) -> Placement:
    assert frame.placement is not None
    return frame.placement
