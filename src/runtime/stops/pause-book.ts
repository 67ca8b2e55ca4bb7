import type { Pause } from '../../contract/base/stop.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { Fact, FactChange, Store } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { callError } from '../../kit/result/call-error.ts'
import { describeScope, meetsScope, type Stoppable } from './meets-scope.ts'

/** What is paused, as the pipeline asks for it. */
export interface PauseBook {
  list(): readonly Pause[]
  /** Why this may not run now; undefined if nothing that is paused means it. Cheap: asked before every call. */
  find(about: Stoppable): CallError | undefined
}

/** The pauses in a store. What another process pauses or resumes there counts from the next call on. */
export function createPauseBook(
  store: Pick<Store, 'facts' | 'factsVersion'>,
  logError: (cause: unknown) => void,
): PauseBook {
  let version = -1
  let pauses: readonly Pause[] = []
  const current = (): readonly Pause[] => {
    const latest = store.factsVersion()
    if (latest === version) return pauses
    pauses = store.facts('pause').map(readPause)
    version = latest
    return pauses
  }
  return {
    list: current,
    find(about) {
      try {
        for (const pause of current()) if (meetsScope(pause, about)) return toError(pause, about.tool)
        return undefined
      } catch (cause) {
        logError(cause)
        return unreadable(about.tool)
      }
    },
  }
}

/** The pause in a fact. One that cannot be read pauses everything of its tenant. */
function readPause({ tenant, id, value }: Fact): Pause {
  const scope = tenant === '' ? {} : { tenant }
  const pause = isPause(value) ? value : { by: '', at: 0, why: unread }
  return { ...pause, id, ...scope }
}

const unread = 'What is paused cannot be read.'

const texts = ['tenant', 'actor', 'server', 'tools', 'why']

/** A field that narrows a pause and cannot be read would be lost, and what it narrows with it. */
function isPause(value: unknown): value is Omit<Pause, 'id'> {
  if (!isPlainObject(value)) return false
  const known = [...texts, 'by', 'at', 'id']
  return (
    Object.keys(value).every((field) => known.includes(field)) &&
    texts.every((field) => value[field] === undefined || typeof value[field] === 'string') &&
    typeof value['by'] === 'string' &&
    typeof value['at'] === 'number'
  )
}

/** Keeps a pause, or forgets it. */
export function keepPause(pause: Pause, holds: boolean): FactChange {
  const { tenant = '', id } = pause
  const value = holds ? parseJson(JSON.stringify(pause)) : undefined
  return { tenant, kind: 'pause', id, value }
}

function toError(pause: Pause, tool: string | undefined): CallError {
  const { id, by, at, why } = pause
  const who =
    by === '' ? 'It is paused' : `${by} paused ${describeScope(pause)} on ${new Date(at).toISOString()}`
  return callError('POLICY.DENY_TOOL', 'calls_paused', {
    message: `${subject(tool)} ${who}${why === undefined ? '.' : `: ${toSentence(why)}`} Stop here, and say so. Trying again or another way is of no use until a person resumes it.`,
    data: { because: 'calls_paused', pause: id, by, at, ...(why !== undefined && { why }) },
  })
}

function toSentence(why: string): string {
  return /[.!?]$/.test(why) ? why : `${why}.`
}

function unreadable(tool: string | undefined): CallError {
  return callError('POLICY.DENY_TOOL', 'calls_paused', {
    message: `${subject(tool)} Whether it is paused cannot be read from the store. Stop here, and say so; the operator finds the cause in the log.`,
    data: { because: 'calls_paused' },
  })
}

function subject(tool: string | undefined): string {
  return tool === undefined ? 'Nothing runs here now.' : `"${tool}" did not run.`
}
