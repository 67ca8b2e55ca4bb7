import { userInfo } from 'node:os'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showJson, showLine } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from './verb.ts'

/** Says where a tool stands from the next call on, in every process on the store. */
export function changeVerb(state: 'enabled' | 'paused' | 'deprecated'): ToolsVerb {
  return {
    async run(given, name = '') {
      const tenant = readText(given, 'tenant')
      const reason = readText(given, 'reason')
      const runtime = await wireRuntime(findPlaces(given), undefined)
      try {
        await runtime.setToolState(name, state, {
          by: userInfo().username,
          ...(tenant !== undefined && { tenant }),
          ...(reason !== undefined && { reason }),
          ...(given.options['removed'] === true && { removed: true }),
        })
      } finally {
        await runtime.close()
      }
      process.stdout.write(
        given.options['json'] === true
          ? `${showJson({ tool: name, state, ...(tenant !== undefined && { tenant }) })}\n`
          : `${showLine(name)} is ${state} for ${tenant === undefined ? 'all tenants' : `tenant "${tenant}"`}.\n`,
      )
      return exitCodes.ok
    },
  }
}
