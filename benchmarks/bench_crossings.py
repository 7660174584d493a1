"""Crossings of lines in the layout of real models, beside elkjs.

Needs node, the folder that elkjs is installed in (`npm install elkjs`, then ELKJS=that folder), and a folder of models
(MODELS). Both layouts are drawn as straight pieces from bend to bend, and counted by the same function; lines of one
value are one, and do not cross each other.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most

NAME = "crossings"
DESCRIPTION = "crossings of lines on the models of the folder MODELS, beside elkjs in the folder ELKJS"

Point = tuple[float, float]
#: What gives the value of a line, and the points that it goes through.
Line = tuple[int, Sequence[Point]]

_SCRIPT = """
const fs = require("fs"), ELK = require("elkjs/lib/elk.bundled.js");
const given = JSON.parse(fs.readFileSync(0));
const graph = { id: "r",
  layoutOptions: { "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.edgeRouting": "POLYLINE" },
  children: [...Array(given.count).keys()].map((k) => ({ id: String(k), width: 120, height: 40 })),
  edges: given.edges.map(([a, b], k) => ({ id: "e" + k, sources: [String(a)], targets: [String(b)] })) };
new ELK().layout(graph).then((made) => console.log(JSON.stringify(made.edges.map((edge) =>
  edge.sections.flatMap((s) => [s.startPoint, ...(s.bendPoints || []), s.endPoint]).map((p) => [p.x, p.y])))));
"""


def run(context: Context) -> list[Row]:
    """A row for each model; none without models and elkjs."""
    models, library = os.environ.get("MODELS"), os.environ.get("ELKJS")
    if not models or not library or shutil.which("node") is None:
        return []
    return [_row(place, library) for place in sorted(Path(models).glob("*.onnx"))]


def _row(place: Path, library: str) -> Row:
    from onnxsmith import load
    from onnxsmith.view.description import Description
    from onnxsmith.view.layering import Net
    from onnxsmith.view.ordering import arrange
    from onnxsmith.view.placing import place as placed

    description = Description(load(place).ir, {})
    graph = description.graphs[0]
    nodes = [each for each in graph.nodes if not description.nodes[each].is_folded]
    made = {value: k for k, node in enumerate(nodes) for value in description.nodes[node].outputs}
    made.update({value: len(nodes) + k for k, value in enumerate(graph.inputs)})
    taken: dict[int, list[int]] = {}
    for k, node in enumerate(nodes):
        for value in dict.fromkeys(description.nodes[node].inputs):
            if value in made:
                taken.setdefault(value, []).append(k)
    count = len(nodes) + len(graph.inputs)
    nets = [Net(value, made[value], tuple(targets)) for value, targets in taken.items()]
    begun = time.process_time()
    arrangement = arrange(count, nets, [*range(len(nodes)), *[-1] * len(graph.inputs)])
    seconds = time.process_time() - begun
    placement = placed(arrangement, [120.0] * count, [40.0] * count)

    def ends(upper: int, lower: int) -> list[Point]:
        return [
            (placement.x[upper], placement.y[upper] + placement.heights[upper]),
            (placement.x[lower], placement.y[lower]),
        ]

    ours = crossings((made[value], ends(a, b)) for value, a, b in arrangement.segments)
    edges = [(net.source, target) for net in nets for target in net.targets]
    theirs = crossings(zip((a for a, _ in edges), _elk(count, edges, library), strict=True))
    name = f"{place.stem}, {count} nodes"
    return Row(
        name,
        float(ours),
        "crossings",
        "elkjs",
        float(theirs),
        ratio_at_most(1.5),
        f"{seconds:.2f} s of CPU time",
    )


def _elk(count: int, edges: Sequence[tuple[int, int]], library: str) -> list[list[Point]]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "layout.cjs"
        script.write_text(_SCRIPT)
        done = subprocess.run(
            ["node", str(script)],
            input=json.dumps({"count": count, "edges": edges}),
            env={**os.environ, "NODE_PATH": str(Path(library) / "node_modules")},
            capture_output=True,
            text=True,
            check=True,
        )
    return [[(x, y) for x, y in line] for line in json.loads(done.stdout)]


def crossings(lines: Iterable[Line]) -> int:
    """How many pairs of pieces of lines of different values cross."""
    pieces = sorted(
        (min(a[1], b[1]), max(a[1], b[1]), a, b, value)
        for value, points in lines
        for a, b in itertools.pairwise(points)
        if a != b
    )
    found = 0
    open_pieces: list[tuple[float, float, Point, Point, int]] = []
    for piece in pieces:
        open_pieces = [each for each in open_pieces if each[1] > piece[0]]
        found += sum(each[4] != piece[4] and _cross(each, piece) for each in open_pieces)
        open_pieces.append(piece)
    return found


def _cross(
    one: tuple[float, float, Point, Point, int], other: tuple[float, float, Point, Point, int]
) -> bool:
    _, _, a, b, _ = one
    _, _, c, d, _ = other
    return _side(a, b, c) * _side(a, b, d) < -1e-9 and _side(c, d, a) * _side(c, d, b) < -1e-9


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
