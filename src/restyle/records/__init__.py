"""Records: the one JSON object per line that travels through restyle, read and written as streams.

A record is a dict with a string under `text` and a string under `id`; every other key is carried through untouched.
Read from `.jsonl`, `.tsv`, `.csv` and `.txt`, plain or as `.gz` and `.zst`, from a file or (`-`) from stdin; never more
than a line is held in memory.
"""

from restyle.records._formats import STDIO, Format, Record, format_of, stem_of
from restyle.records._reading import OnError, ReadingReport, read_objects, read_records
from restyle.records._streams import opened_bytes, opened_text, read_document
from restyle.records._writing import RecordWriter, finite, json_line, write_records, writing_to

__all__ = [
    "Format",
    "OnError",
    "ReadingReport",
    "Record",
    "RecordWriter",
    "STDIO",
    "finite",
    "format_of",
    "json_line",
    "opened_bytes",
    "opened_text",
    "read_document",
    "read_objects",
    "read_records",
    "stem_of",
    "write_records",
    "writing_to",
]
