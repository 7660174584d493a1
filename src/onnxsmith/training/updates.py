"""The second half of a step: what becomes of the weights, given the gradient of the loss.

Clipping, accumulation, groups of weights with optimisers of their own, and a moving average stand here, each once for
all optimisers. Makes a model of a model of the gradient; knows nothing of losses.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, AttributeValueError, CallError, UnknownNameError
from onnxsmith.errors.arguments import check_counts, check_numbers, check_share
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs.model import Model
from onnxsmith.passes import optimize
from onnxsmith.tracing.trace import trace
from onnxsmith.training.optimizers import Optimizer
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Inputs of a step: the learning rate, how many steps there were, and how many gradients are added up.
RATE, COUNT, ADDED = "lr", "step", "accumulated"
#: In the metadata of a step: the first values of state that does not start at zero. A text is the name of a weight.
STARTS_KEY = "onnxsmith.training.starts"
_SUM, _AVERAGE = "accumulated", "average"
#: What torch adds to a norm before it divides by it.
_SMALL = 1e-6


@dataclass(frozen=True, slots=True)
class Updates:
    """Plan for gradients: optimisers by patterns of weights, in order, and what comes before and after."""

    optimizers: Mapping[str, Optimizer]
    clip_norm: float | None = None
    clip_value: float | None = None
    accumulate: int = 1
    average: float | None = None

    @property
    def rates(self) -> dict[str, str]:
        """The input that has the rate of each optimiser whose rate is open, by its pattern."""
        is_open = [pattern for pattern, each in self.optimizers.items() if each.lr is None]
        if len(is_open) == 1:
            return {is_open[0]: RATE}
        return {pattern: f"{RATE}_{number}" for number, pattern in enumerate(is_open, 1)}

    @property
    def counts(self) -> bool:
        """True if steps are counted."""
        return any(each.counts for each in self.optimizers.values())

    def pattern_of(self, name: str) -> str:
        """The pattern that a weight belongs to: the first that fits."""
        found = next(
            (each for each in self.optimizers if each == name or fnmatch.fnmatchcase(name, each)), None
        )
        if found is None:
            raise UnknownNameError(
                f"no optimizer is for the weight '{name}'",
                help='a last pattern is for all others: {"head.*": adam(1e-3), "*": sgd(1e-4)}; '
                f"freeze={name!r} leaves it as it is",
            )
        return found


def read_updates(
    optimizer: Optimizer | Mapping[str, Optimizer] | Given,
    *,
    clip_norm: float | None = None,
    clip_value: float | None = None,
    accumulate: int = 1,
    average: float | None = None,
) -> Updates:
    """Updates as a user gives them; refused where they are none."""
    found = cast("Mapping[str, object]", optimizer) if isinstance(optimizer, Mapping) else {"*": optimizer}
    for pattern, each in found.items():
        if not isinstance(each, Optimizer) or not isinstance(cast(object, pattern), str):
            raise AttributeTypeError(
                f"the optimizer is one that sgd or adam makes, not {described_type(type(each))}",
                help="training_step(model, losses.squared, sgd(lr=0.1)); "
                'groups of weights have one each: {"*.bias": sgd(0.1), "*": adam(1e-3)}',
                culprit="optimizer",
            )
    if not found:
        raise AttributeTypeError(
            "there is no optimizer for any weight", help="sgd(lr=0.1)", culprit="optimizer"
        )
    check_numbers(clip_norm=clip_norm, clip_value=clip_value, average=average)
    check_counts(accumulate=accumulate)
    for name, limit in (("clip_norm", clip_norm), ("clip_value", clip_value)):
        if limit is not None and not float(limit):
            raise AttributeValueError(f"{name} is the most that is left, and not 0", culprit=name)
    if average is not None:
        check_share("average", float(average))
    return Updates(
        cast("Mapping[str, Optimizer]", dict(found)), clip_norm, clip_value, int(accumulate), average
    )


def refuse_names(inputs: Sequence[str], own: Sequence[str]) -> None:
    """Refuse inputs of a model that are called as those of a step are."""
    for name in inputs:
        if name in own:
            raise CallError(
                f"the model has an input '{name}', and so has a step of training",
                help="give it another name: trace(…, input_names=[…])",
            )


def own_names(updates: Updates) -> list[str]:
    """The inputs of a step that updates add, but for state of weights."""
    counted = [COUNT] if updates.counts else []
    return [*updates.rates.values(), *counted, *([ADDED] if updates.accumulate > 1 else [])]


def with_updates(
    gradient: Model, updates: Updates, names: Sequence[str], state: Sequence[str], opset: int
) -> Model:
    """The gradient, and what the optimisers make of the weights."""
    kinds: dict[str, Any] = {each.name: each.type for each in gradient.inputs}
    plan = _Plan(gradient, updates, list(names), list(state), kinds)
    made = trace(
        plan.compute,
        *(plan.types[each] for each in plan.inputs),
        input_names=plan.inputs,
        output_names=["loss", *(f"{each}_next" for each in plan.kept)],
        opset_version=opset,
        name="training_step",
    )
    found = optimize(made, opset="keep")
    note_starts(found.ir.metadata_props, plan.starts)
    return found


class _Plan:
    """The inputs of a step in their order, and what it computes of them."""

    def __init__(
        self, gradient: Model, updates: Updates, names: list[str], state: list[str], kinds: Mapping[str, Any]
    ) -> None:
        self._gradient = gradient
        self._updates = updates
        self._names = names
        self._state = state
        self._patterns = {name: updates.pattern_of(name) for name in names}
        buffers = [each for each in state if each not in names]
        ports = [each.name for each in gradient.inputs]
        data = [each for each in ports if each not in names and each not in buffers]
        double, count = TensorType(DType.DOUBLE, ()), TensorType(DType.INT64, ())
        self.types: dict[str, Any] = {each: kinds[each] for each in data}
        for pattern, rate in updates.rates.items():
            # A schedule's rates are Python's numbers: float32 would round them for weights in float64.
            is_scheduled = updates.optimizers[pattern].schedule is not None
            self.types[rate] = double if is_scheduled else TensorType(DType.FLOAT, ())
        self.kept: list[str] = []
        self.starts: dict[str, float | str] = {}
        for name in names:
            self._keep(name, kinds[name])
        for name in names:
            optimizer = updates.optimizers[self._patterns[name]]
            for slot in optimizer.slots:
                self._keep(
                    f"{name}_{slot}",
                    double if slot in optimizer.single else kinds[name],
                    optimizer.starts.get(slot),
                )
        if updates.accumulate > 1:
            for name in names:
                self._keep(f"{name}_{_SUM}", kinds[name])
            self._keep(ADDED, count)
        if updates.average is not None:
            for name in names:
                self._keep(f"{name}_{_AVERAGE}", kinds[name], name)
        if updates.counts:
            self._keep(COUNT, count)
        for name in buffers:
            self._keep(name, kinds[name])
        self.inputs = list(self.types)
        twice = next((each for each in self.kept if self.kept.count(each) > 1), None)
        if twice is not None:
            raise CallError(
                f"the model has a weight '{twice}', and the step of training keeps state under that name",
                help="give the weight another name: model.rename({…})",
            )

    def _keep(self, name: str, kind: Any, start: float | str | None = None) -> None:
        self.types[name] = kind
        self.kept.append(name)
        if start is not None:
            self.starts[name] = start

    def compute(self, *tensors: Tensor) -> tuple[Any, ...]:
        held = dict(zip(self.inputs, tensors, strict=True))
        results: Any = self._gradient(*(held[each.name] for each in self._gradient.inputs))
        loss, *found = cast("tuple[Tensor, ...]", results)
        after_run = dict(zip(self._state, found, strict=False))
        slopes = dict(zip(self._names, found[len(self._state) :], strict=True))
        new: dict[str, Tensor] = dict(after_run)
        is_full: Tensor | None = None
        if self._updates.accumulate > 1:
            share = 1.0 / self._updates.accumulate
            slopes = {name: held[f"{name}_{_SUM}"] + each * share for name, each in slopes.items()}
            number = held[ADDED] + np.int64(1)
            is_full = op.Equal(number, np.int64(self._updates.accumulate))
            for name, each in slopes.items():
                new[f"{name}_{_SUM}"] = op.Where(is_full, each * 0.0, each)
            new[ADDED] = op.Where(is_full, np.int64(0), number)
        slopes = self._clipped(slopes)
        count = held[COUNT] + np.int64(1) if self._updates.counts else None
        moved: dict[str, Tensor] = {} if count is None else {COUNT: count}
        rates = {pattern: held[name] for pattern, name in self._updates.rates.items()}
        for name in self._names:
            optimizer = self._updates.optimizers[self._patterns[name]]
            weight = after_run.get(name, held[name])  # the model may write to a weight, too
            given = rates.get(self._patterns[name])
            rate = optimizer.lr if given is None else op.Cast(given, to=weight.dtype)
            assert rate is not None  # it is an input where it is open
            slots = [f"{name}_{slot}" for slot in optimizer.slots]
            moved[name], after = optimizer.update(
                weight, slopes[name], rate, count, [held[each] for each in slots]
            )
            moved.update(zip(slots, after, strict=True))
            if self._updates.average is not None:
                average = float(self._updates.average)
                moved[f"{name}_{_AVERAGE}"] = held[f"{name}_{_AVERAGE}"] * average + moved[name] * (
                    1.0 - average
                )
        for name, each in moved.items():
            old = after_run.get(name, held[name])
            new[name] = each if is_full is None else op.Where(is_full, each, old)
        return (loss, *(new[each] for each in self.kept))

    def _clipped(self, slopes: dict[str, Tensor]) -> dict[str, Tensor]:
        """Gradients that are cut to a size, element by element or all together, as torch.nn.utils does."""
        updates = self._updates
        if updates.clip_value is not None:
            most = float(updates.clip_value)
            slopes = {name: op.Clip(each, -most, most) for name, each in slopes.items()}
        if updates.clip_norm is None:
            return slopes
        total: Tensor | None = None
        for each in slopes.values():
            square = op.ReduceSum(op.Cast(each * each, to=_wide(each)), keepdims=0)
            total = square if total is None else _joined(total, square)
        assert total is not None  # some weight is trained
        factor = op.Min(float(updates.clip_norm) / (op.Sqrt(total) + _SMALL), 1.0)
        return {name: each * op.Cast(factor, to=each.dtype) for name, each in slopes.items()}


def _wide(slope: Tensor) -> DType:
    """The element type that a sum of squares is computed in."""
    return DType.DOUBLE if slope.dtype is DType.DOUBLE else DType.FLOAT


def _joined(left: Tensor, right: Tensor) -> Tensor:
    """A sum of numbers of two element types, in the wider one."""
    if left.dtype is right.dtype:
        return left + right
    return op.Cast(left, to=DType.DOUBLE) + op.Cast(right, to=DType.DOUBLE)


# -- first values --------------------------------------------------------------------------------------------------


def note_starts(metadata: MutableMapping[str, str], starts: Mapping[str, float | str]) -> None:
    """Say in the metadata of a step how its state begins, where that is not zero."""
    if starts:
        metadata[STARTS_KEY] = json.dumps(dict(starts))


def read_starts(metadata: Mapping[str, str]) -> dict[str, float | str]:
    """How the state of a step begins; the metadata of a file is data, and may hold anything."""
    try:
        entries: object = json.loads(metadata.get(STARTS_KEY, "{}"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {
        name: start
        for name, start in cast("dict[str, object]", entries).items()
        if isinstance(start, str | float | int)
    }
