"""Runs a model as it was and as passes made it, on the same inputs, and compares what comes out.

Inputs are given, or made up. Where the model cannot run as it was, nothing is verified, and the verdict says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from onnxsmith.diagnostics import clipped, described_type
from onnxsmith.errors import AttributeTypeError, ModelInputError, OnnxsmithError, VerificationError
from onnxsmith.graphs.made_up_inputs import made_up_inputs
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.report import PassedModel
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.passes.surgery.holding import read
from onnxsmith.passes.values import Array, is_random
from onnxsmith.types.dtypes import DType

#: Inputs by name, or in order.
GivenInputs: TypeAlias = Mapping[str, NDArray[np.generic]] | Sequence[NDArray[np.generic]]

#: How far results may be apart, as a part of the largest number among them.
_TOLERANCES = {2: 2e-2, 4: 1e-4, 8: 1e-8}
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two models gave the same."""

    #: None where it could not be found out.
    is_equal: bool | None
    text: str


def check_inputs(model: Model, given: bool | GivenInputs) -> None:
    """Refuse what is neither yes, no, nor inputs of the model."""
    if isinstance(given, bool):
        return
    told = cast(object, given)  # users may give anything
    names = [port.name for port in model.inputs]
    if isinstance(given, Mapping):
        optional = {port.name for port in model.optional_inputs}
        missing = [each for each in names if each not in given]
        unknown = [str(each) for each in given if each not in names and each not in optional]
        if missing or unknown:
            raise ModelInputError(
                f"verify has no value for the input '{missing[0]}'"
                if missing
                else f"verify has a value for '{unknown[0]}', and the model no such input",
                help=f"its inputs are {', '.join(names)}" if names else "it has no inputs",
            )
    elif not _is_list(told):
        raise AttributeTypeError(
            f"verify is True, False, or inputs by name or in order, not {described_type(type(told))}",
            help='verify={"x": array}, or verify=[array]',
            culprit=("attribute", "verify"),
        )
    elif len(given) != len(names):
        raise ModelInputError(f"verify has {len(given)} values, and the model {len(names)} inputs")


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def verdict_on(before: Model, after: Model, given: GivenInputs | None = None) -> Verdict:
    """Run both and compare."""
    drawn = next((node for node in _nodes(before) if is_random(node)), None)
    if drawn is not None:
        return Verdict(None, f"not verified: {drawn.op_type} '{drawn.name}' gives other numbers in every run")
    reason = "there are no inputs to try it with"
    for inputs in _tried(before, given):
        try:
            wanted = _results(before, inputs)
        except OnnxsmithError as error:
            reason = clipped(error.message, _LONGEST_REASON)
            continue
        try:
            found = _results(after, inputs)
        except OnnxsmithError as error:
            return Verdict(False, f"it cannot run any more: {clipped(error.message, _LONGEST_REASON)}")
        difference = _difference(before, wanted, found)
        if difference is not None:
            return Verdict(False, difference)
        arrays = {name: each for name, each in inputs.items() if isinstance(each, np.ndarray)}
        shapes = ", ".join(f"{name} {list(each.shape)}" for name, each in arrays.items())
        return Verdict(True, f"verified: equal results for {shapes}" if shapes else "verified: equal results")
    return Verdict(None, f"not verified: the model cannot run as it was: {reason}")


def verify_passes(
    model: Model,
    result: PassedModel,
    given: GivenInputs | None,
    again: Callable[[int], PassedModel],
    called: str,
    remedy: str,
) -> None:
    """Note in its report whether a model that passes have made gives what it gave. Raises VerificationError.

    `again` makes the model with the first so many of the changes: the error names the first that is one too many.
    """
    found = verdict_on(model, result, given)
    result.report.verification = found.text
    if found.is_equal is not False:
        return
    fewest, most, last = 0, len(result.report.edits), result
    while most - fewest > 1:
        middle = (fewest + most) // 2
        tried = again(middle)
        if verdict_on(model, tried, given).is_equal is False:
            most, last = middle, tried
        else:
            fewest = middle
    edits = last.report.edits
    culprit = ""
    if edits:
        edit = edits[-1]
        culprit = f"; it is the change {len(edits)}, of the pass {edit.pass_name}, by the rule '{edit.rule}':"
        culprit += f" {edit.change}"
    raise VerificationError(f"the {called} model is not the same: {found.text}{culprit}", help=remedy)


def _nodes(model: Model) -> Iterator[ir.Node]:
    held = read(model).ir
    for graph in (held.graph, *(function.graph for function in held.functions.values())):
        yield from graph.all_nodes()


def _tried(model: Model, given: GivenInputs | None) -> Iterator[Mapping[str, RunValue]]:
    if given is not None:
        names = [port.name for port in model.inputs]
        yield dict(given) if isinstance(given, Mapping) else dict(zip(names, given, strict=True))
        return
    yield from made_up_inputs(model.inputs)


def _results(model: Model, inputs: Mapping[str, RunValue]) -> Sequence[RunValue]:
    result = model.run(dict(inputs)) if inputs else model()
    return cast("tuple[RunValue, ...]", result) if isinstance(result, tuple) else (result,)


def _difference(model: Model, wanted: Sequence[RunValue], found: Sequence[RunValue]) -> str | None:
    """In which output the results differ, and by how much; None where they are equal."""
    for port, left, right in zip(model.outputs, wanted, found, strict=True):
        pairs = (
            zip(left, right, strict=False)
            if isinstance(left, list) and isinstance(right, list)
            else [(left, right)]
        )
        for one, other in pairs:
            told = _apart(np.asarray(one), np.asarray(other))
            if told is not None:
                return f"output '{port.name}' differs: {told}"
    return None


def _apart(left: Array, right: Array) -> str | None:
    if left.shape != right.shape or left.dtype != right.dtype:
        return f"{left.dtype} of shape {left.shape} became {right.dtype} of shape {right.shape}"
    if (
        left.dtype.kind not in "fcV"
        and DType.from_numpy(left.dtype) is not None
        and left.dtype.kind in "iubOSU"
    ):
        return None if np.array_equal(left, right) else "the elements are not equal"
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    one, other = left.astype(wide), right.astype(wide)
    finite = np.isfinite(one)
    if not np.array_equal(np.isnan(one), np.isnan(other)) or not np.array_equal(finite, np.isfinite(other)):
        return "infinities or NaNs are in other places"
    if not finite.any():
        return None
    largest = float(np.abs(one[finite]).max())
    error = float(np.abs(one[finite] - other[finite]).max())
    size = left.dtype.itemsize // (2 if left.dtype.kind == "c" else 1)
    allowed = _TOLERANCES.get(size, 5e-2) * max(largest, 1e-6)
    return None if error <= allowed else f"by {error:.3g}, where the largest element is {largest:.3g}"
