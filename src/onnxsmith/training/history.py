"""`History`: what each epoch of a fit gave, as records, a frame or a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, overload

from onnxsmith.errors import MissingDependencyError, UnknownNameError


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
        """What the records have."""
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

    def __repr__(self) -> str:
        count = f"{len(self)} epoch{'s' * (len(self) != 1)}"
        if not self.records:
            return f"History({count})"
        shown = [name for name in ("loss", "val_loss", *self.names) if name in self.names]
        left = ("epoch", "step", "seconds", "lr")
        parts = [
            f"{name} {_number(self[name][0])} -> {_number(self[name][-1])}"
            for name in dict.fromkeys(shown)
            if not name.startswith(left)
        ]
        return f"History({count}, {', '.join(parts)})"


def _number(value: float) -> str:
    return f"{value:.4g}"
