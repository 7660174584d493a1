"""C64: checkpoints of training."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class CheckpointError(OnnxsmithError, ValueError):
    """A checkpoint cannot be written or read, is damaged, or belongs to another fit.

    A fit goes on from a checkpoint with the model, loss, optimiser and data that it began with. What was there before
    the error is still there: the trainer's weights, and the checkpoints.

    Wrong:

        open("step-00000010.safetensors", "wb").close()
        onnxsmith.training.read_checkpoint("step-00000010.safetensors")

    Right:

        from onnxsmith.training import SaveCheckpoint, Trainer, read_checkpoint, sgd

        weight = np.zeros((3, 1), np.float32)
        trainer = Trainer(trace(lambda x: x @ weight, FLOAT["N", 3]), "squared", sgd(0.1))
        trainer.fit(x, x[:, :1], epochs=2, callbacks=[SaveCheckpoint("run")], progress=False)
        read_checkpoint("run")
    """

    code = "C640"
