import type { NoteRecord } from '../contract/evidence.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import { copyJson } from '../kit/json/copy-json.ts'
import { tellWatcher } from '../kit/time/tell-watcher.ts'
import type { RegistryReport } from '../registry/admission/prepare-registration.ts'
import type { RegistryNote } from '../registry/state/registry-note.ts'
import type { OnError } from './error-log.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

/** Brings events to those who follow a runtime. */
export interface Announcements {
  announce(event: RuntimeEvent): void
  /** Announces a tool that is left out, and logs it. */
  report(about: RegistryReport): void
  note(note: RegistryNote): void
  /** Announces a note of the evidence. */
  recorded(note: NoteRecord): void
  on(listener: (event: RuntimeEvent) => void): () => void
  /** Whether a listener follows. */
  isFollowed(): boolean
}

/** The announcements of a runtime with these options. */
export function createAnnouncements(
  { onEvent, now = Date.now }: Pick<RuntimeOptions, 'onEvent' | 'now'>,
  onError: OnError,
): Announcements {
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const announce = (event: RuntimeEvent): void => {
    const { call = '', tool = '' } = event
    for (const each of onEvent === undefined ? listeners : [onEvent, ...listeners])
      tellWatcher(each, copyJson(event), (cause) => onError({ call, tool, cause }))
  }
  return {
    announce,
    report(about) {
      onError({ call: '', tool: about.tool, cause: new Error(about.message) })
      announce(toReportEvent(about, now()))
    },
    note: (note) => announce(toNoteEvent(note, now())),
    recorded: (note) => announce(toRecordedEvent(note)),
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    isFollowed: () => onEvent !== undefined || listeners.size > 0,
  }
}

/** What happens to tools belongs to no session. */
function toReportEvent({ type, tool, message }: RegistryReport, at: number): RuntimeEvent {
  return { type, sequence: 0, level: 'failure', at, tenant: '', session: '', tool, summary: message }
}

function toRecordedEvent({ kind: _kind, event, message, ...about }: NoteRecord): RuntimeEvent {
  return { type: event, sequence: 0, level: 'info', summary: message, ...about }
}

function toNoteEvent({ event, scope, tool, by, message, data }: RegistryNote, at: number): RuntimeEvent {
  const level = event === 'definition_pending' ? 'failure' : 'info'
  const about = { tool, summary: message, data, ...(by !== '' && { actor: by }) }
  return { type: event, sequence: 0, level, at, tenant: scope, session: '', ...about }
}
