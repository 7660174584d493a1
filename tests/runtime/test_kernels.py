"""What is known of ONNX Runtime's kernels: by the table, or by the installed version itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from onnxsmith.runtime import kernels, onnxruntime_api
from onnxsmith.runtime.kernel_table import KERNELS
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    kernels.table.cache_clear()
    yield
    kernels.table.cache_clear()


def test_what_is_known_is_what_the_installed_runtime_says() -> None:
    told = kernels.collected(onnxruntime_api.compiled().get_all_opkernel_def())
    assert len(told) > 100
    assert {name: kernels.table()[name] for name in told} == told


def test_another_version_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Kernel:
        op_name, domain, provider = "Abs", "", "CPUExecutionProvider"
        version_range = (13, 2**31 - 1)
        type_constraints = {"T": ["tensor(float)"]}  # noqa: RUF012  # stands for an object of ONNX Runtime

    class Compiled:
        get_all_opkernel_def = staticmethod(lambda: [Kernel()])

    monkeypatch.setattr(onnxruntime_api, "version", lambda: (99, 0))
    monkeypatch.setattr(onnxruntime_api, "compiled", lambda: Compiled)
    assert kernels.table()["Abs"] == ((13, 2**31 - 1, {"T": "float"}),)
    assert not kernels.has_kernel(find("Abs", 21), {"T": DType.INT8})
    assert kernels.table()["Mish"] == KERNELS["Mish"]  # a function, of which it tells nothing


def test_where_none_is_installed_the_table_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime_api, "is_available", lambda: False)
    assert kernels.table() is KERNELS


@pytest.mark.parametrize(
    ("operator", "version", "types", "has"),
    [
        ("Abs", 21, {"T": DType.FLOAT}, True),
        ("Abs", 21, {"T": DType.BFLOAT16}, False),
        ("Abs", 21, {"T": DType.FLOAT16}, True),  # ONNX Runtime casts to float32 itself
        ("Where", 21, {"B": DType.BOOL, "T": DType.INT16}, False),
        ("OneHot", 21, {"T1": DType.INT64, "T2": DType.INT64, "T3": DType.INT64}, True),
        (
            "OneHot",
            21,
            {"T1": DType.INT32, "T2": DType.INT64, "T3": DType.INT64},
            False,
        ),  # no kernel has all three
        ("ConcatFromSequence", 21, {"S": DType.BFLOAT16}, True),  # nothing is known of it
    ],
)
def test_one_kernel_takes_all_types(operator: str, version: int, types: dict[str, DType], has: bool) -> None:
    assert kernels.has_kernel(find(operator, version), types) is has
