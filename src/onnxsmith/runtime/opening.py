"""The one road to ONNX Runtime: a model, of many nodes or one, with the facts about the runtime met, as a session.

Whoever runs anything comes through here. Which other forms of a model may be tried when the runtime refuses it is
decided by the caller. Weights in files are named to the runtime, which maps them; those in memory are given as values
over that memory. None is copied.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import helper

from onnxsmith.errors import NotRunnableError
from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.handover import Content, FilePart, SessionModel, SessionWeight
from onnxsmith.graphs.identity import DRAWING
from onnxsmith.graphs.omitted_outputs import OPERATORS as OMITTING
from onnxsmith.graphs.omitted_outputs import name_omitted
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.emitter import FreshNames
from onnxsmith.graphs.rewriting.inference_traps import size_below_zero
from onnxsmith.graphs.rewriting.rewrite import PASS_NAME, ReadWeight, noted_proto
from onnxsmith.graphs.rewriting.scopes import (
    FunctionKey,
    all_nodes,
    function_key,
    functions_of,
    functions_that_use,
    names_around,
    nodes_of_model,
    operators_of,
    opset_versions,
    plain_domain,
)
from onnxsmith.graphs.rewriting.unfolding import MOST_NODES, is_past_measure
from onnxsmith.graphs.run_values import Array
from onnxsmith.runtime import onnxruntime_api, plug_ins
from onnxsmith.runtime.adapting import Checks, Refused, adapt
from onnxsmith.runtime.facts.fact import CPU, CUDA, facts_of
from onnxsmith.runtime.onnxruntime_api import OrtValue, SessionChoices
from onnxsmith.runtime.providers import entry_of, session_providers
from onnxsmith.runtime.settings import Settings
from onnxsmith.schema import registry
from onnxsmith.schema.equivalent_versions import range_of_meaning
from onnxsmith.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class SessionArguments:
    """The arguments of `create_session`: the graph, the weights in memory, the folder of those in files."""

    graph: bytes
    weights: Mapping[str, tuple[Array, OrtValue]]
    folder: str | None


def session_arguments(model: SessionModel) -> SessionArguments:
    """Where the weights of a model lie, as ONNX Runtime wants to be told."""
    apart = model.apart() if model.weights else ()
    if not apart:
        return SessionArguments(model.proto.SerializeToString(), {}, None)
    folder = _common_folder([weight.part for _, weight in apart if weight.part is not None])
    proto = copied(model.proto)  # the graph alone: the weights are not in it
    values: dict[str, tuple[Array, OrtValue]] = {}
    _drop_unread(proto.graph, {tensor.name for tensor, _ in apart})
    for tensor, weight in SessionModel(proto, model.weights).apart():
        if folder is not None and weight.part is not None:
            _refer(tensor, weight.part, folder)
        else:
            values[tensor.name] = _value(tensor, weight)
    return SessionArguments(proto.SerializeToString(), values, folder)


def _drop_unread(graph: onnx.GraphProto, names: Set[str]) -> None:
    """Take out of a graph the weights that nothing reads: ONNX Runtime misses them when they are handed over."""
    read = {each.name for each in graph.output}
    for node in graph.node:
        read.update(node.input, names_around(node))
    unread = names - read
    for position in reversed(range(len(graph.initializer)) if unread else ()):
        if graph.initializer[position].name in unread:
            del graph.initializer[position]


def _common_folder(parts: Sequence[FilePart]) -> str | None:
    """A folder that all files lie in or below; None when there is none, or ONNX Runtime would not take it."""
    if not parts or not onnxruntime_api.takes_folders():
        return None
    try:
        return os.path.commonpath({os.path.dirname(each.path) for each in parts})
    except ValueError:  # on different drives
        return None


def _refer(tensor: onnx.TensorProto, part: FilePart, folder: str) -> None:
    location = os.path.relpath(part.path, folder).replace(os.sep, "/")
    entries = {"location": location, "offset": str(part.offset), "length": str(part.length)}
    tensor.ClearField("external_data")
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def _value(tensor: onnx.TensorProto, weight: SessionWeight) -> tuple[Array, OrtValue]:
    dtype = DType(tensor.data_type)
    array = _shaped(weight.read(), dtype, tuple(tensor.dims))
    return array, onnxruntime_api.value_over(array, dtype)


def _shaped(content: Content, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The content under its shape. For what is smaller than a byte nothing but its address and shape is right."""
    if dtype.bits < 8:
        # ONNX Runtime asks an array for its shape and works out by itself how few bytes that takes.
        strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
        return np.lib.stride_tricks.as_strided(content, shape, strides, writeable=False)
    return content.view(np.dtype(f"u{dtype.bits // 8}")).reshape(shape)


#: Seeds are float attributes, which hold integers exactly up to here.
_MOST_SEEDS = 1 << 24
#: The operator whose kernel prints when it is made: it says that mode=max will change, and has for years.
_LOUD = ("", "RoiAlign")
#: The operator at which the runtime's inference ends the process for a size below zero.
_SLICE = ("", "Slice")
#: The domain of functions that the runtime would take its own operators for.
_OWN_DOMAIN = "onnxsmith.functions"
#: Whose operators no library brings.
_BUILT_IN = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft", _OWN_DOMAIN})
#: The operator that is folded wrongly in bodies: see `folded_branches`.
_BRANCH = ("", "If")
_RANDOM = frozenset(("", name) for name in DRAWING)


@dataclass(frozen=True, slots=True)
class Opened:
    """A session, the model that it was made of, and what was changed for it."""

    session: onnxruntime_api.Session
    model: SessionModel
    edits: tuple[Edit, ...]


def open_session(
    model: SessionModel,
    settings: Settings,
    *,
    threads: int,
    optimize: bool,
    is_checked: bool = False,
    is_kept: bool = False,
    operators: Set[tuple[str, str]] | None = None,
    profiling: onnxruntime_api.Profiling | None = None,
) -> Opened:
    """A session of a model with the facts met; raises Refused, or what ONNX Runtime raises.

    `is_checked` says that what can be checked on arrays is, before each run; `is_kept` that the model is what is
    wanted, for a file, and not the session. `operators` are all that the model has, where that is known.
    """
    # First: the facts, too, are met in each call of a function.
    edits: tuple[Edit, ...] = ()
    if model.proto.functions:
        refuse_past_measure(model.proto)
        refuse_other_opsets(model.proto)
        model, edits = _with_own_functions(model)
    if operators is None:
        operators = operators_of(model.proto)
    model = _with_all_outputs(
        model, operators
    )  # before the facts are met: what they emit has the same outputs
    provider = known_provider(settings)
    if provider is not None:
        checks: Checks = "before" if is_checked else "in the graph"
        version = onnxruntime_api.version()
        if _BRANCH in operators or any(facts_of(each, version, provider) for each in operators):
            result = adapt(
                model.proto, version, weight_reader(model), provider, checks=checks, is_kept=is_kept
            )
            if result.edits:
                model, edits = replace(model, proto=result.model), edits + result.edits
                operators = operators_of(model.proto)
    session = _make_session(
        model, operators, settings, threads=threads, optimize=optimize, profiling=profiling
    )
    return Opened(session, model, edits)


def refuse_past_measure(model: onnx.ModelProto) -> None:
    """Raise Refused where functions call others so often that the runtime, which inlines them, does not come back."""
    if is_past_measure(model):
        raise Refused(
            "", "", f"its functions call others so often that they make more than {MOST_NODES:,} nodes"
        )


def _refuse_negative_sizes(model: onnx.ModelProto) -> None:
    """Raise NotRunnableError where a `Slice` gets a size below zero: the runtime's inference ends the process on it."""
    found = size_below_zero(model)
    if found is not None:
        value, size = found
        raise NotRunnableError(
            f"the model cannot run: '{value}' would have the size {size}",
            help="a window is larger than its image, or more is cut off than there is",
        )


def refuse_other_opsets(model: onnx.ModelProto) -> None:
    """Raise NotRunnableError where a function has an operator that is another one in the opset of the model.

    ONNX does not allow it, and the runtime reads every function in the opset of the model.
    """
    versions = opset_versions(model.opset_import)
    own = functions_of(model)
    for function in model.functions:
        for domain, version in opset_versions(function.opset_import).items():
            outer = versions.get(domain, version)
            if outer == version:
                continue
            for node in all_nodes(function.node):
                is_own = function_key(node) in own or plain_domain(node.domain) != domain
                op = None if is_own else registry.find(domain, node.op_type, version)
                if op is None:
                    continue
                first, end = range_of_meaning(op)
                if outer < first or (end is not None and outer >= end):
                    raise NotRunnableError(
                        f"the model cannot run: {op.name} of opset {version}, which the function '{function.name}' is"
                        f" written in, is another operator in opset {outer}, that of the model",
                        help=f"model.convert_version({max(outer, version)}) writes both in one opset"
                        if not domain
                        else "write the model and its functions in one opset",
                    )


def _with_own_functions(model: SessionModel) -> tuple[SessionModel, tuple[Edit, ...]]:
    """The model with another domain for functions that are called as operators, which the runtime runs in their place.

    ONNX leaves to the runtime which of both is meant; everywhere else here it is the model's own.
    """
    hidden = [key for key in functions_of(model.proto) if registry.versions(plain_domain(key[0]), key[1])]
    if not hidden:
        return model, ()
    proto = copied(model.proto)
    fresh = FreshNames(each.name for each in proto.functions)
    names = {key: fresh.after(key[1]) for key in hidden}
    calls: dict[FunctionKey, tuple[NodeNote, NodeNote]] = {}
    for node in nodes_of_model(proto):
        key = function_key(node)
        if key in names:
            before = noted_proto(node, ())
            node.domain, node.op_type, node.overload = _OWN_DOMAIN, names[key], ""
            calls.setdefault(key, (before, noted_proto(node, ())))
    for key, function in functions_of(proto).items():
        if key in names:
            function.domain, function.name, function.overload = _OWN_DOMAIN, names[key], ""
        function.opset_import.append(helper.make_opsetid(_OWN_DOMAIN, 1))
    proto.opset_import.append(helper.make_opsetid(_OWN_DOMAIN, 1))
    reason = "the runtime has an operator of that name, which it runs in the place of the model's function"
    edits = (Edit(PASS_NAME, "own function", (old,), (new,), reason=reason) for old, new in calls.values())
    return replace(model, proto=proto), tuple(edits)


def known_provider(settings: Settings) -> str | None:
    """The provider whose facts apply: the CPU's, or CUDA's; None for others, of which nothing is known."""
    names = {name for name, _ in settings.providers} - {CPU}
    return CPU if not names else CUDA if names == {CUDA} else None


def make_session(model: SessionModel, settings: Settings, *, threads: int) -> onnxruntime_api.Session:
    """A session of a model as it is; raises what ONNX Runtime raises."""
    refuse_past_measure(model.proto)
    operators = operators_of(model.proto)
    model = _with_all_outputs(model, operators)
    return _make_session(model, operators, settings, threads=threads, optimize=True)


def _with_all_outputs(model: SessionModel, operators: Set[tuple[str, str]]) -> SessionModel:
    """The model with a name for outputs whose absence ends the process; what was read from a proto has them."""
    if OMITTING.isdisjoint(operators):
        return model
    named = name_omitted(model.proto)
    return model if named is model.proto else replace(model, proto=named)


def _make_session(
    model: SessionModel,
    operators: Set[tuple[str, str]],
    settings: Settings,
    *,
    threads: int,
    optimize: bool,
    profiling: onnxruntime_api.Profiling | None = None,
) -> onnxruntime_api.Session:
    if _SLICE in operators:
        _refuse_negative_sizes(model.proto)
    given = session_arguments(model if operators.isdisjoint(_RANDOM) else _with_own_seeds(model))
    providers = session_providers(settings.providers, allow_tf32=settings.allow_tf32, captures=False)
    for name, _ in providers:
        if entry_of(name) is None:
            plug_ins.warn_of_unknown(name)
    with onnxruntime_api.hushed() if _LOUD in operators else nullcontext():
        return onnxruntime_api.create_session(
            given.graph,
            choices=SessionChoices(threads, optimize, _libraries(operators), settings.session_options),
            providers=providers,
            plug_ins={name for name, _ in providers if plug_ins.is_plug_in(name)},
            weights=given.weights,
            folder=given.folder,
            profiling=profiling,
        )


def _libraries(operators: Set[tuple[str, str]]) -> tuple[str, ...]:
    """The libraries of operators that a model may need: none where its domains are all known."""
    return () if all(domain in _BUILT_IN for domain, _ in operators) else plug_ins.operator_libraries()


def weight_reader(model: SessionModel) -> ReadWeight:
    """Reads a weight that stands apart from the graph, when it is asked for."""
    types = {tensor.name: (tensor.data_type, tuple(tensor.dims)) for tensor, _ in model.apart()}

    def read(name: str) -> Array | None:
        if name not in types:
            return None
        code, shape = types[name]
        dtype = DType(code)
        if dtype.bits < 8:
            return None  # packed: nothing here looks into those
        return model.weights[name].read().view(dtype.numpy).reshape(shape)

    return read


def _with_own_seeds(model: SessionModel) -> SessionModel:
    """Random operators without a seed get one: ONNX Runtime gives all sessions of a process the same.

    A function that draws is copied for each call, so that two calls draw different numbers. Not a fact to be met in a
    model: one that is kept in a file would draw the same numbers in every process.
    """
    proto = copied(model.proto)
    functions = functions_of(proto)
    drawing = functions_that_use(functions, _RANDOM)
    names = FreshNames(name for _, name, _ in functions)
    copies: list[onnx.FunctionProto] = []

    def seed(nodes: Iterable[onnx.NodeProto]) -> None:
        for node in all_nodes(nodes):
            key = function_key(node)
            if key in drawing:
                copy = copied(functions[key])
                copy.name, copy.overload = names.after(copy.name), ""
                node.op_type, node.overload = copy.name, ""
                copies.append(copy)
                seed(copy.node)
            elif _draws(node):
                number = secrets.randbelow(_MOST_SEEDS)
                node.attribute.append(
                    helper.make_attribute("seed", number if node.op_type == "Dropout" else float(number))
                )

    seed(proto.graph.node)
    kept = [function for key, function in functions.items() if key not in drawing]
    del proto.functions[:]
    proto.functions.extend([*kept, *copies])
    return replace(model, proto=proto)


def _draws(node: onnx.NodeProto) -> bool:
    is_random = node.op_type in DRAWING and not plain_domain(node.domain)
    return is_random and not any(each.name == "seed" for each in node.attribute) and _can_have_seed(node)


def _can_have_seed(node: onnx.NodeProto) -> bool:
    # A seed came to Dropout with the inputs that decide whether it draws at all.
    return node.op_type != "Dropout" or len(node.input) > 2
