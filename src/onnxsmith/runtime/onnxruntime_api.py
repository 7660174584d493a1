"""The only module that touches ONNX Runtime: whether it is there, sessions, its own values.

Uses the compiled session below `InferenceSession`, which costs half to create and a third less to run, and does
not print when something fails. It knows no operators and decides no fallbacks.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import mmap
import os
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol, cast

from onnxsmith.errors import MissingDependencyError, MissingProviderError
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.schema.registry import is_runtime_installed
from onnxsmith.types.dtypes import DType

_FATAL_ONLY = 4
#: What ONNX Runtime prints unless told otherwise. There is no way to ask what it was told.
_WARNINGS = 2

#: From this version on a model in memory may refer to weights in the files of a folder.
_FOLDERS_SINCE = (1, 21)
_FOLDER = "session.model_external_initializers_file_folder_path"
_SPINNING = "session.intra_op.allow_spinning"
#: The weights of the optimised model go to a file of this name beside it, and not into it.
_OPTIMIZED_WEIGHTS = "session.optimized_model_external_initializers_file_name"


# ONNX Runtime ships no types for its compiled module; these are the parts of it that are used here.
class NodeArg(Protocol):
    """An input or output of a session."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


class Device(Protocol):
    """Where a value lives."""


class RunOptions(Protocol):
    """How one run is made."""

    log_severity_level: int


class OrtValue(Protocol):
    """One of ONNX Runtime's own values."""

    def data_ptr(self) -> int: ...
    def element_type(self) -> int: ...
    def has_value(self) -> bool: ...
    def is_tensor(self) -> bool: ...
    def numpy(self) -> RunValue: ...
    def shape(self) -> list[int]: ...


class Binding(Protocol):
    """The values that a run takes and gives, or the devices that its results go to."""

    def bind_ortvalue_input(self, name: str, value: OrtValue, /) -> None: ...
    def bind_ortvalue_output(self, name: str, value: OrtValue, /) -> None: ...
    def bind_output(self, name: str, device: Device, /) -> None: ...
    def clear_binding_outputs(self) -> None: ...
    def get_outputs(self) -> Sequence[OrtValue]: ...
    def synchronize_inputs(self) -> None: ...


class WrappedValue(Protocol):
    """The Python object around an OrtValue."""


class Session(Protocol):
    """The compiled session."""

    @property
    def inputs_meta(self) -> list[NodeArg]: ...
    @property
    def outputs_meta(self) -> list[NodeArg]: ...
    def initialize_session(
        self, providers: list[str], options: list[dict[str, str]], disabled: set[str], /
    ) -> None: ...
    def run(
        self, outputs: list[str], feeds: Mapping[str, RunValue | WrappedValue], options: RunOptions, /
    ) -> list[RunValue]: ...
    def run_with_ort_values(
        self, feeds: Mapping[str, OrtValue], outputs: Sequence[str], options: RunOptions, /
    ) -> Sequence[OrtValue]: ...
    def run_with_iobinding(self, binding: Binding, options: RunOptions, /) -> None: ...
    def end_profiling(self) -> str: ...
    def get_providers(self) -> list[str]: ...


def is_available() -> bool:
    """True if onnxruntime can be imported."""
    return is_runtime_installed()


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
def version() -> tuple[int, ...]:
    """Major and minor number of the installed version."""
    text = str(importlib.import_module("onnxruntime").__version__)
    return tuple(int(each) for each in text.split(".")[:2])


def require(since: tuple[int, int], what: str) -> None:
    """Raise MissingDependencyError where ONNX Runtime is not there, or too old for `what`."""
    if not is_available():
        raise MissingDependencyError(
            f"{what} is loaded into ONNX Runtime, and onnxruntime is not installed",
            help="pip install onnxruntime",
        )
    if version() < since:
        wanted = ".".join(map(str, since))
        raise MissingDependencyError(
            f"{what} needs ONNX Runtime {wanted}, and {title()} is installed",
            help=f"pip install 'onnxruntime>={wanted}'",
        )


@functools.lru_cache(maxsize=256)
def has_name(name: str) -> bool:
    """True if a library of the installed build has this text: an option may be younger than our tables."""
    folder = os.path.dirname(str(compiled().__file__))
    content = b"\0" + name.encode() + b"\0"
    for place in sorted(os.listdir(folder)):
        if place.endswith((".so", ".dll", ".pyd", ".dylib")) or ".so." in place:
            with (
                open(os.path.join(folder, place), "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library,
            ):
                if library.find(content) >= 0:
                    return True
    return False


def load_provider_library(name: str, path: str) -> None:
    """Load a plug-in execution provider under a name; raises what ONNX Runtime raises."""
    compiled().register_execution_provider_library(name, path)


def unload_provider_library(name: str) -> None:
    """Let it go again."""
    compiled().unregister_execution_provider_library(name)


def device_providers() -> list[str]:
    """The providers' own names of all devices that ONNX Runtime sees."""
    return [str(each.ep_name) for each in compiled().get_ep_devices()]


def try_operator_library(path: str) -> None:
    """Load a library of operators into options that nobody uses; raises what ONNX Runtime raises."""
    compiled().SessionOptions().register_custom_ops_library(path)


def title() -> str:
    """The installed runtime and its version, for people."""
    return "ONNX Runtime " + ".".join(map(str, version()))


def takes_folders() -> bool:
    """True if a model in memory may refer to weights in the files of a folder."""
    return version() >= _FOLDERS_SINCE


@functools.cache
def quiet_run_options() -> RunOptions:
    """Run options that log nothing. Sharing one object also saves 0.6 µs a call over passing None."""
    options = cast(RunOptions, compiled().RunOptions())
    options.log_severity_level = _FATAL_ONLY
    return options


@functools.lru_cache(maxsize=64)
def device(kind: str, index: int = 0) -> Device:
    """A device as sessions know it."""
    module = compiled()
    return module.OrtDevice(getattr(module.OrtDevice, kind)(), module.OrtDevice.default_memory(), index)


def new_binding(session: Session) -> Binding:
    """A new set of values that runs of a session take and give."""
    return compiled().SessionIOBinding(session)


def results_of(binding: Binding, places: Sequence[int] | None = None) -> list[OrtValue]:
    """The results of a binding's last run, in the order of binding the outputs; or those at these places alone."""
    return _listed(binding.get_outputs(), places)


def _listed(values: Sequence[OrtValue], places: Sequence[int] | None = None) -> list[OrtValue]:
    # By index: ONNX Runtime's vectors end an iteration by an exception of C++, which takes 100 µs.
    return [values[k] for k in (range(len(values)) if places is None else places)]


@contextlib.contextmanager
def hushed() -> Generator[None]:
    """Without what ONNX Runtime's kernels print past a session's own level; afterwards warnings are printed again."""
    set_severity = compiled().set_default_logger_severity
    set_severity(_FATAL_ONLY)
    try:
        yield
    finally:
        set_severity(_WARNINGS)


class SessionOptions(Protocol):
    """How a session is made."""

    log_severity_level: int
    intra_op_num_threads: int
    inter_op_num_threads: int
    graph_optimization_level: object
    enable_cpu_mem_arena: bool
    enable_mem_pattern: bool
    enable_profiling: bool
    profile_file_prefix: str
    optimized_model_filepath: str

    def register_custom_ops_library(self, path: str, /) -> None: ...
    def add_provider(self, name: str, options: Mapping[str, str], /) -> None: ...
    def add_provider_for_devices(self, devices: Sequence[object], options: Mapping[str, str], /) -> None: ...
    def add_session_config_entry(self, key: str, value: str, /) -> None: ...
    def add_external_initializers(self, names: list[str], values: list[WrappedValue], /) -> None: ...


@dataclass(frozen=True, slots=True)
class Profiling:
    """Where a session writes how long its kernels took, and the graph that it really runs."""

    #: How the path of the first begins; `Session.end_profiling` writes it, and says how it ends.
    prefix: str
    #: The path of the second, and the name of the file beside it that its weights go to.
    graph: str
    weights: str


@dataclass(frozen=True, slots=True)
class SessionChoices:
    """The choices that sessions of a kind have in common; a key of the options that they share."""

    threads: int
    optimize: bool
    #: Libraries of operators.
    libraries: tuple[str, ...] = ()
    #: Attributes and configuration entries, as `session_options` has checked them.
    options: tuple[tuple[str, str], ...] = ()


def _new_session_options(choices: SessionChoices) -> SessionOptions:
    module = compiled()
    options = cast(SessionOptions, module.SessionOptions())
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = choices.threads
    options.inter_op_num_threads = 1
    if all(name != _SPINNING for name, _ in choices.options):
        # Threads that wait by spinning would burn a core for every cached session on a small machine.
        options.add_session_config_entry(_SPINNING, "0")
    if not choices.optimize:
        # One node has nothing to optimize, and looking for it doubles the time to create a session. Without the
        # arena thousands of cached sessions hold no memory between calls, at no measurable cost per call.
        options.graph_optimization_level = module.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
    for path in choices.libraries:
        options.register_custom_ops_library(path)
    for name, text in choices.options:
        _set_option(options, name, text)
    return options


def _set_option(options: SessionOptions, name: str, text: str) -> None:
    """Set an attribute of the options, or else a configuration entry, from its text."""
    if "." in name:
        options.add_session_config_entry(name, text)
        return
    held: object = getattr(options, name)
    if isinstance(held, bool | int):
        setattr(options, name, type(held)(int(text)))
    elif isinstance(held, str):
        setattr(options, name, text)
    else:  # an enum of ONNX Runtime's, by the name of its member
        setattr(options, name, getattr(type(held), text))


#: A session only reads its options, so that those of a kind share one object: making it takes a tenth of a first call.
_shared_session_options = functools.lru_cache(maxsize=64)(_new_session_options)


def create_session(
    model: bytes,
    *,
    choices: SessionChoices,
    providers: Iterable[tuple[str, Iterable[tuple[str, str]]]] = (),
    plug_ins: Set[str] = frozenset(),
    weights: Mapping[str, tuple[Array, OrtValue]] | None = None,
    folder: str | None = None,
    profiling: Profiling | None = None,
) -> Session:
    """A compiled session of a serialized model; raises what ONNX Runtime raises.

    `weights` are the contents of initializers that have none, each with the array whose memory it is; the arrays
    live as long as the session. Other initializers may lie in files below `folder`. `plug_ins` are those of the
    providers that come from libraries of their own.
    """
    module = compiled()
    is_shared = not weights and folder is None and profiling is None and not plug_ins
    options = (_shared_session_options if is_shared else _new_session_options)(choices)
    if weights:
        # Not `add_initializer`, which would spare ONNX Runtime's own copy: its optimizer transposes and reshapes
        # weights in place, and such a session then runs on the ones that were handed in.
        options.add_external_initializers(list(weights), [wrapped(value) for _, value in weights.values()])
    if folder is not None:
        options.add_session_config_entry(_FOLDER, folder)
    if profiling is not None:
        options.enable_profiling = True
        options.profile_file_prefix = profiling.prefix
        options.optimized_model_filepath = profiling.graph
        options.add_session_config_entry(_OPTIMIZED_WEIGHTS, profiling.weights)
    wanted = [(name, dict(settings)) for name, settings in providers]
    if plug_ins:  # these are chosen by devices, and all others then have to stand beside them
        for name, settings in wanted:
            _add_provider(options, name, settings, is_plug_in=name in plug_ins)
        wanted = []
    session = module.InferenceSession(options, model, False, False)
    if weights:
        kept = weakref.finalize(session, _let_go, [array for array, _ in weights.values()])
        kept.atexit = False
    if wanted and all(name != "CPUExecutionProvider" for name, _ in wanted):
        wanted.append(("CPUExecutionProvider", {}))
    # Other providers than the CPU's are first looked for among plug-ins, and not found there with a warning.
    with hushed() if wanted else contextlib.nullcontext():
        session.initialize_session(
            [name for name, _ in wanted], [settings for _, settings in wanted], set[str]()
        )
    started = cast(Session, session).get_providers() if wanted else list[str]()
    for name, _ in wanted:
        if name not in started:  # ONNX Runtime says so in its log, and takes the next one
            raise MissingProviderError(
                f"this build of ONNX Runtime has {name}, which does not start here",
                help="its driver or one of its libraries is missing: onnxruntime.print_debug_info() says more",
            )
    if choices.threads > 1:
        _threaded.add(session)
    return session


def _add_provider(options: SessionOptions, name: str, settings: dict[str, str], *, is_plug_in: bool) -> None:
    if is_plug_in:
        devices = [each for each in compiled().get_ep_devices() if each.ep_name == name]
        options.add_provider_for_devices(devices, settings)
    elif name != "CPUExecutionProvider":  # that one comes last by itself
        options.add_provider(name, settings)


def _let_go(arrays: list[Array]) -> None:
    """Called when a session has ended; until then its arguments live."""


# Sessions with threads of their own. A forked child has the sessions but not the threads: it can run them, on one
# thread, but to end one it would wait for ever for threads that are not there.
_threaded: weakref.WeakSet[Session] = weakref.WeakSet()


def _never_end_sessions() -> None:
    for session in list(_threaded):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_never_end_sessions)


def input_types(session: Session) -> list[tuple[str, str]]:
    """Name and ONNX type string of each input."""
    return [(meta.name, meta.type) for meta in session.inputs_meta]


def output_types(session: Session) -> list[tuple[str, str]]:
    """Name and ONNX type string of each output."""
    return [(meta.name, meta.type) for meta in session.outputs_meta]


def value_over(array: Array, dtype: DType) -> OrtValue:
    """An OrtValue over a numpy array's own memory, read as `dtype`; the array must outlive it."""
    return compiled().OrtValue.ortvalue_from_numpy_with_onnx_type(array, int(dtype))


def value_of(array: Array) -> OrtValue:
    """An OrtValue of a numpy array whose dtype numpy itself has."""
    return value_maker()(array)


@functools.cache
def value_maker() -> Callable[[Array], OrtValue]:
    """`value_of`, which a call of a few microseconds makes once for each array."""
    make, place = compiled().OrtValue.ortvalue_from_numpy, device("cpu")
    return lambda array: make(array, place)


def empty_value(shape: Sequence[int], dtype: DType) -> OrtValue:
    """A new OrtValue with memory of its own, not initialized."""
    return compiled().OrtValue.ortvalue_from_shape_and_onnx_type(list(shape), int(dtype), device("cpu"))


def wrapped(value: OrtValue) -> WrappedValue:
    """The Python object that ONNX Runtime wants where the compiled one is not known to it."""
    return importlib.import_module("onnxruntime").OrtValue(value)


def run_values(session: Session, feeds: Mapping[str, OrtValue], names: Sequence[str]) -> list[OrtValue]:
    """Run on OrtValues and get OrtValues."""
    return _listed(session.run_with_ort_values(feeds, names, quiet_run_options()))
