import type { CommandHook, Hook, PreToolUseAnswer, PreToolUseEvent } from '../contract/hook.ts'
import type { ToolResult } from '../contract/base/result.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'

/** Runs a program of the operator and returns what it printed. */
export type ProgramRunner = (program: {
  argv: readonly string[]
  stdin: string
  timeoutMs: number
  signal: AbortSignal
}) => Promise<{ exitCode: number | null; stdout: string; stderr: string; timedOut: boolean }>

/**
 * A hook that is a program: it gets the event as one JSON object on stdin, and a PreToolUse one prints one JSON object with
 * `decision`. A non-zero exit, other output or a time-out counts as a failure, and that denies.
 */
export function toHook(command: CommandHook, run: ProgramRunner): Hook {
  const name = command.command.join(' ')
  const timeoutMs = command.timeoutMs ?? 30_000
  const matcher = {
    name,
    timeoutMs,
    ...(command.tools !== undefined && { tools: command.tools }),
    ...(command.tags !== undefined && { tags: command.tags }),
  }
  const start = (stdin: string, signal: AbortSignal) =>
    run({ argv: command.command, stdin, timeoutMs, signal })
  if (command.on === 'PreToolUse') {
    return {
      ...matcher,
      before: async (event, signal) => readAnswer(await start(toInput('PreToolUse', event), signal)),
    }
  }
  return {
    ...matcher,
    async after(event, signal) {
      const ended = await start(toInput('PostToolUse', event, event.result), signal)
      if (ended.exitCode !== 0) throw new Error(describeFailure(ended))
    },
  }
}

/** The event as programs see it, with snake_case names. */
function toInput(on: CommandHook['on'], event: PreToolUseEvent, result?: ToolResult): string {
  return JSON.stringify({
    hook_event_name: on,
    call_id: event.callId,
    tool_name: event.tool,
    permission: event.permission,
    tags: event.tags,
    tool_input: event.input,
    principal: event.principal,
    session_id: event.session,
    cwd: event.project,
    ...(on === 'PreToolUse' && { preflight: event.preflight }),
    ...(result !== undefined && {
      tool_result: {
        ok: result.ok,
        outcome: result.outcome,
        summary: result.summary,
        error: result.error ?? null,
      },
    }),
  })
}

function readAnswer(ended: Awaited<ReturnType<ProgramRunner>>): PreToolUseAnswer {
  if (ended.exitCode !== 0) throw new Error(describeFailure(ended))
  let answer: unknown
  try {
    answer = JSON.parse(ended.stdout)
  } catch {
    throw new Error(`it printed something that is not JSON: ${ended.stdout.slice(0, 200)}`)
  }
  if (!isPlainObject(answer)) throw new Error('it printed JSON that is not an object')
  const { decision, reason, notes } = answer
  if (decision === 'deny') return typeof reason === 'string' ? { decision, reason } : { decision }
  if (decision !== 'allow') throw new Error('it printed an object without "decision": "allow" or "deny"')
  return Array.isArray(notes)
    ? { decision, notes: notes.filter((note) => typeof note === 'string') }
    : { decision }
}

function describeFailure(ended: Awaited<ReturnType<ProgramRunner>>): string {
  if (ended.timedOut) return 'it did not end in time'
  const stderr = ended.stderr.trim().slice(0, 500)
  return `it ended with exit code ${ended.exitCode}${stderr === '' ? '' : `: ${stderr}`}`
}
