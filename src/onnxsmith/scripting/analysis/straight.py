"""Functions whose code object shows that Python alone can stage them: no jumps, and calls of operators, scripts, types.

Reads instructions once, as a machine that knows where values come from but not what they are, and notes which variable
each value is stored to. Does not run anything; what a global is, is asked whenever the function is staged.
"""

from __future__ import annotations

import inspect
import linecache
import opcode
import os
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

#: A name outside the function, with the attributes that are taken of it: ("op", "Add").
Chain: TypeAlias = tuple[str, ...]


class Result(NamedTuple):
    """The result of the instruction at an offset, or one of several; `callee` is the function that it calls."""

    offset: int
    callee: Chain | None = None
    position: int | None = None


class _Outside(NamedTuple):
    """A value that a name outside the function has."""

    chain: Chain


class _Tuple(NamedTuple):
    items: tuple[_Item, ...]


class Argument(NamedTuple):
    """The argument of a parameter."""

    name: str


#: Where a value on the stack comes from; None: from nowhere that matters, as constants do.
_Item: TypeAlias = Result | Argument | _Outside | _Tuple | None


class Store(NamedTuple):
    """A value gets a variable's name, when control passes `offset`."""

    offset: int
    origin: Result | Argument
    name: str


@dataclass(frozen=True, slots=True)
class StraightCode:
    """The facts that staging such a function needs."""

    #: All that the function takes from outside, and which of that it calls.
    loaded: tuple[Chain, ...]
    called: tuple[Chain, ...]
    stores: tuple[Store, ...]
    #: The parameters that it reads.
    arguments: tuple[str, ...]
    #: The parameters that `+=` and the like may change in place, and the callees whose results they may change.
    changed_arguments: tuple[str, ...]
    changed_results: tuple[Chain, ...]


def read_straight(function: types.FunctionType) -> StraightCode | None:
    """The straight code of a function; None where its syntax tree is needed."""
    code = function.__code__
    # Lambdas share lines, and what has no file of its own is looked for by its text: both need the tree.
    if code.co_filename.startswith("<") or not code.co_name.isidentifier() or not _is_plain(code):
        return None
    if not _has_source(function):
        return None
    reader = _Reader(code)
    try:
        reader.read()
    except _NotStraight:
        return None
    return reader.finished()


def _has_source(function: types.FunctionType) -> bool:
    """True if the source can be read when it is needed: for an error, or to look at the code."""
    file = function.__code__.co_filename
    # A file is there much more often than not, and reading it takes as long as staging a small function.
    return os.path.isfile(file) or bool(linecache.getlines(file, function.__globals__))


def _is_plain(code: types.CodeType) -> bool:
    forbidden = (
        inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        | inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    )  # fmt: skip
    return not code.co_flags & forbidden and not code.co_cellvars


class _NotStraight(Exception):
    """The code has something that only the syntax tree tells enough of."""


class _Reader:
    """Goes through the instructions of one code object."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.stack: list[_Item] = []
        count = code.co_argcount + code.co_kwonlyargcount
        self.variables: dict[str, _Item] = {name: Argument(name) for name in code.co_varnames[:count]}
        self.loaded: dict[Chain, _Outside] = {}
        self.called: dict[Chain, None] = {}
        self.stores: list[Store] = []
        self.arguments: dict[str, None] = {}
        self.changed_arguments: dict[str, None] = {}
        self.changed_results: dict[Chain, None] = {}
        #: Where in `stores` those begin that have no other instruction between them; whether the compiler has them from
        #: the last variable of the source to the first; and whether there may be any.
        self._run = 0
        self._is_reversed = True
        self._is_run_open = False
        #: The names of variables and of what is around the function, by the number that instructions have for them.
        self.slots = (*code.co_varnames, *code.co_freevars)
        self.offset = 0

    def read(self) -> None:
        """Go through all instructions; raises _NotStraight."""
        code = self.code.co_code
        arguments = code[1::2]
        handlers = _HANDLERS
        argument = 0
        if not _READ.issuperset(code[::2]):
            raise _NotStraight
        # Three of four instructions are room for the interpreter's caches.
        for index, operation in [each for each in enumerate(code[::2]) if each[1] != _CACHE]:
            argument = argument << 8 | arguments[index]
            if operation == _EXTENDED_ARG:
                continue
            if self._is_run_open and operation not in _STORES:
                if operation == _POP_TOP and not self._is_reversed:
                    raise _NotStraight  # `_, _ = f(x)`: from 3.13 on only the last store is left
                self.end_run()
            self.offset = 2 * index
            handlers[operation](self, argument)
            argument = 0

    def finished(self) -> StraightCode:
        """The code that was read."""
        self.end_run()
        return StraightCode(
            tuple(self.loaded),
            tuple(self.called),
            tuple(self.stores),
            tuple(self.arguments),
            tuple(self.changed_arguments),
            tuple(self.changed_results),
        )

    def end_run(self) -> None:
        """Put the last stores in the order of the source: of `a, b = f(x), g(x)` the compiler stores b first.

        It leaves the values on the stack as they were computed, where nothing has spread them before the stores that
        follow. Positions do not tell: an instruction that stores to two variables has only the first one's.
        """
        if self._is_reversed:
            self.stores[self._run :] = reversed(self.stores[self._run :])
        self._run = len(self.stores)
        self._is_reversed = True
        self._is_run_open = False

    def spread(self) -> None:
        """Take note that the first variable of the source gets the topmost value: of the stores that may follow."""
        self._is_reversed = False
        self._is_run_open = True

    # -- instructions ----------------------------------------------------------------------------------

    def pop(self) -> _Item:
        if not self.stack:
            raise _NotStraight
        return self.stack.pop()

    def take(self, count: int) -> list[_Item]:
        if len(self.stack) < count:
            raise _NotStraight
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def load_outside(self, chain: Chain) -> None:
        item = self.loaded.get(chain)
        if item is None:
            item = self.loaded[chain] = _Outside(chain)
        self.stack.append(item)

    def load_variable(self, number: int) -> None:
        name = self.slots[number]
        if name not in self.variables:
            raise _NotStraight  # a variable without a value: the tree says where it gets one
        item = self.variables[name]
        if isinstance(item, Argument):
            self.arguments[item.name] = None
        self.stack.append(item)

    def store_variable(self, number: int) -> None:
        name = self.slots[number]
        item = self.pop()
        self.variables[name] = item
        if isinstance(item, Result | Argument):
            self.stores.append(Store(self.offset, item, name))
            self._is_run_open = True

    def load_attribute(self, name: str) -> None:
        owner = self.pop()
        if not isinstance(owner, _Outside):
            raise _NotStraight
        self.load_outside((*owner.chain, name))

    def compute(self, operands: int) -> None:
        self.take(operands)
        self.stack.append(Result(self.offset))

    def change(self) -> None:
        """Compute `a += b` and the like, which may change `a` itself, whoever else has it."""
        changed, _ = self.take(2)
        match changed:
            case _Outside():
                raise _NotStraight
            case Argument(name):
                self.changed_arguments[name] = None
            case Result(callee=callee) if callee is not None:
                self.changed_results[callee] = None
            case _:
                pass  # made here: a number, a tensor, a list
        self.stack.append(Result(self.offset))

    def call(self, count: int) -> None:
        # Below the arguments stand the function and an empty place for what it may be bound to, in either order.
        function, bound = self.take(count + 2)[:2]
        callee = bound if function is None else function
        if not isinstance(callee, _Outside):
            raise _NotStraight
        self.called[callee.chain] = None
        self.stack.append(Result(self.offset, callee.chain))

    def unpack(self, count: int) -> None:
        item = self.pop()
        if isinstance(item, _Tuple) and len(item.items) == count:
            self.stack += reversed(item.items)
        elif isinstance(item, Result) and item.callee is not None and item.position is None:
            self.stack += [Result(item.offset, item.callee, k) for k in reversed(range(count))]
        else:
            raise _NotStraight
        self.spread()

    def copy(self, depth: int) -> None:
        self.stack.append(self.stack[-depth])
        self.spread()

    def swap(self, depth: int) -> None:
        self.stack[-depth], self.stack[-1] = self.stack[-1], self.stack[-depth]
        self.spread()

    def extend_list(self, _: int) -> None:
        if self.pop() is not None:  # all but constants may be longer than is known
            raise _NotStraight


# -- the table of instructions -----------------------------------------------------------------------------------

_Handler: TypeAlias = Callable[[_Reader, int], object]


def _nothing(reader: _Reader, argument: int) -> None:
    """Leaves the stack as it is."""


def _constant(reader: _Reader, argument: int) -> None:
    reader.stack.append(None)


def _global(reader: _Reader, argument: int) -> None:
    if argument & 1:  # room for what a method is bound to
        reader.stack.append(None)
    reader.load_outside((reader.code.co_names[argument >> 1],))


def _free(reader: _Reader, argument: int) -> None:
    reader.load_outside((reader.slots[argument],))


def _attribute(reader: _Reader, argument: int) -> None:
    reader.load_attribute(reader.code.co_names[argument])


def _method(reader: _Reader, argument: int) -> None:
    reader.load_attribute(reader.code.co_names[argument])
    reader.stack.insert(len(reader.stack) - 1, None)


def _attribute_or_method(reader: _Reader, argument: int) -> None:
    (_method if argument & 1 else _attribute)(reader, argument >> 1)


def _called_with_names(reader: _Reader, argument: int) -> None:
    reader.pop()
    reader.call(argument)


def _build_tuple(reader: _Reader, argument: int) -> None:
    reader.stack.append(_Tuple(tuple(reader.take(argument))))


def _build_list(reader: _Reader, argument: int) -> None:
    reader.take(argument)
    reader.stack.append(None)


def _load_two(reader: _Reader, argument: int) -> None:
    reader.load_variable(argument >> 4)
    reader.load_variable(argument & 15)


def _store_and_load(reader: _Reader, argument: int) -> None:
    reader.store_variable(argument >> 4)
    reader.end_run()
    reader.load_variable(argument & 15)


def _store_two(reader: _Reader, argument: int) -> None:
    reader.store_variable(argument >> 4)
    reader.store_variable(argument & 15)


def _binary(reader: _Reader, argument: int) -> None:
    if argument == _SUBSCRIPT:
        raise _NotStraight
    if argument >= _FIRST_IN_PLACE:
        reader.change()
    else:
        reader.compute(2)


#: The first of the binary operations that are written `+=`, `-=` and so on.
_FIRST_IN_PLACE = 13
#: The binary operation that Python 3.14 has for `x[i]`; older ones have an instruction of their own.
_SUBSCRIPT = 26


def _computed(operands: int) -> _Handler:
    return lambda reader, _: reader.compute(operands)


#: From 3.12 on the table still has the name, with a number that no instruction can have.
_HAS_LOAD_METHOD = opcode.opmap.get("LOAD_METHOD", 256) < 256

_BY_NAME: dict[str, _Handler] = {
    "NOP": _nothing,
    "RESUME": _nothing,
    "COPY_FREE_VARS": _nothing,
    "PRECALL": _nothing,
    "KW_NAMES": _nothing,
    "RETURN_CONST": _nothing,
    "RETURN_VALUE": lambda reader, _: reader.pop(),
    "POP_TOP": lambda reader, _: reader.pop(),
    "PUSH_NULL": _constant,
    "LOAD_CONST": _constant,
    "LOAD_SMALL_INT": _constant,
    "LOAD_GLOBAL": _global,
    "LOAD_DEREF": _free,
    "LOAD_ATTR": _attribute if _HAS_LOAD_METHOD else _attribute_or_method,
    "LOAD_METHOD": _method,
    "LOAD_FAST": _Reader.load_variable,
    "LOAD_FAST_BORROW": _Reader.load_variable,
    "LOAD_FAST_LOAD_FAST": _load_two,
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": _load_two,
    "STORE_FAST": _Reader.store_variable,
    "STORE_FAST_STORE_FAST": _store_two,
    "STORE_FAST_LOAD_FAST": _store_and_load,
    "CALL": _Reader.call,
    "CALL_KW": _called_with_names,
    "BINARY_OP": _binary,
    "COMPARE_OP": _computed(2),
    "UNARY_NEGATIVE": _computed(1),
    "UNARY_INVERT": _computed(1),
    "BUILD_TUPLE": _build_tuple,
    "BUILD_LIST": _build_list,
    "LIST_EXTEND": _Reader.extend_list,
    "UNPACK_SEQUENCE": _Reader.unpack,
    "COPY": _Reader.copy,
    "SWAP": _Reader.swap,
}
_HANDLERS = {opcode.opmap[name]: handler for name, handler in _BY_NAME.items() if name in opcode.opmap}
#: Stores to variables, which may follow one another.
_STORES = frozenset(
    opcode.opmap[name]
    for name in ("STORE_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
    if name in opcode.opmap
)
_CACHE = opcode.opmap["CACHE"]
_POP_TOP = opcode.opmap["POP_TOP"]
_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
_READ = frozenset([*_HANDLERS, _CACHE, _EXTENDED_ARG])
