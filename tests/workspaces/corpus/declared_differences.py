"""What a workspace can't do, and what runs directly for that reason. docs/workspaces.md describes it."""

ALWAYS_DIFFERENT = {
    "device like a whiteout": "overlayfs marks deleted files with the device 0:0, so nobody can create one",
    "extended attribute like an overlay's": "names of attributes that overlayfs uses are lost",
    "extended attribute like an overlay's on a new folder": "names of attributes that overlayfs uses are lost",
    "extended attribute like an overlay's whiteout": "names of attributes that overlayfs uses are lost",
}
"""Commands that leave a different tree with any privileges, and why."""

DIFFERENT_WITHOUT_ROOT = {
    "hard link moved and written": "the new name is a file of its own, and nothing shows that it was another's",
    "renames of a folder with an open file": "mv copies the folder, so the open file is the old one",
    "renames of a current folder": "mv copies the folder, so the shell stays in the old one",
    "current folder renamed": "mv copies the folder, so the shell stays in the old one",
    "system call exchange a file and a folder": "it fails, and the program says nothing",
    "system call exchange folders": "it fails, and the program says nothing",
}
"""Commands that leave a different tree in a user namespace, and why."""

ORDINARY_DIRECTLY_WITHOUT_ROOT = {
    "git mv src": "renames a folder",
    "git mv docs": "renames a folder",
    "git mv old": "renames a folder",
    "git mv src/app/core": "renames a folder",
    "git mv deep/1": "renames a folder",
    "git remote submodule mv": "renames a folder",
    "git worktree move": "renames a folder",
    "python script rename a folder": "renames a folder",
    "node script rename a folder": "renames a folder",
    "git clone ": "links the objects",
    "git clone --bare": "links the objects",
    "git clone --mirror": "links the objects",
    "git clone -b feature": "links the objects",
    "git clone -n": "links the objects",
    "git remote fetch": "links the objects of a local clone",
    "git remote push": "links the objects of a local clone",
    "git remote pull": "links the objects of a local clone",
    "git remote pull with rebase": "links the objects of a local clone",
    "git remote submodule rm": "changes a file with hard links",
    "git stash and pop": "changes a file with hard links",
    "tar extracted ": "changes a file with hard links",
    "tar extracted --overwrite": "changes a file with hard links",
    "tar extracted --unlink-first": "changes a file with hard links",
    "tar hard links": "changes a file with hard links",
}
"""Ordinary commands that turn out to need a direct run in a user namespace."""
