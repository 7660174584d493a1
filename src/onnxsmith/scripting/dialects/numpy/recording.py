"""A function of numpy code as a model: staged once, with arrays that record in the places of its inputs."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, cast

import numpy as np
import onnx

from onnxsmith.algorithms.named import inline_algorithms
from onnxsmith.context import setting
from onnxsmith.core.operands import NUMPYS_NUMBER
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import Label, described_type
from onnxsmith.errors import InputTypeError, OnnxsmithError, SourceNotFoundError, refusals_raised
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.rewriting.scopes import operators_of
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.index_bounds import PlaceError, noting_places
from onnxsmith.numpy.narrowing import narrow, narrowed_type
from onnxsmith.numpy.reads import ReadPlace, Reads, collecting_reads
from onnxsmith.passes import optimize, tidy
from onnxsmith.runtime.device_arrays import device_of
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.scripting.analysis.analyze import analyze
from onnxsmith.scripting.analysis.rewrite import HOOKS
from onnxsmith.scripting.dialects.numpy.arguments import Leaf, Place, put_together
from onnxsmith.scripting.dialects.numpy.callees import outside_array
from onnxsmith.scripting.dialects.numpy.dialect import STAGING
from onnxsmith.scripting.dialects.numpy.raising import again, guarded
from onnxsmith.scripting.dialects.numpy.results import Elements, Outputs, Rebuild, form_of
from onnxsmith.scripting.dialects.numpy.wording import in_numpys_words
from onnxsmith.scripting.functions.specialised import ArraysCall
from onnxsmith.scripting.source.function_source import find_function, refuse_if_changed
from onnxsmith.scripting.source.outside import closure_of
from onnxsmith.scripting.staging.cells import CellScope
from onnxsmith.scripting.staging.closures import own_signature, run_staged
from onnxsmith.scripting.staging.function_stager import Staging
from onnxsmith.scripting.staging.mistakes import Mistakes
from onnxsmith.scripting.staging.raised import RaisedError, collecting_raises
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import parts, taking_apart
from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_library, position_span
from onnxsmith.tracing.trace import trace
from onnxsmith.types.dtypes import DType


class PlainFunction:
    """A callable, as the Python function behind it and what that is given first."""

    def __init__(
        self,
        function: types.FunctionType,
        first: tuple[Any, ...],
        named: Mapping[str, Any],
        signature: inspect.Signature,
        name: str,
    ) -> None:
        self.function = function
        self._first = first
        self._named = named
        #: Of the callable: without what is given already.
        self.signature = signature
        self.name = name

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of the function, by the names of its parameters, where those of the callable are given."""
        call = self.signature.bind_partial()
        call.arguments.update(given)
        own = own_signature(self.function)
        bound = own.bind(*self._first, *call.args, **{**self._named, **call.kwargs})
        bound.apply_defaults()
        return dict(bound.arguments)


def plain_function(function: object) -> PlainFunction:
    """The Python function behind a callable; raises where there is none."""
    first: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    here: object = function
    while True:
        if isinstance(here, functools.partial):
            partial = cast("functools.partial[Any]", here)
            first, named, here = (*partial.args, *first), {**partial.keywords, **named}, partial.func
        elif isinstance(here, types.MethodType):
            first, here = (here.__self__, *first), cast(object, here.__func__)
        elif isinstance(here, types.FunctionType):
            found: types.FunctionType = here
            break
        else:
            wrapped: object = getattr(here, "__wrapped__", None)
            if isinstance(wrapped, types.FunctionType):
                here = wrapped  # of numpy, behind its dispatcher
                continue
            called: object = getattr(type(here), "__call__", None)  # noqa: B004  # the function itself is wanted
            if not isinstance(called, types.FunctionType) or isinstance(here, type):
                raise _no_function(function)
            first, here = (here, *first), called
    name = getattr(function, "__name__", None) or found.__name__
    signature = inspect.signature(cast(Callable[..., Any], function))
    return PlainFunction(found, first, named, signature, name)


def _no_function(function: object) -> Exception:
    if not callable(function):
        return InputTypeError(
            f"a function is needed, not {described_type(type(function))}", help="xp.jit(f), xp.to_model(f, …)"
        )
    name = getattr(function, "__qualname__", None) or repr(function)
    if isinstance(function, type):
        return InputTypeError(
            f"'{name}' is a class, and a model is made of a function",
            help="give a method of an object: xp.jit(made.predict)",
        )
    return SourceNotFoundError(
        f"'{name}' is not written in Python, so that there is no source to read",
        help="write a function that calls it: def f(x): return np.…(x)",
    )


def _array_of(
    value: np.generic | np.ndarray[Any, Any] | Value,
) -> Array | np.generic | np.ndarray[Any, Any]:
    if isinstance(value, Value):
        return Array(cast(Tensor, value)).as_number()
    if isinstance(value, np.ndarray):
        return outside_array(value)
    return Array(np.asarray(value)).as_number() if value.dtype in dtypes.DTYPES else value


def numbers_of_numpys() -> AbstractContextManager[object]:
    """Makes arrays of ours of numpy's within the block, also beside numbers that only the model knows."""
    return setting(NUMPYS_NUMBER, _array_of)


@contextlib.contextmanager
def _numpys_words() -> Generator[None]:
    """Errors within the block speak of arrays."""
    try:
        yield
    except OnnxsmithError as error:
        in_numpys_words(error)
        if error.span is not None and is_library(error.span.file):
            call = _last_place(error.__traceback__, lambda file: not is_library(file))
            error.labels = error.labels if call is None else (Label(call, ""), *error.labels)
        raise


def _last_place(traceback: types.TracebackType | None, is_meant: Callable[[str], bool]) -> Span | None:
    """The innermost expression that an error came through in a file that is meant."""
    found: types.TracebackType | None = None
    while traceback is not None:
        if is_meant(traceback.tb_frame.f_code.co_filename):
            found = traceback
        traceback = traceback.tb_next
    return None if found is None else position_span(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno)


_LOOP = ("", "Loop")
#: From inputs, in order, to outputs.
_Run: TypeAlias = Callable[[Sequence[Elements]], Sequence[Elements]]


class Recording:
    """The model of a function for one form of call, and how results are put together."""

    def __init__(
        self,
        function: PlainFunction,
        leaves: Sequence[Leaf],
        template: Mapping[str, Any],
        *,
        is_model: bool,
        precision: DType | None = None,
        finds_order: bool = False,
        noted: frozenset[ReadPlace] = frozenset(),
        **options: Any,
    ) -> None:
        self._precision = precision
        self._is_model = is_model
        self._reads = Reads(noted)
        #: The same, to find the first error: see `places`.
        self._in_order = functools.partial(
            Recording, function, leaves, template, is_model=is_model, precision=precision, finds_order=True
        )
        leaves = [each._replace(dtype=self.narrowed(each.dtype)) for each in leaves]
        self._rebuild: Rebuild = lambda given: None
        self._count = 0
        #: The result, with a Slot in the place of each output.
        self.result_form: Held = None
        #: The errors that the function may raise: the last output says which one.
        self._errors: list[RaisedError] = []
        #: The inputs that the function writes to, by position: their new elements are the last outputs.
        self.written: list[int] = []
        #: What it is made for, as text.
        self.form = ", ".join(f"{name}={_shown(each, leaves)}" for name, each in template.items())
        with _numpys_words():
            staged = staged_function(function)

        def body(*inputs: Tensor) -> tuple[Any, ...]:
            if not is_model:
                inline_algorithms(current_graph())  # a session opens sooner without functions
            if precision is not None:
                narrow(current_graph(), precision)
            values = [leaf.met(tensor) for leaf, tensor in zip(leaves, inputs, strict=True)]
            before = [each.held if isinstance(each, Array) else None for each in values]
            given = {name: put_together(each, values) for name, each in template.items()}
            outputs = Outputs(has_known=is_model)
            noting = noting_places() if finds_order else contextlib.nullcontext()
            marked = contextlib.nullcontext() if finds_order else collecting_reads(self._reads)
            with CellScope(), collecting_raises() as raises, numbers_of_numpys(), noting, marked:
                result = staged(function.arguments(given))
                with taking_apart("the result of the function"):
                    self._rebuild = outputs.taken_from(result, "")
                    self.result_form = form_of(result)
                self._note_written(values, before, outputs, is_model=is_model)
                if is_model:
                    outputs.tensors = guarded(raises, outputs.tensors)
                elif isinstance(raises.which, Number):
                    self._errors = raises.errors
                    outputs.tensors.append(raises.which.as_dtype(DType.INT64))
            self._reads.close(outputs.tensors)
            self._count = len(outputs.tensors)
            return tuple(outputs.tensors) or inputs[:1]

        types_ = [leaf.type for leaf in leaves]
        options.setdefault("name", function.name)
        options.setdefault("input_names", _told_apart([leaf.name for leaf in leaves]))
        with _numpys_words():
            self.model: Model = trace(body, *types_, **options)
        if is_model:  # a session leaves out by itself what is not needed; people read and ship models
            self.model = _tidied(self.model)
        #: What computes the number of an error, and nothing else; made when the model has failed.
        self._errors_alone: Model | None = None
        self._first_errors: Recording | None = None

    @property
    def unused_reads(self) -> frozenset[ReadPlace]:
        """Where the code asks for elements that the model that runs will not ask for: see `reads`."""
        if not self._reads.found:
            return frozenset()
        return self._reads.unused(is_pruned=self._is_model or _is_worth_it(self.model.proto))

    def _note_written(
        self, values: Sequence[object], before: Sequence[object], outputs: Outputs, *, is_model: bool
    ) -> None:
        for position, value in enumerate(values):
            if isinstance(value, Array) and value.held is not before[position]:
                self.written.append(position)
                if not is_model:
                    outputs.tensors.append(value.tensor)

    def _noted_error(self, feeds: Sequence[Elements]) -> BaseException | None:
        """The error that is noted first, from a model that computes nothing else; raises where that fails, too."""
        if not self._errors:
            return None
        names = [each.name for each in self.model.inputs]
        whole: Any = self.model  # its `extract` is a capability, which checkers see in the stubs
        # Without what a loop carries for other outputs, which may fail.
        alone: Model = self._errors_alone or optimize(
            whole.extract(outputs=[self.model.outputs[-1].name]), opset="keep"
        )
        self._errors_alone = alone
        given = [feeds[names.index(each.name)] for each in alone.inputs]
        which = int(cast(Elements, alone(*given)))
        return again(self._errors, which) if which else None

    def _first_error(self, feeds: Sequence[Elements], failed: OnnxsmithError) -> BaseException | None:
        """The error that the function raises where the model has failed; None where that is how the model failed.

        After an error the model computes on with whatever is there, and may fail where the code never comes.
        """
        if not self._errors and isinstance(failed, IndexError):  # which says more: the place, and the size
            return None
        with contextlib.suppress(
            OnnxsmithError
        ):  # some of what is noted more may fail itself, or not be recorded
            self._first_errors = self._first_errors or self._in_order()
            error = self._first_errors._noted_error(feeds)
            return None if isinstance(error, PlaceError) and isinstance(failed, IndexError) else error
        with contextlib.suppress(OnnxsmithError):
            return self._noted_error(feeds)
        return None

    def narrowed(self, dtype: NumpyDType) -> NumpyDType:
        """The element type that an array of a type has in the model."""
        return narrowed_type(dtype, self._precision)

    def outputs(self, feeds: Sequence[Elements]) -> Sequence[Elements]:
        """The outputs of the model."""
        if device_of(feeds) is not None:
            return cast("Sequence[Elements]", self._running.session_for(feeds)(feeds))
        return cast(_Run, self._running.native_runner())(feeds)

    @functools.cached_property
    def _running(self) -> Model:
        """The model that runs: optimised once, where that is known to be worth more than it costs."""
        return optimize(self.model, opset="keep") if _is_worth_it(self.model.proto) else self.model

    def __call__(self, feeds: Sequence[Elements]) -> tuple[Any, list[Elements]]:
        """The result of the function, and the new elements of the inputs that it writes to."""
        many = iter(self._every(feeds, self.outputs))
        return self._rebuild(many), list(many)

    def on_arrays(self) -> ArraysCall:
        """Calls of a function that writes to none of its inputs, on the runtime that is chosen now."""
        run = cast(_Run, self._running.native_runner()) if self._count else self.outputs

        def call(feeds: Sequence[Elements]) -> Any:
            return self._rebuild(iter(self._every(feeds, run)))

        return call

    def _every(self, feeds: Sequence[Elements], run: _Run) -> Sequence[Elements]:
        """The outputs, with the errors that the function raises."""
        if not self._count:
            return ()
        try:
            every = run(feeds)
        except OnnxsmithError as failed:
            error = self._first_error(feeds, failed)
            if error is not None:
                raise error from None
            raise
        if self._errors:
            *every, which = every
            if which.item():
                raise again(self._errors, int(which.item()))
        return every


def _tidied(model: Model) -> Model:
    """The model without what recording left behind, such as sizes that were asked for and not used."""
    made = model.ir
    tidy(made)
    return Model(made)


def _is_worth_it(proto: onnx.ModelProto) -> bool:
    return _LOOP in operators_of(proto) or _has_large_parts(proto.graph)


def _has_large_parts(graph: onnx.GraphProto) -> bool:
    """True if elements are taken at places that are sums, as those of windows are, or squares are added up."""
    makers = {each.output[0]: each for each in graph.node if each.op_type in ("Add", "Mul")}
    for node in graph.node:
        if node.op_type == "Gather":
            maker = makers.get(node.input[1])
            if maker is not None and maker.op_type == "Add":
                return True
        elif node.op_type == "ReduceSum":
            maker = makers.get(node.input[0])
            if maker is not None and maker.op_type == "Mul" and maker.input[0] == maker.input[1]:
                return True
    return False


def _shown(template: Held, leaves: Sequence[Leaf]) -> str:
    """The text for one argument that a model is made for."""
    if isinstance(template, Place):
        leaf = leaves[template.position]
        if leaf.role == "number":
            return "float" if leaf.dtype.kind == "f" else "int"
        return f"{leaf.dtype}[{', '.join(':' if each is None else str(each) for each in leaf.shape)}]"
    inner = parts(template)
    if inner is None:
        return repr(template)
    return f"({', '.join(_shown(each, leaves) for _, each in inner)})"


#: What errors of Python's and of C code call values of ours.
_OURS = ("'Array'", "not Array", "got Array", "(Array", "'number'", "type number", "'Flags'")


def _only_numpys(error: Exception) -> InputTypeError | None:
    """The error for code that takes numpy's own arrays alone, such as C code; None for the user's own errors."""
    if isinstance(error, OnnxsmithError):
        return None
    place, found = error.__traceback__, None
    file = ""
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        if not file.startswith((PACKAGE_DIRECTORY, "<")):
            found = place
        place = place.tb_next
    is_compiled = file.startswith("<") or not file.endswith(".py")
    if found is None or not (is_compiled or any(each in str(error) for each in _OURS)):
        return None
    span = position_span(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno)
    return InputTypeError(
        f"what is called here takes numpy's own arrays and numbers, and not those of a model: {error}",
        help="write it with numpy's functions, which become operators",
    ).locate(span)


def staged_function(
    function: PlainFunction, staging: Staging = STAGING
) -> Callable[[Mapping[str, Any]], UserValue]:
    """A function that stages another on its arguments, in the graph that is being recorded."""
    plain = function.function
    if (
        HOOKS in plain.__code__.co_freevars
    ):  # a function inside one that is staged: what it contains is staged, too
        own = own_signature(plain)

        def run_as_it_is(arguments: Mapping[str, Any]) -> UserValue:
            bound = own.bind_partial()
            bound.arguments.update(arguments)
            return plain(*bound.args, **bound.kwargs)

        return run_as_it_is
    node = find_function(plain)
    refuse_if_changed(plain, node)
    code = plain.__code__
    analysis = analyze(
        node,
        code.co_filename,
        plain.__name__,
        code.co_freevars,
        plain.__globals__,
        allowed=staging.dialect.syntax,
    )

    def run(arguments: Mapping[str, Any]) -> UserValue:
        try:
            with refusals_raised():
                return staged(arguments)
        except (TypeError, AttributeError, ValueError) as error:
            raise _only_numpys(error) or error from None

    def staged(arguments: Mapping[str, Any]) -> UserValue:
        return run_staged(
            analysis,
            plain.__globals__,
            closure_of(plain),
            arguments,
            mistakes=Mistakes([]),
            run=staging,
            owns_arguments=True,
        )

    return run


def written_back(feeds: Mapping[int, np.ndarray[Any, Any]], new: Mapping[int, Elements]) -> None:
    """Give arrays of the caller the elements that the function wrote to them."""
    for position, elements in new.items():
        if position in feeds:
            target = feeds[position]
            elements = elements.numpy() if isinstance(elements, DeviceArray) else elements
            if target.dtype.kind == "c":
                elements = np.ascontiguousarray(elements).view(target.dtype)[..., 0]
            target[...] = elements


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of inputs, each once: a part of a container may be called as another argument is, or another part."""
    found: dict[str, None] = {}
    for name in names:
        while name in found:
            name += "_"
        found[name] = None
    return list(found)
