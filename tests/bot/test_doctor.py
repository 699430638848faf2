"""`seconder doctor`: the report as people see it, each check by itself, and nothing secret in what it says."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from agents.ports import ModelError
from bot import checkup, wiring
from bot.checkup import Finding, Needs
from bot.doctor import Clinic, as_json, examine, report, sound, unusable
from bot.processes import run_doctor
from bot.settings import Settings, SettingsError, load
from handlers.ports import (
    AppHealth,
    FailedDelivery,
    HookHealth,
    InstallationFacts,
    Later,
    Missing,
    Refused,
    StoreDown,
    StoreHealth,
)
from infra.llm.scripted import ScriptedModel
from infra.local_github import LocalGitHub
from tests.fakes.outages import Server

T = TypeVar("T")
KEY = "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0LXNlY3JldA==\n-----END RSA PRIVATE KEY-----\n"
ENV = {
    "REDIS_URL": "redis://:pass-word-pass@store.example:6379/0",
    "GITHUB_APP_ID": "12",
    "GITHUB_APP_PRIVATE_KEY": KEY,
    "GITHUB_WEBHOOK_SECRET": "s3cret-s3cret-s3cret",
    "ANTHROPIC_API_KEY": "sk-ant-s3cret",
}
SETTINGS = {
    "appendonly": "yes",
    "appendfsync": "always",
    "save": "",
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
}
STORE = StoreHealth("valkey", "9.1.2", False, SETTINGS, 1_000_000, 12)
NEEDS = Needs({"issues": "write", "members": "read"}, ("issues", "push"))
APP = AppHealth("seconder", {"issues": "write", "members": "read"}, ("issues", "push"), 0.4)
HOOK = HookHealth("https://seconder.example/webhook", True, True)
OCTO = InstallationFacts(1, "octo", False, {"issues": "write", "members": "read"})


def says(answer: T | Exception) -> Callable[..., Awaitable[T]]:
    """A question that is answered with this, or raises it."""

    async def ask(*about: str) -> T:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask


def clinic() -> Clinic:
    """A clinic where all is well."""
    return Clinic(
        needs=NEEDS,
        git=says("git version 2.45.1"),
        sandbox=says(None),
        store=says(STORE),
        app=says(APP),
        hook=says(HOOK),
        installations=says([OCTO]),
        failed=says([]),
        count=says(9),
        knows_price=lambda model: True,
    )


def settings(tmp_path: Path, **more: str) -> Settings:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700, exist_ok=True)
    return load({**ENV, "SECONDER_DATA_DIR": str(folder), **more}, "doctor")


WELL = f"""\
ok       settings                 complete
ok       python                   {".".join(map(str, sys.version_info[:3]))}
ok       packages                 nobody else installs our names
ok       git                      2.45.1
ok       sandbox                  keeps tests apart from this machine
ok       data                     writable, and private
ok       store                    valkey 9.1.2 answers
ok       store's disk             every write is on disk before it counts
ok       store's memory           nothing is thrown away when memory runs short
ok       store's clock            agrees with this machine's
ok       github                   the key is seconder's
ok       github's clock           agrees with this machine's
ok       permissions              as in app.yml
ok       events                   the App is told of all that it reads
ok       webhook                  https://seconder.example/webhook, signed
ok       deliveries               none of the last day's is missing
ok       installations            octo
ok       model claude-haiku-5-5   answers
ok       model claude-sonnet-5-5  answers
ok       model claude-opus-5-5    answers
ok       prices                   known for all models

All is well."""

GOLDEN = Path(__file__).parent / "golden" / "doctor.txt"


async def test_the_report_when_all_is_well(tmp_path: Path) -> None:
    found = await examine(settings(tmp_path), clinic())
    assert report(found) == WELL
    assert sound(found)


async def test_the_report_when_nothing_is(tmp_path: Path) -> None:
    models = {f"SECONDER_MODEL_{tier}": "house-7b" for tier in ("FAST", "STANDARD", "STRONG")}
    ill = Clinic(
        needs=NEEDS,
        git=says(None),
        sandbox=says("No user namespaces. Allow them."),
        store=says(StoreDown("Connection refused")),
        app=says(Refused("GitHub: GET /app: 401 Bad credentials")),
        hook=says(Missing("GitHub: GET /app/hook/config: 404")),
        installations=says([]),
        failed=says([FailedDelivery(1, "a", 1, 0, 0), FailedDelivery(2, "b", 1, 0, 0)]),
        count=says(ModelError("unauthorised", "401")),
        knows_price=lambda model: False,
    )
    found = await examine(settings(tmp_path, **models), ill)
    said = report([one for one in found if one.level != "ok"]) + "\n"
    if os.environ.get("SECONDER_UPDATE_GOLDEN"):
        GOLDEN.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8")
    assert not sound(found)


async def test_one_check_that_breaks_or_hangs_stops_no_other(tmp_path: Path) -> None:
    broken = replace(clinic(), git=says(ZeroDivisionError("oops")), hook=says(KeyError("url")))
    found = {one.check: one for one in await examine(settings(tmp_path), broken)}
    assert (found["git"].level, found["git"].said) == ("problem", "could not be looked at: oops")
    assert found["webhook"].level == "problem"
    assert [name for name, one in found.items() if one.level != "ok"] == ["git", "webhook"]


async def test_nothing_secret_is_said(tmp_path: Path) -> None:
    leaky = " ".join([*ENV.values(), "pass-word-pass"])
    told = replace(
        clinic(), git=says(ValueError(leaky)), app=says(Refused(leaky)), count=says(ModelError("rejected", leaky))
    )
    found = await examine(settings(tmp_path), told)
    for text in (report(found), as_json(found)):
        for secret in ("pass-word-pass", "c2VjcmV0LXNlY3JldA==", "s3cret-s3cret-s3cret", "sk-ant-s3cret"):
            assert secret not in text
        assert "***" in text


async def test_json_says_the_same(tmp_path: Path) -> None:
    found = await examine(settings(tmp_path), replace(clinic(), git=says(None)))
    told = json.loads(as_json(found))
    assert told["ok"] is False
    assert {"check": "python", "level": "ok"}.items() <= told["checks"][1].items()
    assert next(one for one in told["checks"] if one["check"] == "git") == {
        "check": "git",
        "level": "problem",
        "said": "is not there",
        "way_out": "Install git 2.32 or newer, on the PATH.",
    }


async def test_what_is_not_set_is_not_asked(tmp_path: Path) -> None:
    bare = load({"SECONDER_DATA_DIR": str(tmp_path / "none")}, "doctor")
    nobody = replace(clinic(), app=says(AssertionError("asked")), count=says(AssertionError("asked")), store=says(None))
    found = {one.check: one for one in await examine(bare, nobody)}
    assert found["settings"].said == "ANTHROPIC_API_KEY is missing"
    assert found["data"].said == "will be made at the first start"
    assert found["store"].said == "`seconder up` will make its own"
    assert (found["github"].level, found["model"].level) == ("warning", "warning")


def test_settings_that_cannot_be_used_are_the_report() -> None:
    with pytest.raises(SettingsError) as caught:
        load({"SECONDER_PORT": "x", "SECONDER_LEASE_S": "0"}, "doctor")
    assert [one.said for one in unusable(caught.value)] == [
        "SECONDER_PORT is not a whole number.",
        "SECONDER_LEASE_S should be greater than or equal to 2.",
    ]


def configured(**changed: str) -> StoreHealth:
    return replace(STORE, settings={**SETTINGS, **{name.replace("__", "-"): value for name, value in changed.items()}})


def worst(findings: Sequence[Finding]) -> str:
    order = ("ok", "warning", "problem")
    return max((one.level for one in findings), key=order.index)


@pytest.mark.parametrize(
    ("health", "level", "said"),
    [
        pytest.param(STORE, "ok", "", id="as it should be"),
        pytest.param(replace(STORE, server="redis", version="6.2.14"), "problem", "too old", id="old"),
        pytest.param(replace(STORE, version="7.0.0"), "ok", "", id="oldest that will do"),
        pytest.param(replace(STORE, version=""), "problem", "too old", id="no version"),
        pytest.param(replace(STORE, replica=True), "problem", "takes no writes", id="a replica"),
        pytest.param(configured(appendfsync="everysec"), "warning", "a second or two", id="everysec"),
        pytest.param(configured(appendfsync="no"), "warning", "half a minute", id="no fsync"),
        pytest.param(configured(appendonly="no"), "problem", "nothing is kept", id="nothing on disk"),
        pytest.param(configured(appendonly="no", save="3600 1"), "warning", "only snapshots", id="snapshots"),
        pytest.param(configured(maxmemory__policy="allkeys-lru"), "warning", "thrown away", id="evicts, no limit yet"),
        pytest.param(
            configured(maxmemory__policy="volatile-ttl", maxmemory="9000000"), "problem", "thrown away", id="evicts"
        ),
        pytest.param(configured(maxmemory="1100000"), "warning", "90 % of maxmemory", id="nearly full"),
        pytest.param(replace(STORE, settings=None), "warning", "does not show", id="a hosted one that tells nothing"),
        pytest.param(
            replace(STORE, aside=1), "warning", "1 event was put aside", id="an event that nobody could handle"
        ),
        pytest.param(replace(STORE, aside=12), "warning", "12 events were", id="many of them"),
        pytest.param(replace(STORE, ahead_ms=-9_000), "warning", "9 s behind", id="clock a little off"),
        pytest.param(replace(STORE, ahead_ms=70_000), "problem", "70 s ahead of", id="clock far off"),
    ],
)
def test_the_store(health: StoreHealth, level: str, said: str) -> None:
    findings = checkup.store(health)
    assert worst(findings) == level
    assert level == "ok" or any(said in one.said and one.way_out for one in findings)


@pytest.mark.parametrize(
    ("hook", "local", "level", "said"),
    [
        pytest.param(HOOK, False, "ok", "signed", id="as it should be"),
        pytest.param(replace(HOOK, url=""), False, "problem", "no address", id="none"),
        pytest.param(
            replace(HOOK, url="https://example.com/webhook"), False, "problem", "no address", id="placeholder"
        ),
        pytest.param(replace(HOOK, secret=False), False, "problem", "no secret", id="no secret"),
        pytest.param(replace(HOOK, url="http://127.0.0.1:8080/webhook"), False, "problem", "reach", id="loopback"),
        pytest.param(replace(HOOK, url="http://127.0.0.1:8080/webhook"), True, "ok", "", id="loopback, local GitHub"),
        pytest.param(replace(HOOK, url="https://a.example/"), False, "problem", "/webhook", id="another path"),
        pytest.param(replace(HOOK, url="http://a.example/webhook"), False, "warning", "not https", id="http"),
        pytest.param(replace(HOOK, verifies=False), False, "warning", "certificate", id="unverified"),
        pytest.param(replace(HOOK, url="https://u:pw@a.example/webhook"), False, "ok", "a.example", id="credentials"),
    ],
)
def test_the_webhook(hook: HookHealth, local: bool, level: str, said: str) -> None:
    found = checkup.webhook(hook, local)
    assert found.level == level
    assert said in found.said
    assert "pw" not in found.said


@pytest.mark.parametrize(
    ("found", "level", "said"),
    [
        pytest.param(checkup.python((3, 10, 9)), "problem", "3.10.9", id="old Python"),
        pytest.param(checkup.git("git version 2.25.1"), "problem", "2.25.1 is too old", id="old git"),
        pytest.param(checkup.git("git version 3.0.rc1"), "ok", "3.0", id="new git"),
        pytest.param(checkup.git("fatal"), "problem", "not there", id="odd git"),
        pytest.param(checkup.names({"agents": ["openai-agents"]}), "problem", "openai-agents", id="a stranger"),
        pytest.param(checkup.data(0o755, True), "warning", "mode 755", id="open to others"),
        pytest.param(checkup.data(0o700, False), "problem", "cannot be written", id="not writable"),
        pytest.param(checkup.clock("github's clock", -6, "this machine's"), "warning", "6 s behind", id="clock"),
    ],
)
def test_this_machine(found: Finding, level: str, said: str) -> None:
    assert found.level == level
    assert said in found.said


@pytest.mark.parametrize(
    ("health", "said"),
    [
        pytest.param(replace(APP, permissions={"issues": "read"}), "issues: write, members: read", id="permissions"),
        pytest.param(replace(APP, events=("issues",)), "not told of push", id="events"),
        pytest.param(replace(APP, ahead_s=70.0), "70 s ahead", id="clock"),
    ],
)
def test_the_app(health: AppHealth, said: str) -> None:
    [bad] = [one for one in checkup.app(health, NEEDS) if one.level != "ok"]
    assert bad.level == "problem"
    assert said in bad.said


def test_installations() -> None:
    every = [OCTO, replace(OCTO, account="sleepy", suspended=True), replace(OCTO, account="stingy", permissions={})]
    told = [(one.level, one.said) for one in checkup.installations(every, NEEDS)]
    assert told == [
        ("ok", "octo, sleepy, stingy"),
        ("warning", "suspended: sleepy"),
        ("warning", "without all permissions: stingy"),
    ]
    many = [replace(OCTO, account=f"o{number}") for number in range(9)]
    assert checkup.installations(many, NEEDS)[0].said == "o0, o1, o2, o3, o4 and 4 more"


async def test_a_limit_of_githubs_is_told(tmp_path: Path) -> None:
    found = await examine(settings(tmp_path), replace(clinic(), installations=says(Later("GitHub: limit", 60.0))))
    assert [one.said for one in found if one.level == "problem"] == ["GitHub: limit"]


async def test_against_what_is_real(tmp_path: Path) -> None:
    """A store, a local GitHub and a model's endpoint; git, the sandbox and this machine as they are."""
    script = Path(wiring.__file__).parent / "demo" / "samples" / "durations.script.yml"
    server = Server(tmp_path / "data" / "store")
    (tmp_path / "data").chmod(0o700)
    try:
        async with LocalGitHub.start(tmp_path / "github") as github, ScriptedModel.serve(script) as model:
            github.world.add_user("octo", kind="Organization")
            app = github.world.add_app("octo", wiring.app_spec("http://127.0.0.1:9/webhook", "s3cret-s3cret-s3cret"))
            await github.world.add_repo("octo/app")
            github.world.install("seconder", ["octo/app"])
            await github.webhooks_idle()
            env = {
                "GITHUB_API_URL": github.api_url,
                "GITHUB_APP_ID": str(app.id),
                "GITHUB_APP_PRIVATE_KEY": app.private_key_pem,
                "GITHUB_WEBHOOK_SECRET": "s3cret-s3cret-s3cret",
                "ANTHROPIC_API_KEY": "scripted",
                "ANTHROPIC_BASE_URL": model.url,
                "SECONDER_DATA_DIR": str(tmp_path / "data"),
            }
            found = {one.check: one for one in await run_doctor(load(env, "doctor"))}
            assert (found["store"].said.split()[0], found["store's disk"].level) == ("valkey", "ok")
            assert found["github"].said == "the key is seconder's"
            assert found["installations"].said == "octo"
            assert found["deliveries"].level == "warning"  # the installation's own, where nobody listened
            assert [one for one in found.values() if one.level == "problem" and one.check != "sandbox"] == []
            server.away("frozen")
            began = asyncio.get_running_loop().time()
            shared = {**env, "REDIS_URL": f"unix://:{server.address.password}@{server.address.socket}"}
            away = {one.check: one for one in await run_doctor(load(shared, "doctor"))}
            assert away["store"].level == "problem"
            assert str(server.address.password) not in report(list(away.values()))
            assert asyncio.get_running_loop().time() - began < 15
            server.back("frozen")
    finally:
        server.close()


def test_the_command_tells_scripts_and_people(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SECONDER_DATA_DIR": str(tmp_path / "d")}
    words = [sys.executable, "-m", "bot", "doctor"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1
    assert "GITHUB_APP_ID is missing → It is the number on the App's settings page" in done.stdout
    assert "Traceback" not in done.stderr
    wrong = subprocess.run([*words, "--json"], env={**env, "SECONDER_PORT": "x"}, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["checks"][0]["said"] == "SECONDER_PORT is not a whole number."
    assert not (tmp_path / "d").exists()  # nothing was made
