"""Patterns recorded by calling them: the function runs on stand-ins for its parameters, as `trace` runs it.

What it leaves behind is read as a pattern: literals that were cast to a type that is not known yet are constants of
that value, constants that refer to a captured parameter are captures.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any, cast

import numpy as np

from onnxsmith.core.operator import Operator
from onnxsmith.core.semantics.python_errors import refusal_for
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    ConditionError,
    OnnxsmithError,
    OperatorNotInOpsetError,
    RuleError,
    TracedValueError,
    boundary,
)
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import Body, FunctionRecord, NodeRecord, ValueRecord
from onnxsmith.graphs.value import made_value
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.rules.parameters import RuleFunction, RuleParameter
from onnxsmith.passes.rules.pattern import (
    AnyTensor,
    CapturedAttribute,
    CapturedNumber,
    Either,
    Literal,
    Pattern,
    PatternNode,
    PatternValue,
    Result,
    bound_names,
    certain_nodes,
)
from onnxsmith.passes.rules.same_functions import needed_functions
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeReference, parameter_at
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.scripting.functions.calls import IN_PLACE
from onnxsmith.scripting.staging.attribute_values import attribute_value
from onnxsmith.source import span_at
from onnxsmith.types.annotations import AttributeAnnotation
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: The domain of nodes that only patterns have.
_DOMAIN = "onnxsmith.rules"
#: Nodes of one pattern: matching goes one call deeper for each that commutes.
_MOST_NODES = 200
#: Ways to choose among the alternatives that a pattern gives.
_MOST_PATTERNS = 64

#: The metadata of a recorded operator that may have more than the pattern mentions.
_INPUTS, _ATTRIBUTES = "allows inputs", "allows attributes"

_is_recording: ContextVar[bool] = ContextVar("onnxsmith_is_recording_pattern", default=False)


@boundary
def either(*alternatives: Any) -> Any:
    """In a pattern: a value that is one of several, tried in this order.

    >>> from onnxsmith import Rule, either, opset21 as op
    >>> Rule(lambda x: op.Relu(either(op.Identity(x), op.Dropout(x))), lambda x: op.Relu(x), name="relu")
    Rule('relu': Relu)
    """
    if not _is_recording.get():
        raise RuleError("either(…) stands in the pattern of a rule, and nowhere else").locate_at_caller()
    if len(alternatives) < 2:
        raise RuleError("either(…) needs two alternatives or more", help="either(a, b)").locate_at_caller()
    return Operator(registry.unchecked(_DOMAIN, "Either", 1), 1)(*alternatives)


def loosen(result: Value | Sequence[Value], *, inputs: bool, attributes: bool) -> None:
    """In a pattern: lets the operator that gave a result have more inputs, or attributes that are not mentioned."""
    first = result if isinstance(result, Value) else result[0]
    made = made_value(first).record.producer
    assert made is not None  # an operator gave it
    # A pattern never becomes a model, so its metadata is free.
    made.metadata = {name: "" for name, is_said in ((_INPUTS, inputs), (_ATTRIBUTES, attributes)) if is_said}


def record_patterns(function: RuleFunction) -> list[Pattern]:
    """The patterns of a pattern function: one, or several where it returns `either(…)` or calls scripts.

    A script is called by one node in a model that has its function, and its operators stand in others.
    """
    patterns, scripts = _recorded_patterns(function, in_place=True)
    if not scripts:
        return patterns
    try:
        calls, _ = _recorded_patterns(function, in_place=False)
    except OnnxsmithError:  # a script that is written for each type anew, and here there are none
        return patterns
    return [*calls, *patterns]


def _recorded_patterns(function: RuleFunction, *, in_place: bool) -> tuple[list[Pattern], Sequence[object]]:
    """The patterns with the operators of scripts or with calls of them, and the scripts."""
    scripts: list[object] | None = [] if in_place else None
    try:
        scope, values = recorded(function, _stand_ins(function), scripts)
    except OperatorNotInOpsetError as error:
        if not error.needs_values:
            raise
        # Before opset 15 nothing casts to a type that is not known: an element type is, then.
        scope, values = recorded(function, _stand_ins(function, DType.FLOAT), scripts)
    return _Reader(function, scope).patterns(values), scripts or ()


def _stand_ins(function: RuleFunction, dtype: DType | None = None) -> dict[str, Any]:
    """The stand-in of each parameter while a pattern is recorded, by its type; see `recorded`."""
    return {
        each.name: TensorType(dtype, each.type.shape)
        if isinstance(each.type, TensorType) and each.type.dtype is None
        else each.type
        for each in function.parameters
        if each.role != "captured"
    }


def recorded(
    function: RuleFunction, kinds: dict[str, AnyValueType], scripts: list[object] | None = None
) -> tuple[GraphTarget, list[Value]]:
    """Run a pattern, or a replacement of which only the outputs matter, on stand-ins for all its parameters.

    With a list for the `scripts` that are called, their operators go in the places of the calls.
    """
    version = function.opset_version
    opsets = OpsetVersions(version or default_opset_version(), is_named=version is not None)
    scope = GraphTarget(Program("model", opsets, {} if scripts is None else {IN_PLACE: scripts}))
    values: dict[str, Any] = {}
    rest: tuple[Any, ...] = ()
    for each in function.parameters:
        if each.role == "captured":
            values[each.name] = attribute_value(each.as_script_parameter)
        elif each.role == "rest":
            rest = (scope.input(each.name, kinds[each.name], function.span),)
        else:
            values[each.name] = scope.input(each.name, kinds[each.name], function.span)
    token, flag = ACTIVE.set(scope), _is_recording.set(True)
    try:
        try:
            result = function.call(values, rest)
        except AttributeError as error:  # onnxscript hands the opset over as the first parameter
            refused = refusal_for(error)
            if refused is None:
                raise
            if function.parameters[0].name == "op":
                refused.help = "a rule's functions take tensors alone: from onnxsmith import opset21 as op"
            raise refused from None
        return scope, [scope.lift(each) for each in returned(function, result)]
    except (ConditionError, TracedValueError) as error:
        raise RuleError(
            f"a pattern cannot have control flow or Python values that only a model knows: {error.message}",
            labels=error.labels,
            help="write one pattern for each case: Rule([first, second], replacement), or either(a, b)",
        ) from None
    finally:
        ACTIVE.reset(token)
        _is_recording.reset(flag)


def returned(function: RuleFunction, result: object) -> Sequence[Any]:
    """The results of a function as a flat sequence of tensors. Raises RuleError."""
    given = list(cast("Sequence[object]", result)) if isinstance(result, tuple | list) else [result]
    for each in given:
        if each is None or isinstance(each, str | dict | set | list | tuple):
            shown = "None" if each is None else described_type(type(cast(object, each)))
            raise RuleError(
                f"{function.name or 'the function'} returns {shown}, not a tensor",
                help="return the tensors that are the outputs: one, or a flat tuple of them",
            ).locate(function.span)
    if not given:
        raise RuleError(f"{function.name or 'the function'} returns no tensor").locate(function.span)
    return given


class _Reader:
    """Reads what was recorded as a pattern."""

    def __init__(self, function: RuleFunction, scope: GraphTarget) -> None:
        self._function = function
        self._scope = scope
        inputs = zip(
            scope.inputs, [each for each in function.parameters if each.role != "captured"], strict=True
        )
        self._values: dict[ValueRecord, PatternValue] = {record: _any(each) for record, each in inputs}
        self._nodes: dict[NodeRecord, PatternNode] = {}

    def patterns(self, values: Sequence[Value]) -> list[Pattern]:
        """The patterns, one for each choice among the alternatives that are returned."""
        for each in self._scope.program.functions.values():
            if not isinstance(each, FunctionRecord):
                raise RuleError(
                    f"the pattern calls the model '{each.name}': a pattern is made of operators",
                    help="call a script or a Python function, whose operators become part of the pattern",
                ).locate(self._function.span)
        self._check_size(
            len(self._scope.nodes) // 3
        )  # a literal may be two nodes: those are none of a pattern
        types = [each.known.type for each in values]
        options = [self._options(self._value(made_value(each).record)) for each in values]
        self._check_size(len(self._nodes))
        chosen = list(itertools.islice(itertools.product(*options), _MOST_PATTERNS + 1))
        if len(chosen) > _MOST_PATTERNS:
            raise RuleError(
                f"the alternatives of the pattern's outputs are more than {_MOST_PATTERNS} patterns"
            ).locate(self._function.span)
        return [self._pattern(each, types) for each in chosen]

    def _check_size(self, count: int) -> None:
        if count > _MOST_NODES:
            raise RuleError(
                f"the pattern has {count} operators or more, and {_MOST_NODES} is the most"
            ).locate(self._function.span)

    def _options(self, value: PatternValue) -> list[PatternValue]:
        if isinstance(value, Either):
            return [found for each in value.options for found in self._options(each)]
        return [value]

    def _pattern(self, outputs: Iterable[PatternValue], types: Sequence[AnyValueType]) -> Pattern:
        results: list[Result] = []
        for each in outputs:
            if not isinstance(each, Result):
                what = "a constant" if isinstance(each, Literal | CapturedNumber) else f"its parameter {each}"
                raise RuleError(
                    f"the pattern returns {what}: it would match everything",
                    help="return what an operator gives: op.Identity(x), x + 0.0",
                ).locate(self._function.span)
            if each in results:
                raise RuleError(
                    f"the pattern returns the result of {each} twice",
                    help="return each once; the replacement gives what stands for it",
                ).locate(self._function.span)
            results.append(each)
        order = {node: position for position, node in enumerate(self._nodes.values())}
        root = max((each.node for each in results), key=order.__getitem__)
        nodes = certain_nodes(results)
        self._check_connected(root, list(nodes))
        always = frozenset[str]().union(*(bound_names(each, always=True) for each in results))
        sometimes = frozenset[str]().union(*(bound_names(each, always=False) for each in results))
        span = self._function.span
        return Pattern(tuple(results), root, tuple(nodes), always, sometimes, tuple(types), span)

    def _check_connected(self, root: PatternNode, nodes: list[PatternNode]) -> None:
        """Refuse a pattern of parts that have nothing to do with each other: any two places would match."""
        known = set(certain_nodes([Result(root, 0)]))
        seen = {each for node in known for each in node.inputs if isinstance(each, AnyTensor)}
        waiting = [each for each in nodes if each not in known]
        while waiting:
            found = [node for node in waiting if any(is_known(each, known, seen) for each in node.inputs)]
            if not found:
                raise RuleError(
                    f"the pattern falls into parts: nothing connects {waiting[-1].op_type} with {root.op_type}",
                    help="write a rule for each part",
                ).locate(self._function.span)
            for node in found:
                known.add(node)
                seen.update(each for each in node.inputs if isinstance(each, AnyTensor))
            waiting = [each for each in waiting if each not in known]

    # -- values -----------------------------------------------------------------------------------------

    def _value(self, record: ValueRecord) -> PatternValue:
        found = self._values.get(record)
        if found is None:
            found = self._values[record] = self._read(record)
        return found

    def _read(self, record: ValueRecord) -> PatternValue:
        if record.tensor is not None:
            return Literal(record.tensor.numpy())
        made = record.producer
        assert made is not None  # an input is known already
        if made.domain == _DOMAIN:
            return Either(tuple(self._value(each) for each in made.inputs if each is not None))
        if not made.domain and made.op_type == "Constant":
            return self._constant(made)
        if not made.domain and made.op_type in ("Cast", "CastLike"):
            first = made.inputs[0]
            inner = None if first is None else self._value(first)
            if isinstance(inner, Literal):
                return Literal(inner.array, is_open=made.op_type == "CastLike")
            if isinstance(inner, CapturedNumber):
                return inner
        return Result(self._node(made), list(made.outputs).index(record))

    def _constant(self, made: NodeRecord) -> PatternValue:
        _, _, content = made.attributes[0]
        if isinstance(content, AttributeReference):
            return CapturedNumber(content.name, self._captured(content.name))
        value = content.tensor.numpy() if isinstance(content, Weight) else content
        return Literal(np.asarray(cast(Any, value)))

    def _captured(self, name: str) -> AttributeAnnotation:
        parameter = self._function.parameter(name)
        assert parameter is not None  # the reference was made of it
        assert parameter.attribute is not None
        return parameter.attribute

    def _node(self, record: NodeRecord) -> PatternNode:
        found = self._nodes.get(record)
        if found is not None:
            return found
        attributes: dict[str, Any] = {}
        for name, kind, content in record.attributes:
            if isinstance(content, Body) or (
                isinstance(content, tuple) and any(isinstance(each, Body) for each in content)
            ):
                raise RuleError(
                    f"a pattern cannot have control flow: {record.op_type} has a graph inside",
                    help="match the operators around it",
                ).locate(span_at(record.place))
            if isinstance(content, AttributeReference):
                attributes[name] = CapturedAttribute(content.name, kind, self._captured(content.name))
            else:
                attributes[name] = content
        version = self._scope.program.opsets.version(record.domain)
        definition = registry.find(record.domain, record.op_type, version)
        node = PatternNode(
            definition or registry.unchecked(record.domain, record.op_type, version),
            version,
            tuple(None if each is None else self._value(each) for each in record.inputs),
            attributes,
            len(record.outputs),
            _INPUTS in (record.metadata or ()),
            _ATTRIBUTES in (record.metadata or ()),
            self._called(record),
        )
        self._check_rest(node, record)
        self._nodes[record] = node
        return node

    def _called(self, record: NodeRecord) -> tuple[FunctionRecord, ...]:
        functions = self._scope.program.functions
        called = needed_functions([(record.domain, record.op_type, record.overload)], functions)
        return tuple([each for each in called.values() if isinstance(each, FunctionRecord)])

    def _check_rest(self, node: PatternNode, record: NodeRecord) -> None:
        rests = [
            (position, each)
            for position, each in enumerate(node.inputs)
            if isinstance(each, AnyTensor) and each.is_rest
        ]
        for position, each in rests:
            parameter = parameter_at(node.definition.inputs, position)
            if len(rests) > 1 or parameter is None or parameter.option != "variadic":
                raise RuleError(
                    f"{each} stands for any number of inputs, and {node.op_type} "
                    + ("takes it twice" if len(rests) > 1 else "takes one there"),
                    help=f"pass it once to an operator that takes many: op.Concat({each}, axis=…)",
                ).locate(span_at(record.place))


def is_known(value: PatternValue | None, nodes: set[PatternNode], seen: set[AnyTensor]) -> bool:
    """True if a value is one that is found when certain nodes and parameters are."""
    if isinstance(value, Result):
        return value.node in nodes
    return isinstance(value, AnyTensor) and not value.is_rest and value in seen


def _any(parameter: RuleParameter) -> AnyTensor:
    return AnyTensor(
        parameter.name,
        parameter.type,
        must_be_constant=parameter.role == "constant",
        is_rest=parameter.role == "rest",
    )
