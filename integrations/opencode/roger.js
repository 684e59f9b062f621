// roger: hands mail from other agents to OpenCode, and wakes it when some comes.
// Made by `roger setup opencode`; taken out by `roger setup --remove opencode`.
import { spawn } from "node:child_process"

const ROGER = "roger"
const WORDS = ["opencode"] // the tool, and what names the agent
const HOOK_SECONDS = 10 // how long a turn waits for mail at most
const IDLE_SECONDS = 86400

export const Roger = async ({ client, directory }) => {
  const running = new Set()
  const end = () => running.forEach((hook) => hook.kill("SIGKILL"))
  process.on("exit", end)

  // For the person alone: why there is no mail.
  const tell = (message) => client.tui?.showToast({ body: { message, variant: "warning" } }).catch(() => {})

  // What `roger hook` says: a text for the model, or "" when there is no mail or no roger.
  const ask = (event, session, seconds) =>
    new Promise((answer) => {
      const hook = spawn(ROGER, ["hook", WORDS[0], event, ...WORDS.slice(1)], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
      })
      let said = ""
      const late = setTimeout(() => hook.kill("SIGKILL"), seconds * 1000)
      running.add(hook)
      hook.stdin.on("error", () => {})
      hook.stdin.end(JSON.stringify({ session_id: session, cwd: directory }))
      hook.stdout.on("data", (data) => (said += data))
      hook.on("error", () => answer(""))
      hook.on("close", () => {
        clearTimeout(late)
        running.delete(hook)
        try {
          const { additionalContext = "", systemMessage } = JSON.parse(said)
          if (systemMessage) tell(systemMessage)
          answer(additionalContext)
        } catch {
          answer("")
        }
      })
    })

  // A subagent's session has a parent; mail is for the agent itself.
  const isSubagent = async (session) => {
    const got = await client.session.get({ path: { id: session } }).catch(() => undefined)
    return Boolean(got?.data?.parentID)
  }

  // A part of its own, so that nobody takes it for the user's words.
  const part = (text) => ({ type: "text", text, synthetic: true })

  const forgetful = new Set() // sessions that do not know, or no longer, what was shown before
  const waiting = new Set()

  return {
    // The server is a part of this, so that nobody's settings need a change; one of that name there goes first.
    config: async (config) => {
      config.mcp = { roger: { type: "local", command: [ROGER, "mcp", "--for", ...WORDS], enabled: true }, ...config.mcp }
    },

    "chat.message": async (input, output) => {
      const session = input.sessionID
      const last = output.parts.at(-1)
      if (!last || (await isSubagent(session))) return
      const text = await ask(forgetful.delete(session) ? "session-start" : "prompt", session, HOOK_SECONDS)
      // Parts are kept in the order of their ids.
      if (text) output.parts.push({ id: last.id + "r", sessionID: session, messageID: last.messageID, ...part(text) })
    },

    event: async ({ event }) => {
      if (event.type === "session.created") forgetful.add(event.properties.info.id)
      if (event.type === "session.compacted") forgetful.add(event.properties.sessionID)
      if (event.type !== "session.idle") return
      const session = event.properties.sessionID
      if (waiting.has(session) || (await isSubagent(session))) return
      waiting.add(session)
      const text = await ask("idle", session, IDLE_SECONDS)
      waiting.delete(session)
      if (text) await client.session.promptAsync({ path: { id: session }, body: { parts: [part(text)] } })
    },

    dispose: async () => end(),
  }
}
