"""Python functions as kernels of operators of custom domains: `@kernel`, what stands registered, what they may give.

Calls one kernel and checks its results; how a model with such nodes runs is the business of `kernel_models`.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import onnx
from onnx import numpy_helper

from onnxsmith.core.call_cache import forget_all
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    AnnotationError,
    AttributeTypeError,
    AttributeValueError,
    KernelError,
    OperatorFailedError,
    boundary,
)
from onnxsmith.graphs.rewriting.scopes import nodes_of_model, operator_key, plain_domain
from onnxsmith.graphs.run_values import RunValue, session_value
from onnxsmith.runtime.failure import described_value
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.source import caller_span, traceback_span
from onnxsmith.types.annotations import read_value_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, SequenceType, TensorType, describe_shape

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
#: The domains whose operators are defined elsewhere.
_STANDARD = frozenset({"", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"})
#: Domain and name of an operator.
KernelKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A Python function that computes an operator."""

    key: KernelKey
    function: Callable[..., Any]
    #: The types of its results, as its annotation gives them; empty without one.
    declared: tuple[AnyValueType, ...] = ()

    @property
    def called(self) -> str:
        """The operator as messages name it."""
        return ".".join(self.key)

    def run(
        self, inputs: Sequence[RunValue], attributes: Mapping[str, Any], count: int | None
    ) -> list[RunValue]:
        """Its results; KernelError where their number is not `count`, or their types not those that it declares."""
        passed = [self._passed(each) for each in inputs]
        given = self.function(*passed, **{name: _as_stored(value) for name, value in attributes.items()})
        results = list(cast("Sequence[Any]", given)) if isinstance(given, tuple) else [given]
        if count is not None and len(results) != count:
            raise KernelError(
                f"the kernel of {self.called} gives {len(results)} value{'s' * (len(results) != 1)}, "
                f"and the operator has {count} output{'s' * (count != 1)}"
            )
        values = [_apart(_value(self, each), passed) for each in results]
        for number, (value, kind) in enumerate(zip(values, self.declared, strict=False)):
            self.check(number, value, kind, "its annotation says")
        return values

    def _passed(self, value: RunValue) -> RunValue:
        """An input as the function gets it. It may not write there: others read the same array."""
        if isinstance(value, DeviceArray):
            if value.device != "cpu":
                raise KernelError(
                    f"the kernel of {self.called} takes arrays of numpy, and was given a tensor on {value.device}",
                    help='x.to_device("cpu"), or using(kernels=False) runs the body of a function',
                )
            value = value.numpy()
        if isinstance(value, list):
            return [self._passed(each) for each in value]
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        return value

    def check(self, number: int, value: RunValue, kind: AnyValueType | None, who: str) -> None:
        """Raise KernelError where a result is certainly not of a type; `who` says where that stands."""
        if kind is None or fits(value, kind):
            return
        output = "" if number == 0 and len(self.declared) < 2 else f" as its output {number}"
        raise KernelError(
            f"the kernel of {self.called} gives {described_value(value)}{output}, and {who} {_described(kind)}",
            help="return an array of that element type and shape, or change the declaration",
        )


@dataclass(slots=True)
class _Registered:
    kernels: dict[KernelKey, Kernel] = field(default_factory=dict[KernelKey, Kernel])
    lock: threading.Lock = field(default_factory=threading.Lock)


_REGISTERED = _Registered()


@boundary
def kernel(operator: object, /) -> Callable[[FunctionT], FunctionT]:
    """Make a Python function the kernel of an operator of a custom domain, in calls, jit, models and tests.

    `operator` is `Opset("my.domain", 1).Name`, a script in a domain of its own, or the text `"my.domain::Name"`. The
    function takes the inputs as arrays by position, None for one that is left out, and the attributes by name. It
    gives an array, or a tuple of them, as its annotation says if it has one. It may not write to an input: `x.copy()`
    is a copy for that. Where a function of a model has a kernel,
    the kernel runs; `using(kernels=False)` runs the body. The kernel that is registered last counts.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, Opset, runtime, trace
    >>> mine = Opset("docs.kernel", 1)
    >>> @runtime.kernel(mine.Softsign)
    ... def softsign(x, *, scale=1.0) -> FLOAT[...]:
    ...     return x / (scale + np.abs(x))
    >>> mine.Softsign(np.float32([1, -3]))
    array([ 0.5 , -0.75], dtype=float32)
    >>> trace(lambda x: mine.Softsign(x, scale=3.0), FLOAT["N"])(np.float32([1, -3]))
    array([ 0.25, -0.5 ], dtype=float32)
    """
    key = _key(operator)
    if key[0] in _STANDARD:
        raise AttributeValueError(
            f"{'.'.join(key) if key[0] else key[1]} is no operator of a custom domain",
            help="a kernel is for a domain of your own: Opset('my.domain', 1)",
            culprit=0,
        )

    def register(function: FunctionT) -> FunctionT:
        if not callable(function):
            raise AttributeTypeError(
                f"a kernel is a function, not {described_type(type(function))}", culprit=0
            )
        made = Kernel(key, function, _declared(function))
        with _REGISTERED.lock:
            _REGISTERED.kernels[key] = made
        forget_all()  # what ran a body, or nothing, runs the kernel from now on
        return function

    return register


def _key(operator: object) -> KernelKey:
    if isinstance(operator, str):
        domain, mark, name = operator.partition("::")
        if mark and domain and name:
            return plain_domain(domain), name
    else:
        for each in (
            getattr(operator, "definition", None),
            operator,
        ):  # an operator has one, a script says it itself
            domain, name = getattr(each, "domain", None), getattr(each, "name", None)
            if isinstance(domain, str) and isinstance(name, str):
                return plain_domain(domain), name
    raise AttributeTypeError(
        f"a kernel is for an operator, and {operator!r} is none",
        help='@kernel(Opset("my.domain", 1).Name), @kernel(a_script), or @kernel("my.domain::Name")',
        culprit=0,
    )


def _declared(function: Callable[..., Any]) -> tuple[AnyValueType, ...]:
    """The types of ONNX that the annotation of the results stands for; of others, such as numpy's, nothing is known."""
    try:
        annotation = inspect.signature(function, eval_str=True).return_annotation
    except (NameError, TypeError, ValueError):  # names that are not there yet, or a function of C
        return ()
    if annotation is inspect.Signature.empty or annotation is None:
        return ()
    parts: tuple[Any, ...] = getattr(annotation, "__args__", ()) if _is_tuple(annotation) else (annotation,)
    try:
        return tuple(read_value_type(each) for each in parts)
    except AnnotationError:
        return ()


def _is_tuple(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) is tuple


def kernel_of(domain: str, name: str) -> Kernel | None:
    """The kernel of an operator, if somebody wrote one."""
    kernels = _REGISTERED.kernels
    return kernels.get((plain_domain(domain), name)) if kernels else None


def kernels_in(model: onnx.ModelProto) -> frozenset[KernelKey]:
    """The operators of a model that have kernels."""
    kernels = _REGISTERED.kernels
    if not kernels:
        return frozenset()
    used = {operator_key(node) for node in nodes_of_model(model)}
    return frozenset(used & kernels.keys())


def has_bodies_of_kernels(model: onnx.ModelProto) -> bool:
    """True if a function of the model has a kernel beside its body."""
    return any(kernel_of(each.domain, each.name) is not None for each in model.functions)


# -- what a kernel gives -----------------------------------------------------------------------------------


def _as_stored(value: Any) -> Any:
    """An attribute as a model holds it, so that a call and a model give a kernel the same: floats have 32 bits."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, bool | int | np.integer):
        return int(cast(int, value))
    if isinstance(value, float | np.floating):
        return float(np.float32(cast(float, value)))
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list | tuple):
        return [_as_stored(each) for each in cast("Sequence[Any]", value)]
    return value


def _value(kernel: Kernel, result: Any) -> RunValue:
    try:
        value: RunValue = session_value(result)
    except Exception as error:  # of numpy, for what is no array
        raise _no_array(kernel, result) from error
    if isinstance(value, DeviceArray) and value.device == "cpu":
        value = cast(RunValue, value.numpy())
    if not (_is_sequence(result, value) if isinstance(value, list) else _is_tensor(value)):
        raise _no_array(kernel, result)
    return value


def _no_array(kernel: Kernel, result: object) -> KernelError:
    what = "None" if result is None else described_type(type(result))
    if isinstance(result, np.ndarray):
        what += f" of {cast('np.ndarray[Any, Any]', result).dtype}"
    return KernelError(
        f"the kernel of {kernel.called} gives {what}, which is no tensor",
        help="return an array of numbers, truth values or text, or a tuple of arrays",
    )


def _is_tensor(value: object) -> bool:
    if not isinstance(value, np.ndarray | np.generic):
        return False
    array: np.ndarray[Any, Any] = np.asarray(cast(Any, value))
    if DType.from_numpy(array.dtype) is None:
        return False
    return not array.dtype.hasobject or all(isinstance(each, str | bytes) for each in array.flat)


def _is_sequence(result: object, values: list[RunValue]) -> bool:
    """True for a list of arrays. One of numbers is meant as an array, and which one nobody says."""
    given = cast("list[object]", result)
    return all(map(_is_tensor, values)) and not any(isinstance(each, int | float | list) for each in given)


def _apart(value: RunValue, inputs: Sequence[RunValue]) -> RunValue:
    """A result in memory of its own: a kernel may give an input, or a view of one."""
    if isinstance(value, list):
        return [_apart(each, inputs) for each in value]
    if isinstance(value, np.ndarray):
        for each in (
            arrays for given in inputs for arrays in (given if isinstance(given, list) else [given])
        ):
            if isinstance(each, np.ndarray) and np.may_share_memory(value, each):
                return value.copy()
    return value


def fits(value: RunValue, kind: AnyValueType) -> bool:
    """True unless a value is certainly not of a type."""
    if isinstance(kind, SequenceType):
        return isinstance(value, list) and all(fits(each, kind.element) for each in value)
    if not isinstance(kind, TensorType) or value is None:
        return True
    dtype = getattr(value, "dtype", None)
    if dtype is None or (kind.dtype is not None and DType.from_numpy(dtype) is not kind.dtype):
        return False
    shape: Iterable[int] = getattr(value, "shape", ())
    sizes = kind.shape
    if sizes is None:
        return True
    given = tuple(shape)
    return len(given) == len(sizes) and all(
        not isinstance(want, int) or want == have for want, have in zip(sizes, given, strict=True)
    )


def _described(kind: AnyValueType) -> str:
    if isinstance(kind, TensorType) and kind.dtype is not None and kind.shape is not None:
        return f"{kind.dtype.spelling} of shape {describe_shape(kind.shape)}"
    return repr(kind)


def failed_kernel(
    kernel: Kernel,
    inputs: Sequence[RunValue],
    error: Exception,
    locate: Callable[[OperatorFailedError], object] = lambda error: error.locate(caller_span()),
) -> OperatorFailedError:
    """The error for a kernel that raised one of its own; `locate` gives it the place of the call or node."""
    given = ", ".join(map(described_value, inputs))
    made = OperatorFailedError(
        f"{kernel.called} cannot run on ({given}): its kernel raised {type(error).__name__}: {error}"
    )
    locate(made)
    return made.also(traceback_span(error.__traceback__), "its kernel raised it here")
