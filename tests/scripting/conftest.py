"""What is not looked into for docstrings: snippets of a package that is not installed everywhere."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["snippets/torch_state.py"]
