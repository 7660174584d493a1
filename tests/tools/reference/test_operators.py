"""Pages of operators: every operator has a family, an example that runs, and a text that cannot break the page."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.schema import registry
from tools.reference import schema_text
from tools.reference.changes import changes
from tools.reference.examples import example_of
from tools.reference.families import STANDARD, UnsortedOperator, family_of
from tools.reference.literals import literal
from tools.reference.operator_pages import Entry, operator_page, python_signature


def newest(name: str, domain: str = "") -> registry.OperatorDef:
    return registry.lookup(domain, name, registry.versions(domain, name)[-1])


def test_every_operator_is_in_one_family() -> None:
    names = registry.all_names("")
    assert {family_of("", name).slug for name in names} == {each.slug for each in STANDARD}
    assert sorted(" ".join(each.names for each in STANDARD).split()) == sorted(names)
    with pytest.raises(UnsortedOperator, match="Frobnicate is in 0 families"):
        family_of("", "Frobnicate")


#: A plain one, one with optional inputs, several outputs, sequences, graphs inside, no node case of its own.
@pytest.mark.parametrize("name", ["Relu", "Clip", "TopK", "SequenceAt", "If", "RandomNormal", "CastLike"])
def test_an_example_runs_and_is_compared(name: str) -> None:
    example = example_of(newest(name))
    assert example is not None
    assert example.program.count(f"op.{name}(") or name == "If"
    assert "array" in example.output


def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.reference import examples

    monkeypatch.setattr(examples, "literal", lambda value: literal(np.zeros_like(value)))
    with pytest.raises(examples.WrongExample, match="no node case of Relu runs"):
        example_of(newest("Relu"))


VALUES = [
    np.array([[1.5, np.nan], [-np.inf, 0.1]], np.float32),
    np.array(3, np.int64),
    np.array([True, False]),
    np.array(["a", "b'"], object),
    np.zeros((0, 3), np.float64),
    np.arange(60, dtype=np.float16).reshape(3, 4, 5),
    np.array([1 + 2j], np.complex64),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value.dtype))
def test_a_literal_gives_the_value_again(value: np.ndarray) -> None:
    again = eval(literal(value), {"np": np})
    assert (again.dtype, again.shape) == (value.dtype, value.shape)
    np.testing.assert_array_equal(again, value)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("A <b>bold</b> claim of Tensor<T>.", "A  bold  claim of Tensor&lt;T>."),
        ("See [Conv](Operators.md#Conv).", "See Conv."),
        ("See [the paper](https://example.org/x).", "See [the paper](https://example.org/x)."),
        ("At https://example.org/x.", "At [https://example.org/x](https://example.org/x)."),
        ("Title\n-----\ntext", "Title\ntext"),
        ("# Title\n\ntext", "**Title**\n\n\ntext"),
        ("a `<T>` of a*b", "a `<T>` of a\\*b"),
        ("Code:\n\n    x[0](y)\n\nmore", "Code:\n```text\nx[0](y)\n```\nmore"),
        ("```\nopen", "```text\nopen\n```"),
    ],
)
def test_texts_of_schemas(text: str, markdown: str) -> None:
    assert schema_text.block(text) == markdown


def test_what_a_version_changed() -> None:
    assert changes(registry.lookup("", "TopK", 1), registry.lookup("", "TopK", 10)) == [
        "new input `K`",
        "without attribute `k`",
    ]
    assert changes(registry.lookup("", "Squeeze", 11), registry.lookup("", "Squeeze", 13))[1].startswith(
        "`axes`: an input now"
    )


def test_a_page() -> None:
    definition = newest("Clip")
    entry = Entry(definition, family_of("", "Clip"), example_of(definition))
    page = operator_page(entry, [entry])
    assert python_signature(definition) == "op.Clip(input, min=None, max=None) -> output"
    for part in ("# Clip", "## Example", "## Inputs", "## Where it runs", "## Versions"):
        assert part in page
