import { examineSetup } from '../../library/examine-setup.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { showLine, writeJson } from '../show-safely.ts'
import { findPlaces, wireOptions } from '../wire.ts'

/** `handrail doctor` */
export const doctor: Command = {
  usage: '[--json]',
  summary:
    'Tells what holds on this machine, by trying it: the sandbox, its bounds, files and the programs that are needed.',
  options: { json: { type: 'boolean' } },
  takes: 0,
  async run(given) {
    const findings = await examineSetup(wireOptions(findPlaces(given)))
    const holds = findings.every((finding) => finding.holds || !finding.needed)
    if (given.options['json'] === true) writeJson({ holds, findings })
    else {
      for (const { id, detail, ...finding } of findings)
        process.stdout.write(
          `  ${finding.holds ? '✓' : finding.needed ? '✗' : '-'} ${id.padEnd(16)} ${showLine(detail)}\n`,
        )
      process.stdout.write(
        holds
          ? '\nEverything that the configuration asks for holds.\n'
          : '\nWhat is marked ✗ does not hold, and the configuration asks for it.\n',
      )
    }
    return holds ? exitCodes.ok : exitCodes.toolError
  },
}
