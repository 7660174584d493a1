"""The way back: from a converted model to a fitted pipeline. Metadata is data of a stranger, and checked as such."""
