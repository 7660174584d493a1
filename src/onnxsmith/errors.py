"""Every mistake a user can make, one class and one code each.

The docstring of a class is its page in the manual: what happened, an example that is wrong, the same made right.
Classes hold facts; `diagnostics` turns them into text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, ParamSpec, Self, TypeVar

from onnxsmith.diagnostics import Label, hide_own_frames, render
from onnxsmith.source import Span, argument_span, caller_span, traceback_span

#: Which part of a call is wrong: ("input", position) or ("attribute", name). Lets whoever knows the source
#: underline that argument instead of the whole call.
Culprit = tuple[Literal["input"], int] | tuple[Literal["attribute"], str]


class OnnxsmithError(Exception):
    """Base of everything that onnxsmith raises on purpose."""

    code: ClassVar[str] = "C000"

    def __init__(
        self,
        message: str,
        *,
        labels: Sequence[Label] = (),
        help: str | None = None,
        culprit: Culprit | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.labels = tuple(labels)
        self.help = help
        self.culprit = culprit
        #: Whether more could be said if the types of inputs and the values of attributes were known: a function that
        #: is written for any type may still be right for the ones it is called with.
        self.needs_values = False
        #: Further mistakes that were found with this one.
        self.others: tuple[OnnxsmithError, ...] = ()

    def __str__(self) -> str:
        text = render(f"{self.message} [{self.code}]", self.labels, self.help)
        return "\n\n".join([text, *(str(each) for each in self.others)])

    @property
    def span(self) -> Span | None:
        """Where the mistake stands, when that is known."""
        return self.labels[0].span if self.labels else None

    def locate(self, span: Span | None, text: str = "") -> Self:
        """Say where the mistake stands, unless that is known already."""
        if span is not None and not self.labels:
            self.labels = (Label(span, text),)
        return self

    def locate_at_caller(self) -> Self:
        """Say that the mistake stands at the expression that the user's code is evaluating now.

        Where the wrong argument is known, it alone is underlined.
        """
        return self if self.labels else self._locate_culprit(caller_span())

    def locate_in_traceback(self) -> Self:
        """Say that the mistake stands at the innermost expression of the user's that the error came through."""
        return self if self.labels else self._locate_culprit(traceback_span(self.__traceback__) or caller_span())

    def _locate_culprit(self, span: Span | None) -> Self:
        if span is not None and self.culprit is not None:
            span = argument_span(span, self.culprit[1]) or span
        return self.locate(span)

    def also(self, span: Span | None, text: str) -> Self:
        """Add a secondary place: the definition that made this a mistake."""
        if span is not None:
            self.labels = (*self.labels, Label(span, text))
        return self


P = ParamSpec("P")
R = TypeVar("R")


def boundary(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a public entry point: an error of ours that leaves it says where the user stands, and hides our frames.

    Not for calls that run per operator: those hold the same `except` block inline and save a frame.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except OnnxsmithError as error:
            error.locate_in_traceback()
            hide_own_frames(error)
            raise

    return guarded


class SourceNotFoundError(OnnxsmithError, OSError):
    """The source text of a function cannot be found, and a script is compiled from its source.

    Wrong: `@script` on a function typed into a plain `python` prompt. Right: put it in a file or a notebook.
    """

    code = "C101"


class UnsupportedSyntaxError(OnnxsmithError, NotImplementedError):
    """A statement or expression has no counterpart in ONNX.

    Wrong: `try:` in a script. Right: what the message says to write instead.
    """

    code = "C102"


class UndefinedNameError(OnnxsmithError, NameError):
    """A name is defined nowhere.

    Wrong: `op.MatMul(x, wieght)`. Right: `op.MatMul(x, weight)`.
    """

    code = "C201"


class UnassignedVariableError(OnnxsmithError, UnboundLocalError):
    """A variable has no value on some path to where it is used.

    Wrong: assigning `y` in one branch only and using it afterwards. Right: give it a value before the `if`.
    """

    code = "C202"


class UnknownOperatorError(OnnxsmithError, AttributeError):
    """No opset of the domain has an operator of that name.

    Wrong: `op.Reul(x)`. Right: `op.Relu(x)`.
    """

    code = "C301"


class OperatorNotInOpsetError(OnnxsmithError, AttributeError):
    """The operator exists, but not in the opset version it was asked of: it came later, or was removed.

    Wrong: `opset13.Gelu(x)`. Right: `opset20.Gelu(x)`, the version the message names.
    """

    code = "C302"


class MissingInputError(OnnxsmithError, TypeError):
    """An operator was called without an input that it needs.

    Wrong: `op.MatMul(x)`. Right: `op.MatMul(x, w)`.
    """

    code = "C303"


class TooManyInputsError(OnnxsmithError, TypeError):
    """An operator was given more inputs than it has. Attributes are passed by keyword.

    Wrong: `op.Softmax(x, 1)`. Right: `op.Softmax(x, axis=1)`.
    """

    code = "C304"


class UnknownAttributeError(OnnxsmithError, TypeError):
    """A keyword is neither an attribute nor an input of the operator.

    Wrong: `op.Softmax(x, axes=1)`. Right: `op.Softmax(x, axis=1)`.
    """

    code = "C305"


class MissingAttributeError(OnnxsmithError, TypeError):
    """An attribute without a default was left out.

    Wrong: `op.Concat(a, b)`. Right: `op.Concat(a, b, axis=0)`.
    """

    code = "C306"


class AttributeTypeError(OnnxsmithError, TypeError):
    """The value of an attribute has the wrong type.

    Wrong: `op.Softmax(x, axis="last")`. Right: `op.Softmax(x, axis=-1)`.
    """

    code = "C307"


class AttributeValueError(OnnxsmithError, ValueError):
    """The value of an attribute has the right type but is none of those the operator knows.

    Wrong: `op.Pad(x, pads, mode="mirror")`. Right: `op.Pad(x, pads, mode="reflect")`.
    """

    code = "C308"


class InputTypeError(OnnxsmithError, TypeError):
    """What was passed as an input is no tensor, array, sequence or literal.

    Wrong: `op.Relu(object())`. Right: `op.Relu(array)`.
    """

    code = "C309"


class OutputCountError(OnnxsmithError, ValueError):
    """More or fewer outputs were asked for than the operator has.

    Wrong: `op.TopK(x, k, outputs=3)`. Right: `values, indices = op.TopK(x, k)`.
    """

    code = "C310"


class MixedDTypesError(OnnxsmithError, TypeError):
    """Two inputs that must have one element type have two. ONNX does not promote.

    Wrong: `int_tensor + float_tensor`. Right: `int_tensor.astype(FLOAT) + float_tensor`.
    """

    code = "C401"


class ShapeError(OnnxsmithError, ValueError):
    """The shapes of the inputs cannot work together.

    Wrong: a (2, 3) matrix times a (4, 5) matrix. Right: inner dimensions that agree.
    """

    code = "C402"


class DTypeNotAllowedError(OnnxsmithError, TypeError):
    """The operator is not defined for this element type.

    Wrong: `op.Erf` of a bool tensor. Right: `op.Erf(mask.astype(FLOAT))`.
    """

    code = "C403"


class LiteralError(OnnxsmithError, TypeError, ValueError):
    """A Python literal does not fit the element type of the tensor it meets.

    Wrong: `int8_tensor + 300`, `int_tensor * 2.5`. Right: `int8_tensor.astype(INT32) + 300`.
    """

    code = "C404"


class AnnotationError(OnnxsmithError, TypeError):
    """A tensor type cannot be read.

    Wrong: `FLOAT[2.5]`. Right: `FLOAT[2]`, `FLOAT["N"]`, `FLOAT[...]`.
    """

    code = "C405"


class TensorIndexError(OnnxsmithError, IndexError):
    """An index is out of range, of the wrong kind, or there are too many.

    Wrong: `x[0, 0, 0]` on a matrix. Right: `x[0, 0]`.
    """

    code = "C406"


class InferenceError(OnnxsmithError, ValueError):
    """ONNX's own type inference refuses the call; the message says what it said.

    Wrong: inputs that no runtime accepts for this operator.
    """

    code = "C407"


class UnknownRankError(OnnxsmithError, ValueError):
    """What was asked depends on the number of dimensions, and that is not known when the graph is made.

    Wrong: `x.ndim` on `FLOAT[...]`. Right: annotate the rank, `FLOAT["N", "M"]`.
    """

    code = "C408"


class TracedValueError(OnnxsmithError, TypeError):
    """Python asked for the value of a tensor that gets one only when the model runs.

    Wrong: `if x > 0:` in a traced function. Right: `op.Where(x > 0, a, b)`.
    """

    code = "C501"


class LeakedValueError(OnnxsmithError, ValueError):
    """A tensor of one graph was used in another, or after its graph was finished.

    Wrong: storing a traced tensor in a global and using it in the next trace.
    """

    code = "C502"


class ConditionError(OnnxsmithError, TypeError):
    """The condition of an `if` or `while` is not one truth value.

    Wrong: `if x > 0:` on a vector. Right: `if (x > 0).all():`.
    """

    code = "C503"


class BranchTypeError(OnnxsmithError, TypeError):
    """A variable or result has one type when the condition is true and another when it is false.

    Wrong: `y = x` in one branch and `y = n` with an integer `n` in the other. Right: convert one of them.
    """

    code = "C504"


class LoopTypeError(OnnxsmithError, TypeError):
    """A variable changes its element type or kind from one iteration of a loop to the next.

    Wrong: `s = op.Cast(s, to=DOUBLE)` in a loop that starts with a float32 `s`.
    """

    code = "C505"


class DynamicPythonValueError(OnnxsmithError, TypeError):
    """A Python object hangs on a condition that only the model knows.

    Wrong: `name = "a" if x.sum() > 0 else "b"`. Right: choose between tensors.
    """

    code = "C506"


class MutationError(OnnxsmithError, TypeError):
    """A list, dict or object from outside is changed where only the model knows whether and how often.

    Wrong: `items.append(y)` under `if x.sum() > 0:`. Right: assign a variable instead.
    """

    code = "C507"


class NestingError(OnnxsmithError, RecursionError):
    """Control flow is nested more deeply than a model file can hold.

    Wrong: an `elif` chain of fifty tensor conditions. Right: a lookup, or op.Where.
    """

    code = "C508"


class UnpackError(OnnxsmithError, ValueError):
    """The number of variables and of values differ.

    Wrong: `a, b, c = op.TopK(x, k)`. Right: `a, b = op.TopK(x, k)`.
    """

    code = "C509"


class TensorAssignmentError(OnnxsmithError, TypeError):
    """An element of a tensor was assigned. Tensors do not change.

    Wrong: `y[0] = 1.0`. Right: `y = y.at[0].set(1.0)`.
    """

    code = "C510"


class OpsetConflictError(OnnxsmithError, ValueError):
    """One graph uses two versions of a domain that define an operator it uses differently.

    Wrong: `opset9.Upsample` beside `opset21.Relu`. Right: one opset version per graph or function.
    """

    code = "C601"


class TraceError(OnnxsmithError, TypeError):
    """A function cannot be traced: its arguments or what it returns are not tensors.

    Wrong: a traced function that returns None. Right: return the tensors that are the model's outputs.
    """

    code = "C602"


class FunctionError(OnnxsmithError, ValueError):
    """An ONNX function cannot be made or called as asked.

    Wrong: two different functions of one domain, name and overload. Right: give one of them another name.
    """

    code = "C603"


class ReturnTypeError(OnnxsmithError, TypeError):
    """A function returns something else than its annotation says.

    Wrong: `-> INT64["N"]` on a function that returns floats.
    """

    code = "C604"


class MissingReturnError(OnnxsmithError, TypeError):
    """A path through the function ends without a `return`.

    Wrong: `if c: return x` and nothing after it. Right: return a tensor on every path.
    """

    code = "C605"


class RecursiveFunctionError(OnnxsmithError, RecursionError):
    """A function calls itself. ONNX functions cannot.

    Wrong: a script that calls itself. Right: a loop.
    """

    code = "C606"


class CallError(OnnxsmithError, TypeError):
    """A script was called with arguments that do not fit its parameters.

    Wrong: `gelu(x, y)` on a function of one parameter.
    """

    code = "C607"


class AttributeParameterError(OnnxsmithError, TypeError):
    """An attribute was given a tensor, or an attribute parameter was used where a tensor is needed, or the reverse.

    Wrong: `def f(x, axis): return op.Softmax(x, axis=axis)`. Right: `def f(x, axis: int): …`.
    """

    code = "C608"


class OperatorFailedError(OnnxsmithError, RuntimeError):
    """The runtime refused to run an operator or model on these inputs.

    Wrong: `op.Gather(x, 99)` on ten elements. The message carries what the runtime said.
    """

    code = "R101"


class NotRunnableError(OnnxsmithError, NotImplementedError):
    """Nothing installed can run this operator for these element types.

    Wrong: an operator of a custom domain called eagerly without a runtime that knows it.
    """

    code = "R102"


class MissingDependencyError(OnnxsmithError, ImportError):
    """An optional package is needed. The message says what to install."""

    code = "R103"


class ModelInputError(OnnxsmithError, TypeError):
    """A model was called with inputs that are not the ones it has.

    Wrong: `model(x)` on a model with two inputs. Right: `model(x, w)`.
    """

    code = "R104"


class UnreadableModelError(OnnxsmithError, ValueError):
    """A file is not an ONNX model, or only part of one.

    Wrong: a download that was cut off.
    """

    code = "F101"


class ExternalDataError(OnnxsmithError, ValueError):
    """A model's external data is missing, too short, or points outside the model's folder.

    Wrong: a model file that refers to `../../etc/passwd`.
    """

    code = "F102"


class ModelWriteError(OnnxsmithError, OSError):
    """A model could not be written. What was at that place before is still there, whole.

    Wrong: a folder that does not exist, a full disk, no permission.
    """

    code = "F103"


class InvalidModelError(OnnxsmithError, ValueError):
    """A model does not keep ONNX's rules; the message names the rule and the node.

    Wrong: a node that uses a value nothing defines.
    """

    code = "F104"
