"""The inputs and outputs of a model: which there are, what they are called, and what becomes of None and writes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import onnx_ir as ir
import torch
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind

from onnxsmith.algorithms.complex_numbers.pair import Complex, packed, unpacked
from onnxsmith.core.value import Operand, Value
from onnxsmith.errors import ExportError, NarrowedDimensionWarning, SpecialisedDimensionWarning
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.torch.conditions import Narrowing
from onnxsmith.torch.dispatch import Dispatcher
from onnxsmith.torch.dynamic_shape_spec import Dimensions, FixedDimension
from onnxsmith.torch.interpreter import as_output, written_placeholders
from onnxsmith.torch.library.dtypes import boundary_dtype, onnx_dtype
from onnxsmith.torch.library.kinds import Argument, Fake
from onnxsmith.torch.library.values import cast as to_dtype
from onnxsmith.torch.parameters import Parameters
from onnxsmith.torch.reporting import ExportReport
from onnxsmith.torch.signature import output_names as names_of_outputs
from onnxsmith.torch.target import TorchTarget
from onnxsmith.torch.trying import Outcome, Trial
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.torch.translating import Options

#: Results that `forward` returns; others are what it wrote to.
_RETURNED = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


class ExampleRefused(Exception):
    """The model of a program would refuse the example that it was made of, which is smaller than the one traced."""

    def __init__(self, places: tuple[str, ...]) -> None:
        super().__init__("the model would refuse its example")
        #: The lines that decide by a size.
        self.places = places


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
        #: The initializers that were made of buffers and parameters, and the outputs with what was written to them.
        self._initializers: dict[str, ValueRecord] = {}
        self._after: dict[str, ValueRecord] = {}
        self.report = report
        self.dimensions = Dimensions.of_program(program, options.dynamic_shapes, options.decided_at)
        self.sizes.names.update(self.dimensions.names)

    def tell_fixed(self, relaxed: Sequence[FixedDimension]) -> None:
        """Warn of dimensions that were asked to be dynamic and are fixed, or one size with others."""
        fixed = [each.text for each in self.dimensions.fixed if each not in relaxed]
        self._tell(fixed, SpecialisedDimensionWarning)
        self._tell(self.dimensions.merged, NarrowedDimensionWarning)
        self.report.notes += [
            f"dimension {each.axis} of input '{each.input}' ({each.called!r}) is fixed at {each.size} by torch.export, "
            "and dynamic in the model, which was found to be right in the other sizes that the module takes"
            for each in relaxed
        ]

    def _tell(self, texts: Sequence[str], kind: type[Warning], stacklevel: int = 6) -> None:
        for each in texts:
            warnings.warn(each, kind, stacklevel=stacklevel)
        self.report.notes += texts

    def size_conditions(
        self, found: Sequence[Narrowing], trial: Trial, example: Mapping[str, int]
    ) -> list[SizeCondition]:
        """The sizes that the model is for, of what torch noted; sizes that were asked for and are left out are told.

        Where the model is right in sizes that a guard leaves out, there is a note, and no condition. Raises
        `ExampleRefused` where the example, of which these are the sizes by name, would be left out.
        """
        conditions = self._asked()
        told: list[str] = []
        for each in sorted(found, key=lambda every: (every.is_torch, not every.is_exact, not every.places)):
            outcome, tried = trial.outcome(each, conditions)
            if outcome is Outcome.IMPLIED:
                continue
            if outcome is Outcome.RAISED and not each.is_squeezed:
                raised = replace(each, texts=tuple(tried), range=" and ".join(tried), is_raised=True)
                self.report.notes.append(self._narrowed(raised, is_kept=True))
                conditions += _for_example(raised, example)
                continue
            is_kept = outcome is Outcome.DIFFERENT or not each.is_torch
            is_kept = is_kept or (outcome is Outcome.UNTRIED and each.is_exact)
            # The rank of what is squeezed leaves no trace where it is read. Where torch raises an error in the sizes
            # that were tried, it may not with others of another dimension.
            is_kept = is_kept or each.is_squeezed
            if outcome is Outcome.EQUAL or not is_kept:
                self.report.notes.append(self._narrowed(each, is_kept=False, tried=tried))
                continue
            text = self._narrowed(each, is_kept=True)
            # `Dim.AUTO`, a dimension without a name, leaves to torch which sizes there are.
            if each.is_torch and not any(symbol.name in self.dimensions.names for symbol in each.symbols):
                self.report.notes.append(text)
            else:
                told.append(text)
            conditions += _for_example(each, example)
        for name in trial.dimensions_that_need_elements(conditions):
            because = "the module computes something else where it is 0"
            conditions.append(SizeCondition(f"{spelled(name)} >= 1", because))
            self.report.notes.append(
                f"the model is for {name} >= 1 only: {because}, for which torch has no guard"
            )
        self._tell(told, NarrowedDimensionWarning, stacklevel=7)
        return list({each.text: each for each in reversed(conditions)}.values())[::-1]

    def _asked(self) -> list[SizeCondition]:
        """The ranges that the user gave."""
        conditions: list[SizeCondition] = []
        for symbol, (low, high) in self.dimensions.asked.items():
            name = spelled(self.dimensions.names.get(symbol, symbol))
            texts = [f"{name} >= {low}"] * (low > 1) + [f"{name} <= {high}"] * (high is not None)
            conditions += [SizeCondition(each, "the export was asked for these sizes") for each in texts]
        return conditions

    def _narrowed(self, found: Narrowing, *, is_kept: bool, tried: Sequence[str] = ()) -> str:
        """A sentence on sizes that are left out; `is_kept` if the model refuses them, `tried` if it is right there."""
        names = self.dimensions.names
        at = f" at {', '.join(found.places)}" if found.places else ""
        if tried:
            rest = f"the model was found to be right for {', '.join(tried)} as well"
        elif is_kept:
            rest = "the model has only the way that the example takes"
        else:
            rest = "verify=True, or a larger example, shows if it matters"
        owner = "torch's own code" if found.is_torch else "the module"
        is_one = len(found.symbols) == 1 and not any(sign in found.range for sign in "<>=(")
        subject = found.range
        if is_one:
            (symbol,) = found.symbols
            place = self.dimensions.places.get(symbol.name, "a dimension")
            subject = place + (f" ({names[symbol.name]!r})" if symbol.name in names else "")
        if tried or not is_kept:
            return f"{owner} decides{at} by whether {subject}{f' is {found.range}' if is_one else ''}: {rest}"
        because = f"{owner} decides by this size{at}, and {rest}"
        if found.is_raised:
            because = f"{owner} raises an error in others{at}, and so does the model"
        if is_one:
            return f"{subject} was asked to be dynamic, and is {found.range} in the model: {because}"
        return f"the model is for {found.range} only: {because}"

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
            made = self.dispatcher.weight(found, name, is_written=is_written)
            if isinstance(made, SymbolicTensor):
                self._initializers[name] = made.record
            return made

        return make

    def state(self, graph: ir.Graph) -> dict[str, str | None]:
        """The initializers of a graph that the module writes to, each with the output of its new value, if any."""
        targets = {each.arg.name: each.target for each in self.program.graph_signature.input_specs}
        written = [targets.get(name) or "" for name in self.written] + sorted(self._mutated())
        written = list(dict.fromkeys(self._first_name(each) for each in written))
        found: dict[str, str | None] = {}
        for each in written:
            record, after = self._initializers.get(each), self._after.get(each)
            if record is not None and (after is None or record.name in graph.initializers):
                found[record.name] = None if after is None else after.name
            elif after is not None and each in self.program.state_dict:
                found[each] = after.name  # it is written to and never read
        return found

    def _first_name(self, target: str) -> str:
        """The name of a buffer that several modules hold."""
        found = self.program.state_dict.get(target)
        return target if self.parameters is None or found is None else self.parameters.name(found, target)

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
        kept: list[tuple[str, Argument, Fake]] = [
            (name, value, fake)
            for name, value, fake in zip(names, returned, fakes, strict=False)
            if value is not None
        ]
        count = len(kept)
        targets: list[str] = []
        if self.options.keep_mutations:
            for target, value, fake in self._mutations(results, values):
                target = self._first_name(target)
                targets.append(target)
                kept.append((f"{target.replace('.', '_')}_after", value, fake))
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
        for position, (name, value, fake) in enumerate(kept):
            lifted = self._output(value, fake)
            if lifted.record.producer is None or id(lifted.record) in seen:
                lifted = _of_graph(self.scope.operators.Identity(lifted))
            seen.add(id(lifted.record))
            self.scope.suggest_name(lifted, name)
            if position >= count:
                self._after[targets[position - count]] = lifted.record
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
        """The buffers and inputs that the module wrote to, by name, as they are afterwards."""
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
        return found

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


def _for_example(found: Narrowing, example: Mapping[str, int]) -> list[SizeCondition]:
    """The conditions of a narrowing, which the example has to pass."""
    conditions = found.conditions()
    if any(each.holds(example) is False for each in conditions):
        raise ExampleRefused(found.places)
    return conditions


def _of_graph(value: Value) -> SymbolicTensor:
    assert isinstance(value, SymbolicTensor)  # torch has no sequences, and all is recorded
    return value


def _is_constant(spec: InputSpec) -> bool:
    return isinstance(spec.arg, ConstantArgument)
