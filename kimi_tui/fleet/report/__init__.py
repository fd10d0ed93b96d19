"""Reports about fleets, in Markdown and HTML. They are in English, since they are shared."""
