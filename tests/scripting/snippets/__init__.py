"""Everyday scripts, by topic; `tests/scripting/test_snippets.py` runs them."""
