"""Where a solve is kept: named after its repository, held by one process, picked by name, repository or being alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.solve.folder import Folder, Order, SolveError, new_folder, pick, root_of, unfinished


def order(repository: Path) -> Order:
    return Order(repository=repository, title="Title", body="Body", base="main", head="0" * 40)


@pytest.mark.parametrize(
    ("env", "root"),
    [
        pytest.param({"HOME": "/home/ada"}, "/home/ada/.local/state/seconder/solves", id="home"),
        pytest.param({"XDG_STATE_HOME": "/state", "HOME": "/home/ada"}, "/state/seconder/solves", id="XDG"),
    ],
)
def test_the_root_is_where_state_belongs(env: dict[str, str], root: str) -> None:
    assert root_of(env) == Path(root)


@pytest.mark.parametrize(
    ("repository", "name"),
    [
        pytest.param("shop", "shop-1", id="plain"),
        pytest.param("my shöp/../x y", "my-shöp-..-x-y-1", id="odd"),
        pytest.param("..", "repository-1", id="nothing left"),
        pytest.param("x" * 300, "x" * 60 + "-1", id="long"),
    ],
)
def test_a_folder_is_called_after_the_repository(tmp_path: Path, repository: str, name: str) -> None:
    made = new_folder(tmp_path, repository)
    assert made.name == name
    assert made.path.parent == tmp_path
    assert new_folder(tmp_path, repository).name == f"{name[:-1]}2"


def test_an_order_is_kept_and_a_torn_one_is_said(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "shop")
    folder.write(order(tmp_path))
    assert folder.read() == order(tmp_path)
    (folder.path / "order.json").write_text("{")
    with pytest.raises(SolveError, match="holds no solve that can go on"):
        folder.read()
    assert unfinished(tmp_path) == [folder]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "shop")
    with folder.held(), pytest.raises(SolveError, match="at work in another process"), Folder(folder.path).held():
        pass
    with folder.held():
        pass


def test_it_is_picked_by_name_by_repository_or_alone(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for path in (one, two):
        path.mkdir()
    root = tmp_path / "root"
    first = new_folder(root, "one")
    first.write(order(one))
    assert pick(root, None) == first
    second = new_folder(root, "two")
    second.write(order(two))
    assert pick(root, "one-1") == first
    assert pick(root, str(two)) == second
    with pytest.raises(SolveError, match="Which one"):
        pick(root, None)
