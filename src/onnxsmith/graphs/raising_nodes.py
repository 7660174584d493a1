"""Nodes that fail on purpose: they stand where the code of a model raises an error, and their names hold its text.

Other nodes fail where a model cannot do what the code does; their names hold the reason.
"""

from __future__ import annotations

#: Begins the name of such a node; the text of the error follows, and ends with "|".
RAISED = "raise "
#: Begins the name of a node that fails where a model has a limit that the code has not; "|" ends the reason.
LIMITED = f"{RAISED}limit: "
