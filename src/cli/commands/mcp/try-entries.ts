import { userInfo } from 'node:os'
import { toServerNotes, type ServerChanges } from '../../../compose/servers/change-servers.ts'
import type { PastedServer } from '../../../compose/servers/read-pasted.ts'
import { tryServer, type Trial } from '../../../compose/servers/try-server.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { say } from '../../files/change-file.ts'
import { createTrials } from '../../setup/open-trial.ts'
import type { Places } from '../../setup/wire.ts'
import { withEvidence } from '../evidence/open-evidence.ts'

/** Starts a server as it would be in service, and says what came of it. Resolves with the entry that it needs. */
export async function tryEntry(given: PastedServer, places: Places): Promise<JsonObject> {
  say(`"${given.name}" is tried …`)
  const trial = await tryServer({ ...given, notes: [] }, createTrials(places))
  for (const line of toLines(trial)) say(line)
  return trial.entry
}

function toLines(trial: Trial): string[] {
  const {
    name,
    works,
    tools,
    fault,
    added,
    hosts,
    folders,
    variables,
    unset,
    packages,
    wantsLogin,
    remedy = '',
  } = trial
  return [
    works
      ? `"${name}" works, with these tools: ${tools.join(', ') || 'none'}`
      : `"${name}" does not work: ${fault ?? 'it gave no answer.'}`,
    ...(packages.length === 0 ? [] : [`It was fetched: ${packages.join(', ')}`]),
    ...(Object.keys(added).length === 0
      ? []
      : [`Its own words need more than that, so its entry gets ${JSON.stringify(added)}`]),
    ...(hosts.length === 0
      ? []
      : [
          `It asked for ${hosts.join(', ')} and was kept from that. If it may have it: --network ${hosts.join(',')}`,
        ]),
    ...(folders.length === 0
      ? []
      : [`It could not write to ${folders.join(', ')}. If it may: --write ${folders.join(',')}`]),
    ...(variables.length === 0
      ? []
      : [`It says that it needs ${variables.join(', ')}. If it may have that: --env ${variables.join(',')}`]),
    ...unset.map((variable) => `${variable} is not set here: set it where Handrail is started.`),
    ...(wantsLogin ? [`It wants a login. Once it is added: handrail mcp login ${name}`] : []),
    ...(works ? [] : remedy.split('\n').filter((line) => line !== '')),
  ]
}

/** Keeps who changed the file of servers. */
export async function noteChanges(changes: ServerChanges, places: Places): Promise<void> {
  const notes = toServerNotes(changes, { by: userInfo().username, at: Date.now() })
  await withEvidence(
    places,
    async ({ store }) => {
      await store.append(notes.map((record) => ({ record, body: null })))
      return 0
    },
    { makes: true, recovers: false },
  )
}
