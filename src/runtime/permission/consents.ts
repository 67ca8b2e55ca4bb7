import type { ConsentBook, ConsentUse } from '../state/consent-book.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { Consent, ConsentRequest } from '../../contract/consent.ts'
import type { Evidence } from '../../contract/evidence-log.ts'
import type { EventName } from '../../contract/evidence.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Registry } from '../../contract/registry.ts'
import type { Store } from '../../contract/store.ts'
import type { ConsentPolicy } from '../../contract/tool/tool.ts'
import { idForm, isId } from '../../kit/match/is-id.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { newId } from '../../kit/new-id.ts'

interface ConsentSurroundings {
  store: Store
  evidence: Evidence
  registry: Registry
  /** Why a tenant is none, if it is none. */
  findTenantIssue(tenant: string): string | undefined
  now(): number
}

const day = 86_400_000
/** A consent ends some day. */
const longestMs = 3_650 * day

/** The consents in a store. What another process adds or revokes there counts from the next call on. */
export function createConsents(around: ConsentSurroundings): ConsentBook {
  const { store, evidence } = around
  let version = -1
  let byTenant = new Map<string, Map<string, Consent>>()
  const current = (): typeof byTenant => {
    const latest = store.factsVersion()
    if (latest === version) return byTenant
    byTenant = readAll(store)
    version = latest
    return byTenant
  }
  const keep = async (consent: Consent, event: EventName, by: string): Promise<void> => {
    const { tenant, id, tool, identity, scope, actor, expiresAt } = consent
    const done = event === 'consent_given' ? 'gave' : 'revoked'
    const note = {
      kind: 'note' as const,
      event,
      tenant,
      session: '',
      at: around.now(),
      actor: by,
      tool,
      message: `${by} ${done} the consent ${id} to ${tool} (${scope}) for ${actor}`,
      data: { consent: id, identity, scope, for: actor, expiresAt },
    }
    await evidence.tell(note, { facts: [{ tenant, kind: 'consent', id, value: toConsentValue(consent) }] })
  }
  return {
    async give(request) {
      const consent = toConsent(request, around)
      await keep(consent, 'consent_given', consent.givenBy)
      return consent
    },
    async revoke(tenant, id, by) {
      const consent = current().get(tenant)?.get(id)
      if (consent === undefined) return undefined
      const revoked = consent.revokedAt === undefined ? { ...consent, revokedAt: around.now() } : consent
      if (revoked !== consent) await keep(revoked, 'consent_revoked', by)
      return revoked
    },
    list: (tenant) =>
      [...current()]
        .filter(([name]) => tenant === undefined || name === tenant)
        .flatMap(([, consents]) => [...consents.values()]),
    find(tenant, id) {
      const all = current()
      const own = all.get(tenant)?.get(id)
      if (own !== undefined) return own
      return [...all.values()].some((consents) => consents.has(id)) ? 'other' : undefined
    },
    any: (tenant) => current().has(tenant),
    covering(use) {
      const consents = current().get(use.tenant)
      if (consents === undefined || use.registered.definition.consent.scope === 'once') return undefined
      for (const consent of consents.values()) if (covers(consent, use) && holds(consent, use)) return consent
      return undefined
    },
  }
}

/** Whether a consent speaks of this use, whether or not it still holds. */
export function covers(consent: Consent, use: ConsentUse): boolean {
  return isForThisTool(consent, use) && isForThisUse(consent, use)
}

/** Whether a consent was given to the very tool: of this source, with this definition. */
export function isForThisTool({ tool, identity }: Consent, { registered }: ConsentUse): boolean {
  return tool === registered.definition.name && identity === registered.identity
}

function isForThisUse(consent: Consent, use: ConsentUse): boolean {
  return (
    consent.tenant === use.tenant &&
    (consent.actor === '*' || consent.actor === use.actor) &&
    (consent.scope === '*' || consent.scope === use.scope || consent.scope === use.input())
  )
}

/** Whether a consent is neither expired nor revoked. One from the future, seen after a clock went back, does not hold yet. */
export function holds(consent: Consent, { at, registered }: Pick<ConsentUse, 'at' | 'registered'>): boolean {
  const end = endOf(consent, registered.definition.consent)
  return consent.revokedAt === undefined && consent.givenAt <= at && at < end
}

/** Until when a consent holds: a tool may want a shorter time by now than when it was given. */
export function endOf({ givenAt, expiresAt }: Consent, { validForMs }: ConsentPolicy): number {
  return Math.min(expiresAt, givenAt + (validForMs ?? Number.POSITIVE_INFINITY))
}

function readAll(store: Store): Map<string, Map<string, Consent>> {
  const all = new Map<string, Map<string, Consent>>()
  for (const { tenant, id, value } of store.facts('consent')) {
    let own = all.get(tenant)
    if (own === undefined) all.set(tenant, (own = new Map()))
    const consent = readConsent({ value })
    if (consent !== undefined) own.set(id, consent)
  }
  return all
}

/** The consent in a fact; undefined if it cannot be read as one. One that names no identity counts for no tool; people see it still. */
export function readConsent({ value }: { readonly value: unknown }): Consent | undefined {
  return isConsent(value) ? { ...value, identity: value.identity ?? '' } : undefined
}

function isConsent(value: unknown): value is Omit<Consent, 'identity'> & { identity?: string } {
  if (!isPlainObject(value)) return false
  const texts = ['id', 'tenant', 'actor', 'tool', 'scope', 'givenBy']
  return (
    texts.every((field) => typeof value[field] === 'string') &&
    typeof value['givenAt'] === 'number' &&
    typeof value['expiresAt'] === 'number' &&
    ['number', 'undefined'].includes(typeof value['revokedAt']) &&
    ['string', 'undefined'].includes(typeof value['identity'])
  )
}

/** A consent as a store keeps it. */
export function toConsentValue(consent: Consent): Json {
  return parseJson(JSON.stringify(consent))
}

function describeUnknown(tool: string, tenant: string, { registry }: ConsentSurroundings): string {
  const names = registry
    .view(tenant)
    .list()
    .map(({ definition }) => definition.name)
  const nearest = nearestNames(String(tool), names).map((name) => `"${name}"`)
  const advice = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(', ')}?`
  return `There is no tool "${String(tool).slice(0, 100)}" here.${advice}`
}

const fields: readonly string[] = ['tenant', 'actor', 'tool', 'scope', 'validForMs', 'givenBy', 'reason']

function toConsent(request: ConsentRequest, around: ConsentSurroundings): Consent {
  const { tenant = 'local', actor = '*', scope = '*', validForMs = day, tool, givenBy, reason } = request
  const issues: { pointer: string; code: string; message: string }[] = []
  for (const field of Object.keys(request))
    if (!fields.includes(field))
      issues.push({
        pointer: `/${field}`,
        code: 'unknown_field',
        message: `A consent has no field "${field}".`,
      })
  const definition = around.registry.view(tenant).find(tool)?.definition
  // A program on the same store may have the tool; what its manifest says of consents counts when one is used.
  const identity = around.registry.identityOf(tool, tenant) ?? ''
  if (identity === '')
    issues.push({ pointer: '/tool', code: 'unknown_tool', message: describeUnknown(tool, tenant, around) })
  if (actor !== '*' && !isId(actor))
    issues.push({
      pointer: '/actor',
      code: 'invalid_id',
      message: `"${String(actor).slice(0, 80)}" is not an id of an actor: use ${idForm}; or "*" for every actor of the tenant.`,
    })
  if (typeof scope !== 'string' || scope === '')
    issues.push({
      pointer: '/scope',
      code: 'wrong_type',
      message: 'Name the scope as text, or leave it out for all that the tool reaches.',
    })
  const tenantIssue = around.findTenantIssue(tenant)
  if (tenantIssue !== undefined)
    issues.push({ pointer: '/tenant', code: 'unknown_tenant', message: tenantIssue })
  if (!Number.isSafeInteger(validForMs) || validForMs < 1 || validForMs > longestMs)
    issues.push({
      pointer: '/validForMs',
      code: 'invalid_limit',
      message: `${String(validForMs)} is not a time for a consent; give whole milliseconds from 1 on, at most ten years.`,
    })
  if (typeof givenBy !== 'string' || givenBy === '')
    issues.push({ pointer: '/givenBy', code: 'missing', message: 'Say who gives the consent.' })
  if (definition?.consent.scope === 'once')
    issues.push({
      pointer: '/tool',
      code: 'consent_once',
      message: `"${tool}" wants a yes for every single call; it takes no standing consent.`,
    })
  if (issues.length > 0) throw new SetupError('invalid_options', 'The consent cannot be given:', issues)
  const givenAt = around.now()
  return {
    id: newId('consent', givenAt),
    tenant,
    actor,
    tool,
    identity,
    scope,
    givenAt,
    expiresAt: givenAt + Math.min(validForMs, definition?.consent.validForMs ?? validForMs),
    givenBy,
    ...(reason !== undefined && { reason }),
  }
}
