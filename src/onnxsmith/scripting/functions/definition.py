"""A script before anything is done with it: what the user wrote, where it stands, and what is known of it.

Names that are defined nowhere are found here: neither in the script, nor around it, nor further down in its module.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, cast

from onnxsmith.core.operator import Operator
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import undefined_name_help
from onnxsmith.errors import (
    CallError,
    OnnxsmithError,
    RecursiveFunctionError,
    UndefinedNameError,
    UnsupportedSyntaxError,
    combined,
)
from onnxsmith.graphs.interface import GivenNames, refuse_unknown
from onnxsmith.opset.custom import Opset
from onnxsmith.opset.module import standard_version
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.scripting.analysis.analyze import Analysis, analyze
from onnxsmith.scripting.analysis.names import assigned_names, free_names, parameter_names
from onnxsmith.scripting.analysis.straight import StraightCode, read_straight
from onnxsmith.scripting.functions.binding import bind_call
from onnxsmith.scripting.functions.signature import ScriptSignature, read_signature
from onnxsmith.scripting.functions.staged_cache import StagedResult
from onnxsmith.scripting.source.definition_spans import Places
from onnxsmith.scripting.source.function_source import (
    FunctionNode,
    module_level_names,
    refuse_if_changed,
    span_of,
)
from onnxsmith.scripting.source.outside import is_user_code, outside
from onnxsmith.scripting.staging.naming_targets import StraightCall, straight_call
from onnxsmith.scripting.staging.plain_outside import Script
from onnxsmith.source import DEFINITION, Place, Span, code_span
from onnxsmith.types.value_types import SequenceType

#: What says which opset is meant: an opset, the module of one, or its version.
OpsetLike: TypeAlias = Opset | types.ModuleType | int


def named_version(value: OpsetLike | Operator | UserValue) -> int | None:
    """The version of the standard domain that an opset, one of its operators, or a plain number stands for."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, Operator):
        return value.version if value.definition.domain == "" else None
    if isinstance(value, Opset):
        return value.version if value.domain == "" else None
    return standard_version(value) if isinstance(value, types.ModuleType) else None


def found_version(function: types.FunctionType) -> int | None:
    """The newest version that a function or a helper of it names; else that of the models it refers to, if any."""
    used = list(_used(function, set()))
    versions = {version for each in used if not isinstance(each, int) and (version := named_version(each))}
    versions = versions or {version for each in used if (version := _version_of_model(each))}
    return max(versions) if versions else None


def _version_of_model(value: UserValue) -> int | None:
    # Told by what its class has: importing Model would import onnx-ir with every script.
    if not hasattr(type(value), "opset_imports"):
        return None
    return cast(_Importing, value).opset_imports.get("")


class _Importing(Protocol):
    """A model, and what it imports."""

    @property
    def opset_imports(self) -> Mapping[str, int]: ...


def _used(function: types.FunctionType, seen: set[int]) -> Iterator[UserValue]:
    """The objects outside a function that its code refers to, with those of the helpers among them."""
    if id(function) in seen:
        return
    seen.add(id(function))
    for value in outside(function).values():
        # A script that is called is a function of its own, with an opset of its own; a helper is staged in place.
        if isinstance(value, types.FunctionType) and is_user_code(value):
            yield from _used(value, seen)
        else:
            yield value


class ModelOptions(TypedDict, total=False):
    """The options, each of them optional; the docstring of `to_model` says what they mean."""

    attributes: Mapping[str, Any] | None
    opset_version: int | None
    input_types: Sequence[Any] | Mapping[str, Any] | None
    output_types: Sequence[Any] | Mapping[str, Any] | None
    io_types: Any
    value_infos: Mapping[str, Any] | None
    input_names: GivenNames | None
    output_names: GivenNames | None
    name: str | None
    doc_string: str | None
    metadata: Mapping[str, str] | None
    ir_version: int | None
    producer_name: str
    producer_version: str
    functions: Sequence[Any]
    inline: bool


OPTIONS = tuple(ModelOptions.__annotations__)


def check_options(given: Iterable[str], attributes: Collection[str]) -> None:
    """Raise CallError where an option is none; it may be one of the script's attributes."""
    for name in (name for name in given if name not in OPTIONS):
        is_attribute = name in attributes
        help = f"give attributes of the script by name: attributes={{'{name}': …}}" if is_attribute else None
        refuse_unknown("to_model", [name], OPTIONS, CallError, help)


#: The domain of functions of a program that is run as a script or typed in.
_MAIN_DOMAIN = "this"
#: `exact` of `script`: whether the graph has the nodes that are written and no others, and whether they are checked.
Exactness = bool | Literal["unchecked"]


class ScriptDefinition(Script):
    """The definition of a function that `@script` has decorated."""

    def __init__(
        self,
        function: types.FunctionType,
        *,
        domain: str | None = None,
        domain_version: int = 1,
        overload: str = "",
        default_opset: OpsetLike | None = None,
        inline: bool = False,
        name: str | None = None,
        exact: Exactness = False,
        model_options: Mapping[str, Any] | None = None,
        instance: UserValue = None,
    ) -> None:
        functools.update_wrapper(cast(Any, self), function)
        if instance is not None:  # as a bound method: what it wraps is called without self
            self.__wrapped__ = types.MethodType(function, instance)
        self.function = function
        self.name = function.__name__ if function.__name__.isidentifier() else "lambda_function"
        #: What ONNX calls it.
        self.onnx_name = self.name if name is None else name
        #: Whether its graph has the nodes and types that are written, and nothing else.
        self.is_exact = bool(exact)
        #: Whether what cannot work is a warning: it is as somebody else's model has it.
        self.is_lenient = exact == "unchecked"
        #: Whether it is meant as a model, not as a function that others call: nobody said where it lives.
        self.is_main = domain is None
        self.domain = domain if domain is not None else _domain_of(function)
        #: The version of its domain that models import.
        self.domain_version = domain_version
        self.overload = overload
        self.is_inline = inline
        self._default_opset = default_opset
        #: Options of `to_model` that hold where it is given no others.
        self.model_options: Mapping[str, Any] = model_options or {}
        self.instance = instance
        self.options = {
            "domain": domain,
            "domain_version": domain_version,
            "overload": overload,
            "default_opset": default_opset,
            "inline": inline,
            "name": name,
            "exact": exact,
            "model_options": model_options,
        }
        self.places = Places(function, self.name)
        self._straight: StraightCode | None = read_straight(function)
        self._analysis: Analysis | None = None
        self._undefined_names: UndefinedNames | None = None
        #: What checking it left behind, for the first model that is made of it.
        self.kept: StagedResult[Any] | None = None
        #: What is wrong with it before it is staged: names that are defined nowhere.
        self.known_mistakes: list[OnnxsmithError] = []
        if self.straight_call() is None:
            _ = self.analysis  # refuses what a script cannot contain
        self.parameters: ScriptSignature = read_signature(function, self.places)

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def signature(self) -> inspect.Signature:
        """The Python signature.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> list(doubled.signature.parameters)
        ['x']
        """
        return self.parameters.python

    @property
    def __signature__(self) -> inspect.Signature:
        """The Python signature as whoever calls it sees it: of a method without `self`."""
        python = self.parameters.python
        if self.instance is None:
            return python
        fixed = self.fixed_arguments
        return python.replace(
            parameters=[each for name, each in python.parameters.items() if name not in fixed]
        )

    @property
    def definition(self) -> Span:
        """Where it is defined: `def name`."""
        return self.places.definition if self._straight is None else code_span(self.function.__code__)

    @property
    def place(self) -> Place:
        """The place that `definition` is made of when it is read; nothing is read before that."""
        return self.places.definition if self._straight is None else (self.function.__code__, DEFINITION)

    def straight_call(self) -> StraightCall | None:
        """How to stage it by calling it; None where its syntax tree is needed."""
        return straight_call(self._straight, self.function)

    @property
    def is_analyzed(self) -> bool:
        """True if its syntax tree was needed so far."""
        return self._analysis is not None

    @property
    def analysis(self) -> Analysis:
        """The facts from its syntax tree; raises an error for all that a script cannot contain."""
        code, global_names = self.function.__code__, self.function.__globals__
        if self._analysis is None or not self._analysis.fits(global_names):
            node = self.places.node
            refuse_if_changed(self.function, node)
            try:
                self._analysis = analyze(node, code.co_filename, self.name, code.co_freevars, global_names)
            except UnsupportedSyntaxError as error:
                body = node.body if isinstance(node, ast.FunctionDef) else [ast.Expr(node.body)]
                variables = [*parameter_names(node.args), *assigned_names(body)]
                raise combined([error, *error.others, *self.undefined.errors(variables)]) from None
        return self._analysis

    @property
    def undefined(self) -> UndefinedNames:
        """The names in it that had no value when it was decorated."""
        if self._undefined_names is None:
            analysis = self._analysis
            reads = None if analysis is None else set(analysis.facts.reads) - analysis.local_names
            self._undefined_names = UndefinedNames(self.places.node, self.function, self.name, reads)
        return self._undefined_names

    @property
    def source(self) -> str:
        """The source text.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> doubled.source.splitlines()[-1].strip()
        'return x + x'
        """
        node = self.places.node
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        lines = linecache.getlines(self.function.__code__.co_filename)[first - 1 : node.end_lineno]
        return inspect.cleandoc("".join(lines)) + "\n" if lines and lines[0][:1].isspace() else "".join(lines)

    @property
    def opset_version(self) -> int:
        """The opset that Python's own operators in it use: the one named, the one its code uses, or the newest.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return op.Relu(x)
        >>> doubled.opset_version
        21
        """
        return self.named_opset_version or default_opset_version()

    @property
    def named_opset_version(self) -> int | None:
        """The opset that was asked for, or that its code refers to; None where nothing names one."""
        return named_version(self._default_opset) or found_version(self.function)

    @property
    def fixed_arguments(self) -> dict[str, UserValue]:
        """`self`, for a method."""
        return {each.name: self.instance for each in self.parameters.parameters if each.role == "self"}

    @property
    def returns_sequence(self) -> bool:
        """True if a list that it returns is one output, a sequence: its annotation says so."""
        returns = self.parameters.returns
        return returns is not None and len(returns) == 1 and isinstance(returns[0], SequenceType)

    def completed(self, arguments: Mapping[str, UserValue]) -> dict[str, UserValue]:
        """Arguments in the order of the signature, with defaults for the rest."""
        bound = inspect.BoundArguments(self.signature, dict(arguments))  # type: ignore[arg-type]
        bound.apply_defaults()
        return dict(bound.arguments)

    def bind(self, args: tuple[UserValue, ...], kwargs: dict[str, UserValue]) -> dict[str, UserValue]:
        """The arguments of a call by parameter, with defaults for the rest; raises CallError."""
        fixed = () if self.instance is None else tuple(self.fixed_arguments.values())
        return bind_call(self.name, self.signature, (*fixed, *args), kwargs, self.place)


def _domain_of(function: types.FunctionType) -> str:
    module = function.__module__ or _MAIN_DOMAIN
    return _MAIN_DOMAIN if module == "__main__" else module


class UndefinedNames:
    """The names of one function that had no value when it was decorated."""

    def __init__(
        self, node: FunctionNode, function: types.FunctionType, name: str, reads: Iterable[str] | None = None
    ) -> None:
        self._node = node
        self._function = function
        self._name = name
        # The names that its expressions read are known where it was analysed: most functions are done with that.
        is_open = reads is None or any(not _is_defined(each, function) for each in reads)
        self._uses = _undefined_names(node, function) if is_open else []

    @property
    def missing(self) -> list[ast.Name]:
        """Where those stand that still have no value."""
        return [each for each in self._uses if not _is_defined(each.id, self._function)]

    def errors(self, variables: Iterable[str]) -> list[OnnxsmithError]:
        """An error for each name that is defined neither now nor further down, and for a call of itself."""
        code = self._function.__code__
        missing = self.missing
        later = set(module_level_names(code.co_filename)) if missing else set[str]()
        known = {*self._function.__globals__, *variables, *dir(builtins), *later}
        errors: list[OnnxsmithError] = []
        for name in missing:
            span = span_of(name, code.co_filename, self._name)
            if name.id == self._name and _is_called(name, self._node):
                recursive = RecursiveFunctionError(
                    f"'{name.id}' calls itself, and an ONNX function cannot", help="write a loop"
                )
                errors.append(recursive.locate(span))
            elif name.id not in later and name.id not in code.co_freevars:
                help_text = undefined_name_help(name.id, known)
                errors.append(UndefinedNameError(f"'{name.id}' is not defined", help=help_text).locate(span))
        return errors


def _is_called(name: ast.Name, node: FunctionNode) -> bool:
    return any(isinstance(each, ast.Call) and each.func is name for each in ast.walk(node))


def _undefined_names(node: FunctionNode, function: types.FunctionType) -> list[ast.Name]:
    """Names that are neither variables of the function nor defined around it."""
    names = [each for each in free_names(node) if not _is_defined(each, function)]
    if not names:
        return []
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    inside = {id(each) for part in body for each in ast.walk(part)}
    # What a script cannot contain has names of its own, which nobody looks at.
    refused = [each for each in ast.walk(node) if isinstance(each, ast.AsyncFunctionDef | ast.ClassDef)]
    inside -= {id(each) for part in refused for each in ast.walk(part)}
    uses: list[ast.Name] = []
    for name in names:
        found = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
        uses += [each for each in found if id(each) in inside][:1]
    return uses


def _is_defined(name: str, function: types.FunctionType) -> bool:
    if name in function.__code__.co_freevars:  # whatever else is called so
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            _ = cell.cell_contents
        except ValueError:
            return False
        return True
    return name in function.__globals__ or hasattr(builtins, name)
