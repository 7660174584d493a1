"""The opsets of two models that become one: a model has one version of each domain."""

from __future__ import annotations

from collections.abc import Collection

from onnxsmith.errors import OnnxsmithError, OpsetConflictError
from onnxsmith.graphs.graph_inference import Uses, infer_model
from onnxsmith.graphs.opsets import ModelOperators
from onnxsmith.passes.surgery.dimensions import dimension_texts
from onnxsmith.passes.surgery.holding import Held, required_inputs
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.same_meaning import Use


def joint_imports(first: Held, second: Held) -> dict[str, int]:
    """The versions that both models can stand in; raises OpsetConflictError with the operators where there is none."""
    ours, theirs = first.ir.opset_imports, second.ir.opset_imports
    result = dict(ours)
    operators: list[ModelOperators] | None = None
    for domain, version in theirs.items():
        if result.setdefault(domain, version) == version:
            continue
        if operators is None:
            operators = [_operators(first, "first"), _operators(second, "second")]
        result[domain] = _version(domain, ours[domain], version, operators, (first, second))
    return result


def _version(
    domain: str, ours: int, theirs: int, operators: list[ModelOperators], models: tuple[Held, Held]
) -> int:
    called = domain or "ai.onnx"
    reasons: list[str] = []
    for version, moved in ((ours, 1), (theirs, 0)):  # the model that is not of this version
        misfits = [*operators[moved].misfits(domain, version), *_foreign(models[moved], domain)]
        if not misfits:
            return version
        reasons.append(f"in version {version} the {operators[moved].name} model's {', '.join(misfits)}")
    raise OpsetConflictError(
        f"the first model imports {called} {ours}, and the second {called} {theirs}",
        help="a model has one version of a domain: " + "; ".join(reasons),
    )


def _foreign(held: Held, domain: str) -> list[str]:
    """Operators of a domain that nobody has a definition of: what they mean in another version is not known."""
    parts = [held.graph, *(each.graph for each in held.ir.functions.values())]
    nodes = (node for part in parts for node in part.all_nodes() if node.domain == domain)
    return sorted(
        {
            f"{domain}.{node.op_type} (nobody knows its versions)"
            for node in nodes
            if node.op_identifier() not in held.ir.functions
            and registry.find(domain, node.op_type, held.ir.opset_imports.get(domain, 1)) is None
        }
    )


def _operators(held: Held, called: str) -> ModelOperators:
    """The operators of a model and its functions, with how it uses them."""
    uses = _uses(held)
    used: dict[OperatorDef, Collection[Use]] = {}
    parts = [(held.graph, held.ir.opset_imports)]
    parts += [(each.graph, each.opset_imports) for each in held.ir.functions.values()]
    for graph, imports in parts:
        for domain, name in dict.fromkeys((node.domain, node.op_type) for node in graph.all_nodes()):
            version = imports.get(domain)
            definition = None if version is None else registry.find(domain, name, version)
            if definition is not None:
                used[definition] = uses.get(definition, ())
    return ModelOperators(called, held.ir.opset_imports, used)


def _uses(held: Held) -> Uses:
    inputs = [Known(held.type_of(each)) for each in required_inputs(held.graph)]
    names = {name: name for name in dimension_texts(held)}
    try:
        return infer_model(held.ir, inputs, names, [])[1]
    except OnnxsmithError:  # what cannot work is the model's own mistake
        return {}
