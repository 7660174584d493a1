"""Runs a model and its module side by side, and finds the first operator that deviates.

The example is compared, and for dynamic dimensions the example in other sizes.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from torch.export.graph_signature import InputKind
from torch.fx.node import Argument as FxArgument
from torch.utils import _pytree as pytree

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.value import Array
from onnxsmith.errors import VerificationError
from onnxsmith.graphs.agreement import (
    CONVERTED,
    Gap,
    Tolerance,
    compare,
    disagreeing,
    gap,
    largest_of,
)
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.size_conditions import read
from onnxsmith.graphs.trial_inputs import OTHER_SIZES, ChooseSize
from onnxsmith.observing import intermediate
from onnxsmith.runtime.failure import plain_reason
from onnxsmith.runtime.model_session import load_on_onnxruntime
from onnxsmith.runtime.settings import current
from onnxsmith.source import Span
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import (
    Argument,
    Example,
    ModuleArgument,
    schema_of,
)
from onnxsmith.torch.origins import span_of, stored
from onnxsmith.torch.reporting import ExportReport, OutputRow
from onnxsmith.torch.resizing import Inputs, Resizing
from onnxsmith.torch.sizes import Sizes
from onnxsmith.torch.symbols import Range, Symbol, ranges_of
from onnxsmith.torch.weights import as_array

_RANGE_HELP = 'torch.export.Dim("name", min=2, max=64) says which sizes a dimension has'


#: What torch computes: a tensor, a number, several of these.
_Result: TypeAlias = "ModuleArgument"
#: Runs a model on arrays.
Runner: TypeAlias = Callable[[Sequence[Any]], list[Any]]


class Verification:
    """One model beside the module that it was made of."""

    def __init__(
        self,
        model: Model,
        program: torch.export.ExportedProgram,
        reference: Callable[..., Any],
        translated: Mapping[torch.fx.Node, Argument],
        sizes: Sizes,
        tolerance: float | None,
        example: Example | None = None,
    ) -> None:
        self.model = model
        self.program = program
        #: The arguments that the user gave, which may be smaller than those that torch traced.
        self.example = cast("Example | None", program.example_inputs) if example is None else example
        self.reference = reference
        #: Nodes of torch's graph -> what they became in the model.
        self.translated = translated
        self.sizes = sizes
        self.tolerance = tolerance
        self.resizing = None if self.example is None else Resizing(program, self.example, sizes)
        #: The largest number of each output so far: where it is nearly 0, it is no more exact than elsewhere.
        self._scales: dict[str, float] = {}

    def run(self, report: ExportReport) -> None:
        """Compare, write the differences into the report, and raise where they are too large."""
        if self.is_random:
            report.notes.append("not verified: the module draws random numbers")
            return
        examples = self._examples(report)
        if not examples:
            return
        if current().runtime != "onnxruntime":
            report.notes.append("verified without ONNX Runtime, which is not installed or switched off")
        run = self.runner()
        for each in examples:
            rows = self.compared(run, each)
            report.verification += rows
            if not all(row.is_close for row in rows):
                raise self._deviation(rows, each)

    @property
    def is_random(self) -> bool:
        """True if the module draws random numbers, so that there is nothing to compare."""
        return is_random(self.program.graph_module)

    def runner(self) -> Runner:
        """The model on ONNX Runtime as others run it: nothing helps it around what ONNX Runtime refuses."""
        if current().runtime != "onnxruntime":
            return self.model._make_session()  # pyright: ignore[reportPrivateUsage]  # without checks of sizes
        try:
            return load_on_onnxruntime(self.model.handed_over())
        except Exception as error:  # ONNX Runtime's own classes, one for each reason
            raise VerificationError(
                f"ONNX Runtime does not load the model: {plain_reason(error)}",
                help="another opset_version may have the operators that are missing, another dtype their kernels",
            ) from error

    # -- what it is run on -----------------------------------------------------------------------------

    def _examples(self, report: ExportReport) -> list[Inputs]:
        """The example; its dimensions a little larger; and the ends of their ranges, far from the example."""
        if self.example is None or self.resizing is None:
            report.notes.append("not verified: the program has no example inputs")
            return []
        found = Inputs("example", *self.example)
        symbols = self.resizing.symbols()
        if not symbols:
            return [found]
        others = [
            each for ways in OTHER_SIZES if (each := self._accepted(self.resizing, symbols, ways)) is not None
        ]
        if not others:
            names = ", ".join(str(self.sizes.text(each)) for each in symbols)
            report.notes.append(
                f"not verified in other sizes of {names}: the module refuses those that were tried"
            )
        return [found, *{each.label: each for each in others}.values()]

    def _accepted(
        self, resizing: Resizing, symbols: Mapping[Symbol, int], ways: Sequence[ChooseSize]
    ) -> Inputs | None:
        """The example in the first of some sizes that both the module and what is known of the model allow."""
        for way in ways:
            resized = self._resized(resizing, symbols, way)
            if resized is None:
                continue
            try:
                self.wanted(resized)
            except Exception:  # torch's code, or the module's, refuses the sizes in whatever way
                continue
            return resized
        return None

    def _resized(self, resizing: Resizing, symbols: Mapping[Symbol, int], way: ChooseSize) -> Inputs | None:
        chosen: dict[Symbol, int] = {}
        named: dict[str, list[Symbol]] = {}
        for symbol in symbols:
            named.setdefault(str(self.sizes.text(symbol)), []).append(symbol)
        for same in named.values():  # symbols of one name are one size
            chosen |= dict.fromkeys(same, way(symbols[same[0]], *self._range(same)))
        sizes = resizing.named(chosen)
        conditions = read(self.model.ir.metadata_props)
        if chosen == symbols or any(each.holds(sizes) is False for each in conditions):
            return None
        return resizing.to(chosen)

    def _range(self, same: Sequence[Symbol]) -> Range:
        """The least and the most that symbols of one name can be; a size of 0 is tried only by who asks for it."""
        constraints = ranges_of(self.program)
        ranges = [constraints[each] for each in same if each in constraints]
        highs = [high for _, high in ranges if high is not None]
        return max([1, *(low for low, _ in ranges)]), min(highs, default=None)

    # -- comparing -------------------------------------------------------------------------------------

    def wanted(self, inputs: Inputs) -> list[_Result]:
        """The results of the module."""
        args, kwargs = pytree.tree_map(_copied, (inputs.args, inputs.kwargs))
        with torch.no_grad():
            result = self.reference(*args, **(kwargs or {}))
        return [each for each in pytree.tree_leaves(result) if each is not None]

    def _feeds(self, inputs: Inputs) -> list[Array]:
        assert self.resizing is not None  # there are inputs
        leaves = pytree.tree_leaves((inputs.args, inputs.kwargs))
        fakes = self.resizing.fakes
        return [_array(leaf) for leaf, fake in zip(leaves, fakes, strict=True) if fake is not None]

    def is_run(self, run: Runner, inputs: Inputs) -> bool:
        """True if the model gives any result."""
        try:
            return any(np.asarray(each).size for each in run(self._feeds(inputs)))
        except Exception:  # ours, or ONNX Runtime's own classes
            return False

    def compared(self, run: Runner, inputs: Inputs, tolerance: Tolerance | None = None) -> list[OutputRow]:
        """The differences between model and module, one for each output; VerificationError if the model fails."""
        feeds = self._feeds(inputs)
        wanted = self.wanted(inputs)
        label = inputs.label
        try:
            got = run(feeds)
        except Exception as error:  # ONNX Runtime's own classes, one for each reason
            raise VerificationError(
                f"the model fails where the module does not ({label}): {plain_reason(error)}",
                help=_RANGE_HELP,
            ) from error
        rows: list[OutputRow] = []
        for port, mine, theirs in zip(self.model.outputs, got, wanted, strict=False):
            array = np.asarray(mine)
            other = _array(theirs) if isinstance(theirs, torch.Tensor) else _typed(_array(theirs), array)
            scale = self._scales[port.name] = max(self._scales.get(port.name, 0.0), largest_of(other))
            is_close = compare(other, array, tolerance or self._tolerance(theirs), scale=scale) is None
            apart = _difference(array, other)
            rows.append(OutputRow(label, port.name, apart.absolute, apart.relative, is_close))
        return rows

    def _tolerance(self, theirs: _Result) -> Tolerance:
        """How far a result may be off: what passes through a narrow type has its precision, whatever it becomes."""
        if self.tolerance is not None:
            return Tolerance.part(self.tolerance)
        held = [each.dtype for each in self.program.state_dict.values() if isinstance(each, torch.Tensor)]
        own = [theirs.dtype] if isinstance(theirs, torch.Tensor) else []
        return CONVERTED.through(map(onnx_dtype, {*held, *own}))

    # -- where it begins -------------------------------------------------------------------------------

    def _deviation(self, rows: Sequence[OutputRow], inputs: Inputs) -> VerificationError:
        lines = ["the model computes something else than the module:"]
        for each in rows:
            verdict = "" if each.is_close else "  <-- too far apart"
            lines.append(
                f"  {each.output}: the largest difference is {each.difference:.3g}, "
                f"{each.relative:.2g} of the largest number ({each.inputs}){verdict}"
            )
        span: Span | None = None
        first = self._first_deviation(inputs)
        if first is not None:
            node, difference = first
            span = span_of(node)
            place = f" at {stored(span).rsplit(':', 2)[0]}" if span is not None else ""
            lines.append(f"the first to deviate is {node.target} ({node.name}){place}: by {difference:.3g}")
        error = VerificationError(
            "\n".join(lines),
            help="export(translations=…) can replace the translation of an operator; verify=1e-2 allows for more"
            + ("" if rows[0].inputs == "example" else f"; {_RANGE_HELP}"),
        )
        return error.locate(span)

    def _first_deviation(self, inputs: Inputs) -> tuple[torch.fx.Node, float] | None:
        theirs = self._torch_values(inputs)
        graph = self.model.ir.graph
        # By name: what was changed for a runtime has values of its own.
        made = {each.name for node in graph for each in node.outputs}
        wanted = dict.fromkeys(
            value.name
            for node in theirs
            for value in _recorded(self.translated.get(node))
            if value.name in made
        )
        mine: dict[str, Any] = dict(intermediate(Model(self.model.ir), self._feeds(inputs), list(wanted)))
        # A translation may give an input or a weight back as it is; those are made by no node.
        mine |= {port.name: feed for port, feed in zip(self.model.inputs, self._feeds(inputs), strict=True)}
        mine |= {
            name: value.const_value.numpy()
            for name, value in graph.initializers.items()
            if value.const_value is not None and value.name not in mine
        }
        for node, value in theirs.items():
            values = _recorded(self.translated.get(node))
            arrays = [mine[each.name] for each in values if each.name in mine]
            if not arrays or len(arrays) != len(values) or not isinstance(value, torch.Tensor):
                continue
            array = np.stack(arrays, -1) if len(arrays) == 2 else np.asarray(arrays[0])
            wanted_array = _array(value)
            if (
                array.shape != wanted_array.shape
                or disagreeing(wanted_array, array, self._tolerance(value)).any()
            ):
                return node, _difference(array, wanted_array).absolute
        return None

    def _torch_values(self, inputs: Inputs) -> dict[torch.fx.Node, _Result]:
        """The results of torch for each node of the graph that was translated."""
        found: dict[torch.fx.Node, _Result] = {}

        class Recorder(torch.fx.Interpreter):
            def run_node(self, n: torch.fx.Node) -> _Result:
                result = super().run_node(n)
                found[n] = result.detach().clone() if isinstance(result, torch.Tensor) else result
                return result

        flat = flat_arguments(self.program, (inputs.args, inputs.kwargs))
        with torch.no_grad():
            Recorder(self.program.graph_module).run(*flat)
        return found


def flat_arguments(program: torch.export.ExportedProgram, example: Example) -> list[Any]:
    """The arguments of a program's graph: copies of its weights and of what the user gives."""
    user = iter(pytree.tree_leaves(example))
    state, constants = program.state_dict, program.constants
    flat: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            value = next(user)
        else:
            target = spec.target or ""
            value = state[target] if target in state else constants[target]
        flat.append(value.detach().clone() if isinstance(value, torch.Tensor) else value)
    return flat


def is_random(module: torch.fx.GraphModule) -> bool:
    """True if a graph draws random numbers."""
    graphs = [each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule)]
    return any(
        torch.Tag.nondeterministic_seeded in _tags(node) and not is_idle(node)
        for graph in graphs
        for node in graph.nodes
    )


def _tags(node: torch.fx.Node) -> Sequence[torch.Tag]:
    """The tags that torch has for the operator that a node calls; empty for other nodes."""
    return getattr(node.target, "tags", ())


def is_idle(node: torch.fx.Node) -> bool:
    """True if a call draws nothing: dropout outside of training, or of nothing."""
    schema = schema_of(node.target)
    given: dict[str, FxArgument] = {}
    if schema is not None:
        given = {each.name: each.default_value for each in schema.arguments}
    given |= dict(zip(given, node.args, strict=False)) | node.kwargs
    is_off = any(given.get(each, True) is False for each in ("train", "training"))
    return is_off or any(given.get(each, 1) == 0 for each in ("p", "dropout", "dropout_p"))


def _copied(value: ModuleArgument) -> ModuleArgument:
    return value.detach().clone() if isinstance(value, torch.Tensor) else copy.copy(value)


def _array(value: _Result) -> Array:
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    array = as_array(value.detach())
    return np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array


def _difference(mine: Array, theirs: Array) -> Gap:
    return gap(theirs, mine) if mine.shape == theirs.shape else Gap(math.inf, math.inf)


def _typed(theirs: Array, mine: Array) -> Array:
    """A number of Python's in the element type of the model's: it has none of its own."""
    return theirs if theirs.ndim or theirs.dtype.kind not in "if" else theirs.astype(mine.dtype)


def _recorded(value: Argument) -> list[ValueRecord]:
    if isinstance(value, Complex):
        return [*_recorded(value.real), *_recorded(value.imag)]
    found = getattr(value, "record", None)
    return [found] if found is not None else []
