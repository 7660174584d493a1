"""What the number means that a command ends with; the same for all commands."""

GOOD = 0
FINDINGS = 1
USAGE = 2
INTERRUPTED = 130
