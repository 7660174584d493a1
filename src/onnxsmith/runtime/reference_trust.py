"""Where the reference evaluator is known to be right, and the warning where a run falls back to it and is not.

The table (`reference_table`) has the forms of operators that were compared with an oracle. It runs nothing, and does
not decide who runs a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx

from onnxsmith.diagnostics import clipped
from onnxsmith.errors import FallbackWarning
from onnxsmith.errors.user_warnings import tell
from onnxsmith.graphs.rewriting.rewrite import inferred_graph
from onnxsmith.graphs.rewriting.scopes import inner_graphs, opset_versions, plain_domain
from onnxsmith.graphs.rewriting.site import element_type
from onnxsmith.graphs.run_values import Run
from onnxsmith.runtime.single_node import Call, InputType
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.source import caller_span
from onnxsmith.types.dtypes import DType

#: Operators on sequences, optionals, maps and bodies, whose node cases run on it; and those whose results are drawn.
#: Element types make no difference to them.
_OF_ANY_TYPE = frozenset(
    """
    Bernoulli Constant ConstantOfShape ConcatFromSequence Dropout If ImageDecoder Loop Multinomial Optional
    OptionalGetElement OptionalHasElement RandomNormal RandomNormalLike RandomUniform RandomUniformLike Scan
    SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap
    SplitToSequence StringNormalizer DictVectorizer
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)
_MOST_NAMED = 5


def is_right(op: OperatorDef, types: Sequence[InputType]) -> bool:
    """True if the reference evaluator was found to be right on an operator of these input types.

    Unknown types are taken for ones that it is right on; an operator of a domain without a schema is somebody else's.
    """
    if not op.is_known or op.name in _OF_ANY_TYPE:
        return True
    # Here, because few programs fall back.
    from onnxsmith.runtime.reference_table import RIGHT

    known = RIGHT.get((op.domain, op.name), {}).get(op.since_version)
    if known is None:
        return False
    for position, each in enumerate(types):
        if isinstance(each, DType) and op.inputs:
            variable = op.inputs[min(position, len(op.inputs) - 1)].type_name
            if each.onnx_name not in known.get(variable, "").split():
                return False
    return True


def warned_of_call(call: Call, run: Run) -> Run:
    """The run of an eager call that falls back; its first result comes with a warning if nothing vouches for it."""
    if is_right(call.op, call.input_types):
        return run
    kinds = ", ".join(each.spelling for each in call.input_types if isinstance(each, DType))
    return _warned(run, f"{call.op.qualified_name}-{call.op.since_version} on ({kinds})", 1)


def warned_of_model(model: onnx.ModelProto, run: Run) -> Run:
    """The run of a model that falls back as a whole; the first result comes with a warning if nodes are doubtful."""
    found = list(_doubtful(model))
    if not found:
        return run
    named = ", ".join(found[:_MOST_NAMED])
    if len(found) > _MOST_NAMED:
        named += f" and {len(found) - _MOST_NAMED} more"
    return _warned(run, named, len(found))


def _warned(run: Run, what: str, count: int) -> Run:
    """A run that warns after its first result. What ends in an error misleads nobody."""
    is_told = False

    def run_and_warn(inputs: Sequence[Any]) -> list[Any]:
        nonlocal is_told
        results = run(inputs)
        if not is_told:
            _warn(what, count)
            is_told = True  # not where warnings are errors: the next call raises, too
        return results

    return run_and_warn


def _warn(what: str, count: int) -> None:
    text = (
        f"{what} run{'s' * (count == 1)} on onnx's reference evaluator, for want of a kernel of ONNX Runtime's, and it "
        "was not compared with anything there; check the result, or cast to an element type that has a kernel"
    )
    tell(text, caller_span(), FallbackWarning)


def _doubtful(model: onnx.ModelProto) -> Iterator[str]:
    functions = {(each.domain, each.name) for each in model.functions}
    versions = opset_versions(model.opset_import)
    yield from _doubtful_in(inferred_graph(model), {}, versions, functions)
    for function in model.functions:
        body = onnx.GraphProto(node=function.node)
        yield from _doubtful_in(body, {}, opset_versions(function.opset_import), functions)


def _doubtful_in(
    graph: onnx.GraphProto,
    outer: Mapping[str, onnx.TypeProto],
    versions: Mapping[str, int],
    functions: set[tuple[str, str]],
) -> Iterator[str]:
    types = dict(outer)
    types.update((each.name, each.type) for each in (*graph.input, *graph.value_info, *graph.output))
    types.update(
        (each.name, onnx.helper.make_tensor_type_proto(each.data_type, each.dims))
        for each in graph.initializer
    )
    for node in graph.node:
        domain = plain_domain(node.domain)
        op = registry.find(domain, node.op_type, versions.get(domain, 1))
        if op is not None and (node.domain, node.op_type) not in functions:
            given = [element_type(types.get(each)) if each else None for each in node.input]
            if not is_right(op, given):
                yield f"{op.qualified_name} '{clipped(node.name, 60)}'" if node.name else op.qualified_name
        for inner in inner_graphs(node):
            yield from _doubtful_in(inner, types, versions, functions)
