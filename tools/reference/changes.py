"""What a new version of an operator changed, read from its two definitions."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.schema import equivalent_versions
from onnxsmith.schema.definition import Attribute, OperatorDef, Parameter


def changes(old: OperatorDef, new: OperatorDef) -> list[str]:
    """Sentences without a full stop: what is new, gone or different."""
    found = [*_ports("input", old.inputs, new.inputs), *_ports("output", old.outputs, new.outputs)]
    found += _attributes(old, new)
    found += _types(old, new)
    noted = equivalent_versions.meaning_changed(new)
    if noted:
        found.append(noted)
    return found or ["the text of the definition"]


def _ports(kind: str, old: Sequence[Parameter], new: Sequence[Parameter]) -> list[str]:
    before, after = {each.name: each for each in old}, {each.name: each for each in new}
    if before.keys() == after.keys():
        return [
            f"{kind} `{name}` is {after[name].option}"
            for name in after
            if before[name].option != after[name].option
        ]
    if len(old) == len(new) and all(one.option == other.option for one, other in zip(old, new, strict=True)):
        pairs = [
            f"`{one.name}` → `{other.name}`"
            for one, other in zip(old, new, strict=True)
            if one.name != other.name
        ]
        return [f"{kind} renamed: {', '.join(pairs)}"]
    added = [f"`{name}`" for name in after if name not in before]
    gone = [f"`{name}`" for name in before if name not in after]
    plural = "s" if len(added) > 1 else ""
    result = [f"new {kind}{plural} {', '.join(added)}"] if added else []
    return [*result, f"without {kind} {', '.join(gone)}"] if gone else result


def _attributes(old: OperatorDef, new: OperatorDef) -> list[str]:
    before, after = old.attributes, new.attributes
    inputs = {each.name for each in new.inputs} - {each.name for each in old.inputs}
    added = [f"`{name}`" for name in after if name not in before]
    moved = [f"`{name}`" for name in before if name not in after and name in inputs]
    gone = [f"`{name}`" for name in before if name not in after and name not in inputs]
    result: list[str] = []
    if added:
        result.append(f"new attribute{'s' if len(added) > 1 else ''} {', '.join(added)}")
    if moved:
        result.append(f"{', '.join(moved)}: an input now, an attribute before")
    if gone:
        result.append(f"without attribute{'s' if len(gone) > 1 else ''} {', '.join(gone)}")
    result += [
        f"`{name}` is {_default(after[name])}, was {_default(before[name])}"
        for name in after
        if name in before and _default(before[name]) != _default(after[name])
    ]
    return result


def _default(attribute: Attribute) -> str:
    if attribute.is_required:
        return "required"
    return "optional" if attribute.default is None else f"`{attribute.default!r}` by default"


def _types(old: OperatorDef, new: OperatorDef) -> list[str]:
    before, after = _all_types(old), _all_types(new)
    result: list[str] = []
    for words, kinds in (("more types", after - before), ("no longer", before - after)):
        if kinds:
            names = sorted(element_name(each) for each in kinds if each.startswith("tensor("))
            others = sorted({each.split("(")[0] for each in kinds if not each.startswith("tensor(")})
            long = {
                "seq": "sequences",
                "optional": "optionals",
                "map": "maps",
                "sparse_tensor": "sparse tensors",
            }
            shown = [*(f"`{name}`" for name in names), *(long.get(each, each) for each in others)]
            result.append(f"{words}: {', '.join(shown)}")
    return result


def _all_types(definition: OperatorDef) -> set[str]:
    return {kind for each in (*definition.inputs, *definition.outputs) for kind in each.types}


def element_name(kind: str) -> str:
    """`tensor(float)` is shown as `float`: the rest says nothing more."""
    return kind.removeprefix("tensor(").removesuffix(")") if kind.startswith("tensor(") else kind
