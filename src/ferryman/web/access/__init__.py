"""Who a visitor is, and what that allows."""
