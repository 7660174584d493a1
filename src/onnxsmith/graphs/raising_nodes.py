"""Nodes that fail on purpose: they stand where the code of a model raises an error, and their names hold its text."""

from __future__ import annotations

#: Begins the name of such a node; the text of the error follows, and ends with "|".
RAISED = "raise "
