"""Git on the host: argv only, an environment from scratch, and git directories that no untrusted code can touch."""
