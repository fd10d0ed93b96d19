"""Timeline of a session: checkpoints, reverts, forks, comparisons and patches."""
