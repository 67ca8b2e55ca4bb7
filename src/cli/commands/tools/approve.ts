import { userInfo } from 'node:os'
import type { Runtime } from '../../../contract/runtime.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { toApproval, toPendingPage } from '../../render/pending-page.ts'
import { showLine, writeJson } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from './verb.ts'

/** Lists the definitions that changed at their source; with a name, lets that one be used. */
export const approveVerb: ToolsVerb = {
  async run(given, name) {
    const runtime = await wireRuntime(findPlaces(given), undefined)
    try {
      return name === undefined ? list(runtime, given) : await approve(runtime, given, name)
    } finally {
      await runtime.close()
    }
  },
}

function list(runtime: Runtime, given: CommandLine): number {
  const tenant = readText(given, 'tenant')
  const held = runtime.registry.pending().filter((each) => tenant === undefined || each.tenant === tenant)
  if (given.options['json'] === true) writeJson(held)
  else {
    const count = held.length === 1 ? '1 definition waits' : `${held.length} definitions wait`
    const pages = held.map((each) => `${toPendingPage(each)}\n${toApproval(each)}\n`)
    process.stdout.write(`${[...pages, count].join('\n')}\n`)
  }
  return exitCodes.ok
}

async function approve(runtime: Runtime, given: CommandLine, name: string): Promise<number> {
  const tenant = readText(given, 'tenant')
  const held = runtime.registry.pending().find((each) => each.tool === name && each.tenant === tenant)
  const digest = readText(given, 'digest') ?? held?.digest ?? ''
  await runtime.approveDefinition(name, {
    digest,
    by: userInfo().username,
    ...(tenant !== undefined && { tenant }),
  })
  if (given.options['json'] === true) writeJson(held)
  else if (held !== undefined)
    process.stdout.write(`${toPendingPage(held)}\n${showLine(name)} may be used as it is now.\n`)
  return exitCodes.ok
}
