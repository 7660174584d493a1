"""Walks torch's graph, node by node, and keeps what each became.

Knows nodes, names and mutation by renaming; what an operator means is `dispatch`'s to find.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch.fx.node import Argument as FxArgument

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.context import setting
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import ExportError
from onnxsmith.source import STATEMENT
from onnxsmith.torch import numbers
from onnxsmith.torch.gradient_operators import COTANGENT, WITH_GRADIENT
from onnxsmith.torch.library.kinds import Argument, Fake, Given, Target, known_arguments
from onnxsmith.torch.library.marks import stopped, with_formula, with_gradient_of
from onnxsmith.torch.marking import NO_GRADIENT, formulas, is_buffer
from onnxsmith.torch.mutation import same_value, written_positions
from onnxsmith.torch.origins import module_scope, span_of, stored
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.torch.dispatch import Dispatcher
    from onnxsmith.torch.progress import Progress

#: Checks that a model does not make.
_ASSERTS = frozenset(
    {
        *("aten._assert_scalar.default", "aten._assert_async.msg", "aten._assert_async.default"),
        *("aten._assert_tensor_metadata.default", "aten.sym_constrain_range.default"),
        *("aten.sym_constrain_range_for_size.default", "aten._functional_assert_async.msg"),
        *("aten._functional_sym_constrain_range.default", "aten._functional_assert_scalar.default"),
        *("aten._linalg_check_errors.default",),
    }
)


class Subprogram:
    """A graph that another one has as an attribute: the branch of a `cond`, the body of a loop.

    Calling it translates it into the graph that is active then, on values of that graph, and gives what it returns.
    """

    def __init__(self, module: torch.fx.GraphModule, dispatcher: Dispatcher) -> None:
        self.module = module
        self._dispatcher = dispatcher

    def __call__(self, *arguments: Argument) -> Argument:
        dispatcher, fakes = self._dispatcher, self.inputs
        with dispatcher.sizes.rebound(fakes):
            received = [dispatcher.received(each, fake) for each, fake in zip(arguments, fakes, strict=True)]
            return Interpreter(dispatcher, self.module).run(received)

    @property
    def inputs(self) -> list[Fake]:
        """The facts of torch about its parameters."""
        return [each.meta.get("val") for each in self.module.graph.nodes if each.op == "placeholder"]

    @property
    def output(self) -> Fake:
        """The facts of torch about its results."""
        node = next(each for each in reversed(self.module.graph.nodes) if each.op == "output")
        return known_arguments(node)[0][0]


class Interpreter:
    """One walk over one graph."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        module: torch.fx.GraphModule,
        attributes: Mapping[str, Callable[[], Argument]] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.dispatcher = dispatcher
        self.module = module
        #: Values of placeholders that are no arguments: weights. Called when a node first needs one.
        self.attributes = attributes or {}
        self.progress = progress
        self.values: dict[torch.fx.Node, Argument] = {}
        #: What each node became, before anything wrote to it.
        self.translated: dict[torch.fx.Node, Argument] = {}
        #: An in-place operator's result -> the node whose value it is.
        self._same: dict[torch.fx.Node, torch.fx.Node] = {}
        #: The nodes that something was written to while autograd was on.
        self._written_with_gradient: set[torch.fx.Node] = set()
        #: The nodes of backward formulas: they are translated where the formula is recorded.
        self._formulas: dict[torch.fx.Node, frozenset[int]] = {}
        #: The numbers of the formulas that are being recorded.
        self._inside: frozenset[int] = frozenset()

    def run(self, arguments: Sequence[Argument]) -> Argument:
        """The values that the graph returns, nested as torch has them."""
        given = iter(arguments)
        live = _live(self.module.graph)
        # A formula may compute what nothing needs: the gradient of an argument that has none, say.
        self._formulas = {
            each: needed for each, needed in formulas(self.module.graph).items() if each in live
        }
        progress = self.progress
        if progress is not None:
            progress.total = len(live)
        result: Argument = None
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                if node.name not in self.attributes:
                    self.values[node] = next(given)
            elif node.op == "output":
                result = self._mapped(node.args[0])
            elif node in live and node not in self._formulas:
                self.values[node] = self.translated[node] = self._translated(node)
                if progress is not None:
                    progress.done += 1
        return result

    def _translated(self, node: torch.fx.Node) -> Argument:
        if node.op == "get_attr":
            return self._attribute(node)
        target = node.target
        assert not isinstance(target, str)  # a program of torch.export calls functions alone
        if target is WITH_GRADIENT:
            return self._with_formula(node)
        args = tuple([self._mapped(each) for each in node.args])
        if target is operator.getitem:
            part = operator.getitem(cast("Sequence[Argument]", args[0]), cast("int", args[1]))
            return part if NO_GRADIENT not in node.meta else self._without_gradient(node, target, args, part)
        kwargs = {name: self._mapped(each) for name, each in node.kwargs.items()} if node.kwargs else {}
        dispatcher = self.dispatcher
        span = span_of(node)
        dispatcher.enter(node, module_scope(node), stored(span))
        with setting(STATEMENT, span):
            if numbers.is_python_function(target):
                value = numbers.compute(target, args, kwargs)
                is_number = isinstance(value, Number)
                return dispatcher.sizes.remember(node.meta.get("val"), value) if is_number else value
            result = dispatcher.call(node, target, args, kwargs)
            if NO_GRADIENT in node.meta:
                result = self._without_gradient(node, target, args, result)
        self._rename(node, target, result)
        return result

    def _rename(self, node: torch.fx.Node, target: Target, result: Argument) -> None:
        """Gives the value that an in-place operator wrote to its new value from here on."""
        written = written_positions(target)
        given = node.args[written[0]] if written and written[0] < len(node.args) else None
        if isinstance(given, torch.fx.Node):
            owner = self._owner(given)
            self.values[owner] = result
            self._same[node] = owner
            if NO_GRADIENT not in node.meta:
                self._written_with_gradient.add(owner)

    # -- gradients -------------------------------------------------------------------------------------

    def _without_gradient(
        self, node: torch.fx.Node, target: Target, args: Sequence[Argument], result: Argument
    ) -> Argument:
        """A result that was computed while autograd was off; what was written over keeps the gradient it had."""
        written = written_positions(target)
        if written:
            owner = same_value(node)
            if is_buffer(owner) and owner not in self._written_with_gradient:
                return stopped(result)  # what reads the buffer is no user of this node
            return with_gradient_of(cast("Given", args[written[0]]), cast("Given", result))
        # The parts of several results are nodes of their own, which end gradients where something reads them.
        is_inner = all(NO_GRADIENT in each.meta and not written_positions(each.target) for each in node.users)
        return result if is_inner else stopped(result)

    def _with_formula(self, node: torch.fx.Node) -> Argument:
        """Results whose gradients are the formula that was traced for them."""
        results, arguments, gradients, number = cast("tuple[Any, Any, Any, int]", node.args)
        inside = self._inside | {number}
        nodes = [each for each, needed in self._formulas.items() if number in needed and needed <= inside]
        values = [self._mapped(each) for each in (*results, *arguments)]
        missing = [
            each for each in gradients if each is not None and not self._formulas.get(each, inside) <= inside
        ]
        if missing or any(isinstance(each, Complex) for each in values):
            what = (
                "complex numbers"
                if not missing
                else "a hook of a module that reads the gradients of its outputs"
            )
            raise ExportError(
                f"the gradient of a model cannot have {what}",
                help="compute with real numbers, or give the module a torch.autograd.Function",
            ).locate(span_of(node))

        def formula(*cotangents: Tensor) -> list[Tensor | None]:
            held, self._inside = self._inside, inside
            try:
                for each in nodes:
                    if each.target is COTANGENT and each.args[1] == number:
                        given = cotangents[cast("int", each.args[2])]
                        self.values[each] = self.dispatcher.received(given, each.meta.get("val"))
                    else:
                        self.values[each] = self._translated(each)
                found = [None if each is None else self._mapped(each) for each in gradients]
                return cast("list[Tensor | None]", found)
            finally:
                self._inside = held

        count = len(results)
        with_tensors = cast("list[Tensor]", values)
        return cast("Argument", with_formula(with_tensors[:count], with_tensors[count:], formula))

    def _owner(self, node: torch.fx.Node) -> torch.fx.Node:
        while node in self._same:
            node = self._same[node]
        return node

    def _mapped(self, value: FxArgument) -> Argument:
        """An argument of a node with values in the place of nodes."""
        if isinstance(value, torch.fx.Node):
            return self._value(value)
        if isinstance(value, tuple):
            return tuple([self._mapped(each) for each in value])
        if isinstance(value, list):
            return [self._mapped(each) for each in value]
        if isinstance(value, dict):
            return {name: self._mapped(each) for name, each in value.items()}
        if isinstance(value, slice):
            parts: tuple[FxArgument, ...] = (value.start, value.stop, value.step)
            return slice(*(self._mapped(each) for each in parts))
        return cast("Argument", value)

    def _value(self, node: torch.fx.Node) -> Argument:
        node = self._owner(node) if self._same else node
        try:
            return self.values[node]
        except KeyError:
            value = self.values[node] = self.attributes[node.name]()
            return value

    def _attribute(self, node: torch.fx.Node) -> Argument:
        found: torch.nn.Module | torch.Tensor | Argument = self.module
        for part in str(node.target).split("."):
            found = getattr(found, part)
        if isinstance(found, torch.fx.GraphModule):
            return Subprogram(found, self.dispatcher)
        if isinstance(found, torch.Tensor):
            return self.dispatcher.weight(found, str(node.target))
        return cast("Argument", found)


def _live(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """The nodes that the results or a write hang on; checks are not among them."""
    live: set[torch.fx.Node] = set()
    for node in reversed(graph.nodes):
        if node.op == "output" or node in live:
            live.update(node.all_input_nodes)
        elif node.op == "call_function" and written_positions(node.target):
            live.add(node)
            live.update(node.all_input_nodes)
    return live


def written_placeholders(graph: torch.fx.Graph) -> dict[str, torch.fx.Node]:
    """The parameters of a graph that it writes to, by name."""
    found: dict[str, torch.fx.Node] = {}
    for node in graph.nodes:
        if node.op != "call_function" or not written_positions(node.target):
            continue
        owner = same_value(node)
        if owner.op == "placeholder":
            found[owner.name] = owner
    return found


def as_output(value: Argument) -> Argument:
    """A number among the results of a graph as a tensor."""
    if isinstance(value, Number):
        dtype = {"int": DType.INT64, "float": DType.DOUBLE, "bool": DType.BOOL}[value.kind]
        return value.as_dtype(dtype)
    return value


def is_assert(overload: str) -> bool:
    """True if an operator only checks something."""
    return overload in _ASSERTS
