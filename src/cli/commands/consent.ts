import { userInfo } from 'node:os'
import type { Consent } from '../../contract/consent.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { jsonOption, readText, tenantOption } from '../caller.ts'
import type { CommandGroup, CommandLine } from '../command.ts'
import { countOf } from '../count-of.ts'
import { exitCodes } from '../exit-codes.ts'
import { readDuration } from '../read-duration.ts'
import { showJson, showLine } from '../show-safely.ts'
import { findPlaces, wireRuntime } from '../wire.ts'

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
      takes: 0,
      run: (given) => withRuntime(given, list),
    },
    revoke: {
      usage: '<id>',
      summary: 'Takes one back, from the next call on.',
      options: { tenant: { takes: 'TENANT', about: 'Whose. Default: any.' }, ...jsonOption },
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
  return print([made], runtime, given)
}

async function list(runtime: Runtime, given: CommandLine): Promise<number> {
  const consents = runtime.consents.list(readText(given, 'tenant'))
  print(consents, runtime, given)
  if (given.options['json'] !== true) process.stdout.write(`${countOf(consents.length, 'consent')}\n`)
  return exitCodes.ok
}

async function revoke(runtime: Runtime, given: CommandLine, id: string): Promise<number> {
  const tenant = readText(given, 'tenant')
  const consent = runtime.consents.list(tenant).find((each) => each.id === id)
  const revoked =
    consent === undefined ? undefined : await runtime.consents.revoke(consent.tenant, id, userInfo().username)
  if (revoked !== undefined) return print([revoked], runtime, given)
  const where = tenant === undefined ? 'There is' : `The tenant "${showLine(tenant)}" has`
  process.stderr.write(
    `handrail: ${where} no consent "${showLine(id.slice(0, 100))}". "handrail consent list" shows them.\n`,
  )
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
