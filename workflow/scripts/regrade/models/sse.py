"""Streams: bytes in, cut anywhere; the data fields of server-sent events out, or lines."""

import codecs
import json


class EventReader:
    """Collects the data fields of an event stream; comments and other fields are skipped."""

    def __init__(self) -> None:
        self._lines = LineReader(blank=True)
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The events that are complete now."""
        return self._take(self._lines.feed(chunk))

    def finish(self) -> list[str]:
        """What the end of the stream completes: a last line, a last event."""
        return self._take([*self._lines.finish(), ""])

    def _take(self, lines: list[str]) -> list[str]:
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: str) -> str | None:
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            return None
        event = "\n".join(self._data) if self._data else None
        self._data = []
        return event


class LineReader:
    """Collects lines, whichever way they end; blank ones only if asked for."""

    def __init__(self, blank: bool = False) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._blank = blank
        self._rest = ""

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that are complete now."""
        return self._take(self._decoder.decode(chunk))

    def finish(self) -> list[str]:
        """The last line, if the stream ended inside of it."""
        return self._take(self._decoder.decode(b"", final=True) + "\n")

    def _take(self, text: str) -> list[str]:
        text = self._rest + text
        # A "\r" at the very end may be half of a "\r\n".
        held = "\r" if text.endswith("\r") else ""
        text = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = text.split("\n")
        self._rest = rest + held
        return lines if self._blank else [line for line in lines if line.strip()]


def parts(data: str) -> list[str]:
    """The events in a data field: several, if a server left out the blank lines between them."""
    if "\n" in data:
        lines = [line for line in data.split("\n") if line.strip()]
        if len(lines) > 1:
            try:
                json.loads(data)
            except (ValueError, RecursionError):
                return [line.strip() for line in lines]
    return [data.strip()] if data.strip() else []
