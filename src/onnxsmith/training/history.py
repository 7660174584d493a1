"""`History`: what each epoch of a fit gave, as records, a frame or a picture."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, overload

from onnxsmith.errors import MissingDependencyError, UnknownNameError

#: What records have that is no measure of the model.
_ASIDE = ("epoch", "step", "seconds")


class History(Sequence[dict[str, float]]):
    """The records of the epochs of a fit, each a dict of numbers: epoch, loss, rate, metrics, seconds.

    >>> from onnxsmith.training import History
    >>> history = History([{"epoch": 1, "loss": 0.7}, {"epoch": 2, "loss": 0.5}])
    >>> history["loss"]
    [0.7, 0.5]
    >>> history
    History(2 epochs, loss 0.7 -> 0.5)
    """

    def __init__(self, records: Sequence[Mapping[str, float]] = ()) -> None:
        #: A dict of numbers for each epoch.
        self.records: list[dict[str, float]] = [dict(each) for each in records]

    @overload
    def __getitem__(self, index: int) -> dict[str, float]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, float]]: ...
    @overload
    def __getitem__(self, index: str) -> list[float]: ...
    def __getitem__(self, index: int | slice | str) -> Any:
        """A record, or by a name the values of all epochs."""
        if not isinstance(index, str):
            return self.records[index]
        if index not in self.names:
            raise UnknownNameError(
                f"the history has no '{index}'", help=f"it has {', '.join(self.names) or 'no epochs'}"
            )
        return [each.get(index, float("nan")) for each in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self.records)

    @property
    def names(self) -> list[str]:
        """The names of all values of records."""
        return list(dict.fromkeys(name for each in self.records for name in each))

    def frame(self) -> Any:
        """The records as a frame of pandas, or of polars where only that is installed.

        >>> from onnxsmith.training import History
        >>> History([{"epoch": 1, "loss": 0.5}]).frame().shape
        (1, 2)
        """
        if find_spec("pandas") is not None:
            pandas: Any = import_module("pandas")  # optional, and slow to import
            return pandas.DataFrame(self.records, columns=self.names)
        if find_spec("polars") is not None:
            polars: Any = import_module("polars")
            return polars.DataFrame(self.records)
        raise MissingDependencyError(
            "a frame is one of pandas or polars, and neither is installed",
            help="pip install pandas; history.records are plain dicts",
        )

    def plot(self, *names: str) -> Any:
        """A picture of what the epochs gave: a figure of matplotlib, or an SVG where that is not installed.

        Without names it has the loss and the metrics, those of training and validation in one plot each.

        >>> from onnxsmith.training import History
        >>> picture = History([{"epoch": 1, "loss": 0.7}, {"epoch": 2, "loss": 0.5}]).plot("loss")
        """
        shown = list(names) or [
            each for each in self.names if each not in _ASIDE and not each.startswith("lr")
        ]
        columns = {name: self[name] for name in shown}
        plots = [
            [each for each in (name, f"val_{name}") if each in columns]
            for name in dict.fromkeys(each.removeprefix("val_") for each in shown)
        ]
        if find_spec("matplotlib") is None:
            return Picture(plots, self["epoch"], columns)
        pyplot: Any = import_module("matplotlib.pyplot")  # optional, and slow to import
        count = max(len(plots), 1)
        figure, grid = pyplot.subplots(1, count, figsize=(4.5 * count, 3), layout="tight", squeeze=False)
        for axes, group in zip(grid[0], plots, strict=False):
            for name in group:
                axes.plot(self["epoch"], columns[name], label=name)
            axes.set_xlabel("epoch")
            axes.legend()
        if "ipykernel" in sys.modules:  # it shows what a cell gives, and all open figures once more
            pyplot.close(figure)
        return figure

    def __repr__(self) -> str:
        count = f"{len(self)} epoch{'s' * (len(self) != 1)}"
        if not self.records:
            return f"History({count})"
        shown = [name for name in ("loss", "val_loss", *self.names) if name in self.names]
        left = (*_ASIDE, "lr")
        parts = [
            f"{name} {_number(self[name][0])} -> {_number(self[name][-1])}"
            for name in dict.fromkeys(shown)
            if not name.startswith(left)
        ]
        return f"History({count}, {', '.join(parts)})"


class Picture:
    """Lines over epochs as SVG, which notebooks show; `str` gives its text."""

    def __init__(
        self, plots: Sequence[Sequence[str]], epochs: Sequence[float], columns: Mapping[str, Sequence[float]]
    ) -> None:
        parts = [_plot(each, epochs, columns, 300 * place) for place, each in enumerate(plots)]
        self._text = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{300 * len(plots)}" height="200" '
            f'font-family="sans-serif" font-size="10">{"".join(parts)}</svg>'
        )

    def __str__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        return self._text


def _plot(
    names: Sequence[str], epochs: Sequence[float], columns: Mapping[str, Sequence[float]], left: int
) -> str:
    finite = [each for name in names for each in columns[name] if math.isfinite(each)] or [0.0]
    low, high = min(finite), max(finite)
    first, last = min(epochs, default=0.0), max(epochs, default=1.0)

    def place(epoch: float, value: float) -> str:
        across = left + 45 + 240 * (epoch - first) / ((last - first) or 1.0)
        return f"{across:.1f},{170 - 150 * (value - low) / ((high - low) or 1.0):.1f}"

    found = [f'<text x="{left + 5}" y="{y}">{value:.3g}</text>' for y, value in ((174, low), (24, high))]
    for number, name in enumerate(names):
        colour = ("#1f77b4", "#ff7f0e")[number % 2]
        pairs = zip(epochs, columns[name], strict=True)
        points = " ".join(place(epoch, value) for epoch, value in pairs if math.isfinite(value))
        found.append(f'<polyline fill="none" stroke="{colour}" points="{points}"/>')
        found.append(f'<text x="{left + 50 + 110 * number}" y="192" fill="{colour}">{escape(name)}</text>')
    return "".join(found)


def _number(value: float) -> str:
    return f"{value:.4g}"
