"""Which public names stand on which page of the reference: one table. Every exported name stands on one page."""

from __future__ import annotations

from dataclasses import dataclass

from onnxsmith.numpy.names import STAGING
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS


@dataclass(frozen=True, slots=True)
class Group:
    """A page: its name and title, what it is about, and the names on it, each behind its module.

    `prefix` is what users write before a name, as in `xp.linalg.inv`.
    """

    slug: str
    title: str
    about: str
    names: tuple[tuple[str, str], ...]
    imported: str
    prefix: str = ""


def _of(module: str, words: str) -> tuple[tuple[str, str], ...]:
    return tuple((module, name) for name in words.split())


#: The element types are described together, in one table.
ELEMENT_TYPES = (
    "FLOAT DOUBLE FLOAT16 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ FLOAT8E8M0 FLOAT6E2M3 "
    "FLOAT6E3M2 FLOAT4E2M1 INT2 INT4 INT8 INT16 INT32 INT64 UINT2 UINT4 UINT8 UINT16 UINT32 UINT64 BOOL STRING "
    "COMPLEX64 COMPLEX128"
)

_MAIN = (
    Group(
        "scripts",
        "Scripts and traces",
        "Making models of Python functions.",
        _of("onnxsmith", "script trace jit graph static_range OnnxFunction Opset"),
        "from onnxsmith import script, trace, jit",
    ),
    Group(
        "tensors",
        "Tensors and types",
        "Values with ONNX's meaning, and the annotations that declare them.",
        _of("onnxsmith", f"tensor Tensor Dim DType {ELEMENT_TYPES}")
        + _of("onnxsmith.types", "TensorType SequenceType OptionalType MapType"),
        "from onnxsmith import FLOAT, Tensor, tensor",
    ),
    Group(
        "model",
        "Model",
        "A model: reading, running, inspecting and changing it. What a method returns is on the pages below.",
        _of("onnxsmith", "Model load compose"),
        "from onnxsmith import Model, load, compose",
    ),
    Group(
        "changing",
        "Optimising, converting, rewriting",
        "Functions from a model to another one, rules, and reports of what was done.",
        _of("onnxsmith", "optimize outline convert_version rewrite Rule Constant either explain_match")
        + _of("onnxsmith.passes.rules", "Match MatchedTensor MatchExplanation")
        + _of("onnxsmith.passes", "PassedModel Report Edit NodeNote"),
        "from onnxsmith import Rule, optimize, rewrite",
    ),
    Group(
        "inspecting",
        "Inside a model",
        "What `model.nodes`, `model.weights`, `model.summary()` and `model.equals(other)` give, and values on the way.",
        _of(
            "onnxsmith.inspection",
            "Nodes Node NodeValue Graph ModelWeights WeightInfo Summary Count Equality",
        )
        + _of("onnxsmith.observing", "observe Observation"),
        "import onnxsmith",
    ),
    Group(
        "comparing",
        "Comparing models",
        "Where two models, run on the same values, part.",
        _of("onnxsmith", "compare") + _of("onnxsmith.comparing", "Comparison ComparedNode Difference"),
        "from onnxsmith import compare",
    ),
    Group(
        "differences",
        "Differences of models",
        "What is another in the graph, the weights or the interface of two models.",
        _of("onnxsmith", "diff") + _of("onnxsmith.diffing", "Difference Change Magnitude"),
        "from onnxsmith import diff",
    ),
    Group(
        "profiling",
        "Profiling",
        "What `model.profile()` gives.",
        _of(
            "onnxsmith.profiling",
            "Profile ProfileRow Times Kernel ProfiledNode SourceLine Circumstances ProfileComparison ComparedRow",
        ),
        "import onnxsmith",
    ),
    Group(
        "viewing",
        "Viewing",
        "Notes on the picture that `model.show()` makes.",
        _of("onnxsmith.view", "Overlay Note Step SideBySide Row"),
        "from onnxsmith.view import Overlay, Note, Step",
    ),
    Group(
        "decompiling",
        "Decompiling",
        "Models as Python, and back.",
        _of(
            "onnxsmith",
            "decompile decompile_to recompile rebuild rebuild_function Weights data_root source_root proto2python "
            "export_onnx_lib",
        ),
        "from onnxsmith import decompile, recompile",
    ),
    Group(
        "runtime",
        "Runtimes",
        "Choosing what runs models and operators.",
        _of(
            "onnxsmith.runtime",
            "using Settings Session load_session clear_cache kernel register_custom_ops register_provider",
        ),
        "import onnxsmith.runtime",
        "onnxsmith.runtime.",
    ),
    Group(
        "grad",
        "Gradients",
        "Derivatives of functions and models.",
        _of(
            "onnxsmith.grad",
            "grad value_and_grad gradient vjp jvp custom_gradient stop_gradient checkpoint in_training expand_training",
        ),
        "from onnxsmith.grad import grad, gradient",
    ),
    Group(
        "training",
        "Training",
        "Steps of training as models, and what runs them.",
        _of(
            "onnxsmith.training",
            "Trainer History Callback EarlyStopping SaveCheckpoint read_checkpoint Checkpoint Training Position "
            "training_step initial_state model_in_use Optimizer Schedule generate_artifacts load_state",
        )
        + _of("onnxsmith.training.artifacts", "LossType OptimType"),
        "from onnxsmith.training import Trainer",
    ),
    Group(
        "optimizers",
        "Optimisers",
        "How weights are moved.",
        _of("onnxsmith.training.optimizers", "sgd adagrad rmsprop adam adamw nadam radam adamax lion"),
        "from onnxsmith.training import optimizers",
        "optimizers.",
    ),
    Group(
        "schedules",
        "Schedules",
        "Learning rates that change from step to step.",
        _of(
            "onnxsmith.training.schedules",
            "constant step exponential cosine polynomial one_cycle plateau piecewise",
        ),
        "from onnxsmith.training import schedules",
        "schedules.",
    ),
    Group(
        "losses",
        "Losses",
        "What is minimised.",
        _of(
            "onnxsmith.training.losses",
            "squared absolute huber quantile poisson cross_entropy negative_log_likelihood "
            "probability_cross_entropy binary_cross_entropy hinge elastic_penalty",
        ),
        "from onnxsmith.training import losses",
        "losses.",
    ),
    Group(
        "sklearn",
        "scikit-learn",
        "Pipelines as models.",
        _of(
            "onnxsmith.sklearn",
            "convert ConvertedModel ConversionReport discrepancies Discrepancy signature Signature from_onnx "
            "NeuralNetClassifier NeuralNetRegressor OnnxPredictor OnnxTransformer",
        ),
        "import onnxsmith.sklearn",
        "onnxsmith.sklearn.",
    ),
    Group(
        "torch",
        "PyTorch",
        "Modules and exported programs as models.",
        _of("onnxsmith.torch", "export translate ExportedModel ExportReport for_torch_onnx"),
        "import onnxsmith.torch",
        "onnxsmith.torch.",
    ),
    Group(
        "evaluator",
        "Evaluators",
        "onnxscript's way to choose a runtime, for code that comes from there.",
        _of(
            "onnxsmith.evaluator",
            "default set_default default_as Evaluator ORTEvaluator ORTMixedEvaluator OnnxReferenceRuntimeEvaluator",
        ),
        "from onnxsmith import evaluator",
        "evaluator.",
    ),
)

#: Title, what it is about -> the modules of `onnxsmith.numpy` whose functions stand there.
_NUMPY = (
    ("creation", "Creating arrays", "Arrays from values, shapes and ranges.", "creation filling ranges"),
    (
        "elementwise",
        "Element by element",
        "Functions of single elements that are no universal functions.",
        "elementwise",
    ),
    (
        "ufuncs",
        "Universal functions",
        "They compute element by element, broadcast, and have `reduce`, `accumulate`, `reduceat`, `outer` and `at`.",
        "ufuncs.arithmetic ufuncs.bits ufuncs.comparisons ufuncs.exponentials ufuncs.floating ufuncs.products",
    ),
    (
        "shapes",
        "Shapes and joining",
        "The same elements in another shape or order.",
        "reshaping joining rearranging padding",
    ),
    (
        "choosing",
        "Choosing and searching",
        "Elements by index, condition or place.",
        "choosing taking positions inserting searching trimming",
    ),
    (
        "reductions",
        "Reductions and statistics",
        "Sums, extremes, means, quantiles, histograms.",
        "reductions statistics quantiles covariances cumulative without_nan histograms differences",
    ),
    ("sorting", "Sorting and sets", "Order, and what is in both.", "sorting sets"),
    (
        "signals",
        "Signals, polynomials, bits",
        "Convolutions, interpolation, polynomials.",
        "signals polynomials packing",
    ),
    ("products", "Products", "Products of vectors and matrices.", "matrices.contractions"),
    ("types", "Element types", "Asking for and converting element types; constants.", "element_types"),
    (
        "models",
        "Compiling and models",
        "numpy code as one model.",
        "names applying",
    ),
)
_PARTS = (
    ("linalg", "Linear algebra", "Factors, solutions, norms."),
    ("fft", "Fourier transforms", "Transforms along axes."),
    ("random", "Random numbers", "Draws from a key: the same key gives the same numbers."),
    ("special", "Special functions", "Under scipy's names."),
)

#: Names of the namespace that are no functions.
CONSTANTS = "e inf nan newaxis pi euler_gamma"
DTYPES = "bool complex128 complex64 float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8"


def _registered_in(words: str) -> str:
    entries = sorted({**FUNCTIONS.index, **UFUNCS.index, **dict.fromkeys(STAGING, "names")}.items())
    names = [name for each in words.split() for name, module in entries if module == each]
    return " ".join(name for name in names if "." not in name and not name.startswith("_"))


def _numpy_groups() -> list[Group]:
    imported = "import onnxsmith.numpy as xp"
    module = "onnxsmith.numpy"
    groups = [
        Group("numpy-array", "Array", "An array with numpy's meaning.", _of(module, "Array"), imported, "xp.")
    ]
    for slug, title, about, modules in _NUMPY:
        words = _registered_in(modules) + (f" {CONSTANTS} {DTYPES}" if slug == "types" else "")
        groups.append(Group(f"numpy-{slug}", title, about, _of(module, words), imported, "xp."))
    for part, title, about in _PARTS:
        own = [name.removeprefix(f"{part}.") for name in FUNCTIONS if name.startswith(f"{part}.")]
        words = " ".join(sorted(own))
        groups.append(
            Group(f"numpy-{part}", title, about, _of(f"{module}.{part}", words), imported, f"xp.{part}.")
        )
    return groups


MAIN = _MAIN
NUMPY = tuple(_numpy_groups())
GROUPS = (*MAIN, *NUMPY)

#: Modules all of whose exported names have to stand on a page.
COVERED = (
    "onnxsmith",
    "onnxsmith.runtime",
    "onnxsmith.grad",
    "onnxsmith.sklearn",
    "onnxsmith.torch",
    "onnxsmith.training",
    "onnxsmith.evaluator",
    "onnxsmith.numpy",
    *(f"onnxsmith.numpy.{part}" for part, _, _ in _PARTS),
)
#: Names that have pages of their own kind: errors, operators, and modules.
ELSEWHERE = frozenset(
    {
        *("errors", "onnx_types", "onnx_opset", "values", "Runtime"),
        # Those of training, which have their page and other modules hand on.
        *("Optimizer", "adam", "adamw", "initial_state", "sgd", "training_step"),
    }
)
