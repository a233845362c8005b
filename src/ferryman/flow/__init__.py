"""What holds jobs back: breakers, rates and concurrency, shared by all workers of a store."""
