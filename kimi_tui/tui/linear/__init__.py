"""The session as lines of words, for those who listen to their terminal: nothing is drawn, all is said."""
