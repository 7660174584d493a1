"""The annotation of one parameter: what may be passed for an input in each form of a call, and for an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnxsmith.schema.definition import Attribute, AttributeType, Parameter
from onnxsmith.types.value_types import SequenceType, TensorType, parse_onnx_type
from tools.stubs.type_variables import Classes, literal_of

#: What a form of a call takes for an input: literals alone, arrays and literals, tensors, or any of these.
Level = Literal["literal", "array", "given", "input"]

_ATTRIBUTE_TYPES = {
    AttributeType.FLOAT: "Float",
    AttributeType.INT: "Int",
    AttributeType.STRING: "str",
    AttributeType.TENSOR: "TensorValue",
    AttributeType.GRAPH: "Body",
    AttributeType.FLOATS: "Floats",
    AttributeType.INTS: "Ints",
    AttributeType.STRINGS: "Sequence[str]",
    AttributeType.TENSORS: "Sequence[TensorValue]",
    AttributeType.GRAPHS: "Sequence[Body]",
    AttributeType.SPARSE_TENSOR: "Proto",
    AttributeType.SPARSE_TENSORS: "Sequence[Proto]",
    AttributeType.TYPE_PROTO: "TypeValue",
    AttributeType.TYPE_PROTOS: "Sequence[TypeValue]",
}

# Lists of these may hold scalar tensors: sizes, starts, indices.
_INDICES = frozenset({"INT32", "INT64"})


@dataclass(frozen=True)
class Kind:
    """What a formal input or output holds, as far as a checker can be told."""

    form: Literal["tensor", "sequence", "other"]
    classes: Classes = frozenset()

    @property
    def counterpart(self) -> Kind:
        """A sequence of such tensors, or the elements of such a sequence."""
        return Kind("sequence" if self.form == "tensor" else "tensor", self.classes)


def kind_of(parameter: Parameter) -> Kind:
    """Whether a parameter holds a tensor of some classes, a sequence of them, or something else."""
    parsed = [parse_onnx_type(each) for each in parameter.types]
    if not parsed or not parameter.is_homogeneous:
        return Kind("other")
    tensors = [each for each in parsed if isinstance(each, TensorType)]
    if len(tensors) == len(parsed):
        return Kind("tensor", _class_names(tensors))
    elements = [each.element for each in parsed if isinstance(each, SequenceType)]
    tensors = [each for each in elements if isinstance(each, TensorType)]
    return Kind("sequence", _class_names(tensors)) if len(tensors) == len(parsed) else Kind("other")


def _class_names(tensors: list[TensorType]) -> Classes:
    return frozenset(each.dtype.name for each in tensors if each.dtype is not None)


def takes_indices(kind: Kind) -> bool:
    """Whether it holds positions or sizes, so that a list may have scalar tensors among its numbers."""
    return kind.classes <= _INDICES


def input_annotation(kind: Kind, level: Level, tensor: str, literal: str) -> str:
    """The annotation of an input; `tensor` and `literal` are its type variables, or a class and Python's type."""
    if kind.form == "sequence":
        return "Sequence[NumpyArray]" if level == "array" else f"Tensors[{tensor}, {literal}]"
    if level == "literal":
        return f"NumberOrList[{literal_of(kind.classes)}]"
    if level == "array":
        return f"ArrayOrNumber[{literal_of(kind.classes)}]"
    has_indices = takes_indices(kind)
    if level == "given":
        return f"{'TensorIndices' if has_indices else 'TensorOf'}[{tensor}, {literal}]"
    return f"{'Indices' if has_indices else 'TensorOrArray'}[{tensor}, {literal}]"


def attribute_annotation(attribute: Attribute) -> str:
    """The annotation of an attribute, and its default."""
    text = _ATTRIBUTE_TYPES[attribute.type]
    if attribute.choices is not None:
        choices = ", ".join(f'"{choice}"' for choice in attribute.choices)
        text = text.replace("str", f"Literal[{choices}]")
    elif attribute.names_dtype:
        text = "DTypeLike"
    if attribute.is_required:
        return text
    if attribute.default is None:
        return f"{text} | None = None"
    return f"{text} = {_quoted(attribute.default)}"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
