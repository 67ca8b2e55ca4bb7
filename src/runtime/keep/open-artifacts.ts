import type { Artifacts, NamedArtifact } from '../../contract/services/artifacts.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { EndRecord } from '../../contract/evidence.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { Artifact } from '../../contract/base/result.ts'
import type { Store } from '../../contract/store.ts'
import { decodeResult } from '../../kit/result/encode-result.ts'
import type { CallScope } from '../state/scope.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** The artifacts that a call of this session may read. Who gave which is what the evidence says. */
export function openArtifacts({ tenant, session: { principal } }: CallScope): Artifacts {
  return {
    async read(named, part) {
      const given = findGiven(named, principal, tenant.store)
      const read = given && (await tenant.artifacts.read(named.digest, part))
      if (given === undefined || read === undefined) throw unknown(named)
      const { mimeType, name } = given
      return { ...read, mimeType, ...(name !== undefined && { name }) }
    },
  }
}

type About = Pick<Artifact, 'mimeType' | 'name'>

/** What the records of its call say of an artifact; undefined if the call is another's, or did not give it. */
function findGiven({ call, digest }: NamedArtifact, principal: Principal, store: Store): About | undefined {
  const { tenant, actor, role } = principal
  let isOwn = false
  let found: About | undefined
  for (const { text, body } of store.records({ tenant, call })) {
    const record = readRecord(text)
    if (record.kind === 'begin') isOwn = record.actor === actor && record.role === role
    else if (record.kind === 'end' && record.artifacts?.includes(digest) === true)
      found = describe(digest, record, body)
  }
  return isOwn ? found : undefined
}

/** The body may have been pruned. */
function describe(
  digest: string,
  { call, tool, session, durationMs }: EndRecord,
  body: string | null,
): About {
  const about = { callId: call, toolCallId: call, tool, session, durationMs }
  const kept = body === null ? [] : decodeResult(body, about).artifacts
  return kept.find((artifact) => artifact.digest === digest) ?? { mimeType: 'application/octet-stream' }
}

/** The same for one that is not there and for one that is another's. */
function unknown({ call, digest }: NamedArtifact): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_artifact',
    message: `There is no artifact "${digest}" that the call "${call}" gave to this caller, or it is not kept any more. Take the URI from the result of the call.`,
  })
}
