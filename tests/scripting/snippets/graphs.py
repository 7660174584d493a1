"""`@graph` bodies of If, Loop, Scan and SequenceMap, with values from around them."""

from onnxsmith import BOOL, FLOAT, INT64, graph
from onnxsmith import opset18 as op
from onnxsmith.errors import FunctionError, MutationError, UnseenStateError
from tests.scripting.corpus import integer, matrix, refused, runs, scalar, skips, truth, vector

EVALUATOR = "onnx's reference evaluator has no SequenceMap of this form"


@runs(truth(True), vector(1, 2))
@runs(truth(False), vector(1, 2))
def branches_of_if(flag: BOOL, x: FLOAT["N"]):
    @graph()
    def then_branch():
        return x + 1

    @graph()
    def else_branch():
        return x * 10

    return op.If(flag, then_branch=then_branch, else_branch=else_branch)


@runs(truth(True), vector(1, 2))
@runs(truth(False), vector(1, 2))
def lambdas_as_branches(flag: BOOL, x: FLOAT["N"]):
    return op.If(flag, then_branch=lambda: x + 1, else_branch=lambda: x * 10)


@runs(integer(3), vector(1, 2))
@runs(integer(0), vector(1, 2))
def body_of_loop(n: INT64, x: FLOAT["N"]):
    @graph
    def body(i, go_on, total):
        return go_on, total * 2 + x

    return op.Loop(n, True, x, body=body)


@runs(integer(4), scalar(1))
@skips(reference="onnx's reference evaluator stacks scalars as vectors of one element")
def loop_with_scan_output(n: INT64, x: FLOAT):
    @graph()
    def body(i, go_on, value):
        value = value * 2
        return value < 10, value, value + 1

    last, all_values = op.Loop(n, True, x, body=body)
    return last, all_values


@runs(vector(1, 2, 3))
def cumulative_sum(x: FLOAT["N"]):
    @graph()
    def add(total, value):
        total = total + value
        return total, op.Identity(total)

    last, sums = op.Scan(0.0, x, body=add, num_scan_inputs=1)
    return last, sums


@runs(matrix([1, 2], [3, 4]), vector(10, 20))
def scan_with_outer_value(x: FLOAT["N", 2], bias: FLOAT[2]):
    @graph()
    def step(state, row):
        new = state + row * bias
        return new, new

    start = bias * 0
    _, rows = op.Scan(start, x, body=step, num_scan_inputs=1)
    return rows


@runs(vector(1, 2, 3), vector(4, 5, 6))
def scan_of_two_inputs(x: FLOAT["N"], y: FLOAT["N"]):
    @graph()
    def step(state, a, b):
        return state + a * b, a - b

    return op.Scan(0.0, x, y, body=step, num_scan_inputs=2)


@runs(vector(1, 2, 3, 4))
@skips(reference=EVALUATOR)
def sequence_map(x: FLOAT[4]):
    @graph()
    def double(part):
        return part * 2

    parts = op.SequenceMap(op.SplitToSequence(x, 2), body=double)
    return parts[0], parts[1]


@runs(integer(2), vector(1, 2))
def control_flow_in_body(n: INT64, x: FLOAT["N"]):
    @graph()
    def body(i, go_on, total):
        if i == 0:
            total = total + 100
        for k in range(2):
            total = total * 2 + k
        return go_on, total

    return op.Loop(n, True, x, body=body)


@runs(integer(2), integer(3), scalar(1))
def loop_in_loop(n: INT64, m: INT64, x: FLOAT):
    @graph()
    def outer(i, go_on, total):
        @graph()
        def inner(j, go, value):
            return go, value + total + x

        return True, op.Loop(m, True, total, body=inner)

    return op.Loop(n, True, x, body=outer)


@runs(truth(True), scalar(3))
@runs(truth(False), scalar(3))
def several_outputs_of_if(flag: BOOL, x: FLOAT):
    a, b = op.If(flag, then_branch=lambda: (x, x + 1), else_branch=lambda: (x * 2, x * 3))
    return a - b


@runs(truth(True), scalar(3))
def outer_value_returned(flag: BOOL, x: FLOAT):
    y = x + 1
    return op.If(flag, then_branch=lambda: y, else_branch=lambda: x)


@refused(FunctionError)
def too_few_results(n: INT64, x: FLOAT):
    @graph()
    def body(i, go_on, total):
        return total

    return op.Loop(n, True, x, body=body)  # here


@refused(MutationError, "'log' is changed inside this")
def body_changes_a_list(x: FLOAT["N"]):
    log = []

    def then():
        log.append(1)  # here
        return x

    def otherwise():
        return x * 2

    y = op.If(x.sum() > 0, then_branch=then, else_branch=otherwise)
    return y + len(log)


@refused(MutationError, "'n' is assigned in the function 'then'")
def body_assigns_around_it(x: FLOAT["N"]):
    n = 0

    def then():
        nonlocal n
        n = 5
        return x

    def otherwise():
        return x * 2

    y = op.If(x.sum() > 0, then_branch=then, else_branch=otherwise)  # here
    return y + n


@refused(UnseenStateError, "'it' is a list iterator")
def body_moves_an_iterator(x: FLOAT["N"]):
    it = iter([1.0, 2.0, 3.0])

    def body(i, condition, value):
        return condition, value + next(it)

    return op.Loop(3, None, x, body=body)  # here
