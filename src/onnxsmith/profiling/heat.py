"""A profile for the viewer: nodes coloured by their time, with what is known of each."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.profiling.kernel import Kernel
from onnxsmith.profiling.quantities import Times, described_seconds, described_size
from onnxsmith.profiling.rows import total_of
from onnxsmith.view import Note, Overlay

#: How many kernels are told of a node: one in a function has some for each call.
_SHOWN = 20


def heat(kernels: Sequence[Kernel], total: Times, called: str) -> Overlay:
    """Notes on all nodes that a kernel ran for, and on those that call the functions around them.

    Nodes that were fused have the time of all of them, a call that of all that ran in it.
    """
    found: dict[str, dict[int, Kernel]] = {}
    for kernel in kernels:
        around = (call for node in kernel.nodes for call in node.calls)
        for node in (*kernel.nodes, *around):
            found.setdefault(node.address, {})[id(kernel)] = kernel
    times = {address: total_of(ran.values()).median for address, ran in found.items()}
    hottest = max(times.values(), default=0.0)

    def _part(time: float) -> float:
        return time / hottest if hottest else 0.0

    notes = {
        address: Note(
            "heat",
            described_seconds(times[address]),
            _told(address, list(ran.values()), total),
            _part(times[address]),
        )
        for address, ran in found.items()
    }
    return Overlay(
        f"Time of {called}",
        notes,
        {"heat": "time of a node; of fused nodes, that of all of them; of a call, that of all in it"},
    )


def _told(address: str, kernels: Sequence[Kernel], total: Times) -> str:
    """The note on a node: its kernels, or the time of all that ran in its call."""
    own = [each for each in kernels if any(node.address == address for node in each.nodes)]
    if own:
        lines = [_said(kernel, address, total) for kernel in own[:_SHOWN]]
        return "\n".join([*lines, *([f"and {len(own) - _SHOWN} more"] if len(own) > _SHOWN else [])])
    times = total_of(kernels)
    count = f"{len(kernels)} kernel{'s' * (len(kernels) != 1)}"
    share = times.share_of(total)
    return f"{count} in this call: {described_seconds(times.median)} ± {described_seconds(times.deviation)}, {share}"


def _said(kernel: Kernel, address: str, total: Times) -> str:
    times = kernel.times
    share = times.share_of(total)
    words = f"{kernel.operator}: {described_seconds(times.median)} ± {described_seconds(times.deviation)}, {share}"
    words += f", {kernel.calls:g} call{'s' * (kernel.calls != 1)}, results of {described_size(kernel.output_bytes)}"
    if kernel.calls_around:
        words += f", in call {' / '.join(each.address for each in kernel.calls_around)}"
    others = list(dict.fromkeys(each.address for each in kernel.nodes if each.address != address))
    if kernel.is_inserted:
        return f"{words}, added by the runtime"
    return f"{words}, together with {', '.join(others)}" if others else words
