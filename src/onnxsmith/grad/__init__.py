"""Gradients: the gradient of a model is a model of standard operators.

`gradient` is for models, `grad`, `value_and_grad`, `vjp` and `jvp` for functions and scripts, which go through their
model. `stop_gradient`, `custom_gradient`, `checkpoint` and `in_training` stand in functions. `training_step`, losses
and optimisers are those of `onnxsmith.training`. A model is recorded again through the call pipeline (`replaying`), and
the steps are gone over backwards (`reverse`) by a rule for each operator (`rules`).
"""

from onnxsmith.grad.custom import checkpoint as checkpoint
from onnxsmith.grad.custom import custom_gradient as custom_gradient
from onnxsmith.grad.custom import in_training as in_training
from onnxsmith.grad.custom import stop_gradient as stop_gradient
from onnxsmith.grad.functions import grad as grad
from onnxsmith.grad.functions import jvp as jvp
from onnxsmith.grad.functions import value_and_grad as value_and_grad
from onnxsmith.grad.functions import vjp as vjp
from onnxsmith.grad.models import gradient as gradient
from onnxsmith.grad.preview import expand_training as expand_training
from onnxsmith.training import Optimizer as Optimizer
from onnxsmith.training import adam as adam
from onnxsmith.training import initial_state as initial_state
from onnxsmith.training import sgd as sgd
from onnxsmith.training import training_step as training_step

__all__ = [
    "Optimizer",
    "adam",
    "checkpoint",
    "custom_gradient",
    "expand_training",
    "grad",
    "gradient",
    "in_training",
    "initial_state",
    "jvp",
    "sgd",
    "stop_gradient",
    "training_step",
    "value_and_grad",
    "vjp",
]


def __dir__() -> list[str]:
    return [*__all__, "losses"]
