"""What a worker process of the operator suite does: prepares itself, then runs cases by name."""

from __future__ import annotations

import torch

from tests.torch.opinfo import exporters
from tests.torch.opinfo.cases import Case, NoSample
from tests.torch.opinfo.outcomes import Record
from tests.torch.opinfo.running import run_case
from tests.torch.opinfo.workers import Runner


def make_runner(exporter: exporters.ExporterName) -> Runner:
    """A function that runs a case by name."""
    exporters.be_quiet()
    torch.set_num_threads(1)

    def run(name: str) -> Record | None:
        try:
            return run_case(Case.parse(name), exporter)
        except NoSample:
            return None

    return run
