import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { NoteRecord } from '../../contract/evidence.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Runtime, SessionOptions } from '../../contract/runtime.ts'
import { decideCall, endCall, endSession } from '../../compose/agents/decide-call.ts'
import { mapCall } from '../../compose/agents/map-call.ts'
import type { HookMessage, Verdict } from '../../compose/agents/native-agent.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { withinTime } from '../../kit/time/within-time.ts'
import { readCaller, readText } from '../arguments/caller.ts'
import type { CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine } from '../base/show-safely.ts'
import { findPlaces, readEnvironment, type Places } from '../setup/wire.ts'
import type { HookAgent } from './base/agent.ts'
import { readMessage } from './read-message.ts'
import { withOwnRuntime, type WithRuntime } from './with-own-runtime.ts'

/** The agent waits half a minute: after so long it gets an answer all the same. */
const longestMs = 20_000

/** What a hook reads and where it writes. */
export interface HookRun {
  readonly given: CommandLine
  readonly input: AsyncIterable<Uint8Array>
  /** The folder that the agent started the hook in. */
  readonly cwd: string
  env(name: string): string | undefined
  /** Takes what the agent reads. */
  print(text: string): void
  /** Takes what the person reads. */
  tell(text: string): void
  readonly withRuntime: WithRuntime
}

/** The hook as a process of its own. */
export function runHook(agent: HookAgent, given: CommandLine): Promise<number> {
  return answerHook(agent, {
    given,
    input: process.stdin,
    cwd: process.cwd(),
    env: readEnvironment,
    print: (text) => process.stdout.write(text),
    tell: (text) => process.stderr.write(text),
    withRuntime: withOwnRuntime,
  })
}

/**
 * Answers one message of an agent. Whatever goes wrong before a tool is a denial in the agent's own words, or with `--fail-open` no opinion, which
 * evidence tells of.
 */
export async function answerHook(agent: HookAgent, run: HookRun): Promise<number> {
  const raw = await readMessage(run.input)
  const message = typeof raw === 'string' ? raw : agent.read(raw, readText(run.given, 'event'))
  if (typeof message === 'string')
    return answer(agent, run, await refuse(agent, run, { why: `its message cannot be used: ${message}` }))
  if (message.kind === 'other') return print(run, {})
  try {
    const verdict = await withinTime(longestMs, () => handle(agent, message, { run, raw }))
    return message.kind === 'before' ? answer(agent, run, verdict) : print(run, {})
  } catch (cause) {
    const why = messageOf(cause)
    if (message.kind === 'before') return answer(agent, run, await refuse(agent, run, { why, message }))
    tell(run, `${agent.title} was not followed: ${why}`)
    print(run, {})
    return exitCodes.toolError
  }
}

const noOpinion: Verdict = { effect: 'none', reason: '' }

interface Handling {
  readonly run: HookRun
  readonly raw: JsonObject | string
}

async function handle(
  agent: HookAgent,
  message: Exclude<HookMessage, { kind: 'other' }>,
  { run, raw }: Handling,
): Promise<Verdict> {
  const { given } = run
  const places = findAgentPlaces(agent, message, { run, raw })
  const decided = message.kind === 'before' ? mapCall(agent, message, baseOf(message, places)) : undefined
  return run.withRuntime(places, (runtime) => follow(agent, message, { runtime, given, decided }))
}

async function follow(
  agent: HookAgent,
  message: Exclude<HookMessage, { kind: 'other' }>,
  about: { runtime: Runtime; given: CommandLine; decided: ReturnType<typeof mapCall> | undefined },
): Promise<Verdict> {
  const { runtime, given, decided } = about
  const session = runtime.session(toSessionOptions(agent, message.session, given))
  try {
    if (message.kind === 'before' && decided !== undefined)
      return await decideCall(agent, message, { runtime, session, decided })
    if (message.kind === 'over') await endSession(session)
    else if (message.kind === 'after') {
      const { outcome, response } = message
      await endCall(message, { outcome, response }, { runtime, session })
    }
    return noOpinion
  } finally {
    await session.close()
  }
}

function toSessionOptions({ name }: HookAgent, session: string, given: CommandLine): SessionOptions {
  return {
    ...readCaller(given),
    agent: { agentId: name, runId: session },
    observes: { agent: name, session },
  }
}

/** The project that is named, that of the agent, or the folder that it works in. */
function findAgentPlaces(agent: HookAgent, message: HookMessage, { run, raw }: Handling): Places {
  const { given, cwd } = run
  const from = (project: string): Places => findPlaces({ ...given, options: { ...given.options, project } })
  const named = given.options['project'] ?? run.env('HANDRAIL_PROJECT')
  if (typeof named === 'string') return from(resolve(cwd, named))
  const roots = typeof raw === 'string' ? undefined : raw['workspace_roots']
  if (agent.startsInProject === true) return from(cwd)
  const candidates = [
    agent.projectVariable === undefined ? undefined : run.env(agent.projectVariable),
    Array.isArray(roots) ? roots[0] : undefined,
    'cwd' in message ? message.cwd : undefined,
    typeof raw === 'string' ? undefined : raw['cwd'],
  ]
  const project = candidates.find((path) => typeof path === 'string' && isAbsolute(path) && existsSync(path))
  return from(typeof project === 'string' ? project : cwd)
}

function baseOf(message: HookMessage, { project }: Places): string {
  const cwd = 'cwd' in message ? message.cwd : undefined
  return cwd !== undefined && isAbsolute(cwd) ? cwd : project
}

/** Nothing could be decided. */
async function refuse(
  agent: HookAgent,
  run: HookRun,
  { why, message }: { why: string; message?: HookMessage },
): Promise<Verdict> {
  const { given } = run
  const shown = shorten(showControlsInLine(createRedactor([]).text(why)), 1_000)
  if (given.options['fail-open'] !== true)
    return { effect: 'deny', reason: `Handrail could not decide about this call, so it is denied: ${shown}` }
  tell(run, `could not decide about a call of ${agent.title}, and lets it go on (--fail-open): ${shown}`)
  await noteFailure(agent, given, { shown, message }).catch((cause: unknown) =>
    tell(run, `that could not be recorded: ${messageOf(cause)}`),
  )
  return noOpinion
}

async function noteFailure(
  { name }: HookAgent,
  given: CommandLine,
  { shown, message }: { shown: string; message: HookMessage | undefined },
): Promise<void> {
  const { withEvidence } = await import('../commands/evidence/open-evidence.ts')
  const { tenant = 'local', actor = 'user' } = readCaller(given)
  const tool = message !== undefined && 'tool' in message ? createRedactor([]).text(message.tool) : undefined
  const note: NoteRecord = {
    kind: 'note',
    event: 'hook_failed_open',
    tenant,
    session: '',
    at: Date.now(),
    message: shown,
    actor,
    ...(tool !== undefined && { tool }),
    data: { agent: name },
  }
  const write = async ({ store }: { store: Runtime['store'] }): Promise<number> => {
    await store.append([{ record: note, body: null }])
    return exitCodes.ok
  }
  await withEvidence(findPlaces(given), write, { recovers: false, makes: true, warns: false })
}

function answer(agent: HookAgent, run: HookRun, verdict: Verdict): number {
  return print(run, agent.answer({ ...verdict, reason: `Handrail: ${showControlsInLine(verdict.reason)}` }))
}

function print(run: HookRun, said: JsonObject | undefined): number {
  if (said !== undefined) run.print(`${JSON.stringify(said)}\n`)
  return exitCodes.ok
}

function tell(run: HookRun, text: string): void {
  run.tell(`handrail: ${showLine(text)}\n`)
}
