"""Conditional expressions, `and`, `or`, `not`, chained comparisons, `in`, `is`."""

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith.errors import BranchTypeError, ConditionError, UnassignedVariableError
from tests.scripting.corpus import integer, ints, refused, runs, scalar, skips, truth, vector


@runs(scalar(2))
@runs(scalar(-2))
def conditional_expression(x: FLOAT):
    return x if x > 0 else -x


@runs(scalar(2))
@runs(scalar(0))
@runs(scalar(-2))
def conditional_in_conditional(x: FLOAT):
    return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)


@runs(vector(1, 2))
def static_choice_is_lazy(x: FLOAT["N"]):
    table = {}
    return x if not table else x * table["missing"]


@runs(scalar(2), vector(1, 2))
@runs(scalar(-2), vector(1, 2))
def choice_inside_expression(s: FLOAT, x: FLOAT["N"]):
    return x * (2 if s > 0 else 3) + (s if s > 0 else 0)


@runs(scalar(2), vector(1, 2))
@runs(scalar(-2), vector(1, 2))
def choice_of_tuples(s: FLOAT, x: FLOAT["N"]):
    a, b = (x, x + 1) if s > 0 else (x + 1, x)
    return a, b


@runs(scalar(3), scalar(1))
@runs(scalar(3), scalar(-1))
@runs(scalar(-3), scalar(1))
def and_in_condition(x: FLOAT, y: FLOAT):
    if x > 0 and y > 0:
        return x + y
    return x - y


@runs(scalar(3), scalar(1))
@runs(scalar(-3), scalar(1))
@runs(scalar(-3), scalar(-1))
def or_in_condition(x: FLOAT, y: FLOAT):
    if x > 0 or y > 0 or x + y > 100:
        return x + y
    return x - y


@runs(truth(True))
@runs(truth(False))
def known_operands_decide(p: BOOL):
    yes, no = len("ab") == 2, len("ab") == 1
    total = 1.0 if p or yes else 2.0
    total = total + (10.0 if p and no else 20.0)
    total = total + (100.0 if p and yes else 200.0)
    return total + (1000.0 if p or no else 2000.0)


@runs(scalar(3), scalar(1))
@runs(scalar(-3), scalar(-1))
def not_and_or_mixed(x: FLOAT, y: FLOAT):
    if not (x > 0 and y > 0) or (not x > 2 and y < 0):
        return x
    return y


@runs(scalar(3), scalar(1))
@runs(scalar(-3), scalar(1))
def truth_as_value(x: FLOAT, y: FLOAT):
    both = x > 0 and y > 0
    neither = not (x > 0 or y > 0)
    return both, neither


@runs(truth(True), truth(False))
@runs(truth(True), truth(True))
def bool_tensors(a: BOOL, b: BOOL):
    return a and b, a or b, not a


@runs(vector(1, 2, 3))
@runs(vector())
def or_gives_an_operand(x: FLOAT["N"]):
    n = len(x) or 10
    return n


@runs(vector(1, 2, 3))
@runs(vector())
def and_gives_an_operand(x: FLOAT["N"]):
    n = len(x) and len(x) + 5
    return n


@runs(vector(1, 2))
def or_on_python_values(x: FLOAT["N"]):
    name = "" or "default"
    factor = None or 2
    return x * factor if name == "default" else x


@runs(scalar(3))
@runs(scalar(-3))
def python_value_decides(x: FLOAT):
    verbose = False
    if verbose and x > 0:
        x = x * 100
    if x > 0 or verbose:
        x = x + 1
    if True or x > 0:
        x = x + 10
    return x


@runs(scalar(3))
@runs(scalar(0))
@runs(scalar(10))
def chained_comparison(x: FLOAT):
    if 0 < x < 10:
        return x * 2
    return x


@runs(scalar(3), scalar(4))
@runs(scalar(4), scalar(3))
def long_chain(x: FLOAT, y: FLOAT):
    return 0 <= x < y <= 4 != 5, x < y > 0


@runs(vector(1, 2))
def chain_on_python_values(x: FLOAT["N"]):
    k = 3
    return x * 2 if 1 < k <= 3 else x


@runs(vector(1, 5, 9))
def elementwise_comparison(x: FLOAT["N"]):
    return (x > 1) & (x < 9), (x == 5) | (x != 5), ~(x >= 5)


@runs(integer(2))
@runs(integer(4))
def in_a_tuple(n: INT64):
    if n in (1, 2, 3):
        return n * 10
    return n


@runs(integer(2))
@runs(integer(4))
def not_in_a_set(n: INT64):
    return n not in {1, 2, 3}


@runs(vector(1, 2, 3), scalar(2))
@runs(vector(1, 2, 3), scalar(7))
def in_a_tensor(x: FLOAT["N"], y: FLOAT):
    if y in x:
        return y
    return -y


@runs(vector(1, 2))
def in_on_python_values(x: FLOAT["N"]):
    names = ["a", "b"]
    table = {"c": 2}
    if "a" in names and "b" not in table:
        return x * 2
    return x


@runs(ints(1, 2), integer(2))
def in_range_of_numbers(x: INT64["N"], n: INT64):
    if n in range(5):
        x = x + n
    return x


@runs(vector(1, 2))
def is_on_python_values(x: FLOAT["N"]):
    weight = None
    if weight is None:
        x = x + 1
    if weight is not None:
        x = x * weight
    return x


@runs(vector(1, 2))
@skips(plain="numpy's dtypes are not onnxsmith's types")
def equality_of_types(x: FLOAT["N"]):
    return x + 1 if x.dtype == FLOAT else x


@runs(scalar(3))
@runs(scalar(-3))
def min_max_abs(x: FLOAT):
    return max(x, 0), min(x, 0), abs(x), max(x, -x, 1)


@runs(vector(3, 1, 2))
def min_max_of_vector(x: FLOAT["N"]):
    return max(x), min(x)


@runs(scalar(3), scalar(-3))
def any_all_of_list(x: FLOAT, y: FLOAT):
    flags = [x > 0, y > 0]
    if any(flags) and not all(flags):
        return x
    return y


@runs(scalar(3), scalar(-3))
def any_of_generator(x: FLOAT, y: FLOAT):
    return any(each > 2 for each in (x, y)), all(each > 2 for each in (x, y))


@runs(scalar(3))
def bool_int_float(x: FLOAT):
    n = int(x) + 1
    f = float(x) / 2
    b = bool(x)
    return n, f, b


@runs(scalar(3), vector(1, 2))
@skips(reference="onnx's reference evaluator has no If on a condition of shape (1,)")
def condition_of_one_element(s: FLOAT, x: FLOAT["N"]):
    t = s.reshape(1)
    if t > 0:
        x = x + 1
    return x


@refused(ConditionError, "'and'")
def and_on_vectors(x: FLOAT["N", 2]):
    return x > 0 and x < 5  # here


@refused(ConditionError, "'not'")
def not_on_vector(x: FLOAT[3]):
    return not x  # here


@refused(ConditionError)
def chain_on_vector(x: FLOAT[3]):
    return 0 < x < 5  # here


@refused(BranchTypeError)
def choice_of_types(x: FLOAT, n: INT64):
    return x if x > 0 else n  # here


@refused(UnassignedVariableError, "'y'")
def walrus_that_may_be_skipped(x: FLOAT):
    if x > 0 and (y := x + 1) > 5:
        x = x * 2
    return y  # here


@refused(ConditionError, "max()")
def max_of_vectors(x: FLOAT["N"], y: FLOAT["N"]):
    return max(x, y)  # here


@runs(vector(1, 3))
@runs(vector(1, 2))
@runs(vector())
def assigned_where_the_test_holds(x: FLOAT["N"]):
    if len(x) > 0 and (m := x.max()) > 2:
        return m
    return x.sum()


@runs(vector(1, 3))
@runs(vector(1, 2))
@runs(vector())
def assigned_where_the_test_does_not_hold(x: FLOAT["N"]):
    if len(x) == 0 or (m := x.max()) < 3:
        return x.sum()
    return m + 1.0


@runs(vector(1, 3))
@runs(vector(-1, 2))
@runs(vector())
def assigned_under_not(x: FLOAT["N"]):
    if not (len(x) > 0 and (m := x.max()) > 2):
        y = x.sum()
    else:
        y = m
    return y


@runs(vector(1, 3))
@runs(vector(1, 5))
@runs(vector(9, 9))
@runs(vector())
def assigned_one_after_the_other(x: FLOAT["N"]):
    if len(x) > 0 and (m := x.max()) > 2 and (k := x.min()) < m:
        return m + k
    return x.sum()


@runs(vector(1, 3))
@runs(vector(1, 2))
@runs(vector())
def assigned_in_a_choice(x: FLOAT["N"]):
    return m if len(x) > 0 and (m := x.max()) > 2 else x.sum()


@runs(vector(1, 3))
@runs(vector(1, 2))
@runs(vector())
def assigned_again_where_the_test_holds(x: FLOAT["N"]):
    m = x.sum() * 10.0
    if len(x) > 0 and (m := x.max()) > 2:
        return m
    return m + 1.0


@refused(UnassignedVariableError, "'m' may have no value here")
def read_where_the_test_may_not_hold(x: FLOAT["N"]):
    if len(x) > 0 and (m := x.max()) > 2:
        x = x + m
    return x + m  # here


@refused(UnassignedVariableError, "'m' may have no value here")
def assigned_again_on_one_path(x: FLOAT["N"]):
    found = len(x) > 0 and (m := x.max()) > 2
    if x.sum() > 5:
        m = x.min()
    return m if found else x.sum()  # here
