"""Benchmarks: Ferryman beside a raw loop on the same store, and beside other queues."""
