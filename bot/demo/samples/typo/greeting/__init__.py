"""Says hello."""


def greet(name: str) -> str:
    """A friendly sentence."""
    return f"Hello, {name}!"
