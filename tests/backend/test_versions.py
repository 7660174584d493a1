"""Every non-deprecated version of every operator of the standard domains gives known results when called eagerly.

The inputs and data are those of ONNX's node cases, retold for the other versions of their operators, and a few by
hand. `UNRUNNABLE` are the versions that nothing installed can run.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from onnx import defs

from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import all_cases, check_equal, on_engine
from tests.backend.other_versions import retold
from tests.backend.own_cases import OWN_CASES, OwnCase, input_type, loop_1

Version = tuple[str, str, int]

UNRUNNABLE: dict[Version, str] = {
    ("", "ImageDecoder", 20): "ONNX Runtime has none, and the reference evaluator needs Pillow",
    (
        "ai.onnx.preview.training",
        "Gradient",
        1,
    ): "it names values of the graph around it, so it is no call at all",
}
RTOL, ATOL = 1e-3, 1e-7


def all_versions() -> set[Version]:
    schemas = defs.get_all_schemas_with_history()
    return {(each.domain, each.name, each.since_version) for each in schemas if not each.deprecated}


@functools.cache
def exercised_by_cases() -> Counter[Version]:
    """How many of ONNX's cases give their data, per version; those that a version means differently do not count."""
    counts: Counter[Version] = Counter()
    for case in all_cases().values():
        for call in retold(case):
            try:
                outputs = on_engine(
                    call.op,
                    call.inputs,
                    call.types,
                    call.attributes,
                    len(call.expected),
                    {},
                    {},
                    call.opset_version,
                )
                for actual, expected in zip(outputs, call.expected, strict=True):
                    if expected is not None:
                        check_equal(actual, expected, case.rtol, case.atol)
            except Exception:
                continue
            counts[call.op.domain, call.op.name, call.op.since_version] += 1
    return counts


@pytest.mark.parametrize("case", OWN_CASES, ids=lambda case: f"{case.name}-{case.versions}")
def test_own_cases(case: OwnCase) -> None:
    for since in case.versions:
        op = registry.find(case.domain, case.name, since)
        types = case.types or [input_type(each) for each in case.inputs]
        outputs = on_engine(op, case.inputs, types, case.attributes, len(case.expected), {}, {}, since)
        for actual, expected in zip(outputs, case.expected, strict=True):
            check_outcome(actual, expected)


def check_outcome(actual: Any, expected: Any) -> None:
    if isinstance(expected, tuple) and isinstance(expected[0], DType):
        assert (DType.from_numpy(actual.dtype), actual.shape) == expected
        assert actual.size == 0 or np.unique(actual).size > 1
    else:
        check_equal(actual, expected, RTOL, ATOL)


def test_loop_1() -> None:
    inputs, attributes, expected = loop_1()
    types = [input_type(each) for each in inputs]
    outputs = on_engine(registry.find("", "Loop", 1), inputs, types, attributes, 2, {}, {}, 1)
    for actual, wanted in zip(outputs, expected, strict=True):
        check_equal(actual, wanted, RTOL, ATOL)


def test_every_version_is_exercised() -> None:
    """Prints the coverage table; run with -s to see it."""
    by_hand = {(case.domain, case.name, since) for case in OWN_CASES for since in case.versions} | {
        ("", "Loop", 1)
    }
    by_cases = set(exercised_by_cases())
    table: dict[str, list[int]] = {}
    for version in all_versions():
        row = table.setdefault(version[0] or "ai.onnx", [0, 0, 0])
        row[0] += version in by_cases
        row[1] += version in by_hand - by_cases
        row[2] += 1
    print("\n| domain | by ONNX's cases | by hand | of |\n| --- | --- | --- | --- |")
    for domain, (cases, hand, total) in sorted(table.items()):
        print(f"| {domain} | {cases} | {hand} | {total} |")
    missing = all_versions() - by_cases - by_hand - set(UNRUNNABLE)
    assert not missing, sorted(missing)
