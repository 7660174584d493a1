"""`model_in_use`: the model of a module in training, as it computes outside of training, with trained weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from numpy.typing import ArrayLike

from onnxsmith.errors import boundary
from onnxsmith.errors.user_warnings import tell
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.passes import form_in_use
from onnxsmith.source import caller_span

#: What scikit-learn's estimators were when the model was made: with other weights it is no longer true.
_FITTED_KEY = "onnxsmith.sklearn.fitted"


@boundary
def model_in_use(model: ModelLike, weights: Mapping[str, ArrayLike] | None = None) -> Model:
    """The model as it computes outside of training, with other values for some weights and running statistics.

    Of a module that was exported in training, batch normalisation goes by its running statistics and dropout leaves
    all as it is, also that which `forward` calls with `training=True`. New values of running statistics are no outputs.
    `Trainer.model` is this, with the weights of now.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import model_in_use
    >>> model = trace(lambda x: op.Dropout(x, np.float32(0.5), np.bool_(True), outputs=1), FLOAT["N"])
    >>> model_in_use(model)(np.float32([1, 2, 3]))
    array([1., 2., 3.], dtype=float32)
    """
    given = model_of(model, "model_in_use")
    if weights:
        # A capability that `Model` is given, which checkers see in the stubs.
        given = cast(Model, cast(Any, given).replace_weights(weights))
        if _FITTED_KEY in given.ir.metadata_props:
            given = Model(given.ir.clone())
            del given.ir.metadata_props[_FITTED_KEY]
    state = _statistics(given, trained_parameters.read_state(given.ir.metadata_props))
    used = form_in_use(given, state)
    left = {name for name in state if not used.ir.graph.initializers[name].uses()}
    if left:
        tell(
            f"the model never reads {', '.join(sorted(left))} in use: it computes as in training, as it does not say "
            "what else it is; export the module with this version",
            caller_span(),
        )
        return form_in_use(given)
    return used


def _statistics(model: Model, state: Collection[str]) -> list[str]:
    """The state that is running statistics: numbers that are no counts."""
    held = model.ir.graph.initializers
    tensors = {name: held[name].const_value for name in state if name in held}
    return [name for name, each in tensors.items() if each is not None and each.dtype.is_floating_point()]
