"""Configuration of the documentation: Sphinx with Markdown pages whose examples are run when it is built."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import sys
import tempfile
from pathlib import Path

project = "onnxsmith"
author = "The onnxsmith authors"
project_copyright = "the onnxsmith authors"
version = release = importlib.metadata.version("onnxsmith")

sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))
extensions = ["myst_nb", "made_reference"]
exclude_patterns = ["_build", "_ext", "how-to/generated"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Examples run on every build, never from a cache. One that fails is a warning with its traceback, and
# `python3 dev.py docs` makes every warning an error; so all that fail are reported, not only the first.
nb_execution_mode = "force"
nb_execution_show_tb = True
nb_execution_timeout = 120
# They write models; those belong into a temporary folder.
nb_execution_in_temp = True
# Where they find what lies beside the pages.
os.environ["ONNXSMITH_DOCS"] = str(Path(__file__).resolve().parent)
nb_merge_streams = True
nb_render_markdown_format = "gfm"
# Error messages stand in the pages as they are printed: they are no Python, which would colour the wrong words.
nb_render_error_lexer = "myst-ansi"

html_theme = "furo"
html_title = f"onnxsmith {release}"
html_static_path = ["_static"]
html_css_files = ["style.css"]

# The kernels get a profile of their own: a builder's personal start-up files must not change the pages, and the
# kernel's remarks about its transport are of no interest here.
_profiles = tempfile.TemporaryDirectory(prefix="onnxsmith-docs-")
_profile = Path(_profiles.name, "profile_default")
_profile.mkdir()
_profile.joinpath("ipython_kernel_config.py").write_text(f"c.IPKernelApp.log_level = {logging.ERROR}\n")
os.environ["IPYTHONDIR"] = _profiles.name
logging.getLogger("traitlets").setLevel(logging.WARNING)
