"""The whole team on this machine: store, local GitHub, web process and worker in one process, followed on a screen."""
