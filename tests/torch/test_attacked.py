"""Numbers at the limits of their types, element types that ONNX Runtime has few kernels for, and wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional as F  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith.torch.weights import as_array  # noqa: E402


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def run_on_onnxruntime(function, *args, **options):
    """What a plain session of ONNX Runtime gives, and the model."""
    model = onnxsmith.torch.export(Call(function), args, **options)
    session = onnxruntime.InferenceSession(
        model.proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = {
        port.name: onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
            as_array(each), int(port.type.dtype)
        )
        for port, each in zip(model.inputs, args, strict=True)
    }
    outputs = session.run_with_ort_values(None, feeds)
    return [_numpy(each) for each in outputs], model


def _numpy(value):
    return value.numpy() if value.data_type() != "tensor(bfloat16)" else None


def assert_same(function, *args, **options):
    got, _ = run_on_onnxruntime(function, *args, **options)
    if got[0] is not None:
        np.testing.assert_array_equal(got[0], as_array(function(*args)))


# -- limits of integers --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8])
@pytest.mark.parametrize("function", [torch.floor_divide, torch.remainder, torch.fmod])
def test_integer_quotients_at_the_limits(function, dtype):
    limits = torch.iinfo(dtype)
    x = torch.tensor([limits.min, limits.max, limits.min, limits.max, limits.min + 1, 7, 6], dtype=dtype)
    y = torch.tensor([3, 5 if limits.min == 0 else -3, limits.max, limits.max, 2, 3, 3], dtype=dtype)
    assert_same(function, x, y)
    assert_same(lambda x: function(x, 7), x)


def test_relu_of_longs():
    x = torch.tensor([2**60 + 1, -(2**60) - 1, 3])
    assert_same(torch.relu, x)
    assert_same(F.relu6, x)


@pytest.mark.parametrize("options", [{}, {"dim": 1}, {"dim": (0, 2), "keepdim": True}, {"dim": 0}])
def test_sums_of_longs(options):
    x = torch.randint(-(2**62), 2**62, (3, 4, 5))
    assert_same(lambda x: x.sum(**options), x)
    model = onnxsmith.torch.export(
        Call(lambda x: x.sum(**options)), (x,), dynamic_shapes={"args": ({0: "a", 1: "b"},)}
    )
    other = torch.randint(-(2**62), 2**62, (2, 7, 5))
    np.testing.assert_array_equal(model(other.numpy()), other.sum(**options).numpy())


def test_sums_of_masks_stay_sums():
    for mask in (torch.ones(3, 4, dtype=torch.bool), torch.ones(3, 4, dtype=torch.int32)):
        for function in (lambda x: x.sum(-1), lambda x: x.long().sum(-1)):
            model = onnxsmith.torch.export(Call(function), (mask,))
            assert "MatMul" not in {node.op_type for node in model.ir.graph}


# -- element types -------------------------------------------------------------------------------------

FEW_KERNELS = {
    "hardswish": F.hardswish,
    "power of a number": lambda x: 2**x,
    "exp2": torch.exp2,
    "angle": torch.angle,
    "mish": F.mish,
    "silu": F.silu,
    "group norm": lambda x: F.group_norm(x.reshape(1, 2, 3), 2),
    "fold": lambda x: F.fold(x.reshape(1, 6, 1).expand(1, 6, 4).repeat(1, 2, 1), (3, 3), (2, 2)),
    "where of numbers": lambda x: torch.where(x > 0, 1.5, 2.5).to(x.dtype) + x,
}


@pytest.mark.parametrize("opset_version", [None, 18])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", FEW_KERNELS.values(), ids=FEW_KERNELS)
def test_onnxruntime_loads_every_float(function, dtype, opset_version):
    x = torch.linspace(-4, 4, 6).to(dtype)
    (got,), _ = run_on_onnxruntime(function, x, opset_version=opset_version)
    if got is not None:
        tolerance = 1e-6 if dtype is torch.float64 else 1e-2
        np.testing.assert_allclose(got, as_array(function(x)), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.uint8])
def test_powers_of_short_integers(dtype):
    x = torch.tensor([0, 1, 2, 3], dtype=dtype)
    assert_same(lambda x: 2**x, x)
    assert_same(torch.pow, x, x)


# -- operators -----------------------------------------------------------------------------------------


def test_products_of_bytes():
    x, y = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((32, 64), (64, 16)))
    assert_same(torch._int_mm, x, y)


@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}])
def test_lstm_with_a_projection(options):
    module = nn.LSTM(3, 4, proj_size=2, **options).eval()
    shapes = {"input": {0: "time", 1: "batch"}}
    report = onnxsmith.torch.export(
        module, (torch.randn(5, 2, 3),), dynamic_shapes=shapes, verify=True
    ).export_report
    assert {each.inputs for each in report.verification} == {"example", "time=6, batch=3"}


@pytest.mark.parametrize("opset_version", [18, 19, 22])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 3, 1), (1, 2, 0), (3, 2, 0), (3, 4, 1)])
@pytest.mark.parametrize("pool", [F.avg_pool2d, F.max_pool2d])
def test_pools_that_round_up_are_valid(pool, kernel, stride, padding, opset_version):
    def pooled(x):
        return pool(x, kernel, stride, padding, ceil_mode=True)

    for size in ((6, 7), (8, 8)):
        x = torch.randn(1, 2, *size)
        (got,), model = run_on_onnxruntime(pooled, x, opset_version=opset_version)
        model.check()
        np.testing.assert_allclose(got, pooled(x).numpy(), rtol=1e-5)
