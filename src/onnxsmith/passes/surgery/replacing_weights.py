"""`model.replace_weights({...})`: other values for weights of the same type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import ArrayLike, NDArray

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import CallError, InputTypeError, LiteralError, WeightError
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.named_tensors import named_tensor
from onnxsmith.graphs.rewriting.scopes import graphs_of
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.surgery.naming import by_name, called_with, tensor_of
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.types.dtypes import DType, numpy_text
from onnxsmith.types.value_types import describe_shape


@dataclass(frozen=True, slots=True)
class WeightHolder:
    """Where a weight is: an initializer, or the attribute of a Constant node."""

    name: str
    tensor: ir.TensorProtocol
    holder: ir.Value | ir.Node

    def put(self, tensor: ir.TensorProtocol) -> None:
        """Put another tensor in its place."""
        if isinstance(self.holder, ir.Value):
            self.holder.const_value = tensor
        else:
            self.holder.attributes["value"] = ir.AttrTensor("value", tensor)
            self.holder.outputs[0].const_value = None


def _check_parameters(function: Callable[..., object]) -> None:
    """Refuse a function that cannot be called with the name and the array of a weight."""
    try:
        inspect.signature(function).bind("", None)
    except TypeError:
        raise CallError(
            "the function given to replace_weights takes other arguments than two",
            help="it is called with the name and the array of each weight: lambda name, array: -array",
        ) from None
    except ValueError:  # of some functions in C nothing is known
        return


@model_boundary
def replace_weights(
    model: ModelLike, weights: Mapping[str, ArrayLike] | Callable[[str, NDArray[Any]], ArrayLike | None]
) -> Model:
    """The model with other values for some of its weights, of the same element type and shape.

    `weights` has arrays by name; the names are those of `model.weights`. Or it is a function that is called with the
    name and the array of each, and returns another array, or None for a weight that stays. The weights that stay are
    shared.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> scale = np.float32([1, 2])
    >>> model = trace(lambda a: a * scale, FLOAT["N", 2])
    >>> [name for name in model.ir.graph.initializers]
    ['scale']
    >>> model.replace_weights({"scale": np.float32([3, 4])})(np.ones((1, 2), np.float32))
    array([[3., 4.]], dtype=float32)
    >>> model.replace_weights(lambda name, array: -array)(np.ones((1, 2), np.float32))
    array([[-1., -2.]], dtype=float32)
    """
    model = model_of(model, "replace_weights")
    held = read(model).copy()
    known = holders(held)
    if callable(weights):
        _check_parameters(weights)
        held_arrays = ((name, np.asarray(each.tensor.numpy())) for name, each in known.items())
        made = {each[0]: called_with(weights, each, "replace_weights") for each in held_arrays}
        given = {name: value for name, value in made.items() if value is not None}
    else:
        given = by_name(weights, {}, "replace_weights")
    for name in given:
        if name not in known:
            raise WeightError(f"the model has no weight {name!r}", help=_help(name, list(known)), culprit=0)
    tensors = {name: _tensor(known[name], value) for name, value in given.items()}
    for name, tensor in tensors.items():
        known[name].put(tensor)
    return finished(held)


def _help(name: str, known: list[str]) -> str:
    """The help for a name that no weight has: it is misspelt, or the weight was folded into another one."""
    made = [repr(each) for each in known if each.startswith(f"{name}_")]
    if made:
        return (
            f"it was folded into {' and '.join(made)} when the model was made;\n"
            "give the new values to where it comes from, and export again"
        )
    some = ", ".join(repr(each) for each in known[:8])
    suggestion = did_you_mean(name, [each for each in known if _may_be_meant(name, each)])
    return suggestion or (f"it has {some}" if some else "it has no weights")


def _may_be_meant(name: str, other: str) -> bool:
    """True if one name can be the other misspelt. Those of a module differ in a part: `a.weight` is not `b.weight`."""
    parts, others = name.split("."), other.split(".")
    if len(parts) == 1 or name.lower() == other.lower():
        return True
    return len(parts) == len(others) and all(
        one == another or (min(len(one), len(another)) > 3 and did_you_mean(one, [another]) is not None)
        for one, another in zip(parts, others, strict=True)
    )


def holders(held: ModelContent) -> dict[str, WeightHolder]:
    """The weights that a model holds and that can be replaced, by name."""
    return {each.name: each for each in _holders(held)}


def _holders(held: ModelContent) -> Iterator[WeightHolder]:
    """The weights of the graph and of those inside it; of two with one name, the outer one comes last, and counts.

    What a function holds is called by the function, as `model.weights` calls it.
    """
    for function in held.ir.functions.values():
        overload = f":{function.overload}" if function.overload else ""
        yield from _constants(function.graph, f"{function.domain}::{function.name}{overload}/")
    for graph in reversed(list(graphs_of(held.graph))):
        for name, value in graph.initializers.items():
            if value.const_value is not None:
                yield WeightHolder(name, value.const_value, value)
        yield from _constants(graph, "")


def _constants(graph: ir.Graph, prefix: str) -> Iterator[WeightHolder]:
    for node in graph:
        attribute = node.attributes.get("value") if node.op_type == "Constant" and not node.domain else None
        is_tensor = attribute is not None and attribute.type == ir.AttributeType.TENSOR
        if attribute is not None and is_tensor and not attribute.is_ref():
            yield WeightHolder(f"{prefix}{node.outputs[0].name or ''}", attribute.as_tensor(), node)


def _tensor(holder: WeightHolder, value: object) -> ir.TensorProtocol:
    """The tensor for a weight; refused where it is of another type."""
    name, dtype = holder.name, DType(int(holder.tensor.dtype))
    if isinstance(value, Weight):
        tensor = named_tensor(value.tensor, name)
    else:
        try:
            place = Place("replace_weights", f"'{name}'", remedy=f"the weight is {dtype.name}")
            tensor = tensor_of(given_array(value, dtype, place), name)
        except (InputTypeError, LiteralError) as error:
            raise WeightError(f"weight '{name}': {error.message}", help=error.help, culprit=0) from None
    given, wanted, shape = DType(int(tensor.dtype)), dimensions_of(holder.tensor), dimensions_of(tensor)
    if given is not dtype:
        raise WeightError(
            f"weight '{name}' is {dtype.spelling}, and was given {given.spelling}",
            help=f"convert it with .astype({numpy_text(dtype)})",
            culprit=0,
        )
    if shape != wanted:
        is_turned = shape == wanted[::-1]
        raise WeightError(
            f"weight '{name}' has shape {describe_shape(wanted)}, and was given {describe_shape(shape)}",
            help="give it transposed: .T" if is_turned else "its shape is part of what the model computes",
            culprit=0,
        )
    return tensor
