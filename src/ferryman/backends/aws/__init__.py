"""What the services of AWS have in common: how they are reached, and how they fail."""
