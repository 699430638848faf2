"""Sensitive paths: each category with its level, and the look-alikes that belong to none."""

from __future__ import annotations

import pytest

from gates.rules import paths
from gates.rules.globs import compile_globs
from gates.rules.paths import CATEGORIES, categories_of
from tests.gates.rules.changes import changed

SENSITIVE = [
    (".github/seconder.yml", "bot_config"),
    (".github/Seconder.yaml", "bot_config"),
    ("CODEOWNERS", "governance"),
    (".github/CODEOWNERS", "governance"),
    ("docs/CODEOWNERS", "governance"),
    (".github/dependabot.yml", "governance"),
    ("SECURITY.md", "governance"),
    (".github/workflows/ci.yml", "ci"),
    (".GitHub/Workflows/ci.yml", "ci"),
    (".github/workflows/x\ny.yml", "ci"),
    (".github\\workflows\\ci.yml", "ci"),
    (".github/actions/build/run.sh", "ci"),
    ("tools/build/action.yml", "ci"),
    ("action.yaml", "ci"),
    ("Jenkinsfile", "ci"),
    ("codecov.yml", "ci"),
    (".gitattributes", "git"),
    ("sub/.gitattributes", "git"),
    (".gitmodules", "git"),
    (".husky/pre-commit", "git"),
    (".pre-commit-config.yaml", "git"),
    (".env", "secret_file"),
    ("config/.env.production", "secret_file"),
    ("certs/server.key", "secret_file"),
    ("home/id_rsa", "secret_file"),
    (".netrc", "secret_file"),
    ("AGENTS.md", "agent_instructions"),
    ("sub/CLAUDE.md", "agent_instructions"),
    (".cursor/rules/x.mdc", "agent_instructions"),
    (".vscode/tasks.json", "editor"),
    (".devcontainer/devcontainer.json", "editor"),
    ("Dockerfile", "container"),
    ("docker/Dockerfile.prod", "container"),
    ("build/api.Dockerfile", "container"),
    ("docker-compose.override.yml", "container"),
    ("compose.yaml", "container"),
    ("infra/main.tf", "infrastructure"),
    ("k8s/service.yaml", "infrastructure"),
    ("pyproject.toml", "dependencies"),
    ("services/a/requirements-dev.txt", "dependencies"),
    ("uv.lock", "dependencies"),
    ("web/package.json", "dependencies"),
    ("web/package-lock.json", "dependencies"),
    (".npmrc", "dependencies"),
    ("go.sum", "dependencies"),
    ("vendor/lib/x.py", "dependencies"),
    ("conftest.py", "test_setup"),
    ("tests/unit/conftest.py", "test_setup"),
    ("Makefile", "test_setup"),
    (".bandit", "test_setup"),
    (".secrets.baseline", "test_setup"),
    ("src/sitecustomize.py", "test_setup"),
    ("src/evil.pth", "test_setup"),
    ("app/login.py", "login_code"),
    ("app/cors.py", "login_code"),
    ("lib/jwt_utils.py", "login_code"),
    ("src/crypto/aes.py", "crypto_code"),
    ("lib/hmac.py", "crypto_code"),
    ("src/ssl_context.py", "crypto_code"),
    ("billing/invoice.py", "payments"),
    ("db/migrations/0007_x.py", "migrations"),
    ("alembic/versions/ab12.py", "migrations"),
    ("install.sh", "release"),
    ("LICENSE", "licence"),
]


@pytest.mark.parametrize(("path", "category"), [pytest.param(*row, id=repr(row[0])[1:-1]) for row in SENSITIVE])
def test_the_path_belongs_to_the_category(path: str, category: str) -> None:
    assert category in [one.name for one in categories_of(path)]


def test_every_category_has_its_rows() -> None:
    assert {category for _, category in SENSITIVE} == {one.name for one in CATEGORIES}


HARMLESS = [
    "src/author.py",
    "nlp/tokenizer.py",
    "ui/keyboard.ts",
    "src/keyword_extract.py",
    "src/monkeypatch.py",
    "env_utils/environment_sensor.py",
    "src/designer.py",
    "src/assignment.py",
    "src/signals.py",
    "game/session_music.py",
    "docs/workflow-overview.md",
    "web/src/components/ConfigPanel.tsx",
    "src/immigration_form.py",
    "bird_migration/map.py",
    "src/employee.py",
    "src/deployable_unit.py",
    "src/envelope.py",
    "crypto_prices_widget/chart.py",
    "src/decryptic_crossword.py",
    "examples/.github/workflows/demo.yml",
    "app/sslscan_report_view.py",
    "i18n/login.json",
    "src/compose_email.py",
    "src/ownership.py",
    "test/fixtures/keys_of_piano.json",
    "src/schema.py",
    ".env.example",
    "home/id_ed25519.pub",
    "src/id_rsa_parser.py",
    "README.md",
    "docs/licensed.md",
    "src/transaction.yml.py",
]


@pytest.mark.parametrize("path", [pytest.param(path, id=path) for path in HARMLESS])
def test_a_look_alike_belongs_to_no_category(path: str) -> None:
    assert categories_of(path) == ()
    assert list(paths.examine(changed(path))) == []


BLOCKED = {"bot_config", "governance", "ci", "git", "secret_file"}


def test_what_is_never_pushed_and_what_waits_for_people() -> None:
    assert {one.name for one in CATEGORIES if one.level == "block"} == BLOCKED
    assert {one.level for one in CATEGORIES} == {"block", "approve"}


@pytest.mark.parametrize(
    ("old", "new", "deed"),
    [
        pytest.param(None, "on: push\n", "adds", id="added"),
        pytest.param("on: push\n", "on: []\n", "changes", id="changed"),
        pytest.param("on: push\n", None, "removes", id="moved away"),
    ],
)
def test_each_side_of_a_change_counts(old: str | None, new: str | None, deed: str) -> None:
    [found] = paths.examine(changed(".github/workflows/ci.yml", new, old))
    assert (found.rule, found.level) == ("path.ci", "block")
    assert found.why.startswith(f"it {deed} ")


def test_an_unknown_dot_directory_at_the_root_needs_a_look() -> None:
    assert [one.rule for one in paths.examine(changed(".newtool/run.yml"))] == ["path.dot_directory"]
    assert list(paths.examine(changed("src/.newtool/run.yml"))) == []
    assert list(paths.examine(changed(".gitignore"))) == []


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        pytest.param("name", "a/name", True, id="a name at any depth"),
        pytest.param("name", "a/name/b", True, id="a folder of that name"),
        pytest.param("name", "a/rename", False, id="the whole name"),
        pytest.param("/name", "a/name", False, id="only at the root"),
        pytest.param("name/", "name", False, id="a file is no folder"),
        pytest.param("name/", "a/name/b", True, id="below a folder"),
        pytest.param("a*b", "a/b", False, id="a star stays within a name"),
        pytest.param("a.b", "axb", False, id="a dot is a dot"),
        pytest.param("name", "name\n", False, id="a line feed is part of the name"),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    assert bool(compile_globs([pattern]).search(path)) is fits
    assert not compile_globs([]).search(path)
