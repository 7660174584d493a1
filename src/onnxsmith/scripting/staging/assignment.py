"""Assignments: names, patterns of names, elements of Python containers, and `x += y`."""

from __future__ import annotations

import ast
import collections
import operator
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.conversions import assignment_text
from onnxsmith.core.semantics.indexing import refuse_assignment
from onnxsmith.core.sequence import TensorSequence
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.errors import TensorAssignmentError, UnpackError, UnsupportedSyntaxError
from onnxsmith.graphs.unpacking import refuse_rows_for_outputs
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.array_tracking import followed
from onnxsmith.scripting.staging.caught import as_raised, is_caught
from onnxsmith.scripting.staging.items import Place, Rows, place_of, rows_written
from onnxsmith.scripting.staging.raised import open_raises
from onnxsmith.scripting.staging.truth import truth
from onnxsmith.scripting.staging.watch import refuse_change

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager


#: What has elements that can be set.
Elements: TypeAlias = "MutableMapping[Any, UserValue]"
#: What `x += y` computes of the two.
_InPlace: TypeAlias = Callable[[Any, Any], Any]


def _operator(name: str) -> _InPlace:
    return getattr(operator, name)


_IN_PLACE_OPERATORS: dict[type[ast.operator], _InPlace] = {
    ast.Add: _operator("iadd"),
    ast.Sub: _operator("isub"),
    ast.Mult: _operator("imul"),
    ast.Div: _operator("itruediv"),
    ast.FloorDiv: _operator("ifloordiv"),
    ast.Mod: _operator("imod"),
    ast.Pow: _operator("ipow"),
    ast.MatMult: _operator("imatmul"),
    ast.BitAnd: _operator("iand"),
    ast.BitOr: _operator("ior"),
    ast.BitXor: _operator("ixor"),
    ast.LShift: _operator("ilshift"),
    ast.RShift: _operator("irshift"),
}


#: What `+=` changes instead of making a new one.
CHANGED_IN_PLACE = (list, set, dict, collections.deque, bytearray, np.ndarray)


def assign(stager: Stager, target: ast.expr, value: UserValue) -> None:
    """Bind a target: a name, a pattern of names, an element of a Python container."""
    match target:
        case ast.Name(id=name):
            stager.assign_name(name, value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            _unpack(stager, target, elements, value)
        case ast.Subscript(value=container, slice=index):
            frame = stager.frame
            place = place_of(stager, target)
            if place is not None:
                with located(frame.span(target)):
                    place.put(value)
                return
            rows = rows_written(stager, target)
            if rows is not None:
                inner = cast(ast.Subscript, container)
                position, key = frame.evaluate(inner.slice), frame.evaluate(index)
                with located(frame.span(target)):
                    rows.write(position, key, value)
                return
            _assign_element(stager, target, frame.evaluate(container), frame.evaluate(index), value)
        case ast.Attribute(value=owner, attr=name):
            _assign_attribute(stager, target, stager.frame.evaluate(owner), name, value)
        case _:
            raise UnsupportedSyntaxError("this cannot be assigned to in a script").locate(
                stager.frame.span(target)
            )


def _unpack(stager: Stager, target: ast.expr, elements: Sequence[ast.expr], value: UserValue) -> None:
    _speaks_for_callee = True
    values = _elements(stager, target, elements, value)
    stars = [k for k, each in enumerate(elements) if isinstance(each, ast.Starred)]
    if stars:
        first, after = stars[0], len(elements) - stars[0] - 1
        if len(values) < len(elements) - 1:
            raise _unpack_error(stager, target, f"at least {len(elements) - 1}", len(values))
        values = [*values[:first], list(values[first : len(values) - after]), *values[len(values) - after :]]
    elif len(values) != len(elements):
        if is_caught(ValueError):  # as Python says it, to a 'try' around it
            raise ValueError(f"cannot unpack {len(values)} values (expected {len(elements)})")
        raise _unpack_error(stager, target, str(len(elements)), len(values))
    for element, each in zip(elements, values, strict=True):
        assign(stager, element.value if isinstance(element, ast.Starred) else element, each)


def _elements(
    stager: Stager, target: ast.expr, elements: Sequence[ast.expr], value: UserValue
) -> list[UserValue]:
    if isinstance(value, Value) and value.is_symbolic:
        with located(stager.frame.span(target)):
            return _tensor_elements(stager, target, elements, value)
    if isinstance(value, Carrier) and value.is_symbolic:
        with located(stager.frame.span(target)):
            return _carried_elements(stager, target, elements, value)
    try:
        return list(cast("Iterable[UserValue]", value))
    except TypeError:
        raise UnpackError(
            f"a {type(value).__name__} cannot be unpacked into {len(elements)} variables"
        ).locate(stager.frame.span(target)) from None


def _carried_elements(
    stager: Stager, target: ast.expr, elements: Sequence[ast.expr], value: Carrier
) -> list[UserValue]:
    """The elements of an array; where only the model knows how many there are, it fails unless they are as many."""
    count, element = value.gone_through()
    if isinstance(count, int):
        return [element(k) for k in range(count)]
    raises = open_raises()
    if raises is None or any(isinstance(each, ast.Starred) for each in elements):
        raise UnpackError(
            f"only the model knows how many elements there are for {len(elements)} variables",
            help="index it: x[0], x[1:]",
        )
    span = stager.frame.span(target)
    wanted = len(elements)
    error = as_raised(ValueError(f"{wanted} values are needed to unpack into as many"), span)
    raises.note_unless(truth(cast(Value, count == wanted)), error, span)
    return [element(k) for k in range(wanted)]


def _tensor_elements(
    stager: Stager, target: ast.expr, elements: Sequence[ast.expr], value: Value
) -> list[UserValue]:
    """The rows of a tensor, or the elements of a sequence: as many as are asked for, where only the model knows."""
    if isinstance(value, SymbolicTensor):
        has_star = any(isinstance(each, ast.Starred) for each in elements)
        refuse_rows_for_outputs(value, None if has_star else len(elements))
    shape = value.type.shape if isinstance(value, Tensor) else None
    count = shape[0] if shape else None
    if shape == ():
        raise UnpackError(f"a scalar tensor cannot be unpacked into {len(elements)} variables")
    if not isinstance(count, int):
        if any(isinstance(each, ast.Starred) for each in elements):
            raise UnpackError(
                "only the model knows how many values there are, so a starred variable cannot take the rest",
                help="index it: x[0], x[1:]",
            )
        count = len(elements)
    elif count < len(elements) and not any(isinstance(each, ast.Starred) for each in elements):
        raise _unpack_error(stager, target, str(len(elements)), count)
    rows = cast("Tensor | TensorSequence", value)
    return [rows[k] for k in range(count)]


def _unpack_error(stager: Stager, target: ast.expr, wanted: str, got: int) -> UnpackError:
    return UnpackError(f"{wanted} values are needed here, and there are {got}").locate(
        stager.frame.span(target)
    )


def _assign_element(
    stager: Stager, target: ast.Subscript, container: UserValue, index: UserValue, value: UserValue
) -> None:
    _refuse_tensor(stager, target, container)
    with located(stager.frame.span(target)):
        container = followed(stager, target.value, container, (index, value))
        if not isinstance(container, Rows):  # its columns keep a journal
            refuse_change(container)
        cast(Elements, container)[index] = value


def delete_element(stager: Stager, target: ast.Subscript) -> None:
    """`del a[0]`: of a list or a dict, which Python knows."""
    frame = stager.frame
    container, index = frame.evaluate(target.value), frame.evaluate(target.slice)
    with located(frame.span(target)):
        if not isinstance(container, list | dict):
            raise UnsupportedSyntaxError(
                "elements of lists and dicts alone can be deleted",
                help="make a new value without the element",
            )
        refuse_change(cast(UserValue, container))
        del cast("dict[UserValue, UserValue]", container)[index]


def _assign_attribute(
    stager: Stager, target: ast.expr, owner: UserValue, name: str, value: UserValue
) -> None:
    """Arrays of a dialect have attributes that are written to: `x.flat = 0`. All other objects live outside."""
    frame = stager.frame
    if not frame.run.dialect.is_open(owner):
        raise _lasting_attribute(stager, target)
    with located(frame.span(target)):
        try:
            setattr(owner, name, value)
        except AttributeError:
            raise UnsupportedSyntaxError(
                f"'{name}' of an array cannot be assigned here",
                help="make a new array: x = x.reshape(…)" if name == "shape" else "make a new array",
            ) from None


def _lasting_attribute(stager: Stager, target: ast.expr) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        "an attribute of an object is assigned, and a model has no memory from one call to the next",
        help="assign a variable and return it; state in a dataclass is given a new value: "
        "s = State(s.total + v), or s = dataclasses.replace(s, total=…)",
    ).locate(stager.frame.span(target))


def _refuse_tensor(stager: Stager, target: ast.Subscript, container: UserValue) -> None:
    if isinstance(container, Value) and not isinstance(container, Carrier):
        with located(stager.frame.span(target)):
            if isinstance(container, TensorSequence):
                written, index = ast.unparse(target.value), ast.unparse(target.slice)
                text, shorter = assignment_text(), f"op.SequenceErase({written}, {index})"
                value = "…" if text is None or text.method != "set" else text.value
                raise TensorAssignmentError(
                    "a sequence is never changed in place; an update makes a new one",
                    help=f"{written} = op.SequenceInsert({shorter}, {value}, {index})",
                )
            refuse_assignment()


def assign_augmented(stager: Stager, statement: ast.AugAssign) -> None:
    """`x += y`; a list or array that Python knows is changed in place, as Python does."""
    compute = _IN_PLACE_OPERATORS[type(statement.op)]
    frame = stager.frame
    match statement.target:
        case ast.Name(id=name):
            current = frame.read(name, statement.target)
            right = frame.evaluate(statement.value)
            if isinstance(current, CHANGED_IN_PLACE):
                with located(frame.span(statement)):
                    refuse_change(current)
            stager.assign_name(name, _at(stager, statement, compute, current, right))
        case ast.Subscript(value=container, slice=index):
            place = place_of(stager, statement.target)
            if place is not None:
                _augment_item(stager, statement, place)
                return
            rows = rows_written(stager, statement.target)
            if rows is not None:
                _augment_row(stager, statement, rows)
                return
            owner, key = frame.evaluate(container), frame.evaluate(index)
            _refuse_tensor(stager, statement.target, owner)
            with located(frame.span(statement.target)):
                owner = followed(stager, container, owner, (key,))
                elements = cast(Elements, owner)
                current = elements[key]
                if not isinstance(current, Carrier):
                    refuse_change(owner)
                if isinstance(current, CHANGED_IN_PLACE):
                    refuse_change(current)
            right = frame.evaluate(statement.value)
            result = _at(stager, statement, compute, current, right)
            if result is current and isinstance(current, Carrier) and _is_seen_by(owner, current):
                return  # an array that was changed in place: what holds it, or what it is a part of, has the change
            with located(frame.span(statement.target)):
                elements = cast(Elements, followed(stager, container, owner, (result,)))
                refuse_change(cast(UserValue, elements))
                elements[key] = result
        case ast.Attribute(value=holder, attr=name):
            owner = frame.evaluate(holder)
            current = _array_attribute(owner, name)
            if current is None and not frame.run.dialect.is_open(owner):
                raise _lasting_attribute(stager, statement.target)
            right = frame.evaluate(statement.value)
            result = _at(stager, statement, compute, getattr(owner, name), right)
            if result is current:
                return  # an array that was changed in place: the attribute holds what it held
            _assign_attribute(stager, statement.target, owner, name, result)
        case _:
            raise UnsupportedSyntaxError("this cannot be assigned to in a script").locate(
                frame.span(statement.target)
            )


def _array_attribute(owner: UserValue, name: str) -> Carrier | None:
    """The array that an attribute of an object holds, where assigning it again would change nothing."""
    held = getattr(owner, "__dict__", {}).get(name)
    is_simple = getattr(type(owner), "__setattr__", None) is object.__setattr__ and not hasattr(
        type(owner), name
    )
    return held if isinstance(held, Carrier) and is_simple else None


def _augment_item(stager: Stager, statement: ast.AugAssign, place: Place) -> None:
    """`state["sum"] += v` where the variable is given another dict."""
    frame = stager.frame
    with located(frame.span(statement.target)):
        current = place.value
        if isinstance(current, CHANGED_IN_PLACE):
            refuse_change(current)
    right = frame.evaluate(statement.value)
    result = _at(stager, statement, _IN_PLACE_OPERATORS[type(statement.op)], current, right)
    if result is not current:
        place.put(result)


def _augment_row(stager: Stager, statement: ast.AugAssign, rows: Rows) -> None:
    """`rows[i][k] += v` of a list that only the model knows the length of."""
    frame, target = stager.frame, cast(ast.Subscript, statement.target)
    position, key = frame.evaluate(cast(ast.Subscript, target.value).slice), frame.evaluate(target.slice)
    with located(frame.span(target)):
        current = cast(Any, rows)[position][key]
    right = frame.evaluate(statement.value)
    result = _at(stager, statement, _IN_PLACE_OPERATORS[type(statement.op)], current, right)
    with located(frame.span(target)):
        rows.write(position, key, result)


def _is_seen_by(owner: UserValue, current: Carrier) -> bool:
    """True if what changed in an element has changed in what it was taken of: a list holds it, a copy is apart."""
    return not isinstance(owner, Carrier) or current.owner is owner.owner


def _at(
    stager: Stager, statement: ast.stmt, compute: _InPlace, left: UserValue, right: UserValue
) -> UserValue:
    """Compute at a statement that is no expression: `x += y` has no code of its own to point at."""
    with located(stager.frame.span(statement)):
        return compute(left, right)
