"""Scripts as users hold them: called, exported, jitted, pickled."""
