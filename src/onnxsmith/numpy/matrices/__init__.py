"""Linear algebra on arrays: products, solutions, factors, norms. The numerics stand in `algorithms.linalg`."""
