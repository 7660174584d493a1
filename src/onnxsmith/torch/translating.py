# pyright: basic
"""`translate`: the model of a program that torch.export made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx_ir as ir
import torch
from torch._library.custom_ops import CustomOpDef
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from onnxsmith.core.number import Number
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.errors import ExportError, boundary
from onnxsmith.graphs.ir_version import lowest_ir_version
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.opsets import OpsetVersions, check_opset_version
from onnxsmith.graphs.program import Program
from onnxsmith.schema.default_version import default_opset_version
from onnxsmith.torch.dispatch import Dispatcher
from onnxsmith.torch.interpreter import Interpreter, as_output
from onnxsmith.torch.library.complex_pair import Complex, packed, unpacked
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.mutation import functionalised, writes_to_views
from onnxsmith.torch.signature import dimension_names
from onnxsmith.torch.signature import output_names as names_of_outputs
from onnxsmith.torch.sizes import Sizes
from onnxsmith.torch.target import Origin, TorchTarget
from onnxsmith.torch.untranslated import untranslated
from onnxsmith.tracing.trace import PRODUCER
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

_OLDEST_OPSET = 18
#: Results that `forward` returns; others are what it wrote to.
_RETURNED = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


@boundary
def translate(
    program: torch.export.ExportedProgram,
    *,
    dynamic_shapes: Any = None,
    opset_version: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    translations: Mapping[Any, Any] | None = None,
    metadata: bool = True,
    name: str | None = None,
) -> Model:
    """The model of an exported program. `dynamic_shapes`, as torch.export had them, name the dimensions."""
    return Translator(
        program,
        dynamic_shapes=dynamic_shapes,
        opset_version=opset_version,
        input_names=input_names,
        output_names=output_names,
        translations=translations,
        metadata=metadata,
        name=name,
    ).model()


class Translator:
    """One translation of one program."""

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        *,
        dynamic_shapes: Any,
        opset_version: int | None,
        input_names: Sequence[str] | None,
        output_names: Sequence[str] | None,
        translations: Mapping[Any, Any] | None,
        metadata: bool,
        name: str | None,
    ) -> None:
        check_opset_version(opset_version)
        if opset_version is not None and opset_version < _OLDEST_OPSET:
            raise ExportError(
                f"opset_version={opset_version} is too old for a PyTorch module", help="use 18 or later"
            )
        if writes_to_views(program.graph):
            program = functionalised(program)
        self.program = program
        self.input_names = input_names
        self.output_names = output_names
        self.name = name or "main_graph"
        self.version = opset_version or default_opset_version()
        self.state = Program("model", OpsetVersions(self.version, is_fixed=True))
        origin = Origin()
        self.scope = TorchTarget(self.state, origin=origin, has_metadata=metadata)
        self.sizes = Sizes(self._dimension_names(dynamic_shapes))
        self.dispatcher = Dispatcher(self.state, self.sizes, origin, _by_overload(translations or {}))

    def model(self) -> Model:
        """Walk the graph and put the model together."""
        token = ACTIVE.set(self.scope)
        try:
            arguments, weights = self._inputs()
            module = self.program.graph_module
            results = Interpreter(self.dispatcher, module, weights).run(arguments)
            outputs = [] if self.dispatcher.failures else self._outputs(results)
        finally:
            ACTIVE.reset(token)
        if self.dispatcher.failures:
            raise untranslated(self.dispatcher.failures)
        _remove_unused(self.scope.nodes, outputs)
        used = [each for each in self.state.initializers if each.uses()]
        self.state.initializers[:] = used
        graph = self.scope.finish(outputs, self.name)
        functions = list(self.state.functions.values())
        model = ir.Model(graph, ir_version=10, producer_name=PRODUCER, functions=functions)
        model.ir_version = lowest_ir_version(model, self.state.dtypes)
        return Model(model)

    # -- inputs ----------------------------------------------------------------------------------------

    def _placeholders(self) -> dict[str, torch.fx.Node]:
        return {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}

    def _dimension_names(self, dynamic_shapes: Any) -> dict[str, str]:
        nodes = self._placeholders()
        specs = [
            each for each in self.program.graph_signature.input_specs if each.kind == InputKind.USER_INPUT
        ]
        fakes = [
            (each.arg.name, nodes[each.arg.name].meta.get("val") if each.arg.name in nodes else None)
            for each in specs
        ]
        return dimension_names(fakes, dynamic_shapes, self.program.call_spec.in_spec)

    def _inputs(self) -> tuple[list[Any], dict[str, Any]]:
        """The graph's inputs in order, and how weights are made when they are needed."""
        nodes = self._placeholders()
        specs = self.program.graph_signature.input_specs
        wanted = [each for each in specs if each.kind == InputKind.USER_INPUT and not _is_constant(each)]
        names = self.input_names
        if names is not None and len(names) != len(wanted):
            raise ExportError(
                f"input_names has {len(names)} names for {len(wanted)} inputs",
                help=f"the inputs are {', '.join(each.arg.name for each in wanted)}",
            )
        chosen = iter(names if names is not None else [each.arg.name for each in wanted])
        arguments: list[Any] = []
        weights: dict[str, Any] = {}
        for spec in specs:
            node = nodes[spec.arg.name]
            if spec.kind == InputKind.USER_INPUT:
                arguments.append(
                    spec.arg.value
                    if isinstance(spec.arg, ConstantArgument)
                    else self._input(node, next(chosen))
                )
            else:
                weights[node.name] = self._weight(spec)
        return arguments, weights

    def _input(self, node: torch.fx.Node, name: str) -> Any:
        fake = node.meta["val"]
        if not isinstance(fake, torch.Tensor):
            kind = DType.DOUBLE if isinstance(fake, torch.SymFloat | float) else DType.INT64
            number: Number = self.scope.input(name, TensorType(kind, ())).as_number()
            return self.sizes.remember(fake, number)
        shape = self.sizes.shape(fake)
        if fake.dtype.is_complex:
            return unpacked(self.scope.input(name, TensorType(onnx_dtype(fake.dtype), (*shape, 2))))
        value = self.scope.input(name, TensorType(onnx_dtype(fake.dtype), shape))
        self.sizes.announce(value, fake)
        return value

    def _weight(self, spec: Any) -> Any:
        target = spec.target
        state = self.program.state_dict
        constants = self.program.constants

        def make() -> Any:
            found = state[target] if target in state else constants[target]
            return self.dispatcher.weight(found, target) if isinstance(found, torch.Tensor) else found

        return make

    # -- outputs ---------------------------------------------------------------------------------------

    def _outputs(self, results: Sequence[Any]) -> list[Any]:
        """What `forward` returns as the model's outputs; None has no place in a model."""
        specs = self.program.graph_signature.output_specs
        returned = [value for value, spec in zip(results, specs, strict=True) if spec.kind in _RETURNED]
        names = names_of_outputs(self.program)
        if len(names) != len(returned):
            names = [f"output_{k}" for k in range(len(returned))]
        kept = [(name, value) for name, value in zip(names, returned, strict=True) if value is not None]
        if self.output_names is not None:
            if len(self.output_names) != len(kept):
                raise ExportError(f"output_names has {len(self.output_names)} names for {len(kept)} outputs")
            kept = [(name, value) for name, (_, value) in zip(self.output_names, kept, strict=True)]
        outputs: list[Any] = []
        seen: set[int] = set()
        self.dispatcher.origin.name = self.dispatcher.origin.scope = self.dispatcher.origin.source = ""
        for name, value in kept:
            lifted = self._output(value)
            if lifted.ir_value.producer() is None or id(lifted.ir_value) in seen:
                lifted = self.scope.operators.Identity(lifted)
            seen.add(id(lifted.ir_value))
            self.scope.suggest_name(lifted, name)
            outputs.append(lifted)
        return outputs

    def _output(self, value: Any) -> Any:
        if isinstance(value, Complex):
            return packed(value)
        value = as_output(value)
        return value if isinstance(value, Value) else self.scope.lift(value)


def _is_constant(spec: Any) -> bool:
    return isinstance(spec.arg, ConstantArgument)


def _by_overload(translations: Mapping[Any, Any]) -> dict[Any, Any]:
    """Translations by overload; one given for `torch.ops.my.op` is for its default overload."""
    result: dict[Any, Any] = {}
    for target, function in translations.items():
        if isinstance(target, torch._ops.OpOverloadPacket):
            for overload in target.overloads():
                result[getattr(target, overload)] = function
        elif isinstance(target, CustomOpDef):
            result[target._opoverload] = function
        else:
            result[target] = function
    return result


def _remove_unused(nodes: list[ir.Node], outputs: Sequence[Any]) -> None:
    """Drop nodes whose results nothing reads."""
    kept_values = {id(each.ir_value) for each in outputs}
    kept: list[ir.Node] = []
    for node in reversed(nodes):
        if any(id(each) in kept_values or each.uses() for each in node.outputs):
            kept.append(node)
            continue
        for position in range(len(node.inputs)):
            node.replace_input_with(position, None)
    nodes[:] = reversed(kept)
