"""torch's operators, exported and differentiated: the gradient that runs against torch.autograd.

Samples are those of torch's operator database, called as its own gradient checks call them. Only what the exporter
takes is counted. Of the outcomes, `no_translation` means that a gradient is refused by name, `export_error` that making
it fails otherwise, `rejected` that it does not run.
"""

from __future__ import annotations

import time
import tomllib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

import onnxsmith.torch
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.models import differentiated, in_new_opset
from tests.torch.opinfo import exporters
from tests.torch.opinfo.cases import Case, NoSample, operators, seed, spread_place
from tests.torch.opinfo.comparing import as_real, widened
from tests.torch.opinfo.outcomes import Outcome, Record
from tests.torch.opinfo.workers import Runner

#: How far a gradient may be off, of its largest element or of one.
TOLERANCE = 1e-3
#: How many times torch's own distance from the gradient in double precision a gradient may be away from it.
_TIMES_TORCHS_ERROR = 8.0
#: Operators whose gradient by torch is not the derivative, and why is known: what torch computes, differenced, decides.
BY_DIFFERENCES: dict[str, str] = tomllib.loads(Path(__file__).with_name("known_gradients.toml").read_text())[
    "by_differences"
]
_STEP = 1e-4
#: Operators whose results may come in any order along the last dimension, the first of them in order of its values.
_ANY_ORDER = ("linalg.eig", "linalg.eigvals")


def differentiable_cases(samples: int) -> list[Case]:
    """Samples of all operators that torch differentiates in float32, spread over those that each has."""
    return [
        Case(name, "float32", sample, samples)
        for name, operator in operators().items()
        if operator.supports_autograd and torch.float32 in operator.supported_backward_dtypes("cpu")
        for sample in range(samples)
    ]


def _plainly(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Checked(torch.nn.Module):
    """The call of an operator as torch's gradient checks make it; its tensors are the inputs."""

    def __init__(self, operator: Any, sample: Any) -> None:
        super().__init__()
        self.operator = operator.get_op()
        self.wrapper = operator.gradcheck_wrapper
        if self.wrapper.__name__ == "wrapper_set_seed":  # random operators would not be seen to be random
            self.wrapper = _plainly
        self.processed = sample.output_process_fn_grad
        leaves, self.form = pytree.tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        given = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        self.wanted = [position for position, leaf in enumerate(given) if leaf.requires_grad]
        self.tensors = [leaf.detach() for leaf in given]

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.form)
        return self.processed(self.wrapper(self.operator, first, *args, **kwargs))


def make(case: Case, numbers: int = 0) -> Checked:
    """The module of a case, always with the same numbers, or with others; NoSample if there is none."""
    operator = operators()[case.operator]
    seed(zlib.crc32(case.operator.encode()) ^ numbers)
    samples = list(operator.sample_inputs("cpu", torch.float32, requires_grad=True))
    place = spread_place(case.sample, case.spread, len(samples))
    if place is None or place >= len(samples):
        raise NoSample(str(case))
    return Checked(operator, samples[place])


class TorchCannot(Exception):
    """torch has no gradient of a case, or no single one."""


@dataclass
class Torchs:
    """What torch computes: the results, the weight of each (None if it has no gradient), and the gradients."""

    results: list[torch.Tensor]
    cotangents: list[torch.Tensor | None]
    gradients: list[torch.Tensor]


def by_torch(
    call: Checked, tensors: Sequence[torch.Tensor], number: int, *, is_double: bool = False
) -> Torchs:
    """torch's gradients; those in double precision are of the same weights."""
    seed(number)
    given = [(widened(each) if is_double else each).clone() for each in tensors]
    for position in call.wanted:
        given[position].requires_grad_()
    # An operator may write to its inputs, which leaves do not allow.
    found = call(*[each.clone() if each.requires_grad else each for each in given])
    results = [each for each in pytree.tree_leaves(found) if isinstance(each, torch.Tensor)]
    generator = torch.Generator().manual_seed(7)
    cotangents: list[torch.Tensor | None] = []
    for each in results:
        if not each.requires_grad:
            cotangents.append(None)
            continue
        if each.layout != torch.strided:
            raise TorchCannot("sparse tensors have no ONNX form")
        dtype = torch.complex64 if each.is_complex() else torch.float32
        made = torch.randn(each.shape, generator=generator, dtype=dtype)
        cotangents.append(made.to(each.dtype))
    weighted = [
        (each, weight) for each, weight in zip(results, cotangents, strict=True) if weight is not None
    ]
    if not weighted or not call.wanted:
        raise TorchCannot("nothing to differentiate")
    wrt = [given[position] for position in call.wanted]
    outputs, weights = zip(*weighted, strict=True)
    gradients = torch.autograd.grad(outputs, wrt, weights, allow_unused=True)
    filled = [
        torch.zeros_like(value) if each is None else each for value, each in zip(wrt, gradients, strict=True)
    ]
    return Torchs(results, cotangents, filled)


def run_case(case: Case, numbers: int = 0) -> Record:
    """Run a case; NoSample if it does not exist."""
    call = make(case, numbers)
    started = time.process_time()
    outcome, error = _outcome(case.operator, call)
    return Record(str(case), case.family, outcome, error, round(time.process_time() - started, 3))


def _outcome(name: str, call: Checked) -> tuple[Outcome, str]:
    if any(each.layout != torch.strided for each in call.tensors):
        return "torch_cannot", "sparse tensors have no ONNX form"
    try:
        wanted = by_torch(call, call.tensors, 1)
        if _differ(wanted, by_torch(call, call.tensors, 2)):
            return "torch_cannot", "the result is random"
    except Exception as error:
        return "torch_cannot", exporters.first_line(error)
    try:
        model = onnxsmith.torch.export(call, tuple(each.clone() for each in call.tensors))
        found = exporters.run_model(exporters.session_of(model.proto.SerializeToString()), call.tensors)
    except Exception as error:
        return "torch_cannot", f"not exported: {exporters.first_line(error)}"
    if not _are_outputs(found, wanted.results):
        return "torch_cannot", "not exported: the outputs are others"
    if name in _ANY_ORDER:
        order = _order(found[0], as_real(wanted.results[0]))
    else:
        order = None
    try:
        made = _gradient(model, call, wanted)
    except NotDifferentiableError as error:
        return "no_translation", exporters.first_line(error)
    except Exception as error:
        return "export_error", exporters.first_line(error)
    weights = [each for each in wanted.cotangents if each is not None]
    if order is not None:
        weights = [_reordered(each, order) for each in weights]
    try:
        session = exporters.session_of(made.proto.SerializeToString())
        results = exporters.run_model(session, [*call.tensors, *weights])
    except Exception as error:
        return "rejected", exporters.first_line(error)
    if name in BY_DIFFERENCES:
        wanted.gradients = _by_differences(call, wanted)
    problem = _problem(results[-len(call.wanted) :], call, wanted)
    return ("wrong", problem) if problem else ("pass", "")


def _by_differences(call: Checked, wanted: Torchs) -> list[torch.Tensor]:
    """The gradients by central differences of torch's function, in double precision."""
    base = [widened(each) for each in call.tensors]
    weighted = [k for k, weight in enumerate(wanted.cotangents) if weight is not None]

    def value(given: Sequence[torch.Tensor]) -> float:
        results = [each for each in pytree.tree_leaves(call(*given)) if isinstance(each, torch.Tensor)]
        return sum(float((results[k] * widened(wanted.cotangents[k])).sum()) for k in weighted)

    found: list[torch.Tensor] = []
    for position, like in zip(call.wanted, wanted.gradients, strict=True):
        slopes = torch.zeros(base[position].numel(), dtype=torch.float64)
        for k, place in enumerate(np.ndindex(*base[position].shape)):
            ends = [[each.clone() for each in base] for _ in range(2)]
            for each, step in zip(ends, (_STEP, -_STEP), strict=True):
                each[position][place] += step  # by place: memory may be in another order
            slopes[k] = (value(ends[0]) - value(ends[1])) / (2 * _STEP)
        found.append(slopes.reshape(like.shape).to(like.dtype))
    return found


def _gradient(model: Any, call: Checked, wanted: Torchs) -> Any:
    given = in_new_opset(model)
    inputs = [each.name for each in given.inputs]
    outputs = [each.name for each in given.outputs]
    of = [name for name, weight in zip(outputs, wanted.cotangents, strict=True) if weight is not None]
    named = [f"cotangent_{position}" for position in range(len(of))]
    wrt = [inputs[position] for position in call.wanted]
    return differentiated(given, of, wrt, cotangents=named, fills=True).model


def _differ(one: Torchs, other: Torchs) -> bool:
    return any(
        a.shape != b.shape or not torch.equal(as_real(a).nan_to_num(), as_real(b).nan_to_num())
        for a, b in zip(one.results, other.results, strict=True)
    )


def _are_outputs(found: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> bool:
    wanted = [as_real(each) for each in results]
    return len(found) == len(wanted) and all(a.shape == b.shape for a, b in zip(found, wanted, strict=True))


def _order(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """For each eigenvalue of ours the place of the one of torch's that is nearest, with the batch in front."""
    distances = (found.unsqueeze(-2) - wanted.unsqueeze(-3)).square().sum(-1)
    return distances.argmin(-1) if distances.numel() else distances.sum(-1).long()


def _reordered(weight: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    places = order if weight.dim() == order.dim() else order.unsqueeze(-2).expand(weight.shape)
    return weight.gather(-1, places)


def _problem(found: Sequence[torch.Tensor], call: Checked, wanted: Torchs) -> str:
    """What is wrong with gradients; empty if nothing is."""
    precise: Sequence[torch.Tensor] | None = None
    for position, (got, gradient) in enumerate(zip(found, wanted.gradients, strict=True)):
        want = as_real(gradient)
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"gradient {position}: {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
        finite = torch.isfinite(want)
        if not finite.any():
            continue
        if torch.isnan(got[~torch.isnan(want)]).any():
            return f"gradient {position}: NaN where torch has none"
        ours, theirs = got[finite].double(), want[finite].double()
        allowed = TOLERANCE * max(1.0, float(theirs.abs().max()))
        off = float((ours - theirs).abs().max())
        if off <= allowed:
            continue
        precise = _in_double(call) if precise is None else precise
        if len(precise) == len(found):
            truth = as_real(precise[position])[finite].double()
            if float((ours - truth).abs().max()) <= allowed + _TIMES_TORCHS_ERROR * float(
                (theirs - truth).abs().max()
            ):
                continue
        worst = int(torch.argmax((ours - theirs).abs()))
        return f"gradient {position}: {float(ours[worst]):.6g} not {float(theirs[worst]):.6g}"
    return ""


def _in_double(call: Checked) -> Sequence[torch.Tensor]:
    try:
        return by_torch(call, call.tensors, 1, is_double=True).gradients
    except Exception:  # some operators have no double precision
        return []


def make_runner(numbers: int = 0) -> Runner:
    """A function that runs a case by name, in a process of its own; other `numbers` make other samples."""
    exporters.be_quiet()
    torch.set_num_threads(1)
    np.seterr(all="ignore")

    def run(name: str) -> Record | None:
        try:
            return run_case(Case.parse(name), numbers)
        except NoSample:
            return None

    return run
