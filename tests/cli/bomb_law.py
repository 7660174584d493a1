"""Law: no command dies, hangs or shows a traceback for a file that asks for more than it should."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.cli.bombs.catalogue import BOMBS
from tests.cli.bombs.making import Bomb
from tests.cli.file_commands import COMMANDS, RUNNING, prepare, refuses_sound
from tests.laws.named import Law, Verdict
from tests.laws.outcome import Outcome
from tests.laws.pool import Worker

#: So many seconds one command may compute.
SECONDS = 120.0
#: After so many bombs the sound model is tried.
_OFTEN = 100


def judged(bomb: Bomb, command: str, outcome: Outcome) -> Verdict:
    """The verdict on what came of a command on a bomb."""
    told = f"{bomb.name} {command}: {outcome}"
    if outcome.kind != "values" or outcome.values[0] not in (0, 1, 2):
        return Verdict("wrong", told)
    if outcome.values[0]:
        return Verdict("refused", outcome.text[:100])
    return Verdict("wrong" if command in bomb.refused_by else "equal", told)


def verdicts_on(bombs: Iterable[tuple[Bomb, Sequence[str]]]) -> Iterator[Verdict]:
    """Each of the bombs through its commands, in one worker that is started anew only after a death."""
    worker = Worker(SECONDS, "tests.cli.command_worker")
    with tempfile.TemporaryDirectory() as name:
        folder = prepare(Path(name))
        try:
            for number, (bomb, commands) in enumerate(bombs):
                path = folder / f"{bomb.name}.onnx"
                path.write_bytes(bomb.make())
                chosen = [each for each in commands if not (bomb.runs_for_ever and each in RUNNING)]
                for command, outcome in worker.outcomes(path, chosen).items():
                    yield judged(bomb, command, outcome)
                path.unlink()
                if number % _OFTEN == 0 and refuses_sound(worker, folder):
                    yield Verdict("wrong", f"after {bomb.name} {', '.join(chosen)} a sound model is refused")
        finally:
            worker.stop()


def verdicts(seed: int) -> Iterator[Verdict]:
    """All bombs through all commands: one command of each bomb in turn, both in an order of the seed."""
    draw = random.Random(seed)
    bombs = list(BOMBS.values())
    draw.shuffle(bombs)
    orders = [draw.sample(list(COMMANDS), len(COMMANDS)) for _ in bombs]
    turns = zip(*orders, strict=True)
    yield from verdicts_on(
        (bomb, [command]) for commands in turns for bomb, command in zip(bombs, commands, strict=True)
    )


LAW = Law(
    "every command gives a result or an error of ours for a file that asks for too much: an enumeration",
    draws=len(BOMBS) * len(COMMANDS),
    verdicts=verdicts,
)
