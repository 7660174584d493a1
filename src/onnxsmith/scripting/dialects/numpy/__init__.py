"""Plain numpy code as models: `jit` and `to_model`, which stage it with arrays that record."""
