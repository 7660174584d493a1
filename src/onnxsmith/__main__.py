"""`python -m onnxsmith` is the command `onnxsmith`."""

import os
import sys

from onnxsmith.cli import main

if __name__ == "__main__":
    # `python -m` puts the working directory first: a numpy.py beside a stranger's model would be run.
    if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    sys.exit(main())
