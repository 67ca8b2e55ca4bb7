import type { Face } from '../../contract/call.ts'
import type { Preflight } from '../../contract/runtime.ts'
import { toOutcome } from '../../kit/to-outcome.ts'
import { callerOptions, callerUsage, readCaller, readText } from '../caller.ts'
import type { Command, CommandLine } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { toExplanationPage } from '../explanation-page.ts'
import { parseInput } from '../parse-input.ts'
import { readChoice } from '../read-choice.ts'
import { writeJson, writeText } from '../show-safely.ts'
import { createFixedApprover } from '../terminal-approver.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, wireRuntime } from '../wire.ts'

/** `handrail explain` */
export const explain: Command = {
  usage: `<tool> '<json input>' [--consent ID] ${callerUsage} [--face canonical|familiar] | --call <id> [--tenant T]   [--json]`,
  summary:
    'Says what would happen to a call and which rule decides, or why a recorded call was decided as it was and whether it would be now. Asks nobody and touches nothing.',
  options: {
    json: { type: 'boolean' },
    call: { type: 'string' },
    consent: { type: 'string' },
    ...callerOptions,
    face: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const call = readText(given, 'call')
    if (call === undefined) return explainNextCall(given)
    refuseBeside(given)
    const { explainPastCall } = await import('./explain/past-call.ts')
    return explainPastCall(given, call)
  },
}

async function explainNextCall(given: CommandLine): Promise<number> {
  const [tool, text] = given.positionals
  if (tool === undefined)
    throw new UsageError(`Name a tool, or a call with --call. Usage: handrail explain ${explain.usage}`)
  const input = await parseInput(text)
  const caller = readCaller(given)
  const face = readChoice<Face>(given, 'face', ['canonical', 'familiar'])
  const consent = readText(given, 'consent')
  // Preflight asks nobody; with an approver in place it says `ask` where a person would be asked.
  const runtime = await wireRuntime(findPlaces(given), createFixedApprover('deny'), { keep: false })
  try {
    const report = await runtime.session(caller).preflight(tool, input, {
      ...(face !== undefined && { face }),
      ...(consent !== undefined && { consent }),
    })
    if (given.options['json'] === true) writeJson(report)
    else writeText(process.stdout, toExplanationPage(report))
    return exitCodeOf(report)
  } finally {
    await runtime.close()
  }
}

/** A recorded call has its own tool, input and caller. */
function refuseBeside({ positionals, options }: CommandLine): void {
  const stray = Object.keys(options).find(
    (name) => !['call', 'tenant', 'json', 'home', 'project', 'help'].includes(name),
  )
  const beside = positionals.length > 0 ? 'tool' : stray === undefined ? undefined : `--${stray}`
  if (beside !== undefined)
    throw new UsageError(`"handrail explain --call" takes no ${beside}: the recorded call has its own.`)
}

function exitCodeOf({ effect, error }: Preflight): number {
  if (effect !== 'deny') return exitCodes.ok
  // Without an error nobody could be asked, and that denies.
  return error === undefined || toOutcome(error) === 'denied' ? exitCodes.denied : exitCodes.toolError
}
