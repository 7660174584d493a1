"""A case as a Python program: calls of operators, as a user would write them, in a file that inspection can read."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from typing import Any

import onnx

import onnxsmith
from onnxsmith.schema import registry
from tests.backend.node_cases import attribute_value, free_names
from tests.laws.case import Case
from tests.laws.contexts import Inexpressible

_COUNT = iter(range(10**9))


def names_an_input(case: Case, node: onnx.NodeProto) -> bool:
    """Whether a node has an attribute that its operator does not have, by the name of one of its inputs."""
    op = registry.find(node.domain, node.op_type, case.version(node.domain))
    if op is None:
        return False
    inputs = {each.name for each in op.inputs}
    return any(each.name in inputs and each.name not in op.attributes for each in node.attribute)


class Program:
    """Functions of the case's inputs, defined in a module of their own."""

    def __init__(self, case: Case) -> None:
        self._graph = graph = case.graph
        if graph.initializer or graph.sparse_initializer:
            raise Inexpressible("initializers")
        self._names: dict[str, str] = {}
        self._constants: dict[str, Any] = {"script": onnxsmith.script, "INT64": onnxsmith.INT64}
        for info in graph.input:
            self._variable(info.name)
        self.parameters = [self._names[info.name] for info in graph.input]
        self.calls = [self._call(case, node, k) for k, node in enumerate(graph.node)]
        self.results = [self._names[info.name] for info in graph.output]

    def _variable(self, name: str) -> str:
        return self._names.setdefault(name, f"v{len(self._names)}")

    def _call(self, case: Case, node: onnx.NodeProto, k: int) -> str:
        if names_an_input(case, node):
            raise Inexpressible("an attribute by the name of an input, which a keyword would be taken for")
        operators = onnxsmith.Opset(node.domain, case.version(node.domain))
        self._constants[f"op{k}"] = getattr(operators, node.op_type)
        words = [self._names[name] if name else "None" for name in node.input]
        for attribute in node.attribute:
            value = attribute_value(attribute)
            if isinstance(value, onnx.GraphProto) and free_names(value):
                raise Inexpressible("a body that uses values around it")
            self._constants[f"{attribute.name}_{k}"] = value
            words.append(f"{attribute.name}={attribute.name}_{k}")
        targets = [
            self._variable(name) if name else f"unused_{k}_{at}" for at, name in enumerate(node.output)
        ]
        if len(targets) != 1:
            words.append(f"outputs={len(targets)}")
        return f"{', '.join(targets)} = op{k}({', '.join(words)})"

    def _module(self, text: str) -> types.ModuleType:
        name = f"laws_program_{next(_COUNT)}"
        file = f"<{name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        module = types.ModuleType(name)
        module.__dict__.update(self._constants)
        exec(compile(text, file, "exec"), module.__dict__)
        return module

    def _block(self, depth: int) -> str:
        return "".join(f"{'    ' * depth}{line}\n" for line in self.calls)

    @property
    def _returned(self) -> str:
        return "    return " + ", ".join(self.results) + "\n"

    def _def(self, name: str, extra: tuple[str, ...] = ()) -> str:
        return f"def {name}({', '.join((*extra, *self.parameters))}):\n"

    def plain(self) -> Callable[..., Any]:
        """The calls one after the other."""
        return self._module(self._def("plain") + self._block(1) + self._returned).plain

    def in_if(self) -> Callable[..., Any]:
        """The calls in both branches of an `if`."""
        text = self._def("in_if", ("condition",)) + "    if condition:\n" + self._block(2)
        return self._module(text + "    else:\n" + self._block(2) + self._returned).in_if

    def in_loop(self) -> Callable[..., Any]:
        """The calls in a loop, and once before it for what the loop carries."""
        text = self._def("in_loop", ("trips: INT64",)) + self._block(1)
        return self._module(text + "    for i in range(trips):\n" + self._block(2) + self._returned).in_loop

    def in_function(self) -> Callable[..., Any]:
        """A script with the calls, and a function that calls it."""
        text = "@script\n" + self._def("inner") + self._block(1) + self._returned
        call = f"    return inner({', '.join(self.parameters)})\n"
        return self._module(text + self._def("outer") + call).outer
