"""Every operator of every opset decorates in a one-line script."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import pytest

import onnxsmith
from onnxsmith.schema import registry
from onnxsmith.schema.bind import python_name
from onnxsmith.schema.definition import Attribute, AttributeType, OperatorDef

_numbers = itertools.count()
_VALUES = {
    AttributeType.INT: "1",
    AttributeType.FLOAT: "1.0",
    AttributeType.STRING: '"text"',
    AttributeType.INTS: "[1]",
    AttributeType.FLOATS: "[1.0]",
    AttributeType.STRINGS: '["text"]',
    AttributeType.TENSOR: "np.zeros(1, np.float32)",
    AttributeType.TYPE_PROTO: "FLOAT[...]",
    AttributeType.GRAPH: "lambda *args: args or x0",
}
#: Needs values of its attributes or a body that no general program has; these have programs of their own.
_SPECIAL = {
    "Constant",
    "Einsum",
    "If",
    "Loop",
    "Scan",
    "SequenceMap",
    "Split",
    "Gradient",
    "Adagrad",
    "Adam",
    "Momentum",
}
_DOMAINS = {"": "opset", "ai.onnx.ml": "opset_ai_onnx_ml"}


def operators(domain: str) -> list[tuple[str, int]]:
    """Each definition once, under the last version of its domain that has it."""
    newest = registry.latest_version(domain)
    found: dict[OperatorDef, int] = {}
    for version in range(1, newest + 1):
        for name in registry.names(domain, version):
            found[registry.lookup(domain, name, version)] = version
    return [(op.name, version) for op, version in found.items() if op.name not in _SPECIAL]


def value(attribute: Attribute) -> str:
    if attribute.choices:
        return repr(attribute.choices[0])
    return "1" if attribute.names_dtype else _VALUES[attribute.type]


def one_line_script(module: str, op: OperatorDef) -> Any:
    required = [each for each in op.inputs if each.option == "single"] or list(op.inputs[:1])
    names = [f"x{k}" for k in range(max(len(required), op.min_inputs))]
    attributes = [
        f"{python_name(each.name)}={value(each)}" for each in op.attributes.values() if each.is_required
    ]
    call = f"op.{op.name}({', '.join([*names, *attributes])})"
    text = (
        f"import numpy as np\nfrom onnxsmith import FLOAT, script, {module} as op\n\n@script\n"
        f"def function({', '.join(names)}):\n    return {call}\n"
    )
    file = f"<one line {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "one_line"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["function"]


CASES = [(domain, name, version) for domain in _DOMAINS for name, version in operators(domain)]


@pytest.mark.parametrize("chunk", range(8))
def test_every_operator_decorates(chunk: int) -> None:
    failures: list[str] = []
    cases = CASES[chunk::8]
    assert len(cases) > 50
    for domain, name, version in cases:
        module = f"{_DOMAINS[domain]}{version}"
        try:
            made = one_line_script(module, registry.lookup(domain, name, version))
            assert name in [node.op_type for node in made.to_function_proto().node]
        except onnxsmith.errors.OnnxsmithError as error:
            failures.append(f"{module}.{name}: {error}")
    assert not failures, "\n\n".join(failures)
