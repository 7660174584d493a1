"""The check of English: what is prose, what is a sentence, and what is refused."""

from __future__ import annotations

import pytest

from tools import check_english
from tools.check_english import LONGEST_SENTENCE, PHRASES, problems_of
from tools.prose import Prose, docstring_prose, exported_names, page_prose, sentences, source_prose, words

LONG = " ".join(["word"] * (LONGEST_SENTENCE + 1)) + "."

PAGE = """# A heading that is not prose

First paragraph
on two lines. Second `code that is. one word` sentence.

| a table | is not prose |
| --- | --- |

```python
code = "is not prose"
```

- an item
- another item
  that goes on

:::{note}
A note is prose.
:::
"""

DOCSTRING = """Summary of it.

Explanation that
goes on.

- an item

>>> print("code")
code that was printed

After the example.

Wrong:

    some code here

Right:

    other code
"""


def test_the_prose_of_a_page() -> None:
    assert [(each.text, each.line) for each in page_prose(PAGE)] == [
        ("First paragraph on two lines. Second `code that is. one word` sentence.", 3),
        ("an item", 13),
        ("another item that goes on", 14),
        ("A note is prose.", 18),
    ]


def test_the_prose_of_a_docstring() -> None:
    found = list(docstring_prose(DOCSTRING, 10))
    assert [each.text for each in found] == [
        "Summary of it.",
        "Explanation that goes on.",
        "an item",
        "After the example.",
    ]
    assert [each.is_first for each in found] == [True, False, False, False]
    assert [each.line for each in found] == [10, 12, 15, 20]


def test_the_prose_of_a_module() -> None:
    source = """"Module."

class A:
    "A class."
    def f(self):
        "A method."
        raise SomeError(f"in {self} is wrong", help="do this")

def _g():
    return WrongUsage("so")
"""
    found = list(source_prose(source))
    assert [(each.kind, each.text, each.owner) for each in found] == [
        ("docstring", "Module.", ""),
        ("docstring", "A class.", "A"),
        ("docstring", "A method.", "A.f"),
        ("message", "in value is wrong", "A.f"),
        ("message", "do this", "A.f"),
        ("message", "so", "_g"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See e.g. This. Then that.", ["See e.g. This.", "Then that."]),
        ("Call `f. g`. `h` is next.", ["Call Code.", "Code is next."]),
        ("Read [the long page](a/b.md). More.", ["Read the long page.", "More."]),
        ("Version 1.2 is one sentence.", ["Version 1.2 is one sentence."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


def test_words() -> None:
    assert words("a – b, c: 1 + 2") == 5


@pytest.mark.parametrize(
    ("prose", "said"),
    [
        (Prose("page", LONG, 1), "a sentence of 36 words"),
        (Prose("page", "It hangs on data.", 1), "'hangs on'"),
        (Prose("message", "say so if it may go", 1), "to replace it"),
        (Prose("docstring", "What it gives.", 1, is_first=True), "begins with 'What'"),
        (Prose("docstring", "Whether it is.", 1, is_first=True), "begins with 'Whether'"),
    ],
)
def test_what_is_refused(prose: Prose, said: str) -> None:
    (problem,) = problems_of(prose)
    assert said in problem


@pytest.mark.parametrize(
    "prose",
    [
        Prose("page", LONG.replace("word word", "end. Word", 1), 1),
        Prose("docstring", "What follows is fine inside a docstring.", 1),
        Prose("message", LONG.replace(" ", "\n", 5), 1),
        Prose("page", "He hangs on to it.", 1),
    ],
)
def test_what_is_fine(prose: Prose) -> None:
    assert list(problems_of(prose)) == []


def test_records_may_be_long() -> None:
    assert list(problems_of(Prose("page", LONG, 1), is_record=True)) == []


def test_what_an_init_exports() -> None:
    source = 'from a.b import C as C\nfrom a.b import d\n_LAZY = {"E": "a.e", **OTHER}\n'
    assert list(exported_names(source)) == [("a.b", "C"), ("a.e", "E")]


def test_exported_docstrings_are_bound_and_private_ones_wait() -> None:
    names = check_english.exported()
    model = check_english.PACKAGE / "graphs" / "model.py"
    saved = Prose("docstring", "Write it.", 1, is_first=True, owner="Model.save")
    assert check_english.is_binding(saved, model, names)
    hidden = Prose("docstring", "Write it.", 1, is_first=True, owner="Model._hold")
    assert not check_english.is_binding(hidden, model, names)
    assert check_english.is_binding(Prose("message", "wrong", 1, owner="_made"), model, names)


def test_every_phrase_has_what_to_write_instead() -> None:
    assert all(PHRASES.values())
