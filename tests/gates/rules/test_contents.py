"""What the rules find in contents and modes: hidden characters, secrets, odd files, and lines that a change adds."""

from __future__ import annotations

import pytest

from gates.rules import Finding, digest, examine, files, hidden, in_order, review, secret_text
from gates.rules.change import ChangedFile
from gates.rules.hidden import hidden_in
from gates.rules.review import Remark
from tests.gates.rules.changes import changed

HIDDEN = [
    pytest.param('if access != "user\u202e \u2066// admin\u2069 \u2066":', "block", id="right-to-left override"),
    pytest.param("Run tests\U000e0053\U000e0065", "block", id="tags that spell a second text"),
    pytest.param("a\U000e0101\U000e0102", "block", id="supplementary selectors"),
    pytest.param("us\u200ber = 1", "approve", id="zero-width space in a name"),
    pytest.param("x\ufe01\ufe02", "approve", id="selectors after a letter"),
    pytest.param("const { timeout,\u3164} = req", "approve", id="Hangul filler"),
    pytest.param("pass\u00adword", "approve", id="soft hyphen"),
    pytest.param("\x1b[31mred", "approve", id="a terminal sequence"),
    pytest.param("a\rb", "approve", id="a carriage return inside a line"),
    pytest.param("a\u200db", "approve", id="a joiner between Latin letters"),
    pytest.param("x\ufeff", "approve", id="a byte order mark inside"),
    pytest.param("\U0001f3f4x\U000e0067", "block", id="a tag behind something that is no flag"),
    pytest.param("\U0001f3f4\U000e0067\U000e007f\U000e0067", "block", id="a tag behind a finished flag"),
    pytest.param("\ud800", "approve", id="half of a pair"),
]


@pytest.mark.parametrize(("text", "level"), HIDDEN)
def test_hidden_characters_are_found(text: str, level: str) -> None:
    assert level in {found for _, found in hidden_in(text)}


SEEN = [
    pytest.param("ok \u2705 \u26a0\ufe0f", id="emoji form"),
    pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", id="a family"),
    pytest.param("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", id="Persian"),
    pytest.param("\u0915\u094d\u200d\u0937", id="Hindi"),
    pytest.param("café naïve", id="accents"),
    pytest.param("1\ufe0f\u20e3", id="a key cap"),
    pytest.param("\f", id="form feed"),
    pytest.param("\tx", id="tab"),
    pytest.param("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", id="the flag of England"),
    pytest.param("日本語", id="Japanese"),
]


@pytest.mark.parametrize("text", SEEN)
def test_what_real_text_needs_is_not_found(text: str) -> None:
    assert hidden_in(text) == ()


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        pytest.param(changed(new="\ufeffimport os\n"), [], id="a byte order mark at the start"),
        pytest.param(changed(new="a\n\ufeffb\n"), ["hidden.character"], id="a byte order mark in line two"),
        pytest.param(changed(new="a\r\nb\r\n"), [], id="line ends of Windows"),
        pytest.param(changed(new="a\u202e\nb\n", old="a\u202e\n"), [], id="it was there before"),
        pytest.param(changed("src/a\u202eb.py"), ["hidden.deceptive"], id="in the path"),
        pytest.param(changed(new="p\u0430ssword = 1\n"), ["hidden.mixed_scripts"], id="a Cyrillic letter in a name"),
        pytest.param(changed(new="слово = 'word'\n"), [], id="words of one script each"),
    ],
)
def test_hidden_characters_of_a_change(change: ChangedFile, rules: list[str]) -> None:
    assert [one.rule for one in hidden.examine(change)] == rules


# Put together here, so that this file holds nothing that a scanner takes for a secret.
AWS, GITHUB, KEY = "AKIA" + "QYLPMN5HHHFPZAM2", "gh" + "s_" + "a1B2" * 10, "-----BEGIN " + "RSA PRIVATE KEY-----"
SECRETS = [
    pytest.param(f'key = "{AWS}"', "block", id="AWS"),
    pytest.param(f'key = "{AWS}"  # pragma: allowlist secret', "block", id="a comment that says to look away"),
    pytest.param(f"{GITHUB}  # gitleaks:allow", "block", id="GitHub, and a comment"),
    pytest.param("gh" + "s_1234567_eyJ" + "hbGciOi.J9x" * 40, "block", id="GitHub's long form"),
    pytest.param("github_pat_" + "A1b2" * 15, "block", id="GitHub, fine-grained"),
    pytest.param(KEY, "block", id="a private key"),
    pytest.param("-----BEGIN " + "OPENSSH PRIVATE KEY-----", "block", id="a private key of OpenSSH"),
    pytest.param("xox" + "b-123456789012-abcdefABCDEF", "block", id="Slack"),
    pytest.param("sk_" + "live_" + "a1B2" * 6, "block", id="Stripe"),
    pytest.param("sk-" + "ant-api03-" + "a1B2" * 10, "block", id="Anthropic"),
    pytest.param("AI" + "za" + "SyA1b2C" * 5, "block", id="Google"),
    pytest.param("hooks.slack.com/services/" + "T0AB12CD3/B0AB12CD3/" + "a1B2" * 6, "block", id="a webhook"),
    pytest.param('password = "hunter2hunter2"', "approve", id="a password in the open"),
    pytest.param("'api_key': 'k3y-0f-th3-k1ngd0m'", "approve", id="a key in a mapping"),
    pytest.param('const clientSecret: string = "w8Zp3!kd9"', "approve", id="typed and camel"),
    pytest.param("postgres://app:s3cr3tpw@db.internal/x", "approve", id="in an address"),
    pytest.param("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "approve", id="signed"),
]


@pytest.mark.parametrize(("line", "level"), SECRETS)
def test_a_line_looks_like_a_secret(line: str, level: str) -> None:
    [found] = secret_text.examine(changed(new=f"x = 1\n{line}\n", old="x = 1\n"))
    assert (found.level, found.line) == (level, 2)
    assert line[8:20] not in found.why


PLAIN = [
    pytest.param('password = os.environ["PASSWORD"]', id="from the environment"),
    pytest.param("AKIA" + "IOSFODNN7EXAMPLE", id="Amazon's own example"),
    pytest.param("    --hash=sha256:" + "0f" * 32, id="a lock file's hash"),
    pytest.param('password = "changeme"', id="a placeholder"),
    pytest.param('token = "<your token here>"', id="a placeholder with words"),
    pytest.param('token = "${{ secrets.TOKEN }}"', id="a reference"),
    pytest.param('label = "Forgot your password?"', id="a label"),
    pytest.param('password_field = "password"', id="a field's name"),
    pytest.param("tokens = tokenizer.encode(text)", id="tokens of a language"),
    pytest.param("https://user@example.org/x", id="an address without a password"),
    pytest.param("redis://:{password}@{host}", id="a template of an address"),
    pytest.param('secret_key = "xxxxxxxxxxxx"', id="crossed out"),
    pytest.param("git@github.com:acme/app.git", id="git's own form"),
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_line_is_no_secret(line: str) -> None:
    assert secret_text.looks_secret(line) is None


FILES = [
    pytest.param(changed(modes=("000000", "120000")), [("file.link", "block")], id="a new link"),
    pytest.param(changed(modes=("120000", "000000"), new=None), [("file.link", "block")], id="a link removed"),
    pytest.param(changed(modes=("100644", "120000")), [("file.link", "block")], id="a file becomes a link"),
    pytest.param(changed(modes=("000000", "160000"), new=None), [("file.submodule", "block")], id="a new submodule"),
    pytest.param(changed(modes=("000000", "040000")), [("file.mode", "block")], id="an odd mode"),
    pytest.param(changed(modes=("000000", "")), [("file.mode", "block")], id="no mode"),
    pytest.param(changed(modes=("100644", "100755"), old=""), [("file.executable", "approve")], id="now executable"),
    pytest.param(changed(modes=("100755", "100644"), old=""), [("file.executable", "approve")], id="no longer"),
    pytest.param(changed(modes=("100755", "100755"), old=""), [], id="executable as before"),
    pytest.param(changed(modes=("000000", "100644"), new=None), [("file.unread", "block")], id="not read"),
    pytest.param(changed(new=b"a\0b"), [("file.binary", "approve")], id="NUL"),
    pytest.param(changed(new=b"caf\xe9"), [("file.binary", "approve")], id="no UTF-8"),
    pytest.param(changed(new="x" * 1_000_001), [("file.large", "approve")], id="very large"),
    pytest.param(changed(new=""), [], id="empty"),
    pytest.param(changed(new=None, old="x"), [], id="removed"),
]


@pytest.mark.parametrize(("change", "found"), FILES)
def test_modes_and_sizes(change: ChangedFile, found: list[tuple[str, str]]) -> None:
    assert [(one.rule, one.level) for one in files.examine(change)] == found


LINES = [
    pytest.param("a\nb\n", "a\nx\nb\n", [(2, "x")], id="one between"),
    pytest.param("a\nb\n", "a\nc\n", [(2, "c")], id="one replaced"),
    pytest.param("a\nb\n", "b\n", [], id="one removed"),
    pytest.param("a\n", "a\na\n", [(2, "a")], id="the same once more"),
    pytest.param("", "a", [(1, "a")], id="the first, without an end"),
    pytest.param("a", "a\n", [(2, "")], id="an end is added"),
    pytest.param("a\n" * 3_000, "b\n" * 3_000, [(n, "b") for n in range(1, 3_001)], id="too much to compare"),
    pytest.param("a\u2028b\n", "a\u2028b\nc\n", [(2, "c")], id="only a line feed ends a line"),
]


@pytest.mark.parametrize(("old", "new", "lines"), LINES)
def test_added_lines(old: str, new: str, lines: list[tuple[int, str]]) -> None:
    assert list(changed(new=new, old=old).added_lines) == lines


def test_a_file_that_was_no_text_is_new_as_a_whole() -> None:
    assert changed(new="a\nb", old=b"\0").added_lines == ((1, "a"), (2, "b"))


def finding(**fields: object) -> Finding:
    return Finding.model_validate(
        {"rule": "word.auth", "level": "approve", "path": "a.py", "line": 3, "blob": "b" * 40, "why": "…", **fields}
    )


DIGESTS = [
    pytest.param([finding(), finding()], True, id="one of them twice"),
    pytest.param([finding(line=4)], True, id="another line"),
    pytest.param([finding(why="other words")], True, id="other words"),
    pytest.param([finding(), finding(level="note", path="b.py")], True, id="a note beside it"),
    pytest.param([finding(blob="c" * 40)], False, id="other content"),
    pytest.param([finding(path="b.py")], False, id="another path"),
    pytest.param([finding(rule="word.token")], False, id="another rule"),
    pytest.param([finding(), finding(path="b.py")], False, id="one more"),
    pytest.param([], False, id="none"),
]


@pytest.mark.parametrize(("findings", "same"), DIGESTS)
def test_the_digest_is_of_rules_paths_and_blobs(findings: list[Finding], same: bool) -> None:
    assert (digest(findings) == digest([finding()])) is same


def test_the_digest_does_not_run_fields_together() -> None:
    assert digest([finding(rule="a", path="b c")]) != digest([finding(rule="a b", path="c")])


def test_the_gravest_stands_first() -> None:
    rows = [finding(level="note"), finding(level="block", path="z"), finding(path="b"), finding(path="b")]
    assert [(one.level, one.path) for one in in_order(rows)] == [("block", "z"), ("approve", "b"), ("note", "a.py")]


REMARKS = [
    pytest.param("security", "nit", 1, id="the lightest counts"),
    pytest.param("Security", "blocker", 1, id="upper case"),
    pytest.param("sql-injection", "major", 1, id="an injection"),
    pytest.param("vulnerability", "minor", 1, id="a vulnerability"),
    pytest.param("style", "blocker", 0, id="something else"),
    pytest.param("authorship", "minor", 0, id="a look-alike"),
    pytest.param("", "minor", 0, id="no category"),
]


@pytest.mark.parametrize(("category", "severity", "count"), REMARKS)
def test_remarks_of_the_reviewer(category: str, severity: str, count: int) -> None:
    remark = Remark("a.py", 3, severity, category, "look here")
    found = list(review.examine([remark], {"a.py": "b" * 40}))
    assert [(one.level, one.blob) for one in found] == [("approve", "b" * 40)] * count


def test_a_whole_change_is_looked_through() -> None:
    change = [
        changed(".github/workflows/ci.yml", "on: push\n"),
        changed("src/auth.py", 'token = "hunter2hunter2"\n'),
        changed("README.md", "# Words\n", "# Word\n"),
        changed("tests/test_a.py", None, "def test_a():\n    assert f()\n", is_test=True),
    ]
    assert [(one.level, one.rule) for one in examine(change)] == [
        ("block", "path.ci"),
        ("approve", "word.auth"),
        ("approve", "secret.value"),
        ("approve", "tests.removed"),
    ]
    assert examine([]) == ()
