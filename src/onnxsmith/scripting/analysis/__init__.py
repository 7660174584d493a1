"""What is known of a function from its syntax alone: what it assigns, reads, how control flows."""
