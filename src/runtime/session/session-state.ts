import { hash } from 'node:crypto'
import type { Principal } from '../../contract/base/principal.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { Session } from '../../contract/runtime.ts'
import type { ObservedAgent } from '../../contract/observed.ts'
import type { LoadedSkill } from '../../contract/services/skill.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { newId } from '../../kit/new-id.ts'
import { tellWatcher } from '../../kit/time/tell-watcher.ts'
import { createJobTable } from '../keep/create-job-table.ts'
import { createReadInstructions } from '../keep/create-read-instructions.ts'
import { createResourcePool } from '../keep/create-resource-pool.ts'
import { createSlots } from '../limits/create-slots.ts'
import type { Endings } from '../state/endings.ts'
import type { SessionPartCalls } from '../state/part-of.ts'
import type { SessionSkills } from '../state/session-skills.ts'
import type { SessionState } from '../state/scope.ts'
import type { SessionSeed } from './session-seed.ts'
import type { SessionView } from './session-view.ts'

export interface SessionStateParts {
  seed: SessionSeed
  view: SessionView
  /** Ends what the session keeps open. */
  signal: AbortSignal | undefined
  /** Those who follow this session alone. */
  listeners: ReadonlySet<(event: RuntimeEvent) => void>
  endings: Endings
  opened: () => Session
  parts: () => SessionPartCalls
}

/** The state of a session without calls. */
export function createSessionState(parts: SessionStateParts): SessionState {
  const { seed, view, signal, listeners, endings, opened } = parts
  const made = (): SessionPartCalls => parts.parts()
  const { principal, mode: modes, parent, observes } = seed
  const first = seed.tenant()
  const { kept } = seed
  const ownId = kept?.id ?? seed.id ?? newId('ses', first.now())
  const id = observes === undefined ? ownId : observedId(principal, observes)
  const find: SessionState['find'] = (name, presentation) => view.find(name, presentation)
  const countsAll = first.limits.callsPerSession !== undefined
  const catchUp = kept
    ? (): void => kept.catchUp({ find: (name) => find(name, 'canonical'), countsAll })
    : parent?.catchUp
  catchUp?.()
  let sequence = 0
  return {
    id,
    principal,
    opened,
    staysOpen: kept !== undefined,
    isResumed: seed.id !== undefined,
    get parts() {
      return made()
    },
    get mode() {
      return modes.current()
    },
    modes,
    todos: seed.todos,
    ownSkills: seed.ownSkills,
    skills: joinSkills(parent?.skills ?? noSkills, seed.ownSkills),
    standingConsents: seed.standingConsents,
    claims: seed.claims,
    approvals: kept?.approvals ?? new Map(),
    agentSlots: parent?.agentSlots ?? createSlots(),
    endings,
    jobs: createJobTable(signal),
    sessionResources: createResourcePool(signal),
    instructions: createReadInstructions(),
    ancestors: parent?.lineage,
    worktree: seed.worktree,
    observes,
    counts: kept?.counts ?? {
      calls: 0,
      family: parent?.calls ?? { made: 0, changes: 0 },
      repeats: new Map(),
    },
    catchUp,
    find,
    exclusion: (registered, model) => view.exclusion(registered, model),
    status: (registered) => view.status(registered),
    search: (words) => view.search(words),
    found: seed.found,
    names: (model) => view.names(model),
    watched: () => listeners.size > 0 || seed.watched(),
    emit(event) {
      const { tenant, actor, role } = principal
      const full = { ...event, sequence: ++sequence, at: first.now(), tenant, session: id, actor, role }
      const onError = (cause: unknown): void =>
        first.logError({ call: event.call ?? '', tool: event.tool ?? '', cause })
      for (const listener of listeners) tellWatcher(listener, copyJson(full), onError)
      tellWatcher((seen: RuntimeEvent) => seed.listener(seen), full, onError)
    },
  }
}

const none: readonly LoadedSkill[] = []
const noSkills = (): readonly LoadedSkill[] => none

/** The same list for as long as nothing changed. */
function joinSkills(above: () => readonly LoadedSkill[], own: SessionSkills): SessionState['skills'] {
  let seenAbove = none
  let seenOwn = none
  let joined = none
  return () => {
    const [nowAbove, nowOwn] = [above(), own.list()]
    if (nowAbove !== seenAbove || nowOwn !== seenOwn) {
      seenAbove = nowAbove
      seenOwn = nowOwn
      joined = [...nowAbove, ...nowOwn]
    }
    return joined
  }
}

/** The same for every process that observes this session of this agent for this principal. */
function observedId({ tenant, actor }: Principal, { agent, session }: ObservedAgent): string {
  return `ses_${hash('sha256', JSON.stringify([tenant, actor, agent, session]), 'hex').slice(0, 32)}`
}
