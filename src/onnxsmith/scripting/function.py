"""A script: a Python function that runs eagerly, and that becomes an ONNX function or model."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onnxsmith.core.target import ACTIVE
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import CallError, OnnxsmithError, UndefinedNameError, boundary
from onnxsmith.scripting.analysis import Analysis, analyze
from onnxsmith.scripting.containers import METHODS
from onnxsmith.scripting.eager_call import run_eagerly
from onnxsmith.scripting.flow import free_names
from onnxsmith.scripting.function_source import find_function, module_level_names, span_of
from onnxsmith.scripting.opset_choice import choose_version, named_version
from onnxsmith.scripting.signature import ScriptSignature, read_signature
from onnxsmith.scripting.subset import combined, find_unsupported
from onnxsmith.source import Span

if TYPE_CHECKING:
    import onnx

    from onnxsmith.graphs.function import FunctionBody
    from onnxsmith.graphs.model import Model

#: The domain of functions of a program that is run as a script or typed in.
_MAIN_DOMAIN = "this"


class ScriptFunction:
    """A function made by `@script`."""

    def __init__(
        self,
        function: types.FunctionType,
        *,
        domain: str | None = None,
        overload: str = "",
        default_opset: Any = None,
        inline: bool = False,
        instance: Any = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__ if function.__name__.isidentifier() else "lambda_function"
        self.domain = domain if domain is not None else _domain_of(function)
        self.overload = overload
        self.is_inline = inline
        self._default_opset = default_opset
        self._instance = instance
        self._options = {"domain": domain, "overload": overload, "default_opset": default_opset, "inline": inline}
        node = find_function(function)
        file = function.__code__.co_filename
        self.definition: Span = _definition_span(node, file, self.name)
        unsupported = find_unsupported(node, file, self.name)
        if unsupported:
            raise combined(unsupported)
        self._undefined = _undefined_names(node, function)
        self.analysis: Analysis = analyze(node, file, self.name, function.__code__.co_freevars)
        self.parameters: ScriptSignature = read_signature(function, self.definition)
        self.bodies: dict[Any, FunctionBody | None] = {}
        self.results: dict[Any, Any] = {}
        self.variants = 0
        self.generic_error: OnnxsmithError | None = None

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def signature(self) -> inspect.Signature:
        """The Python signature."""
        return self.parameters.python

    @property
    def __signature__(self) -> inspect.Signature:
        return self.parameters.python

    @property
    def source(self) -> str:
        """The source text."""
        node = self.analysis.node
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        lines = linecache.getlines(self.function.__code__.co_filename)[first - 1 : node.end_lineno]
        return inspect.cleandoc("".join(lines)) + "\n" if lines and lines[0][:1].isspace() else "".join(lines)

    @property
    def opset_version(self) -> int:
        """The opset that Python's own operators in it use: the one named, the one its code uses, or the newest."""
        return named_version(self._default_opset) or choose_version(self.function)

    @property
    def fixed_arguments(self) -> dict[str, Any]:
        """`self`, for a method."""
        return {each.name: self._instance for each in self.parameters.parameters if each.role == "self"}

    def completed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments in the order of the signature, with defaults for the rest."""
        bound = inspect.BoundArguments(self.signature, dict(arguments))  # type: ignore[arg-type]
        bound.apply_defaults()
        return dict(bound.arguments)

    def __get__(self, instance: Any, owner: Any = None) -> ScriptFunction:
        """A script in a class is a method: `self` is known when it is staged."""
        if instance is None:
            return self
        cache = instance.__dict__.setdefault(METHODS, {}) if hasattr(instance, "__dict__") else {}
        found = cache.get(self.function)
        if found is None:
            found = cache[self.function] = ScriptFunction(self.function, instance=instance, **self._options)
        return found

    def __repr__(self) -> str:
        return f"<script {self.name}{self.signature}>"

    # -- checking --------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find the mistakes that can be found now. Names that the module defines further down are left for later."""
        if self._has_forward_references():
            return
        if self.parameters.is_variadic or self.fixed_arguments and self._instance is None:
            return  # staged when it is called: only then its arguments are known
        from onnxsmith.scripting.export import check_generic  # heavy: onnx-ir is imported when something is staged

        check_generic(self)

    def _has_forward_references(self) -> bool:
        missing = [each for each in self._undefined if not _is_defined(each.id, self.function)]
        if not missing:
            return False
        later = set(module_level_names(self.function.__code__.co_filename))
        errors: list[OnnxsmithError] = []
        known = {*self.function.__globals__, *self.analysis.local_names, *dir(builtins), *later}
        for name in missing:
            if name.id in later or name.id in self.function.__code__.co_freevars:
                continue
            span = span_of(name, self.function.__code__.co_filename, self.name)
            errors.append(
                UndefinedNameError(f"'{name.id}' is not defined", help=did_you_mean(name.id, known)).locate(span)
            )
        if errors:
            raise combined(errors)
        return True

    # -- running ---------------------------------------------------------------------------------------

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it: eagerly on arrays, as a call of an ONNX function where a graph is being made."""
        arguments = self._bind(args, kwargs)
        active = ACTIVE.get()
        if active is not None and active.needs_inference:
            from onnxsmith.scripting.calls import call_in_graph  # heavy: onnx-ir is imported when something is staged

            return call_in_graph(self, arguments)
        return run_eagerly(self, arguments, active)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        fixed = tuple(self.fixed_arguments.values())
        try:
            bound = self.signature.bind(*fixed, *args, **kwargs)
        except TypeError as error:
            raise CallError(f"{self.name}{self.signature}: {error}").locate_at_caller().also(
                self.definition, "defined here"
            ) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def jit(self, *args: Any, **kwargs: Any) -> Any:
        """Run the whole function as one model, kept for inputs of the same types and ranks."""
        return self._jit(*args, **kwargs)

    @functools.cached_property
    def _jit(self) -> Any:
        from onnxsmith.scripting.jit import Jit  # heavy: onnx-ir is imported when something is staged

        return Jit(self)

    # -- exporting -------------------------------------------------------------------------------------

    @boundary
    def to_model(self, **options: Any) -> Model:
        """The script as a model; see `to_model_proto` for the options."""
        from onnxsmith.scripting.export import make_model  # heavy: onnx-ir is imported when something is staged

        return make_model(self, **options)

    @boundary
    def to_model_proto(self, **options: Any) -> onnx.ModelProto:
        """The script as a ModelProto.

        `input_types` and `output_types` are types in order or by name, `io_types` one type for all that have none,
        `value_infos` types by value name; `opset_version`, `ir_version`, `producer_name` are the model's own;
        `functions` are further functions to carry, `inline=True` dissolves calls of functions; every other keyword
        is the value of an attribute parameter.
        """
        from onnxsmith.scripting.export import make_model  # heavy: onnx-ir is imported when something is staged

        return make_model(self, **options).proto

    @boundary
    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto: generic in the types that its annotations leave open."""
        from onnxsmith.scripting.export import function_proto  # heavy: onnx-ir is imported when something is staged

        return function_proto(self)


def _domain_of(function: types.FunctionType) -> str:
    module = function.__module__ or _MAIN_DOMAIN
    return _MAIN_DOMAIN if module == "__main__" else module


def _definition_span(node: Any, file: str, name: str) -> Span:
    """The `def name` of a function: underlining its whole body says nothing."""
    span = span_of(node, file, name)
    width = len(f"def {name}") if isinstance(node, ast.FunctionDef) else len("lambda")
    return Span(file, span.line, span.column, span.line, span.column + width, name)


def _undefined_names(node: Any, function: types.FunctionType) -> list[ast.Name]:
    """Names that are neither variables of the function nor defined around it."""
    names = [each for each in free_names(node) if not _is_defined(each, function)]
    uses: list[ast.Name] = []
    for name in names:
        found = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
        body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
        inside = {id(each) for part in body for each in ast.walk(part)}
        uses += [each for each in found if id(each) in inside][:1]
    return uses


def _is_defined(name: str, function: types.FunctionType) -> bool:
    if name in function.__globals__ or hasattr(builtins, name):
        return True
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            _ = cell.cell_contents
        except ValueError:
            return False
        return True
    return False
