import type { Presentation } from '../../contract/base/call.ts'
import type { Preflight } from '../../contract/runtime.ts'
import { callerOptions, presentationOption, jsonOption, readCaller, readText } from '../arguments/caller.ts'
import type { Command, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { aboutNames } from '../arguments/find-named.ts'
import { isFailure, toExplanationPage } from '../render/explanation-page.ts'
import { findSchema } from '../arguments/find-schema.ts'
import { readChoice } from '../terminal/read-choice.ts'
import { aboutValues, inputUsage, readInput, toInput } from '../arguments/read-input.ts'
import { writeJson, writeText } from '../base/show-safely.ts'
import { createFixedApprover } from '../terminal/terminal-approver.ts'
import { UsageError } from '../base/usage-error.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'

/** `handrail explain` */
export const explain: Command = {
  usage: `<tool> ${inputUsage} | --call <id>`,
  summary: 'Says what would happen to a call, or why a recorded one went as it did.',
  more: `Which rule decides, and what would decide without it; of a recorded call also whether it would be decided so now. Asks no person and touches nothing. ${aboutValues} ${aboutNames.call}`,
  options: {
    call: { takes: 'ID', about: 'The recorded call.' },
    key: { takes: 'KEY', about: 'The idempotency key that it would have.' },
    consent: { takes: 'ID', about: 'The standing consent that must answer.' },
    ...callerOptions,
    ...presentationOption,
    ...jsonOption,
  },
  examples: ['handrail explain code.write_file path=a.txt content=a', 'handrail explain --call last'],
  takes: Infinity,
  async run(given) {
    const call = readText(given, 'call')
    if (call === undefined) return explainNextCall(given)
    refuseBeside(given)
    const { explainPastCall } = await import('./explain/past-call.ts')
    return explainPastCall(given, call)
  },
}

async function explainNextCall(given: CommandLine): Promise<number> {
  const [tool, ...words] = given.positionals
  if (tool === undefined)
    throw new UsageError(`Name a tool, or a call with --call.\nUsage: handrail explain ${explain.usage}`)
  const typed = await readInput(words)
  const caller = readCaller(given)
  const presentation = readChoice<Presentation>(given, 'presentation', ['canonical', 'compatible'])
  const key = readText(given, 'key')
  const consent = readText(given, 'consent')
  // Preflight asks no person; with an approver in place it reports `ask` when a person would be asked.
  const runtime = await wireRuntime(findPlaces(given), createFixedApprover('deny'), { keep: false })
  try {
    const session = runtime.session(caller)
    const input = toInput(typed, () => findSchema(session, tool, presentation))
    const report = await session.preflight(tool, input, {
      ...(presentation !== undefined && { presentation }),
      ...(key !== undefined && { idempotencyKey: key }),
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

function exitCodeOf(report: Preflight): number {
  if (report.effect !== 'deny') return exitCodes.ok
  return isFailure(report) ? exitCodes.toolError : exitCodes.denied
}
