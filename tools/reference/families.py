"""Which family each operator is in: one table, in which every operator of ONNX's own domains stands once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A group of operators that has a page; `slug` is the page's name."""

    slug: str
    title: str
    about: str
    names: str

    def __contains__(self, name: str) -> bool:
        return name in self.names.split()


STANDARD = (
    Family(
        "math",
        "Math",
        "Arithmetic, powers, exponentials, rounding, trigonometry: element by element.",
        "Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Cos Cosh Div Erf Exp Floor Log Max Mean Min Mod Mul Neg Pow "
        "Reciprocal Round Sign Sin Sinh Sqrt Sub Sum Tan",
    ),
    Family(
        "activation",
        "Activations",
        "Functions between the layers of a network.",
        "Celu Clip Dropout Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu Relu Selu Shrink "
        "Sigmoid Softmax Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu",
    ),
    Family(
        "logical",
        "Logical and bitwise",
        "Comparisons, truth values, bits, and choosing by a condition.",
        "And BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Equal Greater GreaterOrEqual IsInf IsNaN "
        "Less LessOrEqual Not Or Where Xor",
    ),
    Family(
        "reduction",
        "Reductions and searching",
        "Fewer elements than before: sums, extremes, sorting, running sums.",
        "ArgMax ArgMin CumProd CumSum NonZero ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean "
        "ReduceMin ReduceProd ReduceSum ReduceSumSquare TopK Unique",
    ),
    Family(
        "linear-algebra",
        "Linear algebra",
        "Products of matrices and sums over named axes.",
        "Det Einsum Gemm MatMul",
    ),
    Family(
        "convolution",
        "Convolution and pooling",
        "Windows that move over a signal or an image.",
        "AveragePool CausalConvWithState Col2Im Conv ConvTranspose DeformConv GlobalAveragePool GlobalLpPool "
        "GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool RoiAlign",
    ),
    Family(
        "normalization",
        "Normalization",
        "Scaling to a mean, a variance or a norm.",
        "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization "
        "MeanVarianceNormalization RMSNormalization",
    ),
    Family(
        "attention",
        "Attention and recurrent layers",
        "Layers over a sequence.",
        "Attention GRU LSTM LinearAttention RNN RotaryEmbedding TensorScatter",
    ),
    Family(
        "losses", "Losses", "What training makes small.", "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"
    ),
    Family(
        "shape",
        "Shapes and indexing",
        "The same elements in another shape, order or choice.",
        "Cast CastLike CenterCropPad Compress Concat DepthToSpace Expand Flatten Gather GatherElements GatherND "
        "Identity OneHot Pad Reshape ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth "
        "Split Squeeze Tile Transpose Trilu Unsqueeze",
    ),
    Family(
        "creation",
        "Creation",
        "Tensors from nothing: constants, ranges, windows.",
        "BlackmanWindow Constant ConstantOfShape EyeLike HammingWindow HannWindow MelWeightMatrix Range",
    ),
    Family(
        "random",
        "Random",
        "Draws from a distribution.",
        "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
    ),
    Family("signal", "Signals", "Fourier transforms.", "DFT STFT"),
    Family(
        "image",
        "Images",
        "Decoding, resizing, sampling and boxes.",
        "AffineGrid GridSample ImageDecoder NonMaxSuppression Resize Upsample",
    ),
    Family(
        "text",
        "Text",
        "Tensors of strings.",
        "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
    ),
    Family(
        "quantization",
        "Quantization",
        "Small integers that stand for floats.",
        "ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul QuantizeLinear",
    ),
    Family(
        "sequence",
        "Sequences and optionals",
        "Lists of tensors, and values that may be missing.",
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength SplitToSequence",
    ),
    Family(
        "control-flow",
        "Control flow",
        "Operators with graphs inside. In a script they are `if`, `for` and `while`.",
        "If Loop Scan SequenceMap",
    ),
)

#: The domains besides ONNX's own, each a family of its own.
OTHER_DOMAINS = {
    "ai.onnx.ml": Family(
        "ml", "Machine learning", "Trees, linear models, encoders: the domain `ai.onnx.ml`.", ""
    ),
    "ai.onnx.preview": Family("preview", "Preview", "What ONNX tries out: the domain `ai.onnx.preview`.", ""),
    "ai.onnx.preview.training": Family(
        "training", "Training", "Steps of optimizers: the domain `ai.onnx.preview.training`.", ""
    ),
    "com.microsoft": Family(
        "microsoft",
        "ONNX Runtime's own",
        "The domain `com.microsoft`, which ONNX Runtime alone has. Its schemas come with the installed ONNX Runtime.",
        "",
    ),
}


class UnsortedOperator(LookupError):
    """An operator is in no family, or in two: a new onnx brought it, and the table above has to name it."""


def family_of(domain: str, name: str) -> Family:
    """The family of an operator."""
    if domain:
        return OTHER_DOMAINS[domain]
    found = [each for each in STANDARD if name in each]
    if len(found) != 1:
        raise UnsortedOperator(
            f"{name} is in {len(found)} families; tools/reference/families.py has to name it once"
        )
    return found[0]
