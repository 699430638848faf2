"""Private work trees: what the agents read, change and test."""
