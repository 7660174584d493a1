"""The faults that are planted for laws: each still has its place in the sources, and one of them is found for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.laws.named import MODULES
from tests.laws.planted import FAULTS, Fault
from tests.laws.planting import ROOT, found_at
from tools.mutants.copies import Copy


def test_each_law_has_three_faults_in_different_places() -> None:
    assert set(FAULTS) == set(MODULES)
    for name, faults in FAULTS.items():
        assert len({(each.path, each.before) for each in faults}) >= 3, name


@pytest.mark.parametrize("name", MODULES)
def test_faults_have_their_places_in_the_sources(name: str) -> None:
    for fault in FAULTS[name]:
        source = (ROOT / fault.file).read_text()
        planted = fault.planted(source)
        assert planted != source
        compile(planted, fault.file, "exec")  # a fault that breaks imports is found by anything
        assert fault.reason


def test_a_fault_without_a_place_is_refused() -> None:
    fault = Fault("cli/view.py", "no such text", "", "it stands nowhere")
    with pytest.raises(ValueError, match="0 times 'no such text'"):
        fault.planted("text")
    with pytest.raises(ValueError, match="2 times 'a'"):
        Fault("cli/view.py", "a", "", "it stands twice").planted("a a")


def test_a_law_finds_its_fault_and_no_other(tmp_path: Path) -> None:
    fault = FAULTS["letter-case"][1]
    copy = Copy(ROOT, tmp_path)
    assert found_at(copy, "letter-case", fault, seed=0, draws=20, seconds=60) is not None
    assert (tmp_path / fault.file).read_bytes() == (ROOT / fault.file).read_bytes()
    harmless = Fault(fault.path, fault.before, f"{fault.before}  # as before", "there is none")
    assert found_at(copy, "letter-case", harmless, seed=0, draws=5, seconds=60) is None
