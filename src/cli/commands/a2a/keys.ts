import { callKeysPath } from '../../setup/open-domains.ts'
import { openCallKeys } from '../../../config/call-keys.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { writeJson } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { findPlaces, makeHome } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** Shows the public keys of calls to other domains as a JWK set, after a change if one is wanted. */
export const keysVerb: ToolsVerb = {
  async run(given) {
    const places = findPlaces(given)
    const [use, remove] = [readText(given, 'use'), readText(given, 'remove')]
    const add = given.options['add'] === true
    if ([add, use !== undefined, remove !== undefined].filter(Boolean).length > 1)
      throw new UsageError('Give one of --add, --use and --remove.')
    makeHome(places.home)
    const keys = openCallKeys(callKeysPath(places))
    if (add) keys.add()
    if (use !== undefined) keys.use(use)
    if (remove !== undefined) keys.remove(remove)
    writeJson({ keys: keys.published() })
    return exitCodes.ok
  },
}
