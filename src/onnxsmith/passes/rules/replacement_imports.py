"""Additions of replacements to a model: arrays, and the functions of the scripts and models that they call.

Each is there once, however often a rule applies. A function gets another name where the model has something else of
its own; one that is equal is taken for it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import onnx_ir as ir

from onnxsmith.graphs.copying import call_by, with_graph
from onnxsmith.graphs.function import FUNCTION_DOMAIN_VERSION
from onnxsmith.graphs.ir_maker import function_to_ir
from onnxsmith.graphs.records import AnyFunction
from onnxsmith.graphs.rewriting.scopes import reached
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.same_functions import Identifier, called_in, content, other_version, uses_inside


class ImportedFunctions:
    """The additions of the replacements of one run."""

    def __init__(self, edit: Editor) -> None:
        self._edit = edit
        #: Arrays by identity (each is held here, so that it stays its own), and the initializers that they became.
        self.weights: dict[int, tuple[object, ir.Value]] = {}
        #: What scripts remember of the functions that were made of them, so that each is made once.
        self.shared: dict[Hashable, Any] = {}
        #: Functions by identity and by the opset that they are called in, and what they are called in the model.
        self._names: dict[tuple[int, int], tuple[AnyFunction, Identifier]] = {}
        #: Functions that the model was given, and that no change tells of yet.
        self._untold: list[ir.Function] = []

    def refusal(self, root: ir.Node, functions: Mapping[Identifier, AnyFunction]) -> str | None:
        """Why functions cannot be called in the place of a node; empty where there is nothing to tell."""
        own = {identifier[:2] for identifier in functions}
        for function in functions.values():
            for operator, use in uses_inside(function):
                if operator in own:
                    continue
                written = function.opset_imports.get(operator[0], 1)
                problem = other_version(operator, written, self._edit.version(root, operator[0]), use)
                if problem is not None:
                    return f"{problem}, in '{function.name}'"
        return "" if self._is_inside(root, functions) else None

    def _is_inside(self, root: ir.Node, functions: Mapping[Identifier, AnyFunction]) -> bool:
        """True if a node is in one of the functions that it would call: a function does not call itself."""
        around = self._edit.function_around(root)
        if around is None:
            return False
        held = self._edit.model.functions
        called = (self._identifier(root, each) or each.identifier() for each in functions.values())
        return around.identifier() in reached(
            called, lambda each: called_in(held[each]) if each in held else ()
        )

    def enter(
        self, root: ir.Node, functions: Mapping[Identifier, AnyFunction]
    ) -> dict[Identifier, Identifier]:
        """Give the model functions, those that are called by others first; what each is called there."""
        renamed: dict[Identifier, Identifier] = {}
        for identifier, function in functions.items():
            known = self._identifier(root, function)
            if known is None:
                known = self._entered(root, function, renamed)
                key = (id(function), self._edit.version(root))
                self._names[key] = (function, known)
            renamed[identifier] = known
        return renamed

    def _identifier(self, root: ir.Node, function: AnyFunction) -> Identifier | None:
        found = self._names.get((id(function), self._edit.version(root)))
        return None if found is None else found[1]

    def _entered(
        self, root: ir.Node, given: AnyFunction, renamed: Mapping[Identifier, Identifier]
    ) -> Identifier:
        model = self._edit.model
        function = function_to_ir(given)
        graph = function.graph.clone() if function is given else function.graph
        for domain in function.opset_imports:
            version = self._edit.version(root, domain) or function.opset_imports[domain]
            graph.opset_imports[domain] = version
            model.opset_imports.setdefault(domain, version)
        call_by(renamed, graph.all_nodes())
        model.opset_imports.setdefault(function.domain, FUNCTION_DOMAIN_VERSION)
        made, name = with_graph(function, graph), function.name
        same = model.functions.get(function.identifier())
        if same is not None and same.opset_imports == made.opset_imports and content(same) == content(made):
            return same.identifier()
        taken = {node.op_identifier() for node in self._edit.nodes()} | model.functions.keys()
        number = 1
        while made.identifier() in taken:
            made.name = f"{name}_{number}"
            number += 1
        self._edit.add_function(made)
        self._untold.append(made)
        return made.identifier()

    def reported(self) -> list[ir.Function]:
        """The functions that the model was given since this was last asked, for the record of a change."""
        functions, self._untold = self._untold, []
        return functions

    def drop_unreported(self) -> None:
        """Take functions back that were for a change which was not made."""
        for function in self.reported():
            del self._edit.model.functions[function.identifier()]


def in_calling_order(functions: dict[Identifier, ir.Function]) -> None:
    """Let each function stand behind those that it calls: the reference evaluator reads a model from top to bottom."""
    order: dict[Identifier, ir.Function] = {}
    begun: set[Identifier] = set()  # a stranger's function may call itself
    for first in functions:
        waiting = [(first, False)]
        while waiting:
            identifier, is_next = waiting.pop()
            if is_next:
                order.setdefault(identifier, functions[identifier])
            elif identifier in functions and identifier not in begun:
                begun.add(identifier)
                waiting.append((identifier, True))
                waiting += [(each, False) for each in called_in(functions[identifier])]
    if list(order) != list(functions):
        functions.clear()
        functions.update(order)
