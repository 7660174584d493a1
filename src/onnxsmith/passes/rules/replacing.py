"""Puts a replacement in the place of a match: recorded on the true types of its arguments, and copied in.

A replacement that cannot stand there (the model's opset lacks an operator, the types are others) is a `Refusal`; what
is wrong wherever it stands is a RuleError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.target import ACTIVE
from onnxsmith.errors import OperatorNotInOpsetError, OpsetConflictError, RuleError
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.copying import call_by
from onnxsmith.graphs.identity import array_key
from onnxsmith.graphs.ir_maker import IrMaker
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import AnyFunction, GraphRecord, NodeRecord, ValueRecord
from onnxsmith.graphs.value import wrap
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.copying import copied_in
from onnxsmith.passes.editor import Attempt, Editor
from onnxsmith.passes.rules.annotations import contradiction
from onnxsmith.passes.rules.bindings import Bindings
from onnxsmith.passes.rules.constants import array_of, read_only, tensor_of
from onnxsmith.passes.rules.parameters import RuleFunction
from onnxsmith.passes.rules.recording import returned
from onnxsmith.passes.rules.replacement_imports import ImportedFunctions
from onnxsmith.passes.rules.same_functions import needed_functions, other_version
from onnxsmith.passes.values import Array
from onnxsmith.schema.equivalent_versions import ANY_TYPE, Use
from onnxsmith.schema.registry import default_opset_version

#: Arrays that recording copies, and that are found again by what they hold.
_COMPARED_BYTES = 256


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a replacement does not stand at one place; empty where there is nothing to tell."""

    reason: str


class Recording:
    """A replacement that was recorded for one match, and not copied in yet."""

    def __init__(
        self,
        edit: Editor,
        root: ir.Node,
        function: RuleFunction,
        found: Bindings,
        imported: ImportedFunctions,
    ) -> None:
        self._edit = edit
        self._imported = imported
        self._root = root
        self._function = function
        self._found = found
        version = function.opset_version
        own = edit.version(root) or default_opset_version()
        opsets = OpsetVersions(version or own, is_named=version is not None)
        self._scope = GraphTarget(Program("model", opsets, imported.shared))
        #: What the inputs of the recording are in the model.
        self._given: dict[ValueRecord, ir.Value] = {}
        self._arrays: list[tuple[Array, ir.Value]] = []
        self._outputs: list[ValueRecord] = []

    def run(self, count: int) -> Refusal | None:
        """Call the function; `count` is how many tensors its pattern gives."""
        values: dict[str, Any] = {}
        rest: tuple[Any, ...] = ()
        for each in self._function.parameters:
            if each.role == "rest":
                items = self._found.rest.get(each.name, ())
                rest = tuple([self._argument(f"{each.name}_{k}", item) for k, item in enumerate(items)])
            elif each.name in self._found.captured:
                values[each.name] = self._found.captured[each.name]
            elif each.name in self._found.tensors:
                value = self._found.tensors[each.name]
                is_array = each.role == "constant"
                values[each.name] = self._array(value) if is_array else self._argument(each.name, value)
            else:
                values[each.name] = each.default
        scope = self._scope
        token = ACTIVE.set(scope)
        try:
            result = self._function.call(values, rest)
            if result is None:
                return Refusal("")
            given = returned(self._function, result)
            self._outputs = [scope.own(scope.lift(each)) for each in given]
        except (OperatorNotInOpsetError, OpsetConflictError) as error:
            return Refusal(error.message)
        finally:
            ACTIVE.reset(token)
        if len(self._outputs) != count:
            raise RuleError(
                f"the replacement returns {len(self._outputs)} tensors, and its pattern {count}"
            ).locate(self._function.span)
        return self._other_opset()

    def _argument(self, name: str, value: ir.Value) -> Any:
        tensor = self._scope.input(name, type_from_ir(value.type, value.shape))
        self._given[self._scope.inputs[-1]] = value
        constant = tensor_of(self._edit, value)
        if constant is None:
            return tensor
        # Sizes and axes that are known decide the types of what is made of them.
        return wrap(self._scope.inputs[-1], Weight(name, constant).known, self._scope, None)

    def _array(self, value: ir.Value) -> Array:
        array = array_of(self._edit, value)
        assert array is not None  # a pattern's Constant matches nothing else
        array = read_only(array)
        self._arrays.append((array, value))
        return array

    # -- what it would be --------------------------------------------------------------------------------

    def _nodes(self) -> list[NodeRecord]:
        """The nodes that the outputs need."""
        needed = set(self._outputs)
        kept: list[NodeRecord] = []
        for node in reversed(self._scope.nodes):
            if any(each in needed for each in node.outputs):
                kept.append(node)
                inside = (each for graph in node.graphs() for each in graph.all_nodes())
                for each in (node, *inside):
                    needed.update(value for value in each.inputs if value is not None)
        return kept[::-1]

    def _all_nodes(self) -> list[NodeRecord]:
        """The same, and those inside them."""
        nodes = self._nodes()
        return [*nodes, *(each for made in nodes for graph in made.graphs() for each in graph.all_nodes())]

    def _functions(self) -> dict[ir.OperatorIdentifier, AnyFunction]:
        """The functions that the outputs need."""
        called = [(each.domain, each.op_type, each.overload) for each in self._all_nodes()]
        return needed_functions(called, self._scope.program.functions)

    def _other_opset(self) -> Refusal | None:
        """Why its operators cannot be in the model's opsets."""
        opsets, functions = self._scope.program.opsets, self._scope.program.functions
        for node in self._all_nodes():
            if (node.domain, node.op_type, node.overload) in functions:
                continue
            own = self._edit.version(self._root, node.domain)
            problem = other_version((node.domain, node.op_type), opsets.version(node.domain), own, _use(node))
            if problem is not None:
                return Refusal(problem)
        problem = self._imported.refusal(self._root, self._functions()) if functions else None
        return None if problem is None else Refusal(problem)

    def mismatch(self, outputs: Sequence[ir.Value]) -> Refusal | None:
        """Why its results cannot stand for values of the model."""
        for position, (old, new) in enumerate(zip(outputs, self._outputs, strict=True)):
            given = self._given.get(new)
            found = new.type if given is None else type_from_ir(given.type, given.shape)
            problem = None if found is None else contradiction(type_from_ir(old.type, old.shape), found)
            if problem is not None:
                which = "its result" if len(outputs) == 1 else f"its result {position}"
                return Refusal(f"{which} {problem}")
        return None

    # -- copying ----------------------------------------------------------------------------------------

    def copy_in(self, at: Attempt) -> list[ir.Value] | None:
        """Make the nodes in the model; what the outputs are there."""
        scope = self._scope
        nodes = self._nodes()
        for node in self._all_nodes():
            # A new node says where what it stands for was written, and is called after it.
            node.metadata, node.name = {}, ""
            self._import(node.domain, scope.program.opsets.version(node.domain))
        needed = {value for node in nodes for value in node.inputs} | set(self._outputs)
        for graph in (graph for node in nodes for graph in node.graphs()):
            needed.update(value for node in graph.all_nodes() for value in node.inputs)
        initializers: list[ValueRecord] = []
        for record in scope.program.initializers:
            same = self._weight(record)
            if same is None and record in needed:
                same = self._initializer(record)
                if same is None:
                    initializers.append(record)
            if same is not None:
                self._given[record] = same
        maker = IrMaker()
        graph = maker.graph(
            GraphRecord("replacement", list(self._given), self._outputs, nodes, initializers, {})
        )
        if scope.program.functions:
            call_by(self._imported.enter(self._root, self._functions()), graph.all_nodes())
        given = dict[ir.Value, ir.Value | None](zip(graph.inputs, self._given.values(), strict=True))
        found = copied_in(at, graph, given)
        return None if found is None else [each for each in found if each is not None]

    def _weight(self, record: ValueRecord) -> ir.Value | None:
        """The value of the model whose array the replacement uses as it is."""
        raw: object = getattr(record.tensor, "raw", None)
        if not isinstance(raw, np.ndarray):
            return None
        held = cast(Array, raw)  # small ones are copies
        return next((value for array, value in self._arrays if array is held or _is_equal(array, held)), None)

    def _initializer(self, record: ValueRecord) -> ir.Value | None:
        """The initializer of an array that the replacement found around it: one for all matches."""
        raw: object = getattr(record.tensor, "raw", None)
        if record.tensor is None or raw is None or not self._edit.sees_initializers(self._root):
            return None
        weights = self._imported.weights
        held = weights.get(id(raw))
        if held is None:
            held = weights[id(raw)] = (raw, self._edit.shared_constant(record.tensor, record.name))
        return held[1]

    def _import(self, domain: str, version: int) -> None:
        if self._edit.version(self._root, domain):
            return
        model, root = self._edit.model, self._edit.root_of(self._root.graph)
        for function in model.functions.values():
            if function.graph is root:
                function.opset_imports[domain] = version
        model.opset_imports.setdefault(domain, version)


def _is_equal(left: Array, right: Array) -> bool:
    return left.nbytes == right.nbytes <= _COMPARED_BYTES and array_key(left) == array_key(right)


def _use(node: NodeRecord) -> Use:
    return Use(
        tuple([None if each is None else _type_name(each) for each in node.inputs]),
        tuple([_type_name(each) for each in node.outputs]),
        frozenset(name for name, _, _ in node.attributes),
    )


def _type_name(value: ValueRecord) -> str:
    """ONNX's name of a type. What is not known is not checked, as it is not in the model's own opset."""
    return ANY_TYPE if value.type is None else value.type.onnx_name or ANY_TYPE


def read_values(found: Bindings) -> Iterable[ir.Value]:
    """The values of the model that a replacement may read."""
    yield from found.tensors.values()
    for each in found.rest.values():
        yield from each
