"""Values on a device: networks and a step of training beside sessions bound by hand, and torch eager; streams; memory.

On a machine with CUDA the networks are BERT-base, a Llama of 16 layers, ResNet-50 and a step of Adam; elsewhere small
ones on the CPU, which only show that all of it runs. `--set device=cpu` chooses; `--set only=bert,adam` runs some;
`--set streams=1000` says how often the streams are tried. Figures are elapsed time, the least of several rounds.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, at_most, ratio_at_most

NAME = "devices"
DESCRIPTION = "values on a device; elapsed time of a call"

#: Of a call on a device's values, beside a session that is bound by hand.
_BOUND = 1.05
#: Beside torch eager, without and with TensorFloat32 on both sides.
_EAGER = {"bert": (0.92, 0.68), "llama": (0.88, 0.46), "adam": (0.8, 0.8)}
#: Cycles of a GPU in about 50 ms.
_SLEEP = 90_000_000


def run(context: Context) -> list[Row]:
    """All that `--set only` names."""
    if not context.has("torch"):
        return [Row("devices", math.nan, "ms", "torch", "not installed")]
    import torch

    device = context.settings.get("device", "cuda" if torch.cuda.is_available() else "cpu")
    wanted = context.settings.get("only", ",".join(_PARTS)).split(",")
    rows: list[Row] = []
    for name in wanted:
        rows += _PARTS[name](context, device)
        if device != "cpu":
            torch.cuda.empty_cache()
    return rows


@contextlib.contextmanager
def _precision(device: str, allow_tf32: bool) -> Iterator[None]:
    """TensorFloat32 the same on both sides."""
    import torch

    from onnxsmith.runtime import using

    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allow_tf32
    try:
        with using(allow_tf32=allow_tf32):
            yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def _precisions(device: str) -> tuple[bool, ...]:
    return (False,) if device == "cpu" else (False, True)


# -- networks -------------------------------------------------------------------------------------------------


def _networks(name: str, device: str) -> tuple[Any, Any]:
    """A network and an example, both on the CPU."""
    import torch

    from benchmarks import networks

    torch.manual_seed(0)
    is_small = device == "cpu"
    match name:
        case "bert":
            sizes = networks.SMALL if is_small else networks.BERT_BASE
            return networks.Bert(sizes), torch.randint(0, sizes.vocabulary, (2, 16) if is_small else (8, 128))
        case "llama":
            sizes = networks.SMALL if is_small else networks.LLAMA_16
            return networks.Llama(sizes), torch.randint(
                0, sizes.vocabulary, (2, 16) if is_small else (4, 256)
            )
        case _:
            network = networks.resnet((1, 1), 8, 10) if is_small else networks.resnet()
            return network, torch.randn((2, 3, 32, 32) if is_small else (16, 3, 224, 224))


def _forward(name: str) -> Callable[[Context, str], list[Row]]:
    def rows(context: Context, device: str) -> list[Row]:
        import torch

        import onnxsmith.torch
        from onnxsmith.runtime import using

        network, example = _networks(name, device)
        network = network.eval()
        with torch.no_grad():
            model = onnxsmith.torch.export(network, (example,))
        network, given = network.to(device), example.to(device)
        found: list[Row] = []
        for allow_tf32 in _precisions(device):
            with _precision(device, allow_tf32), using(device=device):
                there = model.to_device(device)
                session = model.session(device=device)
                eager = _EAGER.get(name)
                what = f"{name}, TF32 {'on' if allow_tf32 else 'off'}"
                peers = [
                    Peer(
                        "bound by hand",
                        functools.partial(_bound, model, device, given, allow_tf32),
                        bar=ratio_at_most(_BOUND),
                    ),
                    Peer(
                        "torch eager",
                        lambda: _eager(network, given, device),
                        bar=None if eager is None else ratio_at_most(eager[allow_tf32]),
                    ),
                ]
                check = _check(network, given, 2e-2 if allow_tf32 else 2e-3)
                for form, call in (("called", there), ("a session", session)):
                    found += contest(
                        context,
                        f"{what}, {form}",
                        lambda call=call: call(given),
                        peers,
                        unit="ms",
                        per_second=1e3,
                        check=check,
                        clock=time.perf_counter,
                        choose=min,
                    )
        if name == "resnet" and device != "cpu":
            with using(device=device):
                print(model.profile([example.numpy()]), flush=True)
        return found

    return rows


def _check(network: Any, given: Any, part: float) -> Callable[[object], None]:
    """Raises where a result is further from torch's than a part of its largest element."""
    import torch

    with torch.no_grad():
        wanted = network(given)

    def check(result: object) -> None:
        found = result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)
        apart = float((found.to(wanted.device) - wanted).abs().max() / wanted.abs().max())
        if not apart <= part:
            raise ValueError(f"{apart:.2g} of the largest element apart from torch")

    return check


def _eager(network: Any, given: Any, device: str) -> Callable[[], object]:
    import torch

    def run() -> object:
        with torch.inference_mode():
            result = network(given)
            if device != "cpu":
                torch.cuda.synchronize()
        return result

    return run


def _runtime_session(model: Any, device: str, allow_tf32: bool) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    on_gpu = [
        ("CUDAExecutionProvider", {"use_tf32": int(allow_tf32), "prefer_nhwc": 0}),
        "CPUExecutionProvider",
    ]
    providers = ["CPUExecutionProvider"] if device == "cpu" else on_gpu
    return onnxruntime.InferenceSession(model.proto.SerializeToString(), options, providers=providers)


def _bound(model: Any, device: str, given: Any, allow_tf32: bool) -> Callable[[], object]:
    """A session whose inputs are torch's memory, bound once."""
    session = _runtime_session(model, device, allow_tf32)
    binding = session.io_binding()
    dtype = {"torch.int64": np.int64, "torch.float32": np.float32}[str(given.dtype)]
    name = session.get_inputs()[0].name
    binding.bind_input(name, device, 0, dtype, tuple(given.shape), given.data_ptr())
    output = session.get_outputs()[0].name

    def run() -> object:
        binding.bind_output(output, device)
        session.run_with_iobinding(binding)
        return binding.get_outputs()[0]._ortvalue

    return run


# -- training -------------------------------------------------------------------------------------------------


def _adam(context: Context, device: str) -> list[Row]:
    """A step of Adam of a perceptron, its state on the device."""
    import torch

    import onnxsmith.torch
    from benchmarks.networks import perceptron
    from onnxsmith.grad import adam, initial_state, losses, training_step
    from onnxsmith.runtime import using

    torch.manual_seed(0)
    widths, batch = ((64, 128, 10), 8) if device == "cpu" else ((1024, 2048, 2048, 1000), 256)
    network = perceptron(widths).train()
    x, target = torch.randn(batch, widths[0]), torch.randint(0, widths[-1], (batch,))
    model = onnxsmith.torch.export(network, (x,))
    step = training_step(model, losses.cross_entropy, adam(lr=0.001))
    state = initial_state(model, step)
    network, x, target = network.to(device), x.to(device), target.to(device)
    rows: list[Row] = []
    for allow_tf32 in _precisions(device):
        with _precision(device, allow_tf32), using(device=device):
            session = step.session(state=state, device=device)
            peers = [
                Peer(
                    "bound by hand",
                    functools.partial(_bound_step, step, state, x, target, device, allow_tf32),
                    bar=ratio_at_most(_BOUND),
                ),
                Peer(
                    "torch eager",
                    lambda: _eager_step(network, x, target),
                    bar=ratio_at_most(_EAGER["adam"][allow_tf32]),
                ),
            ]
            rows += contest(
                context,
                f"a step of Adam, TF32 {'on' if allow_tf32 else 'off'}",
                lambda session=session: float(torch.from_dlpack(session(x, target))),
                peers,
                unit="ms",
                per_second=1e3,
                clock=time.perf_counter,
                choose=min,
            )
    return rows


def _bound_step(
    step: Any, state: Mapping[str, Any], x: Any, target: Any, device: str, allow_tf32: bool
) -> Callable[[], object]:
    import onnxruntime

    session = _runtime_session(step, device, allow_tf32)

    def value(array: Any) -> Any:
        return onnxruntime.OrtValue.ortvalue_from_numpy(np.asarray(array).copy(), device, 0)

    names = [each.name for each in step.inputs if each.name not in state]
    first, *others = [each.name for each in step.outputs]
    sets = [{name: value(array) for name, array in state.items()} for _ in range(2)]
    inputs = dict(zip(names, (value(x.cpu().numpy()), value(target.cpu().numpy())), strict=True))
    loss = value(np.zeros((), np.float32))

    def bound(old: Mapping[str, Any], new: Mapping[str, Any]) -> Any:
        binding = session.io_binding()
        for name, each in {**inputs, **old}.items():
            binding.bind_ortvalue_input(name, each)
        binding.bind_ortvalue_output(first, loss)
        for name, each in zip(others, new.values(), strict=True):
            binding.bind_ortvalue_output(name, each)
        return binding

    bindings = [bound(*sets), bound(*sets[::-1])]

    def run() -> float:
        session.run_with_iobinding(bindings[0])
        bindings.reverse()
        return float(loss.numpy())

    return run


def _eager_step(network: Any, x: Any, target: Any) -> Callable[[], object]:
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=0.001)

    def run() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x), target)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return run


# -- streams, and memory --------------------------------------------------------------------------------------


def _streams(context: Context, device: str) -> list[Row]:
    """Wrong values where a producer, our call and a consumer are on streams of their own."""
    if device == "cpu":
        return []
    import torch

    from onnxsmith import FLOAT, trace

    count = int(context.number("streams", 200))
    model = trace(lambda x: x * 2.0 + 1.0, FLOAT["N"]).to_device(device)
    before, after = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.zeros(1 << 20, device=device)
    wrong = 0
    for k in range(count):
        with torch.cuda.stream(before):
            torch.cuda._sleep(_SLEEP)
            x.fill_(k)
            y = torch.from_dlpack(model(x))
            x.fill_(-1)  # what comes later on the producer's stream does not reach the call
        with torch.cuda.stream(after):
            wrong += int((y != 2.0 * k + 1.0).sum().item() > 0)
    return [Row(f"streams, {count} times", float(wrong), "wrong", bar=at_most(0))]


def _memory(context: Context, device: str) -> list[Row]:
    """What `Relu` of 100 MB of torch's takes beyond its result, as copies of the input."""
    import torch

    from onnxsmith import opset21 as op

    rows: list[Row] = []
    for name in ("float32", "float16", "bfloat16"):
        dtype = getattr(torch, name)
        x = torch.randn(100_000_000 // dtype.itemsize, device=device).to(dtype)
        torch.from_dlpack(op.Relu(x[:8]))
        size = x.numel() * x.element_size()
        before = _taken(device)
        result = op.Relu(x)
        y = torch.from_dlpack(result)
        copies = (_taken(device) - before) / size - 1
        note = "" if y.data_ptr() == _address(result) else "the result was copied"
        if not torch.equal(y, torch.relu(x)):
            note = "WRONG"
        rows.append(Row(f"Relu of 100 MB of {name}", copies, "copies", bar=at_most(0.1), note=note))
        del x, y, result
    return rows


def _address(result: Any) -> int:
    array = result.array
    return array.ctypes.data if isinstance(array, np.ndarray) else array.value.data_ptr()


def _taken(device: str) -> int:
    """Bytes that the process has of the device: anonymous memory, or what the driver gave."""
    import torch

    if device != "cpu":
        free, total = torch.cuda.mem_get_info()
        return total - free
    for line in open("/proc/self/status"):  # noqa: SIM115
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not say how much memory a process has")


_PARTS: dict[str, Callable[[Context, str], list[Row]]] = {
    "bert": _forward("bert"),
    "llama": _forward("llama"),
    "resnet": _forward("resnet"),
    "adam": _adam,
    "streams": _streams,
    "memory": _memory,
}
