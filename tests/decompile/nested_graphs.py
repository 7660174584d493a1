"""Draws models with nested Loop, If and Scan nodes, made as protos, so that no front end has chosen their form.

Bodies read values of every graph around them, and may reuse a name of one. Values are scalars, so that models run;
each loop ends after a few iterations, unless a model is asked for that nobody runs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: Element type and shape by kind of value: a number, a count, a truth value, a row of three numbers.
_KINDS: dict[str, tuple[int, list[int] | None]] = {
    "number": (TensorProto.FLOAT, []),
    "count": (TensorProto.INT64, []),
    "truth": (TensorProto.BOOL, []),
    "row": (TensorProto.FLOAT, [3]),
}
_OPERATORS = {
    "number": ("Add", "Sub", "Max", "Min"),
    "count": ("Add", "Sub", "Max"),
    "truth": ("And", "Or", "Xor"),
}
_WORDS = ("p", "c", "x.1", "state", "while", "", "p_in", "a/b", "i")
_DEEPEST = 3


@dataclass
class _Scope:
    """A graph that is being drawn: what its nodes can read, and what it holds."""

    values: dict[str, list[str]]
    #: Names that are used here or in a graph around, and those that this graph may not make again.
    around: list[str]
    taken: set[str] = field(default_factory=set[str])
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    weights: list[TensorProto] = field(default_factory=list[TensorProto])
    #: The condition of the loop whose body this is: only it may pass that on.
    depth: int = 0
    #: The count that the loop whose body this is carries, if it carries one.
    carried: str = ""


class _Drawn:
    def __init__(self, seed: int, *, is_bounded: bool) -> None:
        self.random = random.Random(seed)
        #: Whether a loop ends after a few iterations; else a count that a loop carries says how often one inside runs.
        self.is_bounded = is_bounded
        self.shadows = self.random.random() < 0.25
        #: Forms that front ends make and that can be statements: one state mostly, no weights in bodies.
        self.is_plain = self.random.random() < 0.7
        self._count = 0

    def model(self) -> onnx.ModelProto:
        names = {"number": ["x", "y"], "count": ["n"], "truth": ["b"], "row": ["r"]}
        given = [name for each in names.values() for name in each]
        scope = _Scope({kind: list(each) for kind, each in names.items()}, given, set(given))
        self.fill(scope, self.random.randint(3, 6))
        inputs = [self.port(name, kind) for kind, each in names.items() for name in each]
        made = {name for node in scope.nodes for name in node.output}
        results = [
            (name, kind)
            for kind in ("number", "count", "truth", "row")
            for name in scope.values[kind][-2:]
            if name in made
        ]
        graph = helper.make_graph(
            scope.nodes, "drawn", inputs, [self.port(*each) for each in results], scope.weights
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8, producer_name="drawn"
        )

    # -- names -----------------------------------------------------------------------------------------

    def name(self, scope: _Scope, kind: str | None) -> str:
        """A new name of a scope, which may hide one of a graph around it."""
        hidden = [each for each in scope.around if each not in scope.taken]
        if self.shadows and scope.depth and hidden and self.random.random() < 0.3:
            found = self.random.choice(hidden)
            for each in scope.values.values():
                while found in each:
                    each.remove(found)
        else:
            self._count += 1
            found = f"{self.random.choice(_WORDS)}_{self._count}"
        scope.taken.add(found)
        if kind is not None:
            scope.values[kind].append(found)
        return found

    def read(self, scope: _Scope, kind: str) -> str:
        """A value that a scope can read; recent ones more often, so that what a loop carries is read inside it."""
        options = scope.values[kind]
        if not options or (kind != "row" and self.random.random() < 0.1):
            return self.constant(scope, kind)
        found = self.random.choice(options[-4:] if self.random.random() < 0.7 else options)
        scope.taken.add(found)
        return found

    def constant(self, scope: _Scope, kind: str, value: object = None) -> str:
        number = {
            "number": np.float32(1.5),
            "count": np.int64(2),
            "truth": np.bool_(True),
            "row": np.zeros(3, "f"),
        }
        array = np.asarray(number[kind] if value is None else value)
        name = self.name(scope, None)
        if self.random.random() < 0.5 and not (self.is_plain and scope.depth):
            scope.weights.append(numpy_helper.from_array(array, name))
        else:
            scope.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        scope.values[kind].append(name)
        return name

    def port(self, name: str, kind: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, *_KINDS[kind])

    # -- nodes -----------------------------------------------------------------------------------------

    def fill(self, scope: _Scope, count: int) -> None:
        for _ in range(count):
            draw = self.random.random()
            if scope.depth < _DEEPEST and draw < 0.35:
                self.loop(scope)
            elif scope.depth < _DEEPEST and draw < 0.5:
                self.branches(scope)
            elif scope.depth < _DEEPEST and draw < 0.58:
                self.scan(scope)
            else:
                self.plain(scope, self.random.choice(("number", "number", "count", "truth")))

    def plain(self, scope: _Scope, kind: str) -> str:
        if kind == "row":
            inputs, op = [self.read(scope, "row"), self.read(scope, "number")], "Add"
        elif kind == "truth" and self.random.random() < 0.6:
            inputs, op = [self.read(scope, "number"), self.read(scope, "number")], "Less"
        elif kind == "truth" and self.random.random() < 0.3:
            inputs, op = [self.read(scope, "truth")], "Not"
        else:
            inputs, op = (
                [self.read(scope, kind), self.read(scope, kind)],
                self.random.choice(_OPERATORS[kind]),
            )
        return self.add(scope, op, inputs, [kind])[0]

    def add(
        self, scope: _Scope, op: str, inputs: Sequence[str], kinds: Sequence[str], **attributes: object
    ) -> list[str]:
        outputs = [self.name(scope, None) for _ in kinds]
        scope.nodes.append(helper.make_node(op, inputs, outputs, name="", **attributes))
        for name, kind in zip(outputs, kinds, strict=True):
            scope.values[kind].append(name)
        return outputs

    def inner(self, scope: _Scope) -> _Scope:
        around = list(
            dict.fromkeys([*scope.around, *(name for each in scope.values.values() for name in each)])
        )
        return _Scope(
            {kind: list(each) for kind, each in scope.values.items()}, around, depth=scope.depth + 1
        )

    def finished(
        self, scope: _Scope, inner: _Scope, inputs: list[onnx.ValueInfoProto], results: list[tuple[str, str]]
    ) -> onnx.GraphProto:
        outputs = [self.port(*each) for each in results]
        # What is read inside may not be made again around it.
        made = {name for node in inner.nodes for name in node.output} | {each.name for each in inputs}
        scope.taken |= inner.taken - made - {each.name for each in inner.weights}
        title = self.random.choice(("body", "g", "loop body"))
        return helper.make_graph(inner.nodes, title, inputs, outputs, inner.weights)

    def result(self, scope: _Scope, kind: str, begun: set[str]) -> str:
        """A value of this graph for an output of it: one that is there, or a new one."""
        own = [name for name in scope.values[kind] if name not in begun and name in self._made(scope)]
        if own and self.random.random() < 0.7:
            return self.random.choice(own[-1:] if self.is_plain else own[-2:])
        return self.plain(scope, kind)

    def _made(self, scope: _Scope) -> set[str]:
        return {name for node in scope.nodes for name in node.output}

    def loop(self, scope: _Scope) -> None:
        count = 1 if self.is_plain and self.random.random() < 0.7 else self.random.randint(1, 3)
        carried = [self.random.choice(("number", "number", "count", "truth")) for _ in range(count)]
        is_while = self.random.random() < 0.3
        if is_while:
            carried[0] = "count"
        elif not self.is_bounded and self.random.random() < 0.5:
            carried = ["count"]
        initial = [self.read(scope, kind) for kind in carried]
        if is_while:
            initial[0] = self.constant(scope, "count", np.int64(0))
        trips = "" if is_while else self.read(scope, "count")
        if trips and scope.carried and not self.is_bounded:
            trips = scope.carried
            scope.taken.add(trips)
        if trips and self.is_bounded:
            trips = self.add(scope, "Min", [trips, self.constant(scope, "count", np.int64(3))], ["count"])[0]
        is_open = is_while or (not self.is_plain and self.random.random() < 0.2)
        start = self.read(scope, "truth") if is_open else ""
        if not start and self.random.random() < 0.7:
            start = self.constant(scope, "truth", np.bool_(True))
        inner = self.inner(scope)
        counter, given = self.name(inner, None if is_while else "count"), self.name(inner, None)
        states = [self.name(inner, kind) for kind in carried]
        inputs = [self.port(counter, "count"), self.port(given, "truth")]
        inputs += [self.port(*each) for each in zip(states, carried, strict=True)]
        inner.carried = next(
            (name for name, kind in zip(states, carried, strict=True) if kind == "count"), ""
        )
        begun = {*states, counter}
        self.fill(inner, self.random.randint(0, 3))
        results = [(self.result(inner, kind, begun), kind) for kind in carried]
        self.rearrange(results, states)
        if is_while:
            step = self.add(inner, "Add", [states[0], self.constant(inner, "count", np.int64(1))], ["count"])[
                0
            ]
            results[0] = step, "count"
            going = self.add(inner, "Less", [step, self.constant(inner, "count", np.int64(3))], ["truth"])[0]
            if self.random.random() < 0.3:
                going = self.add(inner, "And", [going, self.read(inner, "truth")], ["truth"])[0]
        else:
            going = self.condition(inner, given)
            truths = [place for place, kind in enumerate(carried) if kind == "truth"]
            if truths and self.random.random() < 0.3:
                results[self.random.choice(truths)] = self.random.choice((going, given)), "truth"
        is_apart = self.random.random() < 0.7  # some runtimes want outputs of a body apart
        seen: set[str] = set()
        for place, (name, kind) in enumerate(results):
            if is_apart and name in (*seen, going):
                results[place] = self.add(inner, "Identity", [name], [kind])[0], kind
            seen.add(results[place][0])
        is_collecting = self.random.random() < (0.02 if self.is_plain else 0.15)
        extra = [(self.plain(inner, "number"), "number")] if is_collecting else []
        body = self.finished(scope, inner, inputs, [(going, "truth"), *results, *extra])
        outputs = [self.name(scope, None) for _ in (*carried, *extra)]
        scope.nodes.append(helper.make_node("Loop", [trips, start, *initial], outputs, body=body))
        for name, kind in zip(outputs, carried, strict=False):
            scope.values[kind].append(name)
        if extra:
            self.add(scope, "ReduceSum", [outputs[-1]], ["number"], keepdims=0)

    def rearrange(self, results: list[tuple[str, str]], states: Sequence[str]) -> None:
        """Let some variables of a loop keep their values, get that of another one, or one that another gets, too."""
        for place, (_, kind) in enumerate(results):
            alike = [other for other, (_, its) in enumerate(results) if its == kind]
            draw, chosen = self.random.random(), self.random.choice(alike)
            if draw < 0.2:
                results[place] = states[chosen], kind
            elif draw < 0.35:
                results[place] = results[chosen]

    def condition(self, inner: _Scope, given: str) -> str:
        draw = self.random.random()
        if draw < 0.4:
            return self.add(inner, "Identity", [given], ["truth"])[0]
        if draw < 0.6:
            true = numpy_helper.from_array(np.array(True))
            name = self.name(inner, None)
            inner.nodes.append(helper.make_node("Constant", [], [name], value=true))
            return name
        if draw < 0.7:
            return self.add(inner, "Not", [self.plain(inner, "truth")], ["truth"])[0]
        if draw < 0.8:
            return self.add(inner, "And", [given, self.plain(inner, "truth")], ["truth"])[0]
        return self.plain(inner, "truth")

    def branches(self, scope: _Scope) -> None:
        kinds = [
            self.random.choice(("number", "number", "count", "truth"))
            for _ in range(self.random.randint(1, 2))
        ]
        condition = self.read(scope, "truth")
        graphs: dict[str, onnx.GraphProto] = {}
        for attribute in ("then_branch", "else_branch"):
            inner = self.inner(scope)
            begun = {name for each in inner.values.values() for name in each}
            self.fill(inner, self.random.randint(0, 2))
            results: list[tuple[str, str]] = []
            for kind in kinds:
                name = self.result(inner, kind, begun)
                if name in [each for each, _ in results]:
                    name = self.add(inner, "Identity", [name], [kind])[0]
                results.append((name, kind))
            graphs[attribute] = self.finished(scope, inner, [], results)
        self.add(scope, "If", [condition], kinds, **graphs)

    def scan(self, scope: _Scope) -> None:
        initial, rows = self.read(scope, "number"), self.read(scope, "row")
        inner = self.inner(scope)
        state, element = self.name(inner, "number"), self.name(inner, "number")
        self.fill(inner, self.random.randint(0, 2))
        results = [(self.plain(inner, "number"), "number"), (self.plain(inner, "number"), "number")]
        inputs = [self.port(state, "number"), self.port(element, "number")]
        body = self.finished(scope, inner, inputs, results)
        self.add(scope, "Scan", [initial, rows], ["number", "row"], body=body, num_scan_inputs=1)


def nested_model(seed: int, *, is_bounded: bool = True) -> onnx.ModelProto:
    """The model of a seed. Its inputs are those of `arguments`; one that is not bounded may run for very long."""
    return _Drawn(seed, is_bounded=is_bounded).model()


def hides_names(seed: int) -> bool:
    """True if bodies of the model of a seed may make a name of a graph around them again, which ONNX does not allow."""
    return _Drawn(seed, is_bounded=True).shadows


def arguments(seed: int) -> dict[str, np.ndarray]:
    """Arguments for a drawn model."""
    draw = np.random.default_rng(seed)
    return {
        "x": np.float32(draw.integers(-3, 4)),
        "y": np.float32(draw.integers(-3, 4) / 2),
        "n": np.int64(draw.integers(0, 4)),
        "b": np.bool_(draw.random() < 0.7),
        "r": draw.integers(-3, 4, 3).astype(np.float32),
    }
