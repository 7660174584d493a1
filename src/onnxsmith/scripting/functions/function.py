"""A script: a Python function that runs eagerly, and that becomes an ONNX function or model."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import linecache
import pickle
import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from onnxsmith.core.target import ACTIVE
from onnxsmith.diagnostics import hide_frames_between, hide_own_frames, undefined_name_help
from onnxsmith.errors import OnnxsmithError, RecursiveFunctionError, UndefinedNameError, boundary, combined
from onnxsmith.schema.default_version import default_opset_version
from onnxsmith.scripting.analysis.analyze import Analysis, analyze
from onnxsmith.scripting.analysis.flow import assigned_names, free_names, parameter_names
from onnxsmith.scripting.analysis.subset import find_unsupported
from onnxsmith.scripting.functions.binding import bind_call
from onnxsmith.scripting.functions.bound_scripts import OF_CLASSES, Methods
from onnxsmith.scripting.functions.eager_call import run_eagerly
from onnxsmith.scripting.functions.opset_choice import found_version, named_version
from onnxsmith.scripting.functions.pickling import Parcel, find, reduce_script
from onnxsmith.scripting.functions.signature import ScriptSignature, read_signature
from onnxsmith.scripting.source.changed import refuse_if_changed
from onnxsmith.scripting.source.function_source import (
    FunctionNode,
    find_function,
    module_level_names,
    span_of,
)
from onnxsmith.scripting.source.places import Places
from onnxsmith.scripting.staging.containers import METHODS
from onnxsmith.source import Span
from onnxsmith.types.value_types import SequenceType

if TYPE_CHECKING:
    import onnx

    from onnxsmith.graphs.model import Model
    from onnxsmith.scripting.functions.kept import Kept
    from onnxsmith.scripting.functions.model_options import ModelOptions

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
        name: str | None = None,
        exact: bool = False,
        instance: Any = None,
    ) -> None:
        functools.update_wrapper(self, function)
        if instance is not None:  # as a bound method: what it wraps is called without self
            self.__wrapped__ = types.MethodType(function, instance)
        self.function = function
        self.name = function.__name__ if function.__name__.isidentifier() else "lambda_function"
        #: What ONNX calls it.
        self.onnx_name = self.name if name is None else name
        #: Whether its graph has the nodes and types that are written, and nothing else.
        self.is_exact = exact
        #: Whether it is meant as a model, not as a function that others call: nobody said where it lives.
        self.is_main = domain is None
        self.domain = domain if domain is not None else _domain_of(function)
        self.overload = overload
        self.is_inline = inline
        self._default_opset = default_opset
        self._instance = instance
        self._options = {
            "domain": domain,
            "overload": overload,
            "default_opset": default_opset,
            "inline": inline,
            "name": name,
            "exact": exact,
        }
        node = find_function(function)
        refuse_if_changed(function, node)
        file = function.__code__.co_filename
        self.places = Places(node, file, self.name)
        self.definition: Span = self.places.definition
        self._undefined = _undefined_names(node, function)
        unsupported = find_unsupported(node, file, self.name)
        if unsupported:
            variables = [*parameter_names(node.args), *assigned_names(_body(node))]
            raise combined([*unsupported, *self._undefined_errors(variables)])
        self.analysis: Analysis = analyze(node, file, self.name, function.__code__.co_freevars)
        #: What checking it left behind, for the first model that is made of it.
        self.kept: Kept | None = None
        self.parameters: ScriptSignature = read_signature(function, self.places)
        #: What is wrong with it before it is staged: names that are defined nowhere.
        self.known_mistakes: list[OnnxsmithError] = []

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
        return self.named_opset_version or default_opset_version()

    @property
    def named_opset_version(self) -> int | None:
        """The opset that was asked for, or that its code refers to; None where nothing names one."""
        return named_version(self._default_opset) or found_version(self.function)

    @property
    def fixed_arguments(self) -> dict[str, Any]:
        """`self`, for a method."""
        return {each.name: self._instance for each in self.parameters.parameters if each.role == "self"}

    @property
    def returns_sequence(self) -> bool:
        """Whether a list that it returns is one output, a sequence: its annotation says so."""
        returns = self.parameters.returns
        return returns is not None and len(returns) == 1 and isinstance(returns[0], SequenceType)

    def completed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments in the order of the signature, with defaults for the rest."""
        bound = inspect.BoundArguments(self.signature, dict(arguments))  # type: ignore[arg-type]
        bound.apply_defaults()
        return dict(bound.arguments)

    def __get__(self, instance: Any, owner: Any = None) -> ScriptFunction:
        """A script in a class is a method: `self` is known when it is staged."""
        if instance is None:
            return self
        if isinstance(instance, type):  # of a classmethod
            cache = OF_CLASSES.setdefault(instance, Methods())
        else:
            has_place = hasattr(instance, "__dict__")
            cache = instance.__dict__.setdefault(METHODS, Methods()) if has_place else Methods()
        found = cache.get(self.function)
        if found is None:
            options: dict[str, Any] = self._options
            found = cache[self.function] = ScriptFunction(self.function, instance=instance, **options)
        return found

    # -- copies, here and in other processes -----------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...] | str:
        if self._instance is not None:
            return getattr, (self._instance, self.function.__name__)
        try:
            written = reduce_script(self, self.function)
        except pickle.PicklingError as error:
            hide_own_frames(error)
            raise
        return written if isinstance(written, str) else (_restored, (written, self._options))

    def __copy__(self) -> ScriptFunction:
        return self  # as functions are: nothing about a script can be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptFunction:
        if self._instance is None:
            return self
        return getattr(copy.deepcopy(self._instance, memo), self.function.__name__)

    def __repr__(self) -> str:
        return f"<script {self.name}{self.signature}>"

    # -- checking --------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find the mistakes that can be found now. Names that the module defines further down are left for later."""
        missing = [each for each in self._undefined if not _is_defined(each.id, self.function)]
        self.known_mistakes = self._undefined_errors(self.analysis.local_names) if missing else []
        if missing and not self.known_mistakes:
            return
        if self.parameters.is_variadic or (self.fixed_arguments and self._instance is None):
            if self.known_mistakes:
                raise combined(self.known_mistakes)
            return  # staged when it is called: only then its arguments are known
        from onnxsmith.scripting.functions.export import (
            check_generic,
        )  # heavy: onnx-ir is imported when something is staged

        try:
            check_generic(self)
        except NameError as error:
            # A script that this one calls needs a name that is only defined further down.
            later = set(module_level_names(self.function.__code__.co_filename))
            if isinstance(error, OnnxsmithError) or error.name not in later:
                raise

    def _undefined_errors(self, variables: Iterable[str]) -> list[OnnxsmithError]:
        """An error for each name that is defined neither now nor further down, and for a call of itself."""
        code = self.function.__code__
        missing = [each for each in self._undefined if not _is_defined(each.id, self.function)]
        later = set(module_level_names(code.co_filename)) if missing else set[str]()
        known = {*self.function.__globals__, *variables, *dir(builtins), *later}
        errors: list[OnnxsmithError] = []
        for name in missing:
            span = span_of(name, code.co_filename, self.name)
            if name.id == self.name and _is_called(name, self.places.node):
                recursive = RecursiveFunctionError(
                    f"'{name.id}' calls itself, and an ONNX function cannot", help="write a loop"
                )
                errors.append(recursive.locate(span))
            elif name.id not in later and name.id not in code.co_freevars:
                help_text = undefined_name_help(name.id, known)
                errors.append(UndefinedNameError(f"'{name.id}' is not defined", help=help_text).locate(span))
        return errors

    # -- running ---------------------------------------------------------------------------------------

    @boundary
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run it: eagerly on arrays, as a call of an ONNX function where a graph is being made."""
        arguments = self.bind(args, kwargs)
        active = ACTIVE.get()
        if active is not None and active.recording is not None:
            from onnxsmith.scripting.functions.calls import (
                call_in_graph,
            )  # heavy: onnx-ir is imported when something is staged

            return call_in_graph(self, arguments, given=frozenset(kwargs))
        return run_eagerly(self, arguments, active)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        fixed = () if self._instance is None else tuple(self.fixed_arguments.values())
        return bind_call(self.name, self.signature, (*fixed, *args), kwargs, self.definition)

    def jit(self, *args: Any, **kwargs: Any) -> Any:
        """Run the whole function as one model, kept for inputs of the same types and ranks."""
        try:
            return self._jit(*args, **kwargs)
        except OnnxsmithError as error:  # inline, not a `boundary`: this call is made to cost little
            hide_own_frames(error)
            raise
        except Exception as error:
            hide_frames_between(error)
            raise

    @functools.cached_property
    def _jit(self) -> Any:
        from onnxsmith.scripting.functions.jit import (
            Jit,  # heavy: onnx-ir is imported when something is staged
        )

        return Jit(self)

    # -- exporting -------------------------------------------------------------------------------------

    @boundary
    def to_model(self, **options: Unpack[ModelOptions]) -> Model:
        """The script as a model.

        - `attributes`: values of the script's attribute parameters, by name.
        - `opset_version`: of the standard domain; by default the one that the script's code names.
        - `input_types`, `output_types`: types in order or by name, where annotations leave them open; `io_types`: one
          type for all inputs that have none; `value_infos`: types of values in between, by their name.
        - `input_names`, `output_names`: names in order, or new names by the ones that there are.
        - `name`: of the graph, by default the script's. `doc_string`, `metadata`: of the model.
        - `ir_version`, `producer_name`: the model's own.
        - `functions`: further functions to carry; `inline=True` dissolves calls of functions.
        """
        from onnxsmith.scripting.functions.export import (
            make_model,
        )  # heavy: onnx-ir is imported when something is staged

        return make_model(self, options)

    @boundary
    def to_model_proto(self, **options: Unpack[ModelOptions]) -> onnx.ModelProto:
        """The script as a ModelProto; the options are those of `to_model`."""
        from onnxsmith.scripting.functions.export import (
            make_model,
        )  # heavy: onnx-ir is imported when something is staged

        return make_model(self, options).proto

    @boundary
    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto: generic in the types that its annotations leave open."""
        from onnxsmith.scripting.functions.export import (
            function_proto,
        )  # heavy: onnx-ir is imported when something is staged

        return function_proto(self)


def _restored(parcel: Parcel, options: Mapping[str, Any]) -> ScriptFunction:
    """A script that was pickled by value; the one that is here, where the program is the same."""
    found = find(parcel.module, parcel.name)
    if isinstance(found, ScriptFunction) and parcel.is_here(found.function):
        return found
    return ScriptFunction(parcel.open(), **options)


def _domain_of(function: types.FunctionType) -> str:
    module = function.__module__ or _MAIN_DOMAIN
    return _MAIN_DOMAIN if module == "__main__" else module


def _body(node: FunctionNode) -> list[ast.stmt]:
    return node.body if isinstance(node, ast.FunctionDef) else [ast.Expr(node.body)]


def _is_called(name: ast.Name, node: FunctionNode) -> bool:
    return any(isinstance(each, ast.Call) and each.func is name for each in ast.walk(node))


def _undefined_names(node: Any, function: types.FunctionType) -> list[ast.Name]:
    """Names that are neither variables of the function nor defined around it."""
    names = [each for each in free_names(node) if not _is_defined(each, function)]
    if not names:
        return []
    inside = {id(each) for part in _body(node) for each in ast.walk(part)}
    # What a script cannot contain has names of its own, which nobody looks at.
    refused = [each for each in ast.walk(node) if isinstance(each, ast.AsyncFunctionDef | ast.ClassDef)]
    inside -= {id(each) for part in refused for each in ast.walk(part)}
    uses: list[ast.Name] = []
    for name in names:
        found = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
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
