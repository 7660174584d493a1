"""`onnxsmith ops`: what it says agrees with ONNX's own schemas."""

from __future__ import annotations

import onnx
import pytest

from onnxsmith.schema.registry import default_opset_version
from tests.cli.conftest import Run


def test_all_operators_of_a_version_are_listed(run: Run) -> None:
    seen = run("ops", "--domain", "ai.onnx", "--opset", "13", "--json")
    schemas = [each for each in onnx.defs.get_all_schemas_with_history() if each.domain == ""]
    newest = {
        each.name: each
        for each in sorted(schemas, key=lambda it: it.since_version)
        if each.since_version <= 13
    }
    expected = [name for name, each in sorted(newest.items()) if not each.deprecated]
    assert [each["name"] for each in seen.json] == expected


@pytest.mark.parametrize("name", ["Conv", "LayerNormalization", "Concat", "If", "Upsample"])
def test_an_operator_has_what_its_schema_has(run: Run, name: str) -> None:
    version = 9 if name == "Upsample" else default_opset_version()
    (entry,) = run("ops", name, "--domain", "ai.onnx", "--opset", str(version), "--json").json
    schema = onnx.defs.get_schema(name, version)
    assert (entry["since"], entry["domain"]) == (schema.since_version, "ai.onnx")
    assert [each["name"] for each in entry["inputs"]] == [each.name for each in schema.inputs]
    assert [set(each["types"]) for each in entry["outputs"]] == [set(each.types) for each in schema.outputs]
    assert {each["name"] for each in entry["attributes"]} == set(schema.attributes)
    text = run("ops", name, "--opset", str(version)).out
    assert all(each.name in text for each in (*schema.inputs, *schema.outputs))
    assert all(each in text for each in schema.attributes)


def test_patterns_and_case(run: Run) -> None:
    names = [each["name"] for each in run("ops", "reduce*", "gemm", "--domain", "ai.onnx", "--json").json]
    assert {"ReduceSum", "ReduceMax", "Gemm"} <= set(names)
    assert len(run("ops", "Gelu", "--json").json) > 1  # ONNX Runtime has one, too


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Konv"], "did you mean 'Conv'"),
        (["Upsample", "--domain", "ai.onnx"], "it is there in version 9"),
        (["zzz*"], "there is no operator 'zzz*'"),
        (["--domain", "ai.onnx.m"], "did you mean 'ai.onnx.ml'"),
        (["--opset", "999"], "the newest version of ai.onnx"),
    ],
)
def test_what_is_not_there(run: Run, words: list[str], message: str) -> None:
    seen = run("ops", *words)
    assert seen.status == 2
    assert message in seen.err
