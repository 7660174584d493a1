"""Run a whole model: ONNX Runtime on it as it is, on the same with lower opset versions, or the reference evaluator.

Takes and gives what operators take and give. What the inputs should be called, and which types they have, is
checked by whoever holds the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import onnx

from onnxsmith.errors import NotRunnableError, OperatorFailedError
from onnxsmith.runtime import onnxruntime_api, versions
from onnxsmith.runtime.failure import (
    described_value,
    failed_node,
    missing_kernel,
    newest_opset,
    plain_reason,
    says_not_supported,
    unknown_operator,
)
from onnxsmith.runtime.feeds import Run, runner_over
from onnxsmith.runtime.older_opsets import retold
from onnxsmith.runtime.reference import NoReference, ReferenceSession
from onnxsmith.runtime.settings import Settings, current, usable_cores
from onnxsmith.source import Span, caller_span
from onnxsmith.types.value_types import parse_onnx_type

#: Where a node of the model was written, by its name; None when that is not known.
FindNode = Callable[[str], Span | None]

#: Serialized, a file, or a proto.
AnyModel: TypeAlias = bytes | str | os.PathLike[str] | onnx.ModelProto

# Protobuf's own limit; past it a model only fits into a file with external data.
_MOST_BYTES = 2**31 - 1


class ModelSession:
    """A loaded model: call it on a list of inputs in the order of `input_names`.

    >>> from onnx import parser
    >>> text = '<ir_version: 8, opset_import: ["" : 14]> g (float[N] x) => (float[N] y) { y = Add(x, x) }'
    >>> session = load_session(parser.parse_model(text))
    >>> import numpy as np
    >>> session([np.float32([1, 2])])
    [array([2., 4.], dtype=float32)]
    >>> session.input_names, session.output_names
    (('x',), ('y',))
    """

    __slots__ = ("input_names", "output_names", "run", "source")

    def __init__(
        self, run: Run, input_names: Sequence[str], output_names: Sequence[str], source: str
    ) -> None:
        self.run = run
        self.input_names: tuple[str, ...] = tuple(input_names)
        self.output_names: tuple[str, ...] = tuple(output_names)
        self.source = source

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        return self.run(inputs)


def load_session(model: AnyModel, *, find_node: FindNode | None = None) -> ModelSession:
    """Load a serialized model, a model file, or a model proto, under the settings of this context.

    Raises NotRunnableError when nothing installed can run it; the session raises OperatorFailedError, placed at the
    node's origin where `find_node` knows it, when it cannot run on its inputs.
    """
    settings = current()
    tried: list[tuple[str, str]] = []
    if settings.runtime == "onnxruntime":
        try:
            return _on_onnxruntime(_as_it_is(model), settings, model, find_node)
        except Exception as error:
            refusal = error
        for content in _retellings(model, refusal):
            try:
                return _on_onnxruntime(content.given, settings, model, find_node)
            except Exception as error:
                content.refused(error)
        tried.append(("ONNX Runtime", plain_reason(refusal)))
    try:
        return _on_reference(model, find_node)
    except Exception as error:  # it has no such operator, or the model cannot even be read
        tried.append(("the reference evaluator", plain_reason(error)))
    told = "\n".join(f"{who}: {why}" for who, why in tried)
    refused = NotRunnableError("nothing installed can run this model", help=told)
    unknown = unknown_operator(told)
    origin = None if unknown is None or find_node is None else find_node(unknown)
    if origin is not None:
        refused.locate(origin).also(caller_span(), "the model is run here")
    raise refused


def load_on_onnxruntime(model: AnyModel, *, find_node: FindNode | None = None) -> ModelSession:
    """Load a model on ONNX Runtime as it is, without any other way around; raises what ONNX Runtime raises."""
    return _on_onnxruntime(_as_it_is(model), current(), None, find_node)


def _as_it_is(model: AnyModel) -> bytes | str:
    if isinstance(model, onnx.ModelProto):
        return model.SerializeToString()
    return model if isinstance(model, bytes) else os.fspath(model)


class _Retelling:
    """One way to tell the model, and what was said about it."""

    def __init__(self, given: bytes) -> None:
        self.given = given
        self.error: Exception | None = None

    def refused(self, error: Exception) -> None:
        self.error = error


def _retellings(model: AnyModel, refusal: Exception) -> Iterator[_Retelling]:
    """The same model told otherwise, for a runtime that refused it: first as little as possible, then more."""
    try:
        proto = _as_proto(model)
    except Exception:  # unreadable, or its external data is gone: what the runtime said stands
        return
    newest = newest_opset(refusal)
    lower = _with_lower_versions(proto)
    if lower is not None:
        yield (attempt := _Retelling(lower))
        newest = newest or newest_opset(attempt.error)
        refusal = attempt.error or refusal
    lacking: set[str] = set()
    for _ in range(_MOST_REPLACED):
        missing = missing_kernel(refusal)
        if missing is not None:
            lacking.add(missing)
        if newest is None and not lacking:
            return
        content = _with_other_definitions(proto, newest, lacking)
        if content is None:
            return
        yield (attempt := _Retelling(content))
        if attempt.error is None or missing_kernel(attempt.error) in (None, *lacking):
            return
        refusal = attempt.error


#: How many operators without a kernel are replaced by their function bodies before giving up.
_MOST_REPLACED = 8


def _with_lower_versions(model: onnx.ModelProto) -> bytes | None:
    """The same model under the lowest versions that mean the same; None when they are the lowest."""
    proto = _as_proto(model)
    versions.lower_opsets(proto)
    _lower_ir_version(proto)
    return None if _stamps(proto) == _stamps(model) else _serialized(proto)


def _with_other_definitions(model: onnx.ModelProto, newest: int | None, lacking: set[str]) -> bytes | None:
    """The same model in operators that the runtime has; None when it cannot be told so."""
    try:
        other = retold(model, newest, lacking)
    except Exception:  # onnx's inliner throws on what it does not expect
        return None
    if other is None:
        return None
    _lower_ir_version(other)
    return _serialized(other)


def _lower_ir_version(model: onnx.ModelProto) -> None:
    # The IR version is the writer's, too, and refused when it is newer than the runtime.
    model.ir_version = min(model.ir_version, max(versions.lowest_ir_version(model), _OLDEST_KEPT_IR_VERSION))


def _serialized(model: onnx.ModelProto) -> bytes | None:
    return model.SerializeToString() if model.ByteSize() <= _MOST_BYTES else None


_OLDEST_KEPT_IR_VERSION = 10


def _stamps(model: onnx.ModelProto) -> list[int]:
    return [model.ir_version, *(entry.version for entry in model.opset_import)]


def _as_proto(model: AnyModel) -> onnx.ModelProto:
    if isinstance(model, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        return copy
    if isinstance(model, bytes):
        return onnx.load_model_from_string(model)
    return onnx.load_model(os.fspath(model))  # pyright: ignore[reportUnknownMemberType]  # its file argument has no type


def _on_onnxruntime(
    content: bytes | str, settings: Settings, model: object, find_node: FindNode | None
) -> ModelSession:
    """A session; the reference evaluator runs `model`, unless it is None, on what ONNX Runtime does not support."""
    session = onnxruntime_api.create_session(
        content,
        threads=settings.intra_op_threads or usable_cores(),
        providers=settings.providers,
        optimize=True,
    )
    inputs = onnxruntime_api.input_types(session)
    names = [name for name, _ in inputs]

    def recover(error: Exception, values: Sequence[Any]) -> list[Any]:
        if model is not None and says_not_supported(error):
            try:
                return _on_reference(model, find_node).run(values)
            except (NoReference, OperatorFailedError):
                pass  # what ONNX Runtime said is nearer to what the user can change
        raise _failed(names, values, error, find_node) from error

    run = runner_over(session, names, [parse_onnx_type(text) for _, text in inputs], recover)
    return ModelSession(
        run, names, [name for name, _ in onnxruntime_api.output_types(session)], "onnxruntime"
    )


def _on_reference(model: Any, find_node: FindNode | None) -> ModelSession:
    session = ReferenceSession(_as_proto(model))
    names = session.input_names

    def run(inputs: Sequence[Any]) -> list[Any]:
        try:
            return session.run(names, inputs)
        except Exception as error:
            raise _failed(names, inputs, error, find_node) from error

    return ModelSession(run, names, session.output_names, "reference")


def _failed(
    names: Sequence[str], values: Sequence[Any], error: Exception, find_node: FindNode | None
) -> OperatorFailedError:
    described = ", ".join(
        f"{name}: {described_value(value)}" for name, value in zip(names, values, strict=False)
    )
    node = failed_node(error)
    origin = find_node(node.name) if node is not None and find_node is not None else None
    where = "" if node is None else f" in {node.operator}" + (f" '{node.name}'" if node.name else "")
    if origin is not None:  # the line says more than the name that the runtime gave the node
        where = ""
    failed = OperatorFailedError(f"the model cannot run on ({described}){where}: {plain_reason(error)}")
    if origin is not None:
        failed.locate(origin).also(caller_span(), "the model is run here")
    return failed
