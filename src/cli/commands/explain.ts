import type { Face } from '../../contract/call.ts'
import { modes, roles } from '../../contract/principal.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Command } from '../command.ts'
import { toExplanationPage } from '../explanation-page.ts'
import { parseInput } from '../parse-input.ts'
import { readChoice } from '../read-choice.ts'
import { writeText } from '../show-safely.ts'
import { createFixedApprover } from '../terminal-approver.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, wireRuntime } from '../wire.ts'

/** `handrail explain` */
export const explain: Command = {
  usage: "<tool> '<json input>' [--json] [--role R] [--mode M] [--face canonical|familiar]",
  summary: 'Says what would happen to a call and which rule decides. Asks nobody and touches nothing.',
  options: {
    json: { type: 'boolean' },
    role: { type: 'string' },
    mode: { type: 'string' },
    face: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [tool, text] = given.positionals
    if (tool === undefined) throw new UsageError(`Name a tool. Usage: handrail explain ${explain.usage}`)
    const input = await parseInput(text)
    const role = readChoice(given, 'role', roles)
    const mode = readChoice(given, 'mode', modes)
    const face = readChoice<Face>(given, 'face', ['canonical', 'familiar'])
    // Preflight asks nobody; with an approver in place it says `ask` where a person would be asked.
    const runtime = await wireRuntime(findPlaces(given), createFixedApprover('deny'), { keep: false })
    try {
      const session = runtime.session({
        ...(role !== undefined && { role }),
        ...(mode !== undefined && { mode }),
      })
      const report = await session.preflight(tool, input, face === undefined ? {} : { face })
      if (given.options['json'] === true) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
      else writeText(process.stdout, toExplanationPage(report))
      return report.effect === 'deny'
        ? report.error?.code.startsWith('SCHEMA.') === true
          ? exitCodes.toolError
          : exitCodes.denied
        : exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}
