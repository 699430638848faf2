"""Every word that we post: one module a message, each with a frozen view and `render(view) -> str`."""
