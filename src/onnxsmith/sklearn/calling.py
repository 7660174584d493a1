"""`call`: the one road by which a method of an estimator is called, whoever calls it.

The roads in their order: what the class says itself (`to_onnx`), our converters (`table`), the class's own Python code,
and skl2onnx, where it is installed.
The first that gives something is taken, and kept for the report. What a call records stands in an ONNX function that is
named after the class; the node that calls it has the class, its parameters and its version in its metadata.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.algorithms.named import unused
from onnxsmith.context import setting
from onnxsmith.core.recording import FunctionHead, OpsetChoice
from onnxsmith.core.target import ACTIVE, RecordingTarget, current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import UnconvertedStepError
from onnxsmith.graphs.function import body_of
from onnxsmith.graphs.records import FunctionRecord
from onnxsmith.graphs.unread_sizes import leave_out_unread_sizes
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy import Array
from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.recording import recorded
from onnxsmith.sklearn.skl2onnx_fallback import by_skl2onnx
from onnxsmith.sklearn.steps import note_step
from onnxsmith.sklearn.table import (
    Converter,
    NotCovered,
    converter_of,
    public_name,
    structured_converter_of,
)
from onnxsmith.sklearn.values import (
    Columns,
    Fitted,
    Given,
    Result,
    Structured,
    array_of,
    labels,
    rebuild_like,
    tensors_in,
    text_classes,
)
from onnxsmith.sklearn.weights import original, with_weights
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType

#: The domain of the functions that steps become.
DOMAIN = "onnxsmith.sklearn"
#: Under which the metadata of a node has what it was made of.
METADATA_KEY = "onnxsmith.sklearn"
#: Under which what a model shares has the calls that were made, the names that are taken, and the roads.
_MADE, _NAMES, _ROADS = "sklearn calls", "sklearn names", "sklearn roads"


class Road(NamedTuple):
    """How one call was converted."""

    #: The names of steps that lead to the estimator.
    path: str
    estimator: str
    method: str
    #: "to_onnx", "converter", "recorded" or "skl2onnx".
    road: str


_path: ContextVar[tuple[str, ...]] = ContextVar("names of the steps that lead here", default=())


def step(name: str) -> AbstractContextManager[object]:
    """Say under which name what is called inside is known to the user, for errors and the report."""
    return setting(_path, (*_path.get(), name))


def named_step(name: str, estimator: Fitted | str | None, method: str, x: Given) -> Any:
    """The result of a step: 'passthrough' and None return their input."""
    if estimator is None or isinstance(estimator, str):
        return x
    with step(name):
        made = call(estimator, method, x)
    note_step(estimator, method, x, made)
    return made


def here() -> str:
    """The step that is being converted, as the user would name it."""
    return ".".join(_path.get())


def roads() -> list[Road]:
    """The calls of the model that is being made, in the order in which they were finished."""
    return current_graph().shared.setdefault(_ROADS, [])


def call(estimator: Fitted, method: str, x: Given, *, after: type | None = None) -> Any:
    """The result of a method of a fitted estimator, recorded in the graph that is being made.

    `after` leaves out what classes up to that one say, as `super()` does. Raises where no road leads anywhere.
    """
    scope = current_graph()
    estimator = original(estimator)
    if isinstance(x, Structured):
        x = _understood(x, estimator, method, after)
    given = tensors_in(x)
    made: dict[object, Any] = scope.shared.setdefault(_MADE, {})
    key = (id(scope), id(estimator), method, after, tuple(map(id, given)))
    found = made.get(key)
    if found is None:
        # What it was made of is kept with it: an id is that of another object when its own is gone.
        found = made[key] = (_Call(scope, estimator, method, after).on(x, given), scope, estimator, given)
    return found[0]


def _understood(x: Structured, estimator: Fitted, method: str, after: type | None) -> Given:
    """The input in a form that a step takes: the matrix as one array, unless its converter takes it as it is."""
    kind = type(estimator)
    converter = converter_of(kind, method, after)
    if converter is not None and converter.is_inline:
        return x
    return x if structured_converter_of(kind, method, after) is not None else x.dense()


def _one_matrix(x: Given) -> Given:
    """The matrix of the columns, for a step that does not take them one by one."""
    if not isinstance(x, Columns):
        return x
    texts = [name for name, each in x.items() if not isinstance(each, Array)]
    if texts:
        raise NotCovered(f"it takes numbers, and column {texts[0]!r} is text")
    return x.matrix()


def _call_from_code(estimator: Fitted, method: str, x: Given, after: type | None) -> Result:
    return call(estimator, method, x, after=after)


def _help(estimator: Fitted, x: Given) -> str:
    """The help text for a step that no road leads to: a plain function has no class to write a method for."""
    if public_name(type(estimator)) != "sklearn.preprocessing.FunctionTransformer":
        return "give the class a method to_onnx(self, op, x), which says what it computes"
    if isinstance(x, Columns):
        numbers = [name for name, each in x.items() if isinstance(each, Array)]
        if len(numbers) < len(x):
            return f"give the function columns of numbers: make_column_transformer((FunctionTransformer(…), {numbers}))"
        return (
            "methods of data frames are not recorded: begin the function with X = np.asarray(X), and write columns by "
            "their places, such as np.column_stack([X, X[:, 0] + X[:, 1]])"
        )
    return "write the function with numpy's functions, or as a class that has a method to_onnx(self, op, x)"


@dataclass(frozen=True, slots=True)
class _Call:
    """A method of an estimator that is called in a graph."""

    scope: RecordingTarget
    estimator: Fitted
    method: str
    after: type | None

    def on(self, x: Given, given: Sequence[Value]) -> Result:
        """The result on an input."""
        refusals: list[str] = []
        span: Span | None = None
        for road, function, is_inline in self._roads(is_structured=isinstance(x, Structured)):
            try:
                made = function(x) if is_inline else self._as_function(x, given, function, road)
            except NotCovered as why:
                if str(why):
                    refusals.append(f"{why}" if road == "recorded" else f"{road}: {why}")
                span = span or why.span
                continue
            roads().append(Road(here(), public_name(type(self.estimator)), self.method, road))
            return made
        if isinstance(x, Structured):
            return call(self.estimator, self.method, x.dense(), after=self.after)
        name = f"{type(self.estimator).__name__}.{self.method}"
        named = f"step '{here()}', {name}" if here() else name
        raise UnconvertedStepError(
            f"{named} cannot become part of a model: {'; '.join(refusals)}",
            help=_help(self.estimator, x),
        ).locate(span)

    def _roads(self, *, is_structured: bool) -> Generator[tuple[str, Callable[[Given], Result], bool]]:
        """Those that there are, each with what takes it."""
        kind = type(self.estimator)
        own = getattr(kind, "to_onnx", None)
        if own is not None and self.after is None:
            yield "to_onnx", self._by_itself, False
        converter = converter_of(kind, self.method, self.after)
        if is_structured and not (converter is not None and converter.is_inline):
            converter = structured_converter_of(kind, self.method, self.after)
        if converter is not None:
            yield "converter", lambda x: self._converted(converter, x), converter.is_inline
        if not is_structured:
            yield "recorded", self._recorded, False
            if self.after is None:
                yield "skl2onnx", self._by_skl2onnx, False

    def _converted(self, converter: Converter, x: Given) -> Result:
        if not converter.takes_columns:
            x = _one_matrix(x)
        if converter.takes_method:
            return converter.function(self.estimator, x, method=self.method)
        return converter.function(self.estimator, x)

    def _recorded(self, x: Given) -> Result:
        matrix = _one_matrix(x)
        reading = with_weights(self.estimator, here())
        if reading is None:
            return self._from_code(self.estimator, matrix)
        undo = self.scope.checkpoint()
        try:
            return self._from_code(reading, matrix)
        except NotCovered:  # code that looks at the numbers of its weights has them as constants
            undo()
            return self._from_code(self.estimator, matrix)

    def _from_code(self, estimator: Fitted, matrix: Given) -> Result:
        classes = text_classes(estimator) if self.method == "predict" else None
        if classes is None:
            return recorded(estimator, self.method, matrix, self.after, _call_from_code)
        # Code that takes texts at places is recorded on the places, and these become texts. What it calls of the
        # estimator besides is the estimator's own, so that a label is the one at the argmax of the model's scores.
        numbered = copy.copy(estimator)
        vars(numbered)["classes_"] = np.arange(len(classes))

        def from_code(estimator: Fitted, method: str, x: Given, after: type | None) -> Result:
            return call(self.estimator if estimator is numbered else estimator, method, x, after=after)

        places = recorded(numbered, self.method, matrix, self.after, from_code)
        if not isinstance(places, Array) or places.ndim != 1:
            raise NotCovered("its labels are texts, and it gives no vector of them")
        return labels(classes, places.astype(np.int64))

    def _by_skl2onnx(self, x: Given) -> Result:
        return by_skl2onnx(self.estimator, self.method, _one_matrix(x))

    def _by_itself(self, x: Given) -> Result:
        """The result of the class's own `to_onnx`: tensors of tensors."""
        if not isinstance(x, Array):
            raise NotCovered("it is given columns, and takes one matrix")
        found = self.estimator.to_onnx(current_graph().operators, x.tensor)
        if not isinstance(found, Tensor):
            raise NotCovered(f"it gives {type(found).__name__}, and not a tensor")
        return found if found.dtype is DType.STRING else array_of(found)

    def _as_function(
        self, x: Given, given: Sequence[Value], function: Callable[[Given], Result], road: str
    ) -> Result:
        """The result of a function, recorded as an ONNX function that is named after the class."""
        scope = self.scope
        choice = scope.opset
        opset = OpsetChoice(scope.operators.version, is_fixed=choice.is_fixed, is_named=choice.is_named)
        body = scope.function(opset, is_exact=False, is_lenient=False)
        names = ["x"] if len(given) == 1 else [f"x{k}" for k in range(len(given))]
        inputs = [body.input(name, each.known.type) for name, each in zip(names, given, strict=True)]
        active = ACTIVE.set(body)
        try:
            result = function(rebuild_like(x)(inputs))
            outputs = body.outputs_of(tensors_in(result))
        except BaseException:
            body.discard()
            raise
        finally:
            ACTIVE.reset(active)
        name = unused(type(self.estimator).__name__.strip("_"), scope.shared.setdefault(_NAMES, set[str]()))
        made = body.finish_function(outputs, FunctionHead(DOMAIN, name))
        record = body_of(made).function
        assert isinstance(record, FunctionRecord)  # what a graph has recorded
        leave_out_unread_sizes(record.graph)  # which ONNX Runtime would compute for every row
        values = scope.call_function(made, given, {}, tuple(each.known for each in outputs))
        node = cast(SymbolicTensor, values[0]).record.producer
        assert node is not None  # a node was just made
        node.metadata = {METADATA_KEY: described(self.estimator, self.method, road)}
        return rebuild_like(result)(values)


# -- how steps are named -------------------------------------------------------------------------------


def described(estimator: Fitted, method: str, road: str) -> str:
    """The class, the method, how it was converted, the parameters and the version of the library, as JSON.

    A parameter that JSON cannot hold (a function, another estimator) stands there as `{"repr": …}`.
    """
    kind = type(estimator)
    return json.dumps(
        {
            "class": public_name(kind),
            "method": method,
            "road": road,
            "parameters": {name: plain(each) for name, each in estimator.get_params(deep=False).items()}
            if hasattr(estimator, "get_params")
            else {},
            "scikit-learn": version("scikit-learn"),
            **_version_of_other(kind),
        },
        sort_keys=True,
        allow_nan=True,
    )


def _version_of_other(kind: type) -> dict[str, Json]:
    """The version of the library that a class is from, where that is another that we know."""
    library = kind.__module__.partition(".")[0]
    if library not in ("catboost", "lightgbm", "xgboost"):
        return {}
    return {library: str(getattr(sys.modules.get(library), "__version__", ""))}


def plain(value: UserValue) -> Json:
    """A parameter as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return {"array": plain(value.tolist()), "dtype": str(value.dtype)}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, tuple):
        return {"tuple": [plain(each) for each in value]}
    if isinstance(value, dict):
        items = cast("dict[UserValue, UserValue]", value)
        if all(isinstance(key, str) for key in items):
            return {"dict": {str(key): plain(each) for key, each in items.items()}}
    if isinstance(value, type):
        return {"type": f"{value.__module__}.{value.__qualname__}"}
    return {"repr": described_type(type(value))}
