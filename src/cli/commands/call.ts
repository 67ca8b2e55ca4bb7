import type { Presentation } from '../../contract/base/call.ts'
import type { Runtime, Session } from '../../contract/runtime.ts'
import { toWireResult } from '../../kit/result/to-wire-result.ts'
import { exitCodeOf, exitCodes } from '../base/exit-codes.ts'
import { callerOptions, presentationOption, jsonOption, readCaller, readText } from '../arguments/caller.ts'
import type { Command } from '../base/command.ts'
import { findSchema } from '../arguments/find-schema.ts'
import { followOutput } from '../setup/follow-output.ts'
import { printResult } from '../render/print-result.ts'
import { readChoice } from '../terminal/read-choice.ts'
import { aboutValues, inputUsage, readInput, takesStandardInput, toInput } from '../arguments/read-input.ts'
import { writeJson } from '../base/show-safely.ts'
import { listenForStop } from '../terminal/stop-signal.ts'
import { tellArtifacts } from '../render/tell-artifacts.ts'
import { openTerminal } from '../terminal/terminal.ts'
import { createFixedApprover, createTerminalApprover } from '../terminal/terminal-approver.ts'
import { createTerminalElicitation } from '../terminal/terminal-elicitation.ts'
import { UsageError } from '../base/usage-error.ts'
import { withCallRuntime } from '../ready/call-runtime.ts'
import { findPlaces } from '../setup/wire.ts'

/** `handrail call` */
export const call: Command = {
  usage: `<tool> ${inputUsage}`,
  summary: 'Makes one call.',
  more: `Asks at the terminal where a person must decide; without a terminal that is denied. "handrail tools show <tool>" names the fields. ${aboutValues}`,
  options: {
    approve: {
      takes: 'once|deny',
      about: 'Answers in place of a person. With deny, no standing consent answers either.',
    },
    key: { takes: 'KEY', about: 'An idempotency key: the same call with the same key is made once.' },
    consent: { takes: 'ID', about: 'The standing consent that must answer.' },
    ...callerOptions,
    ...presentationOption,
    ...jsonOption,
  },
  examples: [
    'handrail call code.read_file path=README.md max_lines=5',
    'handrail call code.run_command argv=git argv=status',
    `handrail call code.search '{"query": "TODO", "glob": "*.ts"}'`,
    'handrail call code.write_file @input.json --approve once',
    'make-notes | handrail call code.write_file path=notes.md content=@-',
    'make-input | handrail call code.edit_file -',
  ],
  needs: 'Name a tool. "handrail tools" lists them.',
  takes: Infinity,
  async run(given) {
    const [tool = '', ...words] = given.positionals
    const typed = await readInput(words)
    const word = readChoice(given, 'approve', ['once', 'deny'] as const)
    const caller = { ...readCaller(given), ...(word === 'deny' && { standingConsents: false }) }
    const presentation = readChoice<Presentation>(given, 'presentation', ['canonical', 'compatible'])
    const key = readText(given, 'key')
    const consent = readText(given, 'consent')
    if (word === 'deny' && consent !== undefined)
      throw new UsageError('"--approve deny" lets no consent answer: leave out --consent, or --approve.')

    const stop = listenForStop()
    const terminal = openTerminal(() => stop.stop(), { around: takesStandardInput(words) })
    // The session ends with the command, so a yes for the session is not offered.
    const approve =
      word === undefined
        ? terminal && createTerminalApprover(terminal, { asksForSession: false })
        : createFixedApprover(word)
    const elicit = terminal && createTerminalElicitation(terminal)
    const asking = { ...(approve !== undefined && { approve }), ...(elicit !== undefined && { elicit }) }
    const makeCall = async (runtime: Runtime): Promise<number> => {
      await runtime.settled()
      const session = runtime.session({ ...caller, ...asking })
      const json = given.options['json'] === true
      const output = json ? undefined : followOutput(session)
      const result = await session.call(
        tool,
        toInput(typed, () => findSchema(session, tool, presentation)),
        {
          signal: stop.signal,
          ...(key !== undefined && { idempotencyKey: key }),
          ...(consent !== undefined && { consent }),
          ...(presentation !== undefined && { presentation }),
        },
      )
      if (json) writeJson(toWireResult(result))
      else printResult(result, output?.shown() ?? '')
      if (!json) tellArtifacts(result, given)
      await endJobs(session)
      return result.ok ? exitCodes.ok : (stop.exitCode ?? exitCodeOf(result))
    }
    try {
      return await withCallRuntime(findPlaces(given), { tool, run: makeCall })
    } finally {
      stop.release()
    }
  },
}

/** Jobs last as long as their session, and this one ends here. */
async function endJobs(session: Session): Promise<void> {
  const ended = new Set<unknown>()
  session.on(({ type, data }) => {
    if (type === 'job_ended') ended.add(data?.['job'])
  })
  await session.close()
  for (const job of ended)
    process.stderr.write(
      `handrail: ${String(job)} ended with this command. Under "handrail serve" jobs last as long as the client's session.\n`,
    )
}
