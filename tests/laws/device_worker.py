"""The process that takes a case along the roads of a device; run as `python -m tests.laws.device_worker`.

It may die or hang; `pool` starts another one then. A device that an illegal access has spoilt answers nothing any more:
the process ends by itself.
"""

from __future__ import annotations

import gc
import os
import resource
import warnings

import numpy as np

from onnxsmith.runtime import clear_cache
from tests.chosen_device import DEVICE, on_device
from tests.laws.device_roads import ROADS, WITNESSES
from tests.laws.outcome import Outcome
from tests.laws.worker import MEMORY, answer

#: The exit status of a process whose device is spoilt.
_SPOILT = 70


def _after(outcome: Outcome) -> None:
    """Free what the road took of the device. Ends the process where the device does not answer any more."""
    # Each session has its own memory on a device, and the caches keep sessions.
    clear_cache()
    gc.collect()
    if outcome.kind in ("error", "raw error"):
        try:
            on_device(np.zeros(1, np.float32)).numpy()
        except Exception:  # whatever the driver says
            os._exit(_SPOILT)


def main() -> None:
    """Answer until there is nothing more to read."""
    if DEVICE.kind == "cpu":  # a driver reserves more addresses than there is memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    answer({**ROADS, **WITNESSES}, None if DEVICE.kind == "cpu" else _after)


if __name__ == "__main__":
    main()
