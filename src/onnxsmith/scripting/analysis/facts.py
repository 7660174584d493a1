"""One pass over a function's tree: a frozen record for each statement, which all that comes later asks.

Goes through each statement once, without descending into scopes of their own (lambdas, comprehensions, inner
functions), which are few: their names are found by `flow`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, cast

from onnxsmith.scripting.analysis.kinds import KINDS
from onnxsmith.scripting.analysis.names import assigned_names, free_names
from onnxsmith.scripting.analysis.statement_order import StatementOrder
from onnxsmith.scripting.analysis.subset import MAY_BE_UNSUPPORTED
from onnxsmith.scripting.source.trees import walk

_LIMIT = 4096
# id(node) -> (node, names). The entry keeps the node alive, so its id cannot be reused while it is here.
_names: dict[int, tuple[ast.AST, Names]] = {}


class Names(NamedTuple):
    """The variables and the attributes that code names, wherever in it."""

    variables: frozenset[str]
    attributes: frozenset[str]

    def __or__(self, other: Names) -> Names:  # type: ignore[override]
        return Names(self.variables | other.variables, self.attributes | other.attributes)


NO_NAMES = Names(frozenset(), frozenset())


def names_in(nodes: Iterable[ast.AST]) -> Names:
    """The names in these statements or expressions; each is walked once."""
    result = NO_NAMES
    for node in nodes:
        entry = _names.get(id(node))
        if entry is None:
            if len(_names) >= _LIMIT:
                _names.clear()
            entry = _names[id(node)] = (node, _walked(node))
        result = result | entry[1]
    return result


def _walked(node: ast.AST) -> Names:
    variables: set[str] = set()
    attributes: set[str] = set()
    for each in walk(node):
        if isinstance(each, ast.Name):
            variables.add(each.id)
        elif isinstance(each, ast.Attribute):
            attributes.add(each.attr)
        elif isinstance(each, ast.MatchClass):
            attributes.update(each.kwd_attrs)
    return Names(frozenset(variables), frozenset(attributes))


def appended_name(call: ast.expr) -> str | None:
    """The variable that an expression appends to: `out` in `out.append(v)`."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[]):
            return None if isinstance(item, ast.Starred) else name
        case _:
            return None


#: What has names of its own, or names in other places than `ast.Name`.
_SCOPES: frozenset[type[ast.AST]] = frozenset(
    [
        ast.Lambda,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Match,
        ast.Import,
        ast.ImportFrom,
    ]
)
#: What decides by truth value which of its parts is evaluated, or binds in the middle: staged one by one.
_DECIDING: frozenset[type[ast.AST]] = frozenset([ast.BoolOp, ast.IfExp, ast.NamedExpr])
#: What may go through a hook.
_HOOKED: frozenset[type[ast.AST]] = frozenset(
    [ast.Attribute, ast.Call, ast.Compare, ast.UnaryOp, ast.Subscript, ast.FormattedValue]
)
_PLAIN: frozenset[type[ast.AST]] = frozenset([ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr])
_BLOCKS = ("body", "orelse", "finalbody")
#: Fields that hold no nodes that matter here.
_SKIPPED = frozenset(["ctx", "op", "ops", "type_comment", "kind", "returns", "annotation"])
_fields: dict[type[ast.AST], tuple[str, ...]] = {}


class Facts(NamedTuple):
    """Facts about one statement; of those inside it, only what they assign."""

    #: The names that it may bind, and the statements inside it.
    assigns: tuple[str, ...]
    #: The names that its own expressions read from around them, and the attributes that they name.
    reads: tuple[str, ...]
    attributes: tuple[str, ...]
    #: Whether it runs from its start to its end: names are assigned, and nothing decides what is evaluated.
    is_plain: bool
    may_be_unsupported: bool
    #: Whether a part of it has names of its own, or runs later: a lambda, a comprehension, an inner function.
    has_scope: bool
    #: The names whose attributes it calls, `op` in `op.Add(x, y)`; None if something in it may have to be replaced.
    called_of: frozenset[str] | None
    #: Whether it is `y = op.Add(x, 1.0)`: it assigns a name what one call gives, of names and constants.
    is_call: bool = False


#: `Facts(...)`, without a call of Python's for each statement.
_new_facts: Callable[[tuple[object, ...]], Facts] = functools.partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]  # of any tuple
    Facts,
)

#: Attributes that are asked for through a hook.
HOOKED_ATTRIBUTES = frozenset(["dtype", "__class__"])


class FactTable:
    """The facts of all statements of a function, by statement."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        #: The facts of each statement, by its id. No method finds them: flow asks several times for every statement.
        self.of: dict[int, Facts] = {}
        #: What statements with others inside name, once somebody has asked.
        self._names: dict[int, Names] = {}
        #: Keeps the trees alive whose ids are the keys above.
        self._body = body
        self._appends = False
        #: Whether an expression outside of scopes of their own binds a name with `:=`.
        self.has_walrus = False
        self._order: StatementOrder | None = None
        self._all_names: Names | None = None
        #: Whether a part has names of its own, or runs later; and if a look is needed for what a script cannot contain.
        self.has_scope = self.may_be_unsupported = False
        self.assigns = tuple(self._read(body))

    @property
    def order(self) -> StatementOrder:
        """The statements in the order of the source, once somebody has asked."""
        if self._order is None:
            self._order = StatementOrder(self._body)
        return self._order

    @property
    def reads(self) -> dict[str, None]:
        """All names that the function's own expressions read, in the order of the source."""
        return {name: None for each in self.of.values() for name in each.reads}

    @property
    def may_append(self) -> bool:
        """True if some statement may be `out.append(v)`."""
        return self._appends or self.has_scope

    @property
    def all_names(self) -> Names:
        """The names in the whole function."""
        if self._all_names is None:
            self._all_names = self.names(self._body)
        return self._all_names

    def names(self, statements: Iterable[ast.stmt]) -> Names:
        """The names in statements of the function, with those inside them: the same as `names_in`, without a walk."""
        variables: set[str] = set()
        attributes: set[str] = set()
        self._add_names(statements, variables, attributes)
        return Names(frozenset(variables), frozenset(attributes))

    def _add_names(self, statements: Iterable[ast.stmt], variables: set[str], attributes: set[str]) -> None:
        for statement in statements:
            facts = self.of.get(id(statement))
            if facts is not None and facts.is_plain:  # then no part of it has names of its own
                variables.update(facts.reads, facts.assigns)
                attributes.update(facts.attributes)
                continue
            found = self._names.get(id(statement))
            if found is None:
                found = self._names[id(statement)] = self._names_with_blocks(statement, facts)
            variables |= found.variables
            attributes |= found.attributes

    def _names_with_blocks(self, statement: ast.stmt, facts: Facts | None) -> Names:
        if facts is None or facts.has_scope:
            return names_in([statement])
        variables, attributes = {*facts.reads, *facts.assigns}, set(facts.attributes)
        kind = KINDS.loaded(type(statement).__name__)
        for block in () if kind is None else kind.blocks(statement):
            self._add_names(block, variables, attributes)
        return Names(frozenset(variables), frozenset(attributes))

    def _read(self, statements: Sequence[ast.stmt]) -> dict[str, None]:
        assigned: dict[str, None] = {}
        for statement in statements:
            call = _call_of_names(statement)
            if call is not None:
                self.of[id(statement)] = call
                assigned[call.assigns[0]] = None
                continue
            found = _Scan(statement)
            self.has_walrus = self.has_walrus or found.has_walrus
            self.has_scope = self.has_scope or found.has_scope
            self.may_be_unsupported = self.may_be_unsupported or found.may_be_unsupported
            is_plain = (
                statement.__class__ in _PLAIN
                and not found.decides
                and not found.has_scope
                and has_plain_targets(statement)
            )
            # Of plain statements none but this one has a kind that is asked.
            is_asked = not is_plain or statement.__class__ is ast.AugAssign
            kind = KINDS.get(type(statement).__name__) if is_asked else None
            for inner in () if kind is None else kind.blocks(statement):
                found.assigns |= self._read(inner)
            if statement.__class__ is ast.Expr:
                self._appends = self._appends or appended_name(cast(ast.Expr, statement).value) is not None
            self.of[id(statement)] = Facts(
                tuple(found.assigns),
                tuple(found.reads),
                tuple(found.attributes),
                is_plain,
                found.may_be_unsupported,
                found.has_scope,
                None if found.needs_hooks else frozenset(found.called_of),
            )
            assigned |= found.assigns
        return assigned


def _call_of_names(statement: ast.stmt) -> Facts | None:
    """The facts of `y = op.Add(x, 1.0)`; None for all else.

    Most statements of a script are of this form, and a scan finds the same for them in four times the time.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, call = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return None
    reads = call_reads(call)
    if reads is None:
        return None
    called, attribute = frozenset(reads[:1]), cast(ast.Attribute, call.func).attr
    return _new_facts(((target.id,), reads, (attribute,), True, False, False, called, True))


def call_reads(call: ast.Call) -> tuple[str, ...] | None:
    """The names in `op.Add(x, 1.0)`, the one whose attribute is called first; None for all other calls."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr in HOOKED_ATTRIBUTES:
        return None
    owner = function.value
    if not isinstance(owner, ast.Name):
        return None
    reads = {owner.id: None}
    for each in call.args:
        if isinstance(each, ast.Name):
            reads[each.id] = None
        elif not isinstance(each, ast.Constant):
            return None
    for keyword in call.keywords:
        value = keyword.value
        if isinstance(value, ast.Name) and keyword.arg is not None:
            reads[value.id] = None
        elif not isinstance(value, ast.Constant):
            return None
    return tuple(reads)


def has_plain_targets(statement: ast.stmt) -> bool:
    """True if a statement assigns names only, one at a time."""
    match statement:
        case ast.Assign(targets=targets):
            return all(isinstance(each, ast.Name) for each in targets)
        case ast.AugAssign(target=target):
            return isinstance(target, ast.Name)
        case ast.AnnAssign(target=target, value=value):
            return isinstance(target, ast.Name) and value is not None
        case ast.Expr(value=value):
            # What a list takes may become part of a sequence of the model: staged by itself.
            return not isinstance(value, ast.Constant) and appended_name(value) is None
        case _:
            return False


class _Scan:
    """Goes through one statement without those inside it."""

    __slots__ = (
        "assigns",
        "attributes",
        "called_of",
        "decides",
        "has_scope",
        "has_walrus",
        "may_be_unsupported",
        "needs_hooks",
        "reads",
    )

    def __init__(self, statement: ast.stmt) -> None:
        self.assigns: dict[str, None] = {}
        self.reads: dict[str, None] = {}
        self.attributes: dict[str, None] = {}
        self.called_of: dict[str, None] = {}
        self.needs_hooks = False
        self.decides = False
        self.has_scope = False
        self.has_walrus = False
        self.may_be_unsupported = False
        # Lists of nodes also hold None, for `**options` and the like, and the names of `global`.
        waiting: list[ast.AST | str | None] = [statement]
        while waiting:
            node = waiting.pop()
            kind = node.__class__
            if kind is ast.Name:
                assert isinstance(node, ast.Name)
                context = node.ctx.__class__
                if context is not ast.Store:  # `del x` needs an x
                    self.reads[node.id] = None
                if context is not ast.Load:
                    self.assigns[node.id] = None
            elif kind is ast.Constant or not isinstance(node, ast.AST):
                continue
            elif kind in _SCOPES:
                self.has_scope = self.may_be_unsupported = True  # something inside it may be
                scope = node if isinstance(node, ast.stmt) else ast.Expr(cast(ast.expr, node))
                self.assigns |= dict.fromkeys(assigned_names([scope]))
                self.reads |= dict.fromkeys(free_names(node))
            elif isinstance(node, ast.ExceptHandler):  # its statements are a block of the `try`
                if node.name is not None:
                    self.assigns[node.name] = None
                waiting.append(node.type)
            else:
                if kind in _HOOKED:
                    self._look_closer(node)
                elif kind in _DECIDING:
                    self.decides = True
                    self.has_walrus = self.has_walrus or kind is ast.NamedExpr
                elif kind in MAY_BE_UNSUPPORTED:
                    self.may_be_unsupported = True
                names = _fields.get(type(node))
                if names is None:
                    skipped = _SKIPPED.union(_BLOCKS) if isinstance(node, ast.stmt) else _SKIPPED
                    names = tuple(each for each in reversed(node._fields) if each not in skipped)
                    _fields[type(node)] = names
                for name in names:
                    value: object = getattr(node, name, None)
                    if value.__class__ is list:
                        waiting += reversed(cast("list[ast.AST | str | None]", value))
                    elif isinstance(value, ast.AST):
                        waiting.append(value)

    def _look_closer(self, node: ast.AST) -> None:
        """Notes nodes that may need a hook: they mean something else on values that only the model knows."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                self.called_of[name] = None
                return
            case ast.Call(func=ast.Name(id="print")):
                self.decides = True  # only what is printed reads it
            case ast.Attribute(attr=name, ctx=context):
                self.attributes[name] = None
                self.may_be_unsupported = self.may_be_unsupported or not isinstance(context, ast.Load)
                self.needs_hooks = self.needs_hooks or name in HOOKED_ATTRIBUTES
                return
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                return
            case ast.Compare(ops=ops):
                self.decides = self.decides or len(ops) > 1
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                return
            case _:
                pass
        self.needs_hooks = True
