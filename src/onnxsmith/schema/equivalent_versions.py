"""In which versions of its domain a node of a finished model means what it means in its own.

A new version of an operator often only takes more element types. A node that is right by the older definition can then
stand in a graph that imports the newer version, and one that is right by both in a graph that imports the older.
Nothing is converted here: where the meaning changed, the answer is no.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter, parameter_at

#: Versions whose signature is that of the one before, with another meaning.
_CHANGED: dict[tuple[str, int], str] = {
    ("OneHot", 11): "a negative index counts from the end, where it gave nothing but off-values",
    ("PRelu", 7): "the slope is broadcast as numpy does",
    ("Resize", 19): "the resized length of align_corners is a fraction where scales say so",
}
#: Versions with another signature, in which a node that was right before means the same: what was added is optional,
#: and leaving it out is what there was.
_UNCHANGED: dict[tuple[str, int], str] = {
    ("ArgMax", 12): "select_last_index=0",
    ("ArgMin", 12): "select_last_index=0",
    ("Attention", 24): "nonpad_kv_seqlen is optional",
    ("Attention", 25): "the sizes of the window are -1",
    ("AveragePool", 7): "count_include_pad=0",
    ("AveragePool", 10): "ceil_mode=0",
    ("AveragePool", 19): "dilations are 1",
    ("Cast", 19): "saturate=1 concerns float8 alone",
    ("Cast", 24): "round_mode concerns float8e8m0 alone",
    ("CastLike", 19): "saturate=1 concerns float8 alone",
    ("CastLike", 24): "round_mode concerns float8e8m0 alone",
    ("Constant", 11): "sparse_value is optional",
    ("Constant", 12): "value_float and its like are optional",
    ("DepthToSpace", 11): "mode='DCR'",
    ("DequantizeLinear", 13): "axis concerns a vector of scales, which there was not",
    ("DequantizeLinear", 21): "block_size=0",
    ("DequantizeLinear", 23): "output_dtype as the scale says",
    ("GRU", 14): "layout=0",
    ("GatherND", 12): "batch_dims=0",
    ("Gemm", 11): "C may be left out",
    ("LSTM", 14): "layout=0",
    ("LabelEncoder", 4): "tables as tensors are optional",
    ("Loop", 11): "there may be no state",
    ("LpPool", 18): "ceil_mode=0, dilations are 1",
    ("MaxPool", 8): "Indices are optional",
    ("MaxPool", 10): "ceil_mode=0, dilations are 1",
    ("OptionalHasElement", 18): "the input may be left out",
    ("Pad", 18): "axes is optional",
    ("QuantizeLinear", 13): "axis concerns a vector of scales, which there was not",
    ("QuantizeLinear", 19): "saturate=1 concerns float8 alone",
    ("QuantizeLinear", 21): "block_size=0, output_dtype as the zero point says",
    ("QuantizeLinear", 23): "precision as the scale says",
    ("RNN", 14): "layout=0",
    ("Range", 27): "stash_type concerns float16 and bfloat16, which there were not",
    ("Reshape", 14): "allowzero=0",
    ("Resize", 13): "roi and scales may be left out",
    ("Resize", 18): "antialias=0, all axes, sizes as they are given",
    ("ScatterElements", 16): "reduction='none'",
    ("ScatterND", 16): "reduction='none'",
    ("Shape", 15): "start=0, and no end",
    ("SpaceToDepth", 28): "mode='DCR'",
    ("TopK", 11): "the largest, sorted",
    ("TreeEnsembleClassifier", 3): "tables as tensors are optional",
    ("TreeEnsembleRegressor", 3): "tables as tensors are optional",
}
#: Versions that allow new values of an attribute; a node with one of those is not right by the version before.
_MORE_VALUES: dict[tuple[str, int], frozenset[str]] = {
    ("Pad", 19): frozenset({"mode=wrap"}),
    ("ScatterElements", 18): frozenset({"reduction=max", "reduction=min"}),
    ("ScatterND", 18): frozenset({"reduction=max", "reduction=min"}),
}
#: Versions that allow more than types and named values do say: only a look at ranks, axes and values can tell whether
#: a node is right by the version before.
_MORE_IN_VALUES: dict[tuple[str, int], str] = {
    **dict.fromkeys(
        ((name, 8) for name in ("Max", "Mean", "Min", "Sum")), "inputs are broadcast as numpy does"
    ),
    **dict.fromkeys(
        (
            (name, 11)
            for name in (
                "ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Gather", "Hardmax", "LogSoftmax", "ReduceL1",
                "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                "ReduceSum", "ReduceSumSquare", "Scan", "Slice", "Softmax", "Split", "Squeeze", "Unsqueeze",
            )
        ),
        "negative axes and indices count from the end",
    ),
    ("DequantizeLinear", 13): "a scale for each slice along an axis",
    ("If", 11): "branches may give other shapes than each other",
    ("Loop", 11): "there may be no state",
    ("Mod", 28): "fmod=0 is defined for floats",
    ("QuantizeLinear", 13): "a scale for each slice along an axis",
}  # fmt: skip

#: Versions that changed what an attribute does; a node without it means what it meant before.
_OTHER_WITH: dict[tuple[str, int], str] = {
    # A window that begins in the padding is left out.
    ("AveragePool", 22): "ceil_mode",
    ("MaxPool", 22): "ceil_mode",
}

#: A type that is not known, where only the meaning of a node counts and not its types.
ANY_TYPE = "any"


@dataclass(frozen=True, slots=True)
class Use:
    """How a node uses an operator: ONNX's names of the types of its inputs and outputs.

    A name is empty where the type is not known, and fits no definition then; who lets it fit all says ANY_TYPE. An
    input that is left out is None.
    """

    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    attributes: frozenset[str]
    #: Attributes that are text, with their values: "mode=wrap".
    texts: frozenset[str] = field(default_factory=frozenset[str])

    def fits(self, op: OperatorDef) -> bool:
        """True if such a node is right by a definition, as far as types and attributes tell."""
        required = {name for name, each in op.attributes.items() if each.is_required}
        return (
            required <= self.attributes <= op.attributes.keys()
            and len(self.inputs) <= op.max_inputs
            and self.has_inputs(op)
            and self.fits_types(op)
        )

    def has_inputs(self, op: OperatorDef) -> bool:
        """True if it has every input that a definition asks for."""
        given = [each is not None for each in self.inputs]
        for position, parameter in enumerate(op.inputs):
            if parameter.option == "single" and not any(given[position : position + 1]):
                return False
        return len(given) >= op.min_inputs

    def fits_types(self, op: OperatorDef) -> bool:
        """True if a definition allows its types, one for each of its type variables."""
        chosen: dict[str, str] = {}
        return _fits(self.inputs, op.inputs, chosen) and _fits(self.outputs, op.outputs, chosen)


def _fits(types: Sequence[str | None], parameters: Sequence[Parameter], chosen: dict[str, str]) -> bool:
    for position, name in enumerate(types):
        if name is None or name == ANY_TYPE:
            continue
        parameter = parameter_at(parameters, position)
        if parameter is None or (parameter.types and name not in parameter.types):
            return False
        if parameter.is_homogeneous and chosen.setdefault(parameter.type_name, name) != name:
            return False
    return True


def meaning_changed(op: OperatorDef) -> str | None:
    """How the meaning of a version differs from the one before, whose signature is the same; None where it does not."""
    return None if op.domain else _CHANGED.get((op.name, op.since_version))


def range_of_meaning(op: OperatorDef, uses: Collection[Use] = ()) -> tuple[int, int | None]:
    """The versions of its domain in which nodes of this definition mean the same: from, and up to but without.

    `uses` are the nodes; where they are not known, no older version will do.
    """
    first, end = registry.valid_range(op)
    after = op
    while uses:
        before = registry.find(op.domain, op.name, first - 1) if first > 1 else None
        if before is None or not all(is_older(before, after, each) for each in uses):
            break
        after, (first, _) = before, registry.valid_range(before)
    before = op
    while end is not None:
        after = registry.find(op.domain, op.name, end)
        if after is None or not is_newer(before, after, uses):
            break
        before, (_, end) = after, registry.valid_range(after)
    return first, end


def is_newer(before: OperatorDef, after: OperatorDef, uses: Collection[Use] = ()) -> bool:
    """True if nodes that are right by a definition are right by the next one, with the same result.

    All nodes, or those that `uses` are: a few versions allow fewer types than the one before.
    """
    if after.is_deprecated or not before.is_known or not after.is_known:
        return False
    change = (after.name, after.since_version)
    if change in _CHANGED:
        return False
    if not _is_widened(before, after) and not (uses and all(each.fits(after) for each in uses)):
        return False
    if change in _UNCHANGED:
        return True
    return (
        _same_parameters(before.inputs, after.inputs)
        and _same_parameters(before.outputs, after.outputs)
        and before.attributes.keys() == after.attributes.keys()
        and all(
            (old.type, old.is_required, repr(old.default)) == (new.type, new.is_required, repr(new.default))
            for old, new in ((each, after.attributes[name]) for name, each in before.attributes.items())
        )
    )


def is_older(before: OperatorDef, after: OperatorDef, use: Use) -> bool:
    """True if a node that is right by a definition is right by the one before, with the same result."""
    change = (after.name, after.since_version)
    return (
        change not in _MORE_IN_VALUES
        and _OTHER_WITH.get(change) not in use.attributes
        and not use.texts & _MORE_VALUES.get(change, frozenset())
        and is_newer(
            before, after, (use,)
        )  # Erf-13 takes fewer types than Erf-9: of this node alone is asked
        and use.fits(before)
    )


def _same_parameters(before: tuple[Parameter, ...], after: tuple[Parameter, ...]) -> bool:
    return len(before) == len(after) and all(
        (old.option, old.is_homogeneous, old.min_arity) == (new.option, new.is_homogeneous, new.min_arity)
        for old, new in zip(before, after, strict=True)
    )


def _is_widened(before: OperatorDef, after: OperatorDef) -> bool:
    """True if every type that a definition allows is allowed by the next."""
    pairs = (
        *zip(before.inputs, after.inputs, strict=False),
        *zip(before.outputs, after.outputs, strict=False),
    )
    return all(old.types <= new.types for old, new in pairs)
