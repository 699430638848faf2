# Thin on purpose: .ci/bootstrap installs everything into .venv/, and the tools there do the rest.
.DEFAULT_GOAL := help
.PHONY: help install demo test lint format bench chaos solves lock

PACKAGES := bot handlers agents gates infra
BIN := .venv/bin

help: ## Show these targets.
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

install: ## Install what is needed into .venv/ (every other target does it too).
	@sh .ci/bootstrap

demo: install ## Watch an issue become a merged pull request; ISSUE=auth, ISSUE=typo, or ISSUE=file and REPO=folder.
	@exec $(BIN)/seconder demo $${REPO:+--repo "$$REPO"} $${ISSUE:+--issue "$$ISSUE"}

# Many tests wait for leases and time-outs, so four at once are right for two cores.
test: lint ## Check everything: style, types, imports, tests.
	@$(BIN)/pytest -n 4 --dist worksteal -rs

lint: install ## Check style, types and who imports whom.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES) tests
	$(BIN)/lint-imports --no-logo

format: install ## Format the code and fix what can be fixed.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install ## Measure, and write build/bench.json.
	@$(BIN)/python -m tests.bench

chaos: install ## Kill workers and the store over and over, and write build/chaos.json (about 12 minutes).
	@$(BIN)/python -m tests.chaos

solves: install ## Let a model solve real bugs, and write build/solves.json; NAMES="…" takes some, CHECK=--check none.
	@$(BIN)/python -m tests.solves $(CHECK) $(NAMES)

lock: ## Resolve requirements.lock anew (needs uv); ARGS=--upgrade takes newer releases.
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header -q \
	  -o requirements.lock $(ARGS)
