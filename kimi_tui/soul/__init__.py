"""The agent loop: turn, step, retry, approval, D-Mail."""
