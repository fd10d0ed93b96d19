"""One session behind the Wire: commands in, events out; the composition root."""
