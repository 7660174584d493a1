"""`@script` and `@graph`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar, cast

from onnxsmith.context import setting
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import CallError, OnnxsmithError, UnknownMethodError, boundary
from onnxsmith.graphs.opsets import check_opset_version
from onnxsmith.opset.custom import Opset
from onnxsmith.opset.module import is_opset_module
from onnxsmith.scripting.functions.debuggers import paused, resume
from onnxsmith.scripting.functions.definition import Exactness, OpsetLike, named_version
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.scripting.functions.wrapped import plain_function
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.source import text_of

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.jit import Jit

F = TypeVar("F", bound=Callable[..., Any])
#: What can be decorated: a function, or what Python makes of one in a class.
Decorated: TypeAlias = "Function | classmethod[Any, ..., Any] | staticmethod[..., Any]"
#: What a decorator makes of it.
Made: TypeAlias = "ScriptFunction | _ClassScript | staticmethod[..., UserValue]"


@boundary
def script(
    function: Decorated | Opset | types.ModuleType | None = None,
    default_opset: OpsetLike | None = None,
    *,
    domain: str | None = None,
    overload: str = "",
    inline: bool = False,
    name: str | None = None,
    exact: Exactness = False,
    opset: OpsetLike | None = None,
    ir_version: int | None = None,
    producer_name: str | None = None,
    producer_version: str | None = None,
) -> Made | Callable[[Decorated], Made]:
    """Make a Python function an ONNX function: `@script`, `@script()`, `@script(default_opset=opset18)`.

    Called with arrays it runs at once; `to_model_proto()` and `to_function_proto()` are the same program in ONNX.
    `domain` (or an `Opset` as first argument, or as `opset`) and `overload` say where the function lives;
    `inline=True` puts its body where it is called. Without a named opset, Python's own operators use the one that the
    code uses, or else the newest that the installed ONNX Runtime runs. `name` is the function's name in ONNX where
    Python cannot spell it. `exact=True` makes the nodes that are written and no others, with the types that are
    written: what decompiled code asks for. `exact="unchecked"` does so where they cannot work, too, with a warning:
    a model is taken as it is. `ir_version`, `producer_name` and `producer_version` are those of its models, where
    `to_model` is given no others.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset18 as op, script
    >>> double = script(lambda x: x + x)
    >>> double(np.float32([1, 2]))
    array([2., 4.], dtype=float32)
    """
    if exact not in (True, False, "unchecked"):
        raise CallError(f"exact={exact!r} is not known", help='it is True, False or "unchecked"')
    options: dict[str, Any] = {"overload": overload, "inline": inline, "name": name, "exact": exact}
    of_models = {
        "ir_version": ir_version,
        "producer_name": producer_name,
        "producer_version": producer_version,
    }
    options["model_options"] = {name: value for name, value in of_models.items() if value is not None}
    if isinstance(function, int):
        raise CallError(
            f"@script is for Python functions, not {type(function).__name__}",
            help=f"the version of an opset is given by name: script(opset={int(function)})",
        )
    is_opset = isinstance(function, Opset) or (
        isinstance(function, types.ModuleType) and is_opset_module(function)
    )
    if is_opset and opset is not None:
        raise CallError(
            "the opset is given twice", help="script(opset) and script(opset=opset) mean the same"
        )
    where = cast("OpsetLike | None", function if is_opset else opset)
    if isinstance(where, Opset) and where.domain:
        domain = where.domain if domain is None else domain
        options["domain_version"] = where.version
    elif default_opset is None:
        default_opset = where
    # Modules are there. What is rebuilt exactly names each of its operators itself.
    if isinstance(default_opset, Opset | int) and exact is False:
        check_opset_version(
            named_version(default_opset), "opset" if default_opset is where else "default_opset"
        )
    options |= {"domain": domain, "default_opset": default_opset}
    return _decorator(options) if function is None or is_opset else _make(cast(Decorated, function), options)


def _decorator(options: Mapping[str, Any]) -> Callable[[Decorated], Made]:
    @boundary
    def decorate(function: Decorated) -> Made:
        return _make(function, options)

    return decorate


class _ClassScript:
    """A script of a class, bound as scripts are; since Python 3.13 `classmethod` makes a plain method of it."""

    def __init__(self, made: ScriptFunction) -> None:
        self.__wrapped__ = made

    def __get__(self, instance: object, owner: type | None = None) -> ScriptFunction:
        return self.__wrapped__.__get__(type(instance) if owner is None else owner)


def _make(function: Decorated, options: Mapping[str, Any]) -> Made:
    if isinstance(function, classmethod):
        return _ClassScript(_script_of(cast(Any, function).__func__, options))
    if isinstance(function, staticmethod):
        return staticmethod(_script_of(function.__func__, options, is_static=True))
    return _script_of(function, options)


def _script_of(function: Function, options: Mapping[str, Any], *, is_static: bool = False) -> ScriptFunction:
    if isinstance(function, types.MethodType):
        return _script_of(function.__func__, options).__get__(cast(UserValue, function.__self__))
    plain = plain_function(function)
    if plain is None:
        raise CallError(
            f"@script is for Python functions, not {type(function).__name__}",
            help="define a function with def",
        )
    tracer = paused()
    try:
        made = ScriptFunction(plain, **options)
        made.check()
    except OnnxsmithError as error:
        if not is_static:
            _explain_first_parameter(error, plain)
        collected = _collected.get()
        if collected is None:
            raise
        collected.append(error.locate_in_traceback())
        return cast(ScriptFunction, _Broken(error))
    finally:
        resume(tracer)
    return made


def _explain_first_parameter(error: OnnxsmithError, function: types.FunctionType) -> None:
    """Say of `this.h`, in a method whose first parameter is not named `self`, that the parameter is an input."""
    class_name = function.__qualname__.rpartition(".")[0]
    first = next(iter(inspect.signature(function).parameters), "")
    is_method = class_name and not class_name.endswith("<locals>") and first not in function.__annotations__
    if not is_method or not isinstance(error, UnknownMethodError) or error.span is None:
        return
    if (text_of(error.span) or "").startswith(f"{first}."):
        named = f"'{first}' is an input, a tensor; the object of a method is its first parameter if that is named self"
        error.help = named if error.help is None else f"{error.help};\n{named}"


#: Where a check of a whole file wants the errors of its scripts, so that the first does not hide the others.
_collected: ContextVar[list[OnnxsmithError] | None] = ContextVar("onnxsmith_collected", default=None)


@contextmanager
def collecting() -> Generator[list[OnnxsmithError]]:
    """Within the block, decorating a script that is wrong adds its error to the list, and goes on."""
    found: list[OnnxsmithError] = []
    with setting(_collected, found):
        yield found


class _Broken:
    """Stands for a script that is wrong; whoever calls it gets the same error."""

    def __init__(self, error: OnnxsmithError) -> None:
        self._error = error

    def __call__(self, *_: UserValue, **__: UserValue) -> NoReturn:
        raise self._error


def graph(function: F | None = None) -> F | Callable[[F], F]:
    """Mark a nested function as the body of `op.Loop`, `op.Scan`, `op.If` or `op.SequenceMap`.

    The body sees the variables around it. `@graph` and `@graph()` mean the same.

    >>> from onnxsmith import FLOAT, graph, opset21 as op, script
    >>> @script()
    ... def totals(x: FLOAT["N"]) -> tuple[FLOAT, FLOAT["N"]]:
    ...     @graph
    ...     def step(total, element):
    ...         total = total + element
    ...         return total, total
    ...     return op.Scan(0.0, x, body=step, num_scan_inputs=1)
    >>> totals([1.0, 2.0, 3.0])
    (array(6., dtype=float32), array([1., 3., 6.], dtype=float32))
    """
    if function is not None:
        return function
    return _itself


def _itself(function: F) -> F:
    return function


@boundary
def jit(function: Function) -> Jit:
    """A script that runs as one model: `fast = jit(f)`, then `fast(x)`.

    The model is made at the first call for inputs of the same element types and ranks, and again when something that
    the function reads around it has changed.

    >>> from onnxsmith import jit
    >>> import numpy as np
    >>> jit(lambda x: x * 2)(np.float32([1, 2]))
    array([2., 4.], dtype=float32)
    """
    from onnxsmith.scripting.functions.jit import Jit  # heavy: onnx-ir is imported when something is staged

    if isinstance(function, ScriptFunction):
        return Jit(function)
    return Jit(_script_of(function, {}))
