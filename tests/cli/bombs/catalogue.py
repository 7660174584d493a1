"""Files that ask for more than they should, of which no command may die."""

from __future__ import annotations

from tests.cli.bombs import computed_sizes as computed_sizes
from tests.cli.bombs import contents as contents
from tests.cli.bombs import kernels as kernels
from tests.cli.bombs import repetitions as repetitions
from tests.cli.bombs import results as results
from tests.cli.bombs import structures as structures
from tests.cli.bombs.making import BOMBS as BOMBS
