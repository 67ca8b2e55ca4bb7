import { ToolFailure } from '../../contract/base/errors.ts'
import {
  memoryScopes,
  memoryWriters,
  type Memory,
  type MemoryBook,
  type MemoryCaller,
  type MemoryFact,
  type MemoryOptions,
  type MemoryQuery,
  type NewMemory,
} from '../../contract/services/memory.ts'
import type { Store } from '../../contract/store.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { finishTaken, putCandidate, readCandidates } from './candidates.ts'
import type { FactFolder, ReadFacts } from './fact-folder.ts'
import { toFact } from './to-fact.ts'

/** Candidates that wait for a person, of one tenant. */
const mostCandidates = 1000

interface BookPorts {
  readonly options: MemoryOptions
  readonly folder: FactFolder | undefined
  readonly store: Store
}

/** The memory of a runtime, as calls have it. */
export function createMemoryBook(ports: BookPorts): MemoryBook {
  const { mode = 'candidate' } = ports.options
  return { open: (caller) => (mode === 'external' ? openExternal(ports, caller) : openOwn(ports, caller)) }
}

function openOwn({ options, folder, store }: BookPorts, caller: MemoryCaller): Memory {
  return {
    async recall(query) {
      if (folder === undefined) throw unavailable('has no folder')
      // What was taken by a process that is gone.
      await finishTaken(store, folder, caller.tenant)
      const read = await folder.read(caller.tenant)
      return { facts: findFacts(read, query, caller.project), issues: read.issues }
    },
    async write(wish) {
      if (folder === undefined) throw unavailable('has no folder')
      if (options.mode === 'disabled') throw unavailable('is not written by models')
      refuseSecrets(wish, caller)
      return keepCandidate(toFact(wish, caller), { store, folder, caller })
    },
  }
}

/** The facts of a project that fit best. */
export function findFacts(
  { facts, ranking }: ReadFacts,
  { query, scope, limit }: MemoryQuery,
  project: string,
): readonly MemoryFact[] {
  return ranking
    .rank(query)
    .flatMap((index) => facts[index] ?? [])
    .filter((fact) => (scope ?? fact.scope) === fact.scope)
    .filter((fact) => fact.scope === 'tenant' || fact.project === project)
    .slice(0, limit)
}

async function keepCandidate(
  fact: MemoryFact,
  { store, folder, caller }: { store: Store; folder: FactFolder; caller: MemoryCaller },
): Promise<{ id: string; state: 'candidate' | 'kept' }> {
  const { tenant } = caller
  const { id } = fact
  for (;;) {
    if (caller.ended()) throw tooLate()
    if (folder.has(tenant, id)) return { id, state: 'kept' }
    const waiting = readCandidates(store, tenant)
    if (waiting.some((each) => each.fact.id === id)) return { id, state: 'candidate' }
    if (waiting.length >= mostCandidates)
      throw new ToolFailure({
        reason: 'too_many_candidates',
        message: `${waiting.length} candidates for memory wait for a person, and no more are kept. "handrail memory" shows them.`,
      })
    try {
      await store.append([], { documents: [putCandidate(tenant, { fact, state: 'open' }, null)] })
      return { id, state: 'candidate' }
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
    }
  }
}

/** A memory of the host, which is as unsure as any other server. */
function openExternal({ options: { external } }: BookPorts, caller: MemoryCaller): Memory {
  const { tenant, actor, project, source } = caller
  const owner = { tenant, actor, project }
  if (external === undefined) {
    const refuse = (): never => {
      throw unavailable('is external, and the program has none')
    }
    return { recall: async () => refuse(), write: async () => refuse() }
  }
  return {
    async recall(query) {
      const facts = await ask(() => external.recall({ ...query, ...owner }))
      if (!Array.isArray(facts) || !facts.every(isFact)) throw failed('it answered with what is no fact')
      return { facts: facts.slice(0, query.limit), issues: [] }
    },
    async write(wish) {
      refuseSecrets(wish, caller)
      if (caller.ended()) throw tooLate()
      const kept: unknown = await ask(() => external.write({ ...wish, ...owner, source }))
      const id = isObject(kept) ? kept['id'] : undefined
      if (typeof id !== 'string' || id === '')
        throw failed('it did not say under which id the fact is kept, so it may not be')
      return { id, state: 'kept' }
    },
  }
}

async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  try {
    return await question()
  } catch (error) {
    throw failed(messageOf(error))
  }
}

function isFact(value: unknown): value is MemoryFact {
  if (!isObject(value)) return false
  const { id, content, tags, scope, source } = value
  if (typeof id !== 'string' || typeof content !== 'string' || !Array.isArray(tags)) return false
  if (!tags.every((tag) => typeof tag === 'string') || !memoryScopes.some((each) => each === scope))
    return false
  if (!isObject(source) || !memoryWriters.some((each) => each === source['by'])) return false
  const { at } = source
  return at === undefined || (typeof at === 'number' && !Number.isNaN(new Date(at).getTime()))
}

function refuseSecrets(wish: NewMemory, caller: MemoryCaller): void {
  if (!caller.hasSecret(wish)) return
  throw new ToolFailure({
    reason: 'secret_in_memory',
    message: 'A secret stands in the fact, so nothing was kept. Write it without the secret.',
  })
}

function unavailable(why: string): ToolFailure {
  return new ToolFailure({ reason: 'memory_unusable', message: `The memory of this runtime ${why}.` })
}

function failed(why: string): ToolFailure {
  return new ToolFailure({ reason: 'memory_unusable', message: `The memory of the host failed: ${why}.` })
}

function tooLate(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: 'The call ended before its change could be made. Nothing was changed.',
  })
}
