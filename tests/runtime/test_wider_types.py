"""The types that are computed in: ones that run, that the operator allows, and that give the same."""

from __future__ import annotations

import onnx
import pytest

from onnxsmith.runtime.kernels import has_kernel
from onnxsmith.runtime.wider_types import LEFT_ALONE, allowed_types, cost, is_exact, wider_types
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find

B16, F16, F32, F64 = DType.BFLOAT16, DType.FLOAT16, DType.FLOAT, DType.DOUBLE
I16, I32, I64, U64 = DType.INT16, DType.INT32, DType.INT64, DType.UINT64


@pytest.mark.parametrize(
    ("operator", "given", "exactly", "anyhow"),
    [
        ("Add", {"T": F32}, None, None),
        ("Add", {"T": B16}, {"T": F32}, {"T": F32}),
        ("Add", {"T": F16}, None, None),
        ("MeanVarianceNormalization", {"T": F16}, {"T": F32}, {"T": F32}),  # its function is of float32
        ("Max", {"T": I16}, {"T": I32}, {"T": I32}),
        ("Where", {"B": DType.BOOL, "T": U64}, {"T": I64}, {"T": I64}),  # the same bits
        ("ReduceMax", {"T": U64}, {"T": I64}, {"T": I64}),  # moved down, which keeps the order
        ("ReduceMean", {"T": U64}, None, {"T": I64}),
        ("Acos", {"T": F64}, None, {"T": F32}),
        ("Relu", {"T": I64}, None, {"T": F64}),
        ("DepthToSpace", {"T": I32}, {"T": F64}, {"T": F64}),
        ("Gemm", {"T": I32}, None, {"T": F64}),  # sums of products go past 2**53
        ("OneHot", {"T1": I32, "T2": I64, "T3": I64}, {"T1": I64}, {"T1": I64}),
        ("Add", {"T": DType.STRING}, None, None),
    ],
)
def test_choices(
    operator: str,
    given: dict[str, DType],
    exactly: dict[str, DType] | None,
    anyhow: dict[str, DType] | None,
) -> None:
    op = find(operator, 21)
    assert wider_types(op, given, lossy=False) == exactly
    assert wider_types(op, given, lossy=True) == anyhow


def test_a_scatter_that_computes_is_done_in_float32() -> None:
    op = find("ScatterElements", 21)
    given = {"T": F16, "Tind": I64}
    assert wider_types(op, given, lossy=False) is None
    assert wider_types(op, given, lossy=False, reduction="add") == {"T": F32}


def test_what_a_definition_refuses_is_no_matter_of_kernels() -> None:
    assert allowed_types(find("Sin", 21), {"T": B16}) == {"T": F32}
    assert allowed_types(find("Abs", 21), {"T": B16}) is None  # which has no kernel, but is allowed


@pytest.mark.parametrize("lossy", [False, True])
@pytest.mark.parametrize("version", [13, 18, 21, 24])
def test_what_is_chosen_runs(version: int, lossy: bool) -> None:
    """The law, for every operator and element type: a kernel takes what is chosen, which is exact unless asked."""
    count = 0
    for name in sorted({each.name for each in onnx.defs.get_all_schemas() if not each.domain} - LEFT_ALONE):
        op = registry.find("", name, version)
        if op is None or not op.inputs:
            continue
        variable, types = op.inputs[0].type_name, op.inputs[0].types
        for dtype in DType:
            if f"tensor({dtype.onnx_name})" not in types:
                continue
            given = {variable: dtype}
            wide = wider_types(op, given, lossy=lossy)
            if wide is None:
                continue
            count += 1
            assert not has_kernel(op, given), name
            assert has_kernel(op, wide), name
            assert f"tensor({wide[variable].onnx_name})" in types
            assert lossy or is_exact(name, dtype, wide[variable]), name
    assert count > 30


def test_what_it_costs_is_said() -> None:
    assert cost("Max", I16, I32) == ""
    assert cost("Gemm", I64, F64) == "exact up to 2**53"
    assert cost("ReduceMax", U64, I64) == ""
    assert cost("ReduceMean", U64, I64) == "exact up to 2**63"
    assert cost("Acos", F64, F32) == "which is less precise"
