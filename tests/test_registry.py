"""The lazy registry: an entry is imported when it is looked up, and nothing else is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onnxsmith.registry import Registry

_INDEX = 'ENTRIES = {"one": "left", "two": "left", "three": "right", "gone": "right"}'
_LEFT = 'from shelf.table import ENTRIES\nENTRIES.register("one", 1)\nENTRIES.register("two", 2)'
_RIGHT = 'from shelf.table import ENTRIES\nENTRIES.register("three", 3)'
_TABLE = 'from onnxsmith.registry import Registry\nENTRIES = Registry("shelf", "ENTRIES")'


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[str, int]]:
    files = {"__init__": "", "lazy_index": _INDEX, "left": _LEFT, "right": _RIGHT, "table": _TABLE}
    (tmp_path / "shelf").mkdir()
    for name, text in files.items():
        (tmp_path / "shelf" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    from shelf.table import ENTRIES  # pyright: ignore[reportMissingImports,reportUnknownVariableType]  # made above

    yield ENTRIES
    for name in _loaded():
        del sys.modules[name]


def _loaded() -> set[str]:
    return {name for name in sys.modules if name.split(".")[0] == "shelf"}


def test_a_lookup_imports_the_module_that_registers_the_key(entries: Registry[str, int]) -> None:
    assert entries["one"] == 1
    assert "shelf.left" in _loaded()
    assert "shelf.right" not in _loaded()
    assert entries.get("three") == 3
    assert "shelf.right" in _loaded()


def test_keys_import_nothing(entries: Registry[str, int]) -> None:
    assert "two" in entries
    assert list(entries) == list(entries.keys()) == ["one", "two", "three", "gone"]
    assert len(entries) == 4
    assert not {"shelf.left", "shelf.right"} & _loaded()


def test_a_key_without_an_entry(entries: Registry[str, int]) -> None:
    assert "four" not in entries
    assert entries.get("four") is None
    assert entries.get("four", 4) == 4
    with pytest.raises(KeyError, match="four"):
        entries["four"]
    with pytest.raises(KeyError, match="gone"):  # its module does not register it
        entries["gone"]


def test_views_have_all_entries(entries: Registry[str, int]) -> None:
    del entries.index["gone"]  # pyright: ignore[reportIndexIssue]  # a dict in truth
    assert dict(entries.items()) == {**entries} == {"one": 1, "two": 2, "three": 3}
    assert list(entries.values()) == [1, 2, 3]


def test_what_is_registered_is_there_before_it_is_indexed(entries: Registry[str, int]) -> None:
    entries.register("new", 5)
    assert entries["new"] == 5
    assert "new" in entries
    assert list(entries)[-1] == "new"


def test_what_is_loaded_imports_nothing(entries: Registry[str, int]) -> None:
    assert entries.loaded("one") is None
    assert entries["one"] == entries.loaded("one") == 1


def test_a_key_is_registered_once(entries: Registry[str, int]) -> None:
    entries.register("new", 5)
    with pytest.raises(ValueError, match="new is registered twice in ENTRIES of shelf"):
        entries.register("new", 6)
