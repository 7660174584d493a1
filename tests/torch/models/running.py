"""Runs one model: torch, the exporter, ONNX Runtime on the example and, if dynamic, on a second size."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import onnx
import torch
from torch.utils import _pytree as pytree

from tests.torch.models.catalogue import SIZES, ModelCase, all_models
from tests.torch.opinfo import exporters
from tests.torch.opinfo.comparing import Wrong, as_real, check_form
from tests.torch.opinfo.outcomes import Outcome, Record
from tests.torch.opinfo.workers import Runner


def make_runner(exporter: exporters.ExporterName) -> Runner:
    """A function that runs a case by name, such as `bert dynamic`."""
    exporters.be_quiet()
    torch.set_num_threads(1)

    def run(name: str) -> Record:
        model, form = name.split()
        return run_model(all_models()[model], exporter, is_dynamic=form == "dynamic")

    return run


def run_model(case: ModelCase, exporter: exporters.ExporterName, *, is_dynamic: bool) -> Record:
    """Run a model in its static or dynamic form."""
    started = time.process_time()
    form = "dynamic" if is_dynamic else "static"
    outcome, error, nodes = _outcome(case, exporter, is_dynamic)
    seconds = round(time.process_time() - started, 3)
    return Record(f"{case.name} {form}", f"{case.source} {form}", outcome, error, seconds, nodes)


def example(case: ModelCase, size: tuple[int, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments of a model, always with the same numbers."""
    torch.manual_seed(sum(size))
    made = case.example(*size)
    return (made, {}) if isinstance(made, tuple) else ((), made)


def _outcome(case: ModelCase, exporter: exporters.ExporterName, is_dynamic: bool) -> tuple[Outcome, str, int]:
    sizes = SIZES if is_dynamic else SIZES[:1]
    shapes = case.dynamic_shapes if is_dynamic else None
    torch.manual_seed(0)
    try:
        module = case.make().eval()
        expected = [_eager(module, case, size) for size in sizes]
    except Exception as error:
        return "torch_cannot", f"eager: {exporters.first_line(error)}", 0

    args, kwargs = example(case, sizes[0])
    try:
        with torch.no_grad():
            model = exporters.EXPORTERS[exporter](module, args, kwargs, dynamic_shapes=shapes)
    except Exception as error:
        refusal = _refusal_of_torch(module, args, kwargs, shapes)
        if refusal and case.is_excused_by_torch:
            return "torch_cannot", refusal, 0
        missing = exporters.is_missing_translation(error)
        return "no_translation" if missing else "export_error", exporters.first_line(error), 0

    nodes = len(onnx.load_from_string(model).graph.node)
    try:
        session = exporters.session_of(model)
    except Exception as error:
        return "rejected", exporters.first_line(error), nodes
    for size, wanted in zip(sizes, expected, strict=True):
        args, kwargs = example(case, size)
        values = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        try:
            _check(exporters.run_model(session, values), wanted, case.tolerance)
        except (Wrong, exporters.InputMismatch) as error:
            return "wrong", f"size {size}: {error}", nodes
        except Exception as error:
            return "rejected", f"size {size}: {exporters.first_line(error)}", nodes
    return "pass", "", nodes


def _eager(module: torch.nn.Module, case: ModelCase, size: tuple[int, int]) -> list[Any]:
    args, kwargs = example(case, size)
    with torch.no_grad():
        leaves = pytree.tree_leaves(module(*args, **kwargs))
    return [leaf for leaf in leaves if isinstance(leaf, (torch.Tensor, bool, int, float))]


def _check(found: Sequence[torch.Tensor], expected: Sequence[Any], tolerance: float) -> None:
    """Raise Wrong if an output is off by more than the tolerance, relative to its largest number."""
    if len(found) != len(expected):
        # torch.export fixes numbers that do not depend on the inputs; they need not be outputs of the model.
        expected = [leaf for leaf in expected if isinstance(leaf, torch.Tensor)]
    if len(found) != len(expected):
        raise Wrong(f"{len(found)} outputs, not {len(expected)}")
    for index, (got, leaf) in enumerate(zip(found, expected, strict=True)):
        want = as_real(leaf)
        check_form(index, got, want)
        if not want.numel():
            continue
        scale = max(float(want.double().nan_to_num(posinf=0, neginf=0).abs().max()), 1e-6)
        limit = tolerance * scale if want.is_floating_point() else 0
        if not torch.allclose(got.double(), want.double(), rtol=0, atol=limit, equal_nan=True):
            off = float((got.double() - want.double()).abs().max()) / scale
            raise Wrong(f"output {index}: off by {off:.2g} of the largest number")


def _refusal_of_torch(module: torch.nn.Module, args: Any, kwargs: Any, shapes: Any) -> str:
    """Why torch.export itself cannot trace the model; empty if it can."""
    try:
        with torch.no_grad():
            torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        return f"torch.export: {exporters.first_line(error)}"
    return ""
