"""Private views of the working directory at a checkpoint."""
