"""Settings are read once, checked whole, and never shown."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.settings import REQUIRED, Needs, Problem, Settings, SettingsError, load, table

KEY = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n"
UP = {
    "GITHUB_APP_ID": "12",
    "GITHUB_APP_PRIVATE_KEY": KEY,
    "GITHUB_WEBHOOK_SECRET": "s3cret-s3cret-s3cret",
    "ANTHROPIC_API_KEY": "sk-ant-s3cret",
}

NOTHING_SET = """\
4 settings need attention:
  GITHUB_APP_ID is missing.
    It is the number on the App's settings page; the README says how to make an App.
  GITHUB_APP_PRIVATE_KEY is missing.
    Set it to the App's private key (PEM), or GITHUB_APP_PRIVATE_KEY_PATH to its file.
  GITHUB_WEBHOOK_SECRET is missing.
    Set it to the secret of the App's webhook; without one anybody could send deliveries.
  ANTHROPIC_API_KEY is missing.
    Make one at https://console.anthropic.com, or set ANTHROPIC_BASE_URL; such a server may take any text."""

ALL_WRONG = """\
14 settings need attention:
  SECONDER_BUGDET_USD is no setting.
    Did you mean SECONDER_BUDGET_USD?
  ANTHROPIC_API_KEY is missing.
    Make one at https://console.anthropic.com, or set ANTHROPIC_BASE_URL; such a server may take any text.
  REDIS_URL is not a redis://, rediss://, unix:// or redis+sentinel:// address.
    Separate web and worker processes share a store: name it, or run `seconder up`, which has its own.
  ANTHROPIC_BASE_URL may have no user name, password, query or fragment in it.
    Set it right or leave it out.
  GITHUB_APP_ID is not a whole number.
    It is the number on the App's settings page; the README says how to make an App.
  GITHUB_APP_PRIVATE_KEY is not a private key in PEM form.
    Set it to the App's private key (PEM), or GITHUB_APP_PRIVATE_KEY_PATH to its file.
  GITHUB_WEBHOOK_SECRET has a secret of fewer than 16 characters.
    Set it to the secret of the App's webhook; without one anybody could send deliveries.
  GITHUB_API_URL is plain http to another machine, where others can read what is sent.
    The default is https://api.github.com.
  SECONDER_PORT should be less than or equal to 65535.
    The default is 8080.
  SECONDER_APP_SLUG has characters that it cannot have.
    Set it right or leave it out.
  SECONDER_MAX_ROUNDS should be greater than or equal to 1.
    The default is 5.
  SECONDER_TOOLCHAIN is not a folder.
    Set it right or leave it out.
  SECONDER_SHORT_COMMANDS is neither true nor false.
    The default is true.
  SECONDER_LEASE_S is not a number.
    The default is 8."""


def problems(env: dict[str, str], needs: Needs = "doctor") -> tuple[Problem, ...]:
    """What is wrong with an environment."""
    with pytest.raises(SettingsError) as caught:
        load(env, needs)
    return caught.value.problems


def test_everything_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        load({}, "up")
    assert str(caught.value) == NOTHING_SET


def test_everything_that_is_wrong_is_named_at_once_and_no_value_is_shown() -> None:
    env = {
        "REDIS_URL": "http://:hunter2@store",
        "ANTHROPIC_BASE_URL": "https://u:hunter2@models.example",
        "GITHUB_APP_ID": "hunter2",
        "GITHUB_APP_PRIVATE_KEY": "hunter2",
        "GITHUB_WEBHOOK_SECRET": "hunter2",
        "GITHUB_API_URL": "http://github.example/api/v3",
        "SECONDER_PORT": "65536",
        "SECONDER_APP_SLUG": "Hunter 2",
        "SECONDER_MAX_ROUNDS": "0",
        "SECONDER_TOOLCHAIN": "/no/such/hunter2",
        "SECONDER_SHORT_COMMANDS": "hunter2",
        "SECONDER_LEASE_S": "hunter2",
        "SECONDER_BUGDET_USD": "hunter2",
    }
    with pytest.raises(SettingsError) as caught:
        load(env, "up")
    assert str(caught.value) == ALL_WRONG
    assert "unter2" not in repr(caught.value) + str(caught.value.__cause__)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("needs", REQUIRED)
def test_blank_is_missing(needs: Needs) -> None:
    if not REQUIRED[needs]:
        assert load(dict.fromkeys(("REDIS_URL", "SECONDER_PORT"), " "), needs).port == 8080
        return
    named = {problem.name for problem in problems(dict.fromkeys(REQUIRED[needs], " \n"), needs)}
    assert named == set(REQUIRED[needs])


def test_defaults() -> None:
    settings = load(UP, "up")
    assert (settings.host, settings.port, settings.loopback) == ("127.0.0.1", 8080, True)
    assert (settings.budget_usd, settings.budget) == (Decimal(5), 5_000_000)
    assert (settings.data_dir, settings.github_api_url) == (Path(".seconder"), "https://api.github.com")
    assert (settings.model_fast, settings.model_standard, settings.model_strong) == (
        "claude-haiku-5-5",
        "claude-sonnet-5-5",
        "claude-opus-5-5",
    )
    assert (settings.lease_s, settings.sweep_s, settings.settle_s, settings.max_rounds) == (8, 1, 10, 5)
    assert (settings.required_approvals, settings.requester_may_approve, settings.short_commands) == (1, False, True)


def test_the_environment_of_the_process_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECONDER_PORT", "9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-process")
    settings = load({}, "demo")
    assert (settings.port, settings.anthropic_api_key) == (8080, None)


def test_no_secret_is_shown() -> None:
    settings = load({**UP, "REDIS_URL": "redis://:hunter2@store/0"}, "up")
    shown = f"{settings} {settings!r} {settings.model_dump()} {settings.model_dump_json()}"
    assert not any(secret in shown for secret in ("hunter2", "s3cret", "abc"))


def test_settings_are_frozen() -> None:
    settings = load(UP, "up")
    with pytest.raises(ValidationError, match="frozen"):
        settings.port = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("one-secret-of-16-c", ("one-secret-of-16-c",), id="one"),
        pytest.param(
            "the-new-one-is-first, the-old-one-second",
            ("the-new-one-is-first", "the-old-one-second"),
            id="two, while one is replaced",
        ),
    ],
)
def test_webhook_secrets(given: str, expected: tuple[str, ...]) -> None:
    assert load({**UP, "GITHUB_WEBHOOK_SECRET": given}, "up").webhook_secrets == expected


@pytest.mark.parametrize("given", ["the-new-one-is-first,", ",", "short", "long-enough-for-one,short"])
def test_a_secret_that_can_be_guessed_is_refused(given: str) -> None:
    (problem,) = problems({"GITHUB_WEBHOOK_SECRET": given})
    assert problem[:2] == ("GITHUB_WEBHOOK_SECRET", "has a secret of fewer than 16 characters.")


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(KEY, id="as it is"),
        pytest.param(KEY.replace("\n", "\\n"), id="line breaks as two characters"),
        pytest.param(f"\n{KEY}\n\n", id="blank lines around"),
    ],
)
def test_a_private_key_may_be_given_or_named(written: str, tmp_path: Path) -> None:
    file = tmp_path / "app.pem"
    file.write_text(written, encoding="ascii")
    without = {name: value for name, value in UP.items() if name != "GITHUB_APP_PRIVATE_KEY"}
    for env in ({**UP, "GITHUB_APP_PRIVATE_KEY": written}, {**without, "GITHUB_APP_PRIVATE_KEY_PATH": str(file)}):
        key = load(env, "worker" if "REDIS_URL" in env else "up").github_app_private_key
        assert key is not None
        assert key.get_secret_value() == KEY


def test_a_key_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    without = {name: value for name, value in UP.items() if name != "GITHUB_APP_PRIVATE_KEY"}
    (problem,) = problems({**without, "GITHUB_APP_PRIVATE_KEY_PATH": str(tmp_path / "none.pem")}, "up")
    assert problem == (
        "GITHUB_APP_PRIVATE_KEY_PATH",
        "cannot be read: No such file or directory.",
        "Name the file with the App's private key (PEM).",
    )


def test_a_key_and_a_path_are_one_too_many() -> None:
    (problem,) = problems({**UP, "GITHUB_APP_PRIVATE_KEY_PATH": "x.pem"}, "up")
    assert problem[:2] == ("GITHUB_APP_PRIVATE_KEY_PATH", "is set, and so is GITHUB_APP_PRIVATE_KEY.")


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("GITHUB_API_URL", "https://ghe.example/api/v3/", "github_api_url", "https://ghe.example/api/v3"),
        ("GITHUB_API_URL", "http://127.0.0.1:3300", "github_api_url", "http://127.0.0.1:3300"),
        ("ANTHROPIC_BASE_URL", "http://[::1]:9", "anthropic_base_url", "http://[::1]:9"),
        ("SECONDER_SHORT_COMMANDS", "off", "short_commands", False),
        ("SECONDER_BUDGET_USD", "0.25", "budget", 250_000),
        ("SECONDER_HOST", "0.0.0.0", "loopback", False),
        ("SECONDER_HOST", "localhost", "loopback", True),
        ("SECONDER_HOST", "seconder.example", "loopback", False),
        ("SECONDER_PORT", " 0 ", "port", 0),
    ],
)
def test_values_that_fit(name: str, value: str, field: str, expected: object) -> None:
    assert getattr(load({name: value}, "doctor"), field) == expected


@pytest.mark.parametrize(
    ("env", "name"),
    [
        pytest.param({"SECONDER_BUDGET_USD": "0"}, "SECONDER_BUDGET_USD", id="no budget"),
        pytest.param({"SECONDER_BUDGET_USD": "NaN"}, "SECONDER_BUDGET_USD", id="budget that is no number"),
        pytest.param({"SECONDER_BUDGET_USD": "inf"}, "SECONDER_BUDGET_USD", id="endless budget"),
        pytest.param({"SECONDER_SETTLE_S": "nan"}, "SECONDER_SETTLE_S", id="not a number of seconds"),
        pytest.param({"SECONDER_REQUIRED_APPROVALS": "0"}, "SECONDER_REQUIRED_APPROVALS", id="no approval needed"),
        pytest.param({"SECONDER_SWEEP_S": "9"}, "SECONDER_SWEEP_S", id="sweeps rarer than a lease"),
        pytest.param({"GITHUB_API_URL": "ftp://x"}, "GITHUB_API_URL", id="other scheme"),
        pytest.param({"GITHUB_API_URL": "https://"}, "GITHUB_API_URL", id="no host"),
        pytest.param({"GITHUB_APP_ID": "-1"}, "GITHUB_APP_ID", id="negative App"),
        pytest.param({"SECONDER_LEASES_S": "8"}, "SECONDER_LEASES_S", id="misspelt"),
    ],
)
def test_values_that_do_not_fit(env: dict[str, str], name: str) -> None:
    assert [problem.name for problem in problems(env)] == [name]


def test_names_that_are_nobodys_are_left_alone() -> None:
    assert load({"SECONDER_SOMETHING_ELSE": "x", "PATH": "/bin"}, "doctor") == load({}, "doctor")


def test_the_table_has_a_meaning_for_every_setting() -> None:
    rows = table()
    assert [row.name for row in rows] == [field.alias for field in Settings.model_fields.values()]
    assert all(row.meaning.endswith((".", "`.")) for row in rows)
    assert {row.name: row.default for row in rows}["SECONDER_SHORT_COMMANDS"] == "true"
