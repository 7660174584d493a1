"""Law: no command dies, hangs or shows a traceback for a sound file that was changed in a few places."""

from __future__ import annotations

import queue
import random
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.cli.file_commands import COMMANDS, RUNNING, prepare, refuses_sound
from tests.cli.mutations import mutated
from tests.laws.named import Law, Verdict
from tests.laws.pool import Worker

SECONDS = 120.0
#: So many commands are drawn for each file.
DRAWN = 3
#: So many processes share the work.
JOBS = 2
#: After so many files the sound model is tried.
_OFTEN = 100
#: `run --isolated` starts a process each time; one in so many of its draws does.
_RARELY = 8


def _commands(generator: random.Random, content: bytes) -> list[str]:
    """The commands that a file goes through. Those that start processes are rare: the law is about all the others.

    `info` is always among them: it takes no time, and reads plain files in a way of its own. A loop may have been
    given a count without end; commands that run a model as long as it takes are not for it.
    """
    found = generator.sample(
        [each for each in COMMANDS if b"Loop" not in content or each not in RUNNING], DRAWN
    )
    costly = ("run --isolated", "convert --verify", "optimize --verify")
    chosen = ["check" if each in costly and generator.randrange(_RARELY) else each for each in found]
    return list(dict.fromkeys(["info", *chosen]))


def case(seed: int, number: int) -> tuple[bytes, list[str]]:
    """The file of a number, and the commands that it goes through."""
    generator = random.Random(f"{seed} {number}")
    content = mutated(generator)
    return content, _commands(generator, content)


def verdict(worker: Worker, folder: Path, seed: int, number: int) -> Verdict:
    """The verdict on the file of a number."""
    content, commands = case(seed, number)
    path = folder / f"m{number}.onnx"
    path.write_bytes(content)
    refused = 0
    try:
        for command, outcome in worker.outcomes(path, commands).items():
            if outcome.kind != "values" or outcome.values[0] not in (0, 1, 2):
                return Verdict("wrong", f"case({seed}, {number}) {command}: {outcome}")
            refused += outcome.values[0] != 0
    finally:
        path.unlink()
    return Verdict("refused" if refused else "equal")


def verdicts(seed: int) -> Iterator[Verdict]:
    """Mutated files without end, each through three commands."""
    found: queue.Queue[Verdict | BaseException] = queue.Queue(4 * JOBS)
    is_over = threading.Event()

    def work(first: int) -> None:
        worker, number = Worker(SECONDS, "tests.cli.command_worker"), first
        try:
            with tempfile.TemporaryDirectory() as name:
                folder = prepare(Path(name))
                while not is_over.is_set():
                    found.put(verdict(worker, folder, seed, number))
                    if (number // JOBS) % _OFTEN == 0 and refuses_sound(worker, folder):
                        found.put(Verdict("wrong", f"after case({seed}, {number}) a sound model is refused"))
                    number += JOBS
        except BaseException as error:  # a mistake of the law's own, for whoever reads the verdicts
            found.put(error)
        finally:
            worker.stop()

    threads = [threading.Thread(target=work, args=[first], daemon=True) for first in range(JOBS)]
    for each in threads:
        each.start()
    try:
        while True:
            item = found.get()
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_over.set()
        while any(each.is_alive() for each in threads):
            try:
                found.get(timeout=0.1)
            except queue.Empty:
                continue


LAW = Law(
    "every command gives a result or an error of ours for a mutated file", draws=5000, verdicts=verdicts
)
