"""Runs one case: torch, the exporter, ONNX Runtime, the comparison; says what became of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import onnx
import torch
from torch.utils import _pytree as pytree

from tests.torch.opinfo import exporters
from tests.torch.opinfo.cases import Call, Case, make, operators, seed
from tests.torch.opinfo.checks import CHECKS, UNSET
from tests.torch.opinfo.comparing import Wrong, as_real, compare, widened
from tests.torch.opinfo.outcomes import Outcome, Record

_SEEDS = (1, 2, 3)


def run_case(case: Case, exporter: exporters.ExporterName) -> Record:
    """Run a case; NoSample if it does not exist."""
    call = make(case)
    started = time.process_time()
    outcome, error, nodes = _outcome(case, call, exporter)
    return Record(str(case), case.family, outcome, error, round(time.process_time() - started, 3), nodes)


def _outcome(case: Case, call: Call, exporter: exporters.ExporterName) -> tuple[Outcome, str, int]:
    if any(tensor.layout != torch.strided for tensor in call.tensors):
        return "torch_cannot", "sparse tensors have no ONNX form", 0
    try:
        results = [_eager(call, call.tensors, number) for number in _SEEDS]
    except Exception as error:
        return "torch_cannot", f"eager: {exporters.first_line(error)}", 0
    expected = results[0]
    if not expected:
        return "torch_cannot", "no tensor or number in the result", 0
    if any(isinstance(leaf, torch.Tensor) and leaf.layout != torch.strided for leaf in expected):
        return "torch_cannot", "sparse tensors have no ONNX form", 0

    try:
        model = exporters.EXPORTERS[exporter](call, tuple(_copies(call.tensors)), None)
    except Exception as error:
        refusal = _refusal_of_torch(call)
        if refusal:
            return "torch_cannot", refusal, 0
        missing = exporters.is_missing_translation(error)
        return "no_translation" if missing else "export_error", exporters.first_line(error), 0

    nodes = len(onnx.load_from_string(model).graph.node)
    try:
        found = exporters.run_model(exporters.session_of(model), call.tensors)
    except exporters.InputMismatch as error:
        return "wrong", str(error), nodes
    except Exception as error:
        return "rejected", exporters.first_line(error), nodes
    try:
        _compare(case, call, found, expected, is_random=_differ(results))
    except Wrong as error:
        return "wrong", str(error), nodes
    return "pass", "", nodes


def _compare(case: Case, call: Call, found: Any, expected: list[Any], *, is_random: bool) -> None:
    name = operators()[case.operator].name
    if len(found) != len(expected):
        # A number that does not depend on the inputs need not be an output of the model.
        expected = [leaf for leaf in expected if isinstance(leaf, torch.Tensor)]
    only_form = is_random or name in UNSET
    if name in CHECKS and not only_form:
        first, args, kwargs = call.arguments(call.tensors)
        CHECKS[name](first, args, kwargs, found, expected)
    else:
        compare(found, expected, precise=lambda: _in_double_precision(call, expected), only_form=only_form)


def _eager(call: Call, tensors: Sequence[torch.Tensor], number: int) -> list[Any]:
    """The tensors and numbers of torch's result."""
    seed(number)
    with torch.no_grad():
        result = call(*_copies(tensors))
    leaves = pytree.tree_leaves(result)
    return [leaf for leaf in leaves if isinstance(leaf, (torch.Tensor, bool, int, float, complex))]


def _in_double_precision(call: Call, expected: list[Any]) -> list[Any]:
    try:
        precise = _eager(call, [widened(tensor) for tensor in call.tensors], _SEEDS[0])
    except Exception:
        return expected
    return precise if len(precise) == len(expected) else expected


def _copies(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copies for an operator that may write to its inputs."""
    return [tensor.clone() for tensor in tensors]


def _differ(results: Sequence[Sequence[Any]]) -> bool:
    """Whether results depend on the seed."""
    first, *others = [[as_real(leaf) for leaf in result] for result in results]
    return any(
        a.shape != b.shape or not torch.equal(a.nan_to_num(), b.nan_to_num())
        for other in others
        for a, b in zip(first, other, strict=True)
    )


def _refusal_of_torch(call: Call) -> str:
    """Why torch.export itself cannot trace the call; empty if it can."""
    try:
        torch.export.export(call, tuple(_copies(call.tensors)), strict=False)
    except Exception as error:
        return f"torch.export: {exporters.first_line(error)}"
    return ""
