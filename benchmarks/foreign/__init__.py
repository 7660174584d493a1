"""Models that other exporters write, by rule and with random weights: each kind of layer, and small networks."""

from __future__ import annotations
