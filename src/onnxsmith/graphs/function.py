"""ONNX functions in a graph: calling one, and carrying along all it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from onnxsmith.errors import FunctionError
from onnxsmith.graphs.attributes import typed_attribute
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.origins import origin_metadata
from onnxsmith.graphs.value import wrap
from onnxsmith.schema.definition import AttributeType
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import caller_span

#: The version under which a function's domain is imported.
FUNCTION_DOMAIN_VERSION = 1


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """A finished ONNX function with the functions that it calls."""

    function: ir.Function
    called: Mapping[ir.OperatorIdentifier, ir.Function]
    #: What it and the functions that it calls use.
    opsets: OpsetVersions


def call_function(
    scope: GraphTarget,
    body: FunctionBody,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    outputs: Sequence[Known],
) -> tuple[Any, ...]:
    """A node that calls a function, which the program then holds."""
    function = body.function
    # A function stands behind those that it calls: the reference evaluator reads a model from top to bottom.
    for identifier, each in (*body.called.items(), (function.identifier(), function)):
        held = scope.program.functions.setdefault(identifier, each)
        if held is not each:
            raise FunctionError(
                f"two different functions are called {identifier[1]!r} in domain {identifier[0]!r}",
                help="give one of them another name, domain or overload",
            )
    if not scope.program.is_exact:
        scope.program.opsets.include(body.opsets)
    scope.program.opsets.use_domain(function.domain, FUNCTION_DOMAIN_VERSION)
    span = caller_span()
    wish = snake_case(function.name)
    results = [scope.new_value(wish, known) for known in outputs]
    given = [None if each is None else scope.own(each) for each in inputs]
    while given and given[-1] is None:  # ONNX leaves out what is not given at the end
        given.pop()
    node = ir.Node(
        function.domain,
        function.name,
        given,
        [
            typed_attribute(AttributeType(int(function.attributes[name].type)), name, value)
            for name, value in attributes.items()
        ],
        overload=function.overload,
        outputs=results,
        name=scope.program.node_names.unique(wish),
        metadata_props=origin_metadata(span),
    )
    scope.append(node)
    return tuple(wrap(value, known, scope, span) for value, known in zip(results, outputs, strict=True))
