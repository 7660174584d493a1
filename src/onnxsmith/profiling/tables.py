"""Tables of a profile for a terminal or a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence

from onnxsmith.profiling.quantities import (
    Times,
    columns,
    described_seconds,
    described_size,
)
from onnxsmith.profiling.rows import ProfileGrouping, ProfileRow, total_of

_HEAD = ("share", "median", "± ", "least", "calls", "results")
_TITLES: dict[ProfileGrouping, str] = {"line": "line", "node": "node", "operator": "kernel", "call": "call"}
#: Inserted kernels are marked so in tables.
_MARK = " (+ inserted)"


def text_table(rows: Sequence[ProfileRow], by: ProfileGrouping, total: Times, limit: int | None) -> list[str]:
    """Lines of a table; of more rows than `limit`, the rest in one line. None and 0 show all."""
    shown, rest = _cut(rows, limit)
    cells = [(*_numbers(row, total), _label(row, by)) for row in shown]
    lines = columns((*_HEAD, _TITLES[by]), cells, (">",) * len(_HEAD) + ("<",))
    return [*lines, *([] if not rest else [_rest(rest, total)])]


def html_table(rows: Sequence[ProfileRow], by: ProfileGrouping, total: Times, limit: int | None) -> str:
    """The same as HTML."""
    shown, rest = _cut(rows, limit)
    head = "".join(f"<th>{each}</th>" for each in (*_HEAD, _TITLES[by]))
    lines = [
        "<tr>"
        + "".join(f'<td style="text-align:right">{each}</td>' for each in _numbers(row, total))
        + f'<td style="text-align:left"><code>{html.escape(_label(row, by))}</code></td></tr>'
        for row in shown
    ]
    more = f"<p>{html.escape(_rest(rest, total).strip())}</p>" if rest else ""
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>{more}"


def _cut(rows: Sequence[ProfileRow], limit: int | None) -> tuple[Sequence[ProfileRow], Sequence[ProfileRow]]:
    return (rows[:limit], rows[limit:]) if limit and len(rows) > limit + 1 else (rows, ())


def _rest(rows: Sequence[ProfileRow], total: Times) -> str:
    share = total_of(each for row in rows for each in row.kernels).share_of(total)
    return f"and {len(rows)} more, {share}"


def _numbers(row: ProfileRow, total: Times) -> tuple[str, ...]:
    times = row.times
    return (
        times.share_of(total),
        described_seconds(times.median),
        described_seconds(times.deviation),
        described_seconds(times.minimum),
        f"{row.calls:g}" if row.calls == int(row.calls) else f"{row.calls:.1f}",
        described_size(row.output_bytes),
    )


def _label(row: ProfileRow, by: ProfileGrouping) -> str:
    kernels = [each for each in row.kernels if not each.is_inserted]
    is_marked = len(kernels) < len(row.kernels) and by in ("line", "node") and row.nodes
    mark = _MARK if is_marked else ""
    operators = list(dict.fromkeys(each.operator for each in kernels or row.kernels))
    if by in ("line", "call"):
        return f"{row.label}  {', '.join(operators[:4])}{', …' * (len(operators) > 4)}{mark}"
    if by == "node" and len(row.nodes) > 1:
        return f"{row.label}  as {', '.join(operators)}{mark}"
    return f"{row.label}{mark}"
