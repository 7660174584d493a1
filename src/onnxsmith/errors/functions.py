"""C6: what a script, function or model takes and returns, and how they are put together."""

from __future__ import annotations

from onnxsmith.diagnostics import printable
from onnxsmith.errors.base import OnnxsmithError


class OpsetConflictError(OnnxsmithError, ValueError):
    """One graph uses two versions of a domain that define an operator it uses differently.

    A graph imports one version of each domain. Two versions mix as long as every operator used is the same in both.

    Wrong:

        from onnxsmith import opset11

        trace(lambda a: op.Relu(opset11.Squeeze(a, axes=[0])), FLOAT[1, 3])

    Right:

        trace(lambda a: op.Relu(op.Squeeze(a, [0])), FLOAT[1, 3])
    """

    code = "C601"
    #: The version of the standard domain that the call at fault names; None where Python's syntax chose it.
    named_version: int | None = None


class ConvertedModelWarning(UserWarning):
    """A model that a graph calls, or that is joined with another one, is of another opset, and was converted.

    The text says which model, and from which opset to which.

    Nothing is lost by it. Convert the model beforehand, with `model.convert_version(...)`, to see what becomes of it.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class TraceError(OnnxsmithError, TypeError):
    """A function cannot be traced: its arguments or what it returns are not tensors.

    Wrong:

        trace(lambda a: print(a), FLOAT["N"])

    Right:

        trace(lambda a: a + 1.0, FLOAT["N"])
    """

    code = "C602"


class FunctionError(OnnxsmithError, ValueError):
    """An ONNX function, or the body of a Loop or Scan, cannot be made or called as asked.

    In one model a function is known by its domain, name and overload; two different ones need different keys.

    Wrong:

        twice = script(lambda x: x * 2.0, domain="mine", name="scaled")
        thrice = script(lambda x: x * 3.0, domain="mine", name="scaled")

        @script
        def both(x: FLOAT["N"]):
            return twice(x) + thrice(x)

    Right:

        twice = script(lambda x: x * 2.0, domain="mine", name="scaled")
        thrice = script(lambda x: x * 3.0, domain="mine", name="scaled_more")

        @script
        def both(x: FLOAT["N"]):
            return twice(x) + thrice(x)
    """

    code = "C603"


class ReturnTypeError(OnnxsmithError, TypeError):
    """A function returns something else than its annotation says.

    Wrong:

        @script
        def f(x: FLOAT["N"]) -> INT64["N"]:
            return x + 1.0

    Right:

        @script
        def f(x: FLOAT["N"]) -> FLOAT["N"]:
            return x + 1.0
    """

    code = "C604"


class MissingReturnError(OnnxsmithError, TypeError):
    """A path through the function ends without a `return`, or what is returned is no tensor.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            if x.sum() > 0.0:
                return x

    Right:

        @script
        def f(x: FLOAT["N"]):
            if x.sum() > 0.0:
                return x
            return -x
    """

    code = "C605"


class RecursiveFunctionError(OnnxsmithError, RecursionError):
    """A function calls itself. ONNX functions cannot.

    Wrong:

        @script
        def power(x: FLOAT, n: int):
            return x * power(x, n - 1)

        power.to_model(attributes={"n": 3})

    Right:

        @script
        def power(x: FLOAT, n: int):
            y = 1.0
            for i in range(n):
                y = y * x
            return y
    """

    code = "C606"


class CallError(OnnxsmithError, TypeError):
    """A script, or a function of this package, was called with arguments that do not fit its parameters.

    Wrong:

        @script
        def double(x: FLOAT["N"]):
            return x + x

        double(x[0], x[1])

    Right:

        @script
        def double(x: FLOAT["N"]):
            return x + x

        double(x[0])
    """

    code = "C607"


class AttributeParameterError(OnnxsmithError, TypeError):
    """A tensor was given where a script has an attribute, or an attribute was used as what it is not.

    A parameter annotated `int`, `float`, `str`, `bool` or a list of them is an attribute: it has its value when the
    model is made. All other parameters are tensors, which have theirs when it runs.

    Wrong:

        @script
        def soft(x: FLOAT["N", "M"], axis: int):
            return op.Softmax(x, axis=axis)

        soft(x, axis=np.ones(2))

    Right:

        @script
        def soft(x: FLOAT["N", "M"], axis: int):
            return op.Softmax(x, axis=axis)

        soft(x, axis=1)
    """

    code = "C608"
    is_refusal = True


class RuleError(OnnxsmithError, ValueError):
    """A rewrite rule cannot be what it is meant to be.

    A rule is two functions with the same parameters: a pattern of operators, and what takes its place, with as many
    results of the same types. A pattern that is no operator would match everything, and one with control flow has no
    fixed shape to look for.

    Wrong:

        onnxsmith.Rule(lambda x: op.Relu(op.Relu(x)), lambda y: op.Relu(y))

    Right:

        onnxsmith.Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x))
    """

    code = "C609"
