import { UsageError } from '../../usage-error.ts'
import type { PolicyVerb } from './verb.ts'

/** `handrail policy import` */
export const importVerb: PolicyVerb = {
  usage: '<settings.json> [--write]',
  async run(_given, path) {
    if (path === undefined) throw new UsageError(`Name a file: handrail policy import ${importVerb.usage}`)
    return 0
  },
}
