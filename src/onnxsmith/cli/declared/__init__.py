"""The table of commands, in the order that help lists them in. Their conventions: docs/reference/command-line.md."""

from onnxsmith.cli.declaration import Command
from onnxsmith.cli.declared import changing, making, running, showing

COMMANDS: dict[str, Command] = {
    "build": making.BUILD,
    "export": making.EXPORT,
    "run": running.RUN,
    "info": showing.INFO,
    "check": running.CHECK,
    "compare": running.COMPARE,
    "decompile": making.DECOMPILE,
    "convert": changing.CONVERT,
    "optimize": changing.OPTIMIZE,
    "outline": changing.OUTLINE,
    "extract": changing.EXTRACT,
    "join": changing.JOIN,
    "rename": changing.RENAME,
    "rewrite": changing.REWRITE,
    "set-shapes": changing.SET_SHAPES,
    "view": showing.VIEW,
    "diff": showing.DIFF,
    "profile": running.PROFILE,
    "ops": showing.OPS,
    "explain": showing.EXPLAIN,
    "completion": showing.COMPLETION,
}
