"""Bodies of If, Loop and Scan are functions."""

from onnxsmith import BOOL, FLOAT, INT64, Tensor, trace
from onnxsmith import opset21 as op


def choose(x: FLOAT["N"], flag: BOOL) -> FLOAT["N"]:
    def positive() -> FLOAT:
        return op.Relu(x)

    result: FLOAT = op.If(flag, then_branch=positive, else_branch=lambda: -x)
    return result


def accumulate(x: FLOAT["N"], steps: INT64) -> FLOAT["N"]:
    def body(i: INT64, keep: BOOL, total: FLOAT) -> tuple[BOOL, FLOAT]:
        return keep, total + x * i.astype(FLOAT)

    result: FLOAT = op.Loop(steps, True, x, body=body)
    return op.Loop(None, True, result, body=body) + op.Loop(10, None, x, body=body)


def running_sum(xs: FLOAT["N", 4]) -> tuple[FLOAT[4], FLOAT["N", 4]]:
    def body(total: FLOAT, x: FLOAT) -> tuple[FLOAT, FLOAT]:
        new = total + x
        return new, new

    total, sums = op.Scan(xs[0], xs, body=body, num_scan_inputs=1)
    return total, sums


def mapped(parts: Tensor) -> Tensor:
    sequence = op.SequenceConstruct(parts, parts)
    out: Tensor = op.SequenceMap(sequence, body=lambda x: op.Relu(x))
    return out


print(trace(choose, FLOAT["N"], BOOL), accumulate, running_sum, mapped)
