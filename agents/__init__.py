"""How a role thinks: its prompt and view, its tools, its loop and its money. No I/O, and no way to reach the gates."""
