"""`translate`: the model of a program that torch.export made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import onnx_ir as ir
import torch

from onnxsmith.algorithms.named import inline_algorithms
from onnxsmith.algorithms.values import SIZE_READER
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.errors import ExportError, boundary
from onnxsmith.graphs import files, trained_parameters
from onnxsmith.graphs.ir_maker import IrMaker, function_to_ir
from onnxsmith.graphs.ir_version import lowest_ir_version
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.notes import notes_of
from onnxsmith.graphs.opsets import OpsetVersions, check_opset_version
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.size_conditions import SIZES_KEY, written
from onnxsmith.passes import polish
from onnxsmith.runtime.adapting import Refused
from onnxsmith.runtime.for_runtime import adapted
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.torch.conditions import allowed_sizes, narrowings
from onnxsmith.torch.custom import by_overload
from onnxsmith.torch.dispatch import Dispatcher
from onnxsmith.torch.dynamic_shape_spec import DynamicShapes, FixedDimension, Wish, as_wish
from onnxsmith.torch.guards import fixes_by_reading
from onnxsmith.torch.interpreter import Interpreter
from onnxsmith.torch.library.dtypes import SUBSTITUTES, boundary_dtype
from onnxsmith.torch.library.kinds import Argument, Example
from onnxsmith.torch.module_calls import Calls
from onnxsmith.torch.module_parts import MODULES_KEY, outline_modules
from onnxsmith.torch.parameters import Parameters
from onnxsmith.torch.ports import Ports
from onnxsmith.torch.preparing import prepared
from onnxsmith.torch.progress import Progress
from onnxsmith.torch.relaxing import relaxed
from onnxsmith.torch.reporting import ExportedModel, ExportReport
from onnxsmith.torch.resizing import Resizing
from onnxsmith.torch.sizes import Sizes
from onnxsmith.torch.target import Origin, TorchTarget
from onnxsmith.torch.trying import Trial, forget_ranks, is_tried
from onnxsmith.torch.untranslated import untranslated
from onnxsmith.torch.verifying import Verification
from onnxsmith.tracing.trace import PRODUCER

Runtime: TypeAlias = Literal["onnxruntime"]
#: What becomes functions of the model: one of two, or both.
Functions: TypeAlias = Literal["modules", "algorithms"] | Collection[Literal["modules", "algorithms"]]
_FUNCTIONS = ("modules", "algorithms")

_OLDEST_OPSET = 18
#: The element types that `fallback_dtype` is for.
_NARROW = (torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an export; `export` says what each means."""

    dynamic_shapes: Wish = None
    opset_version: int | None = None
    functions: Functions | None = None
    input_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None
    translations: Mapping[Any, Callable[..., Any]] | None = None
    verify: bool | float = False
    fallback_dtype: torch.dtype | None = None
    keep_mutations: bool = False
    metadata: bool = True
    runtime: Runtime | None = "onnxruntime"
    name: str = "main_graph"
    #: Where the module decides by sizes that are fixed in the program.
    decided_at: tuple[str, ...] = ()
    #: The dimensions by whose size it decides, by position of the input and axis.
    decided: frozenset[tuple[int, int]] = frozenset()
    #: Whether the module is in training: its weights then stay what they are, and nothing is computed of them.
    is_training: bool = False

    @property
    def wanted_functions(self) -> tuple[str, ...]:
        """The parts that become functions."""
        return (self.functions,) if isinstance(self.functions, str) else tuple(self.functions or ())


@boundary
def translate(
    program: torch.export.ExportedProgram,
    *,
    dynamic_shapes: DynamicShapes = None,
    opset_version: int | None = None,
    functions: Functions | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    translations: Mapping[Any, Callable[..., Any]] | None = None,
    verify: bool | float = False,
    fallback_dtype: torch.dtype | None = None,
    keep_mutations: bool = False,
    metadata: bool = True,
    runtime: Literal["onnxruntime"] | None = "onnxruntime",
) -> ExportedModel:
    """The model of an exported program. `dynamic_shapes`, as torch.export had them, name the dimensions.

    The other arguments are those of `export`.

    >>> import torch
    >>> import onnxsmith
    >>> program = torch.export.export(torch.nn.ReLU().eval(), (torch.ones(2, 3),))
    >>> [node.op_type for node in onnxsmith.torch.translate(program).nodes]
    ['Relu']
    """
    if not isinstance(program, torch.export.ExportedProgram):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise ExportError(
            f"translate takes an ExportedProgram, not {type(program).__name__}",
            help="onnxsmith.torch.export(module, args) exports a module",
        )
    options = Options(
        as_wish(dynamic_shapes), opset_version, functions, input_names, output_names, translations, verify,
        fallback_dtype, keep_mutations, metadata, runtime,
    )  # fmt: skip
    with Progress() as progress:
        return Translator(program, options, progress).model()


class Translator:
    """One translation of one program."""

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        options: Options,
        progress: Progress,
        reference: Callable[..., Any] | None = None,
        example: Example | None = None,
    ) -> None:
        _check(options)
        progress.stage("translation")
        self.original = program
        #: What a verification compares with; without one, the program itself.
        self.reference = reference
        #: The arguments that the user gave; without them, those of the program.
        self.example = example
        self.options = options
        self.progress = progress
        self.program = program = prepared(
            program,
            is_training=options.is_training,
            is_own=reference is not None or example is not None,
            keeps_writes=options.keep_mutations,
        )
        version = options.opset_version or default_opset_version()
        self.state = Program("model", OpsetVersions(version, is_fixed=True))
        self.report = ExportReport(opset_version=version)
        origin = Origin()
        self.scope = TorchTarget(
            self.state,
            origin=origin,
            has_metadata=options.metadata,
            keeps_modules="modules" in options.wanted_functions,
            keeps_weights=options.is_training,
        )
        if "algorithms" not in options.wanted_functions:
            inline_algorithms(self.scope, is_training=options.is_training)
        self.sizes = Sizes({})
        self.dispatcher = Dispatcher(self.state, self.sizes, origin, by_overload(options.translations or {}))
        self.dispatcher.keeps_modules = "modules" in options.wanted_functions
        #: Those of a module in training, as it holds them: rewriting may leave out names.
        self.parameters = Parameters(self.original)
        named = self.parameters if options.is_training else None
        self.ports = Ports(program, options, self.scope, self.dispatcher, self.report, named)

    def model(self) -> ExportedModel:
        """Walk the graph and put the model together."""
        narrow = self.options.fallback_dtype
        substitutes = {} if narrow is None else dict.fromkeys(_NARROW, boundary_dtype(narrow))
        types = SUBSTITUTES.set(substitutes)
        active = ACTIVE.set(self.scope)
        sizes = SIZE_READER.set(self.sizes.axis)
        try:
            arguments, weights = self.ports.inputs()
            walk = Interpreter(self.dispatcher, self.program.graph_module, weights, self.progress)
            results = cast("Sequence[Argument]", walk.run(arguments))  # those of a program are a tuple
            outputs = [] if self.dispatcher.failures else self.ports.outputs(results, walk.values)
        finally:
            SIZE_READER.reset(sizes)
            ACTIVE.reset(active)
            SUBSTITUTES.reset(types)
        if self.dispatcher.failures:
            raise untranslated(self.dispatcher.failures)
        model = self._assembled(outputs)
        model, dynamic = self._relaxed(model, walk.translated)
        model = self._with_sizes(model, walk.translated)
        self.ports.tell_fixed(dynamic)
        self._tell_unused()
        if self.options.verify is not False:
            self.progress.stage("verification")
            self._verification(model, walk.translated).run(self.report)
        self.progress.stage("")
        self.report.stages = self.progress.stages
        return model

    def _relaxed(
        self, model: ExportedModel, translated: Mapping[torch.fx.Node, Argument]
    ) -> tuple[ExportedModel, list[FixedDimension]]:
        """The model with those fixed dimensions dynamic for which it is right, and these."""
        # What the module decides by a size that is fixed is not in the program, and may be about any size.
        fixed = [
            each
            for each in self.ports.dimensions.fixed
            if (each.position, each.axis) not in self.options.decided
        ]
        has_own_names = self.options.input_names is not None
        if (
            not fixed
            or has_own_names
            or self.reference is None
            or self.example is None
            or not is_tried(model)
            or fixes_by_reading(self.original)
        ):
            return model, []
        return relaxed(model, fixed, self.example, lambda made: self._verification(made, translated))

    def _with_sizes(
        self, model: ExportedModel, translated: Mapping[torch.fx.Node, Argument]
    ) -> ExportedModel:
        """The model with the sizes that it is for in its metadata."""
        dimensions = self.ports.dimensions
        found = narrowings(self.original, dimensions.names, dimensions.asked)
        allowed = allowed_sizes(self.original, dimensions.asked)
        beside = None
        if self.reference is not None and (found or allowed) and is_tried(model):
            beside = self._verification(model, translated)
        trial = Trial(beside, allowed)
        conditions = self.ports.size_conditions(found, trial, self._example_sizes())
        forget_ranks(model.ir.graph, trial.other_ranks.keys())
        self.report.notes += [
            f"the rank of output '{name}' depends on a size, and is another one for {sizes}: it has no declared shape"
            for name, sizes in trial.other_ranks.items()
        ]
        if not conditions and not trial.other_ranks:
            return model
        if conditions:
            model.ir.metadata_props[SIZES_KEY] = written(conditions)
        made = ExportedModel(model.ir)
        made.export_report = self.report
        return made

    def _example_sizes(self) -> dict[str, int]:
        """The sizes of the dynamic dimensions in the example that the user gave, by name."""
        if self.example is None:
            return {}
        resizing = Resizing(self.program, self.example, self.sizes)
        return resizing.named(resizing.symbols())

    def _assembled(self, outputs: Sequence[Value]) -> ExportedModel:
        made_of = IrMaker()
        graph = made_of.graph(self.scope.finish(outputs, self.options.name))
        functions = [function_to_ir(each) for each in self.state.functions.values()]
        modules = self._modules(made_of)
        model = ir.Model(graph, ir_version=10, producer_name=PRODUCER, functions=functions)
        for node, calls in (modules or {}).items():
            notes_of(node)[MODULES_KEY] = calls
        polish(model, keeps_modules=modules is not None, folds_weights=not self.options.is_training)
        if "modules" in self.options.wanted_functions:
            outline_modules(model)
        model.ir_version = lowest_ir_version(model, self.state.dtypes)
        if self.options.is_training:
            trained_parameters.note(model.metadata_props, self.parameters.trained(graph))
            trained_parameters.note_state(model.metadata_props, self.ports.state(graph))
        elif (trained := self.parameters.trained_in_use(graph)) is not None:
            trained_parameters.note(model.metadata_props, trained)
        made = self._for_runtime(ExportedModel(model))
        report = made.export_report = self.report
        report.operators = list(self.dispatcher.operators.values())
        report.nodes = len(made.ir.graph)
        report.functions = len(made.ir.functions)
        report.weight_bytes = files.weight_bytes(made.ir)
        return made

    def _modules(self, maker: IrMaker) -> dict[ir.Node, Calls] | None:
        """The calls of modules that each node is in."""
        recorded = self.scope.modules
        if recorded is None:
            return None
        return {made: recorded[node] for node, made in maker.nodes.items() if node in recorded}

    def _for_runtime(self, model: ExportedModel) -> ExportedModel:
        """The model with the facts about ONNX Runtime met, where it is for that; each change is in the report."""
        if self.options.runtime is None:
            return model
        try:
            # No checks: calls that torch made fit together. They would be most of the nodes of a small model.
            changed, edits = adapted(model, checks=False)
        except Refused as error:
            self.report.notes.append(f"ONNX Runtime cannot run the model: {error}")
            return model
        self.report.runtime_changes = edits
        return ExportedModel(changed) if edits else model

    def _tell_unused(self) -> None:
        """Translations that were given and not asked for are most likely meant for another operator."""
        used = self.dispatcher.used
        for given in self.options.translations or {}:
            if not used & by_overload({given: print}).keys():
                text = f"translations has {given}, which the module does not call"
                warnings.warn(text, UserWarning, stacklevel=5)
                self.report.notes.append(text)

    def _verification(self, model: Model, translated: Mapping[torch.fx.Node, Argument]) -> Verification:
        """The model beside what it is compared with: the module, or the program itself."""
        verify = self.options.verify
        reference = self.original.module() if self.reference is None else self.reference
        tolerance = None if isinstance(verify, bool) else float(verify)
        return Verification(model, self.program, reference, translated, self.sizes, tolerance, self.example)


def _check(options: Options) -> None:
    version = options.opset_version
    if isinstance(version, bool) or not isinstance(version, int | None):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise ExportError(
            f"opset_version={version!r} is not a whole number", help="opset_version=18 is opset 18, say"
        )
    check_opset_version(options.opset_version)
    if options.opset_version is not None and options.opset_version < _OLDEST_OPSET:
        raise ExportError(
            f"opset_version={options.opset_version} is too old for a PyTorch module", help="use 18 or later"
        )
    is_list = isinstance(options.functions, Collection | None)  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
    if not is_list or not all(each in _FUNCTIONS for each in options.wanted_functions):
        raise ExportError(
            f"functions={options.functions!r} is not known",
            help='functions="modules" makes each nn.Module class a function, functions="algorithms" each algorithm, '
            "such as a sort, a tuple of both words both; without it the graph is flat",
        )
    if options.runtime not in (None, "onnxruntime"):
        raise ExportError(
            f"runtime={options.runtime!r} is not known",
            help='runtime="onnxruntime" makes a model that ONNX Runtime gets right; None leaves it as it is translated',
        )
    if not isinstance(options.verify, bool | int | float) or options.verify < 0:  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise ExportError(
            f"verify={options.verify!r} is neither a truth value nor a number",
            help="verify=True compares, verify=1e-3 allows for a relative difference",
        )
    for kind, names in (("input", options.input_names), ("output", options.output_names)):
        _check_names(kind, names)
    narrow = options.fallback_dtype
    if narrow is not None and not (isinstance(narrow, torch.dtype) and narrow.is_floating_point):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise ExportError(
            f"fallback_dtype={narrow!r} is not an element type for numbers with fractions",
            help="fallback_dtype=torch.float32 computes in float32 what torch does in float16 and bfloat16",
        )


def _check_names(kind: str, names: Sequence[str] | None) -> None:
    if isinstance(names, str):
        raise ExportError(f"{kind}_names={names!r} is one string", help=f"[{names!r}] is a list of one name")
    given = names or ()
    twice = [each for k, each in enumerate(given) if each in given[:k]]
    if twice:
        raise ExportError(
            f"{kind}_names has {twice[0]!r} twice", help=f"every {kind} of a model has a name of its own"
        )
