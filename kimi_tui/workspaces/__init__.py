"""Private views of the working directory: run a command, read its effects, commit or discard them."""
