"""C62: gradients of models and functions."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class NotDifferentiableError(OnnxsmithError, ValueError):
    """Something has no gradient: an operator on the way from the loss, or values that are whole numbers.

    The message names the node and the path to it. Where the gradient is meant to end there, say so with
    `stop_gradient`.

    Wrong:

        onnxsmith.grad.grad(lambda x: op.TfIdfVectorizer(x, mode="TF", max_gram_length=1, max_skip_count=0,
            min_gram_length=1, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1]).sum())(np.ones(3, np.int64))

    Right:

        onnxsmith.grad.grad(lambda x: (x * x).sum())(np.ones(3, np.float32))
    """

    code = "C620"


class UnreachedError(OnnxsmithError, ValueError):
    """The loss does not depend on what its gradient is asked for.

    Wrong:

        model = trace(lambda x, y: (x * x).sum(), FLOAT["N"], FLOAT["N"])
        model.gradient(wrt=["y"])

    Right:

        model = trace(lambda x, y: (x * x).sum(), FLOAT["N"], FLOAT["N"])
        model.gradient(wrt=["x"])
    """

    code = "C621"


class LossError(OnnxsmithError, ValueError):
    """A gradient is that of one number, and this is not one.

    `vjp` takes a weight for each element of a result that has many.

    Wrong:

        model = trace(lambda x: x * x, FLOAT["N"])
        model.gradient(wrt=["x"])

    Right:

        model = trace(lambda x: (x * x).sum(), FLOAT["N"])
        model.gradient(wrt=["x"])
    """

    code = "C622"
