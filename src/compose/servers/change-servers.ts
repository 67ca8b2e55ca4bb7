import { hash } from 'node:crypto'
import { dirname } from 'node:path'
import { insertAt, removeAt } from '../../config/files/edit-json.ts'
import { openFile, writeChange, type OpenFile } from '../../config/files/settings-file.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { NoteRecord } from '../../contract/evidence.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { previewDiff } from '../../kit/diff/preview-diff.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { findWrittenSecrets } from '../../mcp/upstream/find-literal-secrets.ts'
import { readServers, requireSound, secretsOf } from './mcp-file.ts'

/** What is to become of a server: its whole entry, some fields of the one it has, or nothing any more. */
export type ServerChange =
  | { readonly entry: JsonObject }
  | { readonly fields: JsonObject }
  | { readonly remove: true }

/** By the names of the servers. */
export type ServerChanges = Readonly<Record<string, ServerChange>>

/** A change of `mcp.json` that was not made. */
export interface PlannedChange {
  readonly file: OpenFile
  readonly after: string
  /** For a person to read, without secrets. */
  readonly diff: string
  /** Of the file as it was looked at: the change is made only if it still is. */
  readonly digest: string
}

/** What a change of servers would do to the file. Comments and all else in it stay. Throws a SetupError for what cannot be. */
export function planChanges(path: string, changes: ServerChanges): PlannedChange {
  const file = openFile(path)
  const servers = readServers(file)
  let after = file.text?.trim() ? file.text : '{}\n'
  for (const [name, change] of Object.entries(changes)) {
    const was = Object.hasOwn(servers, name) ? servers[name] : undefined
    if (!('entry' in change) && !isPlainObject(was))
      throw new SetupError('unknown_server', `There is no server "${name}" in the file.`)
    if ('remove' in change) {
      after = removeAt(after, ['mcpServers', name])
      continue
    }
    const entry = 'entry' in change ? change.entry : { ...(was as JsonObject), ...change.fields }
    requireSound(name, entry)
    // What stands there already is not written anew.
    if (findWrittenSecrets('entry' in change ? change.entry : change.fields).length > 0)
      throw literalSecret(name)
    after =
      was === undefined
        ? insertAt(after, ['mcpServers', name], entry)
        : changeEntry(after, { name, was, entry })
  }
  const body = previewDiff({ name: path.replace(/^\//, ''), before: file.text, after }).body
  const diff = createRedactor(secretsOf(file.text, after)).text(body)
  return { file, after, diff, digest: digestOf(file) }
}

function literalSecret(name: string): SetupError {
  return new SetupError(
    'invalid_configuration',
    `A secret stands in the entry of "${name}" as it is. Put \${NAME} in its place, which is the environment variable of that name. Nothing was changed.`,
  )
}

/** Only the fields that differ are written, so that comments in an entry stay. */
function changeEntry(
  text: string,
  { name, was, entry }: { readonly name: string; readonly was: unknown; readonly entry: JsonObject },
): string {
  const before: Readonly<Record<string, unknown>> = Object(was)
  let after = text
  for (const field of Object.keys(before))
    if (JSON.stringify(before[field]) !== JSON.stringify(entry[field]))
      after = removeAt(after, ['mcpServers', name, field])
  for (const [field, value] of Object.entries(entry))
    if (JSON.stringify(before[field]) !== JSON.stringify(value))
      after = insertAt(after, ['mcpServers', name, field], value)
  return after
}

function digestOf({ text }: OpenFile): string {
  return `sha256:${hash('sha256', text ?? '\0', 'hex')}`
}

/** Makes a change that was looked at. Throws a SetupError if the file is another one by now. */
export function makeChanges(path: string, changes: ServerChanges, digest: string): PlannedChange {
  const planned = planChanges(path, changes)
  if (planned.digest !== digest)
    throw new SetupError(
      'invalid_configuration',
      'The file of servers was changed meanwhile. Nothing was changed: look at it again.',
    )
  writeChange(planned.file, planned.after, dirname(path))
  return planned
}

/** What the evidence keeps of a change of servers: who made it, and which fields the entries have. No value is in it. */
export function toServerNotes(
  changes: ServerChanges,
  { by, at }: { readonly by: string; readonly at: number },
): NoteRecord[] {
  return Object.entries(changes).map(([server, change]) => {
    const isGone = 'remove' in change
    const fields = isGone ? [] : Object.keys('entry' in change ? change.entry : change.fields)
    return {
      kind: 'note',
      event: isGone ? 'server_removed' : 'server_changed',
      tenant: 'local',
      session: '',
      at,
      actor: by,
      message: `${by} ${isGone ? 'removed' : 'wrote the entry of'} the MCP server "${server}"`,
      data: { server, ...(!isGone && { fields }) },
    }
  })
}
