"""The generator of lazy indexes, on small made-up packages, and on ours: no entry is left out."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tools import generate_indexes

_NUMBERS = itertools.count()
_TABLE = """\
from onnxsmith.registry import Registry
ENTRIES = Registry("{package}.families", "ENTRIES")

def enters(*keys):
    def enter(function):
        for key in keys:
            ENTRIES[key] = function
        return function
    return enter
"""
_FAMILY = """\
from {package}.table import enters

@enters({keys})
def function():
    pass
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose table has the entries "a", "b" and ("c", 1), in an index that is up to date."""
    name = f"indexed_{next(_NUMBERS)}"
    families = tmp_path / name / "families"
    families.mkdir(parents=True)
    (families / "__init__.py").touch()
    (families.parent / "__init__.py").touch()
    (families.parent / "table.py").write_text(_TABLE.format(package=name))
    _add_family(tmp_path, name, "first", '"b", "a"')
    _add_family(tmp_path, name, "second", '("c", 1)')
    monkeypatch.syspath_prepend(tmp_path)
    assert generate_indexes.main([], name, tmp_path) == 0
    _forget(name)
    assert generate_indexes.main(["--check"], name, tmp_path) == 0
    _forget(name)
    return name


def _add_family(folder: Path, package: str, family: str, keys: str) -> None:
    path = folder / package / "families" / f"{family}.py"
    path.write_text(_FAMILY.format(package=package, keys=keys))


def _forget(package: str) -> None:
    """As if none of its modules had been imported; its registries stay with nobody."""
    for name in [each for each in sys.modules if each.split(".")[0] == package]:
        vars(sys.modules.pop(name)).clear()


def _checked(package: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert generate_indexes.main(["--check"], package, folder) == 1
    return capsys.readouterr().out


def test_entries_stand_by_module_in_the_order_of_the_source(package: str, tmp_path: Path) -> None:
    text = (tmp_path / package / "families" / "lazy_index.py").read_text()
    assert '    "b": "first",\n    "a": "first",\n    ("c", 1): "second",\n' in text


def test_a_family_that_no_index_names_is_found(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _add_family(tmp_path, package, "third", '"d"')
    assert "lazy_index.py is not what the modules register" in _checked(package, tmp_path, capsys)
    _forget(package)
    assert generate_indexes.main([], package, tmp_path) == 0
    assert '"d": "third"' in (tmp_path / package / "families" / "lazy_index.py").read_text()


def test_an_entry_that_is_gone_is_found(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _add_family(tmp_path, package, "first", '"b"')
    assert "lazy_index.py is not what the modules register" in _checked(package, tmp_path, capsys)


def test_a_key_of_two_modules_is_found(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _add_family(tmp_path, package, "third", '"a"')
    assert "'a' of ENTRIES of" in (said := _checked(package, tmp_path, capsys))
    assert "is registered twice: in first and third" in said


def test_a_module_outside_the_package_is_found(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _FAMILY.format(package=package, keys='"d"')
    (tmp_path / package / "elsewhere.py").write_text(text)
    assert "elsewhere is outside the package" in _checked(package, tmp_path, capsys)


def test_a_module_that_cannot_be_imported_is_found(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / package / "families" / "third.py").write_text("import no_such_module")
    assert "families.third cannot be imported: ModuleNotFoundError" in _checked(package, tmp_path, capsys)


def test_ours_are_up_to_date() -> None:
    program = [sys.executable, generate_indexes.__file__, "--check"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
