"""Server-sent events: bytes in, cut anywhere; data fields out."""

import codecs


class EventReader:
    """Collects the data fields of an event stream; comments and other fields are skipped."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The events that are complete now."""
        return self._take(self._decoder.decode(chunk))

    def finish(self) -> list[str]:
        """What the end of the stream completes: a last line, a last event."""
        return self._take(self._decoder.decode(b"", final=True) + "\n\n")

    def _take(self, text: str) -> list[str]:
        text = self._rest + text
        # A "\r" at the very end may be half of a "\r\n".
        held = "\r" if text.endswith("\r") else ""
        text = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = text.split("\n")
        self._rest = rest + held
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
