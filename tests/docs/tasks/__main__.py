"""`python -m tests.docs.tasks NAME FOLDER` lays a task out in a folder; with `--check`, it says what is wrong there."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.docs.tasks.checkers import problems
from tests.docs.tasks.given import GIVEN


def main() -> int:
    """Lay out or check one task."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs.tasks", description=__doc__)
    parser.add_argument("name", choices=GIVEN)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        found = problems(arguments.name, arguments.folder)
        print("\n".join(found) or "right")
        return bool(found)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    GIVEN[arguments.name](arguments.folder)
    shutil.copy(Path(__file__).with_name(f"{arguments.name}.md"), arguments.folder / "task.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
