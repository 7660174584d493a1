"""Numbers at the limits of their types, element types that ONNX Runtime has few kernels for, and wrong arguments."""

from __future__ import annotations

import importlib
import warnings

import ml_dtypes
import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional as F  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith.errors import (  # noqa: E402
    ExportError,
    TranslationError,
    UntranslatedOperatorError,
    VerificationError,
)
from onnxsmith.torch.weights import as_array  # noqa: E402
from tests.torch.agreement import check  # noqa: E402


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


def test_sums_of_ints_wrap_around():
    x = torch.tensor([2**31 - 1, 2**31 - 1, 7], dtype=torch.int32)
    assert_same(lambda x: x.sum(dtype=torch.int32), x)


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


@pytest.mark.filterwarnings("ignore:The tensor attributes")  # of nn.LSTM's own
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}])
def test_lstm_with_a_projection(options):
    module = nn.LSTM(3, 4, proj_size=2, **options).eval()
    shapes = {"input": {0: "time", 1: "batch"}}
    report = onnxsmith.torch.export(
        module, (torch.randn(5, 2, 3),), dynamic_shapes=shapes, verify=True
    ).export_report
    assert len({each.inputs for each in report.verification}) == 4


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


# -- verification --------------------------------------------------------------------------------------


def test_verification_is_on_onnxruntime_as_it_is():
    """An operator that only the reference evaluator has a kernel for is not verified by it."""
    from onnxsmith import opset21 as op

    translations = {torch.ops.aten.relu.default: lambda x: op.BitShift(x, x, direction="LEFT")}
    x = torch.ones(3, dtype=torch.uint16)
    with pytest.raises(VerificationError, match=r"ONNX Runtime does not load the model: .*BitShift"):
        onnxsmith.torch.export(
            Call(torch.relu), (x,), translations=translations, opset_version=21, verify=True
        )


def test_dimensions_of_one_name_have_one_size():
    module = Call(lambda x, y: (x + 1, y * 2))
    shapes = {"args": ({0: "n"}, {0: "n"})}
    with pytest.raises(ExportError, match=r"'n' is 3 as dimension 0 of input 'args_0' and 5 as .* 'args_1'"):
        onnxsmith.torch.export(module, (torch.ones(3), torch.ones(5)), dynamic_shapes=shapes)
    report = onnxsmith.torch.export(
        module, (torch.ones(3), torch.ones(3)), dynamic_shapes=shapes, verify=True
    ).export_report
    assert {each.inputs for each in report.verification} == {"example", "n=4", "n=1", "n=15"}


# -- what is given -------------------------------------------------------------------------------------


class Pair(nn.Module):
    def forward(self, x, y):
        return x + 1, y + 2


ONES = torch.ones(3, 4)
ADD = torch.ops.aten.add.Tensor
WRONG = {
    "axis": (
        {"dynamic_shapes": {"x": {5: "n"}, "y": None}},
        ExportError,
        "axis 5 for input 'x', which has 2 dimensions",
    ),
    "negative axis": ({"dynamic_shapes": {"x": {-3: "n"}}}, ExportError, "axis -3 for input 'x'"),
    "count of axes": ({"dynamic_shapes": {"x": ("n",)}}, ExportError, "1 dimensions for input 'x'"),
    "no input": ({"dynamic_shapes": {"z": {0: "n"}}}, ExportError, "'z', which is no argument"),
    "string": ({"dynamic_shapes": "batch"}, ExportError, "of which input and axis"),
    "string for an input": ({"dynamic_shapes": {"x": "batch"}}, ExportError, "not of which axis"),
    "a range without the example": (
        {"dynamic_shapes": {"x": {0: torch.export.Dim("n", min=4)}}},
        ExportError,
        "dimension 0 of input 'x' is 3 in the example, and n is 4 or more",
    ),
    "numpy": ({"args": (ONES.numpy(), ONES)}, ExportError, "argument 'x' is a numpy ndarray"),
    "sparse": (
        {"args": (ONES, ONES.to_sparse())},
        ExportError,
        "argument 'y' is a tensor of layout sparse_coo",
    ),
    "opset in quotes": ({"opset_version": "18"}, ExportError, "opset_version='18' is not a whole number"),
    "another structure": (
        {"args": ([ONES], ONES), "dynamic_shapes": {"x": {"a": {0: "n"}}}},
        ExportError,
        "dynamic_shapes is not built like the arguments",
    ),
    "list": ({"args": [ONES, ONES]}, ExportError, "args is a tuple"),
    "dict": ({"args": {"x": ONES}}, ExportError, "args is a tuple"),
    "missing": ({"args": (ONES,)}, ExportError, "missing a required argument: 'y'"),
    "input names": ({"input_names": ["a", "a"]}, ExportError, "input_names has 'a' twice"),
    "output names": ({"output_names": ["a", "a"]}, ExportError, "output_names has 'a' twice"),
    "output like input": ({"output_names": ["x", "b"]}, ExportError, "'x', which is the name of an input"),
    "verify": ({"verify": "yes"}, ExportError, "verify='yes'"),
    "too many values": (
        {"translations": {ADD: lambda x, y: (x, y)}},
        TranslationError,
        "aten.add.Tensor gives 2 values where torch has 1 value",
    ),
    "no value": ({"translations": {ADD: lambda x, y: None}}, TranslationError, "gives no values"),
    "parameters": (
        {"translations": {ADD: lambda x: x}},
        TranslationError,
        "aten.add.Tensor does not take what torch gives it",
    ),
}


@pytest.mark.parametrize(("options", "error", "text"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_named(options, error, text):
    with pytest.raises(error, match=text):
        onnxsmith.torch.export(Pair(), **({"args": (ONES, ONES)} | options))


def test_axes_and_inputs_in_any_order():
    shapes = {"y": {-1: "m"}, "x": {0: "n"}}
    model = onnxsmith.torch.export(Pair(), (ONES, ONES.clone()), dynamic_shapes=shapes)
    assert [str(each.type) for each in model.inputs] == ["FLOAT['n', 4]", "FLOAT[3, 'm']"]


def test_one_tensor_for_two_inputs():
    model = onnxsmith.torch.export(Pair(), (ONES, ONES))
    x, y = (np.full((3, 4), each, np.float32) for each in (1, 5))
    np.testing.assert_array_equal(model(x, y)[0], x + 1)


def test_translate_is_for_programs():
    with pytest.raises(TypeError, match="translate takes an ExportedProgram"):
        onnxsmith.torch.translate(Pair())


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_consecutive_repetitions_along_a_dimension(dim):
    x = torch.tensor([[1, 1, 2], [1, 1, 2], [3, 3, 2]])
    check(Call(lambda x: torch.unique_consecutive(x, dim=dim)), x)
    check(Call(lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim)), x)
    check(Call(lambda x: torch.unique(x, dim=dim).sum(dim)), x)
    check(Call(lambda x: torch.unique_consecutive(x, dim=dim).sum(dim)), x)


def test_the_gradient_of_a_pool():
    def pooled(x):
        sizes = [[3, 3], [2, 2], [1, 1], [1, 1]]
        y, places = torch.ops.aten.max_pool2d_with_indices(x, *sizes)
        return torch.ops.aten.max_pool2d_with_indices_backward(2 * y, x, *sizes, False, places)

    check(Call(pooled), torch.randn(1, 2, 7, 6))


def test_attention_in_bfloat16_is_as_accurate_as_torchs():
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(1, 2, 64, 32, generator=generator).bfloat16() for _ in range(3)]
    attention = nn.functional.scaled_dot_product_attention
    model = onnxsmith.torch.export(Call(attention), tuple(given))
    arrays = [each.float().numpy().astype(ml_dtypes.bfloat16) for each in given]
    exact = attention(*(each.double() for each in given)).numpy()
    mine = np.abs(model(*arrays).astype(np.float64) - exact).max()
    theirs = np.abs(attention(*given).double().numpy() - exact).max()
    assert mine <= 1.5 * theirs


@pytest.mark.filterwarnings("ignore")
def test_derivatives_that_torch_cannot_trace_are_refused_in_short():
    module = Call(torch.func.jacrev(torch.sin))
    with pytest.raises(
        ExportError, match=r"torch.export cannot trace this derivative of torch.func"
    ) as caught:
        onnxsmith.torch.export(module, (torch.ones(3),))
    assert "torch.autograd.functional.jacobian" in (caught.value.help or "")
    assert caught.value.__cause__ is None


@pytest.mark.filterwarnings("ignore")
def test_flexible_attention_is_refused_with_the_reason():
    flex = importlib.import_module("torch.nn.attention.flex_attention").flex_attention
    with pytest.raises(UntranslatedOperatorError, match="scaled_dot_product_attention with a mask"):
        onnxsmith.torch.export(Call(lambda x: flex(x, x, x)), (torch.randn(1, 2, 8, 16),))


class Writing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total += x.sum(0)


def test_a_module_that_returns_nothing():
    with pytest.raises(ExportError, match="forward returns nothing"):
        onnxsmith.torch.export(Writing(), (ONES,))
    kept = onnxsmith.torch.export(Writing(), (ONES,), keep_mutations=True)
    assert [each.name for each in kept.outputs] == ["total_after"]


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_compiled_modules_are_refused():
    with pytest.raises(ExportError, match=r"torch\.jit has compiled"):
        onnxsmith.torch.export(torch.jit.trace(nn.Linear(4, 4), ONES), (ONES,))


def test_training_is_told_where_it_matters():
    module = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    with pytest.warns(onnxsmith.errors.TrainingModeWarning, match="dropout") as caught:
        model = onnxsmith.torch.export(module, (ONES,))
    assert caught[0].filename == __file__
    assert model.export_report.notes == [str(caught[0].message)]
    assert "computes something else than in use; call module.eval() first" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        onnxsmith.torch.export(module.eval(), (ONES,))
        onnxsmith.torch.export(nn.Linear(4, 4).train(), (ONES,))
        batch_norm = nn.Sequential(nn.BatchNorm1d(4)).train()
        kept = onnxsmith.torch.export(batch_norm, (torch.randn(3, 4),), keep_mutations=True)
    (note,) = kept.export_report.notes
    assert note.endswith("computes something else than in use")


class Named(nn.Module):
    def forward(self, x, **options):
        return x + options["y"]


@pytest.mark.parametrize(
    "shapes",
    [
        {"x": {0: "n"}, "y": {0: "n"}},
        {"y": {0: "n"}, "x": {0: "n"}},
        {"x": {0: "n"}, "options": {"y": {0: "n"}}},
        ({0: "n"}, {"y": {0: "n"}}),
    ],
    ids=["by name", "in another order", "as torch has it", "by position"],
)
def test_dimensions_of_what_goes_by_any_name(shapes):
    module = Named()
    model = onnxsmith.torch.export(module, (ONES,), {"y": ONES}, dynamic_shapes=shapes)
    assert [each.type.shape for each in model.inputs] == [("n", 4), ("n", 4)]
    assert "forward" not in vars(module)


def test_branches_on_values_are_placed():
    class Branching(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x
            return -x

    with pytest.raises(ExportError, match="depends on the values in a tensor") as caught:
        onnxsmith.torch.export(Branching(), (ONES,))
    assert caught.value.span is not None
    assert caught.value.span.function == "forward"
    assert "torch.cond" in (caught.value.help or "")
    assert caught.value.__cause__ is None  # torch's own traceback is hundreds of lines long


def test_what_has_no_effect_is_told():
    translations = {torch.ops.aten.relu: lambda x: x}
    with pytest.warns(UserWarning, match="aten.relu, which the module does not call"):
        onnxsmith.torch.export(Pair(), (ONES, ONES), translations=translations)
    report = onnxsmith.torch.export(Pair(), (ONES, 3)).export_report
    assert report.notes == ["'y' is no input: it is always 3, as in the example"]
