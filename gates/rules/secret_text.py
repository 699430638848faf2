"""Added lines that look like secrets. What they hold is never repeated in a finding.

Formats with a prefix of their own are told with hardly a mistake, so they block; a quoted value behind a telling name
is only a suspicion. Comments that tell other scanners to look away are read as any other text. Sources: the token
formats that GitHub, GitLab, AWS, Google, Slack, Stripe and the others document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "AWS access key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
        "GitHub token": r"\bgh[pousr]_[A-Za-z0-9_.-]{36,}|\bgithub_pat_[A-Za-z0-9_]{50,}",
        "GitLab token": r"\bgl(?:pat|dt|rt|ptt|soat|cbt|ft|imt|agent)-[A-Za-z0-9_.-]{20,}",
        "Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}",
        "Slack or Discord webhook": (
            r"hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"
            r"|discord(?:app)?\.com/api/webhooks/\d{16,}/[\w-]{40,}"
        ),
        "Stripe key": r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9]{24,}",
        "Google key": r"\bAIza[A-Za-z0-9_-]{35}\b|\bGOCSPX-[A-Za-z0-9_-]{28}\b|\bya29\.[A-Za-z0-9_-]{40,}",
        "private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\bAGE-SECRET-KEY-1[A-Z0-9]{50,}",
        "package registry token": r"\bnpm_[A-Za-z0-9]{36}\b|\bpypi-AgE[A-Za-z0-9_-]{40,}|\brubygems_[0-9a-f]{48}\b",
        "model provider key": r"\bsk-(?:ant|proj|or|svcacct)-[A-Za-z0-9_-]{20,}|\b(?:hf|gsk)_[A-Za-z0-9]{34,}\b",
        "SendGrid key": r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b",
        "Twilio key": r"\bSK[0-9a-f]{32}\b",
        "DigitalOcean token": r"\bdo[opr]_v1_[0-9a-f]{64}\b",
        "Shopify token": r"\bshp(?:at|ca|pa|ss)_[0-9a-f]{32}\b",
        "Vault or Terraform token": r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}|\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}",
        "Databricks or Doppler token": r"\bdapi[0-9a-f]{32}\b|\bdp\.(?:pt|st|ct)\.[A-Za-z0-9]{40,}",
        "Telegram bot token": r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b",
        "Azure storage key": r"AccountKey=[A-Za-z0-9+/]{86}==",
    }
)
"""What each expression finds, by name."""

_PUBLISHED = re.compile(r"EXAMPLE\b|([Xx0*])\1{7,}")
"""In the documentation of whoever issues the secret, and therefore everywhere."""

_NAMED = re.compile(
    r"""(?ix) (?:password|passwd|passphrase|secret|token|credentials?
        |(?:api|access|private|client|auth|signing|encryption)[_-]?key) ["']?
        \s* (?::\s*\w+\s*)? (?:=|:|=>|:=) \s* [rbuf]? (["'`]) ([^"'`\s]{8,}) \1"""
)
_IN_URL = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>{}$]{1,100}:([^\s:/@\"'<>{}$]{3,200})@[\w.-]", re.IGNORECASE
)
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")
_STANDS_FOR_ANOTHER = re.compile(
    r"(?i)^[<\[{(%$]|\$\{|\{\{|\}\}|^(?:your|my|some|test|dummy|fake|example|sample|placeholder|change|replace|redacted)"
    r"|example|changeme|placeholder|^(.)\1*$|^\*+|^(?:password|secret|token)s?\d*$|^https?://|^[a-z]+(?:[._-][a-z]+)+$"
)

_COMPILED = tuple((name, re.compile(text)) for name, text in FORMATS.items())
_ANY = re.compile("|".join(FORMATS.values()))


def looks_secret(line: str) -> tuple[str, str] | None:
    """The rule and a sentence for the gravest suspicion about one line, or None."""
    if _ANY.search(line):
        for name, pattern in _COMPILED:
            if any(not _PUBLISHED.search(match[0]) for match in pattern.finditer(line)):
                return "secret.format", f"it looks like a {name}; what is pushed is no secret any more"
    if _JWT.search(line):
        return "secret.value", "it holds a signed token"
    for match in _IN_URL.finditer(line):
        if not _STANDS_FOR_ANOTHER.search(match[1]):
            return "secret.value", "it holds an address with a password in it"
    for match in _NAMED.finditer(line):
        if not _STANDS_FOR_ANOTHER.search(match[2]):
            return "secret.value", "it gives a secret's name a value in the open"
    return None


def examine(change: ChangedFile) -> Iterable[Finding]:
    """A finding for each added line that looks like a secret."""
    for number, line in change.added_lines:
        found = looks_secret(line)
        if found is not None:
            rule, why = found
            yield change.finding(rule, "block" if rule == "secret.format" else "approve", why, number)
