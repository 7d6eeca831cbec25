"""A client that keeps the beginning of what a cell shows: a loop may print until all memory is full."""

from __future__ import annotations

from typing import Any

from nbclient import NotebookClient

MOST = 1_000_000  # letters that a cell may show
_EACH = 1000  # letters that an output counts beside its own: many empty ones take memory as well


class BoundedClient(NotebookClient):
    """Executes cells as nbclient does, and drops outputs of a cell beyond `MOST`; errors are kept."""

    _shown = 0

    def output(self, outs: list[Any], msg: dict[str, Any], display_id: str | None, cell_index: int) -> Any:
        """Keep an output if there is room for it, and as much of a printed text as there is room for."""
        if not outs or self.clear_before_next_output:
            self._shown = 0
        content = msg["content"]
        if msg["msg_type"] != "error":
            room = MOST - self._shown - _EACH
            if room <= 0:
                return None
            if msg["msg_type"] == "stream":
                content["text"] = content["text"][:room]
                self._shown += _EACH + len(content["text"])
            else:
                size = sum(len(str(value)) for value in content.get("data", {}).values())
                if size > room:
                    return None
                self._shown += _EACH + size
        return super().output(outs, msg, display_id, cell_index)
