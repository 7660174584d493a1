"""Ways in which Python consumes the shape of a tensor `x`, and a scalar tensor `s`, one expression a line."""

from __future__ import annotations

#: Of a tensor and its shape: `x` has one dimension, of an unknown size.
SHAPES: tuple[str, ...] = tuple(
    """
str(x.shape)
repr(x.shape)
f"{x.shape}"
"{}".format(x.shape)
"%s" % (x.shape,)
"%s" % x.shape
"%d" % x.shape
str(list(x.shape))
str(tuple(x.shape))
str(x.shape[0])
"x".join(map(str, x.shape))
{"(3,)": 2.0}.get(str(x.shape), 1.0)
{(3,): 2.0}.get(x.shape, 1.0)
x.shape in [(3,), (5,)]
x.shape == (3,)
hash(x.shape)
len(x.shape)
sum(x.shape)
math.prod(x.shape)
max(x.shape)
json.dumps(x.shape)
pickle.dumps(x.shape)[:0]
pprint.pformat(x.shape)
string.Template("$a").substitute(a=x.shape)
str({"a": x.shape})
str([x.shape])
""".strip().splitlines()
)
#: Of a scalar tensor `s`, whose value is the number 3, 4 or 7.
SCALARS: tuple[str, ...] = tuple(
    """
"{}".format(s)
"{:.1f}".format(s)
"%s" % s
"%d" % s
"%.2f" % s
f"{s}"
f"{s:.2f}"
str(s)
repr(s)
str([s])
str({"a": s})
" ".join(map(str, [s]))
string.Template("$a").substitute(a=s)
int(s)
float(s)
bool(s - 3.0)
round(float(s))
math.floor(s)
{3.0: 2.0}.get(float(s), 1.0)
[1, 2, 3, 4, 5, 6, 7, 8][int(s)]
"a" * int(s)
hash(float(s))
json.dumps(float(s))
decimal.Decimal(float(s))
str(float(s))
statistics.mean([float(s), 2.0])
1.0 if s > 3 else 2.0
""".strip().splitlines()
)
