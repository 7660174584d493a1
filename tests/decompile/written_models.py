"""Models and programs written by hand that are decompiled: what searches found, statements, all that a text says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxsmith import BOOL, FLOAT, INT64

#: What longer searches found.
FOUND = {
    "a function whose first input is called self": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.f(x) }
        <opset_import: ["" : 17], domain: "own"> f (self) => (y) { y = Neg(self) }""",
    "an operator and a value that begin with digits": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { _1a = own.D2(x) y = Neg(_1a) }""",
    "a NaN with a sign": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.Neg(x) }""",
    "attributes that are stored, and no keywords": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.Foo <class = float[2] {1.0, 2.0}, axis = float[2] {3.0, 4.0}> (x) }""",
}

#: Models in ONNX's own text, one for each thing that a text has to say beside the nodes.
WRITTEN = {
    "literals and weights": """<ir_version: 10, opset_import: ["" : 21]>
        g (float[N, 3] x, float w) => (float[N, 3] y, float[2, 9] unused)
        <float w = {2.0}, float[3] small = {1.0, -2.5, 1e-7}, float[2, 9] unused =
         {0.,1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.,13.,14.,15.,16.,17.}, int64[1] nobody = {1}> {
            a = Add(x, small)
            c = Constant <value = float {3.0}> ()
            b = Mul(a, c)
            "odd name/1" = Mul(b, w)
            y = Sub("odd name/1", small)
        }""",
    "operators of Python": """<ir_version: 10, opset_import: ["" : 21]>
        g (float[N, 3] x, float[3, 3] m, bool[N] p) => (float[N, 3] y, bool[N] z, float[M, 3] s, float[N] t) {
            one = Constant <value = float {1.0}> ()
            starts = Constant <value = int64[1] {1}> ()
            ends = Constant <value = int64[1] {9223372036854775807}> ()
            axes = Constant <value = int64[1] {0}> ()
            place = Constant <value = int64 {2}> ()
            a = MatMul(x, m)
            n = Neg(a)
            d = Div(n, one)
            y = Pow(d, d)
            q = Not(p)
            z = Xor(p, q)
            s = Slice(x, starts, ends, axes)
            t = Gather <axis = 1> (x, place)
        }""",
    "outputs that nobody takes": """<ir_version: 10, opset_import: ["" : 21]>
        g (float[N] x, int64[1] k) => (int64[K] places) {
            _v, places = TopK <largest = 0> (x, k)
            out, _m = Dropout(x)
            a, b = Split <num_outputs = 2> (x)
        }""",
    "functions": """<ir_version: 10, opset_import: ["" : 21, "own" : 1, "other" : 2]>
        g (float[N] x) => (float[N] y) {
            a = own.Scaled <alpha = 0.5> (x)
            b = own.Scaled <alpha = 1.5, axes = [1, 2]> (a, x)
            y = own.Outer(b)
        }
        <opset_import: ["" : 21], domain: "own"> Scaled <alpha, axes: ints = [0]> (x, w) => (y) {
            c = Constant <value_float: float = @alpha> ()
            y = Mul(x, c)
        }
        <opset_import: ["" : 21, "own" : 1], domain: "own"> Outer (x) => (y) {
            y = own.Scaled <alpha = 2.0> (x)
        }
        <opset_import: ["" : 18], domain: "other"> Unused (x) => (y) { y = Relu(x) }""",
    "types": """<ir_version: 10, opset_import: ["" : 21]>
        g (seq(float[N]) s, optional(float[2]) o, string[2] t, int64 i) => (seq(float[N]) r, float[2] e, bool h) {
            x = SequenceAt(s, i)
            r = SequenceInsert(s, x)
            h = OptionalHasElement(o)
            e = OptionalGetElement(o)
        }""",
    "attributes of all kinds": """<ir_version: 10, opset_import: ["" : 21, "own" : 3, "ai.onnx.ml" : 3]>
        g (float[1, 1, 5, 5] x, float[1, 1, 3, 3] w) => (float[1, 1, 5, 5] y, float z, string[1, 1, 5, 5] l) {
            y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], auto_pad = "NOTSET", group = 1> (x, w)
            z = own.Op <a = 1, b = 1.5, c = "text", d = ["x", "y"], e = [1.5, 2.0], class = 3> (y)
            i = Cast <to = 7> (x)
            l = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_strings = ["a", "b"]> (i)
        }""",
    "a branch in a loop": """<ir_version: 10, opset_import: ["" : 21]>
        g (int64 n, float[2] x) => (float[2] y, rows) {
            go = Constant <value = bool {1}> ()
            y, rows = Loop (n, go, x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] s2, float[2] row) {
                two = Constant <value = int64 {2}> ()
                is = Less(i, two)
                s2 = If (is) <
                    then_branch = t () => (float[2] p) { p = Add(s, x) },
                    else_branch = e () => (float[2] q) { q = Identity(s) }
                >
                row = Neg(s2)
                c2 = Identity(c)
            }>
        }""",
    "a scan": """<ir_version: 10, opset_import: ["" : 21]>
        g (float[2] s, float[N, 2] x) => (float[2] e, float[N, 2] r) {
            e, r = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] v) => (float[2] a2, float[2] o) {
                a2 = Add(a, v)
                o = Mul(a2, v)
            }> (s, x)
        }""",
    "names of Python": """<ir_version: 10, opset_import: ["" : 21]>
        lambda (float[N] class, float[N] op, float[N] "x.1") => (float[N] "return", float[N] print) {
            x_1 = Add(class, op)
            len = Mul(x_1, "x.1")
            "return" = Relu(len)
            print = Sub("return", x_1)
        }""",
}

X, N, P = FLOAT["K"], INT64, BOOL


def two_states(x: X, n: N, p: P):
    a, b = x, x * 2.0
    for i in range(n):
        a, b = b + 1.0, a * (i + 2.0)
    return a, b


def three_states_in_a_while(x: X, n: N, p: P):
    a, b, k = x, x * 2.0, n * 0
    while k < n:
        a, b, k = b, a + 1.0, k + 1
    return a, b


def left_early(x: X, n: N, p: P):
    a, b = x, x
    for _ in range(n):
        a = a + 1.0
        if a.sum() > 9.0:
            break
        b = b * 2.0
    return a, b


def left_at_the_end(x: X, n: N, p: P):
    a, b = x, x
    for _ in range(n):
        a, b = a + 1.0, b + a
        if a.sum() > 9.0:
            break
    return a, b


def branches(x: X, n: N, p: P):
    if p:
        a, b = x + 1.0, x
    elif n > 2:
        a, b = x, x * 3.0
    else:
        a, b = -x, x - 4.0
    return a, b


def all_inside_each_other(x: X, n: N, p: P):
    a, b = x, x
    for i in range(n):
        if p:
            k = n * 0
            while k < i:
                a, b, k = a + b, b + 1.0, k + 1
        else:
            for _ in range(i):
                a, b = b, a * 2.0
                if b.sum() > 50.0:
                    b = b - 50.0
    return a, b


#: Programs, and the words of the statements that are written for their models.
PROGRAMS: list[tuple[Callable[..., Any], dict[str, int]]] = [
    (two_states, {"for": 1}),
    (three_states_in_a_while, {"while": 1}),
    (left_early, {"for": 1, "if": 2, "else": 1, "break": 1}),
    (left_at_the_end, {"for": 1, "if": 1, "break": 1}),
    (branches, {"if": 2, "else": 2}),
    (all_inside_each_other, {"for": 2, "while": 1, "if": 2, "else": 2}),
]
