"""mypy plugin: what stands in the brackets of `FLOAT["N", 4]` is a shape; a script takes arrays where it takes tensors.

mypy reads brackets after a class as type arguments and strings in them as names, whatever the class says of itself;
pyright asks the class. And it keeps overloads that do not fit the object they are called on, so that a call of a script
on arrays would be checked for little. To be named in mypy's configuration: `plugins = ["onnxsmith.mypy_plugin"]`.
`FLOAT` by itself and `Annotated[FLOAT, "N", 4]` need no plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mypy.errorcodes import NAME_DEFINED
from mypy.plugin import AnalyzeTypeContext, MethodSigContext, Plugin
from mypy.types import (
    AnyType,
    FunctionLike,
    Instance,
    NoneType,
    Parameters,
    TupleType,
    Type,
    TypeOfAny,
    UnboundType,
    UnionType,
    get_proper_type,
)

from onnxsmith.types.dtypes import DType

_MODULE = "onnxsmith.opset._stubs.tensors"
_CLASSES = frozenset(f"{_MODULE}.{dtype.name}" for dtype in DType)
_FUNCTIONS = "onnxsmith.opset._stubs.functions"
_CALLS = frozenset(f"{_FUNCTIONS}.{name}.__call__" for name in ("OnnxFunction", "Jit"))


class TensorPlugin(Plugin):
    """Takes a tensor class with any brackets for the class, and arrays where a script wants tensors."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname not in _CLASSES:
            return None

        def take_class(context: AnalyzeTypeContext) -> Type:
            _forget_undefined_names(context)
            return context.api.named_type(fullname, [])

        return take_class

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _with_arrays if fullname in _CALLS else None


def _with_arrays(context: MethodSigContext) -> FunctionLike:
    """The signature of a script, its inputs tensors or arrays, for each overload but the one for tensors alone."""
    signature, script = context.default_signature, get_proper_type(context.type)
    result = get_proper_type(signature.ret_type)
    takes_any = isinstance(result, Instance) and result.type.fullname == f"{_MODULE}.AnyTensor"
    if not isinstance(script, Instance) or not (takes_any or _is_made_of_arrays(result)):
        return signature
    parameters = get_proper_type(script.args[0]) if script.args else None
    array, fixed = (_attribute(script, name) for name in ("_array", "_fixed"))
    if not isinstance(parameters, Parameters) or array is None or fixed is None:
        return signature
    types = list(parameters.arg_types)
    inputs = [k for k, each in enumerate(types) if _is_input(each)]
    for k in inputs:
        if takes_any:
            types[k] = UnionType.make_union([types[k], fixed])
        else:
            types[k] = array if k == inputs[0] else UnionType.make_union([NoneType(), fixed])
    if not takes_any and inputs:
        signature = signature.copy_modified(  # pyright: ignore[reportUnknownMemberType]  # as below
            ret_type=_as_arrays(script.args[1], result)
        )
    elif not takes_any:
        return signature
    return signature.copy_modified(  # pyright: ignore[reportUnknownMemberType]  # its defaults have no types
        arg_types=types, arg_kinds=parameters.arg_kinds, arg_names=parameters.arg_names, variables=()
    )


def _attribute(script: Instance, name: str) -> Type | None:
    held = script.type.get(name)
    return None if held is None else held.type


def _is_made_of_arrays(result: Type) -> bool:
    kind = get_proper_type(result)
    if not isinstance(kind, Instance):
        return False
    if kind.type.fullname == "builtins.tuple":
        return _is_made_of_arrays(kind.args[0])
    return kind.type.fullname == "numpy.ndarray"


def _as_arrays(made: Type, result: Type) -> Type:
    """The result type of a script on arrays; mypy keeps the overloads for other results than its own."""
    kind = get_proper_type(made)
    array = get_proper_type(result)
    if isinstance(array, Instance) and array.type.fullname == "builtins.tuple":
        array = get_proper_type(array.args[0])
    if isinstance(kind, TupleType) and all(_is_input(each) for each in kind.items):
        return kind.copy_modified(items=[array for _ in kind.items])
    is_tensor = isinstance(kind, Instance) and kind.type.has_base(f"{_MODULE}.Tensor")
    return array if is_tensor else AnyType(TypeOfAny.special_form)


def _is_input(annotation: Type) -> bool:
    """True if a parameter of this type is an input of the script: a tensor, perhaps none, or a sequence of them."""
    kind = get_proper_type(annotation)
    if isinstance(kind, UnionType):
        return any(_is_input(each) for each in kind.items)
    if not isinstance(kind, Instance):
        return False
    is_sequence = kind.type.has_base("typing.Sequence") and bool(kind.args)
    return kind.type.has_base(f"{_MODULE}.Tensor") or (is_sequence and _is_input(kind.args[0]))


def _forget_undefined_names(context: AnalyzeTypeContext) -> None:
    """Withdraw what mypy has to say against names in the brackets.

    It looks for type variables in them before it asks a plugin about the annotation, and reports the names it does
    not find; nothing in a plugin comes earlier in every mode of mypy.
    """
    places = {(each.line, each.column) for each in _names_in(context.type.args)}
    # `api` is the semantic analyzer behind its public interface; should it ever look otherwise, only strings suffer.
    analyzer: Any = getattr(context.api, "api", None)
    errors: Any = getattr(analyzer, "errors", None)
    if not places or errors is None:
        return
    reported: list[Any] = errors.error_info_map.get(errors.file, [])
    reported[:] = [
        each for each in reported if each.code is not NAME_DEFINED or (each.line, each.column) not in places
    ]


def _names_in(arguments: Iterable[Type]) -> Iterator[UnboundType]:
    for argument in arguments:
        if isinstance(argument, UnboundType):
            yield argument
            yield from _names_in(argument.args)


def plugin(version: str) -> type[Plugin]:
    """The entry point for mypy, of any version."""
    return TensorPlugin
