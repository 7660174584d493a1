"""The benchmark runner's bookkeeping: bars, tables, absent peers. Nothing is timed against a limit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import __main__ as runner
from benchmarks import fresh_process, timing
from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Bar, Figure, Row, at_most, ratio_at_most, table, times_better


@pytest.mark.parametrize(
    ("theirs", "bar", "is_met"),
    [
        (5.0, at_most(10.0), True),
        (5.0, at_most(9.9), False),
        (5.0, ratio_at_most(2.0), True),
        (4.0, ratio_at_most(2.0), False),
        (250.0, times_better(25), True),
        (249.0, times_better(25), False),
        ("not installed", times_better(25), None),
        ("not installed", at_most(10.0), True),
        (5.0, None, None),
    ],
)
def test_bars(theirs: Figure, bar: Bar | None, is_met: bool | None) -> None:
    assert Row("x", 10.0, "µs", "peer", theirs, bar).is_met is is_met


def test_table_is_aligned() -> None:
    rows = [
        Row("short", 1.5, "ms", "peer", 3.0, ratio_at_most(2.0)),
        Row("a longer name", 1234.5, "ms", "absent", "not installed", note="why"),
    ]
    assert table(rows).splitlines() == [
        "what               ours  peer           theirs  ours/peer  bar              note",
        "short          1.500 ms  peer         3.000 ms      0.500  ≤ 2 × peer  met",
        "a longer name  1,234 ms  absent  not installed                              why",
    ]


def test_absent_and_failing_peers_are_noted() -> None:
    def fail() -> Callable[[], object]:
        raise OSError("no such thing")

    peers = [
        Peer("there", lambda: lambda: 1),
        Peer("absent", lambda: lambda: 1, package="no_such_package_anywhere"),
        Peer("failing", fail),
        Peer("wrong", lambda: lambda: 2),
    ]

    def check(result: object) -> None:
        assert result == 1, "another result"

    rows = contest(Context(), "one", lambda: 1, peers, unit="s", per_second=1.0, check=check)
    figures = {row.peer: row.theirs for row in rows}
    assert isinstance(figures.pop("there"), float)
    assert figures.pop("wrong") == "failed: AssertionError: another result"
    assert figures == {"absent": "not installed", "failing": "failed: OSError: no such thing"}


def test_peers_are_not_asked_when_they_should_not_be() -> None:
    rows = contest(
        Context(with_peers=False),
        "one",
        lambda: 1,
        [Peer("json", lambda: lambda: 1, package="json")],
        unit="s",
        per_second=1.0,
    )
    assert rows[0].theirs == "not asked"


def test_slower_functions_are_measured_as_slower() -> None:
    seconds = timing.time_in_turns(
        {"short": lambda: sum(range(10)), "long": lambda: sum(range(10_000))}, rounds=3
    )
    assert seconds["long"] > seconds["short"] > 0


def test_fresh_process_reports_cost_and_result() -> None:
    cost = fresh_process.run("import sys; x = bytearray(2**26); result = sys.argv[1:]", "a", "b")
    assert cost.result == ["a", "b"]
    assert cost.cpu_seconds > 0
    assert cost.peak_bytes > 2**26


def test_fresh_process_shows_why_a_snippet_failed() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        fresh_process.run("1 / 0")


@pytest.fixture
def sample_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sample:
        NAME = "sample"
        DESCRIPTION = "made up"

        @staticmethod
        def run(context: Context) -> list[Row]:
            return [Row("x", context.number("size", 2), "s", "peer", 4.0, ratio_at_most(1.0))]

    monkeypatch.setattr(runner, "names", lambda: ["sample"])
    monkeypatch.setattr(runner, "load", lambda name: Sample)


@pytest.mark.usefixtures("sample_benchmark")
def test_runner_prints_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "results.json"
    assert runner.main(["--json", str(target), "--set", "size=3"]) == 0
    assert "bars: 1 met, 0 missed" in capsys.readouterr().out
    written = json.loads(target.read_text())
    assert written["benchmarks"]["sample"][0]["ratio"] == 0.75
    assert "numpy" in written["environment"]["packages"]


@pytest.mark.usefixtures("sample_benchmark")
def test_runner_refuses_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["nothing"])
    assert "no benchmark nothing; there are sample" in capsys.readouterr().err


def test_every_benchmark_is_complete() -> None:
    assert runner.names() != []
    for name in runner.names():
        module = runner.load(name)
        assert module.NAME == name
        assert module.DESCRIPTION
        assert callable(module.run)
