"""CausaGanha among services that misbehave, while its workers are killed."""
