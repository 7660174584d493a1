"""`model.with_metadata(...)`: other metadata for a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, boundary
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.passes.surgery.holding import finished, read
from onnxsmith.passes.surgery.naming import by_name


@boundary
def with_metadata(
    model: ModelLike, metadata: Mapping[str, str | None] | None = None, /, **named: str | None
) -> Model:
    """The model with other metadata: a text for a key that it gets, None for one that it loses; the rest stays.

    Keys that are no identifiers are given as a mapping.

    >>> from onnxsmith import FLOAT, trace
    >>> model = trace(lambda a: a + 1.0, FLOAT["N"])
    >>> dict(model.with_metadata({"my.key": "1"}, author="somebody").metadata)
    {'my.key': '1', 'author': 'somebody'}
    """
    model = model_of(model, "with_metadata")
    held = read(model).copy()
    for key, text in by_name(metadata, named, "with_metadata").items():
        told = cast(object, text)  # users may give anything
        if told is None:
            held.ir.metadata_props.pop(key, None)
        elif isinstance(told, str):
            held.ir.metadata_props[key] = told
        else:
            raise AttributeTypeError(
                f"metadata is text, and '{key}' is {described_type(type(told))}",
                help=f"with_metadata({{{key!r}: {str(told)!r}}})",
                culprit=key,
            )
    return finished(held)
