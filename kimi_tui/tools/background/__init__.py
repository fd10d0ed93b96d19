"""Background tasks, their output on disk, and the tools to manage them."""
