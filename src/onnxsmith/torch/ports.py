"""The inputs and outputs of a model: which there are, what they are called, and what becomes of None and writes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind

from onnxsmith.algorithms.complex_numbers.pair import Complex, packed, unpacked
from onnxsmith.core.value import Operand, Value
from onnxsmith.errors import ExportError, NarrowedDimensionWarning, SpecialisedDimensionWarning
from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.torch.conditions import Narrowing, narrowings
from onnxsmith.torch.dispatch import Dispatcher
from onnxsmith.torch.interpreter import as_output, written_placeholders
from onnxsmith.torch.library.dtypes import boundary_dtype, onnx_dtype
from onnxsmith.torch.library.kinds import Argument, Fake
from onnxsmith.torch.library.values import cast as to_dtype
from onnxsmith.torch.parameters import Parameters
from onnxsmith.torch.reporting import ExportReport
from onnxsmith.torch.signature import output_names as names_of_outputs
from onnxsmith.torch.target import TorchTarget
from onnxsmith.torch.wishes import Dimensions
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.torch.translating import Options

#: Results that `forward` returns; others are what it wrote to.
_RETURNED = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


class Ports:
    """Inputs and outputs of one program."""

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        options: Options,
        scope: TorchTarget,
        dispatcher: Dispatcher,
        report: ExportReport,
        parameters: Parameters | None,
    ) -> None:
        self.program = program
        #: The parameters of a module in training.
        self.parameters = parameters
        self.options = options
        self.scope = scope
        self.dispatcher = dispatcher
        self.sizes = dispatcher.sizes
        self.placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        self.written = written_placeholders(program.graph)
        self._input_names: set[str] = set()
        self.report = report
        self.dimensions = self._dimensions()
        self.sizes.names.update(self.dimensions.names)
        self._tell(self.dimensions.fixed, SpecialisedDimensionWarning)
        self._tell(self.dimensions.merged, NarrowedDimensionWarning)

    def _tell(self, texts: Sequence[str], kind: type[Warning]) -> None:
        for each in texts:
            warnings.warn(each, kind, stacklevel=6)
        self.report.notes += texts

    def size_conditions(self, program: torch.export.ExportedProgram) -> list[SizeCondition]:
        """The sizes that the model is for, as `program` had them from torch; what was not asked for is told."""
        dimensions = self.dimensions
        found = narrowings(program, dimensions.names, dimensions.asked)
        self._tell([self._narrowed(each) for each in found if each.places], NarrowedDimensionWarning)
        self.report.notes += [self._narrowed(each) for each in found if not each.places]
        conditions = [condition for each in found for condition in each.conditions()]
        for symbol, (low, high) in dimensions.asked.items():
            name = spelled(dimensions.names.get(symbol, symbol))
            texts = [f"{name} >= {low}"] * (low > 1) + [f"{name} <= {high}"] * (high is not None)
            conditions += [SizeCondition(each, "the export was asked for these sizes") for each in texts]
        return list({each.text: each for each in reversed(conditions)}.values())[::-1]

    def _narrowed(self, found: Narrowing) -> str:
        names = self.dimensions.names
        if found.places:
            because = (
                f"the module decides by this size at {', '.join(found.places)}, "
                "and the model has only the way that the example takes"
            )
        else:
            because = (
                "torch's own code decides by this size; verify=True, or a larger example, shows if it matters"
            )
        if len(found.symbols) == 1 and found.range not in found.texts:
            (symbol,) = found.symbols
            place = self.dimensions.places.get(symbol.name, "a dimension")
            called = f" ({names[symbol.name]!r})" if symbol.name in names else ""
            return f"{place}{called} was asked to be dynamic, and is {found.range} in the model: {because}"
        return f"the model is for {found.range} only: {because}"

    def _dimensions(self) -> Dimensions:
        specs = [
            each for each in self.program.graph_signature.input_specs if each.kind == InputKind.USER_INPUT
        ]
        fakes = [
            (each.arg.name, node.meta.get("val") if (node := self.placeholders.get(each.arg.name)) else None)
            for each in specs
        ]
        options = self.options
        return Dimensions.of(
            fakes, options.dynamic_shapes, self.program.call_spec.in_spec, options.decided_at
        )

    # -- inputs ----------------------------------------------------------------------------------------

    def inputs(self) -> tuple[list[Argument], dict[str, Callable[[], Argument]]]:
        """The graph's inputs in order, and how weights are made when they are needed."""
        specs = self.program.graph_signature.input_specs
        wanted = [each for each in specs if each.kind == InputKind.USER_INPUT and not _is_constant(each)]
        names = self.options.input_names
        if names is not None and len(names) != len(wanted):
            raise ExportError(
                f"input_names has {len(names)} names for {len(wanted)} inputs",
                help=f"the inputs are {', '.join(each.arg.name for each in wanted)}",
            )
        chosen = iter(names if names is not None else [each.arg.name for each in wanted])
        arguments: list[Argument] = []
        weights: dict[str, Callable[[], Argument]] = {}
        for spec in specs:
            argument = spec.arg
            if spec.kind == InputKind.USER_INPUT and isinstance(argument, ConstantArgument):
                if argument.value is not None:
                    self.report.notes.append(
                        f"'{argument.name}' is no input: it is always {argument.value!r}, as in the example"
                    )
                arguments.append(argument.value)
            elif spec.kind == InputKind.USER_INPUT:
                arguments.append(self._input(self.placeholders[argument.name], next(chosen)))
            else:
                weights[spec.arg.name] = self._weight(spec)
        return arguments, weights

    def _input(self, node: torch.fx.Node, name: str) -> Argument:
        self._input_names.add(name)
        fake: Fake = node.meta["val"]
        if not isinstance(fake, torch.Tensor):
            kind = (
                DType.BOOL
                if isinstance(fake, torch.SymBool | bool)
                else DType.DOUBLE
                if isinstance(fake, torch.SymFloat | float)
                else DType.INT64
            )
            value = self.scope.input(name, TensorType(kind, ()))
            assert isinstance(value, SymbolicTensor), "of a tensor's type"
            return self.sizes.remember(fake, value.as_number())
        shape = self.sizes.shape(fake)
        dtype = boundary_dtype(fake.dtype)
        if fake.dtype.is_complex:
            value = self.scope.input(name, TensorType(dtype, (*shape, 2)))
            assert isinstance(value, SymbolicTensor), "of a tensor's type"
            self.sizes.announce(value, fake)
            return unpacked(value)
        value = self.scope.input(name, TensorType(dtype, shape))
        assert isinstance(value, SymbolicTensor), "of a tensor's type"
        self.sizes.announce(value, fake)
        return to_dtype(value, onnx_dtype(fake.dtype))

    def _weight(self, spec: InputSpec) -> Callable[[], Argument]:
        target = spec.target or ""
        state = self.program.state_dict
        constants = self.program.constants
        is_written = spec.arg.name in self.written or target in self._mutated()

        def make() -> Argument:
            found = state[target] if target in state else constants[target]
            if not isinstance(found, torch.Tensor):
                return cast("Argument", found)  # a constant of another class
            name = target if self.parameters is None else self.parameters.name(found, target)
            return self.dispatcher.weight(found, name, is_written=is_written)

        return make

    def _mutated(self) -> set[str]:
        return {
            each.target or ""
            for each in self.program.graph_signature.output_specs
            if each.kind == OutputKind.BUFFER_MUTATION
        }

    # -- outputs ---------------------------------------------------------------------------------------

    def outputs(self, results: Sequence[Argument], values: Mapping[torch.fx.Node, Argument]) -> list[Value]:
        """The results of `forward` as the model's outputs; None has no place in a model."""
        specs = self.program.graph_signature.output_specs
        returned = [value for value, spec in zip(results, specs, strict=True) if spec.kind in _RETURNED]
        fakes = self._fakes()
        names = names_of_outputs(self.program, fakes)
        if len(names) != len(returned):
            names = [f"output_{k}" for k in range(len(returned))]
        # A cache, say, that goes in and comes out.
        names = [f"{name}_out" if name in self._input_names else name for name in names]
        kept = [
            (name, value, fake)
            for name, value, fake in zip(names, returned, fakes, strict=False)
            if value is not None
        ]
        if self.options.keep_mutations:
            kept += self._mutations(results, values)
        if not kept:
            raise ExportError(
                "forward returns nothing, and so would the model",
                help="return a tensor; keep_mutations=True makes what the module writes to outputs",
            )
        given = self.options.output_names
        if given is not None:
            taken = [each for each in given if each in self._input_names]
            if taken:
                raise ExportError(
                    f"output_names has {taken[0]!r}, which is the name of an input",
                    help="every value of a model has a name of its own",
                )
            if len(given) != len(kept):
                raise ExportError(
                    f"output_names has {len(given)} names for {len(kept)} outputs",
                    help=f"the outputs are {', '.join(name for name, _, _ in kept)}",
                )
            kept = [(name, value, fake) for name, (_, value, fake) in zip(given, kept, strict=True)]
        outputs: list[Value] = []
        seen: set[int] = set()
        origin = self.dispatcher.origin
        origin.name = origin.scope = origin.source = ""
        origin.modules = ()
        for name, value, fake in kept:
            lifted = self._output(value, fake)
            if lifted.record.producer is None or id(lifted.record) in seen:
                lifted = _of_graph(self.scope.operators.Identity(lifted))
            seen.add(id(lifted.record))
            self.scope.suggest_name(lifted, name)
            outputs.append(lifted)
        return outputs

    def _fakes(self) -> list[Fake]:
        """The facts of torch about the results of `forward`."""
        node = next(each for each in reversed(self.program.graph.nodes) if each.op == "output")
        specs = self.program.graph_signature.output_specs
        return [
            each.meta.get("val") if isinstance(each, torch.fx.Node) else each
            for each, spec in zip(node.args[0], specs, strict=True)
            if spec.kind in _RETURNED
        ]

    def _mutations(
        self, results: Sequence[Argument], values: Mapping[torch.fx.Node, Argument]
    ) -> list[tuple[str, Argument, Fake]]:
        """The buffers and inputs that the module wrote to, as they are afterwards."""
        signature = self.program.graph_signature
        found: list[tuple[str, Argument, Fake]] = []
        for value, spec in zip(results, signature.output_specs, strict=True):
            if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION):
                found.append((spec.target or spec.arg.name, value, None))
        targets = {each.arg.name: each.target or each.arg.name for each in signature.input_specs}
        found += [
            (targets[name], values[node], node.meta.get("val"))
            for name, node in self.written.items()
            if node in values
        ]
        return [(f"{name.replace('.', '_')}_after", value, fake) for name, value, fake in found]

    def _output(self, value: Argument, fake: Fake) -> SymbolicTensor:
        if isinstance(value, Complex):
            return _of_graph(packed(value))
        value = as_output(value)
        lifted = _of_graph(value if isinstance(value, Value) else self.scope.lift(cast("Operand", value)))
        return (
            _of_graph(to_dtype(lifted, boundary_dtype(fake.dtype)))
            if isinstance(fake, torch.Tensor)
            else lifted
        )


def _of_graph(value: Value) -> SymbolicTensor:
    assert isinstance(value, SymbolicTensor)  # torch has no sequences, and all is recorded
    return value


def _is_constant(spec: InputSpec) -> bool:
    return isinstance(spec.arg, ConstantArgument)
