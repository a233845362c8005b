"""What the doctor looks at through the contract, on any backend."""
