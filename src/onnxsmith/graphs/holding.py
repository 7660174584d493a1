"""One lock for each model: who stands in for its tensors for a while, and who reads them to hand them on, hold it."""

from __future__ import annotations

import os
import threading
import weakref

from onnxsmith.graphs.lazy_ir import ir

# Tensors are stood in for while a model is serialized; another thread would take the stand-ins for what was there.
_locks: weakref.WeakKeyDictionary[ir.Model, threading.RLock] = weakref.WeakKeyDictionary()
_making_locks = threading.Lock()


def held(model: ir.Model) -> threading.RLock:
    """The lock of a model: whoever stands in for its tensors holds it, and whoever reads it to hand it on."""
    with _making_locks:
        return _locks.setdefault(model, threading.RLock())


def _renew_locks() -> None:
    """After a fork: another thread may have held one, and is not there to let it go."""
    global _making_locks
    _making_locks = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
