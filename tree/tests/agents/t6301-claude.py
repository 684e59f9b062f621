#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""Claude Code, the real one, with a scripted model: it sends, it is shown its mail
at the next turn exactly once and not as the user's words, it goes on when roger
does not, and it is woken when it is idle."""
from lib import *


class Session(Terminal):
    def is_idle(self):
        return is_asleep(self.tool.place)


def test_subagent():
    """Mail is not swallowed by a subagent, whose hooks run, too."""
    with Place() as place, Model([]) as model:
        tool = Claude(place, model)
        (place.work / "letter").write_text(MARK % "sub")
        send = f"{ROGER} send claude --file letter --as bob"
        model.script = [
            Call("Agent", {"description": "x", "prompt": "subtask", "subagent_type": "general-purpose"}),
            Call("Bash", {"command": send, "description": "x"}),
            Call("Bash", {"command": "true", "description": "x"}),
        ]
        turn = tool.turn("give it to a subagent")
        ok(turn.is_well, "a turn with a subagent ends well", turn.story)
        own = [r for r in turn.requests if "give it to a subagent" in r.text]
        others = [r for r in turn.requests if r not in own]
        ok(bool(others), "there was a subagent", turn.counts("subtask"))
        shown = [r.text[-500:] for r in others if MARK % "sub" in r.text]
        ok(not shown, "it is not shown the agent's mail", shown)
        ok(bool(own) and own[-1].text.count(MARK % "sub") == 1, "the agent is, once", own[-1].text[-900:])
        place.end_leftovers()

test_send(Claude)
test_scopes(Claude)
test_mail(Claude)
test_inbox(Claude)
test_between_tools(Claude, lambda command: Call("Bash", {"command": command, "description": "work"}))
test_subagent()
test_trouble(Claude)
with Place() as place_, Model([]) as model_:
    tool_ = Claude(place_, model_)
    test_wake(tool_, lambda prompt: Session(tool_, prompt))
done()
