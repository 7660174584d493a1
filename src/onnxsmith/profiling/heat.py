"""A profile for the viewer: nodes coloured by their time, with what is known of each."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.profiling.kernel import Kernel, ProfiledNode
from onnxsmith.profiling.quantities import Times, described_seconds, described_share, described_size
from onnxsmith.profiling.rows import total_of
from onnxsmith.view import Note, Overlay


def heat(kernels: Sequence[Kernel], total: Times, called: str) -> Overlay:
    """Notes on all nodes that a kernel ran for; nodes that were fused have the time of all of them."""
    found: dict[ProfiledNode, list[Kernel]] = {}
    for kernel in kernels:
        for node in kernel.nodes:
            found.setdefault(node, []).append(kernel)
    times = {node: total_of(ran).mean for node, ran in found.items()}
    hottest = max(times.values(), default=0.0)
    notes = {
        node.address: Note(
            "heat",
            described_seconds(times[node]),
            "\n".join(_said(kernel, node, total) for kernel in ran),
            times[node] / hottest if hottest else 0.0,
        )
        for node, ran in found.items()
    }
    return Overlay(
        f"Time of {called}", notes, {"heat": "time of a node; of fused nodes, that of all of them"}
    )


def _said(kernel: Kernel, node: ProfiledNode, total: Times) -> str:
    times = kernel.times
    share = described_share(times.mean, total.mean)
    words = (
        f"{kernel.operator}: {described_seconds(times.mean)} ± {described_seconds(times.deviation)}, {share}"
    )
    words += f", {kernel.calls:g} call{'s' * (kernel.calls != 1)}, results of {described_size(kernel.output_bytes)}"
    others = [each.address for each in kernel.nodes if each != node]
    if kernel.is_inserted:
        return f"{words}, inserted by the runtime"
    return f"{words}, together with {', '.join(others)}" if others else words
