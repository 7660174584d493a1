"""The optimisers of `onnxsmith.training` under the name that they had before there was such a package."""

from onnxsmith.training import Optimizer as Optimizer
from onnxsmith.training import adam as adam
from onnxsmith.training import sgd as sgd

__all__ = ["Optimizer", "adam", "sgd"]


def __dir__() -> list[str]:
    return list(__all__)
