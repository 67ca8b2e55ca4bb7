import { readlinkSync, statSync } from 'node:fs'
import { SetupError, ToolFailure } from '../../../contract/base/errors.ts'
import type { OpenLauncher } from './open-launcher.ts'
import { startDirectly } from './start-directly.ts'
import type { Start } from './started.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** What starts the programs of one runtime. Close it, after them. */
export interface Launcher {
  readonly start: Start
  close(): Promise<void>
}

/**
 * Starts programs without standing still, however large this process is: on Linux through a small process of its own, which starts with the
 * first program, is replaced where it ends, and ends with this. Elsewhere starting a program does not cost more in a large process.
 */
export function createLauncher(): Launcher {
  if (!canBeSeen()) return { start: startDirectly, close: () => Promise.resolve() }
  let open: Promise<OpenLauncher> | undefined
  let closed = false
  return {
    async start(request) {
      if (closed) throw new SetupError('closed', 'This launcher is closed. Start programs before.')
      open ??= begin(() => (open = undefined))
      return (await open).start(request)
    },
    async close() {
      closed = true
      await (await open)?.close()
    },
  }
}

async function begin(onLost: () => void): Promise<OpenLauncher> {
  try {
    const { openLauncher } = await import('./open-launcher.ts')
    return await openLauncher(onLost)
  } catch (error) {
    onLost()
    throw notSetUp(error)
  }
}

function notSetUp(error: unknown): ToolFailure {
  const why = messageOf(error)
  const remedy = /^EMFILE|^ENFILE| E[MN]FILE/.test(why)
    ? 'Try again later, or raise the limit of open files ("ulimit -n") for Handrail.'
    : 'It needs a folder for temporary files (TMPDIR) that Handrail may write to.'
  return new ToolFailure({
    code: 'SANDBOX.UNAVAILABLE',
    reason: 'no_backend',
    message: `The process that starts programs could not be set up: ${why}. ${remedy}`,
  })
}

/** Whether another process of the same user finds what this one holds, at `/proc/<its id>/fd`. */
function canBeSeen(): boolean {
  if (process.platform !== 'linux') return false
  try {
    return (
      readlinkSync('/proc/self') === String(process.pid) && statSync('/proc/self').uid === process.geteuid?.()
    )
  } catch {
    return false
  }
}
