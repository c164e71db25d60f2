"""Every command of every screen, in one place: bindings, footer, help and palette are made from these."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct
from textual.binding import Binding
from textual.keys import format_key


class Action(Struct, frozen=True):
    """A command. ``keys`` are Textual's names for them; ``label`` is its word in the footer, if it stands there."""

    name: str
    keys: tuple[str, ...]
    help: str
    group: str
    label: str = ""
    title: str = ""
    """What the palette calls it, where that is not its name."""
    short: str = ""
    """Its word in the footer where there is no room for the longer one."""

    @property
    def words(self) -> str:
        return self.title or self.name.partition("(")[0].replace("_", " ")

    @property
    def setting(self) -> str:
        """What the configuration calls it, under `keys`."""
        return re.sub(r"\W+", "_", self.words.replace("'", "")).lower()


_RUN, _EDIT, _ITEMS, _PANES, _GENERAL = "Run", "Change", "Look through one item", "Panes", "General"
_STUDY = "Study"

_EVERYWHERE = (
    Action("toggle_lens", ("i",), "pin an item: every pane shows its values alone", _ITEMS, "Item", "item lens"),
    Action("move_lens(-1)", ("[",), "the item before", _ITEMS, title="previous item"),
    Action("move_lens(1)", ("]",), "the next item", _ITEMS, title="next item"),
    Action("next_pane", ("tab",), "to the next pane", _PANES),
    Action("previous_pane", ("shift+tab",), "to the pane before", _PANES),
    Action("maximise", ("m",), "this pane alone, or all again", _PANES, "Maximise", "maximise pane", "Max"),
    Action("resize(4, 0)", ("ctrl+right", ">"), "this pane wider; the mouse moves edges, too", _PANES, title="wider"),
    Action("resize(-4, 0)", ("ctrl+left", "<"), "this pane narrower", _PANES, title="narrower"),
    Action("resize(0, 2)", ("ctrl+down", "+"), "this row higher", _PANES, title="higher"),
    Action("resize(0, -2)", ("ctrl+up", "-"), "this row lower", _PANES, title="lower"),
    Action("reset_layout", ("0",), "all panes as large as at first", _PANES),
    Action("jump", ("'",), "a letter on each pane: the next key goes to one", _PANES, title="jump to a pane"),
    Action("find", ("/",), "find in this pane; Enter goes on, Escape ends", _PANES, "Find"),
    Action("copy", ("y",), "copy the whole value at the cursor", _PANES, title="copy value"),
    Action("read_outside", ("O",), "read the whole value in $PAGER", _PANES, title="open in pager"),
    Action("save", ("ctrl+s",), "save the whole value to a file", _PANES, title="save value"),
    Action("choose_theme", ("t",), "another theme: dark, light, high contrast, the terminal's own colours", _GENERAL),
    Action("help", ("question_mark",), "all keys", _GENERAL, "Help"),
    Action("app.command_palette", ("ctrl+p",), "every command by name", _GENERAL, "Commands", "commands", "Menu"),
)

_STUDYING = (
    Action("compare", ("C",), "compare with another run, timeline or file", _STUDY, "Compare", "compare runs"),
    Action("share", ("x",), "export the marked items, or all: a web page, Markdown, JSON", _STUDY, "Export", "export"),
    Action(
        "roles",
        ("R",),
        "which variables hold question, gold and so on; which score decides",
        _STUDY,
        title="roles",
    ),
    Action("next_run", ("r",), "the next of the runs that were opened", _STUDY, "Run", "next run"),
)
_IN_STUDY = tuple(action for action in _EVERYWHERE if action.name != "toggle_lens")

WORKBENCH = (
    Action("run('continue')", ("f5", "c"), "run on to the next breakpoint", _RUN, "Continue", "continue", "Go on"),
    Action("run('over')", ("f10", "n"), "run the step at the cursor, a loop as a whole", _RUN, "Over", "step over"),
    Action("run('into')", ("f11", "s"), "run one step, going into loops and branches", _RUN, "Into", "step into"),
    Action("run('out')", ("shift+f11", "o"), "run to the end of this loop or branch", _RUN, title="step out"),
    Action("pause", ("f6", "p"), "stop before the next step", _RUN, "Pause"),
    Action("cancel", ("x",), "cancel the call that is under way; its server lives", _RUN, title="cancel call"),
    Action("retry", ("r",), "run the step that failed again", _RUN, title="retry step"),
    Action("step_back", ("u",), "back before the last visit; in the timeline, Enter goes back before any", _RUN),
    Action("round_back", ("W",), "back to the begin of this round, then of the one before", _RUN),
    Action("step_forth", ("U",), "forth over the next visit; nothing is run", _RUN),
    Action("go_to_end", ("E",), "to the end of what has run", _RUN, title="forth to the end"),
    Action("switch_timeline", ("T",), "to another timeline: forks begin where the past is run anew", _RUN),
    Action("compare_timelines", ("F",), "this timeline beside another: what became of each item", _RUN),
    Action(
        "answers",
        ("A",),
        "how steps that were recorded are answered after a fork: run anew, or from the recording",
        _RUN,
        title="answers from recording",
    ),
    Action("answer", ("a",), "answer a server that waits, after looking around first", _RUN, title="answer a server"),
    Action("restart", ("R",), "begin the run anew", _RUN, title="restart run"),
    Action("reload", ("L",), "read the files anew that were saved in an editor; what has run is kept", _RUN),
    Action("restart_server", ("S",), "restart, stop or start a server, or those that going back left behind", _RUN),
    Action("toggle_breakpoint", ("f9", "b"), "stop before the selected step, or no longer", _EDIT, "Break"),
    Action("edit_breakpoint", ("B",), "stop only on a condition, in a round, after some hits; or print", _EDIT),
    Action("watch", ("w",), "stop when a variable is written, changes, is empty, or an expression holds", _EDIT),
    Action("list_breakpoints", ("K",), "all breakpoints and watches: off, on, away", _EDIT, title="breakpoint list"),
    Action("switch_breakpoint", ("D",), "switch a breakpoint off and on", _EDIT, title="disable breakpoint"),
    Action(
        "switch_failures",
        ("X",),
        "whether a failed step stops the run, or ends it as failed",
        _EDIT,
        title="stop on failure",
    ),
    Action("edit", ("e",), "change the variable, input or output at the cursor", _EDIT, "Edit", "edit value"),
    Action("edit_outside", ("ctrl+e",), "change it in $EDITOR", _EDIT, title="edit in editor"),
    Action(
        "decide",
        ("d",),
        "where a router has just decided: send an item another way",
        _EDIT,
        title="change router's decision",
    ),
    Action("last_visit", ("v",), "the last visit and what it gave, in the step pane; and back", _PANES),
    Action("show_tab(-1)", ("comma",), "the tab before, in the step pane", _PANES, title="previous tab"),
    Action("show_tab(1)", ("full_stop",), "the next tab, in the step pane", _PANES, title="next tab"),
    Action("console", ("colon",), "a line for expressions and commands: Tab completes, Up recalls", _GENERAL),
    Action("copy_request", ("C",), "copy the request of the message at the cursor", _PANES),
    Action("find_item", ("I",), "pin the item that holds a text, in any of its lists", _ITEMS, title="find an item"),
    Action("filter", ("f",), "show a part of the variables or the traffic, as you type", _PANES, title="filter pane"),
    Action("add_expression", ("equals_sign",), "show an expression's value below the variables", _PANES),
    Action("remove_expression", ("delete",), "no longer show the expression at the cursor", _PANES),
    Action(
        "history", ("h",), "who wrote the variable at the cursor, and who read it", _PANES, title="variable's history"
    ),
    Action(
        "mark", ("space",), "in the snapshots: mark one, then another, to see what differs", _PANES, "", "mark snapshot"
    ),
    Action("switch_source", ("P",), "the Python of the step's tool, or the pipeline", _PANES, title="tool's code"),
    *(
        Action(f"show_pane({number})", (str(number),), f"to {name}", _PANES, title=f"go to {name}")
        for number, name in enumerate(("Pipeline", "Step", "Variables", "Timeline", "Traffic", "Snapshots"), 1)
    ),
    *_EVERYWHERE,
    Action("app.quit", ("q", "ctrl+q"), "stop the servers and leave", _GENERAL, "Quit", "quit"),
)

REPLAY = (
    Action("items", ("T",), "the table of items: scores, why each is wrong, marks and notes", _STUDY, "Items", "items"),
    *_STUDYING,
    Action("go_live", ("L",), "run on from before this visit, in a new session; the file is untouched", _STUDY, "Live"),
    Action("mark_visit", ("space",), "mark a visit, then another, to see what differs", _STUDY, title="compare visits"),
    Action("make_test", ("M",), "a pytest file that calls this visit's tool again", _STUDY, title="make a test"),
    *(
        Action(f"show_pane({number})", (str(number),), f"to {name}", _PANES, title=f"go to {name}")
        for number, name in enumerate(("Visits", "Variables", "Snapshot", "Step"), 1)
    ),
    *_EVERYWHERE,
    Action("app.quit", ("q", "ctrl+q"), "leave", _GENERAL, "Quit", "quit"),
)

ITEMS = (
    Action("walk", ("w",), "walk through the run with this item pinned; Enter does it, too", _STUDY, "Walk"),
    Action("go_to_fault", ("v",), "to the visit at fault", _STUDY, "Fault", "go to the fault"),
    Action("go_live", ("L",), "run on from before the visit at fault, in a new session", _STUDY, title="go live"),
    Action("filter_items", ("f",), "show a part of the items: `f1 < 0.5 and rounds > 1`, `marked`", _STUDY, "Filter"),
    Action("sort", ("s",), "sort by a column; the same again turns the order round", _STUDY, "Sort", "sort items"),
    Action("mark_item", ("space",), "mark the item, or no longer", _STUDY, title="mark item"),
    Action("note", ("n",), "write a note at the item; it is kept beside the file", _STUDY, "Note", "note at item"),
    *_STUDYING,
    *(
        Action(f"show_pane({number})", (str(number),), f"to {name}", _PANES, title=f"go to {name}")
        for number, name in enumerate(("Items", "Why", "Evidence"), 1)
    ),
    *_IN_STUDY,
    Action("leave", ("T",), "back to the visits; Escape does it, too", _GENERAL, "Back", "back to the visits"),
    Action("app.quit", ("q", "ctrl+q"), "leave", _GENERAL, "Quit", "quit"),
)

COMPARE = (
    Action("walk", ("w",), "walk through A where this item parts; Enter does it, too", _STUDY, "Walk"),
    Action(
        "filter_outcomes", ("f",), "show only what got better, worse, or differs", _STUDY, "Filter", "filter outcomes"
    ),
    Action("swap", ("s",), "A becomes B, and B becomes A", _STUDY, "Swap", "swap A and B"),
    *(
        Action(f"show_pane({number})", (str(number),), f"to {name}", _PANES, title=f"go to {name}")
        for number, name in enumerate(("Items", "Difference", "Steps", "Scores"), 1)
    ),
    *_IN_STUDY,
    Action("leave", ("C",), "back; Escape does it, too", _GENERAL, "Back", "back to the run"),
    Action("app.quit", ("q", "ctrl+q"), "leave", _GENERAL, "Quit", "quit"),
)

VIEWER = (
    Action("find", ("/",), "find in this value; Enter goes on, Escape ends", _PANES, "Find"),
    Action("copy", ("y", "c"), "copy the whole value", _PANES, "Copy", "copy value"),
    Action("read_outside", ("O",), "read the value in $PAGER", _PANES, "Pager", "open in pager"),
    Action("save", ("ctrl+s",), "save the value to a file", _PANES, "Save", "save value"),
    Action("leave", ("escape", "q"), "back", _GENERAL, "Back"),
)

MENDING = (
    Action("edit_file", ("e",), "open the file at the mistake in $EDITOR", _EDIT, "Edit", "edit file"),
    *(
        Action(f"show_pane({number})", (str(number),), f"to {name}", _PANES, title=f"go to {name}")
        for number, name in enumerate(("Mistakes", "File", "Message"), 1)
    ),
    *(action for action in _EVERYWHERE if "lens" not in action.name),
    Action("app.quit", ("q", "ctrl+q"), "leave", _GENERAL, "Quit", "quit"),
)

CHOOSING = (
    Action("open", ("o",), "open the file at the cursor; Enter does it, too", _GENERAL, "Open", "open file"),
    *(action for action in _EVERYWHERE if action.group == _GENERAL or action.name in ("find", "copy")),
    Action("app.quit", ("q", "ctrl+q"), "leave", _GENERAL, "Quit", "quit"),
)

SCREENS = (CHOOSING, MENDING, VIEWER, COMPARE, ITEMS, REPLAY, WORKBENCH)
ALL = {action.setting: action for actions in SCREENS for action in actions}
"""Every command by its name in the configuration."""

KEY_NAMES = {
    "question_mark": "?",
    "comma": ",",
    "equals_sign": "=",
    "delete": "Del",
    "space": "Space",
    "colon": ":",
    "full_stop": ".",
    "escape": "Esc",
    "tab": "Tab",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "shift+tab": "Shift+Tab",
}


def bindings(actions: Iterable[Action]) -> list[Binding]:
    made = [
        Binding(key, action.name, action.help, show=False, priority=key in ("tab", "shift+tab"))
        for action in actions
        for key in action.keys
    ]
    return list(Binding.make_bindings(made))


def key_name(key: str) -> str:
    """A key as it is written for people."""
    if key in KEY_NAMES:
        return KEY_NAMES[key]
    *modifiers, last = key.split("+")
    shown = {"ctrl": "^", "shift": "Shift+", "alt": "Alt+"}
    last = KEY_NAMES.get(last) or format_key(last)
    return "".join(shown.get(m, f"{m}+") for m in modifiers) + (last.upper() if len(last) > 1 or modifiers else last)
