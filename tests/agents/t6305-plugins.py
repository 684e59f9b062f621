#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""integrations/ as plugins and extensions: the tools' own commands find nothing wrong
with them and install them; then the server starts, mail is shown and answered.  They
hold the same hooks as `roger setup` writes."""
from lib import *

FOLDER = integrations()
PLUGIN = [["plugin", "marketplace", "add", str(FOLDER)]]

INSTALL = {
    Claude: [["plugin", "validate", str(FOLDER)], *PLUGIN, ["plugin", "install", "roger@roger"]],
    Codex: [*PLUGIN, ["plugin", "add", "roger@roger"]],
    Gemini: [
        ["extensions", "validate", str(FOLDER / "gemini")],
        ["extensions", "install", str(FOLDER / "gemini"), "--consent"],
    ],
}
HOOKS = {
    "plugin/hooks/hooks.json": ".claude/settings.local.json",
    "plugin/hooks/codex.json": ".codex/hooks.json",
    "gemini/hooks/hooks.json": ".gemini/settings.json",
}


def written(path):
    """What setup wrote, which names roger by its place."""
    return path.read_text().replace(str(place.bin / "roger"), "roger")


def hooks_of(text):
    return json.loads(text)["hooks"]


with Place() as place:
    place.roger("setup", "claude", "codex", "gemini", "opencode", "--yes")
    for ours, theirs in HOOKS.items():
        same = hooks_of((FOLDER / ours).read_text()) == hooks_of(written(place.work / theirs))
        ok(same, f"{ours} has the hooks that setup writes")
    plugin = (FOLDER / "opencode" / "roger.js").read_text()
    ok(plugin == written(place.work / ".opencode/plugin/roger.js"), "opencode/roger.js is what setup writes")

with Place() as place, Model([]) as model:
    judged = Claude(place, model, setup=False).run("plugin", "validate", "--json", str(FOLDER / "plugin"))
    found = [f["code"] for f in json.loads(judged.stdout)["directory"]["findings"]]
    valid = judged.returncode == 0 and found == ["ICON_MISSING"]
    ok(valid, "the plugin is valid but for an icon", judged.stdout[-3000:])

for tool_class, commands in INSTALL.items():
    name = tool_class.name
    with Place() as place, Model([Call("send", {"to": ["bob"], "content": "hello"}), "Sent."]) as model:
        tool = tool_class(place, model, setup=False)
        for words in commands:
            ended = tool.run(*words)
            well = ended is not None and ended.returncode == 0
            ok(well, f"{name} {' '.join(words[:2])}", ended and ended.stdout + ended.stderr)
        tool.permissions = ["--allowedTools", "mcp__plugin_roger_roger"] if name == "claude" else tool.permissions
        place.send(name, MARK % "plugin")
        turn = tool.turn("say hello to bob")
        ok(turn.is_well, f"{name}: a turn ends well", turn.story)
        ok(set(turn.counts(MARK % "plugin")) == {1}, f"{name}: mail is shown, once", turn.counts(MARK % "plugin"))
        ok(place.mail("bob") == [(name, "hello")], f"{name}: the model can send", place.mail("bob"), turn.story)
        place.end_leftovers()
done()
