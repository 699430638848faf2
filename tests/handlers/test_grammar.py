"""What is a command in a comment, and what only looks like one."""

from __future__ import annotations

import time

import pytest

from handlers.grammar import OPPOSED, VERBS, Command, Refusal, parse

FOLLOWED = [
    pytest.param("/approve", Command("approve"), id="plain"),
    pytest.param("/approve security 3f2a91c +2", Command("approve", "security 3f2a91c +2"), id="arguments"),
    pytest.param("\n\n  \n/status", Command("status"), id="blank lines before"),
    pytest.param("   /status", Command("status"), id="three spaces before"),
    pytest.param("/status   ", Command("status"), id="spaces behind"),
    pytest.param("/approve\r\n", Command("approve"), id="windows line end"),
    pytest.param("/approve\rthanks", Command("approve", "", "thanks"), id="old mac line end"),
    pytest.param("/approve\u2028thanks", Command("approve", "", "thanks"), id="unicode line separator"),
    pytest.param("\u00a0/approve\u00a0cost", Command("approve", "cost"), id="no-break spaces"),
    pytest.param("/approve\u3000cost", Command("approve", "cost"), id="ideographic space"),
    pytest.param("/approve\tcost", Command("approve", "cost"), id="tab"),
    pytest.param("\u200b/app\u200drove\ufeff", Command("approve"), id="zero-width characters"),
    pytest.param("\u200b\n/approve", Command("approve"), id="invisible first line"),
    pytest.param("\u202e/approve", Command("approve"), id="text direction override"),
    pytest.param("/APPROVE", Command("approve"), id="upper case"),
    pytest.param("/Approve Quality", Command("approve", "Quality"), id="only the verb loses its capitals"),
    pytest.param("/seconder approve cost", Command("approve", "cost"), id="long form"),
    pytest.param("/SECONDER Approve", Command("approve"), id="long form in capitals"),
    pytest.param("/seconder", Command("help"), id="long form alone asks for help"),
    pytest.param("/reject\nIt breaks *both* parsers.", Command("reject", "", "It breaks *both* parsers."), id="words"),
    pytest.param("/reject no\n\nSee:\n- a\n- b", Command("reject", "no", "See:\n- a\n- b"), id="words with a list"),
    pytest.param("/approve <!-- /reject -->", Command("approve"), id="hidden argument is dropped"),
    pytest.param("/steer use *args, not __x__", Command("steer", "use *args, not __x__"), id="mark-up is kept"),
    pytest.param("/why src/a_b.py:12", Command("why", "src/a_b.py:12"), id="path"),
    pytest.param("/approve\n> /reject", Command("approve", "", "> /reject"), id="quoted opposite"),
    pytest.param("/approve\n\n```\n/reject\n```", Command("approve", "", "```\n/reject\n```"), id="fenced opposite"),
    pytest.param("/approve\n\n- /reject", Command("approve", "", "- /reject"), id="listed opposite"),
    pytest.param("/approve\n`/reject`", Command("approve", "", "`/reject`"), id="opposite in code"),
    pytest.param(
        "/approve\n`a\n/reject`", Command("approve", "", "`a\n/reject`"), id="opposite in code over two lines"
    ),
    pytest.param("/approve\nnot /reject", Command("approve", "", "not /reject"), id="opposite inside a line"),
    pytest.param(
        "/approve\n<details>\n\n/reject\n\n</details>",
        Command("approve", "", "<details>\n\n/reject\n\n</details>"),
        id="folded opposite",
    ),
    pytest.param("/approve\n-- \n/reject\nBob", Command("approve"), id="opposite in an e-mail signature"),
    pytest.param("/approve\n--\nBob", Command("approve"), id="signature mark is no heading"),
    pytest.param(
        "/approve\n\nOn Tue, 3 Nov 2026 at 10:11, Bob <b@example.com> wrote:\n/reject",
        Command("approve"),
        id="mail tail",
    ),
    pytest.param(
        "/approve\n\nOn Tue, 3 Nov 2026 at 10:11, Bob\n<b@example.com> wrote:\n/reject",
        Command("approve"),
        id="mail tail in two lines",
    ),
    pytest.param("/approve\n\n-----Original Message-----\n/reject", Command("approve"), id="outlook tail"),
    pytest.param("/approve\n\n________________________________\nFrom: Bob", Command("approve"), id="outlook rule"),
    pytest.param(
        "/modify design\n```sql\n-- \nselect 1\n```\nand more",
        Command("modify", "design", "```sql\n-- \nselect 1\n```\nand more"),
        id="signature mark inside code is text",
    ),
    pytest.param(
        "/steer On the way he wrote:\nabc", Command("steer", "On the way he wrote:", "abc"), id="no mail tail"
    ),
    pytest.param("/approve\n/lgtm", Command("approve", "", "/lgtm"), id="somebody else's command beside ours"),
    pytest.param("/approve\n/seconder dance", Command("approve", "", "/seconder dance"), id="unknown verb below"),
    pytest.param("/help me!", Command("help", "me!"), id="mark at the end of an argument"),
    pytest.param("/approve\x00", Command("approve"), id="nul character"),
]

SILENCE = [
    pytest.param("", id="empty"),
    pytest.param(" \n\t\n", id="blank"),
    pytest.param("Looks good", id="prose"),
    pytest.param("Looks good\n/approve", id="second line"),
    pytest.param("Looks good\n\n/approve", id="second paragraph"),
    pytest.param("please /approve", id="inside a line"),
    pytest.param("> /approve", id="quote"),
    pytest.param(">/approve", id="quote without a space"),
    pytest.param("> quoted\n/approve", id="lazy continuation of a quote"),
    pytest.param("```\n/approve\n```", id="fence"),
    pytest.param("~~~\n/approve\n~~~", id="tilde fence"),
    pytest.param("```/approve", id="info string"),
    pytest.param("    /approve", id="indented code"),
    pytest.param("\t/approve", id="tab-indented code"),
    pytest.param("`/approve`", id="code span"),
    pytest.param("- /approve", id="list"),
    pytest.param("* /approve", id="starred list"),
    pytest.param("1. /approve", id="numbered list"),
    pytest.param("- [ ] /approve", id="task list"),
    pytest.param("# /approve", id="heading"),
    pytest.param("/approve\n===", id="underlined heading"),
    pytest.param("/approve\n---", id="underlined second heading"),
    pytest.param("/approve | a\n--- | ---\nb | c", id="table"),
    pytest.param("<!-- /approve -->", id="HTML comment"),
    pytest.param("<!--\n/approve\n-->", id="HTML comment over lines"),
    pytest.param("<details>\n/approve\n</details>", id="folded"),
    pytest.param("<details>\n\n/approve\n\n</details>", id="folded with blank lines"),
    pytest.param("<b>/approve</b>", id="HTML inline"),
    pytest.param("<div>\n/approve\n</div>", id="HTML block"),
    pytest.param("**/approve**", id="bold"),
    pytest.param("[/approve](https://example.com)", id="link"),
    pytest.param("![/approve](x.png)", id="image"),
    pytest.param("[x]: /approve", id="link definition"),
    pytest.param("[x]: y\n/approve", id="below a link definition"),
    pytest.param("\\/approve", id="escaped slash"),
    pytest.param("&#47;approve", id="slash as an entity"),
    pytest.param("\uff0fapprove", id="full-width slash"),
    pytest.param("\u2215approve", id="division slash"),
    pytest.param("/\u0430pprove", id="cyrillic letter"),
    pytest.param("/\uff41pprove", id="full-width letter"),
    pytest.param("/hel\u0440", id="cyrillic last letter"),
    pytest.param("/ approve", id="space behind the slash"),
    pytest.param("//approve", id="two slashes"),
    pytest.param("/approve/now", id="path"),
    pytest.param("/approved", id="longer word"),
    pytest.param("/approve_all", id="underscore"),
    pytest.param("/approve=yes", id="equals sign"),
    pytest.param("/lgtm", id="somebody else's word"),
    pytest.param("/etc/passwd is world-readable", id="a path first"),
    pytest.param("@seconder approve", id="mention"),
    pytest.param("-- \n/approve", id="only a signature"),
    pytest.param("On Tue, 3 Nov 2026 at 10:11, Bob wrote:\n/approve", id="only a mail tail"),
    pytest.param("/seconder-bot approve", id="another bot"),
]

REFUSED = [
    pytest.param("/approve\n/reject no", "opposed", ("approve", "reject"), id="yes and no"),
    pytest.param("/approve\n\n/seconder reject no", "opposed", ("approve", "reject"), id="no in the long form"),
    pytest.param("/approve\r\n\r\n/REJECT", "opposed", ("approve", "reject"), id="no in capitals and CRLF"),
    pytest.param("/approve\n/re\u200bject", "opposed", ("approve", "reject"), id="no with a zero-width space"),
    pytest.param("/approve\nfine\n\n/stop", "opposed", ("approve", "stop"), id="yes and stop, far apart"),
    pytest.param("/merge\n/modify design", "opposed", ("merge", "modify"), id="merge and modify"),
    pytest.param("/retry\n/stop", "opposed", ("retry", "stop"), id="again and stop"),
    pytest.param("/status\n/approve\n/reject", "opposed", ("status", "approve", "reject"), id="behind a harmless one"),
    pytest.param("/approve security\n/approve cost", "several", ("approve",), id="two gates"),
    pytest.param("/approve\n/status", "several", ("approve", "status"), id="two commands"),
    pytest.param("/seconder dance", "unknown", ("dance",), id="unknown verb"),
    pytest.param("/seconder \u0430pprove", "unknown", ("\u0430pprove",), id="look-alike letter"),
    pytest.param("/approve.", "malformed", ("approve",), id="full stop"),
    pytest.param("/approve, please", "malformed", ("approve",), id="comma"),
    pytest.param("/seconder stop!", "malformed", ("stop",), id="long form with a mark"),
]


@pytest.mark.parametrize(("body", "command"), FOLLOWED)
def test_a_command_is_found(body: str, command: Command) -> None:
    assert parse(body) == command


@pytest.mark.parametrize("body", SILENCE)
def test_what_only_looks_like_a_command_is_silence(body: str) -> None:
    assert parse(body) is None


@pytest.mark.parametrize(("body", "reason", "verbs"), REFUSED)
def test_what_cannot_be_followed_is_refused_with_an_explanation(body: str, reason: str, verbs: tuple[str, ...]) -> None:
    refusal = parse(body)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.verbs) == (reason, verbs)
    assert not any(line.startswith("/") for line in refusal.explanation.split("\n"))
    assert all(verb in refusal.explanation for verb in verbs)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_parses_back_in_both_forms(verb: str) -> None:
    assert parse(f"/{verb} x") == parse(f"/seconder {verb} x") == Command(verb, "x")


def test_a_refused_unknown_verb_lists_what_is_known() -> None:
    refusal = parse("/seconder dance")
    assert isinstance(refusal, Refusal)
    assert refusal.explanation == (
        "I do not know `dance`. What I know: `approve`, `reject`, `modify`, `steer`, `stop`, `retry`, `start`, "
        "`merge`, `budget`, `status`, `why`, `help`."
    )


def test_markup_in_an_unknown_verb_is_not_repeated() -> None:
    refusal = parse("/seconder `@everyone`<img>")
    assert isinstance(refusal, Refusal)
    assert refusal.verbs == ("everyoneimg",)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("/approve", None, id="short form is somebody else's"),
        pytest.param("/seconder approve", Command("approve"), id="long form"),
        pytest.param("/seconder approve\n/reject", Command("approve", "", "/reject"), id="short opposite is text"),
    ],
)
def test_without_short_commands(body: str, expected: Command | None) -> None:
    assert parse(body, short_commands=False) == expected


def test_the_verbs_are_the_callers() -> None:
    assert parse("/dance", verbs=("dance",)) == Command("dance")
    assert parse("/approve", verbs=("dance",)) is None


def test_opposed_verbs_exist() -> None:
    assert set().union(*OPPOSED) <= set(VERBS)


@pytest.mark.parametrize(
    "unit", ["[", "![", "`", "``\n", "*", "_a", "<!--", "> ", "&", "[a]:", "<details>", "a\n/x ", "|"]
)
def test_hostile_repetition_stays_cheap(unit: str) -> None:
    body = ("/approve " + unit * 16384)[:16384]
    before = time.process_time()
    parse(body)
    assert time.process_time() - before < 1
