"""Options of the test run."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Nothing is timed in tests: a busy machine or a collection of garbage may take a second. CI's profile, which is
# loaded there, draws the same examples in every run; this one keeps that.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# scipy reads it when it is imported: its functions compute with the namespace of the arrays that they are given.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# As many processes as there are cores run tests. Threads of OpenMP and of BLAS beside them wait for each other by
# spinning: histogram boosting of 40 rows took 6 s instead of 0.04 s.
for _pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

# The objects of 33,000 tests live as long as the run. Walking them again and again takes a quarter of the time that
# collecting takes, and an eighth of that of the tests.
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what the tests find into the golden files"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))


_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real browser: Debian's Chromium, driven by playwright; where it is missing, what needs it skips."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=_FLAGS)
        yield browser
        browser.close()
