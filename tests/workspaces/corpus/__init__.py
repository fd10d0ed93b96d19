"""One thousand shell commands: what developers run, and a third written to be awkward."""
