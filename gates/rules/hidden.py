"""Characters that a reviewer does not see, or that turn what they see around, in added lines and in paths.

What real text needs stays: emoji sequences with joiners, their variation selectors and flags' tags, joiners inside
scripts that spell with them, a byte order mark at the very start, tab and form feed. Sources: Unicode TR36, UTS #39,
UTS #51 (emoji tag sequences), and "Trojan Source" (Boucher and Anderson, 2021).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding, Level

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DRAWS_NOTHING = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u3164\ufeff\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_BLACK_FLAG = "\U0001f3f4"
_TAG_END = "\U000e007f"
_IDENTIFIER = re.compile(r"\w+")
_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Scripts whose letters are taken for one another's."""


def _is_tag(character: str) -> bool:
    return 0xE0000 <= ord(character) <= 0xE007F


def hidden_in(text: str, at_start: bool = False) -> tuple[tuple[str, Level], ...]:
    """Each hidden character's name and level, in order. `at_start`: the text begins a file, where a mark of byte order
    is no harm. Bidirectional controls, tags and supplementary selectors can carry a second text: they `block`."""
    if text.isascii() and text.replace("\t", "").replace("\f", "").isprintable():
        return ()
    found: list[tuple[str, Level]] = []
    flag = False
    for place, character in enumerate(text):
        before = text[place - 1] if place else ""
        flag = character == _BLACK_FLAG or (flag and _is_tag(character) and before != _TAG_END)
        if (flag and _is_tag(character)) or (at_start and place == 0 and character == "\ufeff"):
            continue
        level = _level(before, character, text[place + 1 : place + 2])
        if level is not None:
            found.append((f"U+{ord(character):04X} {unicodedata.name(character, 'control character')}", level))
    return tuple(found)


def _level(before: str, character: str, after: str) -> Level | None:
    code, category = ord(character), unicodedata.category(character)
    if character in _BIDI or _is_tag(character) or 0xE0100 <= code <= 0xE01EF:
        return "block"
    if character in _JOINERS:
        return None if _joins(before) and _joins(after) else "approve"
    if 0xFE00 <= code <= 0xFE0F:
        return None if before and unicodedata.category(before) in ("So", "Sk", "Sm", "Po", "Nd", "Pd") else "approve"
    if character in "\t\f":
        return None
    return "approve" if character in _DRAWS_NOTHING or category in ("Cc", "Cf", "Co", "Cs") else None


def _joins(character: str) -> bool:
    """Whether a joiner beside the character does something: emoji, and the letters of scripts that spell with it."""
    if not character:
        return False
    code, category = ord(character), unicodedata.category(character)
    spelled = 0x0600 <= code <= 0x08FF or 0x0900 <= code <= 0x0DFF or 0x1780 <= code <= 0x18AF
    return category == "So" or code in range(0x1F3FB, 0x1F400) or code == 0xFE0F or (spelled and category[0] in "LM")


def mixed_scripts(text: str) -> str | None:
    """The first word whose letters come from two scripts that look alike (a Cyrillic а in password), or None."""
    if text.isascii():
        return None
    for match in _IDENTIFIER.finditer(text):
        word = match[0]
        scripts = {unicodedata.name(c, "").partition(" ")[0] for c in word if c.isalpha()} & _SCRIPTS
        if len(scripts) > 1:
            return word
    return None


def examine(change: ChangedFile) -> Iterable[Finding]:
    """One finding per line and level, with the characters by name; the path is looked at as well."""
    yield from _of_line(change, "the path", change.path, None)
    for number, line in change.added_lines:
        yield from _of_line(change, "this line", line.removesuffix("\r"), number)


def _of_line(change: ChangedFile, where: str, text: str, number: int | None) -> Iterable[Finding]:
    found = hidden_in(text, at_start=number == 1)
    for level in ("block", "approve"):
        names = [name for name, how in found if how == level]
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            why = f"{where} holds characters that nobody sees: {', '.join(names[:3])}{more}"
            rule = "hidden.deceptive" if level == "block" else "hidden.character"
            yield change.finding(rule, level, why, number)
    word = mixed_scripts(text)
    if word is not None:
        shown = word[:40].encode("ascii", "backslashreplace").decode()
        yield change.finding("hidden.mixed_scripts", "approve", f"{where} mixes look-alike scripts in {shown}", number)
