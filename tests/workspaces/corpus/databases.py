"""SQLite and other databases in files."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_RUN = "python3 - <<'X'\nimport sqlite3\nc = sqlite3.connect('data/app.db')\n@statements@\nc.commit()\nc.close()\nX"


def databases() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *expand(
            "sqlite by python",
            _RUN,
            statements={
                "insert": "c.execute('INSERT INTO item (name, price) VALUES (1, 2)')",
                "update": "c.execute('UPDATE item SET price = price + 1')",
                "delete": "c.execute('DELETE FROM item WHERE id % 2')",
                "drop": "c.execute('DROP TABLE item')",
                "index": "c.execute('CREATE INDEX by_name ON item (name)')",
                "alter": "c.execute('ALTER TABLE item ADD COLUMN note TEXT')",
                "many": "c.executemany('INSERT INTO item (name) VALUES (?)', [(str(n),) for n in range(5000)])",
                "rolled back": "c.execute('DELETE FROM item'); c.rollback()",
                "select": "print(c.execute('SELECT count(*) FROM item').fetchone())",
                "write-ahead log": "c.execute('PRAGMA journal_mode = wal'); c.execute('DELETE FROM item WHERE id < 9')",
                "persistent journal": "c.execute('PRAGMA journal_mode = truncate'); c.execute('DELETE FROM item WHERE id < 9')",
                "memory mapped": "c.execute('PRAGMA mmap_size = 1000000'); c.execute('UPDATE item SET price = 0')",
                "backup": "d = sqlite3.connect('copy.db'); c.backup(d); d.close()",
                "attached": "c.execute('ATTACH \"other.db\" AS o'); c.execute('CREATE TABLE o.t AS SELECT * FROM item')",
                "two connections": "d = sqlite3.connect('data/app.db'); c.execute('DELETE FROM item WHERE id = 1'); c.commit(); print(d.execute('SELECT count(*) FROM item').fetchall()); d.close()",
            },
        ),
        *expand(
            "sqlite3 @statement@",
            'sqlite3 data/app.db "@statement@"',
            needs="sqlite3",
            statement=(
                "VACUUM",
                "REINDEX",
                "ANALYZE",
                "DELETE FROM item",
                ".backup other.db",
                ".clone clone.db",
                ".output dump.sql\n.dump",
            ),
        ),
        *table(
            "database",
            {
                "new": "python3 -c \"import sqlite3; c = sqlite3.connect('new.db'); c.execute('CREATE TABLE t (x)'); c.commit()\"",
                "from a dump": "python3 -c \"import sqlite3; c = sqlite3.connect('data/app.db'); open('d.sql', 'w').write('\\n'.join(c.iterdump()))\"",
                "dbm": "python3 -c \"import dbm.dumb as d; s = d.open('store', 'c'); s['k'] = 'v'; s.close()\"",
                "shelve": "python3 -c \"import dbm.dumb, shelve; s = shelve.Shelf(dbm.dumb.open('shelf', 'n')); s['k'] = [1]; s.close()\"",
                "pickle": "python3 -c \"import pickle; pickle.dump({'a': 1}, open('p.pickle', 'wb'))\"",
            },
        ),
    ]
