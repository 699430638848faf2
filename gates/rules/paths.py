"""Sensitive paths by category: what a file at such a place can do, and therefore who has to look at a change of it.

Both sides of a move count: changes are compared without looking for renames, so that a workflow which is moved away is
a removed workflow. Places are those that GitHub, git, package managers and test runners document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding, Level
from gates.rules.globs import compile_globs


@dataclass(frozen=True)
class Category:
    """A kind of sensitive path: the level of a change to it, why, the patterns, and which of their matches are none."""

    name: str
    level: Level
    why: str
    globs: str
    but: str = ""


CATEGORIES: tuple[Category, ...] = (
    Category("bot_config", "block", "it says what Seconder may do here", "/.github/seconder* /.seconder*"),
    Category(
        "governance",
        "block",
        "it decides who reviews what, and which rules hold here",
        "CODEOWNERS OWNERS OWNERS_ALIASES /SECURITY.md /.github/SECURITY.md /.github/settings.yml /.github/rulesets/ "
        "/.github/branch-protection* /.github/dependabot.y*ml /.github/renovate* renovate.json* .renovaterc* "
        "/.mergify.yml /.github/mergify.yml /.prow.yaml",
    ),
    Category(
        "ci",
        "block",
        "it runs with the repository's secrets, on every push",
        "/.github/workflows/ /.github/actions/ action.yml action.yaml .gitlab-ci.yml /.gitlab/ci/ Jenkinsfile* "
        "/.circleci/ azure-pipelines*.y*ml bitbucket-pipelines.yml .travis.yml /.buildkite/ /.drone.yml /.woodpecker* "
        "cloudbuild.y*ml buildspec*.y*ml /.tekton/ /.teamcity/ appveyor.yml .appveyor.yml codecov.y*ml .codecov.y*ml "
        "sonar-project.properties",
    ),
    Category(
        "git",
        "block",
        "git or a hook of it acts on it, on every machine that has this repository",
        ".gitattributes .gitmodules .lfsconfig .gitconfig .git-blame-ignore-revs .githooks/ .husky/ "
        ".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.y*ml",
    ),
    Category(
        "secret_file",
        "block",
        "a file of this name holds secrets, which are no secrets once pushed",
        ".env .env.* *.pem *.key *.p12 *.pfx *.jks *.keystore id_rsa* id_ed25519* id_ecdsa* *.kdbx .netrc .htpasswd "
        ".pypirc credentials*.json service-account*.json secrets.y*ml secrets/ *.age *.gpg *.asc",
        but=".env.example .env.sample .env.template *.pub *.py *.ts *.js *.go *.rs *.java *.kt *.rb *.cs *.php *.md",
    ),
    Category(
        "agent_instructions",
        "approve",
        "coding agents do what it says",
        "AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md SKILL.md .cursorrules .windsurfrules .clinerules* .mcp.json "
        "/.cursor/ /.claude/ /.codex/ /.gemini/ /.agents/ /.windsurf/ /.aider* /.github/copilot-instructions.md "
        "/.github/instructions/ /.github/prompts/",
    ),
    Category(
        "editor",
        "approve",
        "it runs when somebody opens this repository",
        "/.devcontainer/ /.vscode/tasks.json /.vscode/settings.json /.vscode/launch.json /.idea/ .envrc .tool-versions "
        "mise.toml .mise.toml /.gitpod.yml Vagrantfile",
    ),
    Category(
        "container",
        "approve",
        "it says what runs, and as whom",
        "Dockerfile Dockerfile.* *.dockerfile Containerfile* .dockerignore docker-compose*.y*ml compose.y*ml "
        "compose.*.y*ml docker-bake.*",
    ),
    Category(
        "infrastructure",
        "approve",
        "it changes machines, networks or what they cost",
        "*.tf *.tfvars *.tf.json *.hcl Pulumi*.y*ml serverless.y*ml cdk.json *.bicep helmfile.y*ml Chart.yaml *.nomad "
        "/k8s/ /kubernetes/ /manifests/ /charts/ /helm/ /deploy/ /infra/ /infrastructure/ /terraform/ /ansible/ "
        "/playbooks/ nginx*.conf fly.toml render.yaml Procfile app.yaml vercel.json netlify.toml wrangler.toml",
    ),
    Category(
        "dependencies",
        "approve",
        "other people's code comes in through it",
        "requirements*.txt requirements*.in requirements/ constraints*.txt pyproject.toml setup.py setup.cfg Pipfile "
        "Pipfile.lock poetry.lock uv.lock pdm.lock pylock*.toml environment*.y*ml conda-lock*.y*ml package.json "
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock* bunfig.toml "
        "deno.json* deno.lock .npmrc .yarnrc* .pnpmfile.cjs pip.conf go.mod go.sum go.work* Cargo.toml Cargo.lock "
        ".cargo/ Gemfile* *.gemspec composer.json composer.lock pom.xml build.gradle* settings.gradle* "
        "gradle.properties gradle/wrapper/ gradle.lockfile libs.versions.toml mix.exs mix.lock *.csproj *.fsproj "
        "packages.lock.json NuGet.Config Directory.*.props global.json Package.swift Package.resolved Podfile* "
        "flake.nix flake.lock vendor/ third_party/ node_modules/",
    ),
    Category(
        "test_setup",
        "approve",
        "it decides what the tests and checks look at",
        "conftest.py pytest.ini .pytest.ini tox.ini noxfile.py .coveragerc jest.config.* vitest.config.* "
        "playwright.config.* karma.conf.* .mocharc* .bandit bandit.y*ml .secrets.baseline .gitleaks.toml "
        ".gitleaksignore .trivyignore .snyk .semgrep* mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc pylintrc "
        ".eslintrc* .eslintignore eslint.config.* biome.json* .golangci* .rubocop* phpstan*.neon* Makefile GNUmakefile "
        "justfile Taskfile* sitecustomize.py usercustomize.py *.pth",
    ),
    Category(
        "login_code",
        "approve",
        "it decides who gets in",
        "login/ login.* session/ sessions/ session.* sessions.* authz/ authn/ oidc/ oidc*.* saml/ saml*.* sso/ sso.* "
        "jwt/ jwt.* jwts.* jwt_* *_jwt.* csrf*.* cors.* cors_* *_cors.* mfa.* totp.* middleware/auth*",
        but="i18n/ locales/",
    ),
    Category(
        "crypto_code",
        "approve",
        "it keeps things secret or unforged",
        "crypto/ cryptography/ crypto.* *_crypto.* encryption.* encryption_* encrypt.* encrypt_* decryption.* "
        "decrypt.* decrypt_* signing.* signature*.* hmac*.* tls.* tls_* *_tls.* ssl.* ssl_* *_ssl.* certs/ keys/ "
        "kms*.* hashing.*",
    ),
    Category("payments", "approve", "it moves money", "billing/ billing.* payments/ payment*.* stripe*.*"),
    Category(
        "migrations",
        "approve",
        "it changes stored data, which no revert brings back",
        "migrations/ alembic/versions/ db/migrate/ *.sql schema.prisma schema.rb structure.sql liquibase/ flyway/",
    ),
    Category(
        "release",
        "approve",
        "it decides what is shipped to users",
        ".goreleaser.y*ml .releaserc* release-please-config.json /scripts/release* /scripts/deploy* MANIFEST.in "
        ".npmignore install.sh /packaging/",
    ),
    Category(
        "licence",
        "approve",
        "it says under which terms others use this",
        "LICENSE LICENSE.* LICENSE-* LICENCE LICENCE.* COPYING COPYING.* NOTICE NOTICE.*",
    ),
)

_COMPILED = tuple((one, compile_globs(one.globs.split()), compile_globs(one.but.split())) for one in CATEGORIES)
_DOT_DIRECTORY = re.compile(r"\.[^/]+/")


def categories_of(path: str) -> tuple[Category, ...]:
    """The categories that a path belongs to, gravest first. An exception holds for its own category only."""
    folded = path.replace("\\", "/").casefold()
    return tuple(one for one, globs, but in _COMPILED if globs.search(folded) and not but.search(folded))


def examine(change: ChangedFile) -> Iterable[Finding]:
    """A finding for each category of the changed path; of a dot directory at the root where no category knows it."""
    found = categories_of(change.path)
    deed = "removes" if change.removed else "adds" if change.added else "changes"
    for one in found:
        yield change.finding(f"path.{one.name}", one.level, f"it {deed} a file of this kind: {one.why}")
    if not found and _DOT_DIRECTORY.match(change.path):
        why = "a directory with a leading dot at the root usually configures a tool that runs by itself"
        yield change.finding("path.dot_directory", "approve", why)
