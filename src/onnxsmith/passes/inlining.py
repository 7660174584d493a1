"""Calls of functions replaced by the nodes of their bodies, as far as that makes no monster of a small model."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.graphs.rewriting.unfolded_models import nodes_without_functions
from onnxsmith.passes.copying import copied_in
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.worklist import NamedRule, Worklist

#: Nodes that inlining may make of any model; of a large one, so many times its nodes.
_MOST_NODES = 200_000
_MOST_GROWTH = 20


def inline_functions(edit: Editor) -> bool:
    """Dissolve the functions of a model; whether all calls in its graph are gone.

    Functions that call functions twice can unfold without end: a model that would grow beyond measure is left as it is.
    A function that imports another version of an opset stays, too.
    """
    functions = edit.model.functions
    if not functions:
        return True
    now = sum(1 for _ in edit.nodes())
    unfolded = nodes_without_functions(edit.model, max(_MOST_NODES, _MOST_GROWTH * now))
    if unfolded is None:
        return False
    own = edit.model.opset_imports
    rules: dict[tuple[str, str], list[NamedRule]] = {}
    for function in functions.values():
        rules.setdefault((function.domain, function.name), [NamedRule("inlined function", inlined_call)])
        if all(own.get(domain, version) == version for domain, version in function.opset_imports.items()):
            for domain, version in function.opset_imports.items():
                own.setdefault(domain, version)
    Worklist(edit, rules).run(edit.model.graph.all_nodes())
    return not any(node.op_identifier() in functions for node in edit.model.graph.all_nodes())


def inlined_call(at: Attempt) -> Outcome:
    """A call of a function: its body."""
    function = at.edit.model.functions.get(at.node.op_identifier())
    if function is None or len(at.node.inputs) > len(function.inputs):
        return None
    imports = at.edit.model.opset_imports
    if any(imports.get(domain) != version for domain, version in function.opset_imports.items()):
        return None
    given = dict[ir.Value, ir.Value | None](dict.fromkeys(function.inputs))
    given.update(zip(function.inputs, at.node.inputs, strict=False))
    attributes = {name: each for name, each in function.attributes.items() if each.value is not None}
    attributes.update(at.node.attributes)
    results = copied_in(at, function.graph, given, attributes)
    if results is None:
        return None
    return results[: len(at.node.outputs)]
