import type { Store } from '../../contract/store.ts'
import { findArtifacts } from '../../evidence/find-artifacts.ts'
import { readArtifactUri } from '../../kit/result/artifact-uri.ts'
import { chooseOne, shortestEnd, showName } from './find-named.ts'

/** What help says of naming one. */
export const aboutArtifacts =
  'An artifact is named by its digest, by the start or the end of that, by its URI, or as "last", the one that was left last.'

/** Artifacts that are looked through for one with such a digest. */
const most = 10_000

/** The digest of the artifact of these tenants that a person means. If no single one is meant, why not, in words. */
export function findArtifact(
  store: Store,
  { text, tenants }: { text: string; tenants: readonly string[] },
): { digest: string } | { issue: string } {
  const shown = showName(text)
  const missing = { issue: `the store has no artifact ${shown}. "handrail artifact list" shows the latest.` }
  if (text === 'last') return findArtifacts(store, { tenants, limit: 1 })[0] ?? missing
  const wanted = (readArtifactUri(text)?.digest ?? text).replace(/^sha256:/, '')
  if (wanted.length < shortestEnd) return missing
  const found = findArtifacts(store, { tenants, limit: most })
    .map(({ digest }) => digest)
    .filter((digest) => digest.startsWith(`sha256:${wanted}`) || digest.endsWith(wanted))
  const chosen = chooseOne(new Set(found), { what: 'artifact', shown, missing })
  return 'issue' in chosen ? chosen : { digest: chosen.id }
}
