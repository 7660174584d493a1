"""The parameters of a network's estimator: refused where nothing can be made of them, and read as `Wanted`.

scikit-learn wants parameters to be looked at when an estimator is fitted, and not when they are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from onnxsmith.errors import AttributeValueError
from onnxsmith.sklearn.networks.layers import ACTIVATIONS
from onnxsmith.sklearn.networks.programs import Wanted
from onnxsmith.training import Optimizer, Schedule, optimizers

#: What is one of a few words.
_CHOICES: Mapping[str, Sequence[str]] = {"activation": tuple(ACTIVATIONS), "dtype": ("float32", "float64")}
_RULES = ("constant", "invscaling", "adaptive")
#: What is a number from 0 on.
_NUMBERS = (
    *("alpha", "learning_rate_init", "power_t", "max_iter", "tol", "momentum", "validation_fraction"),
    *("beta_1", "beta_2", "epsilon", "n_iter_no_change"),
)


def sizes_of(hidden: int | Sequence[int]) -> list[int]:
    """The numbers of units of hidden layers, of which there may be none."""
    given = cast(Any, hidden)
    return [int(given)] if hasattr(given, "__index__") else [int(each) for each in given]


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that nothing can be made of."""
    for name, allowed in _CHOICES.items():
        if parameters[name] not in allowed:
            raise AttributeValueError(f"{name} is one of {', '.join(allowed)}, not {parameters[name]!r}")
    solver, rate = parameters["solver"], parameters["learning_rate"]
    known = [each for each in optimizers.__all__ if each.islower()]
    if not isinstance(solver, Optimizer) and solver not in known:
        raise AttributeValueError(
            f"solver is an optimizer, or the name of one, not {solver!r}", help="one of " + ", ".join(known)
        )
    if not isinstance(rate, Schedule) and rate not in _RULES:
        raise AttributeValueError(
            f"learning_rate is 'constant', 'invscaling', 'adaptive' or a schedule, not {rate!r}",
            help="the rate itself is learning_rate_init",
        )
    if any(each <= 0 for each in sizes_of(parameters["hidden_layer_sizes"])):
        raise AttributeValueError(
            f"hidden_layer_sizes are numbers of units from 1 on, not {parameters['hidden_layer_sizes']!r}"
        )
    for name in _NUMBERS:
        value = parameters[name]
        number = float(value) if hasattr(value, "__float__") else math.nan
        if math.isnan(number) or number < 0:
            raise AttributeValueError(f"{name} is a number from 0 on, not {value!r}")
    size = parameters["batch_size"]
    if size != "auto" and (not hasattr(size, "__index__") or size < 1):
        raise AttributeValueError(f"batch_size is 'auto' or a number of rows from 1 on, not {size!r}")


def wanted(parameters: Mapping[str, Any], *, is_weighted: bool) -> Wanted:
    """The loss and the optimiser, by parameters that were checked."""
    solver, settings = parameters["solver"], dict[str, Any]()
    if solver == "sgd":
        momentum = float(parameters["momentum"])
        settings = {"momentum": momentum, "nesterov": bool(parameters["nesterovs_momentum"] and momentum)}
    elif solver == "adam":
        betas = (float(parameters["beta_1"]), float(parameters["beta_2"]))
        settings = {"betas": betas, "eps": float(parameters["epsilon"])}
    is_given = isinstance(solver, Optimizer)
    return Wanted(
        ("", ()) if is_given else (solver, tuple(settings.items())),
        float(parameters["alpha"]),
        is_weighted,
        parameters["loss"],
        parameters["penalty"],
        solver if is_given else None,
    )
