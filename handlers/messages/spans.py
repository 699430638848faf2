"""One line of Markdown prose, rewritten so that nothing in it acts: the inline half of `neutral`.

Code spans are recognised first, as CommonMark does, and a run of back-ticks without its partner on the same line is
escaped, so that no span can reach over a line's end. What follows is decided character by character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from handlers.messages.raw import BOTS, COMMAND

_MENTION = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\.)[^\s<>`|\\]+", re.I)
_GITHUB = re.compile(r"https://github\.com(?:/[A-Za-z0-9_./#?=&%~:+-]*)?")
_IMAGE = re.compile(r"!\[([^\[\]`]{0,200})\]\([^()`]{0,2000}\)")
_LINK = re.compile(r"\[([^\[\]`]{1,200})\]\((https?://[^()\s`]{1,2000})\)")
_SCHEMES = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)+", re.I)
_TABLE_RULE = frozenset(" \t>*+.)|:-0123456789")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_TRAILING = ".,;:!?)'\"*_~"

Step = tuple[str, int]


def is_github(url: str) -> bool:
    """Whether an address leads to github.com itself: exact host, https, no user, no port."""
    return _GITHUB.fullmatch(url) is not None


def without_schemes(text: str) -> str:
    """Addresses off GitHub without their scheme, so that nothing turns them into links."""
    return _URL.sub(lambda url: url[0] if is_github(url[0]) else _SCHEMES.sub("", url[0]), text)


def joins_before(text: str, at: int) -> bool:
    """Whether cutting in front of `text[at]` would tear a visible character apart."""
    character, before = text[at], text[at - 1]
    code = ord(character)
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character in "\u200c\u200d"
        or before in "\u200c\u200d"
        or 0x1F3FB <= code <= 0x1F3FF
        or (0x1F1E6 <= code <= 0x1F1FF and 0x1F1E6 <= ord(before) <= 0x1F1FF)
    )


def _code(content: str) -> str:
    return BOTS.sub("@ ", content.replace("<!--", "<! --"))


def _as_code(content: str, before: str, after: str) -> str:
    """A code span that keeps clear of back-ticks beside it."""
    left = " " if before in ("`", "\\") else ""
    right = " " if after == "`" else ""
    return f"{left}`{_code(content)}`{right}"


def _ticks(line: str, at: int, before: str) -> Step:
    run = len(line) - at - len(line[at:].lstrip("`"))
    partner = re.compile(rf"(?<!`)`{{{run}}}(?!`)").search(line, at + run)
    if partner is None:
        return "\\`" * run, at + run
    return "`" * run + _code(line[at + run : partner.start()]) + "`" * run, partner.end()


def _escape(line: str, at: int, before: str) -> Step:
    following = line[at + 1 : at + 2]
    if following == "@":  # dropping the backslash alone could glue an address to a name
        return (" @ ", at + 2) if before.isalnum() else ("", at + 1)
    if following == "#" and line[at + 2 : at + 3].isdigit():
        return "", at + 1
    if line.startswith("<!", at + 1):
        return "\\<\\!", at + 3
    if following in _PUNCTUATION and following:
        return line[at : at + 2], at + 2
    return "\\", at + 1


def _mention(line: str, at: int, before: str) -> Step:
    match = _MENTION.match(line, at)
    if match is None or (before.isascii() and before.isalnum()):
        return "@", at + 1
    if before == "`" or line[match.end() : match.end() + 1] == "`":
        return "@ ", at + 1
    return _as_code(match[0], before, ""), match.end()


def _angle(line: str, at: int, before: str) -> Step:
    following = line[at + 1 : at + 2]
    if following == "!":
        return "\\<\\!", at + 2
    return ("\\<" if following.isalpha() or following in ("/", "?") else "<"), at + 1


def _comment(line: str, at: int, before: str) -> Step:
    return ("\\<\\!", at + 2) if line.startswith("<!", at) else ("<", at + 1)


def _bracket(line: str, at: int, before: str) -> Step:
    return "\\[", at + 1


def _entity(line: str, at: int, before: str) -> Step:
    return ("\\&" if _ENTITY.match(line, at) else "&"), at + 1


def _address(line: str, at: int, before: str) -> Step | None:
    match = _URL.match(line, at)
    if match is None or (before.isascii() and before.isalpha()):
        return None
    url = match[0].rstrip(_TRAILING)
    end = at + len(url)
    if is_github(url):
        return url, end
    return _as_code(url, before, line[end : end + 1]), end


def _tilde(line: str, at: int, before: str) -> Step:
    run = len(line) - at - len(line[at:].lstrip("~"))
    return ("\\~" * run if run > 2 else "~" * run), at + run


_LIVE: Mapping[str, Callable[[str, int, str], Step]] = {
    "\\": _escape,
    "`": _ticks,
    "@": _mention,
    "<": _comment,
    "~": _tilde,
}
_FLAT: Mapping[str, Callable[[str, int, str], Step]] = {**_LIVE, "<": _angle, "[": _bracket, "&": _entity}


def _command(line: str) -> Step:
    """A command or path at a line's start as code; what it becomes and where the rest of the line begins."""
    match = COMMAND.match(line)
    if match is None:
        return "", 0
    if "`" in match[2]:
        return f"{match[1]}… ", len(match[1])
    return f"{match[1]}`{_code(match[2])}`", match.end()


def _scan(line: str, rules: Mapping[str, Callable[[str, int, str], Step]], addresses: bool) -> str:
    first, at = _command(line)
    out = [first]
    while at < len(line):
        before = next((part[-1] for part in reversed(out) if part), "")
        step = _address(line, at, before) if addresses and line[at].isalpha() else None
        if step is None:
            rule = rules.get(line[at])
            step = rule(line, at, before) if rule is not None else (line[at], at + 1)
        out.append(step[0])
        at = step[1]
    return "".join(out)


def live_line(line: str) -> str:
    """A line of our own message: mentions, commands and comments are taken apart, links and tables stay."""
    return _scan(line, _LIVE, addresses=False)


def flat_line(line: str) -> str:
    """A line of somebody else's text: besides, no link, image, HTML, entity or table is left."""
    line = _IMAGE.sub(r"(image left out: \1)", line)
    line = _LINK.sub(r"\1 (\2)", line)
    if "-" in line and ("|" in line or ":" in line) and _TABLE_RULE.issuperset(line):
        line = re.sub(r"(?<!\\)([|:])", r"\\\1", line)
    return _scan(line, _FLAT, addresses=True)
