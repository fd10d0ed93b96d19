"""What kimi-tui costs, beside bare programs that do as much, in one run: `make bench`."""
