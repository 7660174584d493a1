"""Facts of a function from its syntax alone: assignments, reads, control flow."""
