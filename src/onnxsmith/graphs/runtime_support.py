"""Warnings of models that the installed ONNX Runtime, where nothing of ours corrects it, gets wrong or cannot load.

Models without an operator that is concerned pay for no more than a look at the names of operators. The package of the
runtime knows what becomes of the others, about 10 microseconds a node.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from onnxsmith.errors.user_warnings import tell_of_runtime
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.model_runtime import model_runtime
from onnxsmith.graphs.opsets import OPSET_REMEDY, newer_opset
from onnxsmith.schema.registry import default_opset_version, is_runtime_installed

#: Every ONNX Runtime that the package runs with loads this opset: for older models none has to be asked.
_LOADED_BY_ALL = 21
#: Operators with a fact about the runtime that inputs as users have them show. A test compares this with the facts.
CONCERNED = frozenset(
    [
        *(
            ("", name)
            for name in (
                "AveragePool",
                "BatchNormalization",
                "Bernoulli",
                "Cast",
                "CastLike",
                "DFT",
                "Dropout",
                "Gather",
            )
        ),
        *(("", name) for name in ("GlobalAveragePool", "GlobalMaxPool", "Loop", "LpPool", "MatMul")),
        *(
            ("", name)
            for name in ("MaxPool", "MaxUnpool", "QuantizeLinear", "Resize", "STFT", "StringNormalizer")
        ),
        ("ai.onnx.ml", "Normalizer"),
        ("ai.onnx.ml", "TreeEnsembleClassifier"),
    ]
)
#: Operators that are concerned beside another one only.
BESIDE = {
    ("", "Gather"): ("", "Range"),
    ("", "MatMul"): ("", "Transpose"),
    ("", "QuantizeLinear"): ("", "DequantizeLinear"),
}


def warn_of_runtime(opset: int, operators: Set[tuple[str, str]], given: Callable[[], SessionModel]) -> None:
    """Warn of a model that the installed runtime gets wrong or cannot load; one warning, with the nodes and the remedy.

    Without a runtime nothing is said. It is loaded for an opset that some versions do not load, and only then.
    `given` makes the model as a runtime is given it, where an operator of it is concerned.
    """
    if not is_runtime_installed():
        return
    found: list[str] = []
    if opset > _LOADED_BY_ALL and opset > default_opset_version():
        newer = newer_opset([("", opset)])
        if newer is not None:  # nothing can tell what it would be in an older opset
            tell_of_runtime([newer], OPSET_REMEDY)
            return
        found.append(f"it is of opset {opset}, and the runtime loads opsets up to {default_opset_version()}")
    if any(each in operators and BESIDE.get(each, each) in operators for each in CONCERNED):
        found += model_runtime().faults(given())
    if found:
        tell_of_runtime(found)
