import { userInfo } from 'node:os'
import type { Consent } from '../../contract/consent.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { readText } from '../caller.ts'
import type { Command, CommandLine } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { readDuration } from '../read-duration.ts'
import { showJson, showLine } from '../show-safely.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, wireRuntime } from '../wire.ts'

/** `handrail consent` */
export const consent: Command = {
  usage:
    'give <tool> [--scope S] [--for 1h] [--actor A] [--tenant T] [--reason R] | list [--tenant T] | revoke <id> [--tenant T]   [--json]',
  summary: 'Gives a standing yes to a tool and scope for a time, lists those given, and takes one back.',
  options: {
    json: { type: 'boolean' },
    scope: { type: 'string' },
    for: { type: 'string' },
    actor: { type: 'string' },
    tenant: { type: 'string' },
    reason: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [verb, what] = given.positionals
    const act = verb === undefined || !Object.hasOwn(verbs, verb) ? undefined : verbs[verb]
    const usage = `Usage: handrail consent ${consent.usage}`
    if (act === undefined)
      throw new UsageError(
        `${verb === undefined ? 'Say what to do' : `There is no "consent ${verb}"`}.\n${usage}`,
      )
    if ((verb === 'list') !== (what === undefined))
      throw new UsageError(
        verb === 'list'
          ? `"consent list" takes no further argument.\n${usage}`
          : `Name the ${verb === 'give' ? 'tool' : 'consent'}.\n${usage}`,
      )
    const runtime = await wireRuntime(findPlaces(given), undefined)
    try {
      return await act(runtime, given, what ?? '')
    } finally {
      await runtime.close()
    }
  },
}

type Verb = (runtime: Runtime, given: CommandLine, what: string) => Promise<number>

const verbs: { readonly [verb: string]: Verb } = { give, list, revoke }

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
  return print([made], given)
}

async function list(runtime: Runtime, given: CommandLine): Promise<number> {
  const consents = runtime.consents.list(readText(given, 'tenant'))
  print(consents, given)
  if (given.options['json'] !== true)
    process.stdout.write(consents.length === 1 ? '1 consent\n' : `${consents.length} consents\n`)
  return exitCodes.ok
}

async function revoke(runtime: Runtime, given: CommandLine, id: string): Promise<number> {
  const tenant = readText(given, 'tenant')
  const consent = runtime.consents.list(tenant).find((each) => each.id === id)
  const revoked =
    consent === undefined ? undefined : await runtime.consents.revoke(consent.tenant, id, userInfo().username)
  if (revoked !== undefined) return print([revoked], given)
  const where = tenant === undefined ? 'There is' : `The tenant "${showLine(tenant)}" has`
  process.stderr.write(
    `handrail: ${where} no consent "${showLine(id.slice(0, 100))}". "handrail consent list" shows them.\n`,
  )
  return exitCodes.toolError
}

function print(consents: readonly Consent[], { options }: CommandLine): number {
  const now = Date.now()
  process.stdout.write(
    options['json'] === true
      ? `${showJson(consents)}\n`
      : consents.map((each) => `${toRow(each, now)}\n`).join(''),
  )
  return exitCodes.ok
}

function toRow(
  { id, tenant, actor, tool, scope, givenAt, expiresAt, revokedAt, givenBy, reason }: Consent,
  now: number,
): string {
  const until = `until ${new Date(expiresAt).toISOString()}`
  const state =
    revokedAt !== undefined
      ? 'revoked'
      : expiresAt <= now
        ? 'expired'
        : givenAt > now
          ? `from ${new Date(givenAt).toISOString()} ${until}`
          : until
  const why = reason === undefined ? '' : `: ${reason}`
  return showLine(`${id}  ${state}  ${tool} (${scope})  for ${actor} of ${tenant}, by ${givenBy}${why}`)
}
