"""The contract between the engine and its stores."""
