"""C63: data, losses and metrics of `Trainer.fit`."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class TrainingDataError(OnnxsmithError, ValueError):
    """Data cannot be trained on: labels are no classes of the model, columns differ in length, or there is nothing.

    The message names the batch and the row. The weights are what they were before the batch.

    Wrong:

        weight = np.zeros((2, 3), np.float32)
        model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
        trainer = onnxsmith.training.Trainer(model)
        trainer.fit(np.ones((4, 2), np.float32), np.array([0, 1, 2, 3]))

    Right:

        weight = np.zeros((2, 3), np.float32)
        model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
        trainer = onnxsmith.training.Trainer(model)
        trainer.fit(np.ones((4, 2), np.float32), np.array([0, 1, 2, 0]))
    """

    code = "C630"


class NonFiniteLossError(OnnxsmithError, ArithmeticError):
    """The loss of a step is NaN or infinite. The message names the step, the batch and the node that made it.

    The weights are what they were before. A lower rate, `clip_norm=1.0`, or data without NaN helps.

    Wrong:

        weight = np.ones((1, 1), np.float32)
        model = trace(lambda x: op.MatMul(op.Log(x), weight), FLOAT["N", 1])
        trainer = onnxsmith.training.Trainer(model, loss="squared")
        trainer.fit(np.zeros((4, 1), np.float32), np.zeros((4, 1), np.float32))

    Right:

        weight = np.ones((1, 1), np.float32)
        model = trace(lambda x: op.MatMul(op.Log(x + 1.0), weight), FLOAT["N", 1])
        trainer = onnxsmith.training.Trainer(model, loss="squared")
        trainer.fit(np.zeros((4, 1), np.float32), np.zeros((4, 1), np.float32))
    """

    code = "C631"


class MetricError(OnnxsmithError, ValueError):
    """A metric fails, or gives something else than one number.

    Wrong:

        weight = np.zeros((2, 1), np.float32)
        model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
        trainer = onnxsmith.training.Trainer(model, loss="squared", metrics=[lambda prediction, target: prediction])
        trainer.evaluate(np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))

    Right:

        def error(prediction, target):
            return abs(prediction - target).max()

        weight = np.zeros((2, 1), np.float32)
        model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
        trainer = onnxsmith.training.Trainer(model, loss="squared", metrics=[error])
        trainer.evaluate(np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))
    """

    code = "C632"
