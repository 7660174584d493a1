"""The operators of a model, each once: family, names of inputs and outputs, and the beginning of its documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef

_LONGEST_DOC = 900
_LONGEST_LINE = 180

#: What operators do, for colour and sign. Anything that is in none of them computes element by element.
FAMILIES: dict[str, str] = {
    "linear": "Conv ConvTranspose ConvInteger MatMul MatMulInteger Gemm Einsum DeformConv FusedMatMul FusedConv "
    "FusedGemm Attention MultiHeadAttention GroupQueryAttention RNN LSTM GRU QAttention MatMulNBits",
    "activation": "Relu LeakyRelu PRelu Elu Selu Celu Gelu FastGelu QuickGelu BiasGelu Sigmoid HardSigmoid Tanh "
    "Softplus Softsign Softmax LogSoftmax Hardmax HardSwish Mish Swish ThresholdedRelu Clip Erf Dropout",
    "normalization": "BatchNormalization LayerNormalization InstanceNormalization GroupNormalization LRN "
    "RMSNormalization SimplifiedLayerNormalization SkipLayerNormalization LpNormalization "
    "MeanVarianceNormalization EmbedLayerNormalization RotaryEmbedding",
    "reduction": "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
    "ReduceLogSumExp ReduceSumSquare ArgMax ArgMin TopK CumSum CumProd MaxPool AveragePool GlobalMaxPool "
    "GlobalAveragePool LpPool GlobalLpPool MaxUnpool MaxRoiPool RoiAlign NonMaxSuppression",
    "shape": "Reshape Transpose Squeeze Unsqueeze Flatten Shape Size Expand Tile Concat Split Slice Gather "
    "GatherElements GatherND Scatter ScatterElements ScatterND Pad Resize Upsample DepthToSpace SpaceToDepth "
    "Identity Cast CastLike NonZero Compress Unique ReverseSequence Trilu OneHot Col2Im CenterCropPad "
    "SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence "
    "ConcatFromSequence Optional OptionalGetElement OptionalHasElement GridSample AffineGrid BitCast TensorScatter",
    "control": "If Loop Scan SequenceMap",
    "constant": "Constant ConstantOfShape Range EyeLike RandomNormal RandomUniform RandomNormalLike "
    "RandomUniformLike Bernoulli Multinomial",
    "quantization": "QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul",
}
_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names.split()}
FAMILY_NAMES = ("function", "elementwise", *FAMILIES)


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator as the page shows it."""

    name: str
    domain: str
    since: int
    family: str
    doc: str
    #: Name and a line of documentation of each.
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    is_last_input_repeated: bool = False


class OperatorTable:
    """The operators that nodes use, numbered as they come."""

    def __init__(self, model: ir.Model) -> None:
        self.entries: list[Operator] = []
        self._functions = model.functions
        self._numbers: dict[tuple[ir.OperatorIdentifier, int], int] = {}

    def number_of(self, node: ir.Node, imports: Mapping[str, int]) -> int:
        """The number of a node's operator."""
        version = imports.get(node.domain, 1)
        key = (node.op_identifier(), version)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.entries)
            self.entries.append(self._entry(node, version))
        return number

    def _entry(self, node: ir.Node, version: int) -> Operator:
        name, domain = clipped(printable(node.op_type), 100), clipped(printable(node.domain), 100)
        function = self._functions.get(node.op_identifier())
        if function is not None:
            doc = clipped(printable(function.doc_string or ""), _LONGEST_DOC)
            inputs = tuple((clipped(printable(each.name or ""), 80), "") for each in function.inputs)
            outputs = tuple((clipped(printable(each.name or ""), 80), "") for each in function.outputs)
            return Operator(name, domain, 0, "function", doc, inputs, outputs)
        family = _FAMILY_OF.get(node.op_type, "elementwise")
        found = registry.find(node.domain, node.op_type, version)
        if found is None:
            return Operator(name, domain, 0, family, "")
        return _documented(found, name, domain, family)


def _documented(found: OperatorDef, name: str, domain: str, family: str) -> Operator:
    last = found.inputs[-1] if found.inputs else None
    return Operator(
        name,
        domain,
        found.since_version,
        family,
        _beginning(found.doc),
        tuple((each.name, _line(each.doc)) for each in found.inputs),
        tuple((each.name, _line(each.doc)) for each in found.outputs),
        last is not None and last.option == "variadic",
    )


def _beginning(doc: str) -> str:
    """The paragraphs up to the first that would be too long, without the marks of a page."""
    text = _plain(re.sub(r"```.*?```", "", doc, flags=re.DOTALL))
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", text)]
    result = ""
    for each in paragraphs:
        if not each or (result and len(result) + len(each) > _LONGEST_DOC):
            continue
        result += ("\n\n" if result else "") + clipped(each, _LONGEST_DOC)
        if len(result) > _LONGEST_DOC // 2:
            break
    return result


def _plain(text: str) -> str:
    """Text without Markdown's marks: no backticks, no stars, and of a link its words."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "").replace("**", "")


def _line(doc: str) -> str:
    text = " ".join(_plain(doc).split())
    if len(text) <= _LONGEST_LINE:
        return text
    return text[:_LONGEST_LINE].rpartition(" ")[0] + " …"
