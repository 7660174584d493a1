"""Checkers of the tasks: each looks at a folder, and says what is wrong there; nothing where all is right.

They run models with ONNX Runtime alone, as somebody would who is given the file, and compute with numpy what is
expected.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

Problems = Iterator[str]


def _session(file: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])


def _run(file: Path, **inputs: np.ndarray) -> list[np.ndarray]:
    return _session(file).run(None, inputs)


def _interface(file: Path, inputs: list[str], outputs: list[str]) -> Problems:
    session = _session(file)
    for kind, found, wanted in (
        ("inputs", session.get_inputs(), inputs),
        ("outputs", session.get_outputs(), outputs),
    ):
        names = [each.name for each in found]
        if sorted(names) != sorted(wanted):
            yield f"{file.name} has the {kind} {names}, and should have {wanted}"


def _close(what: str, found: np.ndarray, expected: np.ndarray) -> Problems:
    if found.shape != expected.shape:
        yield f"{what} has the shape {found.shape}, and should have {expected.shape}"
    elif found.dtype != expected.dtype:
        yield f"{what} is {found.dtype}, and should be {expected.dtype}"
    elif not np.allclose(found, expected, rtol=1e-4, atol=1e-5):
        yield f"{what} has other values"


def _normalise(folder: Path) -> Problems:
    yield from _interface(folder / "camera.onnx", ["pixels"], ["label"])
    for rows in (1, 7):
        pixels = np.random.default_rng(rows).integers(0, 256, (rows, 16)).astype(np.uint8)
        image = ((pixels / 255 - 0.5) / 0.25).astype(np.float32)
        (scores,) = _run(folder / "classifier.onnx", image=image)
        (label,) = _run(folder / "camera.onnx", pixels=pixels)
        yield from _close(f"label of {rows} rows", label, scores.argmax(-1))


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    sides = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None)
    both = sides.prod()
    return both / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - both)


def _nms(folder: Path) -> Problems:
    yield from _interface(folder / "nms.onnx", ["boxes", "scores"], ["keep"])
    for seed, count in enumerate((1, 5, 40)):
        rng = np.random.default_rng(seed)
        corner = rng.uniform(0, 20, (count, 2))
        boxes = np.concatenate([corner, corner + rng.uniform(5, 20, (count, 2))], axis=1).astype(np.float32)
        scores = rng.uniform(0.1, 1, count).astype(np.float32)
        kept: list[int] = []
        for k in np.argsort(-scores):
            if scores[k] >= 0.3 and all(_overlap(boxes[k], boxes[other]) <= 0.5 for other in kept):
                kept.append(int(k))
        (found,) = _run(folder / "nms.onnx", boxes=boxes, scores=scores)
        yield from _close(f"keep of {count} boxes", found, np.array(kept, np.int64))


def _average(folder: Path) -> Problems:
    yield from _interface(folder / "average.onnx", ["x", "alpha"], ["y"])
    for length, alpha in ((1, 0.5), (2, 0.1), (50, 0.9)):
        x = np.random.default_rng(length).normal(size=length).astype(np.float32)
        expected = x.copy()
        for i in range(1, length):
            expected[i] = alpha * x[i] + (1 - alpha) * expected[i - 1]
        (y,) = _run(folder / "average.onnx", x=x, alpha=np.array(alpha, np.float32))
        yield from _close(f"y of {length} values", y, expected)


def _merge(folder: Path) -> Problems:
    yield from _interface(folder / "whole.onnx", ["raw"], ["scores"])
    raw = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    (features,) = _run(folder / "prepare.onnx", raw=raw)
    (expected,) = _run(folder / "network.onnx", x=features)
    yield from _close("scores", *_run(folder / "whole.onnx", raw=raw), expected)


def _external(folder: Path) -> Problems:
    if not (folder / "small.weights").is_file():
        yield "there is no small.weights"
    if (folder / "small.onnx").stat().st_size > 10_000:
        yield "the weights are in small.onnx"
    x = np.random.default_rng(0).normal(size=(3, 128)).astype(np.float32)
    yield from _close("the result", *_run(folder / "small.onnx", x=x), _run(folder / "network.onnx", x=x)[0])


def _batches(folder: Path) -> Problems:
    rows = np.load(folder / "rows.npy")
    parts = [_run(folder / "network.onnx", x=rows[start : start + 50])[0] for start in range(0, 1000, 50)]
    yield from _close("results", np.load(folder / "results.npy"), np.concatenate(parts))


def _inspect(folder: Path) -> Problems:
    model = onnx.load(folder / "network.onnx")
    found = json.loads((folder / "facts.json").read_text())

    def operators(graph: onnx.GraphProto) -> Iterator[str]:
        for node in graph.node:
            yield node.op_type
            for attribute in node.attribute:
                yield from operators(attribute.g)

    sizes = {each.name: int(np.prod(each.dims)) for each in model.graph.initializer}
    expected = {
        "inputs": [each.name for each in model.graph.input],
        "outputs": [each.name for each in model.graph.output],
        "operators": dict(Counter(operators(model.graph))),
        "parameters": sum(sizes.values()),
        "largest": max(sizes, key=sizes.__getitem__),
    }
    for name, value in expected.items():
        if found.get(name) != value:
            yield f"{name} is {found.get(name)}, and should be {value}"


def _rename(folder: Path) -> Problems:
    yield from _interface(folder / "named.onnx", ["tokens"], ["logits"])
    before, after = (onnx.load(folder / name).graph for name in ("network.onnx", "named.onnx"))
    wanted = sorted(f"layer.{each.name}" for each in before.initializer)
    found = sorted(each.name for each in after.initializer)
    if found != wanted:
        yield f"the weights are called {found}, and should be called {wanted}"
    x = np.random.default_rng(0).normal(size=(3, 6)).astype(np.float32)
    (expected,) = _run(folder / "network.onnx", **{before.input[0].name: x})
    yield from _close("logits", *_run(folder / "named.onnx", tokens=x), expected)


def _batch(folder: Path) -> Problems:
    yield from _interface(folder / "open.onnx", ["picture"], ["scores"])
    pictures = np.random.default_rng(0).normal(size=(5, 2, 4)).astype(np.float32)
    alone = [_run(folder / "fixed.onnx", picture=each[None])[0] for each in pictures]
    for rows in (1, 5):
        (scores,) = _run(folder / "open.onnx", picture=pictures[:rows])
        yield from _close(f"scores of {rows} pictures", scores, np.concatenate(alone[:rows]))


def _compare(folder: Path) -> Problems:
    answer = (folder / "answer.txt").read_text().strip()
    if answer != "activated":
        yield f"it is not {answer!r}"


_CHECKERS: dict[str, Callable[[Path], Problems]] = {
    "normalise": _normalise,
    "nms": _nms,
    "average": _average,
    "merge": _merge,
    "external": _external,
    "batches": _batches,
    "inspect": _inspect,
    "rename": _rename,
    "batch": _batch,
    "compare": _compare,
}


def problems(task: str, folder: Path) -> list[str]:
    """What is wrong in the folder of a task; a file that is not there, or does not load, is such a thing."""
    try:
        return list(_CHECKERS[task](folder))
    except Exception as error:  # whatever a wrong file makes a reader raise
        return [f"{type(error).__name__}: {error}"]
