"""In which versions of its domain a node of a finished model means what it means in its own.

A new version of an operator often only takes more element types. A node that is right by the older definition can then
stand in a graph that imports the newer version, and one that is right by both in a graph that imports the older.
Nothing is converted here: where the meaning changed, the answer is no.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.schema.inference.signature import parameter_at

#: Versions whose signature is that of the one before, with another meaning.
_CHANGED: dict[tuple[str, int], str] = {
    ("ConvTranspose", 11): "auto_pad puts the odd padding on the other side",
    ("OneHot", 11): "a negative index counts from the end, where it gave nothing but off-values",
    ("PRelu", 7): "the slope is broadcast as numpy does",
}
#: Versions with another signature, in which a node that was right before means the same: what was added is optional,
#: and leaving it out is what there was.
_UNCHANGED: dict[tuple[str, int], str] = {
    ("ArgMax", 12): "select_last_index=0",
    ("ArgMin", 12): "select_last_index=0",
    ("Cast", 19): "saturate=1 concerns float8 alone",
    ("Cast", 24): "round_mode concerns float8e8m0 alone",
    ("CastLike", 19): "saturate=1 concerns float8 alone",
    ("CastLike", 24): "round_mode concerns float8e8m0 alone",
    ("Constant", 11): "sparse_value is optional",
    ("Constant", 12): "value_float and its like are optional",
    ("DepthToSpace", 11): "mode='DCR'",
    ("DequantizeLinear", 13): "axis concerns a vector of scales, which there was not",
    ("DequantizeLinear", 21): "block_size=0",
    ("GRU", 14): "layout=0",
    ("GatherND", 12): "batch_dims=0",
    ("Gemm", 11): "C may be left out",
    ("LSTM", 14): "layout=0",
    ("Pad", 18): "axes is optional",
    ("QuantizeLinear", 13): "axis concerns a vector of scales, which there was not",
    ("QuantizeLinear", 19): "saturate=1 concerns float8 alone",
    ("QuantizeLinear", 21): "block_size=0, output_dtype as the zero point says",
    ("RNN", 14): "layout=0",
    ("Reshape", 14): "allowzero=0",
    ("ScatterElements", 16): "reduction='none'",
    ("ScatterND", 16): "reduction='none'",
    ("Shape", 15): "start=0, and no end",
}
#: Versions that allow new values of an attribute; a node with one of those is not right by the version before.
_MORE_VALUES = {("Pad", 19), ("Resize", 19), ("ScatterElements", 18), ("ScatterND", 18)}
#: Before this version of the standard domain new definitions also allowed more values of inputs, as negative indices.
_TYPES_ONLY_SINCE = 13


@dataclass(frozen=True, slots=True)
class Use:
    """How a node uses an operator: ONNX's names of the types of its inputs and outputs.

    A name is empty where the type is not known; an input that is left out is None.
    """

    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    attributes: frozenset[str]

    def fits(self, op: OperatorDef) -> bool:
        """Whether such a node is right by a definition."""
        return (
            self.attributes <= op.attributes.keys()
            and len(self.inputs) <= op.max_inputs
            and _fits(self.inputs, op.inputs)
            and _fits(self.outputs, op.outputs)
        )


def _fits(types: Sequence[str | None], parameters: Sequence[Parameter]) -> bool:
    for position, name in enumerate(types):
        parameter = parameter_at(parameters, position)
        if name is not None and (parameter is None or (parameter.types and name not in parameter.types)):
            return False
    return True


def range_of_meaning(op: OperatorDef, uses: Collection[Use] = ()) -> tuple[int, int | None]:
    """The versions of its domain in which nodes of this definition mean the same: from, and up to but without.

    `uses` are the nodes; where they are not known, no older version will do.
    """
    first, end = registry.valid_range(op)
    after = op
    while uses and op.domain == "" and first > _TYPES_ONLY_SINCE and (op.name, first) not in _MORE_VALUES:
        before = registry.find(op.domain, op.name, first - 1)
        if (
            before is None
            or not _means_the_same(before, after)
            or not all(each.fits(before) for each in uses)
        ):
            break
        after, (first, _) = before, registry.valid_range(before)
    before = op
    while end is not None:
        after = registry.find(op.domain, op.name, end)
        if after is None or not _means_the_same(before, after):
            break
        before, (_, end) = after, registry.valid_range(after)
    return first, end


def _means_the_same(before: OperatorDef, after: OperatorDef) -> bool:
    """Whether every node that is right by `before` is right by `after`, with the same result."""
    if after.is_deprecated or not before.is_known or not after.is_known:
        return False
    change = (after.name, after.since_version)
    if after.domain == "" and change in _UNCHANGED:
        return True
    if after.domain == "" and change in _CHANGED:
        return False
    return (
        _only_widened(before.inputs, after.inputs)
        and _only_widened(before.outputs, after.outputs)
        and before.attributes.keys() == after.attributes.keys()
        and all(
            (old.type, old.is_required, repr(old.default)) == (new.type, new.is_required, repr(new.default))
            for old, new in ((each, after.attributes[name]) for name, each in before.attributes.items())
        )
    )


def _only_widened(before: tuple[Parameter, ...], after: tuple[Parameter, ...]) -> bool:
    return len(before) == len(after) and all(
        (old.option, old.is_homogeneous, old.min_arity) == (new.option, new.is_homogeneous, new.min_arity)
        and old.types <= new.types
        for old, new in zip(before, after, strict=True)
    )
