"""One job queue and pipeline engine: the same code and the same promises on every store."""
