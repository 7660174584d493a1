"""Models of one's own, exported statically and dynamically, agree with torch, the dynamic ones on a second size.

Models of other packages are run by `python -m tests.torch.models`.
"""

from __future__ import annotations

import os

import pytest

from tests.torch.opinfo.workers import run_all

pytest.importorskip("onnxsmith.torch")

SHARDS = 4

#: Models that do not pass, with the reason.
KNOWN: dict[str, str] = {}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_models_agree_with_torch(shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Here, not above: they import torch, which a run of other tests should not wait for.
    from tests.torch.models.catalogue import all_models
    from tests.torch.models.running import make_runner

    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    fast = [case for case in all_models("own").values() if case.is_fast]
    cases = [(f"{case.name} static", "static") for case in fast]
    cases += [(f"{case.name} dynamic", "dynamic") for case in fast if case.dynamic_shapes is not None]
    wrong: list[str] = []
    for record in run_all(cases[shard::SHARDS], make_runner, ("onnxsmith",)):
        if record.outcome in ("pass", "torch_cannot"):
            if record.outcome == "pass" and record.case in KNOWN:
                wrong.append(f"{record.case} passes now: remove it from KNOWN")
        elif record.case not in KNOWN:
            wrong.append(f"{record.case}: {record.outcome}: {record.error}")
    assert not wrong, "\n".join(wrong)
