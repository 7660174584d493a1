"""Training: steps of training as models, optimisers, schedules and losses, and `Trainer`, which runs them.

`training_step` makes a step of training of a model, a loss of `losses` and an optimiser of `optimizers`; the gradient
is that of `onnxsmith.grad`. `Trainer.fit` runs it on data.
"""

from onnxsmith.training.artifacts import generate_artifacts as generate_artifacts
from onnxsmith.training.callbacks import Callback as Callback
from onnxsmith.training.callbacks import EarlyStopping as EarlyStopping
from onnxsmith.training.callbacks import Training as Training
from onnxsmith.training.checkpoints import Checkpoint as Checkpoint
from onnxsmith.training.checkpoints import read_checkpoint as read_checkpoint
from onnxsmith.training.history import History as History
from onnxsmith.training.inference import model_in_use as model_in_use
from onnxsmith.training.optimizers import Optimizer as Optimizer
from onnxsmith.training.optimizers import adam as adam
from onnxsmith.training.optimizers import adamw as adamw
from onnxsmith.training.optimizers import sgd as sgd
from onnxsmith.training.packaging import load_state as load_state
from onnxsmith.training.position import Position as Position
from onnxsmith.training.saving import SaveCheckpoint as SaveCheckpoint
from onnxsmith.training.schedules import Schedule as Schedule
from onnxsmith.training.step import initial_state as initial_state
from onnxsmith.training.step import training_step as training_step
from onnxsmith.training.trainer import Trainer as Trainer

__all__ = [
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "History",
    "Optimizer",
    "Position",
    "SaveCheckpoint",
    "Schedule",
    "Trainer",
    "Training",
    "adam",
    "adamw",
    "generate_artifacts",
    "initial_state",
    "load_state",
    "model_in_use",
    "read_checkpoint",
    "sgd",
    "training_step",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "artifacts", "losses", "optimizers", "schedules"])
