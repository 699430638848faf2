from durations.parse import parse

__all__ = ["parse"]
