"""Runs numpy code and its model side by side: on arrays of several sizes, and on what the user gives.

A size for which the code itself raises an error is left out, and the report says so.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, OnnxsmithError, VerificationError
from onnxsmith.graphs.agreement import CONVERTED, EXACT, Tolerance, disagreeing, gap
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.rewriting.scopes import inner_graphs
from onnxsmith.graphs.trial_inputs import Draw, sizes_apart
from onnxsmith.numpy import dtypes
from onnxsmith.scripting.dialects.numpy.arguments import Elements, Leaf, Place, fed, put_together
from onnxsmith.scripting.dialects.numpy.raising import text_of
from onnxsmith.scripting.dialects.numpy.recording import PlainFunction, Recording
from onnxsmith.scripting.dialects.numpy.reports import Comparison, ModelReport
from onnxsmith.scripting.dialects.numpy.time_limit import TooLongError, within
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import parts
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import RangedName

#: How the functions of models that compute eigenvalues are named.
_EIGENVALUES = ("eig__", "schur__")
#: How the functions of models that look numbers up in an array in order are named.
_SEARCHES = "search_sorted__"
#: How long the function may run on arguments that were made up, each time.
SECONDS = 10.0
#: The element types that round numbers; a model may compute in less precise ones than it gives.
_ROUNDING = (DType.DOUBLE, DType.FLOAT, DType.FLOAT16)


class Example(NamedTuple):
    """Arguments that both are run on."""

    label: str
    #: What the function gets, by the names of parameters, and what the model is fed.
    given: Mapping[str, Any]
    feeds: Sequence[Elements]
    #: The same with each array in order, for code that looks numbers up in one of them.
    in_order: Example | None = None


class Verification:
    """A function beside its model."""

    def __init__(
        self,
        plain: PlainFunction,
        function: Callable[..., Any],
        recording: Recording,
        leaves: Sequence[Leaf],
        template: Mapping[str, Any],
        *,
        is_exact: bool,
        allowed: float | None = None,
    ) -> None:
        self._plain = plain
        self._function = function
        self._recording = recording
        self._leaves = leaves
        self._template = template
        #: Whether both compute in the same element types: then a difference is a mistake.
        self._is_exact = is_exact
        #: How far results may be apart; None for any distance.
        self._tolerance: Tolerance | None = None
        if allowed is not None:
            self._tolerance = Tolerance.part(allowed)
        elif is_exact:
            self._tolerance = EXACT.through(_types_in(recording.model, leaves))
        #: Whether it has eigenvalues: numpy promises no order of them, and gives floats for some matrices.
        names = [each.name for each in recording.model.proto.functions]
        self._has_eigenvalues = any(each.startswith(_EIGENVALUES) for each in names)
        self._searches = any(each.startswith(_SEARCHES) for each in names)

    def run(self, data: Sequence[Any] | Mapping[str, Any] | None) -> ModelReport:
        """Compare, and raise where the two differ by more than rounding does."""
        report = ModelReport()
        for example in self._examples(data):
            ordered = example.in_order
            try:
                is_done = self._tried(example, report)
            except VerificationError:
                if ordered is None:
                    raise
                is_done = False
            if ordered is not None and not is_done:
                self._tried(ordered, report)
        if not report.rows:
            report.notes.append(
                "the function gives nothing for any of the sizes that were tried: data=(…) is compared"
            )
        return report

    def _tried(self, example: Example, report: ModelReport) -> bool:
        """False where the function raises an error; raises where the two differ."""
        expected = self._called(example, report)
        if expected is not None:
            self._compare(example, expected[0], report)
        return expected is not None

    # -- what both are run on --------------------------------------------------------------------------

    def _examples(self, data: Sequence[Any] | Mapping[str, Any] | None) -> Iterator[Example]:
        if data is not None:
            yield self._of_data(data)
        names = list(
            dict.fromkeys(
                f"{axis}" if each is None else each
                for leaf in self._leaves
                for axis, each in enumerate(leaf.shape)
                if not isinstance(each, int)
            )
        )
        ranges = {each: each.declared for each in names if isinstance(each, RangedName)}
        for number, chosen in enumerate(sizes_apart(names)):
            if not all(each.allows(chosen[name]) for name, each in ranges.items()):
                continue  # the model is not for these
            draw = Draw(number)
            values = [_drawn(leaf, chosen, draw) for leaf in self._leaves]
            shown = ", ".join(f"{'axis ' * name.isdigit()}{name}={size}" for name, size in chosen.items())
            example = self._of_values(shown or "made-up arguments", values)
            if self._searches:
                ordered = [np.sort(each) if each.ndim else each for each in values]
                example = example._replace(in_order=self._of_values(f"{example.label}, in order", ordered))
            yield example

    def _of_values(self, label: str, values: Sequence[Elements]) -> Example:
        met = [_as_given(leaf, each) for leaf, each in zip(self._leaves, values, strict=True)]
        given = {name: put_together(each, met) for name, each in self._template.items()}
        return Example(label, given, [self._fed(each) for each in values])

    def _of_data(self, data: Sequence[Any] | Mapping[str, Any]) -> Example:
        names = list(self._template)
        if not isinstance(cast(object, data), Mapping | list | tuple):
            raise CallError(
                f"data is {described_type(type(data))}, and has to have the arguments of a call",
                help="data=(x, y), one argument for each type, or data={'x': x, 'y': y}",
                culprit=("attribute", "data"),
            )
        given = dict(data) if isinstance(data, Mapping) else dict(zip(names, data, strict=False))
        if list(given) != names or (not isinstance(data, Mapping) and len(data) != len(names)):
            raise CallError(
                f"data has {len(data)} arguments, and types are given for {', '.join(names)}",
                help="data=(x, y), one argument for each type, or data={'x': x, 'y': y}",
                culprit=("attribute", "data"),
            )
        values: dict[int, _Datum] = {}
        for name, each in given.items():
            _collect(self._template[name], each, values)
        for k, leaf in enumerate(self._leaves):
            _check_fits(leaf, values[k])
        ordered = [values[k].elements.astype(leaf.dtype, copy=False) for k, leaf in enumerate(self._leaves)]
        return Example("data", given, [self._fed(each) for each in ordered])

    def _fed(self, elements: Elements) -> Elements:
        wanted = self._recording.narrowed(elements.dtype)
        return fed(elements if wanted == elements.dtype else elements.astype(wanted))

    # -- comparing -------------------------------------------------------------------------------------

    def _called(self, example: Example, report: ModelReport) -> tuple[UserValue] | None:
        """The result of the function; None where it raises an error."""
        given = copy.deepcopy(dict(example.given))
        call = self._plain.signature.bind_partial()
        call.arguments.update(given)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return (within(SECONDS, lambda: self._function(*call.args, **call.kwargs)),)
        except TooLongError:
            report.notes.append(f"{example.label}: left out, the function runs for more than {SECONDS:g} s")
            return None
        except Exception as error:
            report.notes.append(f"{example.label}: left out, the function raises {text_of(error)}")
            return None

    def _compare(self, example: Example, expected: UserValue, report: ModelReport) -> None:
        try:
            found = self._recording.outputs(example.feeds)
        except OnnxsmithError as error:
            first = str(error).partition("\n")[0]
            raise self._error(f"for {example.label} the function gives a result, and {first}") from None
        names = [each.name for each in self._recording.model.outputs]
        theirs = [each for _, each in _outputs(expected, "")]
        if [np.shape(cast(Elements, each)) for each in theirs] != [each.shape for each in found]:
            # A list that only the model knows the length of is one output.
            theirs = [each for _, each in _outputs(expected, "", joins_lists=True)]
        report.rows += [
            self._compared(example, name, mine, _like(mine, other), report)
            for name, mine, other in zip(names, found, theirs, strict=True)
        ]

    def _compared(
        self, example: Example, name: str, mine: Elements, theirs: Elements, report: ModelReport
    ) -> Comparison:
        label = example.label
        if self._has_eigenvalues:
            mine, theirs = _with_eigenvalues(mine, theirs)
        if theirs.dtype.kind == "c":
            theirs = fed(theirs)
        if theirs.shape == (0,) and theirs.dtype == np.float64 and not mine.size:
            theirs = mine  # of an empty list numpy knows neither the shape of its elements nor their type
        if mine.shape != theirs.shape:
            raise self._error(
                f"for {label} output '{name}' has shape {mine.shape}, and the function gives {theirs.shape}"
            )
        if self._is_exact and mine.dtype != theirs.dtype:
            what = f"output '{name}' is {mine.dtype}, and the function gives {theirs.dtype}"
            if all(each.size for each in example.feeds) or disagreeing(theirs, mine, EXACT).any():
                raise self._error(f"for {label} {what}")
            # What numpy gives for no elements may have a type of its own, and an output has one type.
            report.notes.append(f"{label}: {what}")
        apart = gap(theirs, mine)
        row = Comparison(label, name, apart.absolute, apart.relative)
        if self._tolerance is not None and disagreeing(theirs, mine, self._tolerance).any():
            raise self._error(f"for {row}")
        return row

    def _error(self, what: str) -> VerificationError:
        return VerificationError(
            f"the model of '{self._plain.name}' does not give what the function gives: {what}",
            help="numpy promises no order of eigenvalues, nor the length of eigenvectors: verify=False makes the "
            "model, and results that do not depend on either can be compared"
            if self._has_eigenvalues
            else "verify=False makes the model all the same, and verify=1e-3 allows a thousandth of the largest "
            "number; please report it, with the function",
        )


def _with_eigenvalues(mine: Elements, theirs: Elements) -> tuple[Elements, Elements]:
    """An output that may be eigenvalues, as complex numbers, and those of the function in the order of the model's."""
    if theirs.dtype.kind == "f" and mine.shape == (*theirs.shape, 2):
        theirs = theirs.astype(dtypes.complex_of(theirs.dtype))
    if theirs.dtype.kind != "c" or mine.shape != (*theirs.shape, 2) or theirs.ndim < 1:
        return mine, theirs
    given = mine[..., 0] + 1j * mine[..., 1]
    size = float(np.max(np.abs(theirs), initial=0.0)) or 1.0
    ordered = np.take_along_axis(theirs, _order(theirs, size), -1)
    places = np.argsort(_order(given, size), -1)
    turned = np.take_along_axis(ordered, places, -1)
    # Another order is one of eigenvalues only if it makes them equal.
    return mine, theirs if disagreeing(turned, given, CONVERTED, scale=size).any() else turned


def _order(values: Elements, size: float) -> Elements:
    """The order of complex numbers along the last axis, by their parts; what rounding tells apart is equal."""
    rounded = np.round(values / size, 6)
    return np.lexsort((rounded.imag, rounded.real), axis=-1)


def _types_in(model: Model, leaves: Sequence[Leaf]) -> list[DType]:
    """The element types that a model computes in."""
    given = [dtypes.part(each.dtype) if each.dtype.kind == "c" else each.dtype for each in leaves]
    codes = {dtypes.onnx_type(each).value for each in given}
    waiting = [model.proto.graph]
    while waiting:
        graph = waiting.pop()
        codes.update(each.type.tensor_type.elem_type for each in (*graph.value_info, *graph.output))
        codes.update(each.data_type for each in graph.initializer)
        for node in graph.node:
            waiting.extend(inner_graphs(node))
    return [each for each in _ROUNDING if each.value in codes or each is DType.DOUBLE]


def _like(mine: Elements, other: Held) -> Elements:
    """The result of the function as an array; a Python number has no element type of its own."""
    is_python = other.__class__ is int or other.__class__ is float
    return np.asarray(other, mine.dtype if is_python and mine.dtype.kind == "f" else None)


def _drawn(leaf: Leaf, sizes: Mapping[str, int], draw: Draw) -> Elements:
    """Elements for an input. Numpy code takes integers for sizes and divides by them, so none is 0."""
    shape = [
        each if isinstance(each, int) else sizes[f"{axis}" if each is None else each]
        for axis, each in enumerate(leaf.shape)
    ]
    dtype = DType.from_numpy(leaf.dtype)
    assert dtype is not None  # an input of a model
    return draw.elements(dtype, shape, integers=(1, 10), scale=2.0)


def _as_given(leaf: Leaf, elements: Elements) -> UserValue:
    """The value that the function is called with for an input."""
    if leaf.role == "number":
        return elements.item()
    return elements[()] if leaf.role == "scalar" else elements.copy()


class _Datum(NamedTuple):
    """The data of an input, and a flag for an element type of its own: Python's numbers have none."""

    elements: Elements
    is_typed: bool


def _check_fits(leaf: Leaf, datum: _Datum) -> None:
    """Refuse data of another type than the input has."""
    elements, is_typed = datum
    sizes = zip(elements.shape, leaf.shape, strict=False)
    is_right = (
        elements.ndim == len(leaf.shape)
        and all(size == wanted for size, wanted in sizes if isinstance(wanted, int))
        and (
            elements.dtype == leaf.dtype
            if is_typed and leaf.role != "number"
            else elements.dtype.kind in "biufc" and np.can_cast(elements.dtype, leaf.dtype, "same_kind")
        )
    )
    if not is_right:
        wanted = ", ".join(":" if each is None else str(each) for each in leaf.shape)
        raise CallError(
            f"data does not fit the type of '{leaf.name}': it is {elements.dtype} of shape {elements.shape}, "
            f"and the type given is {leaf.dtype}[{wanted}]",
            help="give data of the types that the model is made for: x.astype(np.float64), x.reshape(-1)",
            culprit=("attribute", "data"),
        )


def _collect(template: Held, value: Held, values: dict[int, _Datum]) -> None:
    """The elements of inputs, from arguments that a user gives."""
    if isinstance(template, Place):
        is_numpys = isinstance(value, np.ndarray | np.generic)
        try:
            values[template.position] = _Datum(np.asarray(value), is_typed=is_numpys)
        except ValueError as error:  # rows of several lengths
            raise CallError(f"data is no array: {error}", culprit=("attribute", "data")) from None
        return
    inner, given = parts(template), dict(parts(value) or ())
    for key, each in inner or ():
        if key not in given:
            raise CallError("data has another form than the types", culprit=("attribute", "data"))
        _collect(each, given[key], values)


def _outputs(result: Held, name: str, *, joins_lists: bool = False) -> Iterator[tuple[str, Held]]:
    """The results of a function, one by one, in the order of the model's outputs; a list may be one of them."""
    if joins_lists and isinstance(result, list):
        yield name, np.asarray(cast("list[Any]", result))
        return
    inner = None if isinstance(result, np.ndarray | np.generic) else parts(result)
    if inner is None:
        yield name, result
        return
    for key, each in inner:
        yield from _outputs(each, f"{name}.{key}", joins_lists=joins_lists)
