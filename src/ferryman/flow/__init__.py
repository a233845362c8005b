"""What keeps work flowing at the right time and pace."""
