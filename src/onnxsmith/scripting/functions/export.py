"""A script as a file's worth of ONNX: a model, or a function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import onnx

from onnxsmith.core.recording import OpsetChoice
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AnnotationError, CallError, ModelWarning, OnnxsmithError, ReturnTypeError
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.function import FunctionBody, GivenFunction, as_function, as_proto, body_of, dissolved
from onnxsmith.graphs.interface import describe, read_names, rename
from onnxsmith.graphs.ir_version import lowest_ir_version
from onnxsmith.graphs.model import Model, recorded_model
from onnxsmith.graphs.opsets import OpsetVersions, check_opset_version
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import AnyFunction, GraphRecord, ModelRecord, declared
from onnxsmith.graphs.size_conditions import carry, conditions_of, declared_in, put_into
from onnxsmith.graphs.value import Made
from onnxsmith.schema.inference.broadcasting import contradict, is_nothing
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.scripting.functions import staged_cache
from onnxsmith.scripting.functions.calls import generic_body, variants_of
from onnxsmith.scripting.functions.definition import ModelOptions, check_options
from onnxsmith.scripting.functions.eager_call import attribute_argument
from onnxsmith.scripting.functions.stage_script import ScopeT, Staged, stage
from onnxsmith.scripting.functions.type_variables import check_same_dtype
from onnxsmith.scripting.staging.plain_outside import Script
from onnxsmith.types.annotations import Annotation, read_value_type
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, OptionalType, SequenceType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition
    from onnxsmith.scripting.functions.signature import ScriptParameter

PRODUCER = "onnxsmith"

#: Functions that were made to check scripts that call them; a model is never made of these.
_checked_cache: dict[Any, Any] = {}
_CHECKED_LIMIT = 256


def check_generic(script: ScriptDefinition) -> None:
    """Stage the script for the types its annotations give, so that mistakes show when it is decorated."""
    can_keep = not script.is_inline and staged_cache.can_keep(script.function, script.parameters)
    if can_keep or (script.is_exact and not script.parameters.attributes and script.is_main):
        script.kept = staged_cache.StagedResult(
            script.function, stage(script, _model_of(script), _input_types(script, None, None), {})
        )
        return
    for oldest in list(_checked_cache)[: max(0, len(_checked_cache) - _CHECKED_LIMIT)]:
        _checked_cache.pop(oldest, None)  # the newest are the ones that the next script calls
    optional = tuple(each.name for each in script.parameters.inputs if each.default is None)
    for absent in dict.fromkeys([(), optional]):
        generic_body(script, absent, _nowhere(_checked_cache))


def function_proto(script: ScriptDefinition) -> onnx.FunctionProto:
    """The generic function of a script."""
    return as_proto(generic_function(script))


def generic_function(script: ScriptDefinition) -> FunctionBody:
    """The function of a script for any types."""
    shared: dict[Any, Any] = {}
    body = generic_body(script, (), _nowhere(shared))
    if body is None:
        raise cast(OnnxsmithError, variants_of(script, shared).error)
    return body_of(body)


def _model_of(script: ScriptDefinition) -> Callable[[OpsetChoice], GraphTarget]:
    """A function that makes the graph of a script's model."""

    def make(opset: OpsetChoice) -> GraphTarget:
        versions = OpsetVersions(opset.version, is_fixed=opset.is_fixed, is_named=opset.is_named)
        program = Program("model", versions, is_exact=script.is_exact, is_lenient=script.is_lenient)
        return GraphTarget(program)

    return make


def _nowhere(shared: dict[Any, Any]) -> GraphTarget:
    """A graph that stays empty: functions are made beside it, and none is called."""
    return GraphTarget(Program("model", OpsetVersions(default_opset_version(), is_named=False), shared))


def stage_model(
    script: ScriptDefinition, make_scope: Callable[[OpsetChoice], ScopeT], options: ModelOptions
) -> Staged[ScopeT]:
    """Stage a script as its model is made, on a target of anybody's."""
    types, values = _arguments(script, options)
    return stage(script, make_scope, types, values, opset_version=options.get("opset_version"))


def _arguments(
    script: ScriptDefinition, options: ModelOptions
) -> tuple[dict[str, AnyValueType | None], dict[str, Any]]:
    """The types of a model's inputs, and the values of its attributes; refuses options that are none."""
    check_options(options, [each.name for each in script.parameters.attributes])
    if script.parameters.is_variadic:
        raise CallError(
            f"'{script.name}' takes any number of arguments, and a model has a fixed number of inputs",
            help="call it from a script that has as many parameters as the model is to have inputs",
        ).locate(script.definition)
    check_opset_version(options.get("opset_version"))
    types = _input_types(script, options.get("input_types"), options.get("io_types"))
    return types, _attribute_values(script, options.get("attributes"))


def make_model(script: ScriptDefinition, options: ModelOptions) -> Model:
    """The model of a script."""
    options = cast("ModelOptions", {**script.model_options, **options})
    types, values = _arguments(script, options)
    opset_version, ir_version = options.get("opset_version"), options.get("ir_version")
    is_as_checked = options.get("input_types") is None and opset_version is None
    staged: Staged[GraphTarget] | None
    staged = script.kept.take(script.function) if is_as_checked and script.kept is not None else None
    script.kept = None
    if staged is None:
        staged = stage(script, _model_of(script), types, values, opset_version=opset_version)
    _set_output_types(script, staged, options.get("output_types"))
    name = options.get("name")
    graph = staged.scope.finish(staged.outputs, script.onnx_name if name is None else name)
    if script.is_exact and script.parameters.returns is not None:
        _declare(script, graph, script.parameters.returns)
    if script.__doc__:
        graph.doc_string = script.__doc__
    _rename(graph, staged, options)
    held: dict[tuple[str, str, str], AnyFunction] = dict(staged.scope.program.functions)
    for each in options.get("functions", ()):
        function = _as_function(each)
        held.setdefault(function.identifier(), function)
    producer, version = options.get("producer_name", PRODUCER), options.get("producer_version", "")
    model = ModelRecord(graph, list(held.values()), producer, version)
    sizes = declared_in(types.values())
    carry(staged.scope.shared, conditions_of(sizes, staged.ranges), {each.name: each.name for each in sizes})
    put_into(model, staged.scope.shared)
    describe(model, options.get("doc_string"), options.get("metadata"), CallError)
    for each in options.get("functions", ()):
        if isinstance(each, Script):
            carried = cast("ScriptDefinition", each)
            model.opset_imports.setdefault(carried.domain, carried.domain_version)
    for function in held.values():
        model.opset_imports.setdefault(function.domain, 1)
    if value_infos := options.get("value_infos"):
        _set_value_types(graph, value_infos)
    dtypes = staged.scope.program.dtypes
    if options.get("inline", False) and held:
        made = dissolved(model)
        made.ir_version = lowest_ir_version(made, dtypes) if ir_version is None else ir_version
        return Model(made)
    model.ir_version = lowest_ir_version(model, dtypes) if ir_version is None else ir_version
    return recorded_model(model)


def _rename(graph: GraphRecord, staged: Staged[GraphTarget], options: ModelOptions) -> None:
    taken = staged.scope.program.names
    for option, ports in (("input_names", graph.inputs), ("output_names", graph.outputs)):
        given = options.get(option)
        if given is not None:
            current = [each.name for each in ports]
            rename(graph, taken, ports, read_names(given, current, option, CallError), CallError)


def _declare(script: ScriptDefinition, graph: GraphRecord, types: Sequence[AnyValueType]) -> None:
    """Give outputs the types that an exact script says they have; refuse those that they cannot have."""
    for value, kind in zip(graph.outputs, types, strict=True):
        if value in graph.inputs:  # whose own annotation says what it is
            continue
        made = UNKNOWN_TENSOR if value.type is None else value.type
        if contradict(made, kind):
            text = f"the annotation of {script.name!r} says that it returns {kind!r}, and the code computes {made!r}"
            if not script.is_lenient:
                error = ReturnTypeError(text, help=f"if the code is right, annotate {made!r}")
                raise error.locate(script.places.annotation("return"))
            place = script.definition
            warnings.warn_explicit(ModelWarning(text), None, place.file, place.line)
        value.type = declared(kind)


def _input_types(
    script: ScriptDefinition, given: Sequence[Any] | Mapping[str, Any] | None, io_types: Annotation
) -> dict[str, AnyValueType | None]:
    parameters = script.parameters.inputs
    named = _by_name([each.name for each in parameters], given, "input_types", script)
    types: dict[str, AnyValueType | None] = {}
    for parameter in parameters:
        if parameter.name in named:
            kind = read_value_type(named[parameter.name], f"the type of input '{parameter.name}'")
            if _is_other_kind(parameter.type, kind):
                raise CallError(
                    f"input '{parameter.name}' of {script.name} is annotated {parameter.type!r}, "
                    f"and input_types says {kind!r}",
                    help="input_types are for what annotations leave open; change the annotation, or leave it out",
                    culprit=("attribute", "input_types"),
                )
            types[parameter.name] = _allowed(script, parameter, kind, "input_types")
            continue
        if parameter.default is None:
            types[parameter.name] = None  # an optional input that the model does not have
            continue
        if parameter.has_default:
            continue
        types[parameter.name] = _completed(script, parameter, io_types)
    for group in script.parameters.same_dtype:
        check_same_dtype(script, group, types)
    return types


def _is_other_kind(annotated: AnyValueType, given: AnyValueType) -> bool:
    """True if no value is of both types. An optional that is there is what it holds."""
    if isinstance(annotated, OptionalType):
        return _is_other_kind(annotated.element, given)
    if isinstance(given, OptionalType):
        return _is_other_kind(annotated, given.element)
    if is_nothing(annotated) or is_nothing(given):
        return False
    if isinstance(annotated, SequenceType) and isinstance(given, SequenceType):
        return _is_other_kind(annotated.element, given.element)
    return type(annotated) is not type(given) or contradict(annotated, given)


def _completed(script: ScriptDefinition, parameter: ScriptParameter, io_types: Annotation) -> AnyValueType:
    kind = parameter.type
    if _is_typed(kind):
        return kind
    if io_types is not None:
        return _allowed(script, parameter, read_value_type(io_types, "io_types"), "io_types")
    is_annotated = bool(parameter.dtypes) or parameter.variable is not None
    example = parameter.dtypes[0].name if parameter.dtypes else "FLOAT"
    raise AnnotationError(
        f"input '{parameter.name}' of {script.name} has no element type, and a model's inputs need one",
        help=("say " if is_annotated else "annotate it, or say ")
        + f"to_model(input_types={{'{parameter.name}': {example}['N']}})",
    ).locate(script.places.parameter(parameter.name))


def _allowed(
    script: ScriptDefinition, parameter: ScriptParameter, kind: AnyValueType, option: str
) -> AnyValueType:
    """The type that an option gives an input; refused if its annotation is of several types, and of none such."""
    inner = kind.element if isinstance(kind, OptionalType) else kind
    if not parameter.dtypes or not isinstance(inner, TensorType) or inner.dtype in (None, *parameter.dtypes):
        return kind
    names = " or ".join(each.name for each in parameter.dtypes)
    raise CallError(
        f"input '{parameter.name}' of {script.name} is annotated {names}, and {option} says {kind!r}",
        help="give one of these types, or change the annotation",
        culprit=("attribute", option),
    )


def _is_typed(kind: AnyValueType) -> bool:
    while isinstance(kind, SequenceType | OptionalType):
        kind = kind.element
    return not isinstance(kind, TensorType) or kind.dtype is not None


def _by_name(
    names: Sequence[str],
    given: Sequence[Any] | Mapping[str, Any] | None,
    called: str,
    script: ScriptDefinition,
) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise CallError(
                f"{called} names '{unknown[0]}', which {script.name} does not have",
                help=did_you_mean(unknown[0], names) or f"it has {', '.join(names) or 'none'}",
                culprit=("attribute", called),
            )
        return dict(given)
    if len(given) > len(names):
        raise CallError(
            f"{called} has {len(given)} types, and {script.name} has {len(names)}",
            help=f"they are {', '.join(names) or 'none'}",
            culprit=("attribute", called),
        )
    return dict(zip(names, given, strict=False))


def _attribute_values(script: ScriptDefinition, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    given: Mapping[str, Any] = {} if attributes is None else attributes
    if not isinstance(cast(object, given), Mapping):
        raise CallError(
            f"attributes is a dict of values by name, not {described_type(type(given))}",
            culprit=("attribute", "attributes"),
        )
    parameters = {each.name: each for each in script.parameters.attributes}
    for name in given:
        if name not in parameters:
            listed = ", ".join(parameters) or "none"
            raise CallError(
                f"{script.name} has no attribute '{name}'",
                help=did_you_mean(name, parameters) or f"its attributes are: {listed}",
                culprit=("attribute", "attributes"),
            )
    values: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in given:
            values[name] = attribute_argument(script, parameter, given[name])
        elif parameter.has_default:
            values[name] = parameter.default
        else:
            raise CallError(
                f"the attribute '{name}' of {script.name} needs a value in a model",
                help=f"{script.name}.to_model(attributes={{'{name}': …}})",
            ).locate(script.places.parameter(name))
    return values


def _set_output_types(
    script: ScriptDefinition, staged: Staged[GraphTarget], given: Sequence[Any] | Mapping[str, Any] | None
) -> None:
    records = [cast(Made, each).record for each in staged.outputs]
    names = [each.name for each in records]
    for name, kind in _by_name(names, given, "output_types", script).items():
        records[names.index(name)].type = declared(read_value_type(kind, f"the type of output '{name}'"))


def _set_value_types(graph: GraphRecord, types: Mapping[str, Any]) -> None:
    values = {value.name: value for node in graph.all_nodes() for value in node.outputs}
    for name, kind in types.items():
        if name not in values:
            raise CallError(f"value_infos names '{name}', and the model has no such value")
        values[name].type = declared(read_value_type(kind, f"the type of '{name}'"))


def _as_function(value: GivenFunction | ScriptDefinition) -> AnyFunction:
    return as_function(generic_function(value) if isinstance(value, Script) else value)
