"""Loops whose turns do not wait for each other: their nodes for all turns at once, on arrays of one more dimension."""

from __future__ import annotations
