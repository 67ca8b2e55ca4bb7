import { userInfo } from 'node:os'
import type { Consent } from '../../contract/consent.ts'
import { SetupError, type CallError } from '../../contract/base/errors.ts'
import { modes, roles } from '../../contract/base/principal.ts'
import type { Runtime, Session, SessionOptions } from '../../contract/runtime.ts'
import { jsonOption, readText, tenantOption } from '../arguments/caller.ts'
import { findAmong, showName } from '../arguments/find-named.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { countOf } from '../render/count-of.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { readDuration } from '../arguments/read-duration.ts'
import { showJson, showLine } from '../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'

/** `handrail consent` */
export const consent: CommandGroup = {
  summary: 'Gives, lists and takes back standing consents: a yes to a tool for a time.',
  verbs: {
    give: {
      usage: '<tool>',
      summary: 'Lets a tool through without asking, for a day or as long as is said.',
      options: {
        for: { takes: 'TIME', about: 'How long, such as 1h or 7d. Default: 1d.' },
        scope: {
          takes: 'SCOPE',
          about: 'What it covers, as "handrail explain" names it. Default: all that the tool reaches.',
        },
        actor: { takes: 'ACTOR', about: 'For whom. Default: every actor of the tenant.' },
        ...tenantOption,
        reason: { takes: 'TEXT', about: 'Why; it is kept.' },
        ...jsonOption,
      },
      examples: ['handrail consent give code.write_file --for 1h'],
      needs: 'Name the tool.',
      takes: 1,
      run: (given) => withRuntime(given, give),
    },
    list: {
      usage: '',
      summary: 'All that were given, those that hold no more too.',
      options: { tenant: { takes: 'TENANT', about: 'Whose. Default: all.' }, ...jsonOption },
      examples: ['handrail consent list'],
      takes: 0,
      run: (given) => withRuntime(given, list),
    },
    revoke: {
      usage: '<id>',
      summary: 'Takes one back, from the next call on.',
      more: 'A consent is named by its id, or by how that ends.',
      options: { tenant: { takes: 'TENANT', about: 'Whose. Default: any.' }, ...jsonOption },
      examples: ['handrail consent revoke 3tm81v'],
      needs: 'Name the consent. "handrail consent list" shows them.',
      takes: 1,
      run: (given) => withRuntime(given, revoke),
    },
  },
}

type Act = (runtime: Runtime, given: CommandLine, what: string) => Promise<number>

async function withRuntime(given: CommandLine, act: Act): Promise<number> {
  const runtime = await wireRuntime(findPlaces(given), undefined)
  try {
    return await act(runtime, given, given.positionals[0] ?? '')
  } finally {
    await runtime.close()
  }
}

async function give(runtime: Runtime, given: CommandLine, tool: string): Promise<number> {
  const [scope, actor, tenant, reason] = (['scope', 'actor', 'tenant', 'reason'] as const).map((name) =>
    readText(given, name),
  )
  const validForMs = readDuration(given, 'for')
  const made = await runtime.consents.give({
    tool,
    givenBy: userInfo().username,
    ...(scope !== undefined && { scope }),
    ...(actor !== undefined && { actor }),
    ...(tenant !== undefined && { tenant }),
    ...(reason !== undefined && { reason }),
    ...(validForMs !== undefined && { validForMs }),
  })
  const denial = await findDenial(runtime, made)
  if (denial !== undefined) process.stderr.write(`handrail: ${showLine(sayVain(denial))}\n`)
  return print([made], runtime, given)
}

/** What a tool is denied by whatever a call of it reaches, in every role and mode; undefined if there are calls that a consent can answer. */
async function findDenial(
  runtime: Runtime,
  { tool, tenant, actor }: Consent,
): Promise<CallError | undefined> {
  const caller = { tenant, ...(actor !== '*' && { actor }) }
  let first: CallError | undefined
  for (const role of roles)
    for (const mode of modes) {
      const session = openIfAllowed(runtime, { ...caller, role, mode })
      if (session === undefined) continue
      const error = (await session.available()).tools.find((each) => each.tool === tool)?.error
      if (error?.code !== 'POLICY.DENY_TOOL' || !lasting.has(error.reason)) return undefined
      first ??= error
    }
  return first
}

/** Reasons of a denial that stand in the policy and the configuration. Others are about a tool as it stands now. */
const lasting: ReadonlySet<string> = new Set([
  'rule_denied',
  'role_denied',
  'mode_denied',
  'tool_not_available',
])

/** A mode may be one that the policy allows to no caller. */
function openIfAllowed(runtime: Runtime, options: SessionOptions): Session | undefined {
  try {
    return runtime.session(options)
  } catch (error) {
    if (error instanceof SetupError && error.issues.some(({ code }) => code === 'mode_denied'))
      return undefined
    throw error
  }
}

/** A consent for a denied tool is given all the same: it holds in other projects too, and the policy may change while it does. */
function sayVain({ message, data }: CallError): string {
  const cause = typeof data?.['rule'] === 'string' ? `"${data['rule']}" stands` : 'that holds'
  return `${message} A consent answers a question and no deny, so this one lets nothing through here as long as ${cause}. It is kept, and counts once that is gone, or where it does not hold.`
}

async function list(runtime: Runtime, given: CommandLine): Promise<number> {
  const consents = runtime.consents.list(readText(given, 'tenant'))
  print(consents, runtime, given)
  if (given.options['json'] !== true) process.stdout.write(`${countOf(consents.length, 'consent')}\n`)
  return exitCodes.ok
}

async function revoke(runtime: Runtime, given: CommandLine, text: string): Promise<number> {
  const tenant = readText(given, 'tenant')
  const none = `${tenant === undefined ? 'There is' : `The tenant ${showName(tenant)} has`} no consent ${showName(text)}. "handrail consent list" shows them.`
  const found = findAmong(runtime.consents.list(tenant), { what: 'consent', text, none })
  const revoked =
    'issue' in found
      ? undefined
      : await runtime.consents.revoke(found.item.tenant, found.item.id, userInfo().username)
  if (revoked !== undefined) return print([revoked], runtime, given)
  process.stderr.write(`${showLine(`handrail: ${'issue' in found ? found.issue : none}`)}\n`)
  return exitCodes.toolError
}

function print(
  consents: readonly Consent[],
  { registry }: Pick<Runtime, 'registry'>,
  { options }: CommandLine,
): number {
  const isOfNow = ({ tool, tenant, identity }: Consent): boolean =>
    registry.identityOf(tool, tenant) === identity
  const now = Date.now()
  process.stdout.write(
    options['json'] === true
      ? `${showJson(consents)}\n`
      : consents.map((each) => `${toRow(each, { now, isOfNow: isOfNow(each) })}\n`).join(''),
  )
  return exitCodes.ok
}

function toRow(
  { id, tenant, actor, tool, scope, givenAt, expiresAt, revokedAt, givenBy, reason }: Consent,
  { now, isOfNow }: { now: number; isOfNow: boolean },
): string {
  const until = `until ${new Date(expiresAt).toISOString()}`
  const state =
    revokedAt !== undefined
      ? 'revoked'
      : expiresAt <= now
        ? 'expired'
        : !isOfNow
          ? 'for another definition'
          : givenAt > now
            ? `from ${new Date(givenAt).toISOString()} ${until}`
            : until
  const why = reason === undefined ? '' : `: ${reason}`
  return showLine(`${id}  ${state}  ${tool} (${scope})  for ${actor} of ${tenant}, by ${givenBy}${why}`)
}
