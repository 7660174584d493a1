"""Call a session on a list of inputs: closures with all names prebuilt, one shape of call each.

The hot path of eager mode: on four floats a call costs about what ONNX Runtime's own compiled `run` costs. Whether
a failure means a fallback is decided by whoever hands in `recover`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.graphs.run_values import Run as Run
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.convert import (
    NATIVE,
    NoConversion,
    check_output,
    element_type,
    from_value,
    input_converter,
    is_exotic,
    to_text,
)
from onnxsmith.runtime.onnxruntime_api import OrtValue, Session, WrappedValue
from onnxsmith.runtime.single_node import Call, InputType
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import parse_onnx_type

Recover: TypeAlias = Callable[[Exception, Sequence[RunValue]], list[RunValue]]


def session_runner(session: Session, call: Call, recover: Recover) -> Run:
    """A function from inputs to outputs. Raises `NoConversion` for values that a session cannot take or give."""
    return runner_over(session, call.feed_names, [*call.input_types, *call.captured.values()], recover)


def runner_over(session: Session, names: Sequence[str], types: Sequence[InputType], recover: Recover) -> Run:
    """As `session_runner`, on names and types; an empty name is a hole."""
    outputs = onnxruntime_api.output_types(session)
    output_names = [name for name, _ in outputs]
    parsed = [parse_onnx_type(text) for _, text in outputs]
    for each in parsed:
        check_output(each)
    # ONNX Runtime may have dropped an input that a body does not use.
    taken = {meta.name for meta in session.inputs_meta}
    positions = [k for k, name in enumerate(names) if name in taken]
    plain_inputs = all(element_type(types[k]) in NATIVE for k in positions)
    if any(is_exotic(each) for each in parsed):
        return _value_runner(session, names, types, positions, output_names, recover)
    if plain_inputs:
        return _plain_runner(session, [names[k] for k in positions], positions, output_names, recover)
    return _converting_runner(session, names, types, positions, output_names, recover)


def _plain_runner(
    session: Session, names: Sequence[str], positions: Sequence[int], outputs: list[str], recover: Recover
) -> Run:
    """All inputs and outputs are arrays that ONNX Runtime takes as they are."""
    run = session.run
    options = onnxruntime_api.quiet_run_options()
    if len(positions) == 1 and positions[0] == 0:
        only = names[0]

        def run_one(inputs: Sequence[RunValue]) -> list[RunValue]:
            try:
                return run(outputs, {only: inputs[0]}, options)
            except Exception as error:
                return recover(error, inputs)

        return run_one
    if tuple(positions) == (0, 1):
        first, second = names

        def run_two(inputs: Sequence[RunValue]) -> list[RunValue]:
            try:
                return run(outputs, {first: inputs[0], second: inputs[1]}, options)
            except Exception as error:
                return recover(error, inputs)

        return run_two
    if list(positions) == list(range(len(positions))):
        fixed = tuple(names)

        def run_many(inputs: Sequence[RunValue]) -> list[RunValue]:
            try:
                return run(outputs, dict(zip(fixed, inputs)), options)  # noqa: B905  # trailing holes are not named
            except Exception as error:
                return recover(error, inputs)

        return run_many
    pairs = tuple(zip(names, positions, strict=True))

    def run_with_holes(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            return run(outputs, {name: inputs[k] for name, k in pairs}, options)
        except Exception as error:
            return recover(error, inputs)

    return run_with_holes


def _converting_runner(
    session: Session,
    names: Sequence[str],
    types: Sequence[InputType],
    positions: Sequence[int],
    outputs: list[str],
    recover: Recover,
) -> Run:
    """Some inputs need conversion; outputs come as numpy has them."""
    run = session.run
    options = onnxruntime_api.quiet_run_options()
    plan = [(names[k], k, input_converter(types[k]), is_exotic(types[k])) for k in positions]

    def run_converted(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            feeds: dict[str, RunValue | WrappedValue] = {}
            for name, k, convert, is_value in plan:
                value = inputs[k] if convert is None else convert(inputs[k])
                feeds[name] = (
                    onnxruntime_api.wrapped(cast(OrtValue, value)) if is_value else cast(RunValue, value)
                )
            return run(outputs, feeds, options)
        except Exception as error:
            return recover(error, inputs)

    return run_converted


def _value_runner(
    session: Session,
    names: Sequence[str],
    types: Sequence[InputType],
    positions: Sequence[int],
    outputs: list[str],
    recover: Recover,
) -> Run:
    """Some outputs only exist as ONNX Runtime's own values, so all inputs must be those, too."""
    plan: list[tuple[str, int, Callable[[RunValue], OrtValue]]] = []
    for k in positions:
        dtype = element_type(types[k])
        if dtype is None:
            raise NoConversion(
                "ONNX Runtime cannot take a container and give back a tensor that numpy does not have"
            )
        convert: object = input_converter(dtype)
        if convert is None:
            convert = onnxruntime_api.value_of
        elif dtype is DType.STRING:
            convert = _text_value
        # Tensors are given as arrays, and each of these makes a value of one.
        plan.append((names[k], k, cast("Callable[[RunValue], OrtValue]", convert)))

    def run_values(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            feeds = {name: convert(inputs[k]) for name, k, convert in plan}
            return [from_value(each) for each in onnxruntime_api.run_values(session, feeds, outputs)]
        except Exception as error:
            return recover(error, inputs)

    return run_values


def _text_value(array: Array) -> OrtValue:
    return onnxruntime_api.value_of(to_text(array))
