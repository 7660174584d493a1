"""C4: element types, shapes, literals, annotations and indices that do not go together."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class MixedDTypesError(OnnxsmithError, TypeError):
    """Two inputs that must have one element type have two. ONNX does not promote, so onnxsmith does not either.

    A Python number takes the element type of the tensor it meets; a tensor is only ever converted where you say so.

    Wrong:

        counts = np.arange(3)
        op.Add(x, counts)

    Right:

        counts = np.arange(3)
        op.Add(x, counts.astype(np.float32))
    """

    code = "C401"


class ShapeError(OnnxsmithError, ValueError):
    """The shapes of the inputs cannot work together.

    Shapes broadcast as numpy's do: from the right, two dimensions go together when they are equal or one of them is 1.

    Wrong:

        trace(lambda a, b: a @ b, FLOAT[2, 3], FLOAT[4, 5])

    Right:

        trace(lambda a, b: a @ b, FLOAT[2, 3], FLOAT[3, 5])
    """

    code = "C402"


class DTypeNotAllowedError(OnnxsmithError, TypeError):
    """The operator, or the parameter of a script, is not defined for this element type.

    The help lists the types there are. Older opsets allow fewer.

    Wrong:

        op.Erf(x > 0.5)

    Right:

        op.Erf((x > 0.5).astype(np.float32))
    """

    code = "C403"


class LiteralError(OnnxsmithError, TypeError, ValueError):
    """A Python literal does not fit the element type of the tensor it meets.

    A literal is rounded as numpy rounds it, `0.1` on float32; where it would lose more than that, it is refused.

    Wrong:

        small = np.arange(3, dtype=np.int8)
        op.Add(small, 300)

    Right:

        small = np.arange(3, dtype=np.int8)
        op.Add(small.astype(np.int32), 300)
    """

    code = "C404"


class AnnotationError(OnnxsmithError, TypeError):
    """A tensor type cannot be read.

    `FLOAT` is a scalar, `FLOAT[2, 10]` and `FLOAT["N", 4]` have a shape, `FLOAT[...]` has any. Around them there may
    be `Sequence[…]`, `Optional[…]` and `Annotated[…]`. An attribute is annotated `int`, `float`, `str`, `bool`, or a
    list of these.

    Wrong:

        @script
        def f(x: FLOAT[2.5]):
            return x

    Right:

        @script
        def f(x: FLOAT["N"]):
            return x
    """

    code = "C405"


class TensorIndexError(OnnxsmithError, IndexError):
    """An index is out of range, of the wrong kind, or there are too many.

    Wrong:

        trace(lambda a: a[0, 0, 0], FLOAT[2, 3])

    Right:

        trace(lambda a: a[0, 0], FLOAT[2, 3])
    """

    code = "C406"


class InferenceError(OnnxsmithError, ValueError):
    """The result of a call has no type, because its parts disagree.

    The branches of an `op.If` that give different types, or a body of `op.Loop` that gives back another type than it
    got, are the usual cause. For an operator that onnxsmith has no rule for, the message carries what ONNX's own
    inference said.

    Wrong:

        def absolute(a):
            return op.If(a.sum() > 0.0, then_branch=lambda: a, else_branch=lambda: op.Shape(a))

        trace(absolute, FLOAT["N"])

    Right:

        def absolute(a):
            return op.If(a.sum() > 0.0, then_branch=lambda: a, else_branch=lambda: -a)

        trace(absolute, FLOAT["N"])
    """

    code = "C407"


class UnknownRankError(OnnxsmithError, ValueError):
    """An operation depends on the number of dimensions, and that is not known when the graph is made.

    Wrong:

        trace(lambda a: a.reshape(a.ndim, -1), FLOAT[...])

    Right:

        trace(lambda a: a.reshape(a.ndim, -1), FLOAT["N", "M"])
    """

    code = "C408"
    is_refusal = True


class UnknownMethodError(OnnxsmithError, AttributeError):
    """A tensor has no attribute or method of that name.

    Tensors have numpy's most used methods; everything else is an operator.

    Wrong:

        trace(lambda a: a.relu(), FLOAT["N"])

    Right:

        trace(lambda a: op.Relu(a), FLOAT["N"])
    """

    code = "C409"


class AxisError(OnnxsmithError, ValueError, IndexError):
    """An array has no such axis, or one is named twice.

    Axes are counted from 0, and from -1 at the end. The error is a ValueError and an IndexError, as numpy's is.

    Wrong:

        import onnxsmith.numpy as xp
        xp.sum(xp.asarray(x), axis=2)

    Right:

        import onnxsmith.numpy as xp
        xp.sum(xp.asarray(x), axis=1)
    """

    code = "C410"


class LinearAlgebraError(OnnxsmithError, ValueError):
    """A function of linear algebra has no result for these matrices: one is singular, or not positive definite.

    Elements that are known are looked at; a recorded model gives inf or NaN in such places.

    Wrong:

        import onnxsmith.numpy as xp
        xp.linalg.inv(xp.zeros((2, 2)))

    Right:

        import onnxsmith.numpy as xp
        xp.linalg.pinv(xp.zeros((2, 2)))
    """

    code = "C411"


class OutOfBoundsError(OnnxsmithError, OverflowError):
    """A Python integer meets an array whose element type does not hold it, as numpy has it.

    Wrong:

        import onnxsmith.numpy as xp
        xp.asarray([1, 2], dtype=xp.int8) + 300

    Right:

        import onnxsmith.numpy as xp
        xp.asarray([1, 2], dtype=xp.int16) + 300
    """

    code = "C412"
