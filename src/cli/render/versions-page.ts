import type { PolicyVersion } from '../../config/policy-file/policy-book.ts'
import { countOf } from './count-of.ts'

/** The versions of the policy file, a line for each. */
export function toVersionsPage(versions: readonly PolicyVersion[]): string {
  const lines = versions.map(
    ({ version, at, by, reason, digest }) =>
      `${String(version).padStart(4)}  ${new Date(at).toISOString()}  ${digest.slice(7, 19)}  ${by ?? 'found in the file'}${reason === undefined ? '' : `: ${reason}`}`,
  )
  return `${[...lines, countOf(versions.length, 'version')].join('\n')}\n`
}
