"""The strings that attributes may hold, and the integer attributes that name an element type, or are 0 or 1.

ONNX states that in prose only, so this is a table kept by hand; the tests compare it with every schema's defaults,
its prose, and ONNX's own backend cases. It holds facts and looks them up; it checks no call.
"""

from __future__ import annotations

from typing import NamedTuple


class _Row(NamedTuple):
    domain: str
    operator: str  # "*" for every operator of the domain that has no row of its own
    attribute: str
    since: int  # the schema version from which the row holds, until the next row of the same attribute
    choices: str


_AUTO_PAD = "NOTSET SAME_UPPER SAME_LOWER VALID"
_DIRECTION = "forward reverse bidirectional"
_RESIZE_COORDINATES = "half_pixel pytorch_half_pixel align_corners asymmetric tf_crop_and_resize"
_POST_TRANSFORM = "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"
_NODE_MODES = "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ LEAF"
_CACHE_DTYPE = "float16 bfloat16 int8 float8e4m3fn int4 float4e2m1"
_QUANTIZATION = "NONE PER_TENSOR PER_CHANNEL"
# The members of TensorProto.DataType when Cast took a name instead of a number.
_DTYPE_NAMES = (
    "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128"
)

_ML = "ai.onnx.ml"
_MS = "com.microsoft"

_TABLE = (
    _Row("", "*", "auto_pad", 1, _AUTO_PAD),
    _Row("", "*", "round_mode", 24, "up down nearest"),
    _Row("", "BitShift", "direction", 11, "LEFT RIGHT"),
    _Row("", "Cast", "to", 1, _DTYPE_NAMES),
    _Row("", "CausalConvWithState", "activation", 27, "none silu swish"),
    _Row("", "DepthToSpace", "mode", 11, "DCR CRD"),
    # Its default is misspelt in version 1, and a model that spells it out must stay readable.
    _Row("", "GRU", "direction", 1, _DIRECTION + " foward"),
    _Row("", "GRU", "direction", 3, _DIRECTION),
    _Row("", "Gelu", "approximate", 20, "none tanh"),
    _Row("", "GridSample", "mode", 16, "bilinear nearest bicubic"),
    _Row("", "GridSample", "mode", 20, "linear nearest cubic"),
    _Row("", "GridSample", "padding_mode", 16, "zeros border reflection"),
    _Row("", "ImageDecoder", "pixel_format", 20, "RGB BGR Grayscale"),
    _Row("", "LSTM", "direction", 1, _DIRECTION),
    _Row("", "LinearAttention", "update_rule", 27, "linear gated delta gated_delta"),
    _Row("", "NegativeLogLikelihoodLoss", "reduction", 12, "none sum mean"),
    _Row("", "Pad", "mode", 1, "constant reflect edge"),
    _Row("", "Pad", "mode", 19, "constant reflect edge wrap"),
    _Row("", "RNN", "direction", 1, _DIRECTION),
    _Row("", "Resize", "coordinate_transformation_mode", 11, _RESIZE_COORDINATES + " tf_half_pixel_for_nn"),
    _Row("", "Resize", "coordinate_transformation_mode", 13, _RESIZE_COORDINATES),
    _Row("", "Resize", "coordinate_transformation_mode", 19, _RESIZE_COORDINATES + " half_pixel_symmetric"),
    _Row("", "Resize", "keep_aspect_ratio_policy", 18, "stretch not_larger not_smaller"),
    _Row("", "Resize", "mode", 10, "nearest linear"),
    _Row("", "Resize", "mode", 11, "nearest linear cubic"),
    _Row("", "Resize", "nearest_mode", 11, "round_prefer_floor round_prefer_ceil floor ceil"),
    _Row("", "RoiAlign", "coordinate_transformation_mode", 16, "half_pixel output_half_pixel"),
    _Row("", "RoiAlign", "mode", 10, "avg max"),
    _Row("", "ScatterElements", "reduction", 16, "none add mul"),
    _Row("", "ScatterElements", "reduction", 18, "none add mul max min"),
    _Row("", "ScatterND", "reduction", 16, "none add mul"),
    _Row("", "ScatterND", "reduction", 18, "none add mul max min"),
    _Row("", "SoftmaxCrossEntropyLoss", "reduction", 12, "none sum mean"),
    _Row("", "SpaceToDepth", "mode", 28, "DCR CRD"),
    _Row("", "StringNormalizer", "case_change_action", 10, "LOWER UPPER NONE"),
    _Row("", "TensorScatter", "mode", 24, "linear circular"),
    _Row("", "TfIdfVectorizer", "mode", 9, "TF IDF TFIDF"),
    _Row("", "Upsample", "mode", 1, "nearest bilinear"),
    _Row("", "Upsample", "mode", 7, "nearest linear"),
    _Row(_ML, "*", "post_transform", 1, _POST_TRANSFORM),
    _Row(_ML, "CastMap", "cast_to", 1, "TO_FLOAT TO_STRING TO_INT64"),
    _Row(_ML, "CastMap", "map_form", 1, "DENSE SPARSE"),
    _Row(_ML, "Normalizer", "norm", 1, "MAX L1 L2"),
    _Row(_ML, "SVMClassifier", "kernel_type", 1, "LINEAR POLY RBF SIGMOID"),
    _Row(_ML, "SVMRegressor", "kernel_type", 1, "LINEAR POLY RBF SIGMOID"),
    _Row(_ML, "TreeEnsembleClassifier", "nodes_modes", 1, _NODE_MODES),
    _Row(_ML, "TreeEnsembleRegressor", "aggregate_function", 1, "AVERAGE SUM MIN MAX"),
    _Row(_ML, "TreeEnsembleRegressor", "nodes_modes", 1, _NODE_MODES),
    _Row("ai.onnx.preview.training", "Momentum", "mode", 1, "nesterov standard"),
    _Row(_MS, "*", "attention_mode", 1, "selected_only local_plus_selected"),
    _Row(_MS, "*", "auto_pad", 1, _AUTO_PAD),
    _Row(_MS, "*", "direction", 1, _DIRECTION),
    _Row(_MS, "*", "k_quant_type", 1, _QUANTIZATION),
    _Row(_MS, "*", "policy_mode", 1, "qsa csa"),
    _Row(_MS, "*", "selected_kv_source", 1, "main auxiliary"),
    _Row(_MS, "*", "update_rule", 1, "linear gated delta gated_delta"),
    _Row(_MS, "*", "v_quant_type", 1, _QUANTIZATION),
    _Row(_MS, "CausalConvWithState", "activation", 1, "none silu swish"),
    _Row(_MS, "CropAndResize", "mode", 1, "bilinear nearest"),
    _Row(_MS, "GatedDeltaNet", "beta_activation", 1, "none sigmoid"),
    _Row(_MS, "GatedDeltaNet", "gate_activation", 1, "none qwen"),
    _Row(_MS, "GatedRMSNorm", "activation", 1, "silu swish sigmoid"),
    _Row(_MS, "GemmFloat8", "activation", 1, "NONE RELU GELU"),
    _Row(_MS, "GridSample", "mode", 1, "bilinear nearest bicubic"),
    _Row(_MS, "GridSample", "padding_mode", 1, "zeros border reflection"),
    _Row(_MS, "MoE", "activation_type", 1, "relu gelu silu swiglu identity"),
    _Row(_MS, "Pad", "mode", 1, "constant reflect edge"),
    _Row(_MS, "PagedAttention", "k_cache_dtype", 1, _CACHE_DTYPE),
    _Row(_MS, "PagedAttention", "kv_cache_layout", 1, "SEPARATE LATENT"),
    _Row(_MS, "PagedAttention", "v_cache_dtype", 1, _CACHE_DTYPE),
    _Row(_MS, "QMoE", "activation_type", 1, "relu gelu silu swiglu identity"),
    _Row(_MS, "QMoE", "quant_type", 1, "int fp4 nvfp4 fp8 wfp4afp8"),
    _Row(_MS, "SparsePagedAttention", "auxiliary_cache_layout", 1, "contiguous"),
    _Row(_MS, "VarlenCausalConvWithState", "activation", 1, "none silu swish"),
)

#: The newest schema version of each domain that the table was compared with. What a later one allows is not known
#: here, and a value is better let through than refused for being new.
CHECKED_UP_TO = {"": 28, _ML: 5, "ai.onnx.preview": 1, "ai.onnx.preview.training": 1, _MS: 1}

#: The onnxruntime release whose com.microsoft operators the table was compared with: that domain stays at version 1
#: while its operators change.
CHECKED_ONNXRUNTIME = (1, 31)

#: Integer attributes that hold a member of TensorProto.DataType, in every domain.
DTYPE_ATTRIBUTES = frozenset(
    ("dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type", "to")
)

#: Integer attributes of the standard domain that are 0 or 1. What another number means is not defined, and runtimes,
#: and versions of them, read it differently.
FLAGS = frozenset(
    """
    align_corners allowzero antialias broadcast ceil_mode center_point_box count_include_pad detect_negative
    detect_positive exclude_outside exclusive fmod input_forget interleaved inverse is_case_sensitive is_causal is_test
    keepdims largest layout linear_before_reset new_axis noop_with_empty_axes onesided output_sequence periodic reverse
    saturate select_last_index sorted spatial storage_order training_mode transA transB upper
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)

# ONNX Runtime's layout domains hold the standard operators again, under their standard versions.
_SAME_AS = {"com.microsoft.nchwc": "", "com.ms.internal.nhwc": ""}


def _index() -> dict[tuple[str, str, str], list[tuple[int, tuple[str, ...]]]]:
    index: dict[tuple[str, str, str], list[tuple[int, tuple[str, ...]]]] = {}
    for row in _TABLE:
        index.setdefault((row.domain, row.operator, row.attribute), []).append(
            (row.since, tuple(row.choices.split()))
        )
    for (_, _, attribute), entries in index.items():
        if attribute.endswith("_cache_dtype"):  # the empty string stands for the cache tensor's own type
            entries[:] = [(since, ("", *choices)) for since, choices in entries]
    return index


_INDEX = _index()


def choices(domain: str, operator: str, since_version: int, attribute: str) -> tuple[str, ...] | None:
    """The strings that a string attribute may hold, or each member of a list of strings; None when it is free.

    >>> choices("", "Pad", 18, "mode")
    ('constant', 'reflect', 'edge')
    >>> choices("", "Einsum", 12, "equation") is None
    True
    """
    home = _SAME_AS.get(domain, domain)
    if since_version > CHECKED_UP_TO.get(home, 0):
        return None
    entries = _INDEX.get((home, operator, attribute)) or _INDEX.get((home, "*", attribute)) or ()
    held = [allowed for since, allowed in entries if since <= since_version]
    return held[-1] if held else None
