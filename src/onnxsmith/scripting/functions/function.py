"""A script: a Python function that runs eagerly, and that becomes an ONNX function or model."""

from __future__ import annotations

import ast
import copy
import functools
import pickle
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, Unpack, cast
from weakref import WeakValueDictionary

from onnxsmith.core.target import ACTIVE
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import hide_own_frames, shown_as
from onnxsmith.errors import OnnxsmithError, UnassignedVariableError, boundary, combined
from onnxsmith.scripting.functions.debuggers import is_watched, paused, resume
from onnxsmith.scripting.functions.definition import ScriptDefinition
from onnxsmith.scripting.functions.eager_call import run_eagerly
from onnxsmith.scripting.functions.pickling import Parcel, find, reduce_script
from onnxsmith.scripting.functions.wrapped import exports_of
from onnxsmith.scripting.source.function_source import module_level_names
from onnxsmith.scripting.staging.naming_targets import NamingTarget

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import onnx

    from onnxsmith.graphs.model import Model
    from onnxsmith.scripting.functions.definition import ModelOptions

#: Scripts that are bound to an object and in use: one for each object and function, so that it is one function of a
#: model. Each holds its object, which therefore is alive as long as its id stands here. Bounded by what is in use.
_BOUND: WeakValueDictionary[tuple[int, types.FunctionType], ScriptFunction] = WeakValueDictionary()
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


class _Own:
    """A method of scripts that counts before what stands in their `__dict__` for decorators to copy."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __get__(self, script: ScriptFunction | None, owner: type | None = None) -> Callable[..., Any]:
        return self._function if script is None else types.MethodType(self._function, script)

    def __set__(self, script: ScriptFunction, value: object) -> NoReturn:
        raise AttributeError(f"{self.__name__} of a script cannot be set")


def _own(function: _CallT) -> _CallT:
    return cast(_CallT, _Own(function))  # to checkers a method like any other


@shown_as("script")
class ScriptFunction(ScriptDefinition):
    """A function made by `@script`.

    >>> from onnxsmith import FLOAT, opset21 as op, script
    >>> @script()
    ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
    ...     return x + x
    >>> doubled([1.0, 2.0])
    array([2., 4.], dtype=float32)
    >>> doubled.to_model()
    Model(x: FLOAT['N']) -> add: FLOAT['N'], 1 node, opset 26
    """

    @boundary
    def __init__(self, function: types.FunctionType, **options: Any) -> None:
        super().__init__(function, **options)
        self.__dict__.update(exports_of(self))

    def __get__(self, instance: UserValue | type, owner: type | None = None) -> ScriptFunction:
        """A script in a class is a method: `self` is known when it is staged."""
        if instance is None:
            return self
        key = id(instance), self.function
        found = _BOUND.get(key)
        if found is None:
            found = _BOUND[key] = self._bound_to(instance)
        return found

    def _bound_to(self, instance: Any) -> ScriptFunction:
        """The same script with `self` given; it costs no more than a bound method should."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.instance = instance
        made.__wrapped__ = types.MethodType(self.function, instance)
        made.__dict__.update(exports_of(made))
        made.kept, made.known_mistakes = None, []
        return made

    # -- copies, here and in other processes -----------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...] | str:
        if self.instance is not None:
            return getattr, (self.instance, self.function.__name__)
        try:
            written = reduce_script(self, self.function)
        except pickle.PicklingError as error:
            hide_own_frames(error)
            raise
        return written if isinstance(written, str) else (_restored, (written, self.options))

    def __copy__(self) -> ScriptFunction:
        return self  # as functions are: nothing about a script can be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptFunction:
        if self.instance is None:
            return self
        return getattr(copy.deepcopy(self.instance, memo), self.function.__name__)

    def __repr__(self) -> str:
        return f"<script {self.name}{self.signature}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The view of it in a notebook: its model, where its annotations say enough to make one."""
        try:
            model: Any = self.to_model()
            shown: dict[str, str] = model._repr_mimebundle_(include, exclude)
        except OnnxsmithError:
            shown = {}
        return {**shown, "text/plain": repr(self)}

    # -- checking --------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find the mistakes that can be found now. Names that the module defines further down are left for later.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> doubled.check()
        """
        if self.is_analyzed:
            missing = self.undefined.missing
            self.known_mistakes = self.undefined.errors(self.analysis.local_names) if missing else []
            if missing and not self.known_mistakes:
                return
        if self.parameters.is_variadic or (self.fixed_arguments and self.instance is None):
            if self.known_mistakes:
                raise combined(self.known_mistakes)
            return  # staged when it is called: only then its arguments are known
        from onnxsmith.scripting.functions.export import (
            check_generic,
        )  # heavy: onnx-ir is imported when something is staged

        try:
            check_generic(self)
        except NameError as error:
            if isinstance(error, UnassignedVariableError) and error.name is not None and not error.others:
                return  # a variable around a helper, which gets a value later
            # A script that this one calls needs a name that is only defined further down.
            later = set(module_level_names(self.function.__code__.co_filename))
            if isinstance(error, OnnxsmithError) or error.name not in later:
                raise

    # -- running ---------------------------------------------------------------------------------------

    @_called
    @boundary
    def __call__(self, /, *args: UserValue, **kwargs: UserValue) -> UserValue:
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
        """The function that a debugger sees instead of the script; None for a lambda, or while a graph is made."""
        active = ACTIVE.get()
        if self._watched is None or (active is not None and active.recording is not None):
            return None
        function = self._watched
        return function if self.instance is None else types.MethodType(function, self.instance)

    @functools.cached_property
    def _watched(self) -> types.FunctionType | None:
        from onnxsmith.scripting.functions.watched import watched_function  # only for who debugs

        node = self.places.node
        return watched_function(self, node) if isinstance(node, ast.FunctionDef) else None

    @functools.cached_property
    def jit(self) -> Callable[..., Any]:
        """Run the whole function as one model, kept for inputs of the same types and ranks.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> doubled.jit([1.0, 2.0])
        array([2., 4.], dtype=float32)
        """
        from onnxsmith.scripting.functions.jit import (
            Jit,  # heavy: onnx-ir is imported when something is staged
        )

        return Jit(self)

    # -- exporting -------------------------------------------------------------------------------------

    @_own
    @boundary
    def to_model(self, **options: Unpack[ModelOptions]) -> Model:
        """The script as a model.

        - `attributes`: values of the script's attribute parameters, by name.
        - `opset_version`: of the standard domain; by default the one that the script's code names.
        - `input_types`, `output_types`: types in order or by name, where annotations leave them open; `io_types`: one
          type for all inputs that have none; `value_infos`: types of values in between, by their name.
        - `input_names`, `output_names`: names in order, or new names by the ones that there are.
        - `name`: of the graph, by default the script's. `doc_string`, `metadata`: of the model.
        - `ir_version`, `producer_name`, `producer_version`: the model's own.
        - `functions`: further functions to carry; `inline=True` dissolves calls of functions.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> doubled.to_model()
        Model(x: FLOAT['N']) -> add: FLOAT['N'], 1 node, opset 26
        """
        from onnxsmith.scripting.functions.export import (
            make_model,
        )  # heavy: onnx-ir is imported when something is staged

        return make_model(self, options)

    @boundary
    def show(self, path: str | os.PathLike[str] | None = None, *, source: bool = True) -> Path | None:
        """Show the script's model as a page, beside the lines that made it; as `Model.show` does.

        Where annotations leave types open, `script.to_model(...).show()` says what they are.

        >>> import pathlib, tempfile
        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = pathlib.Path(folder, "doubled.svg")
        ...     shown = doubled.show(page)
        ...     page.exists()
        True
        """
        model: Any = self.to_model()  # its `show` is a capability, which checkers see in the stubs
        return model.show(path, source=source)

    @boundary
    def profile(
        self,
        inputs: Sequence[UserValue] | Mapping[str, UserValue] | None = None,
        *,
        runs: int = 10,
        warm_up: int = 3,
        providers: Sequence[Any] | None = None,
        intra_op_threads: int | None = None,
    ) -> Any:
        """How long each kernel takes when the script runs as one model, and which line it runs for.

        `inputs` are the arguments of a call, in order as a list or by name as a mapping, values of attributes among
        them; the rest is as in `Model.profile`. The model is made for their types. Without any, inputs are made up.

        >>> import numpy as np
        >>> from onnxsmith import script, opset21 as op
        >>> hinge = script(lambda x, y: op.Relu(1.0 - x * y))
        >>> profile = hinge.profile([np.ones(100, np.float32)] * 2, runs=1)
        >>> sorted(row.label for row in profile.by("operator"))
        ['Mul', 'Relu', 'Sub']
        """
        jitted: Any = self.jit
        return jitted.profile(
            inputs, runs=runs, warm_up=warm_up, providers=providers, intra_op_threads=intra_op_threads
        )

    @_own
    @boundary
    def to_model_proto(self, **options: Unpack[ModelOptions]) -> onnx.ModelProto:
        """The script as a ModelProto; the options are those of `to_model`.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> [node.op_type for node in doubled.to_model_proto().graph.node]
        ['Add']
        """
        from onnxsmith.scripting.functions.export import (
            make_model,
        )  # heavy: onnx-ir is imported when something is staged

        return make_model(self, options).proto

    @_own
    @boundary
    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto: generic in the types that its annotations leave open.

        >>> from onnxsmith import FLOAT, opset21 as op, script
        >>> @script()
        ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        ...     return x + x
        >>> doubled.to_function_proto().name
        'doubled'
        """
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
