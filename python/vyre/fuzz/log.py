"""The log of a sweep: JSON lines, first what was run, then a row for each program in the order of their seeds.

It holds no times and no paths, so that a sweep that was interrupted and resumed leaves the log of one that was not, and
two machines' logs can be compared line by line.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vyre._base.files import read_at_most, unwritable
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 1
_MOST_BYTES = 1 << 30  # of a log that is read


@dataclass(frozen=True)
class Row:
    """How one program fared.

    Attributes:
        seed: what it was generated from.
        verdict: "agrees", "refused", "differs", "failed", "crashed" or "hung", as in ``Judgement.kind``; "misjudged"
            when checked execution missed what was planted, or found what is none.
        program: a hash of it.
        output: a hash of what the reference gave in all calls; the same on every machine.
        way, message: which way, and what happened; empty when all agree.
    """

    seed: int
    verdict: str
    program: str
    output: str
    way: str = ""
    message: str = ""

    @property
    def wrong(self) -> bool:
        """Whether somebody is at fault."""
        return self.verdict not in ("agrees", "refused")

    def to_json(self) -> str:
        """The row as one line, without its end."""
        return json.dumps({name: value for name, value in asdict(self).items() if value != ""}, ensure_ascii=False)


class Log:
    """A log that is being written.

    Attributes:
        path: the file.
        head: what was run.
        rows: those that were there when it was resumed.
    """

    path: Path
    head: Mapping[str, Any]
    rows: list[Row]

    def __init__(self, path: Path, head: Mapping[str, Any], rows: list[Row], file: IO[bytes], size: int) -> None:
        self.path, self.head, self.rows = path, head, rows
        self._file, self._size = file, size  # unbuffered, and how many of its bytes are whole lines

    @classmethod
    def create(cls, path: str | Path, head: Mapping[str, Any]) -> Log:
        """Begin a log. Raises ArgumentError when the file exists, or cannot be written."""
        path = Path(path)
        try:
            file = path.open("xb", buffering=0)
        except FileExistsError as error:
            if not path.is_file():
                raise ArgumentError(f"log `{path}` is there and no file. Fix: name a file.") from error
            raise ArgumentError(
                f"log `{path}` exists. Fix: add --resume to go on where it ends, or name another file."
            ) from None
        except OSError as error:
            raise unwritable(path, error) from error
        head = {"vyre_fuzz_log": VERSION, **head}
        log = cls(path, head, [], file, 0)
        try:
            log._append(json.dumps(head, ensure_ascii=False) + "\n")
        except ArgumentError:
            log.close()
            path.unlink(missing_ok=True)
            raise
        return log

    @classmethod
    def resume(cls, path: str | Path) -> Log:
        """Go on with a log; half a line at its end, from a process that was killed, is cut off.

        Raises: ArgumentError when the file is no log.
        """
        path = Path(path)
        content = read_at_most(
            path, _MOST_BYTES, fix="name a log that `vyre fuzz --log` wrote, or leave --resume out to begin one"
        )
        whole = content[: content.rfind(b"\n") + 1]
        try:
            head, *rows = (json.loads(line) for line in whole.decode("utf-8").splitlines())
            if head["vyre_fuzz_log"] != VERSION:
                raise ValueError(f"version {head['vyre_fuzz_log']}")
            read = [Row(**{"output": "", "program": "", **row}) for row in rows]
            first = head["seed"]
            if [row.seed for row in read] != list(range(first, first + len(read))):
                raise ValueError("its seeds are not in order")
        except (ValueError, KeyError, TypeError) as error:
            raise ArgumentError(
                f"`{path}` is no log of vyre fuzz: {type(error).__name__}: {error}. "
                "Fix: name one that `vyre fuzz --log` wrote."
            ) from error
        try:
            file = path.open("r+b", buffering=0)
            file.truncate(len(whole))
            file.seek(0, 2)
        except OSError as error:
            raise unwritable(path, error) from error
        return cls(path, head, read, file, len(whole))

    def write(self, rows: Iterable[Row]) -> None:
        """Append rows; what was written outlives this process. Raises ArgumentError when the disk is full."""
        self._append("".join(row.to_json() + "\n" for row in rows))

    def _append(self, text: str) -> None:
        data = text.encode()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(self._size)  # no half lines stay
            raise unwritable(self.path, error) from error
        self._size += len(data)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
