"""Benchmarks of onnxsmith beside its peers: `python3 dev.py bench [name]`.

Every `bench_*.py` here is one benchmark; the other modules measure and print. Nothing here is a test.
"""
