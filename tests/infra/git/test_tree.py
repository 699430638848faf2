"""What a tree may hold before anything of it is checked out."""

from __future__ import annotations

import pytest

from handlers.ports import TooBig
from infra.git.tree import TreeLimits, parse

OID = "a" * 40
SMALL = TreeLimits(entries=3, total_bytes=100, blob_bytes=60)


def row(path: str, size: str = "1", mode: str = "100644", kind: str = "blob") -> bytes:
    return f"{mode} {kind} {OID} {size:>7}\t".encode() + path.encode("utf-8", "surrogateescape") + b"\0"


def test_entries() -> None:
    listing = row("a", "5") + row("link", "7", "120000") + row("sub", "-", "160000", "commit")
    entries = parse(listing, SMALL)
    assert [(entry.path, entry.size, entry.mode, entry.is_file) for entry in entries] == [
        ("a", 5, "100644", True),
        ("link", 7, "120000", False),
        ("sub", 0, "160000", False),
    ]
    assert parse(b"", SMALL) == ()


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        pytest.param(b"".join(row(f"f{n}") for n in range(4)), "more than 3 files", id="entries"),
        pytest.param(row("a", "50") + row("b", "51"), "101 bytes, over the limit of 100", id="total"),
        pytest.param(row("a", "61"), "over the limit of 60", id="blob"),
        pytest.param(row("a", "BAD"), "over the limit of 60", id="blob-left-out-by-the-filter"),
        pytest.param(row("A/x") + row("a/y"), "'A' and 'a' differ only in case", id="directories-by-case"),
        pytest.param(row("README") + row("readme"), "differ only in case", id="files-by-case"),
        pytest.param(row("\u00e9") + row("e\u0301"), "differ only in case or form", id="unicode-form"),
        pytest.param(row("x/.git/config"), "names a git directory", id="git-directory"),
        pytest.param(row("a\nb"), "control characters", id="newline"),
        pytest.param(row("a\udcff"), "not UTF-8", id="not-utf8"),
        pytest.param(row("/".join("a" * 65)), "deeper than 64", id="deep"),
        pytest.param(row("x" * 1025), "longer than 1,024 bytes", id="long"),
    ],
)
def test_refused(listing: bytes, says: str) -> None:
    with pytest.raises(TooBig, match=says):
        parse(listing, SMALL)


def test_error_shows_no_raw_control_characters() -> None:
    with pytest.raises(TooBig) as caught:
        parse(row("a\x1b[31m\nb"), SMALL)
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
