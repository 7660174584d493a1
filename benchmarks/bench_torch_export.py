"""What it costs to export PyTorch modules, and what the models are like, beside torch's own exporter.

The models have the layers that their names say and narrow ones, so that a run takes minutes: exporting costs by
the node. `--set models=bert-12,llama-16` chooses, `--set forms=static` leaves the dynamic forms out, and
`--set peer_opsets=23` asks the peer for one version only: its exports are most of the time.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.contest import OURS, Context
from benchmarks.rows import Bar, Figure, Row, at_most, ratio_at_most
from benchmarks.timing import garbage_collection, time_in_turns

if TYPE_CHECKING:
    import torch

NAME = "torch_export"
DESCRIPTION = "exporting PyTorch modules: CPU time, nodes, and the latency of the models in ONNX Runtime"

PEER = "torch.onnx.export"
#: torch's exporter is at its best at one or the other: its default, and the one with its fusions.
PEER_OPSETS = (20, 23)
_BATCH, _LENGTH = 2, 32
#: A model may be this much slower than the peer's before it counts: the noise of a shared machine.
_NOISE = 1.1


@dataclass(frozen=True)
class Subject:
    """A module, its example arguments, and which dimensions the dynamic form leaves open."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    dynamic_shapes: Any


@dataclass
class Made:
    """What an exporter made of a subject, or why it did not."""

    seconds: float = math.nan
    nodes: int = 0
    run: Callable[[], object] | None = None
    problem: str = ""


def run(context: Context) -> list[Row]:
    """Rows for each model and form, then the geometric means and the smallest model there is."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch  # heavy

    torch.set_num_threads(1)
    names = context.settings.get("models", ",".join(SUBJECTS)).split(",")
    forms = context.settings.get("forms", "static,dynamic").split(",")
    with _quiet():
        rows = _smallest(context)
        nodes: list[float] = []
        latencies: list[float] = []
        for name in names:
            try:
                subject = SUBJECTS[name]()
            except ImportError as problem:
                rows.append(Row(name, math.nan, "s", note=f"not run: {problem}"))
                continue
            for form in forms:
                found = _compare(context, f"{name} {form}", subject, is_dynamic=form == "dynamic")
                rows += found
                nodes += [row.ratio for row in found if row.unit == "nodes" and row.ratio]
                latencies += [row.ratio for row in found if row.unit == "ms" and row.ratio]
    for what, ratios in (("nodes", nodes), ("latency", latencies)):
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            rows.append(Row(f"{what}, geometric mean", mean, "×", PEER, 1.0, ratio_at_most(1.0)))
    return rows


# ---- one subject ----


def _compare(context: Context, name: str, subject: Subject, *, is_dynamic: bool) -> list[Row]:
    import torch

    shapes = subject.dynamic_shapes if is_dynamic else None

    def trace() -> object:
        with torch.no_grad():
            return torch.export.export(subject.module, subject.args, dynamic_shapes=shapes, strict=False)

    # In turns, the better of two each: torch is slower the first time, and what else the machine does must not decide.
    alone: list[float] = []
    tries: list[Made] = []
    for _ in range(2):
        alone.append(_cpu_seconds(trace)[0])
        tries.append(_made(subject, lambda: _ours(subject, shapes)))
    ours = min(tries, key=lambda made: math.inf if made.problem else made.seconds)
    peers: list[Made] = []
    if context.has("onnxscript"):
        opsets = (int(each) for each in context.settings.get("peer_opsets", "20,23").split(","))
        peers = [_made(subject, lambda opset=opset: _theirs(subject, shapes, opset)) for opset in opsets]
    worked = [made for made in peers if not made.problem]
    missing = context.ask("onnxscript", lambda: math.nan) if not peers else peers[0].problem

    def figure(choose: Callable[[Made], float]) -> Figure:
        return min(map(choose, worked)) if worked else missing

    note = ours.problem
    rows = [
        Row(name, ours.seconds, "s", "torch.export alone", min(alone), ratio_at_most(1.5), note),
        Row(name, ours.seconds, "s", PEER, figure(lambda made: made.seconds), ratio_at_most(1.0), note),
        _row(
            name, float(ours.nodes or math.nan), "nodes", figure(lambda made: float(made.nodes)), None, note
        ),
    ]
    runners = {f"{PEER} {index}": made.run for index, made in enumerate(worked) if made.run is not None}
    if ours.run is not None:
        runners[OURS] = ours.run
    # The least: equal models differ by a tenth in the median where others use the same caches.
    seconds = time_in_turns(runners, rounds=15, round_seconds=0.05, choose=min) if runners else {}
    milliseconds = {each: 1_000 * taken for each, taken in seconds.items()}
    own = milliseconds.pop(OURS, math.nan)
    theirs = min(milliseconds.values()) if milliseconds else missing
    return [*rows, _row(name, own, "ms", theirs, ratio_at_most(_NOISE), note)]


def _row(name: str, ours: float, unit: str, theirs: Figure, bar: Bar | None, note: str) -> Row:
    return Row(name, ours, unit, PEER, theirs, bar, note)


def _made(subject: Subject, export: Callable[[], tuple[float, bytes]]) -> Made:
    try:
        seconds, model = export()
        return Made(seconds, _node_count(model), _runner(model, subject))
    except Exception as problem:
        words = (str(problem).strip().splitlines() or [""])[0]
        return Made(problem=f"failed: {type(problem).__name__}: {words}"[:80])


def _ours(subject: Subject, shapes: Any) -> tuple[float, bytes]:
    import onnxsmith.torch

    def export() -> Any:
        return onnxsmith.torch.export(subject.module, subject.args, dynamic_shapes=shapes)

    seconds, model = _cpu_seconds(export)
    return seconds, model.proto.SerializeToString()


def _theirs(subject: Subject, shapes: Any, opset: int) -> tuple[float, bytes]:
    import torch

    def export() -> Any:
        return torch.onnx.export(
            subject.module,
            subject.args,
            dynamo=True,
            verbose=False,
            dynamic_shapes=shapes,
            opset_version=opset,
        )

    seconds, program = _cpu_seconds(export)
    return seconds, program.model_proto.SerializeToString()


def _cpu_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """The CPU time of one call, with the garbage collector on as users have it, and its result."""
    import torch

    with garbage_collection(True), torch.no_grad():
        started = time.process_time()
        result = function()
        return time.process_time() - started, result


def _node_count(model: bytes) -> int:
    """The nodes that are left when functions are put in place; constants are no work and do not count."""
    import onnx
    import onnx.inliner

    flat = onnx.inliner.inline_local_functions(onnx.load_from_string(model))
    return sum(node.op_type != "Constant" for node in flat.graph.node)


def _runner(model: bytes, subject: Subject) -> Callable[[], object]:
    """A function that runs the model on the example; ValueError if it does not agree with the module."""
    import numpy as np
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {port.name: arg.numpy() for port, arg in zip(session.get_inputs(), subject.args, strict=True)}
    with torch.no_grad():
        expected = subject.module(*subject.args).numpy()
    found: Any = session.run(None, feeds)[0]
    if not np.allclose(found, expected, atol=1e-3 * np.abs(expected).max()):
        raise ValueError("the model gives other numbers than the module")
    return lambda: session.run(None, feeds)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what exporters print, log and warn about."""
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


# ---- the smallest model ----


def _smallest(context: Context) -> list[Row]:
    """Two nodes, when everything is warm: what every export costs."""
    import torch

    class TwoNodes(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x) + 1

    subject = Subject(TwoNodes(), (torch.randn(2, 3),), None)

    def warm(export: Callable[[], tuple[float, bytes]]) -> Made:
        return min(
            (_made(subject, export) for _ in range(4)),
            key=lambda made: math.inf if made.problem else made.seconds,
        )

    ours = warm(lambda: _ours(subject, None))
    theirs: Figure = context.ask(
        "onnxscript", lambda: warm(lambda: _theirs(subject, None, PEER_OPSETS[0])).seconds
    )
    return [Row("two nodes, warm", ours.seconds, "s", PEER, theirs, at_most(0.15), ours.problem)]


# ---- the subjects ----


def _bert() -> Subject:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=500,
        hidden_size=96,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=192,
        max_position_embeddings=128,
    )
    return _of_words(BertModel(config, add_pooling_layer=False))


def _llama() -> Subject:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=500,
        hidden_size=96,
        num_hidden_layers=16,
        num_attention_heads=6,
        num_key_value_heads=2,
        intermediate_size=192,
        max_position_embeddings=128,
        use_cache=False,
    )
    return _of_words(LlamaForCausalLM(config))


def _vit() -> Subject:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=96,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=192,
        image_size=64,
        patch_size=8,
    )
    return _of_images(ViTForImageClassification(config), is_size_open=False)


def _resnet() -> Subject:
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(embedding_size=16, hidden_sizes=[32, 64, 128, 256])  # 3, 4, 6 and 3 bottlenecks
    return _of_images(ResNetForImageClassification(config), is_size_open=True)


def _of_words(module: torch.nn.Module) -> Subject:
    import torch

    open_dims = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    words = torch.randint(0, 500, (_BATCH, _LENGTH))
    return Subject(_first_output(module), (words, torch.ones_like(words)), (open_dims, open_dims))


def _of_images(module: torch.nn.Module, *, is_size_open: bool) -> Subject:
    import torch

    open_dims = dict.fromkeys((0, 2, 3) if is_size_open else (0,), torch.export.Dim.DYNAMIC)
    return Subject(_first_output(module), (torch.randn(_BATCH, 3, 64, 64),), (open_dims,))


def _first_output(module: torch.nn.Module) -> torch.nn.Module:
    """The module with plain tensors in and one out."""
    import torch

    class OfWords(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.inner(input_ids=words, attention_mask=mask)[0]

    class OfImages(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.inner(pixel_values=images)[0]

    is_of_images = getattr(module, "main_input_name", "") == "pixel_values"
    return (OfImages() if is_of_images else OfWords()).eval()


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "bert-12": _bert,
    "llama-16": _llama,
    "vit-12": _vit,
    "resnet-50": _resnet,
}
