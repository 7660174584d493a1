"""Probes of facts, run: what a model that was adapted to the runtime gives in a bare session."""

from __future__ import annotations

import contextlib
from types import ModuleType

import numpy as np
from onnx import parser

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import adapt
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


def wrong_probes(family: ModuleType) -> list[str]:
    """The facts of a family whose probes an adapted model still shows, or that are not met in it."""
    version = onnxruntime_api.version()
    name = family.__name__.rpartition(".")[2]
    facts = [fact for key in FACTS if key[2] == name for fact in FACTS[key]]
    assert facts
    wrong: list[str] = []
    with contextlib.closing(BareProcess()) as bare:
        for fact in facts:
            if fact.probe is None or not fact.holds_for(version) or isinstance(fact.remedy, Refusal):
                continue
            adapted = adapt(parser.parse_model(fact.probe.text), version)
            met = {rule for edit in adapted.edits for rule in edit.rule.split(", ")}
            outcome = bare.ask(adapted.model.SerializeToString(), fact.probe.inputs, timeout=30)
            is_met = fact.name in met or fact.probe.right is None
            if not is_met or not is_right(outcome, fact.probe):
                wrong.append(f"{fact.name}: {outcome}")
    return wrong
