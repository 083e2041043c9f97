"""Prints the accessibility tree of the application whose process id is given: one line a node, role and name. It waits up to
half a minute for the page's own nodes to be there."""
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

DEPTH = 60  # deeper than the page is


def lines(node, depth=0):
    if node is None or depth > DEPTH:
        return
    try:
        yield f"{node.get_role_name()}\t{node.get_name() or ''}"
        children = [node.get_child_at_index(i) for i in range(min(node.get_child_count(), 500))]
    except Exception:  # a node may go while it is looked at
        return
    for child in children:
        yield from lines(child, depth + 1)


def application(pid):
    desktop = Atspi.get_desktop(0)
    for i in range(desktop.get_child_count()):
        app = desktop.get_child_at_index(i)
        if app is not None and app.get_process_id() == pid:
            return app
    return None


end = time.monotonic() + 30
found = []
while time.monotonic() < end:
    app = application(int(sys.argv[1]))
    found = list(lines(app)) if app is not None else []
    if sum(line.startswith(("push button", "button")) for line in found) > 3:
        break
    time.sleep(0.3)
print("\n".join(found))
