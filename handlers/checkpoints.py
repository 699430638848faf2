"""Checkpoints: a fold of a run's log as JSON, so that a new process need not read the log from its beginning.

A checkpoint is a cache and is never believed: its digest must fit its content, its schema must be ours, and the log
must have, at its position, the very record that it was folded up to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from agents.board import Entry
from handlers.ports import Checkpoint
from handlers.state import Bill, NodeState, RunState, Said, Step

SCHEMA = 1
PLAIN = ("position", "chain", "notes", "cancelled", "ending", "last_turn", "strange", "erased", "last_tool", "receipts")


class BadCheckpoint(ValueError):
    """A checkpoint that cannot be used; the text says why."""


def content_of(state: RunState) -> dict[str, object]:
    """The whole fold as JSON data, sharing the fold's own parts; equal for equal folds."""
    return {
        **{name: getattr(state, name) for name in PLAIN},
        "entries": [entry.model_dump(mode="json") for entry in state.board.all()],
        "steps": [vars(step) for step in state.steps.values()],
        "keys": sorted(state.keys),
        "said": [vars(said) for said in state.said],
        "nodes": {name: vars(node) for name, node in state.nodes.items()},
        "bills": {name: {**vars(bill), "models": sorted(bill.models)} for name, bill in state.bills.items()},
    }


def freeze(state: RunState) -> Checkpoint:
    """The fold as a checkpoint."""
    content = json.dumps(content_of(state), separators=(",", ":")).encode()
    return Checkpoint(state.position, state.chain, SCHEMA, hashlib.sha256(content).hexdigest(), content)


def thaw(checkpoint: Checkpoint) -> RunState:
    """The fold that was frozen. Raises `BadCheckpoint`."""
    if hashlib.sha256(checkpoint.content).hexdigest() != checkpoint.digest:
        raise BadCheckpoint("its digest does not fit its content")
    if checkpoint.schema != SCHEMA:
        raise BadCheckpoint(f"its schema is {checkpoint.schema}, this version writes {SCHEMA}")
    try:
        state = _state(json.loads(checkpoint.content))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadCheckpoint(f"its content is not a fold: {type(error).__name__} {error}"[:500]) from error
    if state.strange:
        raise BadCheckpoint("it was folded by a version that did not know all of the log")
    if (state.position, state.chain) != (checkpoint.position, checkpoint.chain):
        raise BadCheckpoint("its content is not what its header says")
    return state


def _state(content: Mapping[str, object]) -> RunState:
    state = RunState()
    for name in PLAIN:
        setattr(state, name, content[name])
    for entry in _rows(content["entries"]):
        state.add(Entry.model_validate(entry))
    for step in _rows(content["steps"]):
        state.begin(Step(**{**step, "inputs": tuple(step["inputs"]), "writes": tuple(step["writes"])}))
    state.keys = set(_rows(content["keys"]))
    for said in _rows(content["said"]):
        state.say(Said(**said))
    state.nodes = {name: NodeState(**node) for name, node in _named(content["nodes"]).items()}
    for name, bill in _named(content["bills"]).items():
        state.bills[name] = Bill(**{**bill, "models": set(bill["models"])})
    return state


def _rows(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list is missing")
    return value


def _named(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a mapping is missing")
    return value
