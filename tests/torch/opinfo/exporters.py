"""The exporters that the suites and benchmarks can ask, behind one signature, and how a model is run.

Knows nothing of cases. torch's own exporter is the peer; nothing of it is imported unless it is asked for.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import onnxruntime
import torch

Exporter = Callable[..., bytes]
ExporterName = Literal["onnxsmith", "peer"]

_NO_TRANSLATION = re.compile(
    r"no translation|NoTranslation|Untranslat|No ONNX function found|No decompositions registered",
    re.IGNORECASE,
)


def onnxsmith_model(
    module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None, **options: Any
) -> bytes:
    """The bytes of the model that onnxsmith exports."""
    import onnxsmith.torch  # imported here so that the peer can be measured where onnxsmith is not installed

    model = onnxsmith.torch.export(module, args, dict(kwargs or {}), **options)
    return model.proto.SerializeToString()


def peer_model(
    module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None, **options: Any
) -> bytes:
    """The bytes of the model that torch's exporter makes; it needs onnxscript."""
    with contextlib.redirect_stdout(io.StringIO()):
        program = torch.onnx.export(
            module, args, kwargs=dict(kwargs or {}), dynamo=True, verbose=False, **options
        )
    assert program is not None
    return program.model_proto.SerializeToString()


EXPORTERS: dict[ExporterName, Exporter] = {"onnxsmith": onnxsmith_model, "peer": peer_model}


def is_missing_translation(error: BaseException) -> bool:
    """Whether an exporter says that it has no translation of an operator."""
    seen: BaseException | None = error
    while seen is not None:
        if _NO_TRANSLATION.search(f"{type(seen).__name__}: {seen}"):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def first_line(error: BaseException) -> str:
    """The class and the first words of an error; the root of a chain says more than what wraps it."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    lines = [line.strip() for line in str(root).splitlines() if line.strip()] or [""]
    # A line that ends so introduces the next one, which says what matters.
    words = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return f"{type(root).__name__}: {words}"[:300]


def be_quiet() -> None:
    """Silence what torch and ONNX Runtime log and warn about while exporting; results are what counts here."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)


def session_of(model: bytes, *, threads: int = 1) -> onnxruntime.InferenceSession:
    """A session on the CPU."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def to_onnx(value: torch.Tensor | float) -> np.ndarray | onnxruntime.OrtValue:
    """A value as models take and give it: complex numbers are pairs in a last dimension."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value, np.float32 if isinstance(value, float) else None)
    value = value.detach().resolve_conj().resolve_neg()
    if value.is_complex():
        value = torch.view_as_real(value)
    if value.dtype == torch.bfloat16:
        bits = value.contiguous().view(torch.int16).numpy()
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)
    return value.contiguous().numpy()


def run_model(session: onnxruntime.InferenceSession, values: Sequence[Any]) -> list[torch.Tensor]:
    """The model's outputs for the leaves of the example, given in order."""
    names = [port.name for port in session.get_inputs()]
    if len(names) != len(values):
        raise InputMismatch(f"the model has {len(names)} inputs {names}, the module {len(values)}")
    feeds = {name: to_onnx(value) for name, value in zip(names, values, strict=True)}
    # numpy has no bfloat16; models with it are run on ONNX Runtime's own values.
    has_bfloat16 = any("bfloat16" in port.type for port in (*session.get_inputs(), *session.get_outputs()))
    if not has_bfloat16:
        return [_to_torch(value) for value in session.run(None, feeds)]
    held = {
        name: value
        if isinstance(value, onnxruntime.OrtValue)
        else onnxruntime.OrtValue.ortvalue_from_numpy(value)
        for name, value in feeds.items()
    }
    found = session.run_with_ort_values(None, held)
    return [_to_torch(value) for value in found]


class InputMismatch(Exception):
    """The model does not take the inputs that the module takes."""


def _to_torch(value: Any) -> torch.Tensor:
    if isinstance(value, onnxruntime.OrtValue):
        if value.element_type() == 16:
            return torch.from_dlpack(value._ortvalue.to_dlpack())
        value = value.numpy()
    if isinstance(value, (list, tuple)):
        raise InputMismatch("an output is a sequence, where the module gives tensors")
    array = np.array(value)
    if (
        array.dtype == np.uint64
    ):  # ONNX Runtime's has the same bits under another name, which torch does not know
        array = array.view(np.uint64)
    return torch.from_numpy(array)
