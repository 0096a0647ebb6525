"""LevelDB's files, read without its library and without a lock, and written anew.

A database is a folder.  ``CURRENT`` names the manifest, which says which tables hold the records
and from which log on newer updates are found.  Tables are sorted and never change; a log is the
sequence of batches since the last table was made.  Many processes may read one database at once,
as long as nobody writes to it.

    files.py     names, checksums, bytes of a file, errors with their place
    log.py       records in blocks of 32 KiB: logs and the manifest are such files
    manifest.py  the tables and logs that make up a database
    batches.py   the updates in a log
    table.py     sorted blocks, each with its checksum, and the index of them
    reader.py    all of them as one sequence of records
    writer.py    new databases
"""
