"""Every error has a code and a page, and the examples of the page do what it says."""

from __future__ import annotations

import builtins
import re
from pathlib import Path

import pytest

import onnxsmith.errors
from onnxsmith.errors import OnnxsmithError
from onnxsmith.errors.pages import AREAS, PRELUDE, Page, error_classes, find_page, pages
from tools import generate_error_index

PAGES = pages()
IN_PYTHON = [page for page in PAGES if not page.is_shell]


def test_codes_are_unique() -> None:
    codes = [each.code for each in error_classes()]
    assert len(set(codes)) == len(codes)
    assert OnnxsmithError.code not in codes


@pytest.mark.parametrize("error", error_classes(), ids=lambda error: error.__name__)
def test_class(error: type[OnnxsmithError]) -> None:
    assert re.fullmatch(r"[CRF]\d{3}", error.code)
    assert error.code[:2] in AREAS
    assert error.__module__ == "onnxsmith.errors"
    assert getattr(onnxsmith.errors, error.__name__) is error
    first, *others = error.__bases__
    assert first is OnnxsmithError
    assert others
    assert all(getattr(builtins, base.__name__) is base for base in others)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_page_is_whole(page: Page) -> None:
    assert page.summary.endswith(".")
    assert page.wrong.strip()
    assert page.right.strip()
    assert page.wrong != page.right
    assert "Wrong" not in page.summary + page.explanation


def run(code: str, name: str, folder: Path) -> None:
    file = folder / f"{name}.py"
    file.write_text(PRELUDE + "\n" + code, encoding="utf-8")
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True), {"__name__": name})


@pytest.mark.parametrize("page", IN_PYTHON, ids=lambda page: page.code)
def test_wrong_example(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OnnxsmithError) as caught:
        run(page.wrong, "wrong", tmp_path)
    assert type(caught.value).__name__ == page.name


@pytest.mark.parametrize("page", IN_PYTHON, ids=lambda page: page.code)
def test_right_example(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(page.right, "right", tmp_path)


@pytest.mark.parametrize("name", ["C401", "c401", "[C401]", "MixedDTypesError"])
def test_find_page(name: str) -> None:
    page = find_page(name)
    assert page is not None
    assert page.code == "C401"


def test_find_no_page() -> None:
    assert find_page("C999") is None


def test_index_in_the_documentation_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_error_index.main(["--check"]) == 0, capsys.readouterr().out


def test_index_says_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate_error_index, "ROOT", tmp_path)
    monkeypatch.setattr(generate_error_index, "TARGET", tmp_path / "errors.md")
    assert generate_error_index.main(["--check"]) == 1
    assert generate_error_index.main([]) == 0
    assert generate_error_index.main(["--check"]) == 0
    assert "errors.md" in capsys.readouterr().out
