"""The sandbox: bubblewrap with our own seccomp filter, for code that we do not trust."""
