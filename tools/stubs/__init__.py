"""The parts of the stub generator, `tools/generate_stubs.py`."""
