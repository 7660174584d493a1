"""Exit codes, the same for all commands."""

GOOD = 0
FINDINGS = 1
USAGE = 2
INTERRUPTED = 130
