"""The operator's settings: one frozen record, read once from the environment, with every problem named at once.

A settings source for `web`, `worker` and `up`; a repository's own configuration may only tighten what stands here.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

Needs = Literal["web", "worker", "up", "solve", "demo", "doctor"]

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "web": ("REDIS_URL", "GITHUB_APP_ID", "GITHUB_WEBHOOK_SECRET"),
    "worker": ("REDIS_URL", "GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY", "ANTHROPIC_API_KEY"),
    "up": ("GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET", "ANTHROPIC_API_KEY"),
    "solve": ("ANTHROPIC_API_KEY",),
    "demo": (),
    "doctor": (),
}
WAY_OUT: Mapping[str, str] = {
    "REDIS_URL": "Separate web and worker processes share a store: name it, or run `seconder up`, which has its own.",
    "GITHUB_APP_ID": "It is the number on the App's settings page; the README says how to make an App.",
    "GITHUB_APP_PRIVATE_KEY": "Set it to the App's private key (PEM), or GITHUB_APP_PRIVATE_KEY_PATH to its file.",
    "GITHUB_WEBHOOK_SECRET": "Set it to the secret of the App's webhook; without one anybody could send deliveries.",
    "ANTHROPIC_API_KEY": (
        "Make one at https://console.anthropic.com, or set ANTHROPIC_BASE_URL; such a server may take any text."
    ),
}
NOT_A: Mapping[str, str] = {
    "int_parsing": "is not a whole number.",
    "float_parsing": "is not a number.",
    "decimal_parsing": "is not a number.",
    "string_pattern_mismatch": "has characters that it cannot have.",
    "bool_parsing": "is neither true nor false.",
}
SHORTEST_SECRET = 16
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Problem(NamedTuple):
    """One thing wrong: the setting, what is wrong with it, and what to do."""

    name: str
    wrong: str
    way_out: str


class Row(NamedTuple):
    """One line of the settings table."""

    name: str
    default: str
    meaning: str


class SettingsError(ValueError):
    """The environment cannot be used. `problems` are all that was found; the text lists them and holds no value."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        head = "1 setting needs attention:" if len(problems) == 1 else f"{len(problems)} settings need attention:"
        super().__init__("\n".join([head, *(f"  {p.name} {p.wrong}\n    {p.way_out}" for p in problems)]))


def _http(value: str) -> str:
    """An http(s) address without credentials; plain http only to this machine."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("is not an http(s) address.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("may have no user name, password, query or fragment in it.")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError("is plain http to another machine, where others can read what is sent.")
    return value.rstrip("/")


def _redis(value: SecretStr) -> SecretStr:
    """An address of a store."""
    if urlsplit(value.get_secret_value()).scheme not in {"redis", "rediss", "unix", "redis+sentinel"}:
        raise ValueError("is not a redis://, rediss://, unix:// or redis+sentinel:// address.")
    return value


def _parts(value: object) -> object:
    """`one,two` as a tuple."""
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


def _long_enough(value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    """Secrets that cannot be guessed."""
    if any(len(secret.get_secret_value()) < SHORTEST_SECRET for secret in value):
        raise ValueError(f"has a secret of fewer than {SHORTEST_SECRET} characters.")
    return value


def _pem(value: SecretStr) -> SecretStr:
    """A private key; `\\n` as two characters, as many hosts store it, is a line break."""
    text = value.get_secret_value().replace("\\n", "\n").strip()
    if not text.startswith("-----BEGIN ") or "PRIVATE KEY-----" not in text.splitlines()[0]:
        raise ValueError("is not a private key in PEM form.")
    return SecretStr(text + "\n")


def _folder(value: Path) -> Path:
    """A folder that exists."""
    if not value.is_dir():
        raise ValueError("is not a folder.")
    return value.resolve()


def _hosts(value: tuple[str, ...]) -> tuple[str, ...]:
    """Names of hosts, each with a port or without."""
    for host in value:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9-]*(?::\d{1,5})?", host):
            raise ValueError("names something that is no host.")
    return tuple(host.lower() for host in value)


Url = Annotated[str, AfterValidator(_http)]


class Settings(BaseSettings):
    """All settings. Made by `load` only, so that nothing reads the environment behind its back."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    redis_url: Annotated[SecretStr, AfterValidator(_redis)] | None = Field(
        None, alias="REDIS_URL", description="Store that several processes share; empty: `seconder up` starts its own."
    )
    anthropic_api_key: SecretStr | None = Field(None, alias="ANTHROPIC_API_KEY", description="Key for the models.")
    anthropic_base_url: Url | None = Field(
        None, alias="ANTHROPIC_BASE_URL", description="Another server that speaks the Messages API."
    )
    github_app_id: int | None = Field(None, alias="GITHUB_APP_ID", gt=0, description="The App's number.")
    github_app_private_key: Annotated[SecretStr, AfterValidator(_pem)] | None = Field(
        None, alias="GITHUB_APP_PRIVATE_KEY", description="The App's private key (PEM)."
    )
    github_app_private_key_path: Path | None = Field(
        None, alias="GITHUB_APP_PRIVATE_KEY_PATH", description="A file with the private key, instead of the key itself."
    )
    github_webhook_secret: Annotated[tuple[SecretStr, ...], BeforeValidator(_parts), AfterValidator(_long_enough)] = (
        Field((), alias="GITHUB_WEBHOOK_SECRET", description="The webhook's secret; `new,old` while it is replaced.")
    )
    github_api_url: Url = Field(
        "https://api.github.com", alias="GITHUB_API_URL", description="GitHub's API; GHES: `https://HOST/api/v3`."
    )
    data_dir: Path = Field(
        Path(".seconder"), alias="SECONDER_DATA_DIR", description="Where our own store keeps its data."
    )
    host: str = Field("127.0.0.1", alias="SECONDER_HOST", description="Address that the web process listens on.")
    port: int = Field(8080, alias="SECONDER_PORT", ge=0, le=65535, description="Port that it listens on; 0: any free.")
    public_url: Url | None = Field(
        None, alias="SECONDER_PUBLIC_URL", description="How people reach the pages, for links in comments."
    )
    app_slug: str | None = Field(
        None, alias="SECONDER_APP_SLUG", pattern=r"^[a-z0-9-]{1,64}$", description="The App's slug; empty: looked up."
    )
    budget_usd: Decimal = Field(
        Decimal(5), alias="SECONDER_BUDGET_USD", gt=0, le=1000, description="Dollars that a run may spend unasked."
    )
    day_usd: Decimal = Field(
        Decimal(25),
        alias="SECONDER_DAY_USD",
        ge=0,
        le=100_000,
        description="Dollars a repository may spend a day; 0: any.",
    )
    month_usd: Decimal = Field(
        Decimal(200), alias="SECONDER_MONTH_USD", ge=0, le=1_000_000, description="The same, an installation and month."
    )
    max_rounds: int = Field(5, alias="SECONDER_MAX_ROUNDS", ge=1, le=20, description="Rounds of review and repair.")
    model_fast: str = Field("claude-haiku-5-5", alias="SECONDER_MODEL_FAST", description="Model of the fast tier.")
    model_standard: str = Field(
        "claude-sonnet-5-5", alias="SECONDER_MODEL_STANDARD", description="Model of the standard tier."
    )
    model_strong: str = Field("claude-opus-5-5", alias="SECONDER_MODEL_STRONG", description="Model of the strong tier.")
    test_command: str | None = Field(
        None, alias="SECONDER_TEST_COMMAND", description="How tests are run; empty: found in the repository."
    )
    toolchain: Annotated[Path, AfterValidator(_folder)] | None = Field(
        None, alias="SECONDER_TOOLCHAIN", description="Folder of an environment that tests see read-only."
    )
    python_index: Url | None = Field(
        None,
        alias="SECONDER_PYTHON_INDEX",
        description="Package index for what tests need (https); empty: as pip is set on this machine.",
    )
    npm_registry: Url | None = Field(
        None,
        alias="SECONDER_NPM_REGISTRY",
        description="Registry for what tests need (https); empty: as npm is set on this machine.",
    )
    index_hosts: Annotated[tuple[str, ...], BeforeValidator(_parts), AfterValidator(_hosts)] = Field(
        (), alias="SECONDER_INDEX_HOSTS", description="Further hosts that packages may come from, with commas between."
    )
    environments_gb: int = Field(
        10, alias="SECONDER_ENVIRONMENTS_GB", ge=1, le=10_000, description="GiB that environments of tests may take."
    )
    test_seconds: int = Field(
        300, alias="SECONDER_TEST_SECONDS", ge=1, le=3600, description="Seconds that one run of the tests may take."
    )
    quick_test_seconds: int = Field(
        120,
        alias="SECONDER_QUICK_TEST_SECONDS",
        ge=1,
        le=3600,
        description="A suite that takes longer runs whole only once, when the work is handed in; agents select tests.",
    )
    requester_may_approve: bool = Field(
        False, alias="SECONDER_REQUESTER_MAY_APPROVE", description="Whether who filed the issue counts for quality."
    )
    required_approvals: int = Field(
        1, alias="SECONDER_REQUIRED_APPROVALS", ge=1, le=10, description="Eligible reviews that quality needs."
    )
    short_commands: bool = Field(
        True, alias="SECONDER_SHORT_COMMANDS", description="Whether `/approve` counts besides `/seconder approve`."
    )
    worker_name: str | None = Field(
        None,
        alias="SECONDER_WORKER_NAME",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$",
        description="The worker's name, the same after a restart; empty: the host's name and a free number.",
    )
    lease_s: float = Field(
        8, alias="SECONDER_LEASE_S", ge=2, le=60, description="Seconds that a claim on a step holds."
    )
    sweep_s: float = Field(1, alias="SECONDER_SWEEP_S", gt=0, le=60, description="Seconds between looks for due steps.")
    recovery_minutes: float = Field(
        5,
        alias="SECONDER_RECOVERY_MINUTES",
        gt=0,
        le=1440,
        description="Minutes between looks for deliveries that failed.",
    )
    sweep_minutes: float = Field(
        15,
        alias="SECONDER_SWEEP_MINUTES",
        gt=0,
        le=1440,
        description="Minutes between comparisons of open runs with GitHub.",
    )
    keep_days: int = Field(
        90, alias="SECONDER_KEEP_DAYS", ge=1, le=3650, description="Days that transcripts of finished runs are kept."
    )
    settle_s: float = Field(
        10,
        alias="SECONDER_SETTLE_S",
        ge=0,
        le=600,
        description="Seconds before an uncertain write is looked for.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` hands over."""
        return (init_settings,)

    @property
    def budget(self) -> int:
        """The run's budget in micro-dollars."""
        return int(self.budget_usd * 1_000_000)

    @property
    def webhook_secrets(self) -> tuple[str, ...]:
        """The webhook's secrets in clear, for the one place that compares signatures."""
        return tuple(secret.get_secret_value() for secret in self.github_webhook_secret)

    @property
    def loopback(self) -> bool:
        """Whether the web process listens for this machine only."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host in LOOPBACK


def load(env: Mapping[str, str], needs: Needs) -> Settings:
    """The settings in `env` for the process `needs`; blank values count as missing.

    Reads the private key's file if one is named. Raises `SettingsError` with everything that is wrong.
    """
    names = _names()
    given: dict[str, object] = {name: env[name].strip() for name in names if env.get(name, "").strip()}
    problems = _typos(env, names) + _key_file(given)
    for name in REQUIRED[needs]:
        if name not in given and not any(problem.name.startswith(name) for problem in problems):
            problems.append(Problem(name, "is missing.", WAY_OUT[name]))
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        problems += _invalid(error)
        raise SettingsError(tuple(problems)) from None
    if settings.sweep_s >= settings.lease_s:
        problems.append(
            Problem(
                "SECONDER_SWEEP_S", "is not below SECONDER_LEASE_S.", "Sweep several times within a lease: 1 and 8."
            )
        )
    if problems:
        raise SettingsError(tuple(problems))
    return settings


def table() -> tuple[Row, ...]:
    """The rows of the README's settings table, in the order of the fields."""
    return tuple(
        Row(str(field.alias), _shown(field.default), field.description or "")
        for field in Settings.model_fields.values()
    )


def _names() -> tuple[str, ...]:
    """All environment names, in the order of the fields."""
    return tuple(str(field.alias) for field in Settings.model_fields.values())


def _shown(default: object) -> str:
    """A default as it would be written in the environment."""
    if default is None or default == ():
        return ""
    return json.dumps(default) if isinstance(default, bool) else str(default)


def _typos(env: Mapping[str, str], names: tuple[str, ...]) -> list[Problem]:
    """Names that look like a misspelt setting: silently doing without it would be worse than stopping."""
    problems = []
    for name in sorted(set(env) - set(names)):
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.85)
        if name.startswith("SECONDER_") and close and close[0] not in env:
            problems.append(Problem(name, "is no setting.", f"Did you mean {close[0]}?"))
    return problems


def _key_file(given: dict[str, object]) -> list[Problem]:
    """Put the key's text in the place of its path. Returns what is wrong with the file."""
    name = "GITHUB_APP_PRIVATE_KEY_PATH"
    path = given.get(name)
    if path is None:
        return []
    if "GITHUB_APP_PRIVATE_KEY" in given:
        return [Problem(name, "is set, and so is GITHUB_APP_PRIVATE_KEY.", "Keep one of the two.")]
    try:
        given["GITHUB_APP_PRIVATE_KEY"] = Path(str(path)).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text file"
        return [Problem(name, f"cannot be read: {why}.", "Name the file with the App's private key (PEM).")]
    return []


def _invalid(error: ValidationError) -> list[Problem]:
    """What pydantic refused, in our words and without the values."""
    problems = []
    for found in error.errors(include_input=False, include_url=False):
        name = str(found["loc"][0])
        text = found["msg"].removeprefix("Value error, ").removeprefix("Input ").removeprefix("String ")
        wrong = NOT_A.get(found["type"]) or (text if found["type"] == "value_error" else f"{text}.")
        default = next((row.default for row in table() if row.name == name), "")
        way_out = WAY_OUT.get(name) or (f"The default is {default}." if default else "Set it right or leave it out.")
        problems.append(Problem(name, wrong, way_out))
    return problems
