"""The processes and what wires them: command line, settings, web, worker, demo."""
