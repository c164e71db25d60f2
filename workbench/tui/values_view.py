"""Named values as a tree that opens down to the single entry, built only where it is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from rich.cells import cell_len
from textual.binding import Binding, BindingType

from workbench.engine.values import UNSET, Message
from workbench.tui.bars import cells
from workbench.tui.previews import NoValue, preview, short_shape
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column

PAGE = 100
_PREVIEW = 12
"""Columns that a preview gets before there are notes."""
_NAME = 40
"""Columns that a name gets at most."""
Path = tuple[int | str, ...]


class Root(Struct, frozen=True):
    """A named value. ``notes`` stand at the right edge; the first of them go where there is no room for all.

    ``key`` tells it from others of the same name.
    """

    name: str
    value: Any
    notes: tuple[Part, ...] = ()
    look: str = "name"
    shape: str | None = None
    key: Any = None


class Node(Struct, frozen=True):
    """One row: a root, an entry of a value, or a page of entries (``first`` to ``last``) of a long list."""

    root: Root
    path: Path
    value: Any
    label: str
    pages: tuple[tuple[int, int], ...] = ()

    @property
    def depth(self) -> int:
        return len(self.path) + len(self.pages)

    @property
    def key(self) -> Any:
        return (self.root.name, self.root.key, self.path, self.pages)


class ValuesView(RowsView):
    """Shows roots. Right and Left (or Space) open and close a row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open", show=False),
        Binding("left", "close", show=False),
        Binding("space", "open_or_close", show=False),
    ]

    def __init__(self, empty: str = "nothing yet", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._empty = empty
        self._names = 0
        self._roots: Sequence[Root] = ()
        self._open: set[Any] = set()
        self._shown: list[Node] = []

    def show(self, roots: Sequence[Root], empty: str | None = None) -> None:
        """Show other values; the cursor and what is open stay where they are, by name."""
        at = self.node.key if self.node is not None else None
        self._roots = roots
        self._empty = empty if empty is not None else self._empty
        self._flatten()
        if self.cursor:  # the first row is where nobody has been yet: new values above it are seen
            found = (number for number, node in enumerate(self._shown) if node.key == at)
            self.cursor = next(found, min(self.cursor, len(self._shown)))
        self.rows_changed()

    @property
    def node(self) -> Node | None:
        """The node at the cursor."""
        return self._shown[self.cursor] if self.cursor < len(self._shown) else None

    @property
    def named_value(self) -> tuple[str, Any] | None:
        """Name and value at the cursor."""
        node = self.node
        if node is None or isinstance(node.value, NoValue):
            return None
        return path_name(node.root.name, node.path), node.value

    def open_all(self) -> None:
        """Open every root, one level."""
        self._open |= {_root_node(root).key for root in self._roots}
        self._flatten()
        self.rows_changed()

    # ---- rows

    def row_count(self) -> int:
        return len(self._shown) or 1

    def row(self, index: int) -> Row:
        if not self._shown:
            return Row((Part(self._empty, "dim"),))
        node = self._shown[index]
        arrow = " " if not is_open_able(node.value) else "▾" if node.key in self._open else "▸"
        indent = "  " * node.depth
        is_root = not node.depth
        names = max(4, min(self._names, self.row_width // 2) - len(indent) - 3)
        label = Part(f"{indent}{arrow} {column(node.label, names)} ", node.root.look if is_root else "dim")
        if node.pages:
            return Row((label,))
        kind = node.root.shape if is_root and node.root.shape is not None else short_shape(node.value)
        shapes = Part(column(kind, 10 if self.row_width >= 48 else 9) + " ", "dim")
        look = "dim" if node.value is UNSET or isinstance(node.value, NoValue) else "value"
        left = (label, shapes, Part(preview(node.value, self.row_width), look))
        room = self.row_width - cells([label, shapes]) - _PREVIEW
        return Row(left, _fitting(node.root.notes, room) if is_root else ())

    # ---- opening

    def action_open(self) -> None:
        self._set_open(True)

    def action_close(self) -> None:
        node = self.node
        if node is not None and node.depth and node.key not in self._open:
            self._go(max(n for n, other in enumerate(self._shown[: self.cursor]) if other.depth < node.depth))
        else:
            self._set_open(False)

    def action_open_or_close(self) -> None:
        if self.node is not None:
            self._set_open(self.node.key not in self._open)

    def _set_open(self, is_open: bool) -> None:
        node = self.node
        if node is None or not is_open_able(node.value):
            return
        (self._open.add if is_open else self._open.discard)(node.key)
        self._flatten()
        self.rows_changed()

    def _flatten(self) -> None:
        self._shown = [node for root in self._roots for node in self._rows_under(_root_node(root))]
        self._names = max((2 * node.depth + 3 + cell_len(node.label[:_NAME]) for node in self._shown), default=0)

    def _rows_under(self, node: Node) -> Iterator[Node]:
        yield node
        if not is_open_able(node.value):
            self._open.discard(node.key)  # it may have been a list or a map before
        elif node.key in self._open:
            for child in _children(node):
                yield from self._rows_under(child)

    # ---- finding

    def find(self, needle: str, step: int) -> bool:
        """Find also looks into what is closed, and opens the way to what it found."""
        wanted = needle.casefold()
        places = [(root, path) for root in self._roots for path in _places(root.name, root.value, wanted)]
        if not places:
            return False
        at = self.node
        seen = [(root.key, root.name, path) for root, path in places]
        here = (at.root.key, at.root.name, at.path) if at is not None else None
        start = seen.index(here) if here in seen else -1 if step > 0 else 0
        root, path = places[(start + step) % len(places)]
        self._reveal(root, path)
        return True

    def _reveal(self, root: Root, path: Path) -> None:
        node = _root_node(root)
        while node.path != path:
            self._open.add(node.key)
            node = next(child for child in _children(node) if _leads_to(child, path))
        self._flatten()
        self.rows_changed()
        self._go(next(n for n, other in enumerate(self._shown) if other.key == node.key))


def _fitting(notes: Sequence[Part], room: int) -> tuple[Part, ...]:
    """The last of the notes, as many as there is room for."""
    left = list(notes)
    while left and cells(left) > room:
        left.pop(0)
    return tuple(left)


def is_open_able(value: Any) -> bool:
    return isinstance(value, list | Mapping) and not isinstance(value, Message) and bool(value)


def path_name(name: str, path: Path) -> str:
    return name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _root_node(root: Root) -> Node:
    return Node(root, (), root.value, root.name)


def _children(node: Node) -> Iterator[Node]:
    """The rows under an open one: entries, or pages of them where there are more than fit."""
    if isinstance(node.value, Mapping):
        for key, entry in node.value.items():
            yield Node(node.root, (*node.path, key), entry, str(key))
        return
    first, last = node.pages[-1] if node.pages else (0, len(node.value))
    size = 1
    while (last - first) > size * PAGE:
        size *= PAGE
    for start in range(first, last, size):
        if size == 1:
            yield Node(node.root, (*node.path, start), node.value[start], f"[{start}]")
        else:
            end = min(start + size, last)
            yield Node(node.root, node.path, node.value, f"[{start}] … [{end - 1}]", (*node.pages, (start, end)))


def _leads_to(child: Node, path: Path) -> bool:
    if not child.pages:
        return path[: len(child.path)] == child.path
    first, last = child.pages[-1]
    index = path[len(child.path)]
    return isinstance(index, int) and first <= index < last


def _places(name: str, value: Any, wanted: str) -> Iterator[Path]:
    """The paths, in order, of all names and texts that hold what is wanted."""
    if wanted in name.casefold():
        yield ()
    yield from _places_inside(value, (), wanted)


def _places_inside(value: Any, path: Path, wanted: str) -> Iterator[Path]:
    if isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _places_inside(entry, (*path, number), wanted)
    elif isinstance(value, Mapping) and not isinstance(value, Message):
        for key, entry in value.items():
            if wanted in str(key).casefold():
                yield (*path, key)
            yield from _places_inside(entry, (*path, key), wanted)
    else:
        text = value.text if isinstance(value, Message) else value if isinstance(value, str) else str(value)
        if wanted in text.casefold():
            yield path
