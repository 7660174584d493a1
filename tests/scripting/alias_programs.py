"""Ways in which an array gets another name before a loop of the model changes it in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith import FLOAT, INT64


def known_or(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = None or w
    for _ in range(n):
        w += 1
    return x + v


def known_choice(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = w if len(x) == 3 else x
    for _ in range(n):
        w += 1
    return x + v


def named_inside(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    total = (v := w).sum()
    for _ in range(n):
        w += 1
    return x + v + total


def starred(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = (*[w, 1], 2)
    for _ in range(n):
        w += 1
    return x + held[0]


def in_a_dict(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = {"a": w, "b": [w]}
    for _ in range(n):
        w += 1
    return x + held["a"] + held["b"][0]


def in_a_list_made_by_a_loop(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = [w for _ in range(2)]
    for _ in range(n):
        w += 1
    return x + held[1]


def by_a_method(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros((3, 1), np.float32)
    v = w.reshape(-1)
    for _ in range(n):
        w += 1
    return x + v


def appended(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = []
    held.append(w)
    for _ in range(n):
        w += 1
    return x + held[0]


def made_in_a_loop_by(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    for _ in range(n):
        v = None or w
        w += 1
        x = x + v
    return x


OTHER_NAMES = [
    known_or,
    known_choice,
    named_inside,
    starred,
    in_a_dict,
    in_a_list_made_by_a_loop,
    by_a_method,
    appended,
    made_in_a_loop_by,
]
