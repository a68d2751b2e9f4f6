"""Which files are taken, and which are not."""

from __future__ import annotations

import os

import pytest

from prism_memory.errors import Invalid
from prism_memory.ingest.finding import find


@pytest.fixture
def folder(tmp_path):
    """A folder of files, with links that lead everywhere."""
    root = tmp_path / "docs"
    for name in ("b.md", "a.txt", "api/c.md", ".git/d.md", "api/.hidden.md"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    (root / "out.md").symlink_to(outside)
    (root / "up").symlink_to(tmp_path, target_is_directory=True)
    (root / "again").symlink_to(root, target_is_directory=True)
    (root / "in.md").symlink_to(root / "b.md")
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "none.md").symlink_to(root / "missing")
    os.mkfifo(root / "pipe.md")
    return root


def test_links_lead_nowhere_out_of_the_folder(folder):
    finding = find([folder])
    names = [file.name for file in finding.files]
    assert names == ["a.txt", "api/c.md", "b.md", "in.md"]
    assert dict(finding.left) == {
        "again": "a link to a folder",
        "up": "a link to a folder",
        "out.md": "leads out of the folder",
        "loop.md": "leads nowhere",
        "none.md": "leads nowhere",
        "pipe.md": "no regular file",
    }
    assert not any(file.path.is_symlink() for file in finding.files)
    assert finding.complete


def test_a_place_that_is_a_link_is_followed(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert "api/c.md" in find([tmp_path / "link"]).names


def test_names_are_chosen_and_those_left_out_are_still_there(folder):
    finding = find([folder], globs=["*.txt", "api/*"])
    assert [file.name for file in finding.files] == ["a.txt", "api/c.md"]
    assert finding.names == {"a.txt", "api/c.md", "b.md", "in.md"}


def test_a_place_that_is_missing_or_names_a_file_twice_is_refused(folder, tmp_path):
    with pytest.raises(Invalid, match="cannot be read") as refused:
        find([folder, tmp_path / "missing"])
    assert refused.value.field == "path"
    with pytest.raises(Invalid, match=r"b\.md is there twice"):
        find([folder, folder / "b.md"])
    with pytest.raises(Invalid, match="no folder and no regular file"):
        find([folder / "pipe.md"])
    assert [f.name for f in find([folder / "api", folder / "b.md"]).files] == [
        "b.md",
        "c.md",
    ]


def test_an_empty_folder_is_not_complete(tmp_path):
    """A disk that is not mounted looks like one: nothing of it is gone."""
    assert not find([tmp_path]).complete
