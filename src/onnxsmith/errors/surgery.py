"""C61: cutting models, joining them, and naming what is in them."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class UnknownNameError(OnnxsmithError, ValueError):
    """A model has no value, input, output, node or dimension of this name.

    Names of values are those of the outermost graph. A value inside the body of an `If`, `Loop` or `Scan`, or in a
    function, is computed any number of times, and cannot be cut out or given.

    Wrong:

        model = trace(lambda a: op.Relu(a) + 1.0, FLOAT["N"])
        model.extract(outputs=["rulu"])

    Right:

        model = trace(lambda a: op.Relu(a) + 1.0, FLOAT["N"])
        model.extract(outputs=["relu"])
    """

    code = "C610"


class DuplicateNameError(OnnxsmithError, ValueError):
    """Two values, nodes or dimensions of one model would have the same name.

    Wrong:

        model = trace(lambda a, b: a - b, FLOAT["N"], FLOAT["N"])
        model.rename({"a": "b"})

    Right:

        model = trace(lambda a, b: a - b, FLOAT["N"], FLOAT["N"])
        model.rename({"a": "b", "b": "a"})
    """

    code = "C611"


class CutError(OnnxsmithError, ValueError):
    """A part of a model cannot be cut out as asked: an input would be open, or nothing depends on one.

    Wrong:

        model = trace(lambda a, b: op.Relu(a) + b, FLOAT["N"], FLOAT["N"])
        model.extract(inputs=["relu"], outputs=["add"])

    Right:

        model = trace(lambda a, b: op.Relu(a) + b, FLOAT["N"], FLOAT["N"])
        model.extract(inputs=["relu", "b"], outputs=["add"])
    """

    code = "C612"


class JoinError(OnnxsmithError, ValueError):
    """Two models cannot be joined: what one gives is not what the other takes, or it is not clear what goes where.

    Wrong:

        first = trace(lambda a: op.Neg(a), FLOAT["N", 4])
        second = trace(lambda b: op.Relu(b), FLOAT["N", 8])
        first.then(second)

    Right:

        first = trace(lambda a: op.Neg(a), FLOAT["N", 4])
        second = trace(lambda b: op.Relu(b), FLOAT["N", 4])
        first.then(second)
    """

    code = "C613"
