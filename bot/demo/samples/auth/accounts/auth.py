"""Checks passwords."""

import hmac
from typing import Dict


class Door:
    """Opens to people who say their own words."""

    def __init__(self, words: Dict[str, str]) -> None:
        self._words = words

    def opens(self, name: str, said: str) -> bool:
        """Whether `said` are the words of `name`."""
        known = self._words.get(name)
        return known is not None and hmac.compare_digest(known.encode(), said.encode())
