"""`model.with_shapes(...)`: other names and sizes for dimensions, other shapes for inputs, through the whole model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import (
    AnnotationError,
    CallError,
    DuplicateNameError,
    OnnxsmithError,
    ShapeError,
    UnknownNameError,
)
from onnxsmith.graphs.graph_inference import Walk
from onnxsmith.graphs.ir_types import shape_from_ir, shape_to_ir, type_from_ir, type_to_ir
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.rewriting.scopes import described_node, graphs_of, required_inputs
from onnxsmith.passes.surgery.constant_shapes import (
    are_computed,
    keeps_items_apart,
    needed,
    open_shapes,
    put_shapes,
)
from onnxsmith.passes.surgery.declared_types import new_walk
from onnxsmith.passes.surgery.dimensions import atoms, dimension_names, substitute, substituted
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.surgery.naming import by_name
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import (
    AnyValueType,
    Dim,
    Dimension,
    Shape,
    TensorType,
    describe_shape,
    sizes_differ,
)

#: Sizes that dimensions are tried with which are to be open: a small one, and such that have many divisors.
_TRIED_SIZES = (2, 48, 240)

#: What is given for a dimension, or for an input or output.
GivenShape: TypeAlias = int | str | Dim | Sequence[int | str | Dim | None]


@model_boundary
def with_shapes(
    model: ModelLike, shapes: Mapping[str, GivenShape] | None = None, /, **named: GivenShape
) -> Model:
    """The model with other shapes, worked out through all of it; what cannot be is an error that names the node.

    A size or a name for a dimension (`batch=1`, `batch="N"`) takes its place wherever it stands. A shape for an input
    or output (`x=(1, 3, "H", "W")`) does so with the dimensions that had a name; None, or the name that a dimension
    has, leaves it to what is said elsewhere. A name that is given a size is that size wherever it is written. A size
    that the model had may be another one, or open, then (`x=("N", 3)`): the shapes that follow are worked out anew.
    Names that are no identifiers are given as a mapping.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a @ b), FLOAT["N", "K"], FLOAT["K", 8])
    >>> model.with_shapes(N="batch", K=4)
    Model(a: FLOAT['batch', 4], b: FLOAT[4, 8]) -> relu: FLOAT['batch', 8], 2 nodes, opset 21
    >>> model.with_shapes(a=(2, 3))
    Model(a: FLOAT[2, 3], b: FLOAT[3, 8]) -> relu: FLOAT[2, 8], 2 nodes, opset 21
    >>> model.with_shapes(N=1, a=("N", None), b=(3, 8))
    Model(a: FLOAT[1, 3], b: FLOAT[3, 8]) -> relu: FLOAT[1, 8], 2 nodes, opset 21
    """
    model = model_of(model, "with_shapes")
    given = by_name(shapes, named, "with_shapes")
    if not given:
        raise CallError("with_shapes was told no shapes", help='model.with_shapes(batch="N")')
    held, wanted = _shaped(model, given)
    _check_open(held, dict(sorted(wanted.freed.items())))
    return finished(held)


def with_tried_shapes(model: ModelLike, shapes: Mapping[str, GivenShape]) -> Model:
    """Like `with_shapes`, for a caller that tries the sizes of what is open then; a model may work for some only."""
    return finished(_shaped(model_of(model, "with_tried_shapes"), shapes)[0])


def _shaped(model: Model, given: Mapping[str, GivenShape]) -> tuple[ModelContent, _Wanted]:
    held = read(model).copy()
    wanted = _Wanted(held)
    for name, each in given.items():
        wanted.add(name, each)
    wanted.check()
    wanted.settle()
    substitute(held, wanted.sizes)
    for value, shape in wanted.shapes.items():
        declared = shape_from_ir(value.shape) or shape
        value.shape = shape_to_ir(
            tuple(old if new is None else new for old, new in zip(declared, shape, strict=True))
        )
    if wanted.is_freed:
        _forget_shapes(held, wanted.shapes)
    _work_out(held)
    return held, wanted


@dataclass(slots=True)
class _Wanted:
    """The requested changes, put together."""

    held: ModelContent
    sizes: dict[str, int | str] = field(default_factory=dict[str, int | str])
    #: What is given for inputs and outputs; None where a dimension is left to what is said elsewhere.
    shapes: dict[ir.Value, Shape] = field(default_factory=dict[ir.Value, Shape])
    #: Whether a size that the model had is another one now, so that the shapes that it declares may not hold.
    is_freed: bool = False
    #: The names of dimensions that were sizes, and the size of each; None where that is not one number.
    freed: dict[str, int | None] = field(default_factory=dict[str, int | None])
    _said_by: dict[str, str] = field(default_factory=dict[str, str])
    #: Names that shapes have where no dimension is called so anew, each with the input or output that says it.
    _mentioned: dict[str, str] = field(default_factory=dict[str, str])
    #: Dimensions that are computed from others, as `N+1` is, and were given something else: where, what, and what now.
    _computed: list[tuple[str, str, int | str]] = field(default_factory=list[tuple[str, str, int | str]])
    _names: dict[str, str] | None = None

    def add(self, name: str, given: GivenShape) -> None:
        """Take what was given for a dimension, an input or an output."""
        if isinstance(given, int | str | Dim) or hasattr(given, "__index__"):
            self._add_dimension(name, given)
        else:
            self._add_port(name, given)

    def _add_dimension(self, name: str, given: object) -> None:
        if self._names is None:
            self._names = dimension_names(self.held)
        if name not in self._names:
            self._refuse_name("dimension", name, self._names)
        size = _checked(name, (given,))[0]
        if size is None:
            return
        self._set(name, size, f"{name}={given!r}")

    def check(self) -> None:
        """Refuse one name for two dimensions, and two names for one.

        A shape may say that two dimensions are one, a new name alone does not.
        """
        for name, size in self.sizes.items():
            port = self._mentioned.get(name)
            if port is not None and isinstance(size, str):
                self._refuse_two(name, size, self._said_by[name], name, f"the shape of '{port}'")
            names = self._names or {}
            is_told = self._said_by[name].startswith(f"{name}=")
            if (
                is_told
                and isinstance(size, str)
                and size in names
                and self.sizes.get(size, size) == size != name
            ):
                raise DuplicateNameError(
                    f"there is a dimension '{size}' already, in '{names[size]}'",
                    help=f"if they are one size, give both another name: {name}='n', {size}='n'",
                    culprit=name,
                )

    def settle(self) -> None:
        """Put a size wherever its name was written: in names that were given, and in the shapes.

        Other names than sizes take their places all at once: `A="B", B="A"` lets two names change places.
        """
        known = self._known_sizes()
        while known:
            self.sizes = {name: _settled(size, known) for name, size in self.sizes.items()}
            before, known = known, self._known_sizes()
            if len(before) == len(known):
                break
        for value, shape in self.shapes.items():
            self.shapes[value] = tuple(substituted(each, known) for each in shape)
        for port, before, after in self._computed:
            by_names, by_shape = substituted(before, known), substituted(after, known)
            if sizes_differ(by_names, by_shape):
                names = ", ".join(f"{each}={known[each]}" for each in atoms(before) if each in known)
                self._refuse_two(before, by_names, names, by_shape, f"the shape of '{port}'")

    def _known_sizes(self) -> dict[str, int | str]:
        return {name: size for name, size in self.sizes.items() if isinstance(size, int)}

    def _add_port(self, name: str, given: object) -> None:
        graph = self.held.graph
        ports = {each.name: each for each in (*graph.inputs, *graph.outputs) if each.name}
        if name not in ports:
            if name in dimension_names(self.held):
                raise AnnotationError(
                    f"the dimension '{name}' is an int or a name, not {given!r}",
                    help=f"with_shapes({name}=2), or with_shapes({name}='batch')",
                    culprit=name,
                )
            self._refuse_name("input or output", name, ports)
        if not isinstance(given, Sequence):
            raise AnnotationError(
                f"the shape of '{name}' is {given!r}, and a shape is a tuple of sizes and names", culprit=name
            )
        value = ports[name]
        shape = _checked(name, tuple(given))  # pyright: ignore[reportUnknownArgumentType]  # checked one by one
        declared = self.held.type_of(value)
        if not isinstance(declared, TensorType):
            raise ShapeError(f"'{name}' is {declared.described}, and only tensors have a shape", culprit=name)
        self.shapes[value] = shape
        if declared.shape is None:
            for each in shape:
                self._mention(name, each)
            return
        if len(shape) != len(declared.shape):
            raise ShapeError(
                f"'{name}' has shape {describe_shape(declared.shape)}, and was given {describe_shape(shape)}: "
                f"{len(shape)} dimensions for {len(declared.shape)}",
                culprit=name,
            )
        for before, after in zip(declared.shape, shape, strict=True):
            self._add_port_dimension(name, before, after)

    def _add_port_dimension(self, port: str, before: Dimension, after: Dimension) -> None:
        if after is None:
            return
        if before is None or before == after:
            self._mention(port, after)
        elif isinstance(before, str) and atoms(before) == [before]:
            self._set(before, after, f"the shape of '{port}'")
        else:
            self.is_freed = True
            if isinstance(before, int) and isinstance(after, str):
                for name in atoms(after):
                    size = before if name == after else None
                    self.freed[name] = size if self.freed.get(name, size) == size else None
            self._mention(port, after)
            if isinstance(before, str):
                self._computed.append((port, before, after))

    def _mention(self, port: str, dimension: Dimension) -> None:
        if isinstance(dimension, str):
            for name in atoms(dimension):
                self._mentioned.setdefault(name, port)

    def _set(self, name: str, size: int | str, said_by: str) -> None:
        known = self.sizes.setdefault(name, size)
        first = self._said_by.setdefault(name, said_by)
        if known != size:
            self._refuse_two(name, known, first, size, said_by)

    def _refuse_two(self, name: str, one: object, said_by: str, other: object, other_said_by: str) -> None:
        raise ShapeError(
            f"dimension '{name}' would be {one!r} by {said_by}, and {other!r} by {other_said_by}",
            culprit=other_said_by.partition("=")[0],
        )

    def _refuse_name(self, kind: str, name: str, known: Mapping[str, object]) -> None:
        listed = ", ".join(repr(each) for each in sorted(known)[:12]) or "none"
        raise UnknownNameError(
            f"the model has no {kind} '{name}'",
            help=did_you_mean(name, known) or f"it has {listed}",
            culprit=name,
        )


def _settled(size: int | str, known: Mapping[str, int | str]) -> int | str:
    found = substituted(size, known)
    return size if found is None else found


def _checked(name: str, given: tuple[object, ...]) -> Shape:
    """Sizes and names as a shape; refused where one is neither."""
    try:
        return TensorType(None, ())[given].shape or ()
    except AnnotationError as error:
        reason = error.message.rpartition(": ")[2]
        shown = given[0] if len(given) == 1 else given
        raise AnnotationError(f"{name}={shown!r}: {reason}", culprit=name) from None


# -- through the model ---------------------------------------------------------------------------------------


def _forget_shapes(held: ModelContent, kept: Mapping[ir.Value, Shape]) -> None:
    """Shapes inside a model follow from its inputs; where these are others, they are worked out anew."""
    for graph in graphs_of(held.graph):
        carried = list(graph.inputs) if graph is not held.graph else list[ir.Value]()
        for value in (*carried, *(each for node in graph for each in node.outputs)):
            if value not in kept:
                value.shape = None


def _work_out(held: ModelContent) -> None:
    """Give all values the types that follow from the inputs; refuse what contradicts itself."""
    walk = new_walk(held)
    for value in required_inputs(held.graph):
        walk.known[value] = Known(held.type_of(value))
    walk.graph(held.graph)
    for node in held.graph:
        for value in node.outputs:
            found, declared = walk.of(value).type, held.type_of(value)
            if contradict(found, declared):
                raise ShapeError(
                    f"{described_node(node)} gives '{value.name}' as {found.described}, "
                    f"and the model declares {declared.described}"
                )
            _declare(value, found)
    for graph in held.graph.subgraphs():
        _declare_inside(walk, graph)


def _check_open(held: ModelContent, freed: Mapping[str, int | None]) -> None:
    """Refuse to call dimensions open that work for one size only: `256 * N` beside 256 breaks no rule by itself."""
    if _refusal(held, freed) is None:
        return
    known = {name: size for name, size in freed.items() if size is not None}
    alone = {name: _fixed_but(held, name, known) for name in known} if len(known) == len(freed) else {}
    # Those that do not work by themselves; all, where only several at a time do not.
    names = [name for name, model in alone.items() if _refusal(model, {name: known[name]})] or list(freed)
    tried = alone[names[0]] if len(names) == 1 and names[0] in alone else held
    refusal = _refusal(tried, {name: freed[name] for name in names}) or _refusal(held, freed)
    assert refusal is not None  # the same was refused above
    listed = " and ".join(f"'{each}'" for each in names)
    sizes = {name: known[name] for name in names if name in known}
    shapes = _way_out(tried, sizes) if len(sizes) == len(names) else dict[str, tuple[int, ...]]()
    first = ", ".join(f"{name!r}: {list(each)}" for name, each in shapes.items())
    raise ShapeError(
        f"the model does not work for any size of {listed}, only for the one that it had: with "
        f"{refusal[0]}, {refusal[1].message}",
        help=f"constant shapes hold the size; call model.replace_weights({{{first}}}) first, which leaves it open"
        if shapes
        else f"leave the size of {listed} as it is, or export the model anew with it open"
        + (
            "; of model.optimize(), which makes constants of its shapes, this may say which hold the size"
            if are_computed(held)
            else ""
        ),
    )


def _refusal(held: ModelContent, freed: Mapping[str, int | None]) -> tuple[int, OnnxsmithError] | None:
    """The first size that dimensions are tried with and what is said of it, if no other than they had works."""
    refusal: tuple[int, OnnxsmithError] | None = None
    for size in _TRIED_SIZES if freed else ():
        if size in freed.values():
            continue
        tried = held.copy()
        try:
            substitute(tried, dict.fromkeys(freed, size))
            _work_out(tried)
            return None
        except OnnxsmithError as error:
            refusal = refusal or (size, error)
    return refusal


def _fixed_but(held: ModelContent, name: str, sizes: Mapping[str, int]) -> ModelContent:
    """A copy of a model where all dimensions but one have the sizes that they had."""
    result = held.copy()
    substitute(result, {each: size for each, size in sizes.items() if each != name})
    return result


def _way_out(held: ModelContent, sizes: Mapping[str, int]) -> Mapping[str, tuple[int, ...]]:
    """Values for constant shapes of a model with which the dimensions can be open; none where that is not enough."""
    fixed = held.copy()
    try:
        substitute(fixed, sizes)
        _work_out(fixed)
        for also_products in (False, True):
            shapes = open_shapes(fixed, {*sizes.values()}, also_products=also_products)
            opened = _with_shapes_put(held, shapes)
            if opened is None:
                continue
            shapes = needed(opened, shapes, sizes)
            opened = _with_shapes_put(held, shapes)
            if opened is None or not shapes or not keeps_items_apart(opened, sizes):
                continue
            if _refusal(opened, sizes) is None:
                return shapes
    except OnnxsmithError:  # the model contradicts itself in another way
        pass
    return {}


def _with_shapes_put(held: ModelContent, shapes: Mapping[str, tuple[int, ...]]) -> ModelContent | None:
    """A copy of a model with other constant shapes, and what follows from them; None where it contradicts itself."""
    opened = held.copy()
    _forget_shapes(opened, {})
    put_shapes(opened, shapes)
    try:
        _work_out(opened)
    except OnnxsmithError:
        return None
    return opened


def _declare_inside(walk: Walk, graph: ir.Graph) -> None:
    """The same for a nested graph, which may run on several shapes: what it declares is left where it is another."""
    for value in (*graph.inputs, *(each for node in graph for each in node.outputs)):
        found = walk.known.get(value)
        if found is not None and not contradict(found.type, type_from_ir(value.type, value.shape)):
            _declare(value, found.type)


def _declare(value: ir.Value, found: AnyValueType) -> None:
    kind, shape = type_to_ir(found)
    if kind is None or value.type not in (None, kind):
        return  # nothing was found, or a body declares an optional where it is given what is there
    value.type = kind
    value.shape = value.shape if shape is None else shape
