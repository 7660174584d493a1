"""Run a whole model: ONNX Runtime on it as it is, on the same with lower opset versions, or the reference evaluator.

Takes and gives what operators take and give. What the inputs should be called, and which types they have, is
checked by whoever holds the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import onnx

from onnxsmith.eager import onnxruntime_api, versions
from onnxsmith.eager.failure import (
    described_value,
    failed_node,
    newest_opset,
    plain_reason,
    says_not_supported,
)
from onnxsmith.eager.feeds import Run, runner_over
from onnxsmith.eager.older_opsets import retold
from onnxsmith.eager.reference import NoReference, ReferenceSession
from onnxsmith.eager.settings import Settings, current, usable_cores
from onnxsmith.errors import NotRunnableError, OperatorFailedError
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
        self.input_names = tuple(input_names)
        self.output_names = tuple(output_names)
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
        newest: int | None = None
        for load in (_as_it_is, _with_lower_versions, _with_other_definitions):
            try:
                return _on_onnxruntime(load(model, newest), settings, model, find_node)
            except Exception as error:
                newest = newest or newest_opset(error)
                if not tried:
                    tried.append(("ONNX Runtime", plain_reason(error)))
    try:
        return _on_reference(model, find_node)
    except NoReference as error:
        tried.append(("the reference evaluator", plain_reason(error)))
    told = "\n".join(f"{who}: {why}" for who, why in tried)
    raise NotRunnableError("nothing installed can run this model", help=told)


def _as_it_is(model: AnyModel, newest: int | None) -> bytes | str:
    if isinstance(model, onnx.ModelProto):
        return model.SerializeToString()
    return model if isinstance(model, bytes) else os.fspath(model)


def _with_lower_versions(model: AnyModel, newest: int | None) -> bytes:
    """The same model under the lowest versions that mean the same; for runtimes older than its opset."""
    proto = _as_proto(model)
    before = _stamps(proto)
    versions.lower_opsets(proto)
    _lower_ir_version(proto)
    if _stamps(proto) == before:
        raise ValueError("its versions cannot be lower")
    return _serialized(proto)


def _with_other_definitions(model: AnyModel, newest: int | None) -> bytes:
    """The same model told in the operators of the newest opset that the runtime has."""
    if newest is None:
        raise ValueError("its opset is not what the runtime lacks")
    proto = retold(_as_proto(model), newest)
    if proto is None:
        raise ValueError(f"opset {newest} cannot express it")
    _lower_ir_version(proto)
    return _serialized(proto)


def _lower_ir_version(model: onnx.ModelProto) -> None:
    # The IR version is the writer's, too, and refused when it is newer than the runtime.
    model.ir_version = min(model.ir_version, max(versions.lowest_ir_version(model), _OLDEST_KEPT_IR_VERSION))


def _serialized(model: onnx.ModelProto) -> bytes:
    if model.ByteSize() > _MOST_BYTES:
        raise ValueError("it is too large to be handed over in memory")
    return model.SerializeToString()


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
    session = onnxruntime_api.create_session(
        content,
        threads=settings.intra_op_threads or usable_cores(),
        providers=settings.providers,
        optimize=True,
    )
    inputs = onnxruntime_api.input_types(session)
    names = [name for name, _ in inputs]

    def recover(error: Exception, values: Sequence[Any]) -> list[Any]:
        if says_not_supported(error):
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
    where = "" if node is None else f" in {node.operator}" + (f" '{node.name}'" if node.name else "")
    failed = OperatorFailedError(f"the model cannot run on ({described}){where}: {plain_reason(error)}")
    origin = find_node(node.name) if node is not None and find_node is not None else None
    if origin is not None:
        failed.locate(origin).also(caller_span(), "the model is run here")
    return failed
