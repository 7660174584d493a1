"""Linear algebra on batches of real or complex matrices."""
