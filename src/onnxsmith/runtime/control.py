"""Control flow whose bodies are Python functions, run eagerly by calling them: breakpoints in a body work.

The meaning is ONNX's own definition of If, Loop, Scan and SequenceMap; bodies given as graphs run in the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.initial_states import OpenState
from onnxsmith.core.operands import tensors_of_arrays
from onnxsmith.errors import FunctionError, MixedDTypesError, OperatorFailedError
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

Body: TypeAlias = Callable[..., Any]
_FOREVER = 2**63 - 1
_FIRST = EagerTensor(np.array(0, np.int64))


def run(op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    """The outputs of a control-flow operator; inputs are eager tensors, lists of them, or None."""
    runner = _RUNNERS.get(op.name) if op.domain == "" else None
    if runner is None or (op.name == "Scan" and op.since_version < 9):
        raise FunctionError(
            f"{op.qualified_name}-{op.since_version} cannot be run with a Python function as its body",
            help="trace it into a model, or give the body as a GraphProto",
        )
    return runner(inputs, attributes)


def _results(body: Body, *arguments: Any) -> list[Any]:
    values = _in_a_row(body(*arguments))
    return [
        each if isinstance(each, EagerTensor | list) or each is None else EagerTensor(np.asarray(each))
        for each in values
    ]


def _in_a_row(result: Any) -> Sequence[Any]:
    given = tensors_of_arrays(result)
    return cast("Sequence[Any]", given) if isinstance(given, tuple | list) else [given]


def _run_if(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    condition = inputs[0].array
    if condition.size != 1:
        raise OperatorFailedError(
            f"If needs one bool as its condition, got an array of shape {condition.shape}"
        )
    return tuple(_results(attributes["then_branch" if condition.reshape(()) else "else_branch"]))


def _settled(state: Sequence[Any], once: Callable[[list[Any]], Sequence[Any]]) -> list[Any]:
    """The state to begin with; a literal has the element type that an iteration gives it.

    That iteration is thrown away. A body that cannot be called on a Python number says nothing.
    """
    if not any(isinstance(each, OpenState) for each in state):
        return list(state)
    try:
        after: Sequence[Any] = once([each.value if isinstance(each, OpenState) else each for each in state])
    except Exception:  # the user's own code, on a number where it expects a tensor: Python's choice stays
        after = ()
    result: list[Any] = []
    for position, each in enumerate(state):
        if isinstance(each, OpenState):
            given = after[position] if position < len(after) else None
            has_type = isinstance(given, EagerTensor | np.ndarray)
            dtype = DType.from_numpy(np.asarray(cast(Any, given)).dtype) if has_type else None
            each = EagerTensor(each.array(dtype or each.natural))
        result.append(each)
    return result


def _run_loop(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    limit = _FOREVER if inputs[0] is None else int(inputs[0].array.reshape(()))
    goes_on = True if len(inputs) < 2 or inputs[1] is None else bool(inputs[1].array.reshape(()))
    body: Body = attributes["body"]
    state = _settled(
        inputs[2:], lambda state: _in_a_row(body(_FIRST, EagerTensor(np.array(True)), *state))[1:]
    )
    collected: list[list[np.ndarray[Any, Any]]] | None = None
    iteration = 0
    while iteration < limit and goes_on:
        goes_on, state, scanned = _one_iteration(body, iteration, goes_on, state)
        collected = [[] for _ in scanned] if collected is None else collected
        for column, element in zip(collected, scanned, strict=True):
            column.append(element)
        iteration += 1
    if collected is None:
        # No iteration says what the scan outputs are; one that is thrown away does.
        _, _, scanned = _one_iteration(body, 0, True, state)
        return (*state, *(EagerTensor(np.empty((0, *each.shape), each.dtype)) for each in scanned))
    return (*state, *(EagerTensor(np.stack(column)) for column in collected))


def _one_iteration(
    body: Body, iteration: int, goes_on: bool, state: list[Any]
) -> tuple[bool, list[Any], list[np.ndarray[Any, Any]]]:
    count = EagerTensor(np.array(iteration, np.int64))
    outputs = _results(body, count, EagerTensor(np.array(goes_on)), *state)
    if len(outputs) < 1 + len(state):
        raise FunctionError(
            f"the body of Loop returns {len(outputs)} values; it needs the condition and {len(state)} loop-carried ones"
        )
    split = 1 + len(state)
    _check_state("Loop.body", state, outputs[1:split])
    return bool(outputs[0].array.reshape(())), outputs[1:split], [each.array for each in outputs[split:]]


def _check_state(title: str, before: Sequence[Any], after: Sequence[Any]) -> None:
    """Refuse what a model refuses: a state that has another element type after an iteration."""
    for position, (old, new) in enumerate(zip(before, after, strict=False)):
        if (
            isinstance(old, EagerTensor)
            and isinstance(new, EagerTensor)
            and old.array.dtype != new.array.dtype
        ):
            was, becomes = (DType.from_numpy(each.array.dtype) for each in (old, new))
            raise MixedDTypesError(
                f"loop-carried value {position} of {title} is {was and was.spelling} going in "
                f"and {becomes and becomes.spelling} coming out",
                help="convert it with x.astype(…) before the body returns it",
            )


def _run_scan(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    scan_count: int = attributes["num_scan_inputs"]
    scanned = [each.array for each in inputs[len(inputs) - scan_count :]]
    axes = attributes.get("scan_input_axes", (0,) * scan_count)
    backwards = attributes.get("scan_input_directions", (0,) * scan_count)
    slices = [np.moveaxis(array, axis, 0) for array, axis in zip(scanned, axes, strict=True)]
    slices = [each[::-1] if reverse else each for each, reverse in zip(slices, backwards, strict=True)]
    lengths = {len(each) for each in slices}
    if len(lengths) != 1:
        raise OperatorFailedError(f"Scan needs inputs of one length, got {sorted(lengths)}")
    length = lengths.pop()
    state = _settled(
        inputs[: len(inputs) - scan_count],
        lambda state: _in_a_row(
            attributes["body"](*state, *(EagerTensor(np.asarray(each[0])) for each in slices))
        ),
    )
    collected: list[list[np.ndarray[Any, Any]]] | None = None
    for step in range(length):
        outputs = _results(
            attributes["body"], *state, *(EagerTensor(np.asarray(each[step])) for each in slices)
        )
        _check_state("Scan.body", state, outputs)
        state, rest = outputs[: len(state)], outputs[len(state) :]
        collected = [[] for _ in rest] if collected is None else collected
        for column, element in zip(collected, rest, strict=True):
            column.append(element.array)
    if collected is None:
        # No step says what the scan outputs are; one on zeros that is thrown away does.
        zeros = [EagerTensor(np.zeros(each.shape[1:], each.dtype)) for each in slices]
        outputs = _results(attributes["body"], *state, *zeros)[len(state) :]
        empty = [np.empty((0, *each.array.shape), each.array.dtype) for each in outputs]
        axes = attributes.get("scan_output_axes", (0,) * len(empty))
        moved = [np.moveaxis(each, 0, axis) for each, axis in zip(empty, axes, strict=True)]
        return (*state, *map(EagerTensor, moved))
    output_axes = attributes.get("scan_output_axes", (0,) * len(collected))
    output_backwards = attributes.get("scan_output_directions", (0,) * len(collected))
    stacked: list[EagerTensor] = []
    for column, axis, reverse in zip(collected, output_axes, output_backwards, strict=True):
        stacked.append(EagerTensor(np.stack(column[::-1] if reverse else column, axis=axis)))
    return (*state, *stacked)


def _run_sequence_map(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    columns: list[list[Any]] | None = None
    for position in range(len(inputs[0])):
        arguments: list[Any] = [each[position] if isinstance(each, list) else each for each in inputs]
        outputs = _results(attributes["body"], *arguments)
        columns = [[] for _ in outputs] if columns is None else columns
        for column, element in zip(columns, outputs, strict=True):
            column.append(element)
    return tuple(columns) if columns is not None else ([],)


_RUNNERS: dict[str, Callable[[Sequence[Any], Mapping[str, Any]], tuple[Any, ...]]] = {
    "If": _run_if,
    "Loop": _run_loop,
    "Scan": _run_scan,
    "SequenceMap": _run_sequence_map,
}
