"""Probes of facts, run: what a model that was adapted to the runtime gives in a bare session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import Refused, adapt
from onnxsmith.runtime.facts.fact import FACTS, Fact, Probe, Refusal
from tests.laws.bare_session import BareOutcome, BareProcess

#: float32 is exact to about this part of the largest number.
TOLERANCE = 1e-5


def probe_of(fact: Fact) -> Probe:
    assert fact.probe is not None
    return fact.probe


def is_right(outcome: BareOutcome, probe: Probe) -> bool:
    if probe.right is None:
        return outcome.kind == "error"
    if outcome.kind != "results":
        return False
    results = list(outcome.results.values())
    return all(is_near(given, right) for given, right in zip(results, probe.right, strict=True))


def is_near(given: np.ndarray, right: np.ndarray) -> bool:
    if given.shape != right.shape:
        return False
    if right.dtype.kind in "iubO":
        return np.array_equal(given, right)
    most = np.abs(right[np.isfinite(right)]).max(initial=0)
    return np.allclose(given, right, rtol=TOLERANCE, atol=TOLERANCE * most)


def with_constants(model: onnx.ModelProto, probe: Probe, node: str | None) -> onnx.ModelProto:
    """The same model with its inputs as initializers, each behind a node that hands it on, or as they are."""
    graph = model.graph
    nodes = list(graph.node)
    del graph.node[:], graph.input[:]
    for name, array in probe.inputs.items():
        held = name if node is None else f"{name}_held"
        graph.initializer.append(numpy_helper.from_array(array, held))
        if node is not None:
            graph.node.append(helper.make_node(node, [held], [name]))
    graph.node.extend(nodes)
    return model


def as_function(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with its nodes in a function."""
    graph = model.graph
    inputs, outputs = [each.name for each in graph.input], [each.name for each in graph.output]
    function = helper.make_function(
        "own", "Body", inputs, outputs, list(graph.node), list(model.opset_import)
    )
    call = helper.make_node("Body", inputs, outputs, domain="own")
    outer = helper.make_graph([call], "outer", list(graph.input), list(graph.output))
    imports = [*model.opset_import, helper.make_opsetid("own", 1)]
    return helper.make_model(outer, functions=[function], opset_imports=imports, ir_version=model.ir_version)


def without_ranks(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with inputs and outputs of unknown rank."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for port in (*made.graph.input, *made.graph.output):
        port.type.tensor_type.ClearField("shape")
    return made


def _forms(probe: Probe) -> Iterator[tuple[str, onnx.ModelProto, dict[str, np.ndarray]]]:
    """The model of a probe as it may come: plain, in a function, on constants, and on inputs of unknown rank."""
    inputs = dict(probe.inputs)
    yield "plain", parser.parse_model(probe.text), inputs
    yield "function", as_function(parser.parse_model(probe.text)), inputs
    yield "constants", with_constants(parser.parse_model(probe.text), probe, None), {}
    yield "handed on", with_constants(parser.parse_model(probe.text), probe, "Identity"), {}
    yield "without ranks", without_ranks(parser.parse_model(probe.text)), inputs


def wrong_probes(family: ModuleType) -> list[str]:
    """The facts of a family whose probes an adapted model still shows in some form, or that are not met in it.

    What is refused is refused in the plain form.
    """
    version = onnxruntime_api.version()
    name = family.__name__.rpartition(".")[2]
    facts = [fact for key in FACTS if key[2] == name for fact in FACTS[key]]
    assert facts
    wrong: list[str] = []
    with contextlib.closing(BareProcess()) as bare:
        for fact in facts:
            if fact.probe is None or not fact.holds_for(version):
                continue
            for form, model, inputs in _forms(fact.probe):
                try:
                    adapted = adapt(model, version)
                except Refused as error:
                    if form == "plain" and not isinstance(fact.remedy, Refusal):
                        wrong.append(f"{fact.name}: {error}")
                    continue
                met = {rule for edit in adapted.edits for rule in edit.rule.split(", ")}
                outcome = bare.ask(adapted.model.SerializeToString(), inputs, timeout=30)
                is_met = form != "plain" or fact.name in met or fact.probe.right is None
                if not is_met or not is_right(outcome, fact.probe):
                    wrong.append(f"{fact.name}, {form}: {outcome}")
    return wrong
