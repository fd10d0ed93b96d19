"""All commands of the corpus, in a fixed order."""

from tests.workspaces.corpus.archives import archives
from tests.workspaces.corpus.awkward_entries import awkward_entries
from tests.workspaces.corpus.awkward_folders import awkward_folders
from tests.workspaces.corpus.awkward_names import awkward_names
from tests.workspaces.corpus.awkward_processes import awkward_processes
from tests.workspaces.corpus.builds import builds
from tests.workspaces.corpus.corpus_command import CorpusCommand
from tests.workspaces.corpus.databases import databases
from tests.workspaces.corpus.folder_changes import folder_changes
from tests.workspaces.corpus.git_commands import git_commands
from tests.workspaces.corpus.packages import packages
from tests.workspaces.corpus.scripts import scripts
from tests.workspaces.corpus.text_edits import text_edits


def command_corpus() -> list[CorpusCommand]:
    """Return more than 1,000 commands, at least a third of them awkward."""
    return [
        *text_edits(),
        *folder_changes(),
        *git_commands(),
        *builds(),
        *packages(),
        *archives(),
        *databases(),
        *scripts(),
        *awkward_names(),
        *awkward_entries(),
        *awkward_folders(),
        *awkward_processes(),
    ]
