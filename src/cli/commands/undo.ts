import type { ApprovalRequest, Approver } from '../../contract/approval.ts'
import type { Preview } from '../../contract/tool/plan.ts'
import type { Preflight, Runtime } from '../../contract/runtime.ts'
import { toWireResult } from '../../kit/result/to-wire-result.ts'
import { callerOptions, jsonOption, readCaller, readText } from '../arguments/caller.ts'
import { findNamed } from '../arguments/find-named.ts'
import { readDuration } from '../arguments/read-duration.ts'
import type { Command, CommandLine } from '../base/command.ts'
import { exitCodeOf, exitCodes } from '../base/exit-codes.ts'
import { showLine, showSafely, writeJson } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { printResult } from '../render/print-result.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'
import { askYesOrNo } from '../terminal/ask-for-choice.ts'
import { paintDiff } from '../terminal/paint.ts'
import { listenForStop } from '../terminal/stop-signal.ts'
import { openTerminal, type Terminal } from '../terminal/terminal.ts'

/** `handrail undo` */
export const undo: Command = {
  usage: '[<call>]',
  summary: 'Takes back what calls changed of files.',
  more: 'Shows what would change, and asks. All of it or nothing: it is refused if a file is not as the call left it. A call is named by its id, by how that ends, or as "last"; "handrail evidence list" shows them. An undo is a call too, so it can be taken back by its id.',
  options: {
    session: { takes: 'ID', about: 'Takes back all that a session did, the last call first.' },
    since: { takes: 'TIME', about: 'Takes back all calls in this project since then, such as 10m or 2h.' },
    yes: { about: 'Does not ask.' },
    ...callerOptions,
    ...jsonOption,
  },
  examples: ['handrail undo last', 'handrail undo --since 10m', 'handrail undo --session ses_1k2m3n'],
  takes: 1,
  async run(given) {
    const stop = listenForStop()
    const terminal = openTerminal(() => stop.stop())
    const runtime = await wireRuntime(findPlaces(given), undefined, { operator: true })
    try {
      const found = await findCalls(runtime, given)
      if ('issue' in found) {
        process.stderr.write(`handrail: ${showLine(found.issue)}\n`)
        return exitCodes.toolError
      }
      return await takeBack(runtime, { ...found, given, terminal, signal: stop.signal })
    } finally {
      await runtime.close()
      stop.release()
    }
  },
}

interface Found {
  readonly tenant: string
  readonly calls: readonly string[]
}

/** The calls that the person means, and whose they are. */
async function findCalls(runtime: Runtime, given: CommandLine): Promise<Found | { issue: string }> {
  const [call] = given.positionals
  const [session, tenant] = [readText(given, 'session'), readText(given, 'tenant')]
  const sinceMs = readDuration(given, 'since')
  if ([call, session, sinceMs].filter((each) => each !== undefined).length !== 1)
    throw new UsageError('Name one call, or "last"; or say --session ID, or --since TIME.')
  if (call !== undefined && call !== 'last') return findOf(runtime, { what: 'call', text: call, tenant })
  if (session !== undefined) {
    const found = findOf(runtime, { what: 'session', text: session, tenant })
    if ('issue' in found) return found
    const [id = ''] = found.calls
    return orNothing(found.tenant, await runtime.undoable({ tenant: found.tenant, session: id }))
  }
  const here = (await runtime.undoable(tenant === undefined ? {} : { tenant })).filter(
    ({ project }) => project === runtime.project,
  )
  const chosen =
    sinceMs === undefined ? here.slice(0, 1) : here.filter(({ at }) => at >= Date.now() - sinceMs)
  return orNothing(tenant ?? 'local', chosen)
}

function orNothing(tenant: string, calls: readonly { call: string }[]): Found | { issue: string } {
  if (calls.length > 0) return { tenant, calls: calls.map(({ call }) => call) }
  return { issue: 'no such call changed files, or they cannot be taken back any more. Nothing was done.' }
}

function findOf(
  { store }: Runtime,
  { what, text, tenant }: { what: 'call' | 'session'; text: string; tenant: string | undefined },
): Found | { issue: string } {
  const tenants = tenant === undefined ? store.tenants() : [tenant]
  const found = findNamed(store, { what, text, tenants })
  if ('issue' in found) return found
  const whose = tenants.find(
    (each) => store.records({ tenant: each, [what]: found.id, limit: 1 }).next().done === false,
  )
  return { tenant: whose ?? 'local', calls: [found.id] }
}

interface Taking extends Found {
  readonly given: CommandLine
  readonly terminal: Terminal | undefined
  readonly signal: AbortSignal
}

async function takeBack(
  runtime: Runtime,
  { tenant, calls, given, terminal, signal }: Taking,
): Promise<number> {
  const session = runtime.session({ ...readCaller(given), tenant, standingConsents: false })
  const input = { calls: [...calls] }
  const planned = await session.preflight('code.undo', input, { approve: sayYesTo(undefined) })
  const isJson = given.options['json'] === true
  if (planned.effect === 'deny') return refuse(planned)
  if (!isJson || given.options['yes'] !== true) show(planned)
  if (!(await isMeant(given, { terminal, signal }))) return exitCodes.denied
  const result = await session.call('code.undo', input, { signal, approve: sayYesTo(planned.preview) })
  if (isJson) writeJson(toWireResult(result))
  else printResult(result, '')
  return exitCodeOf(result)
}

/** What is not shown is not done. */
function refuse({ error }: Preflight): number {
  const { code, reason, message } = error ?? { code: 'POLICY.DENY_TOOL', reason: 'rule_denied', message: '' }
  process.stderr.write(`${showSafely(`${code} (${reason}): ${message}`)}\n`)
  return /^(?:POLICY|AUTH)\./.test(code) ? exitCodes.denied : exitCodes.toolError
}

function show({ preview }: Preflight): void {
  if (preview === undefined) return
  const lines = [preview.title, ...preview.body.split('\n').map((line) => `  | ${line}`), '']
  process.stderr.write(lines.map(showLine).map(paintDiff).join('\n'))
}

async function isMeant(
  given: CommandLine,
  { terminal, signal }: Pick<Taking, 'terminal' | 'signal'>,
): Promise<boolean> {
  if (given.options['yes'] === true) return true
  if (terminal === undefined)
    throw new UsageError('There is no terminal to ask at, so nothing was done. Add --yes to take it back.')
  return terminal.talk(signal, (person) => askYesOrNo(person, 'Take it back? yes / no: '))
}

/** What the person saw is what they said yes to. */
function sayYesTo(seen: Preview | undefined): Approver {
  const isSame = ({ preview }: ApprovalRequest) => preview.title === seen?.title && preview.body === seen.body
  return async (request) => ({
    decision: isSame(request) ? 'allow_once' : 'deny',
    metadata: { by: 'command line' },
  })
}
