"""The subcommands, one module each: what is on disk, told and changed without opening a session."""
