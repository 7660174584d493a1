"""The counter of annotations that say nothing, on small made-up packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import count_any


def counted(tmp_path: Path, files: dict[str, str]) -> dict[str, count_any.Count]:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return count_any.count(tmp_path)


@pytest.mark.parametrize(
    ("signature", "parameters", "returns"),
    [
        ("def f(a: int) -> str: ...", 0, 0),
        ("def f(a: Any) -> Any: ...", 1, 1),
        ("def f(a: typing.Any, *b: 'Any', **c: Any | None) -> Optional[Any]: ...", 3, 1),
        ("def f(a: dict[str, Any], b: Callable[..., Any]) -> list[Any]: ...", 0, 0),
        ("def f(a: object) -> None: ...", 1, 0),
        ("def f(a): ...", 1, 1),
        ("class C:\n    def __eq__(self, other: object) -> bool: ...", 0, 0),
        ("class C:\n    def m(self, a: Any) -> None: ...", 1, 0),
        ("Loose: TypeAlias = Any\ndef f(a: Loose) -> Loose | None: ...", 1, 1),
        ("Loose = Any\nLooser = Loose\ndef f(a: Looser) -> int: ...", 1, 0),
        ("Tight: TypeAlias = int | str\ndef f(a: Tight) -> Tight: ...", 0, 0),
    ],
)
def test_what_says_nothing(signature: str, parameters: int, returns: int, tmp_path: Path) -> None:
    found = counted(tmp_path, {"core/a.py": signature})["core"]
    assert (len(found.parameters.bare), len(found.returns.bare)) == (parameters, returns)


def test_an_alias_counts_wherever_it_is_used(tmp_path: Path) -> None:
    files = {"core/a.py": "Loose: TypeAlias = Any", "graphs/b.py": "def f(a: Loose) -> int: ..."}
    assert counted(tmp_path, files)["graphs"].parameters.bare == ["graphs/b.py:1: f(a)"]


def test_above_its_limit_is_a_problem(tmp_path: Path) -> None:
    counts = counted(tmp_path, {"core/a.py": "def f(a: Any, b: int) -> int: ..."})
    assert count_any.problems(counts, {"core": (50, 0)}) == []
    (problem,) = count_any.problems(counts, {"core": (49, 0)})
    assert problem.startswith("core: 50.0 % of parameters say nothing, at most 49 % may")


def test_a_package_that_is_not_in_the_table_begins_well(tmp_path: Path) -> None:
    counts = counted(tmp_path, {"fresh/a.py": "def f(a: int) -> Any: ..."})
    (problem,) = count_any.problems(counts, {})
    assert problem.startswith("fresh: 100.0 % of returns say nothing, at most 5 % may")


@pytest.mark.parametrize("comment", ["# pyright: basic", "#pyright:basic", "# pyright: off"])
def test_a_file_that_asks_for_less_is_a_problem(
    comment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counted(tmp_path, {"core/a.py": f"{comment}\n", "core/b.py": "x = 1  # pyright: ignore[reportAny]\n"})
    assert count_any.main([str(tmp_path)]) == 1
    assert "core/a.py: asks pyright for less" in capsys.readouterr().out


def test_this_package_is_within_its_limits() -> None:
    assert count_any.main([]) == 0
