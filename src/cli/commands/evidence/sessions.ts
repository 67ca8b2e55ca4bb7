import { findSessions, type ListedSession } from '../../../evidence/find-sessions.ts'
import { jsonOption, readText } from '../../arguments/caller.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { readLimit } from '../../arguments/read-limit.ts'
import type { Command } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, writeJson } from '../../base/show-safely.ts'
import { countOf } from '../../render/count-of.ts'
import { findPlaces } from '../../setup/wire.ts'
import { findTenants, withEvidence } from './open-evidence.ts'

/** `handrail sessions` */
export const sessions: Command = {
  usage: '',
  summary: 'Lists the sessions that made calls: who, when, how many.',
  more: 'The one with the newest call comes first. "handrail evidence list --session ID" shows the calls of one, by its id or how that ends.',
  options: {
    limit: { takes: 'N', about: 'How many. Default: 20.' },
    since: { takes: 'TIME', about: 'Those with a call in the last 15m, 12h or 7d, for example.' },
    actor: { takes: 'ACTOR', about: 'Sessions of this actor.' },
    tenant: { takes: 'TENANT', about: 'Whose. Default: all.' },
    ...jsonOption,
  },
  examples: ['handrail sessions --since 1d', 'handrail sessions --actor ann --json'],
  takes: 0,
  run(given) {
    const limit = readLimit(given)
    const [actor, tenant] = ['actor', 'tenant'].map((name) => readText(given, name))
    const ageMs = readDuration(given, 'since')
    return withEvidence(findPlaces(given), async ({ store }) => {
      const tenants = findTenants(store, tenant)
      if (tenants === undefined) return exitCodes.toolError
      const found = findSessions(store, {
        tenants,
        limit,
        ...(actor !== undefined && { actor }),
        ...(ageMs !== undefined && { since: Date.now() - ageMs }),
      })
      if (given.options['json'] === true) writeJson(found)
      else
        process.stdout.write(
          [...found.map(toRow), countOf(found.length, 'session')].map((line) => `${line}\n`).join(''),
        )
      return exitCodes.ok
    })
  },
}

function toRow({ tenant, session, actor, role, parent, calls, from, at }: ListedSession): string {
  const who = `${tenant}/${actor}${role === 'main' ? '' : ` (${role})`}`
  const under = parent === undefined ? '' : `, under ${parent}`
  const since = `${countOf(calls, 'call')} since ${new Date(from).toISOString()}`
  return `${new Date(at).toISOString()}  ${session}  ${showLine(`${who}  ${since}${under}`)}`
}
