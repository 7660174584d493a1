"""Ways in which Python's own functions and its standard library consume a number `n`, one expression a line.

Each gives a number, a truth value, text, bytes, or a sequence of numbers. The rule of the choice: every built-in
function and method of `int`, every function of `math`, and of each other module the functions that take a number, or
take text or a collection that is commonly made of one. `n` is a size: 3, 4 or 7.
"""

from __future__ import annotations

#: The modules that expressions name.
IMPORTS = """
import array, ast, base64, binascii, bisect, calendar, cmath, codecs, collections, colorsys, contextlib, copy, csv
import ctypes
import dataclasses, datetime, decimal, difflib, enum, fnmatch, fractions, functools, gettext, hashlib, heapq, html, http
import io, ipaddress, itertools, json, logging, marshal, math, numbers, operator, os.path, pathlib, pickle, plistlib
import pprint, queue, random, re, reprlib, shlex, sqlite3, statistics, string, struct, textwrap, time, types
import typing, unicodedata, urllib.parse, uuid, zlib
import xml.sax.saxutils
Pair = collections.namedtuple("Pair", "a b")
Level = enum.IntEnum("Level", "A B C D E F G")
Point = dataclasses.make_dataclass("Point", ["a", "b"])

class Database(sqlite3.Connection):
    def __del__(self):  # closed also where an expression is refused: Python warns of those that are not
        self.close()

class Asked:
    def __init__(self, v): self.answer, self.v = (2.0 if isinstance(v, int) else 1.0), v
    @property
    def later(self): return 2.0 if isinstance(self.v, (int, str)) else 1.0
    def __getitem__(self, v): return 2.0 if isinstance(v, int) else 1.0

@functools.singledispatch
def dispatched(v): return 1.0
dispatched.register(int, lambda v: 2.0)

def kinds(values):
    for each in values:
        yield 2.0 if isinstance(each, int) else 1.0

def tried(v):
    try: return [1, 2, 3, 4, 5, 6, 7, 8][v]
    except (IndexError, TypeError): return 0.5

def tried_again(v):
    try: return {3: 1.0}[v]
    except Exception as error: raise ValueError("none") from error

def quiet(v):
    result = 0.5
    with contextlib.suppress(Exception): result = float(f"{v}")
    return result

def retried(function, v):
    for _ in range(2):
        try: return function(v)
        except Exception: pass
    return 0.5
"""

_BUILT_IN = """
abs(n - 5)
ascii(n)
bin(n)
bool(n - 3)
bytearray(n)
bytes(n)
bytes([n, 1])
callable(n)
chr(n + 60)
complex(n).real
complex(0, n).imag
dict(a=n)["a"]
dict([(n, 1.0)]).get(3, 2.0)
divmod(n, 3)
divmod(17, n)
[i * v for i, v in enumerate([1, 2], n)]
list(filter(None, [n - 3, 1]))
list(filter(lambda v: v > 3, [n, 5]))
float(n)
format(n)
format(n, "05d")
format(n, ",")
format(n, "x")
format(n, ".2f")
frozenset([n, 3]) == {3}
getattr(n, "real")
hasattr(n, "bit_length")
hash(n)
hex(n)
int(n)
int(str(n))
int(n / 2)
isinstance(n, int)
isinstance(n, numbers.Integral)
isinstance(n, (float, str))
len([0] * n)
len(range(n))
len(str(n))
len("a" * n)
list((n, 1))
list(map(abs, [n, -1]))
list(map(str, [n]))[0]
max(n, 4)
max([n, 5])
max([n, 5], key=lambda v: -v)
max(n, 2.5)
max([], default=n)
memoryview(b"abcdefgh")[n]
min(n, 4)
min((n, 5))
min([n, 5], key=lambda v: -v)
oct(n)
ord("abcdefgh"[n])
pow(n, 2)
pow(n, 2, 5)
pow(2, n)
pow(2, n, 5)
pow(7, 2, n)
pow(n, -1)
range(n)[0]
list(range(n))[-1]
list(range(1, n))[0]
list(range(0, 10, n))[-1]
range(n) == range(3)
n in range(2, 4)
repr(n)
list(reversed([n, 1]))
round(n)
round(n / 3, 1)
round(1234, -n)
round(2.34567, n)
list({n, 3, 3})
sorted([n, 5])
sorted([5, n], reverse=True)
slice(n).stop
[1, 2, 3, 4, 5, 6, 7, 8][:n]
[1, 2, 3, 4, 5, 6, 7, 8][n]
[1, 2, 3, 4, 5, 6, 7, 8][-n:]
(1, 2, 3, 4, 5, 6, 7, 8)[n]
"abcdefgh"[:n]
str(n)
str(n).encode()
str([n])
str((n, 1))
str({"a": n})
str({n})
sum([n, 1])
sum([1, 2], n)
sum(range(n))
tuple([n])
type(n)(7)
type(n).__name__
[a + b for a, b in zip([n], [1])]
1.0 if n else 0.0
1.0 if n == 3 else 2.0
1.0 if n > 3 and n < 7 else 2.0
not n - 3
any([n > 3, False])
all([n > 3, True])
(n, 1) < (3, 5)
(n, 1) == (3, 1)
[n] == [3]
n in (3, 5)
n in [4, 5]
n in {3, 5}
n in {3: 1}
{3: 2.0, 4: 1.5, 7: 1.0}[n]
{3: 2.0}.get(n, 1.0)
{"3": 2.0}.get(f"{n}", 1.0)
n is None
n + 1
1 - n
n * 2
n / 2
7 // n
7 % n
n ** 2
2 ** n
-n
+n
~n
n << 1
64 >> n
n & 5
n | 8
n ^ 1
n == 3
n != 3
3 < n
2 < n < 5
n or 1
n and 2
"""

_METHODS = """
n.bit_length()
n.bit_count()
n.to_bytes(2, "big")
int.to_bytes(n, 2, "little")
int.from_bytes(bytes([n]), "big")
n.as_integer_ratio()
n.conjugate()
n.real
n.imag
n.numerator
n.denominator
n.__add__(1)
n.__index__()
n.__int__()
n.__float__()
n.__str__()
n.__repr__()
n.__format__("03d")
n.__hash__()
n.__bool__()
float.fromhex("0x3") * n
(n / 2).is_integer()
(n / 2).as_integer_ratio()
(n / 2).hex()
float(n).is_integer()
int.__add__(n, 1)
int.bit_length(n)
"""

_TEXT = """
"{}".format(n)
"{:03d}".format(n)
"{0!r}".format(n)
"{a}".format(a=n)
"{0[0]}".format([n])
"{0.real}".format(n)
"{a}".format_map({"a": n})
"%s" % n
"%d" % n
"%05.1f" % n
"%x" % n
"%r" % n
"%(a)s" % {"a": n}
"%s %s" % (n, 1)
"%*d" % (n, 5)
f"{n}"
f"{n:03d}"
f"{n!r}"
f"{n=}"
f"{1:{n}}"
f"{[n]}"
"-".join(map(str, [n, 1]))
"-".join([f"{n}"])
"a".zfill(n)
"a".rjust(n)
"a".ljust(n, ".")
"a".center(n)
"a\\tb".expandtabs(n)
"a a a a a a a a".replace("a", "b", n)
"a b c d e f g h".split(" ", n)[-1]
"a b c d e f g h".rsplit(" ", n)[0]
"abcabcabc".find("a", n)
"abcabcabcabc".index("a", n)
"abcabcabcabc".count("a", n)
"abcdefgh".startswith("d", n)
"x" * n
n * "ab"
"abcdefgh"[n:]
"a".translate({97: n + 97})
b"%d" % n
bytes(str(n), "ascii")
string.Template("$a").substitute(a=n)
string.Template("$a").safe_substitute({"a": n})
string.Formatter().format("{}", n)
string.Formatter().vformat("{a}", (), {"a": n})
string.capwords(str(n))
string.ascii_lowercase[n]
textwrap.shorten("a bb ccc dddd", width=n + 6)
textwrap.fill("a bb ccc dddd", width=n)
textwrap.indent(str(n), "> ")
pprint.pformat(n)
pprint.pformat([n, 1])
pprint.saferepr(n)
reprlib.repr(n)
reprlib.repr([n])
re.sub("a", "b", "aaaaaaaa", count=n)
re.escape(str(n))
re.match("a{%d}" % n, "aaaaaaaa").group()
re.compile(f"a{{{n}}}").match("aaaaaaaa").end()
html.escape(str(n))
shlex.quote(str(n))
shlex.join([str(n)])
xml.sax.saxutils.escape(str(n))
unicodedata.name(chr(n + 64))
difflib.get_close_matches(str(n), ["3", "4"], 1)[:1] == ["3"]
fnmatch.fnmatch(str(n), "3")
os.path.join("a", str(n))
str(pathlib.PurePosixPath("a", str(n)))
urllib.parse.urlencode({"a": n})
urllib.parse.quote(str(n))
gettext.ngettext("one", "many", n - 2)
logging.getLevelName(n * 10)
ast.literal_eval(str(n))
ast.unparse(ast.Constant(n))
codecs.encode(str(n))
str(types.SimpleNamespace(a=n))
str(Pair(n, 1))
str(Point(n, 1))
repr(slice(n))
repr(range(n))
str(ValueError(n))
ValueError(f"bad {n}").args[0]
"""

_MATHEMATICS = """
math.acos(n / 10)
math.acosh(n)
math.asin(n / 10)
math.asinh(n)
math.atan(n)
math.atan2(n, 2)
math.atan2(1, n)
math.atanh(n / 10)
math.cbrt(n)
math.ceil(n / 2)
math.comb(n, 2)
math.comb(9, n)
math.copysign(1.0, 5 - n)
math.cos(n)
math.cosh(n)
math.degrees(n)
math.dist([n, 1], [0, 0])
math.erf(n / 3)
math.erfc(n / 3)
math.exp(n)
math.exp2(n)
math.expm1(n)
math.fabs(n - 5)
math.factorial(n)
math.floor(n / 2)
math.fmod(n, 2.5)
math.fmod(-7.5, n)
math.frexp(n)[0]
math.fsum([n, 0.5])
math.gamma(n)
math.gcd(n, 12)
math.hypot(n, 4)
math.hypot(n)
math.isclose(n, 3)
math.isfinite(n)
math.isinf(n)
math.isnan(n)
math.isqrt(n * 10)
math.lcm(n, 6)
math.ldexp(1.5, n)
math.lgamma(n)
math.log(n)
math.log(n, 2)
math.log10(n)
math.log1p(n)
math.log2(n)
math.modf(n / 2)[0]
math.nextafter(n, 10.0)
math.perm(n, 2)
math.pow(n, 2)
math.prod([n, 2])
math.radians(n)
math.remainder(n, 2.5)
math.sin(n)
math.sinh(n)
math.sqrt(n)
math.tan(n)
math.tanh(n)
math.trunc(n / 2)
math.ulp(n)
cmath.sqrt(n).real
cmath.phase(n)
cmath.polar(n)[0]
cmath.rect(n, 0).real
"""

_OPERATOR_MODULE = """
operator.abs(n)
operator.add(n, 1)
operator.and_(n, 5)
operator.concat([n], [1])
operator.contains([3], n)
operator.countOf([3, 4], n)
operator.eq(n, 3)
operator.floordiv(n, 2)
operator.ge(n, 4)
operator.getitem([1, 2, 3, 4, 5, 6, 7, 8], n)
operator.index(n)
operator.indexOf([3, 4, 7], n)
operator.inv(n)
operator.itemgetter(n)([1, 2, 3, 4, 5, 6, 7, 8])
operator.attrgetter("real")(n)
operator.methodcaller("bit_length")(n)
operator.lshift(1, n)
operator.mod(n, 2)
operator.mul(n, 2)
operator.neg(n)
operator.not_(n)
operator.or_(n, 8)
operator.pow(n, 2)
operator.sub(n, 1)
operator.truediv(n, 2)
operator.truth(n)
operator.xor(n, 1)
operator.length_hint([0] * n)
"""

_COLLECTIONS = """
functools.reduce(operator.add, [n, 1, 2])
functools.partial(pow, n)(2)
functools.lru_cache(lambda v: v + 1)(n)
sorted([5, n], key=functools.cmp_to_key(lambda a, b: a - b))
list(itertools.accumulate([n, 1]))
list(itertools.chain([n], [1]))
len(list(itertools.combinations(range(8), n)))
next(itertools.count(n))
list(itertools.islice(range(8), n))
len(list(itertools.permutations(range(4), n - 2)))
len(list(itertools.product([0, 1], repeat=n)))
list(itertools.repeat(1, n))
list(itertools.repeat(n, 2))
list(itertools.starmap(pow, [(n, 2)]))
list(itertools.takewhile(lambda v: v < n, range(8)))
list(itertools.compress([1, 2], [n - 3, 1]))
len(list(itertools.groupby([n, 3])))
list(itertools.zip_longest([n], [1, 2], fillvalue=n))[1]
list(itertools.pairwise([n, 1]))[0]
collections.Counter([n, 3])[3]
collections.Counter(a=n).total()
collections.Counter(a=n)["a"]
list(collections.deque(range(8), maxlen=n))
list(collections.deque([n, 1]))
collections.defaultdict(int, {3: 2})[n]
collections.OrderedDict([(n, 1.0)]).get(3, 2.0)
collections.ChainMap({3: 1.0}, {4: 2.0, 7: 3.0})[n]
collections.UserList([n, 1]).data
collections.UserDict({3: 1.0}).get(n, 2.0)
Pair(n, 1).a
Point(n, 1).a
Point(n, 1) == Point(3, 1)
dataclasses.astuple(Point(n, 1))
dataclasses.asdict(Point(n, 1))["a"]
dataclasses.replace(Point(1, 2), a=n).a
types.SimpleNamespace(a=n).a
types.MappingProxyType({3: 1.0}).get(n, 2.0)
Level(n).value
Level(n).name
http.HTTPStatus(n + 197).phrase
copy.copy(n)
copy.deepcopy([n])
bisect.bisect([1, 3, 5], n)
bisect.bisect_left([1, 3, 5], n)
bisect.insort([1, 5], n) is None
heapq.nsmallest(n, [5, 3, 1, 9])
heapq.nsmallest(1, [n, 4])
heapq.nlargest(1, [n, 4])
heapq.heappushpop([4, 5], n)
list(heapq.merge([n], [4]))
array.array("i", [n, 1])[0]
array.array("d", [n]).tobytes()
queue.Queue(n).maxsize
typing.cast(int, n)
"""

_NUMBERS = """
statistics.mean([n, 2])
statistics.fmean([n, 2])
statistics.median([n, 2, 5])
statistics.median([n, 2])
statistics.mode([n, 3, 3])
statistics.stdev([n, 2])
statistics.pstdev([n, 2])
statistics.variance([n, 2])
statistics.pvariance([n, 2])
statistics.geometric_mean([n, 2])
statistics.harmonic_mean([n, 2])
statistics.quantiles([n, 2, 9])[0]
statistics.NormalDist(n, 1).pdf(3.0)
statistics.NormalDist(0, 1).cdf(n)
statistics.linear_regression([n, 2], [1, 2]).slope
statistics.correlation([n, 2, 5], [1, 2, 4])
statistics.multimode([n, 3])
fractions.Fraction(n)
fractions.Fraction(n, 2)
fractions.Fraction(1, n)
fractions.Fraction(1, 2) * n
n + fractions.Fraction(1, 2)
fractions.Fraction(3) == n
fractions.Fraction(22, 7).limit_denominator(n)
decimal.Decimal(n)
decimal.Decimal(str(n))
decimal.Decimal(1) + n
decimal.Decimal(n).sqrt()
decimal.Decimal("3") == n
decimal.Context(prec=n).divide(1, 3)
decimal.Decimal((0, (n,), 0))
round(decimal.Decimal("1.23456789"), n)
random.Random(n).random()
random.Random(1).randint(0, n)
random.Random(1).randrange(n)
random.Random(1).sample(range(9), n)
random.Random(1).choices([1, 2], k=n)
random.Random(1).uniform(0, n)
random.Random(1).getrandbits(n)
random.Random(1).gauss(n, 1)
colorsys.rgb_to_hsv(n / 10, 0.5, 0.2)
ctypes.c_int(n).value
ctypes.c_double(n).value
ctypes.c_float(n).value
(ctypes.c_int * n)()[:]
"""

_FORMATS = """
json.dumps(n)
json.dumps([n])
json.dumps({"a": n})
json.dumps({n: 1})
json.dumps([1], indent=n)
json.loads(str(n))
pickle.loads(pickle.dumps(n))
marshal.dumps(n)
plistlib.dumps(n)
struct.pack("i", n)
struct.pack("d", n)
struct.pack(f"{n}x")
struct.unpack_from("b", b"abcdefgh", n)[0]
struct.calcsize(f"{n}d")
base64.b64encode(bytes([n]))
binascii.hexlify(bytes([n]))
hashlib.md5(str(n).encode()).hexdigest()
hashlib.sha256(bytes([n])).digest()[:1]
zlib.crc32(bytes([n]))
zlib.crc32(b"a", n)
zlib.adler32(b"a", n)
zlib.compress(b"a" * 50, n)
io.StringIO(str(n)).read()
io.StringIO("abcdefgh").read(n)
io.BytesIO(b"abcdefgh").read(n)
io.StringIO("abcdefgh").seek(n)
csv.writer(io.StringIO()).writerow([n])
next(csv.reader([f"{n},1"]))[0]
uuid.UUID(int=n).hex
str(uuid.UUID(int=n))
str(ipaddress.ip_address(n))
ipaddress.ip_network("10.0.0.0/8").num_addresses >> n
Database(":memory:").execute("select ?", (n,)).fetchone()[0]
datetime.timedelta(days=n).days
datetime.timedelta(seconds=n).total_seconds()
(datetime.timedelta(1) * n).days
datetime.date(2020, n, 1).toordinal()
datetime.date(2020, 1, n).isoformat()
datetime.datetime(2020, 1, 1, n).hour
datetime.date.fromordinal(n).day
datetime.datetime.fromtimestamp(n, datetime.timezone.utc).second
datetime.time(n).isoformat()
calendar.monthrange(2020, n)[1]
calendar.month_name[n]
calendar.isleap(n)
calendar.weekday(2020, 1, n)
time.gmtime(n).tm_sec
time.strftime("%H", time.gmtime(n * 3600))
"""

#: Through code of the program that Python itself runs: it may ask for the class, and catch what is raised.
_OWN_CODE = """
Asked(n).answer
Asked(n).later
Asked(1.0)[n]
dispatched(n)
list(kinds([n, 1.5]))[0]
tried(n)
quiet(n)
retried(tried_again, n) + 0.0
retried(lambda v: 8.0 if v > 3 else 9.0, n)
fractions.Fraction(3) != n
decimal.Decimal(3) in [n]
"""

#: The families, and the expressions of each.
FAMILIES: dict[str, tuple[str, ...]] = {
    name: tuple(text.strip().splitlines())
    for name, text in {
        "built in": _BUILT_IN,
        "methods": _METHODS,
        "text": _TEXT,
        "mathematics": _MATHEMATICS,
        "operator": _OPERATOR_MODULE,
        "collections": _COLLECTIONS,
        "numbers": _NUMBERS,
        "formats": _FORMATS,
        "own code": _OWN_CODE,
    }.items()
}
