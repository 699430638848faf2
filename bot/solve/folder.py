"""Where a solve is kept until it has ended, so that a killed one goes on: its order, its store, its local GitHub."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

MOST_SOLVES = 1_000


class SolveError(RuntimeError):
    """A solve that cannot begin or go on; the text says why and what to do."""


class Order(BaseModel):
    """What was asked for, as it is kept. `settings` are environment names and values that the options stand for; keys
    of models are never among them. `run` is known once there is one to go on with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    repository: Path
    title: str
    body: str
    base: str
    head: str
    settings: Mapping[str, str] = {}
    run: str = ""


@dataclass(frozen=True)
class Folder:
    """One solve's folder."""

    path: Path

    @property
    def name(self) -> str:
        """What `--resume` takes."""
        return self.path.name

    @property
    def data(self) -> Path:
        """Where the stage keeps what it knows."""
        return self.path / "stage"

    def read(self) -> Order:
        """The order. Raises `SolveError` when it cannot be read."""
        try:
            return Order.model_validate_json((self.path / "order.json").read_bytes())
        except (OSError, ValidationError) as error:
            raise SolveError(f"{self.path} holds no solve that can go on: {_first_line(error)}") from None

    def write(self, order: Order) -> None:
        """Keep the order; a kill leaves the old one or the new one."""
        fresh = self.path / "order.tmp"
        fresh.write_text(order.model_dump_json(indent=1), encoding="utf-8")
        fresh.replace(self.path / "order.json")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every other process out. Raises `SolveError` when one is in already."""
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise SolveError(f"{self.name} is at work in another process. Stop that one first.") from None
        try:
            yield
        finally:
            os.close(lock)

    def remove(self) -> None:
        """Forget the solve."""
        shutil.rmtree(self.path, ignore_errors=True)


def root_of(env: Mapping[str, str]) -> Path:
    """Where solves are kept when nobody names a place. Source: XDG Base Directory Specification, state."""
    home = Path(env.get("XDG_STATE_HOME") or Path(env.get("HOME") or Path.home()) / ".local" / "state")
    return home / "seconder" / "solves"


def new_folder(root: Path, repository: str) -> Folder:
    """A folder of its own for a new solve, called after the repository."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in repository).strip("-.")[:60]
    for number in range(1, MOST_SOLVES):
        path = root / f"{plain or 'repository'}-{number}"
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return Folder(path)
    raise SolveError(f"{root} is full of unfinished solves. Delete some of its folders.")


def unfinished(root: Path) -> list[Folder]:
    """The solves that can go on, oldest first."""
    found = [Folder(path.parent) for path in root.glob("*/order.json")]
    return sorted(found, key=lambda one: one.path.stat().st_mtime)


def pick(root: Path, name: str | None) -> Folder:
    """The unfinished solve of this name, or of this repository, or the only one. Raises `SolveError` with the list."""
    known = unfinished(root)
    if not known:
        raise SolveError(f"There is no unfinished solve in {root}.")
    chosen = [one for one in known if name is None or one.name == name or _is_for(one, name)]
    if len(chosen) == 1:
        return chosen[0]
    head = f"No unfinished solve is called {name}." if not chosen else "Which one? seconder solve --resume NAME"
    raise SolveError("\n".join([head, *(_line(one) for one in known)]))


def _is_for(folder: Folder, name: str) -> bool:
    path = Path(name)
    return path.is_dir() and path.resolve() == folder.read().repository


def _line(folder: Folder) -> str:
    try:
        order = folder.read()
    except SolveError:
        return f"  {folder.name}  (cannot be read: delete {folder.path})"
    return f"  {folder.name}  {order.title}  ({order.repository})"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200]
