"""Subscribers of `ferry.events`: everything that is said about a running engine is worded here."""
