"""Values of devices: those of the runtime itself, and torch's over its memory.

They run on the device that ONNXSMITH_TEST_DEVICE names, and on the CPU without it.
"""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import onnxsmith
import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script, tensor, trace
from onnxsmith import opset25 as op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    DeviceError,
    InputTypeError,
    MutationError,
    TensorIndexError,
)
from onnxsmith.grad import grad, jvp, value_and_grad
from onnxsmith.graphs.agreement import CONVERTED, compare
from onnxsmith.runtime.device_arrays import OrtArray, device_of, moved
from onnxsmith.runtime.devices import CPU, Device, read_device
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType
from tests.chosen_device import DEVICE, on_device

torch = pytest.importorskip("torch")
TORCH = str(DEVICE)

#: Element types that values on devices have: text stays with numpy, and ONNX Runtime has no complex numbers.
TYPES = [
    each
    for each in DType
    if each.kind not in ("string", "complex") and each is not DType.FLOAT8E8M0 and "FLOAT6" not in each.name
]


def address(result: EagerTensor) -> int:
    """Where the elements of a tensor begin."""
    array = result.array
    return array.ctypes.data if isinstance(array, np.ndarray) else array.value.data_ptr()


@pytest.mark.parametrize("dtype", TYPES, ids=lambda each: each.name)
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 3)], ids=str)
def test_there_and_back(dtype: DType, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype.numpy)
    if dtype.bits < 8 and DEVICE != CPU:
        with pytest.raises(DeviceError, match="cannot be copied to or from the device"):
            on_device(array)
        return
    given = on_device(array)
    assert (given.dtype, given.type.shape, given.device) == (dtype, shape, str(DEVICE))
    assert given.numpy().dtype == array.dtype
    assert given.numpy().tobytes() == array.tobytes()


HOSTILE = np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-42, 3.4e38, -1.5])


@script
def mixed(x: FLOAT["N"]):
    total = x[0] * 0.0
    for value in x:
        if value > 1.0:
            total = total + value
    return total - x


@script
def halved(x: FLOAT["N"]):
    return op.ReduceSum(x * 0.5, keepdims=0)


def looped(x):
    total = x * 0
    for k in range(len(x)):
        total[k] = x[k] if x[k] > 0 else total[k - 1]
    return total


def flat(pair: tuple[object, object]) -> tuple[object, ...]:
    value, gradient = pair
    return value, gradient


PROGRAMS = {
    "one operator": lambda x: op.Relu(x),
    "python's operators": lambda x: (tensor(x) * 0.5 + 1) / (tensor(x) - 0.5),
    "a literal of whole numbers": lambda x: op.Reshape(x, [2, -1]),
    "an array without dimensions": lambda x: op.Add(x, np.float32(2)),
    "indexing": lambda x: tensor(x)[::2],
    "an index on the device": lambda x: tensor(x)[op.TopK(tensor(x)[1:], [3])[1]],
    # Where NaN comes among the largest is not said by ONNX.
    "several results": lambda x: op.TopK(tensor(x)[1:], [3]),
    "another element type": lambda x: op.IsNaN(x),
    "a model": trace(lambda x: op.Softmax(x, axis=0) - x, FLOAT["N"]),
    "a script": mixed,
    "a jitted script": onnxsmith.jit(mixed),
    "a gradient": grad(lambda x: op.ReduceSum(x * x, keepdims=0)),
    "a value and its gradient": lambda x: flat(value_and_grad(op.ReduceMax)(x)),
    "the gradient of a model": grad(trace(lambda x: op.ReduceMean(x * x, keepdims=0), FLOAT["N"])),
    "the gradient of a script": grad(halved),
    "the gradient of numpy code": grad(xp.jit(lambda x: np.sum(x * x))),
    "the gradient with a number": lambda x: grad(lambda a, k: op.ReduceSum(a * k, keepdims=0))(x, 2.0),
    "a tangent": lambda x: jvp(lambda a: a * a)(x, tangent=x)[1],
    "jitted numpy code": xp.jit(lambda x: np.where(np.isnan(x), 0.0, x)[::-1].cumsum()),
    "jitted numpy code of a number": xp.jit(lambda x: x.argmax()),
    "jitted numpy code of several results": lambda x: tuple(
        xp.jit(lambda a: {"a": a + 1, "b": [a.max()]})(x)["b"]
    ),
    "jitted numpy code with a loop": xp.jit(looped),
}
if DEVICE == CPU:  # elsewhere that is a mixture of devices
    PROGRAMS["an array of numpy on the same device"] = lambda x: op.Max(x, np.zeros(8, np.float32))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_form_agrees_with_numpys_arrays(name: str) -> None:
    """On a tensor, a value of the runtime's, a tensor of torch, and again from the caches; on the CPU by bits."""
    program = PROGRAMS[name]
    wanted = program(HOSTILE)
    foreign = torch.from_numpy(HOSTILE).to(TORCH)
    for given in (tensor(HOSTILE).to_device(TORCH), on_device(HOSTILE), foreign, foreign):
        found = program(given)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, other in pairs:
            assert isinstance(one, EagerTensor)
            other = other.numpy() if isinstance(other, EagerTensor) else other
            assert one.device == str(DEVICE)
            assert one.numpy().dtype == other.dtype
            if DEVICE == CPU:
                assert one.numpy().tobytes() == other.tobytes()
            else:
                assert compare(np.asarray(other), one.numpy(), CONVERTED) is None


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "bool", "int64"])
def test_no_copy_on_the_way(name: str) -> None:
    given = (torch.arange(6).reshape(2, 3) % 2).to(TORCH, getattr(torch, name))
    result = op.Identity(given)
    back = torch.from_dlpack(result)
    assert torch.equal(back, given)
    assert back.dtype == given.dtype
    assert back.data_ptr() == address(result)


def test_values_of_the_runtime_go_to_torch_without_a_copy() -> None:
    given = on_device(np.array([True, False]))
    assert torch.from_dlpack(given).tolist() == [True, False]
    assert torch.from_dlpack(given).data_ptr() == address(given)


def test_elements_that_the_runtime_does_not_share() -> None:
    given = on_device(np.ones(2).astype("float8_e4m3fn"))
    with pytest.raises(BufferError, match=r"shares no elements of the type float8e4m3fn|x\.numpy\(\) copies"):
        given.array.capsule()


def test_tensors_of_torch_that_cannot_come_in_say_what_to_give() -> None:
    for given, remedy in (
        (torch.ones(2, dtype=torch.complex64).conj(), r"give x\.resolve_conj\(\)"),
        (torch.eye(2).to_sparse(), r"give x\.to_dense\(\)"),
        (torch.ones(2, requires_grad=True), r"give x\.detach\(\)"),
    ):
        with pytest.raises(InputTypeError, match=remedy):
            op.Identity(given)


def test_a_script_that_returns_its_input_gives_a_copy() -> None:
    same = script(lambda x, y: (x, y))
    for given in (np.float32([1, 2]), torch.ones(2) + 0):
        first, second = same(given, given)
        given[:] = 7
        for each in (first, second):
            assert 7 not in np.asarray(each)


def test_an_isolated_run_gives_tensors_for_tensors() -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N"])
    assert isinstance(model.run(torch.ones(2), isolated=True), EagerTensor)
    assert isinstance(model.run(np.ones(2, np.float32), isolated=True), np.ndarray)


def test_results_stay_as_they_are() -> None:
    """A result is another one's neighbour at most: nothing that runs later writes to it."""
    x = on_device(np.float32([1, 2, 3]))
    doubled = x * 2
    view = torch.from_dlpack(doubled)
    for k in range(100):
        x = x + k
    del doubled
    assert view.tolist() == [2, 4, 6]


def test_arrays_of_other_libraries_are_indices() -> None:
    x = tensor(np.float32([1, 2, 3])).to_device(TORCH)

    def taken(index: object) -> object:
        given = torch.tensor(index, device=TORCH)
        if DEVICE != CPU:  # its elements are not read here: it has to be a tensor
            with pytest.raises(TensorIndexError, match=r"x\[tensor\(i\)\]"):
                x[given]
            given = tensor(given)
        return x[given].numpy().tolist()

    assert taken([2, 0]) == [3, 1]
    assert taken([True, False, True]) == [1, 3]
    assert taken(1) == 2


def test_memory_of_the_caller_is_shared_until_a_result_is_computed() -> None:
    given = torch.ones(3, device=TORCH)
    ours = tensor(given)
    after = ours + 1
    given[0] = 5
    assert ours.numpy().tolist() == [5, 1, 1]
    assert after.numpy().tolist() == [2, 2, 2]


def test_numpy_does_not_move_values_by_itself() -> None:
    with pytest.raises(InputTypeError, match=rf"on the device {DEVICE}"):
        np.asarray(on_device(HOSTILE))


def test_arrays_of_tensors_are_copies_on_the_cpu() -> None:
    given = on_device(HOSTILE)
    assert xp.asarray(given, device="cpu").tolist()[3:5] == [0, 0]
    assert xp.from_dlpack(given, device="cpu").dtype == np.float32
    assert xp.asarray(given, np.float64, device="cpu").dtype == np.float64
    if DEVICE != CPU:
        with pytest.raises(DeviceError, match='device="cpu"'):
            xp.asarray(given)
    with pytest.raises(AttributeValueError, match="never shares its elements"):
        xp.asarray(given, device="cpu", copy=False)
    with pytest.raises(BufferError, match="never shares its elements"):
        xp.from_dlpack(given, device="cpu", copy=False)
    with pytest.raises(AttributeValueError, match=r'tensor\(x\)\.to_device\("cuda"\)'):
        xp.asarray(given, device="cuda")
    foreign = torch.ones(2)
    made = xp.asarray(foreign)
    foreign[0] = 5
    assert made.tolist() == [1, 1]


def test_a_copy_for_another_library() -> None:
    given = on_device(np.float32([1, 2]))
    copied = torch.from_dlpack(given.__dlpack__(copy=True))
    assert copied.tolist() == [1, 2]
    assert copied.data_ptr() != address(given)


def test_jitted_numpy_code_looks_at_a_tensor_anew() -> None:
    """An array of another library is an input, and not a constant of the session."""
    add = xp.jit(lambda x: x + 1)
    given = torch.zeros(2, device=TORCH)
    assert add(given).numpy().tolist() == [1, 1]
    given += 5
    assert add(given).numpy().tolist() == [6, 6]
    assert len(add.sessions) == 1


def test_jitted_numpy_code_does_not_write_to_a_tensor() -> None:
    def cleared(x):
        x[0] = 0
        return x

    for given in (on_device(HOSTILE), torch.from_numpy(HOSTILE.copy()).to(TORCH)):
        with pytest.raises(MutationError, match=r"x = x\.copy\(\)"):
            xp.jit(cleared)(given)


def test_a_tensor_that_requires_a_gradient() -> None:
    with pytest.raises(InputTypeError, match=r"give x\.detach\(\)"):
        op.Relu(torch.ones(2, requires_grad=True, device=TORCH))
    model = trace(lambda x: x + 1.0, FLOAT["N"])
    with pytest.raises(InputTypeError, match=r"give x\.detach\(\)"):
        model(torch.ones(2, requires_grad=True, device=TORCH))


class Elsewhere(OrtArray):
    """Stands for an array on another device, which this machine may not have."""

    __slots__ = ()

    def __init__(self, device: str) -> None:
        super().__init__(moved(np.ones((2, 2), np.float32), CPU).value, device)


def test_calls_on_several_devices_name_both() -> None:
    with pytest.raises(DeviceError, match="cuda:0 and cuda:1"):
        device_of([Elsewhere("cuda:0"), Elsewhere("cuda:1")])
    with pytest.raises(DeviceError, match="the device cuda:0, and an array on the CPU"):
        device_of([Elsewhere("cuda:0"), np.ones((2, 2), np.float32)])
    with pytest.raises(DeviceError, match="the device cuda:0, and an array on the CPU"):
        op.Add(EagerTensor(Elsewhere("cuda:0")), np.ones((2, 2), np.float32))


def test_numbers_and_shapes_go_along() -> None:
    given = [Elsewhere("cuda:1"), np.float32(2), np.array([2, -1]), None]
    assert device_of(given) == "cuda:1"
    assert device_of([np.ones(3), None, [np.ones(2)]]) is None


def test_names_of_devices() -> None:
    assert [read_device(each) for each in ("cpu", "cuda", "CUDA:3")] == [
        Device("cpu"),
        Device("cuda"),
        Device("cuda", 3),
    ]
    assert [str(read_device(each)) for each in ("cpu", "cuda", "cuda:3")] == ["cpu", "cuda:0", "cuda:3"]
    with pytest.raises(AttributeValueError, match="'cpu', 'cuda'"):
        read_device("gpu")
    with pytest.raises(AttributeValueError, match="behind the colon stands a number"):
        read_device("cuda:x")
    with pytest.raises(AttributeTypeError, match="not an int"):
        read_device(0)


def test_a_device_that_is_not_there() -> None:
    from onnxsmith.runtime.onnxruntime_api import available_providers

    if "CUDAExecutionProvider" in available_providers():
        pytest.skip("this machine has the device")
    model = trace(lambda x: x + 1.0, FLOAT["N"])
    for attempt in (tensor([1.0]).to_device, model.to_device, lambda name: model.session(device=name)):
        with pytest.raises(DeviceError, match="pip install onnxruntime-gpu"):
            attempt("cuda")


def test_a_model_on_a_device_is_another_model() -> None:
    model = trace(lambda x: x + 1.0, FLOAT["N"])
    there = model.to_device("cpu")
    assert there is not model
    assert (model.device, there.device) == ("cpu", "cpu")
    assert there._held is model._held
    assert there(np.float32([1])).tolist() == [2]


def test_what_is_shown_and_sent() -> None:
    given = on_device(np.float32([1, 2]))
    assert repr(given) == str(given) == f"{given}" == f"tensor of FLOAT[2] on {DEVICE}"
    assert f"on {DEVICE}" in given._repr_mimebundle_()["text/html"]
    again = pickle.loads(pickle.dumps(given))
    assert again.numpy().tolist() == [1, 2]
    assert float(given[0]) == 1.0
    assert bool(on_device(np.array(True)))


def test_sequences_stay_on_the_cpu() -> None:
    with pytest.raises(onnxsmith.errors.NotRunnableError, match="lies on the CPU alone"):
        op.SequenceConstruct(on_device(HOSTILE))


def test_optional_packages_are_not_imported() -> None:
    lines = (
        "import sys",
        "from onnxsmith import opset21, tensor",
        "opset21.Relu(tensor([1.0]))",
        "print('torch' in sys.modules)",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_element_types_in_models() -> None:
    for dtype in (DType.BFLOAT16, DType.FLOAT16):
        model = trace(lambda x: op.Add(x, x), TensorType(dtype, ("N",)))
        given = torch.ones(3, device=TORCH).to(torch.bfloat16 if dtype is DType.BFLOAT16 else torch.float16)
        assert torch.from_dlpack(model(given)).tolist() == [2, 2, 2]
