"""Output for clients of Kimi CLI, which are served with `--agent kimi`."""
