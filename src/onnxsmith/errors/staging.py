"""C5: programs whose meaning depends on values that only the model has, when it runs."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class TracedValueError(OnnxsmithError, TypeError):
    """Python asked for the value of a tensor that gets one only when the model runs.

    `trace` runs a function once, so Python's own `if` and `for` cannot depend on what is in a tensor. A `@script`
    can: there they become part of the model.

    Wrong:

        def positive(a):
            if a.sum() > 0.0:
                return a
            return -a

        trace(positive, FLOAT["N"])

    Right:

        @script
        def positive(a: FLOAT["N"]):
            if a.sum() > 0.0:
                return a
            return -a
    """

    code = "C501"
    is_refusal = True


class LeakedValueError(OnnxsmithError, ValueError):
    """A tensor of one graph was used in another, or after its graph was finished.

    A symbolic tensor lives in the function that made it. What another function needs is returned or passed to it.

    Wrong:

        kept = []

        def first(a):
            kept.append(a + 1.0)
            return a

        trace(first, FLOAT["N"])
        trace(lambda b: b + kept[0], FLOAT["N"])

    Right:

        def first(a):
            return a, a + 1.0

        trace(first, FLOAT["N"])
    """

    code = "C502"
    is_refusal = True


class ConditionError(OnnxsmithError, TypeError):
    """The condition of an `if` or `while` is not one truth value.

    Wrong:

        @script
        def positive(x: FLOAT["N", 4]):
            if x > 0.0:
                return x
            return -x

    Right:

        @script
        def positive(x: FLOAT["N", 4]):
            if (x > 0.0).all():
                return x
            return -x
    """

    code = "C503"


class BranchTypeError(OnnxsmithError, TypeError):
    """A variable or result has one type when the condition is true and another when it is false.

    A value of a model has one type. Shapes may differ between the branches, element types may not.

    Wrong:

        @script
        def f(x: FLOAT["N"], n: INT64["N"]):
            if x.sum() > 0.0:
                y = x
            else:
                y = n
            return y

    Right:

        @script
        def f(x: FLOAT["N"], n: INT64["N"]):
            if x.sum() > 0.0:
                y = x
            else:
                y = n.astype(FLOAT)
            return y
    """

    code = "C504"


class LoopTypeError(OnnxsmithError, TypeError):
    """A variable changes its element type or kind from one iteration of a loop to the next.

    Also: the bounds of a range are not integers, or what stands after `in` cannot be looped over.

    Wrong:

        @script
        def f(x: FLOAT["N"], n: INT64):
            s = x
            for i in range(n):
                s = s.astype(INT64)
            return s

    Right:

        @script
        def f(x: FLOAT["N"], n: INT64):
            s = x.astype(INT64)
            for i in range(n):
                s = s + 1
            return s
    """

    code = "C505"


class DynamicPythonValueError(OnnxsmithError, TypeError):
    """A Python object depends on a condition that only the model knows.

    Tensors and numbers can be chosen by the model; a string, a function or another Python object cannot.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            mode = "ab"
            if x.sum() > 0.0:
                mode = "abc"
            return x * len(mode)

    Right:

        @script
        def f(x: FLOAT["N"]):
            length = 2.0
            if x.sum() > 0.0:
                length = 3.0
            return x * length
    """

    code = "C506"
    is_refusal = True


class MutationError(OnnxsmithError, TypeError):
    """A list, dict or object from outside is changed where only the model knows whether and how often.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            parts = [x]
            if x.sum() > 0.0:
                parts.append(x + 1.0)
            return parts[-1]

    Right:

        @script
        def f(x: FLOAT["N"]):
            last = x
            if x.sum() > 0.0:
                last = x + 1.0
            return last
    """

    code = "C507"
    is_refusal = True


class NestingError(OnnxsmithError, RecursionError):
    r"""Control flow on tensors is nested more deeply than a model file can hold.

    An `if` inside an `if` is a branch inside a branch, and a file holds some thirty of them in one another. A row of
    `elif`s or of early returns is no such nest, however long. Conditions that belong together are joined with `and`.

    Wrong:

        lines = ["@script", "def f(x: FLOAT):"]
        lines += ["    " + " " * k + f"if x > {k}.0:" for k in range(60)]
        source = "\n".join([*lines, " " * 64 + "x = x + 1.0", "    return x"])
        exec(source)

    Right:

        @script
        def f(x: FLOAT):
            if x > 59.0:
                x = x + 1.0
            return x
    """

    code = "C508"


class UnpackError(OnnxsmithError, ValueError):
    """The number of variables and of values differ.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            values, indices, rest = op.TopK(x, [1])
            return values

    Right:

        @script
        def f(x: FLOAT["N"]):
            values, indices = op.TopK(x, [1])
            return values
    """

    code = "C509"


class TensorAssignmentError(OnnxsmithError, TypeError):
    """An element of a tensor was assigned. Tensors do not change; an update makes a new one.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            x[0] = 1.0
            return x

    Right:

        @script
        def f(x: FLOAT["N"]):
            x = x.at[0].set(1.0)
            return x
    """

    code = "C510"


class UnseenStateError(OnnxsmithError, TypeError):
    """An iterator, a file or the like is used where only the model knows whether and how often.

    It changes when it is used, and cannot be put back; the model could not do it as often as Python would. So are
    functions that write files or start programs: a model does neither.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            factors = iter([1.0, 2.0])
            if x.sum() > 0.0:
                x = x * next(factors)
            return x

    Right:

        @script
        def f(x: FLOAT["N"]):
            factors = iter([1.0, 2.0])
            first = next(factors)
            if x.sum() > 0.0:
                x = x * first
            return x
    """

    code = "C511"
    is_refusal = True


class LastingChangeError(OnnxsmithError, TypeError):
    """A script changes something that outlives the call: a global, a default, an attribute, a random generator.

    A model has no memory from one call to the next, so what it gives would be the result of one call for ever. The same
    goes for what gives something else each time, such as `time.time()` or `uuid.uuid4()`: pass it as an argument.

    Wrong:

        seen = []

        @script
        def f(x: FLOAT["N"]):
            seen.append(1)
            return x * len(seen)

    Right:

        @script
        def f(x: FLOAT["N"], seen: INT64):
            seen = seen + 1
            return x * float(seen), seen
    """

    code = "C512"
    is_refusal = True
