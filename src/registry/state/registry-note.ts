import type { EventName, NoteRecord } from '../../contract/evidence.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { ToolState } from '../../contract/registry.ts'
import type { Entry } from './to-entry.ts'
import type { StateFact } from './tool-states.ts'

/** The event of a tool that comes to stand there. */
export const stateEvents = {
  registered: 'tool_registered',
  enabled: 'tool_enabled',
  paused: 'tool_paused',
  deprecated: 'tool_deprecated',
} as const satisfies { readonly [state in ToolState]: EventName }

/** Something that happened to a tool. */
export interface RegistryNote {
  readonly event: Extract<
    EventName,
    | 'tool_registered'
    | 'tool_updated'
    | 'tool_removed'
    | 'tool_enabled'
    | 'tool_paused'
    | 'tool_deprecated'
    | 'definition_pending'
    | 'definition_approved'
  >
  /** For which tenant; empty for all. */
  readonly scope: string
  /** Empty for several. */
  readonly tool: string
  readonly by: string
  readonly message: string
  readonly data: JsonObject
}

/** As the evidence keeps it. */
export function toNoteRecord(note: RegistryNote, at: number): NoteRecord {
  const { event, scope, tool, by, message, data } = note
  return {
    kind: 'note',
    event,
    tenant: scope,
    session: '',
    at,
    message,
    actor: by,
    ...(tool !== '' && { tool }),
    data,
  }
}

/** One note of the same thing that happened to several tools of a source. */
export function joinNotes(notes: readonly RegistryNote[]): RegistryNote {
  const [first] = notes
  if (first === undefined) throw new Error('There is nothing to tell.')
  const { event, by, data } = first
  const { source = '' } = data
  const done = event === 'tool_registered' ? 'registered' : 'updated'
  return {
    ...first,
    tool: '',
    message: `${by} ${done} ${notes.length} ${notes.length === 1 ? 'tool' : 'tools'} of ${JSON.stringify(source)}`,
    data: {
      source,
      tools: Object.fromEntries(notes.map((note) => [note.tool, note.data['digest'] ?? ''])),
    },
  }
}

/** What was said of a tool, as it is found in the store. */
export function toStateNote({
  scope,
  tool,
  fact,
}: {
  scope: string
  tool: string
  fact: StateFact
}): RegistryNote {
  const { state, by, reason } = fact
  return {
    event: stateEvents[state],
    scope,
    tool,
    by,
    message: `${tool} is ${state}${reason === undefined ? '' : `: ${reason}`}`,
    data: { to: state, ...(reason !== undefined && { reason }) },
  }
}

/** A changed definition that is in force now. */
export function toApprovalNote({ scope, entry }: { scope: string; entry: Entry }): RegistryNote {
  const { name, version } = entry.definition
  return {
    event: 'definition_approved',
    scope,
    tool: name,
    by: '',
    message: `the changed definition of ${name} was approved and is in force`,
    data: { version, digest: entry.digest, source: entry.source },
  }
}

/** A tool that is taken away. */
export function toRemovalNote(tool: string, scope: string, by: string): RegistryNote {
  return { event: 'tool_removed', scope, tool, by, message: `${by} removed ${tool}`, data: {} }
}
