"""Translations that the user gives: scripts, operators of other domains, and functions on tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import torch
from torch._library.custom_ops import CustomOpDef
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.semantics.python_errors import refusal_for
from onnxsmith.core.value import Value
from onnxsmith.errors import ExportError, TranslationError
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Argument, Arguments, Fake, Keywords, Target, Translated, schema_of

#: An operator of torch, as users name one.
OperatorKey: TypeAlias = (
    "OpOverload[..., Any] | OpOverloadPacket[..., Any] | HigherOrderOperator | CustomOpDef"
)
#: A script, an operator of an opset, or a function on tensors.
CustomTranslation: TypeAlias = Callable[..., Translated]
#: What users give in the place of translations.
Translations: TypeAlias = "Mapping[OperatorKey, CustomTranslation]"


def by_overload(translations: Translations) -> dict[Target, CustomTranslation]:
    """Translations by overload; one given for `torch.ops.my.op` is for all its overloads."""
    result: dict[Target, CustomTranslation] = {}
    for target, function in translations.items():
        if not callable(function):  # users may give anything
            raise ExportError(
                f"the translation of {target} is not a function but {type(function).__name__}",
                help="give a script, an operator of an opset, or a function on tensors",
            )
        if isinstance(target, OpOverloadPacket):
            for overload in target.overloads():
                result[getattr(target, overload)] = function
        elif isinstance(target, CustomOpDef):
            result[target._opoverload] = function  # pyright: ignore[reportPrivateUsage]  # it has no other name
        elif isinstance(target, OpOverload | HigherOrderOperator):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
            result[target] = function
        else:
            raise ExportError(
                f"{target!r} is not an operator of torch",
                help="keys of translations are torch.ops.my.op.default, torch.ops.my.op, or what custom_op returns",
            )
    return result


def called_custom(
    function: CustomTranslation, target: Target, args: Arguments, kwargs: Keywords
) -> Translated:
    """Call a translation with torch's arguments.

    ONNX has inputs that are tensors and attributes that are not. An operator gets what is no tensor by the name that
    torch's schema has for it; a script gets everything under its parameters, and a plain function as torch does.
    """
    if not _has_attributes(function):
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise TranslationError(
                f"the translation of {target} does not take what torch gives it: {error}",
                help=f"torch's operator is {schema_of(target) or target}",
            ) from None
        try:
            return function(*args, **kwargs)
        except (
            Exception
        ) as error:  # a function of torch or numpy on a tensor of the graph, a name that those have not
            refused = refusal_for(error)
            if refused is None:
                raise
            raise refused from None
    given = [
        # An attribute of ONNX has the code of an element type.
        (name, int(onnx_dtype(each)) if isinstance(each, torch.dtype) else each)
        for name, each in _in_order(target, args, kwargs)
    ]
    translation: Any = function
    if isinstance(translation, ScriptFunction):
        return _called_script(translation, target, given)
    inputs: list[Argument] = []
    attributes: Keywords = {}
    for name, value in given:
        if name is None or _is_input(value):
            inputs.append(value)
        else:
            attributes[name] = value
    while inputs and inputs[-1] is None:
        inputs.pop()
    return function(*inputs, **attributes)


def _in_order(target: Target, args: Arguments, kwargs: Keywords) -> list[tuple[str | None, Argument]]:
    """All arguments that are given, with their names, in the order of torch's schema."""
    schema = schema_of(target)
    if schema is None:
        return [*((None, each) for each in args), *kwargs.items()]
    names = [each.name for each in schema.arguments]
    named: Keywords = {**dict(zip(names, args, strict=False)), **kwargs}
    return [(name, named[name]) for name in names if name in named]


def _called_script(
    script: ScriptFunction, target: Target, given: Sequence[tuple[str | None, Argument]]
) -> Translated:
    """Call a script, whose parameters are those of torch's operator in the same order, or of the same names."""
    parameters = script.signature.parameters
    schema = schema_of(target)
    declared = [] if schema is None else list(schema.arguments)
    names = [each.name for each in declared] or [name for name, _ in given]
    is_named = all(name in parameters for name, _ in given)
    # What is left out in the middle keeps its place.
    placed = dict(zip(names, parameters, strict=False)) if not is_named else {name: name for name in names}
    if any(name not in placed for name, _ in given):
        raise TranslationError(
            f"the script {script.name} does not take what torch gives {target}: it has the parameters "
            f"{', '.join(parameters) or 'none'}",
            help=f"torch's operator is {schema or target}",
        )
    values: dict[str, Any] = {str(placed[name]): each for name, each in given if each is not None}
    for each in declared:
        parameter = parameters.get(str(placed.get(each.name)))
        if parameter is not None and parameter.default is parameter.empty and each.default_value is not None:
            values.setdefault(parameter.name, each.default_value)
    return cast("Translated", script(**values))


def called_functionally(
    function: CustomTranslation, target: Target, kwargs: Mapping[str, Argument]
) -> list[Translated]:
    """Call the translation of an operator that writes to arguments, in the form that torch's rewriting gives it.

    The translation gives the results of the operator, and behind them the new value of each argument that it writes to.
    """
    schema = schema_of(target)
    assert schema is not None  # torch rewrites operators with one alone
    bases = cast("Sequence[Argument]", kwargs["_all_bases"])
    arguments: Keywords = {}
    written: list[int] = []
    for each in schema.arguments:
        if each.name in kwargs:
            arguments[each.name] = kwargs[each.name]
        elif each.alias_info is not None and each.alias_info.is_write:
            views = [
                key for key in kwargs if key.startswith(f"_{each.name}_") and not key.endswith("_base_index")
            ]
            place = kwargs.get(f"_{each.name}_base_index")
            if views or not isinstance(place, int):
                raise TranslationError(
                    f"{target} writes to a part of a tensor, or to a list of them",
                    help="give it whole tensors: part = x[0].clone(); op(part); x[0] = part",
                )
            arguments[each.name] = bases[place]
            written.append(place)
    ordered = [each.name for each in schema.arguments if not each.kwarg_only and each.name in arguments]
    made = called_custom(
        function,
        target,
        tuple(arguments[name] for name in ordered),
        {name: value for name, value in arguments.items() if name not in ordered},
    )
    found: list[Any] = list(made) if isinstance(made, tuple | list) else [made]
    count = len(schema.returns)
    if len(found) != count + len(written):
        raise TranslationError(
            f"the translation of {target} gives {_count(len(found), made)} where torch has {count} and writes to "
            f"{len(written)} arguments",
            help="return the results and behind them the new value of each argument that the operator writes to",
        )
    after: list[Any] = list(bases)
    for place, value in zip(written, found[count:], strict=True):
        after[place] = value
    return [*(found[:count] or [None]), *after]


def check_count(overload: str, result: Translated, output: Fake) -> None:
    """A translation gives as many values as torch's operator; `output` is what torch knows of those."""
    mine = len(result) if isinstance(result, tuple | list) else int(result is not None)
    if isinstance(output, torch.Tensor | tuple | list):
        theirs = len(output) if isinstance(output, tuple | list) else 1
        if mine != theirs or isinstance(result, tuple | list) is not isinstance(output, tuple | list):
            raise TranslationError(
                f"the translation of {overload} gives {_count(mine, result)} where torch has "
                f"{_count(theirs, output)}"
            )


def _count(count: int, values: Translated | Fake) -> str:
    form = " in a tuple" if count == 1 and isinstance(values, tuple | list) else ""
    return f"{count or 'no'} value{'s' * (count != 1)}{form}"


def _has_attributes(function: CustomTranslation) -> bool:
    """True if a callable tells tensors from attributes: operators and scripts do, Python's functions do not."""
    return not hasattr(function, "__code__")


def _is_input(value: Argument) -> bool:
    if isinstance(value, list | tuple):
        return any(isinstance(each, Value) for each in value)
    return value is None or isinstance(value, Value | Number | Complex)
