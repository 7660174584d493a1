"""What a type checker is told of one operator: the overloads of its function.

An operator runs on arrays (array in, array out), on tensors (a tensor of the schema's type out) and on literals; a
checker that is to know what comes out needs an overload for each. `tensors.pyi` explains the types they are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from onnxsmith.schema.bind import layout, python_name
from onnxsmith.schema.definition import Attribute, AttributeType, OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType, parse_onnx_type
from tools.stubs.type_variables import Classes, TypeVariables, literal_of

# Literals alone; arrays and literals; these and tensors.
Mode = Literal["literal", "array", "tensor"]

#: The result where only the run decides.
_UNKNOWN = "AnyTensor"

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

# The attributes that decide the element type of the output, where the schema leaves it open.
_DECIDES_OUTPUT = ("to", "dtype", "output_dtype", "output_datatype")

# Lists of these may hold scalar tensors: sizes, starts, indices.
_INDICES = frozenset({"INT32", "INT64"})

# An operator with many inputs is not called with literals for all of them; it is spared the overload.
_MOST_LITERALS = 3


@dataclass(frozen=True)
class Overload:
    """One signature: parameters as they are written, and what comes out."""

    parameters: tuple[str, ...]
    returns: str


@dataclass(frozen=True)
class _Kind:
    """What a formal parameter holds, as far as a checker can be told."""

    form: Literal["tensor", "sequence", "other"]
    classes: Classes = frozenset()


def overloads(op: OperatorDef, variables: TypeVariables) -> list[Overload]:
    """The overloads of an operator, in the order in which a checker must try them."""
    return list(_Signature(op, variables).overloads())


def _kind(parameter: Parameter) -> _Kind:
    parsed = [parse_onnx_type(each) for each in parameter.types]
    if not parsed or not parameter.is_homogeneous:
        return _Kind("other")
    tensors = [each for each in parsed if isinstance(each, TensorType)]
    if len(tensors) == len(parsed):
        return _Kind("tensor", _names(tensors))
    elements = [each.element for each in parsed if isinstance(each, SequenceType)]
    tensors = [each for each in elements if isinstance(each, TensorType)]
    if len(tensors) == len(parsed):
        return _Kind("sequence", _names(tensors))
    return _Kind("other")


def _names(tensors: list[TensorType]) -> Classes:
    return frozenset(each.dtype.name for each in tensors if each.dtype is not None)


class _Signature:
    def __init__(self, op: OperatorDef, variables: TypeVariables) -> None:
        self.op = op
        self.layout = layout(op)
        self.kinds = {each: _kind(each) for each in (*op.inputs, *op.outputs)}
        self.variables = variables
        # The schema's type variable -> ours: that of the tensor class, and that of the literals it meets.
        self.bound: dict[str, tuple[str, str]] = {}
        for parameter in op.inputs:
            self._bind(parameter)
        self.open_output = self._open_output()

    def _bind(self, parameter: Parameter) -> None:
        kind = self.kinds[parameter]
        if kind.form == "other" or parameter.type_name in self.bound:
            return
        literal = literal_of(kind.classes)
        if len(kind.classes) == 1:
            self.bound[parameter.type_name] = (next(iter(kind.classes)), literal)
            return
        # A sequence's variable and its elements' are two in a schema, one here: SequenceInsert(S, T) -> S.
        for other in self.op.inputs:
            if other.type_name in self.bound and self.kinds[other] == _Kind(_other(kind.form), kind.classes):
                self.bound[parameter.type_name] = self.bound[other.type_name]
                return
        taken = list(self.bound.values())
        tensor = self.variables.for_classes(kind.classes, [each for each, _ in taken])
        self.bound[parameter.type_name] = (tensor, self.variables.for_literal(literal, [each for _, each in taken]))

    def _open_output(self) -> tuple[Attribute, str] | None:
        """The attribute that decides the first output's element type, and a variable for that type."""
        first = self.op.outputs[0] if self.op.outputs and self.bound else None
        if first is None or self._bound_class(first) is not None or self.kinds[first].form != "tensor":
            return None
        for name in _DECIDES_OUTPUT:
            attribute = self.op.attributes.get(name)
            if attribute is not None and attribute.names_dtype:
                taken = [each for each, _ in self.bound.values()]
                return attribute, self.variables.for_classes(self.kinds[first].classes, taken)
        return None

    # -- overloads -------------------------------------------------------------------------------------

    def overloads(self) -> Iterator[Overload]:
        modes = self._modes()
        counts = self._output_counts()
        for mode, following in zip(modes, (*modes[1:], None), strict=True):
            if following is not None and all(self._returns(mode, n) == self._returns(following, n) for n in counts):
                continue  # each mode takes what the one before it takes
            for count in counts:
                if mode == "tensor" and self.open_output is not None and count == 1:
                    yield from self._by_dtype(*self.open_output)
                else:
                    yield self._overload(mode, count)

    def _modes(self) -> tuple[Mode, ...]:
        forms = [self.kinds[each].form for each in self.op.inputs]
        if not forms or all(form == "other" for form in forms):
            return ("tensor",)
        required = [each for each in self.op.inputs if self._is_required(each)]
        takes_literals = 0 < len(required) <= _MOST_LITERALS and all(form == "tensor" for form in forms)
        if takes_literals and len(self._output_counts()) == 1:
            return ("literal", "array", "tensor")
        return ("array", "tensor")

    def _by_dtype(self, attribute: Attribute, variable: str) -> Iterator[Overload]:
        """A class given as the element type is the class of the result; a default is known as well."""
        name = self._attribute_names()[attribute.name]
        inputs = {each.type_name for each in self.op.inputs}
        yield self._overload("tensor", 1, {name: f"type[{variable}]"}, variable)
        if attribute.default:  # 0 is UNDEFINED: other inputs decide
            default = f"Literal[{attribute.default}] = {attribute.default}"
            yield self._overload("tensor", 1, {name: default}, DType(attribute.default).name)
        elif attribute.name == "dtype" and not attribute.is_required and len(inputs) == 1:
            # RandomNormalLike and its like: left out, the result has the input's type.
            yield self._overload("tensor", 1, {name: "None = None"}, self.bound[inputs.pop()][0])
        yield self._overload("tensor", 1)

    def _overload(
        self, mode: Mode, count: int, attributes: dict[str, str] | None = None, returns: str | None = None
    ) -> Overload:
        parameters = [*self._inputs(mode), *self._keywords(count, attributes or {})]
        return Overload(tuple(parameters), returns or self._returns(mode, count))

    # -- inputs ----------------------------------------------------------------------------------------

    def _is_required(self, parameter: Parameter) -> bool:
        if parameter.option == "variadic":
            return parameter.min_arity > 0
        position = self.op.inputs.index(parameter)
        return parameter.option == "single" and position < self.layout.required_inputs

    def _inputs(self, mode: Mode) -> Iterator[str]:
        is_optional = False
        for parameter in self.op.inputs:
            name = python_name(parameter.name)
            text = self._input_type(parameter, mode)
            if parameter.option == "variadic":
                if parameter.min_arity > 0 and len(self.op.inputs) == 1:
                    yield f"{name}_0: {text}"  # at least one, which *args alone would not say
                    yield "/"
                yield f"*{name}: {text}"
                continue
            is_optional = is_optional or not self._is_required(parameter)
            yield f"{name}: {_or_none(text)} = None" if is_optional else f"{name}: {text}"

    def _input_type(self, parameter: Parameter, mode: Mode) -> str:
        kind = self.kinds[parameter]
        if kind.form == "other":
            return "TValue" if self._passes_through(parameter) else "Any"
        tensor, literal = self.bound[parameter.type_name]
        if kind.form == "sequence":
            return "Sequence[Array]" if mode == "array" else f"Tensors[{tensor}, {literal}]"
        if mode == "tensor":
            alias = "Indices" if kind.classes <= _INDICES else "Input"
            return f"{alias}[{tensor}, {literal}]"
        return f"{'Nested' if mode == 'literal' else 'ArrayOr'}[{literal_of(kind.classes)}]"

    def _passes_through(self, parameter: Parameter) -> bool:
        """Whether a parameter that may hold anything has a partner of the same type on the other side: Identity."""
        sides = [[each for each in side if each.type_name == parameter.type_name] for side in self._sides()]
        return all(len(side) == 1 and side[0].option == "single" for side in sides)

    def _sides(self) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
        return self.op.inputs, self.op.outputs

    # -- attributes ------------------------------------------------------------------------------------

    def _attribute_names(self) -> dict[str, str]:
        return {attribute.name: name for name, attribute in self.layout.attribute_names.items()}

    def _keywords(self, count: int, given: dict[str, str]) -> Iterator[str]:
        has_variadic = any(each.option == "variadic" for each in self.op.inputs)
        attributes = sorted(self.layout.attribute_names.items(), key=lambda item: not item[1].is_required)
        texts = [f"{name}: {given.get(name) or _attribute(each)}" for name, each in attributes]
        texts.sort(key=lambda text: "=" in text)
        outputs = self._outputs_keyword(count)
        if outputs is not None:
            texts.append(outputs)
        if texts and not has_variadic:
            yield "*"
        yield from texts

    def _outputs_keyword(self, count: int) -> str | None:
        counts = self._output_counts()
        if any(each.option == "variadic" for each in self.op.outputs):
            return "outputs: int | None = None"
        if len(counts) == 1:
            return None
        return f"outputs: Literal[{count}]" + (f" = {count}" if count == counts[0] else "")

    # -- outputs ---------------------------------------------------------------------------------------

    def _output_counts(self) -> list[int]:
        """How many outputs a call may ask for; the first is what comes when it does not ask."""
        single = max(1, sum(each.option == "single" for each in self.op.outputs))
        return list(range(single, max(single, len(self.op.outputs)) + 1))

    def _returns(self, mode: Mode, count: int) -> str:
        outputs = self.op.outputs[:count]
        if not outputs:
            return _UNKNOWN
        texts = [self._output_type(each, mode) for each in outputs]
        if outputs[-1].option == "variadic":
            # Where a body decides how many there are, one is not wrapped in a tuple.
            return f"tuple[{texts[-1]}, ...]" if self.kinds[outputs[-1]].form == "tensor" else _UNKNOWN
        return texts[0] if len(texts) == 1 else f"tuple[{', '.join(texts)}]"

    def _output_type(self, parameter: Parameter, mode: Mode) -> str:
        kind = self.kinds[parameter]
        if kind.form == "other":
            return "TValue" if self._passes_through(parameter) else _UNKNOWN
        if mode == "literal" or not self.bound:
            return _UNKNOWN  # of literals: an array when called eagerly, a tensor where a graph is being made
        if mode == "array":
            return "Array" if kind.form == "tensor" else "list[Array]"
        tensor = self._bound_class(parameter) or _UNKNOWN
        return tensor if kind.form == "tensor" else f"Sequence[{tensor}]"

    def _bound_class(self, parameter: Parameter) -> str | None:
        kind = self.kinds[parameter]
        if parameter.type_name in self.bound:
            return self.bound[parameter.type_name][0]
        if len(kind.classes) == 1:
            return next(iter(kind.classes))
        for each in self.op.inputs:
            if self.kinds[each] == _Kind(_other(kind.form), kind.classes):
                return self.bound[each.type_name][0]
        return None


def _other(form: str) -> Literal["tensor", "sequence"]:
    return "sequence" if form == "tensor" else "tensor"


def _or_none(text: str) -> str:
    return text if text == "Any" else f"{text} | None"


def _attribute(attribute: Attribute) -> str:
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
