"""Operators are found in the version in force, made once, and their absence is explained."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import onnx.defs
import pytest

from onnxsmith.errors import OnnxsmithError, OperatorNotInOpsetError, UnknownOperatorError
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef

ML = f"opset_ai_onnx_ml{onnx.defs.onnx_ml_opset_version()}"


@pytest.fixture(autouse=True)
def _forget_registered() -> Iterator[None]:
    yield
    registry._registered.clear()
    registry._lookup_cache.clear()
    registry._unknown_cache.clear()


def custom(name: str, since: int, is_deprecated: bool = False) -> OperatorDef:
    return OperatorDef(
        "my.domain", name, since, (), (), MappingProxyType({}), 0, 0, 0, 0, is_deprecated=is_deprecated
    )


def test_the_version_in_force_is_found_for_every_operator() -> None:
    schemas = onnx.defs.get_all_schemas_with_history()
    for domain in {schema.domain for schema in schemas}:
        held = [schema for schema in schemas if schema.domain == domain]
        for version in range(1, registry.latest_version(domain) + 1):
            expected: dict[str, onnx.defs.OpSchema] = {}
            for schema in sorted(held, key=lambda each: each.since_version):
                if schema.since_version <= version:
                    expected[schema.name] = schema
            usable = {name: schema for name, schema in expected.items() if not schema.deprecated}
            assert registry.names(domain, version) == tuple(sorted(usable))
            for name, schema in expected.items():
                found = registry.find(domain, name, version)
                assert (found is None) == schema.deprecated
                assert found is None or found.since_version == schema.since_version


def test_each_definition_is_made_once() -> None:
    assert registry.find("", "Add", 14) is registry.find("", "Add", 21) is registry.find("ai.onnx", "Add", 28)
    assert registry.find("", "Add", 13) is not registry.find("", "Add", 14)


def test_threads_get_the_same_definition() -> None:
    registry._definitions.clear()
    registry._lookup_cache.clear()
    names = registry.names("", 21)
    with ThreadPoolExecutor(16) as pool:
        rounds = list(pool.map(lambda _: [registry.find("", name, 21) for name in names], range(16)))
    assert all(a is b for found in rounds for a, b in zip(rounds[0], found, strict=True))


def test_valid_range() -> None:
    def range_of(name: str, version: int) -> tuple[int, int | None]:
        return registry.valid_range(registry.lookup("", name, version))

    assert range_of("Softmax", 12) == (11, 13)
    assert range_of("Softmax", 21) == (13, None)
    assert range_of("Upsample", 9) == (9, 10)
    assert registry.valid_range(registry.lookup("nobody.knows", "Foo", 3)) == (3, 4)


def test_versions() -> None:
    assert registry.versions("", "Softmax") == (1, 11, 13)
    assert registry.versions("", "Upsample") == (1, 7, 9)
    assert registry.versions("", "GroupNormalization") == (21,)
    assert registry.versions("", "NoSuchOperator") == ()


def test_domains() -> None:
    assert {"", "ai.onnx.ml", "ai.onnx.preview.training"} <= set(registry.domains())
    assert registry.is_known_domain("")
    assert registry.is_known_domain("ai.onnx")
    assert not registry.is_known_domain("nobody.knows")
    assert registry.latest_version("ai.onnx") == onnx.defs.onnx_opset_version()
    assert registry.latest_version("ai.onnx.ml") == onnx.defs.onnx_ml_opset_version()
    assert registry.latest_version("nobody.knows") == 1


@pytest.mark.parametrize(
    ("domain", "name", "version", "error", "message", "help_text"),
    [
        ("", "Reul", 21, UnknownOperatorError, "opset 21 has no operator Reul", "did you mean 'Relu'?"),
        ("", "softmax", 21, UnknownOperatorError, "opset 21 has no operator softmax", "did you mean 'Softmax'?"),
        ("", "Qqqqq", 21, UnknownOperatorError, "opset 21 has no operator Qqqqq", None),
        (
            "", "ZipMap", 21, UnknownOperatorError,
            "opset 21 has no operator ZipMap", f"ai.onnx.ml has it: from onnxsmith import {ML}",
        ),
        (
            "", "Gelu", 13, OperatorNotInOpsetError,
            "opset 13 has no operator Gelu: it came with opset 20", "use opset 20 or later",
        ),
        (
            "ai.onnx", "Upsample", 11, OperatorNotInOpsetError,
            "opset 11 has no operator Upsample: it was removed in opset 10",
            "the last opset that has it is 9; Resize replaces it",
        ),
        (
            "", "Scatter", 16, OperatorNotInOpsetError,
            "opset 16 has no operator Scatter: it was removed in opset 11",
            "the last opset that has it is 10; ScatterElements replaces it",
        ),
        (
            "", "GroupNormalization", 19, OperatorNotInOpsetError,
            "opset 19 has no operator GroupNormalization: it came with opset 21", "use opset 21 or later",
        ),
        (
            "ai.onnx.ml", "TreeEnsembleRegressor", 5, OperatorNotInOpsetError,
            "opset 5 of ai.onnx.ml has no operator TreeEnsembleRegressor: it was removed in opset 5",
            "the last opset that has it is 4; TreeEnsemble replaces it",
        ),
    ],
)  # fmt: skip
def test_absence_is_explained(
    domain: str, name: str, version: int, error: type[OnnxsmithError], message: str, help_text: str | None
) -> None:
    assert registry.find(domain, name, version) is None
    with pytest.raises(error) as caught:
        registry.lookup(domain, name, version)
    assert (caught.value.message, caught.value.help) == (message, help_text)


def test_an_operator_of_an_unknown_domain_is_anything() -> None:
    op = registry.lookup("nobody.knows", "Foo", 3)
    assert op is registry.lookup("nobody.knows", "Foo", 3)
    assert (op.is_known, op.since_version) == (False, 3)
    assert [(each.option, each.min_arity, each.types) for each in op.inputs] == [("variadic", 0, frozenset())]


def test_onnxruntime_operators() -> None:
    pytest.importorskip("onnxruntime")
    op = registry.lookup("com.microsoft", "FastGelu", 1)
    assert op is registry.find("com.microsoft", "FastGelu", 1)
    assert "com.microsoft" in registry.domains()
    with pytest.raises(UnknownOperatorError, match="did you mean 'FastGelu'"):
        registry.lookup("com.microsoft", "FastGleu", 1)


def test_registered_operators() -> None:
    first, second, removed = custom("Mix", 1), custom("Mix", 3), custom("Mix", 5, is_deprecated=True)
    assert not registry.lookup("my.domain", "Mix", 1).is_known
    for op in (first, second, removed):
        registry.register(op)
    assert [registry.find("my.domain", "Mix", version) for version in (1, 2, 3, 4, 5)] == [
        first, first, second, second, None,
    ]  # fmt: skip
    assert registry.names("my.domain", 2) == ("Mix",)
    assert registry.versions("my.domain", "Mix") == (1, 3)
    assert registry.valid_range(second) == (3, 5)
    assert registry.is_known_domain("my.domain")
    with pytest.raises(UnknownOperatorError, match="did you mean 'Mix'"):
        registry.lookup("my.domain", "mix", 1)


def test_nothing_heavy_is_imported() -> None:
    program = (
        "import sys; from onnxsmith.schema import registry; "
        "assert not {'onnx', 'onnxruntime'} & set(sys.modules); "
        "registry.find('', 'Relu', 21); assert 'onnxruntime' not in sys.modules; "
        "assert registry._onnx_index.cache_info().currsize == 0 and len(registry._definitions) == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
