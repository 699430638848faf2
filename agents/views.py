"""The typed part of the board that one role may read, and how it is shown to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined

from agents.board import KINDS, Entry, WrongKind
from agents.ports import Json
from agents.quoting import check_delimiter
from agents.role import Role
from agents.sections import SECTIONS
from agents.transcript import CACHE_MARK, text_block

_STABLE = frozenset({"repo_map", "issue", "requirements", "design"})
"""What stays the same from round to round as a rule, and so makes a prefix that the prompt cache can hold."""


class MissingKind(LookupError):
    """A role was to work without an entry that it needs."""


@dataclass(frozen=True)
class View:
    """What a role is shown before it says a word: `system` blocks and the `first` user message, as API JSON.

    `first` has a stable block with a cache mark (unless there is nothing stable), then one whose first line is
    `round: N` (the next may be `team: NAME, NAME`). The first line of the first system block is `role: NAME`.
    """

    system: tuple[Json, ...]
    first: Json
    delimiter: str


def build_view(role: Role, entries: Mapping[str, Entry], round: int, delimiter: str, team: Sequence[str] = ()) -> View:
    """The view of `role` on the live entries, keyed by kind.

    `round` counts the node's visits from 1; `team` are the names of the roles that work in this run.

    Raises `WrongKind`, naming it, for an entry that the role does not read or that lies under another kind's key;
    `MissingKind` for a required one that is not there; `ValueError` for a bad delimiter or round.
    """
    check_delimiter(delimiter)
    if round < 1:
        raise ValueError(f"rounds count from 1, not {round}")
    _check(role, entries)
    seen = {kind: _without_unseen(role, entry) for kind, entry in _without_repeats(entries).items()}
    shown = {kind: SECTIONS[kind](entry, delimiter) for kind, entry in seen.items()}
    stable = "\n\n".join(text for kind, text in shown.items() if kind in _STABLE)
    head = f"round: {round}" + (f"\nteam: {', '.join(team)}" if team else "")
    varying = "\n\n".join([head, *(text for kind, text in shown.items() if kind not in _STABLE)])
    blocks = [{**text_block(stable), "cache_control": CACHE_MARK}] if stable else []
    first: Json = {"role": "user", "content": [*blocks, text_block(varying)]}
    return View(_system(role, delimiter), first, delimiter)


def _without_repeats(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """In the order of the sections; files and diff of the code are left out where those of code and tests follow."""
    ordered = {kind: entries[kind] for kind in SECTIONS if kind in entries}
    if "code" in ordered and "test_results" in ordered:
        ordered["code"] = _blanked(
            ordered["code"], [field for field in ("files", "diff") if ordered["test_results"].value.get(field)]
        )
    return ordered


def _without_unseen(role: Role, entry: Entry) -> Entry:
    named = [field.partition(".") for field in role.unseen]
    return _blanked(entry, [field for kind, _, field in named if kind == entry.kind])


def _blanked(entry: Entry, fields: Sequence[str]) -> Entry:
    """The entry with these fields, texts or lists, empty."""
    blank = {field: "" if isinstance(entry.value[field], str) else [] for field in fields if field in entry.value}
    return entry.model_copy(update={"value": {**entry.value, **blank}})


def _check(role: Role, entries: Mapping[str, Entry]) -> None:
    for kind, entry in entries.items():
        if entry.kind != kind:
            raise WrongKind(f"entry {entry.id} is of kind {entry.kind!r}, but was handed over as {kind!r}")
        if kind not in KINDS:
            raise WrongKind(f"entry {entry.id} is of kind {kind!r}, which the board does not know")
        if kind not in role.readable:
            reads = ", ".join(role.readable)
            raise WrongKind(f"{role.name} does not read {kind!r} (entry {entry.id}); it reads {reads}")
    missing = [kind for kind in role.required if kind not in entries]
    if missing:
        raise MissingKind(f"{role.name} cannot work without {', '.join(missing)}")


def _system(role: Role, delimiter: str) -> tuple[Json, ...]:
    """The role's prompt, the same in every run, and the rule on data with this run's delimiter."""
    environment = prompts()
    prompt = environment.get_template(role.prompt).render(role=role)
    rule = environment.get_template("_data.md.j2").render(delimiter=delimiter)
    return (text_block(prompt.strip()), {**text_block(rule.strip()), "cache_control": CACHE_MARK})


def prompts() -> Environment:
    """The prompt templates by file name; they make plain text. An unknown variable is an error, not a blank."""
    folder = resources.files("agents.roles")
    sources = {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".md.j2")}
    return Environment(
        loader=DictLoader(sources),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
