import type { ArtifactPart, Artifacts, NamedArtifact } from '../../contract/services/artifacts.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { Artifact } from '../../contract/base/result.ts'
import type { Store } from '../../contract/store.ts'
import { decodeResult } from '../../kit/result/encode-result.ts'
import { byteRedactorOf, treatmentOf } from '../record/treatments.ts'
import type { CallScope } from '../state/scope.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** The artifacts that a call of this session may read. Who gave which is what the evidence says. */
export function openArtifacts(scope: CallScope): Artifacts {
  const { tenant, session } = scope
  return {
    async read(named, part) {
      const given = findGiven(named, session.principal, tenant.store)
      const read = given && (await tenant.artifacts.read(named.digest, part))
      if (given === undefined || read === undefined) throw unknown(named)
      if (await hidesMore(given.begin, { named, part }, scope)) throw withheld(named, given.begin)
      const { mimeType, name } = given.about
      return { ...read, mimeType, ...(name !== undefined && { name }) }
    },
  }
}

/** How much on both sides of a part is looked at: what is hidden may begin before it and end behind it. */
const marginBytes = 16 * 1024

/** Whether the policy of now hides something of a part that was kept under another policy. */
async function hidesMore(
  { tool, policy }: BeginRecord,
  { named, part }: { named: NamedArtifact; part: ArtifactPart },
  scope: CallScope,
): Promise<boolean> {
  const { tenant, session } = scope
  if (policy === tenant.policy.digest) return false
  const registered = tenant.registry.view(session.principal.tenant).find(tool)
  if (treatmentOf(registered, scope) === undefined) return false
  const offset = Math.max(part.offset - marginBytes, 0)
  const length = part.offset - offset + part.length + marginBytes
  const around = await tenant.artifacts.read(named.digest, { offset, length })
  const letters = Buffer.from(around?.bytes ?? []).toString('latin1')
  const shown = byteRedactorOf(registered, scope).text(letters)
  const first = findDifference(letters, shown)
  if (first === undefined) return false
  const behind = letters.length - (findDifference(reverse(letters), reverse(shown)) ?? 0)
  return first < part.offset - offset + part.length && behind > part.offset - offset
}

/** Where two texts differ first; undefined if they do not. */
function findDifference(one: string, other: string): number | undefined {
  if (one === other) return undefined
  let index = 0
  while (index < one.length && one[index] === other[index]) index++
  return index
}

function reverse(letters: string): string {
  return Buffer.from(letters, 'latin1').reverse().toString('latin1')
}

type About = Pick<Artifact, 'mimeType' | 'name'>

interface Given {
  readonly begin: BeginRecord
  readonly about: About
}

/** What the records of its call say of an artifact; undefined if the call is another's, or did not give it. */
function findGiven({ call, digest }: NamedArtifact, principal: Principal, store: Store): Given | undefined {
  const { tenant, actor, role } = principal
  let begin: BeginRecord | undefined
  let about: About | undefined
  for (const { text, body } of store.records({ tenant, call })) {
    const record = readRecord(text)
    if (record.kind === 'begin') begin = record
    else if (record.kind === 'end' && record.artifacts?.includes(digest) === true)
      about = describe(digest, record, body)
  }
  if (begin === undefined || about === undefined) return undefined
  return begin.actor === actor && begin.role === role ? { begin, about } : undefined
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

function withheld({ call, digest }: NamedArtifact, { tool }: BeginRecord): ToolFailure {
  return new ToolFailure({
    code: 'POLICY.DENY_TOOL',
    reason: 'obligation_failed',
    message: `The artifact "${digest}" of the call "${call}" is withheld: the policy obliges by now to hide something in what "${tool}" returned, and it was kept as it was. Call the tool anew.`,
  })
}

/** The same for one that is not there and for one that is another's. */
function unknown({ call, digest }: NamedArtifact): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_artifact',
    message: `There is no artifact "${digest}" that the call "${call}" gave to this caller, or it is not kept any more. Take the URI from the result of the call.`,
  })
}
