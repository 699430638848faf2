"""Characters that a reader does not see: found, so that they can be stripped before anything is posted.

Left standing: joiners where a script or an emoji needs them, the emoji form selector behind a symbol, tabs and line
feeds. Everything else of Unicode's categories "control", "format", "surrogate" and "private use" goes, and the few
letters and marks that draw nothing. Source: Unicode Character Database, UTS #39 "Unicode Security Mechanisms".
"""

from __future__ import annotations

import re
import unicodedata

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]")
_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_DRAWS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_FORM = "\ufe0f"


def _joins_script(character: str) -> bool:
    """Whether the character belongs to a script whose spelling needs joiners (Arabic to Sinhala, Khmer, Mongolian)."""
    code = ord(character)
    known = 0x0600 <= code <= 0x08FF or 0x0900 <= code <= 0x0DFF or 0x1780 <= code <= 0x18AF
    return known and unicodedata.category(character)[0] in "LM"


def _symbol(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk") and ord(character) > 0x2000


def is_hidden(before: str, character: str, after: str) -> bool:
    """Whether a character draws nothing where it stands; `before` and `after` are its neighbours or empty."""
    if character in "\t\n":
        return False
    if character in _DRAWS_NOTHING or 0xFE00 <= ord(character) <= 0xFE0F or 0xE0000 <= ord(character) <= 0xE0FFF:
        needed = character == _EMOJI_FORM and before != "" and (_symbol(before) or before in "0123456789#*©®‼⁉ℹ↔")
        return not needed
    if character in _JOINERS:
        if not before or not after:
            return True
        emoji = (_symbol(before) or before == _EMOJI_FORM) and _symbol(after) and character == "\u200d"
        return not (emoji or (_joins_script(before) and _joins_script(after)))
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co")


def strip_hidden(text: str) -> str:
    """The text with line feeds only, without terminal sequences and without any character that draws nothing."""
    text = _BREAKS.sub("\n", _TERMINAL.sub("", text))
    if text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    for index, character in enumerate(text):
        before = kept[-1] if kept else ""
        if not is_hidden(before, character, text[index + 1 : index + 2]):
            kept.append(character)
    return "".join(_without_dangling_joiners(kept))


def _without_dangling_joiners(kept: list[str]) -> list[str]:
    """A joiner whose right neighbour was stripped joins nothing any more."""
    joined: list[str] = []
    for index, character in enumerate(kept):
        after = kept[index + 1] if index + 1 < len(kept) else ""
        if character not in _JOINERS or not is_hidden(joined[-1] if joined else "", character, after):
            joined.append(character)
    return joined
