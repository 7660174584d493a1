"""C1 and C2: source that cannot be read, syntax that ONNX has nothing for, names without a value."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class SourceNotFoundError(OnnxsmithError, OSError):
    """The source text of a function cannot be found, and a script is compiled from its source.

    Files, notebook cells, IPython and strings given to `exec` all have a source text. A function typed into the
    plain `python` prompt (before Python 3.13) has none, nor has one whose file is gone.

    Wrong:

        namespace = {}
        code = compile("def double(x): return x + x", "<made up>", "exec")
        exec(code, namespace)
        script(namespace["double"])

    Right:

        @script
        def double(x):
            return x + x
    """

    code = "C101"


class UnsupportedSyntaxError(OnnxsmithError, NotImplementedError):
    """A statement or expression has no counterpart in ONNX.

    The message says what to write instead. Code that does not touch tensors can stay as it is in a function outside
    the script: a script may call it.

    Wrong:

        @script
        def safe_divide(a: FLOAT["N"], b: FLOAT["N"]):
            try:
                return a / b
            except ZeroDivisionError:
                return a

    Right:

        @script
        def safe_divide(a: FLOAT["N"], b: FLOAT["N"]):
            return op.Where(b == 0.0, a, a / b)
    """

    code = "C102"
    is_refusal = True


class UndefinedNameError(OnnxsmithError, NameError):
    """A name is defined nowhere: not in the script, not around it, and not further down in its file.

    Wrong:

        @script
        def scaled(x: FLOAT["N"], weight: FLOAT["N"]):
            return x * wieght

    Right:

        @script
        def scaled(x: FLOAT["N"], weight: FLOAT["N"]):
            return x * weight
    """

    code = "C201"


class UnassignedVariableError(OnnxsmithError, UnboundLocalError):
    """A variable has no value on some path to where it is used.

    A condition on a tensor is decided when the model runs, so both branches are part of the model, and each must
    give the variable a value. The same holds for a loop that may run zero times.

    Wrong:

        @script
        def clipped(x: FLOAT["N"]):
            if x.sum() > 10.0:
                y = x / 10.0
            return y

    Right:

        @script
        def clipped(x: FLOAT["N"]):
            y = x
            if x.sum() > 10.0:
                y = x / 10.0
            return y
    """

    code = "C202"
