"""What a repository's tests need: read from its manifests, fetched through our own proxy, installed in the sandbox."""
