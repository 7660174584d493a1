"""A script: a Python function that runs eagerly, and that becomes an ONNX function or model."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import linecache
import pickle
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast

from onnxsmith.core.target import ACTIVE
from onnxsmith.diagnostics import hide_frames_between, hide_own_frames
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError, boundary, combined
from onnxsmith.schema.default_version import default_opset_version
from onnxsmith.scripting.analysis.analyze import Analysis, analyze
from onnxsmith.scripting.analysis.names import assigned_names, parameter_names
from onnxsmith.scripting.analysis.straight import StraightCode, read_straight
from onnxsmith.scripting.functions.binding import bind_call
from onnxsmith.scripting.functions.bound_scripts import METHODS, OF_CLASSES, Methods
from onnxsmith.scripting.functions.debuggers import is_watched, paused, resume
from onnxsmith.scripting.functions.eager_call import run_eagerly
from onnxsmith.scripting.functions.opset_choice import found_version, named_version
from onnxsmith.scripting.functions.pickling import Parcel, find, reduce_script
from onnxsmith.scripting.functions.signature import ScriptSignature, read_signature
from onnxsmith.scripting.functions.undefined import UndefinedNames
from onnxsmith.scripting.source.changed import refuse_if_changed
from onnxsmith.scripting.source.function_source import module_level_names
from onnxsmith.scripting.source.places import Places
from onnxsmith.scripting.staging.straight_run import NamingTarget, Script, StraightCall, straight_call
from onnxsmith.source import Span, code_span
from onnxsmith.types.value_types import SequenceType

if TYPE_CHECKING:
    import onnx

    from onnxsmith.graphs.model import Model
    from onnxsmith.scripting.functions.kept import Kept
    from onnxsmith.scripting.functions.model_options import ModelOptions

#: The domain of functions of a program that is run as a script or typed in.
_MAIN_DOMAIN = "this"


_CallT = TypeVar("_CallT", bound=Callable[..., Any])


class _Called:
    """`__call__` of scripts: while a debugger watches, a call of a script on values is a call of its function."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self.__doc__ = call.__doc__

    def __get__(self, script: ScriptFunction | None, owner: type | None = None) -> Callable[..., Any]:
        if script is None:
            return self._call
        if is_watched():
            tracer = paused()
            try:
                watched = script.watched
            finally:
                resume(tracer)
            if watched is not None:
                return watched
        return types.MethodType(self._call, script)


def _called(call: _CallT) -> _CallT:
    return cast(_CallT, _Called(call))  # to checkers a method like any other


#: `exact` of `script`: whether the graph has the nodes that are written and no others, and whether they are checked.
Exactness = bool | Literal["unchecked"]


class ScriptFunction(Script):
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
        exact: Exactness = False,
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
        self.is_exact = bool(exact)
        #: Whether what cannot work is a warning: it is as somebody else's model has it.
        self.is_lenient = exact == "unchecked"
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
        self.places = Places(function, self.name)
        self._straight: StraightCode | None = read_straight(function)
        self._analysis: Analysis | None = None
        self._undefined_names: UndefinedNames | None = None
        #: What checking it left behind, for the first model that is made of it.
        self.kept: Kept | None = None
        #: What is wrong with it before it is staged: names that are defined nowhere.
        self.known_mistakes: list[OnnxsmithError] = []
        if self.straight_call() is None:
            _ = self.analysis  # refuses what a script cannot contain
        self.parameters: ScriptSignature = read_signature(function, self.places)

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def signature(self) -> inspect.Signature:
        """The Python signature."""
        return self.parameters.python

    @property
    def __signature__(self) -> inspect.Signature:
        return self.parameters.python

    @property
    def definition(self) -> Span:
        """Where it is defined: `def name`."""
        return self.places.definition if self._straight is None else code_span(self.function.__code__)

    def straight_call(self) -> StraightCall | None:
        """How to stage it by calling it; None where its syntax tree is needed."""
        return straight_call(self._straight, self.function)

    @property
    def analysis(self) -> Analysis:
        """What its syntax tree tells; raises an error for all that a script cannot contain."""
        code, global_names = self.function.__code__, self.function.__globals__
        if self._analysis is None or not self._analysis.fits(global_names):
            node = self.places.node
            refuse_if_changed(self.function, node)
            try:
                self._analysis = analyze(node, code.co_filename, self.name, code.co_freevars, global_names)
            except UnsupportedSyntaxError as error:
                body = node.body if isinstance(node, ast.FunctionDef) else [ast.Expr(node.body)]
                variables = [*parameter_names(node.args), *assigned_names(body)]
                raise combined([error, *error.others, *self._undefined.errors(variables)]) from None
        return self._analysis

    @property
    def _undefined(self) -> UndefinedNames:
        if self._undefined_names is None:
            analysis = self._analysis
            reads = None if analysis is None else set(analysis.facts.reads) - analysis.local_names
            self._undefined_names = UndefinedNames(self.places.node, self.function, self.name, reads)
        return self._undefined_names

    @property
    def source(self) -> str:
        """The source text."""
        node = self.places.node
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
        if self.straight_call() is None:
            missing = self._undefined.missing
            self.known_mistakes = self._undefined.errors(self.analysis.local_names) if missing else []
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

    # -- running ---------------------------------------------------------------------------------------

    @_called
    @boundary
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run it: eagerly on arrays, as a call of an ONNX function where a graph is being made."""
        arguments = self.bind(args, kwargs)
        active = ACTIVE.get()
        if active is not None and active.recording is not None:
            from onnxsmith.scripting.functions.calls import (
                call_in_graph,
            )  # heavy: onnx-ir is imported when something is staged

            result = call_in_graph(self, arguments, given=frozenset(kwargs))
            if isinstance(active, NamingTarget):
                active.note(result)
            return result
        return run_eagerly(self, arguments, active)

    @property
    def watched(self) -> Callable[..., Any] | None:
        """What a debugger should see called instead of the script; None where a graph is being made, or of a lambda."""
        active = ACTIVE.get()
        if self._watched is None or (active is not None and active.recording is not None):
            return None
        function = self._watched
        return function if self._instance is None else types.MethodType(function, self._instance)

    @functools.cached_property
    def _watched(self) -> types.FunctionType | None:
        from onnxsmith.scripting.functions.watched import watched_function  # only for who debugs

        node = self.places.node
        return watched_function(self, node) if isinstance(node, ast.FunctionDef) else None

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
