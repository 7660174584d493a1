"""The input of an estimator in a model: the inputs that a signature names, as a matrix, as columns, or as texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onnxsmith.core.tensor import Tensor
from onnxsmith.sklearn.frames.signature import Signature
from onnxsmith.sklearn.values import Columns, Fitted, Given, Part, array_of
from onnxsmith.types.dtypes import DType


def given_of(signature: Signature, tensors: Sequence[Tensor]) -> Given:
    """The inputs of a model as the estimator takes them."""
    if signature.layout == "columns":
        return Columns((name, _part(each)) for name, each in zip(signature.names, tensors, strict=True))
    (only,) = tensors
    names = [name for name, _ in signature.columns if name is not None]
    if not names or signature.layout == "texts":
        return _part(only)
    return Columns((name, _part(only[:, place])) for place, name in enumerate(names))


def _part(tensor: Tensor) -> Part:
    return tensor if tensor.dtype is DType.STRING else array_of(tensor)


def with_outputs(signature: Signature, estimator: Fitted, outputs: Mapping[str, str]) -> Signature:
    """The signature of a model whose outputs are known, with the names of features where there are some."""
    names: Sequence[object] = ()
    if "transform" in outputs and hasattr(estimator, "get_feature_names_out"):
        try:
            names = list(estimator.get_feature_names_out())
        except (
            Exception
        ):  # whatever an estimator says instead: names are for people, and a model does without
            names = ()
    return replace(
        signature, outputs=tuple(outputs.items()), feature_names=tuple(str(each) for each in names)
    )
