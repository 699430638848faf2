"""The words that make a path sensitive: auth, security, password, token, secret, credential, permission, acl, rbac.

A word counts where it stands whole in any part of the path: alone, in snake_case, kebab-case or camelCase, in the
plural, in its own derivations (authenticator, unauthorized), and written together with a usual companion
(resetpassword, authservice). Letters that merely contain it do not (author, tokenizer, oracle, secretary).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding

FORMS: Mapping[str, str] = MappingProxyType(
    {
        "auth": (
            r"(?:o|open|web|pre|re|un|de)?auth(?:s|n|z|ed)?"
            r"|(?:pre|re|un|de)?authenticat(?:e|es|ed|ing|ion|ions|or|ors|able)"
            r"|(?:pre|re|un|de)?authori[sz](?:e|es|ed|er|ers|ing|ation|ations|able)"
        ),
        "security": r"(?:in)?secur(?:ity|ities|e|ed|ing)",
        "password": r"passwords?|passwd|passphrases?|passcodes?",
        "token": r"tokens?",
        "secret": r"secrets?",
        "credential": r"credentials?|creds",
        "permission": r"permissions?|permissioned",
        "acl": r"acls?",
        "rbac": r"rbacs?",
    }
)
"""Each word with the forms in which it is still itself, as an expression over lower-case letters."""

_BEFORE = (
    "access admin api app base basic bearer bot change check client cookie csrf current custom db default delete "
    "device digest encrypted file forgot forgotten get github group has hash hashed hidden http id identity is "
    "jwt key ldap login master my new no old one open page plain raw refresh require required requires reset role "
    "root saml server service session set shared signed sso store strong team temp temporary two update user "
    "users validate verify weak web xsrf"
)
_AFTER = (
    "api app backend base cache change changed changer check checker class client code config context control "
    "controller cookie data db decorator entry error errors exception factory field file filter flow form forms "
    "gate gateway generator group guard handler hash hasher header headers hook input interceptor key keys layer "
    "level lib list loader manager map matrix middleware mixin model models module page pages panel plugin "
    "policies policy provider providers proxy repo repository request reset resolver response role roles route "
    "router routes rule rules schema screen serializer server service services session set settings state storage "
    "store strategy table test tests type types user users validation validator vault view views web"
)


def _alternatives(words: str) -> str:
    return "|".join(sorted(set(words.split()), key=lambda word: (-len(word), word)))


_WHOLE: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        word: re.compile(
            f"(?:{forms})|(?:{_alternatives(_BEFORE)})(?:{forms})|"
            f"(?:{_alternatives(_BEFORE)})?(?:{forms})(?:{_alternatives(_AFTER)})"
        )
        for word, forms in FORMS.items()
    }
)
_RUNS = re.compile(r"[^\W\d_]+")
_HUMPS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def words_in(path: str) -> tuple[str, ...]:
    """The sensitive words that stand whole in some part of a path, in the order of `FORMS`."""
    # Compatibility forms (full width) read as the letters that they show; what draws nothing parts no word.
    plain = "".join(c for c in unicodedata.normalize("NFKC", path) if unicodedata.category(c) != "Cf")
    pieces = {hump.lower() for run in _RUNS.findall(plain) for hump in (run, *_HUMPS.findall(run))}
    return tuple(word for word, whole in _WHOLE.items() if any(whole.fullmatch(piece) for piece in pieces))


def examine(change: ChangedFile) -> tuple[Finding, ...]:
    """A finding for each sensitive word in the changed path."""
    return tuple(
        change.finding(f"word.{word}", "approve", f"the path holds the word {word}") for word in words_in(change.path)
    )
