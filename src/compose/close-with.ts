import { SetupError } from '../contract/base/errors.ts'
import type { Runtime } from '../contract/runtime.ts'

interface Closing {
  close(): void
}

/** What is closed with each open runtime. */
const closings = new WeakMap<Runtime, Set<Closing>>()

/** Lets something be closed with a runtime from here on. Returns what closes it all, once. */
export function openClosings(runtime: Runtime): () => void {
  const own = new Set<Closing>()
  closings.set(runtime, own)
  return () => {
    closings.delete(runtime)
    for (const each of own) each.close()
    own.clear()
  }
}

/** Closes something with a runtime, unless it is closed before. Throws a SetupError if the runtime is closed. */
export function closeWith(runtime: Runtime, closing: Closing): Closing {
  const own = closings.get(runtime)
  if (own === undefined)
    throw new SetupError('closed', 'This runtime is closed, or createRuntime did not make it.')
  own.add(closing)
  return {
    close() {
      own.delete(closing)
      closing.close()
    },
  }
}
