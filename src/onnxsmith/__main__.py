"""`python -m onnxsmith` is the command `onnxsmith`."""

import sys

from onnxsmith.cli import main

if __name__ == "__main__":
    sys.exit(main())
