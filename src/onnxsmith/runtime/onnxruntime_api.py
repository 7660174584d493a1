"""The only module that touches ONNX Runtime: whether it is there, sessions, its own values.

Uses the compiled session below `InferenceSession`, which costs half to create and a third less to run, and does
not print when something fails. It knows no operators and decides no fallbacks.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from onnxsmith.types.dtypes import DType

# ONNX Runtime ships no types for its compiled module.
_FATAL_ONLY = 4


def is_available() -> bool:
    """Whether onnxruntime can be imported."""
    if "onnxruntime" in sys.modules:
        return sys.modules["onnxruntime"] is not None  # pyright: ignore[reportUnnecessaryComparison]  # None blocks an import
    return importlib.util.find_spec("onnxruntime") is not None


@functools.cache
def compiled() -> Any:
    """ONNX Runtime's compiled module."""
    # Imported on first use: a heavy optional dependency.
    importlib.import_module("onnxruntime")
    return importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")


@functools.cache
def available_providers() -> tuple[str, ...]:
    """The execution providers of the installed build."""
    return tuple(compiled().get_available_providers())


@functools.cache
def quiet_run_options() -> Any:
    """Run options that log nothing. Sharing one object also saves 0.6 µs a call over passing None."""
    options = compiled().RunOptions()
    options.log_severity_level = _FATAL_ONLY
    return options


@functools.cache
def cpu_device() -> Any:
    """The device that all values here live on."""
    module = compiled()
    return module.OrtDevice(module.OrtDevice.cpu(), module.OrtDevice.default_memory(), 0)


def create_session(
    model: bytes | str,
    *,
    threads: int,
    providers: Iterable[tuple[str, Iterable[tuple[str, str]]]] = (),
    optimize: bool = False,
) -> Any:
    """A compiled session of a serialized model or of a model file; raises what ONNX Runtime raises."""
    module = compiled()
    options = module.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that wait by spinning would burn a core for every cached session on a small machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not optimize:
        # One node has nothing to optimize, and looking for it doubles the time to create a session. Without the
        # arena thousands of cached sessions hold no memory between calls, at no measurable cost per call.
        options.graph_optimization_level = module.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
    session = module.InferenceSession(options, model, isinstance(model, str), False)
    wanted = [(name, dict(settings)) for name, settings in providers]
    if wanted and all(name != "CPUExecutionProvider" for name, _ in wanted):
        wanted.append(("CPUExecutionProvider", {}))
    session.initialize_session([name for name, _ in wanted], [settings for _, settings in wanted], set[str]())
    if threads > 1:
        _threaded.add(session)
    return session


# Sessions with threads of their own. A forked child has the sessions but not the threads: it can run them, on one
# thread, but to end one it would wait for ever for threads that are not there.
_threaded: weakref.WeakSet[Any] = weakref.WeakSet()


def _never_end_sessions() -> None:
    for session in list(_threaded):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_never_end_sessions)


def input_types(session: Any) -> list[tuple[str, str]]:
    """Name and ONNX type string of each input."""
    return [(meta.name, meta.type) for meta in session.inputs_meta]


def output_types(session: Any) -> list[tuple[str, str]]:
    """Name and ONNX type string of each output."""
    return [(meta.name, meta.type) for meta in session.outputs_meta]


def value_over(array: Any, dtype: DType) -> Any:
    """An OrtValue over a numpy array's own memory, read as `dtype`; the array must outlive it."""
    return compiled().OrtValue.ortvalue_from_numpy_with_onnx_type(array, int(dtype))


def value_of(array: Any) -> Any:
    """An OrtValue of a numpy array whose dtype numpy itself has."""
    return compiled().OrtValue.ortvalue_from_numpy(array, cpu_device())


def empty_value(shape: Sequence[int], dtype: DType) -> Any:
    """A new OrtValue with memory of its own, not initialized."""
    return compiled().OrtValue.ortvalue_from_shape_and_onnx_type(list(shape), int(dtype), cpu_device())


def wrapped(value: Any) -> Any:
    """The Python object that `run` accepts where the compiled one is not known to it."""
    return importlib.import_module("onnxruntime").OrtValue(value)


def run_values(session: Any, feeds: Mapping[str, Any], names: Sequence[str]) -> Sequence[Any]:
    """Run on OrtValues and get OrtValues."""
    return session.run_with_ort_values(feeds, names, quiet_run_options())


def is_not_implemented(error: BaseException) -> bool:
    """Whether ONNX Runtime itself says that it has no kernel for this."""
    return type(error) is compiled().NotImplemented
