import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { openFile, writeChange } from '../../../config/files/settings-file.ts'
import { isWanted, refused, say } from '../../files/change-file.ts'
import { insertAt } from '../../../config/files/edit-json.ts'
import { countOf } from '../../render/count-of.ts'
import { findPlaces, makeHome } from '../../setup/wire.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { noteChanges, tryEntry } from './try-entries.ts'
import type { ToolsVerb } from '../tools/verb.ts'
import { readServers, secretsOf } from '../../../compose/servers/mcp-file.ts'
import { otherClients, readTheirServers } from '../../../compose/servers/other-clients.ts'
import { toOwnEntry } from '../../../compose/servers/own-entry.ts'

/** `handrail mcp import` */
export const importServers: ToolsVerb = {
  async run(given, name = '') {
    const client = Object.hasOwn(otherClients, name) ? otherClients[name] : undefined
    if (client === undefined)
      throw new UsageError(
        `"${showLine(name.slice(0, 100))}" is not a program whose servers are known here. Name one of: ${Object.keys(otherClients).join(', ')}.`,
      )
    const path = readText(given, 'file') ?? client.path()
    const theirs = await readTheirServers(client, path)
    const places = findPlaces(given)
    const { home, mcp } = places
    const file = openFile(mcp)
    const present = readServers(file)
    const keepsSecrets = given.options['keep-secrets'] === true
    let after = file.text?.trim() ? file.text : '{}\n'
    const taken = new Map<string, JsonObject>()
    let isWhole = true
    for (const [server, theirEntry] of Object.entries(theirs)) {
      if (Object.hasOwn(present, server)) {
        say(`"${server}" is in "${mcp}" already, and stays as it is there`)
        continue
      }
      const read = toOwnEntry(server, theirEntry, { ...client, keepsSecrets })
      for (const note of read.notes) say(note)
      if (read.entry === undefined) {
        isWhole = false
        continue
      }
      const entry =
        given.options['try'] === true ? await tryEntry({ ...read, name: server }, places) : read.entry
      after = insertAt(after, ['mcpServers', server], entry)
      taken.set(server, entry)
    }
    const code = isWhole ? exitCodes.ok : exitCodes.toolError
    if (taken.size === 0) {
      say(`There is no server to take over from "${path}". Nothing was changed.`)
      return code
    }
    if (!(await isWanted(file, { after, secrets: secretsOf(file.text, after) }, given))) return refused()
    makeHome(home)
    writeChange(file, after, home)
    await noteChanges(Object.fromEntries([...taken].map(([server, entry]) => [server, { entry }])), places)
    say(
      `${countOf(taken.size, 'server')} of ${client.title} taken over. To see whether they answer: handrail mcp status`,
    )
    return code
  },
}
