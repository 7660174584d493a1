"""Runs the example of every entry of the reference as a reader would: in a fresh namespace, with its own imports.

`python -m tools.reference.run_docstrings` prints those that fail; the build starts it beside its own work.
"""

from __future__ import annotations

import doctest
import io
import sys
import time
import warnings
from collections.abc import Iterator

from tools.reference.api_pages import Name, all_names

_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def failures() -> Iterator[str]:
    """What doctest says of each entry whose example does not give what it says."""
    for _, names in all_names():
        for name in names:
            for each in (name, *name.members):
                if each.docstring:
                    yield from _failure(each)


def _failure(name: Name) -> Iterator[str]:
    test = doctest.DocTestParser().get_doctest(
        name.docstring, {"__name__": "example"}, name.full, name.full, 0
    )
    said = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=said.write)
    if result.failed:
        yield said.getvalue()


def main() -> int:
    """Print the failures; return 1 if there are any."""
    begun = time.process_time()
    found = list(failures())
    for each in found:
        print(each)
    print(f"examples of the reference: {len(found)} failed, {time.process_time() - begun:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
