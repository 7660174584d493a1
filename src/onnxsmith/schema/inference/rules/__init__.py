"""One module per family of operators; importing this package enters all their rules."""
