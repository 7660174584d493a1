"""C3: an operator that is not there, or is called in a way its schema does not allow."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class UnknownOperatorError(OnnxsmithError, AttributeError):
    """No opset of the domain has an operator of that name.

    ONNX's operators are spelled as ONNX spells them, `op.MatMul`. Operators of other domains are in modules of their
    own, such as `onnxsmith.opset_ai_onnx_ml5`; `onnxsmith.Opset("my.domain", 1)` takes any name.

    Wrong:

        op.Reul(x)

    Right:

        op.Relu(x)
    """

    code = "C301"


class OperatorNotInOpsetError(OnnxsmithError, AttributeError):
    """The operator exists, but not in the opset version it was asked of: it came later, or was removed.

    Wrong:

        from onnxsmith import opset13

        opset13.Gelu(x)

    Right:

        from onnxsmith import opset20

        opset20.Gelu(x)
    """

    code = "C302"


class MissingInputError(OnnxsmithError, TypeError):
    """An operator was called without an input that it needs.

    Wrong:

        op.MatMul(x)

    Right:

        op.MatMul(x, x.T)
    """

    code = "C303"


class TooManyInputsError(OnnxsmithError, TypeError):
    """An operator was given more inputs than it has, or one input twice.

    What stands in the parentheses by position are inputs. Attributes are passed by keyword.

    Wrong:

        op.Softmax(x, 1)

    Right:

        op.Softmax(x, axis=1)
    """

    code = "C304"


class UnknownAttributeError(OnnxsmithError, TypeError):
    """A keyword is neither an attribute nor an input of the operator in this opset version.

    Attributes come and go between versions: what is `axes=` in one may be an input in the next.

    Wrong:

        op.Softmax(x, axes=1)

    Right:

        op.Softmax(x, axis=1)
    """

    code = "C305"


class MissingAttributeError(OnnxsmithError, TypeError):
    """An attribute without a default was left out.

    Wrong:

        op.Concat(x, x)

    Right:

        op.Concat(x, x, axis=0)
    """

    code = "C306"


class AttributeTypeError(OnnxsmithError, TypeError):
    """The value of an attribute has the wrong type.

    An attribute is a Python value that is fixed when the model is made: a number, a string, a list of these, an array,
    or a graph. A tensor cannot be one.

    Wrong:

        op.Softmax(x, axis="last")

    Right:

        op.Softmax(x, axis=-1)
    """

    code = "C307"


class AttributeValueError(OnnxsmithError, ValueError):
    """The value of an attribute or option has the right type, but is none of those there are.

    Wrong:

        op.Pad(x, [0, 1, 0, 1], mode="mirror")

    Right:

        op.Pad(x, [0, 1, 0, 1], mode="reflect")
    """

    code = "C308"


class InputTypeError(OnnxsmithError, TypeError):
    """An input is no tensor, array, sequence or literal.

    Wrong:

        op.Relu({"x": x})

    Right:

        op.Relu(x)
    """

    code = "C309"


class OutputCountError(OnnxsmithError, ValueError):
    """More or fewer outputs were asked for than the operator has.

    Wrong:

        values, indices, rest = op.TopK(x, [2], outputs=3)

    Right:

        values, indices = op.TopK(x, [2])
    """

    code = "C310"
