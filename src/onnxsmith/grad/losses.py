"""The losses of `onnxsmith.training` under the name that they had before there was such a package."""

from onnxsmith.training import losses as _losses

absolute = _losses.absolute
binary_cross_entropy = _losses.binary_cross_entropy
cross_entropy = _losses.cross_entropy
elastic_penalty = _losses.elastic_penalty
hinge = _losses.hinge
huber = _losses.huber
negative_log_likelihood = _losses.negative_log_likelihood
squared = _losses.squared

__all__ = [
    "absolute",
    "binary_cross_entropy",
    "cross_entropy",
    "elastic_penalty",
    "hinge",
    "huber",
    "negative_log_likelihood",
    "squared",
]


def __dir__() -> list[str]:
    return list(__all__)
