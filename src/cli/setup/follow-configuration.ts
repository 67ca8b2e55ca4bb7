import { rememberStart } from '../../config/last-start.ts'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { watchConfiguration } from '../../config/watch-configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { PolicyChange, Runtime } from '../../contract/runtime.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { showSafely } from '../base/show-safely.ts'
import type { Places } from './wire.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/**
 * Lets a living runtime take over what the person or the project changes in their files, and says so on stderr. Call this
 * before the runtime is made, so that no change is lost, and close what `follow` returns.
 */
export function startFollowing(places: Places): {
  /** `afterwards` is called after each change that was taken over. */
  follow(runtime: Runtime, afterwards?: () => Promise<void>): { close(): void }
} {
  const checker = createSchemaChecker()
  const current = loadConfiguration(places, checker)
  return {
    follow: (runtime, afterwards) =>
      watchConfiguration({
        places,
        checker,
        current,
        async onChange({ loaded, change, waiting }) {
          for (const notice of loaded.notices) say(notice)
          await reload(runtime, { ...change, sensitivePaths: [...change.sensitivePaths, places.home] })
          rememberStart(places.home, loaded.said)
          await afterwards?.()
          say(`version ${runtime.policyVersion} of the policy is in force, from the next call on`)
          if (waiting.length > 0) say(`${waiting.join(', ')} of config.json wait for the next start`)
        },
        onError: (error) => say(describe(error)),
      }),
  }
}

/** An issue of the files themselves says already what stays in force. */
async function reload(runtime: Runtime, change: PolicyChange): Promise<void> {
  try {
    await runtime.reload(change)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    throw new Error(`The new policy cannot be used, and the one before stays in force: ${error.message}`, {
      cause: error,
    })
  }
}

function describe(error: unknown): string {
  return messageOf(error)
}

function say(message: string): void {
  process.stderr.write(`handrail: ${showSafely(message)}\n`)
}
