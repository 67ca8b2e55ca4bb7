import { loadConfiguration } from '../config/load-configuration.ts'
import { watchConfiguration } from '../config/watch-configuration.ts'
import type { Runtime } from '../contract/runtime.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { showSafely } from './show-safely.ts'
import type { Places } from './wire.ts'

/**
 * Lets a living runtime take over what the person or the project changes in their files, and says so on stderr. Call this
 * before the runtime is made, so that no change is lost, and close what `follow` gives.
 */
export function startFollowing(places: Places): { follow(runtime: Runtime): { close(): void } } {
  const checker = createSchemaChecker()
  const current = loadConfiguration(places, checker)
  return {
    follow: (runtime) =>
      watchConfiguration({
        places,
        checker,
        current,
        async onChange({ loaded, change, waiting }) {
          for (const notice of loaded.notices) say(notice)
          await runtime.reload({ ...change, sensitivePaths: [...change.sensitivePaths, places.home] })
          say(`version ${runtime.policyVersion} of the policy is in force, from the next call on`)
          if (waiting.length > 0) say(`${waiting.join(', ')} of config.json wait for the next start`)
        },
        onFault: (error) => say(error instanceof Error ? error.message : String(error)),
      }),
  }
}

function say(message: string): void {
  process.stderr.write(`handrail: ${showSafely(message)}\n`)
}
