"""`model.extract(inputs, outputs)`: the part of a model between some of its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.errors import AnnotationError, CutError
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.rewriting.scopes import described_node, required_inputs
from onnxsmith.passes.surgery.declared_types import DeclaredTypes
from onnxsmith.passes.surgery.dependencies import Needed, made_from, needed_for
from onnxsmith.passes.surgery.holding import ModelContent, finished, read, values_by_name
from onnxsmith.passes.surgery.naming import find_value, names_of
from onnxsmith.passes.surgery.part import part_of
from onnxsmith.schema.inference.broadcasting import contradict, is_nothing
from onnxsmith.types.value_types import AnyValueType, TensorType, ValueType


@model_boundary
def extract(
    model: ModelLike,
    inputs: str | Sequence[str] | Mapping[str, AnyValueType] | None = None,
    outputs: str | Sequence[str] | None = None,
) -> Model:
    """The part of the model that computes `outputs` from `inputs`, as a model; the weights are shared.

    Both are names of values of the model; a weight that is named becomes an input. Without `inputs` they are those of
    the model that the outputs need, without `outputs` those of the model. An input whose type the model does not tell
    is given with it: `inputs={"h": FLOAT["N", 8]}`.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a) * b, FLOAT["N"], FLOAT["N"])
    >>> model.extract(outputs="relu")
    Model(a: FLOAT['N']) -> relu: FLOAT['N'], 1 node, opset 21
    >>> model.extract(["relu", "b"], ["mul"])
    Model(relu: FLOAT['N'], b: FLOAT['N']) -> mul: FLOAT['N'], 1 node, opset 21
    """
    model = model_of(model, "extract")
    held = read(model)
    graph = held.graph
    known = values_by_name(graph)
    results = list(graph.outputs) if outputs is None else _values(graph, known, outputs, "outputs")
    given = None if inputs is None else _values(graph, known, inputs, "inputs")
    if not results:
        raise CutError("a part of a model has at least one output", culprit="outputs")
    needed = needed_for(results, set(given or ()))
    if given is None:
        given = [each for each in required_inputs(graph) if each in needed.ends]
    else:
        _check(graph, given, results, needed)
    types = port_types(held, given, results, inputs if isinstance(inputs, Mapping) else {})
    return finished(part_of(held, given, results, needed.nodes, types))


def _values(
    graph: ir.Graph, known: Mapping[str, ir.Value], names: str | Iterable[str], argument: str
) -> list[ir.Value]:
    found = [find_value(graph, known, name, argument) for name in names_of(names, argument)]
    for position, value in enumerate(found):
        if value in found[:position]:
            raise CutError(f"'{value.name}' is named twice in {argument}", culprit=argument)
    return found


def _check(graph: ir.Graph, inputs: list[ir.Value], outputs: list[ir.Value], needed: Needed) -> None:
    """Refuse a cut that leaves an input open, inputs that nothing needs, and outputs that need none."""
    named = ", ".join(repr(each.name) for each in outputs)
    given = set(inputs)
    is_held = set(graph.initializers.values())
    opened = [
        (value, reader)
        for value, reader in needed.ends.items()
        if value not in given and value not in is_held
    ]
    if opened:
        because = [
            f"'{value.name}' is read by {described_node(reader)}"
            if reader is not None
            else f"'{value.name}' is an output"
            for value, reader in opened
        ]
        missing = [each.name or "" for each, _ in opened]
        raise CutError(
            f"the part would have open inputs: {', '.join(because)}",
            help=f"add {', '.join(repr(each) for each in missing)} to inputs, or what is made of it on the way",
            culprit="inputs",
        )
    idle = [each.name for each in inputs if each not in needed.ends]
    if idle:
        others = " once the other inputs are given" if len(idle) < len(inputs) else ""
        raise CutError(
            f"no output depends on {', '.join(repr(each) for each in idle)}{others} (outputs: {named})",
            help="leave it out of inputs",
            culprit="inputs",
        )
    made = made_from(graph, given, needed.nodes)
    for value in outputs if inputs else ():
        if value not in made:
            raise CutError(
                f"output '{value.name}' depends on none of the inputs: it is made of weights alone",
                help="leave it out of outputs, or extract it alone, without inputs",
                culprit="outputs",
            )


def port_types(
    held: ModelContent,
    inputs: Iterable[ir.Value],
    outputs: Iterable[ir.Value],
    given: Mapping[str, AnyValueType],
    remedy: str = "say it: inputs={{{name!r}: FLOAT[...]}}",
) -> dict[ir.Value, AnyValueType]:
    """The types of values that become inputs and outputs, where they do not declare them.

    What is an input or output already stays as it is declared. Raises CutError for an input whose
    type nobody knows: no runtime takes one.
    """
    declared = DeclaredTypes(held)
    types: dict[ir.Value, AnyValueType] = {}
    own = {*held.graph.inputs}
    for value in (each for each in inputs if each not in own or each.name in given):
        kind, said = declared.of(value), given.get(value.name or "")
        if said is not None:
            if not isinstance(said, ValueType):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
                raise AnnotationError(
                    f"the type of '{value.name}' is {said!r}, and types are FLOAT[...] and the like",
                    culprit="inputs",
                )
            if contradict(kind, said):
                raise CutError(
                    f"input '{value.name}' is {kind.described} in the model, and {said.described} in inputs",
                    culprit="inputs",
                )
            kind = said
        if isinstance(kind, TensorType) and kind.dtype is None:
            raise CutError(
                f"the type of '{value.name}', which would be an input, is not known",
                help=remedy.format(name=value.name),
                culprit="inputs",
            )
        types[value] = kind
    own = {*held.graph.outputs}
    for value in (each for each in outputs if each not in own and each not in types):
        kind = declared.of(value)
        if not is_nothing(kind):
            types[value] = kind
    return {value: kind for value, kind in types.items() if kind != held.type_of(value)}
