import { SetupError } from '../../contract/base/errors.ts'
import { examineSetup } from '../../compose/examine-setup.ts'
import type { Finding } from '../../sandboxes/doctor/finding.ts'
import { jsonOption } from '../arguments/caller.ts'
import type { Command } from '../base/command.ts'
import { examineHome } from '../setup/examine-home.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { paintMark } from '../terminal/paint.ts'
import { showLine, writeJson } from '../base/show-safely.ts'
import { tellOnce } from '../terminal/tell-once.ts'
import { findPlaces, wireOptions, type Places } from '../setup/wire.ts'
import { pageWidth, wrap } from '../base/wrap.ts'

/** `handrail doctor` */
export const doctor: Command = {
  usage: '',
  summary: 'Tells what holds on this machine, by trying it, and what calls would fail on.',
  more: 'Your configuration, home, store, keys, tools and servers; the space, the clock, the programs that are needed, and everything that the sandbox promises. Nothing is changed.',
  options: jsonOption,
  examples: ['handrail doctor', 'handrail doctor --json'],
  takes: 0,
  async run(given) {
    const places = findPlaces(given)
    const findings = [...(await examineHome(places)), ...(await examineMachine(places))]
    const holds = findings.every((finding) => finding.holds || !finding.needed)
    if (given.options['json'] === true) writeJson({ holds, findings })
    else print(findings, holds)
    return holds ? exitCodes.ok : exitCodes.toolError
  },
}

/** By the configuration of the person, or, where that cannot be used, as without one. */
function examineMachine(places: Places): Promise<readonly Finding[]> {
  try {
    return examineSetup(wireOptions(places))
  } catch (error) {
    if (!(error instanceof SetupError) || error.code !== 'invalid_configuration') throw error
    return examineSetup({ project: places.project })
  }
}

function print(findings: readonly Finding[], holds: boolean): void {
  const width = process.stdout.isTTY ? pageWidth(process.stdout) : Number.POSITIVE_INFINITY
  for (const { id, detail, ...finding } of tellOnce(findings)) {
    const mark = finding.holds ? '✓' : finding.needed ? '✗' : '-'
    const lines = wrap(`  ${mark} ${id.padEnd(16)} ${showLine(detail)}`, width, ' '.repeat(21))
    process.stdout.write(`${paintMark(lines.join('\n'))}\n`)
  }
  process.stdout.write(
    holds
      ? '\nEverything that the configuration asks for holds.\n'
      : '\nWhat is marked ✗ does not hold, and the configuration asks for it.\n',
  )
}
