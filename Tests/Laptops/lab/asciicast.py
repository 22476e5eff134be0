"""What is seen in a terminal, as a file that terminal players read: asciicast v2, the format of asciinema."""

import codecs
import json
import time


class Asciicast:
    """A context manager: it is written while it comes, so that what was seen is there whatever ends the program."""

    def __init__(self, path, columns, rows, **header):
        self._columns = columns
        self._rows = rows
        self._began = time.monotonic()
        # A character may arrive in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._file = open(path, "w", encoding="utf-8")
        self._write({"version": 2, "width": columns, "height": rows, **header})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def show(self, more):
        """Bytes that come to the terminal."""
        if shown := self._decoder.decode(more):
            self._add("o", shown)

    def type(self, typed):
        self._add("i", typed)

    def mark(self, label):
        self._add("m", label)

    def resize(self, columns):
        if columns != self._columns:
            self._columns = columns
            self._add("r", f"{columns}x{self._rows}")

    def _add(self, kind, data):
        self._write([round(time.monotonic() - self._began, 6), kind, data])

    def _write(self, line):
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
