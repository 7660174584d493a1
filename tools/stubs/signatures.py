"""What a type checker is told of one operator: the overloads of its function.

An operator runs on arrays (array in, array out), on tensors (a tensor of the schema's type out) and on literals; a
checker that is to know what comes out needs an overload for each form of a call. `tensors.pyi` explains the types
they are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxsmith.schema.bind import layout, python_name
from onnxsmith.schema.definition import Attribute, OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from tools.stubs.parameters import Level, attribute_annotation, input_annotation, kind_of, takes_indices
from tools.stubs.type_variables import TypeVariables, literal_of

#: The result where only the run decides.
_UNKNOWN = "AnyTensor"

# The attributes that decide the element type of the output, where the schema leaves it open.
_DECIDES_OUTPUT = ("to", "dtype", "output_dtype", "output_datatype")

# As many inputs can each be the first that is a tensor, one overload each; past that one overload takes all.
_MOST_FORMS = 3

# An operator with many inputs is not called with literals for all of them; it is spared the overload.
_MOST_LITERALS = 3

#: What a form of a call takes for each input.
_Form = tuple[Level, ...]


@dataclass(frozen=True)
class Overload:
    """One signature: parameters as they are written, and what comes out."""

    parameters: tuple[str, ...]
    returns: str


def overloads(op: OperatorDef, variables: TypeVariables) -> list[Overload]:
    """The overloads of an operator, in the order in which a checker must try them."""
    return list(_Signature(op, variables).overloads())


class _Signature:
    def __init__(self, op: OperatorDef, variables: TypeVariables) -> None:
        self.op = op
        self.layout = layout(op)
        self.kinds = {each: kind_of(each) for each in (*op.inputs, *op.outputs)}
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
            if other.type_name in self.bound and self.kinds[other] == kind.counterpart:
                self.bound[parameter.type_name] = self.bound[other.type_name]
                return
        taken = list(self.bound.values())
        tensor = self.variables.for_classes(kind.classes, [each for each, _ in taken])
        self.bound[parameter.type_name] = (
            tensor,
            self.variables.for_literal(literal, [each for _, each in taken]),
        )

    def _open_output(self) -> tuple[Attribute, str] | None:
        """The attribute that decides the first output's element type, and a variable for that type."""
        first = self.op.outputs[0] if self.op.outputs and self.bound else None
        if first is None or self.kinds[first].form != "tensor" or self._source_of(first) is not None:
            return None
        if len(self.kinds[first].classes) == 1:
            return None
        for name in _DECIDES_OUTPUT:
            attribute = self.op.attributes.get(name)
            if attribute is not None and attribute.names_dtype:
                taken = [each for each, _ in self.bound.values()]
                return attribute, self.variables.for_classes(self.kinds[first].classes, taken)
        return None

    # -- forms of a call -------------------------------------------------------------------------------

    def overloads(self) -> Iterator[Overload]:
        counts = self._output_counts()
        forms = self._forms()
        general: _Form = ("input",) * len(self.op.inputs)
        if len({self._returns(form, count) for form in (*forms, general) for count in counts}) == 1:
            forms = [general]  # whatever goes in, the same comes out
        for form in forms:
            for count in counts:
                takes_tensors = not form or "given" in form or "input" in form
                if takes_tensors and self.open_output is not None and count == 1:
                    yield from self._by_dtype(form, *self.open_output)
                else:
                    yield self._overload(form, count)

    def _forms(self) -> list[_Form]:
        """Forms of which one does not take what an earlier one takes, as far as that can be had.

        Where two overloads fit an argument whose type holds Any, mypy gives up on the result; and pyright takes the
        array for it unless a form that takes tensors comes first.
        """
        number = len(self.op.inputs)
        general: _Form = ("input",) * number
        arrays: _Form = ("array",) * number
        forms = [self.kinds[each].form for each in self.op.inputs]
        if all(form == "other" for form in forms):
            return [general]
        if "sequence" in forms:
            return [arrays, general]
        required = [
            k for k, each in enumerate(self.op.inputs) if self._is_required(each) and forms[k] == "tensor"
        ]
        others = [k for k in range(number) if k not in required or self.op.inputs[k].option == "variadic"]
        is_complete = not others and len(required) <= _MOST_FORMS
        first_tensor = required if is_complete else required[:1]
        # A list of sizes is taken for one that holds a tensor; behind an array it is numbers, unless it cannot be.
        late = [k for k in first_tensor if k > 0 and takes_indices(self.kinds[self.op.inputs[k]])]
        by_tensor: dict[int, _Form] = {k: (*arrays[:k], "given", *general[k + 1 :]) for k in first_tensor}
        result = [form for k, form in by_tensor.items() if k not in late]
        if 0 < len(required) <= _MOST_LITERALS and len(self._output_counts()) == 1 and "other" not in forms:
            result.append(("literal",) * number)
        result += [arrays, *(by_tensor[k] for k in late)]
        return result if is_complete else [*result, general]

    def _by_dtype(self, form: _Form, attribute: Attribute, variable: str) -> Iterator[Overload]:
        """A class given as the element type is the class of the result; a default is known as well."""
        name = self._attribute_names()[attribute.name]
        inputs = {each.type_name for each in self.op.inputs}
        yield self._overload(form, 1, {name: f"type[{variable}]"}, variable)
        if attribute.default:  # 0 is UNDEFINED: other inputs decide
            default = f"Literal[{attribute.default}] = {attribute.default}"
            yield self._overload(form, 1, {name: default}, DType(attribute.default).name)
        elif attribute.name == "dtype" and not attribute.is_required and len(inputs) == 1:
            # RandomNormalLike and its like: left out, the result has the input's type.
            yield self._overload(form, 1, {name: "None = None"}, self.bound[inputs.pop()][0])
        yield self._overload(form, 1)

    def _overload(
        self, form: _Form, count: int, attributes: dict[str, str] | None = None, returns: str | None = None
    ) -> Overload:
        parameters = [*self._inputs(form), *self._keywords(count, attributes or {})]
        return Overload(tuple(parameters), returns or self._returns(form, count))

    # -- inputs ----------------------------------------------------------------------------------------

    def _is_required(self, parameter: Parameter) -> bool:
        if parameter.option == "variadic":
            return parameter.min_arity > 0
        position = self.op.inputs.index(parameter)
        return parameter.option == "single" and position < self.layout.required_inputs

    def _inputs(self, form: _Form) -> Iterator[str]:
        is_optional = False
        for parameter, level in zip(self.op.inputs, form, strict=True):
            name = python_name(parameter.name)
            text = self._input_type(parameter, level)
            if parameter.option == "variadic":
                if parameter.min_arity > 0 and len(self.op.inputs) == 1:
                    yield f"{name}_0: {text}"  # at least one, which *args alone would not say
                    yield "/"
                yield f"*{name}: {self._input_type(parameter, 'input' if level == 'given' else level)}"
                continue
            is_optional = is_optional or not self._is_required(parameter)
            yield f"{name}: {_or_none(text)} = None" if is_optional else f"{name}: {text}"

    def _input_type(self, parameter: Parameter, level: Level) -> str:
        kind = self.kinds[parameter]
        if kind.form == "other":
            return "TValue" if self._passes_through(parameter) else "Any"
        return input_annotation(kind, level, *self.bound[parameter.type_name])

    def _passes_through(self, parameter: Parameter) -> bool:
        """Whether a parameter that may hold anything has a partner of the same type on the other side: Identity."""
        for side in (self.op.inputs, self.op.outputs):
            same = [each for each in side if each.type_name == parameter.type_name]
            if len(same) != 1 or same[0].option != "single":
                return False
        return True

    # -- attributes ------------------------------------------------------------------------------------

    def _attribute_names(self) -> dict[str, str]:
        return {attribute.name: name for name, attribute in self.layout.attribute_names.items()}

    def _keywords(self, count: int, given: dict[str, str]) -> Iterator[str]:
        texts = [
            f"{name}: {given.get(name) or attribute_annotation(each)}"
            for name, each in self.layout.attribute_names.items()
        ]
        texts.sort(key=lambda text: "=" in text)  # those that must be given first
        outputs = self._outputs_keyword(count)
        if outputs is not None:
            texts.append(outputs)
        if texts and all(each.option != "variadic" for each in self.op.inputs):
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

    def _returns(self, form: _Form, count: int) -> str:
        outputs = self.op.outputs[:count]
        if not outputs:
            return _UNKNOWN
        texts = [self._output_type(each, form) for each in outputs]
        if outputs[-1].option == "variadic":
            # Where a body decides how many there are, one is not wrapped in a tuple.
            return f"tuple[{texts[-1]}, ...]" if self.kinds[outputs[-1]].form == "tensor" else _UNKNOWN
        return texts[0] if len(texts) == 1 else f"tuple[{', '.join(texts)}]"

    def _output_type(self, parameter: Parameter, form: _Form) -> str:
        kind = self.kinds[parameter]
        if kind.form == "other":
            return "TValue" if self._passes_through(parameter) else _UNKNOWN
        # Of literals: an array when called eagerly, a tensor where a graph is being made.
        if not self.bound or "literal" in form:
            return _UNKNOWN
        if all(level == "array" for level in form):
            return "NumpyArray" if kind.form == "tensor" else "list[NumpyArray]"
        tensor = self._class_of(parameter, form)
        return tensor if kind.form == "tensor" else f"Sequence[{tensor}]"

    def _class_of(self, parameter: Parameter, form: _Form) -> str:
        kind = self.kinds[parameter]
        if len(kind.classes) == 1:
            return next(iter(kind.classes))
        source = self._source_of(parameter)
        if source is None:
            return _UNKNOWN
        tensor = self.bound[source][0]
        carriers = [
            level for each, level in zip(self.op.inputs, form, strict=True) if self._bound_to(each, tensor)
        ]
        return tensor if {"given", "input"} & set(carriers) else _UNKNOWN

    def _bound_to(self, parameter: Parameter, tensor: str) -> bool:
        return self.bound.get(parameter.type_name, ("", ""))[0] == tensor

    def _source_of(self, parameter: Parameter) -> str | None:
        """The type variable of an input that says what class an output is."""
        if parameter.type_name in self.bound:
            return parameter.type_name
        kind = self.kinds[parameter]
        same = (each.type_name for each in self.op.inputs if self.kinds[each] == kind.counterpart)
        return next(same, None)


def _or_none(text: str) -> str:
    return text if text == "Any" else f"{text} | None"
