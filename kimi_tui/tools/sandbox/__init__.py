"""Commands within bounds that the system itself holds them to."""
