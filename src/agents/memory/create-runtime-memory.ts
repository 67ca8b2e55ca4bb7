import type { AgentModel } from '../../contract/agent-run.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { RuntimeMemory } from '../../contract/memory.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { finishTaken, forgetCandidate, putCandidate, readCandidates, type Candidate } from './candidates.ts'
import { findFacts } from './create-memory-book.ts'
import type { ExtractionPorts } from './extract-facts.ts'
import type { FactFolder } from './fact-folder.ts'

/** What the memory of a runtime stands on. */
export interface RuntimeMemoryPorts extends Omit<ExtractionPorts, 'folder'> {
  /** Undefined if the runtime has none. */
  readonly folder: FactFolder | undefined
  readonly project: string
  /** What agents work with; undefined if the operator set none. */
  readonly model: AgentModel | undefined
  /** Throws a SetupError for a tenant that there is not. */
  checkTenant(tenant: string): void
}

/** The memory of a runtime, for who operates it. */
export function createRuntimeMemory(ports: RuntimeMemoryPorts): RuntimeMemory {
  const { store, project } = ports
  const open = (tenant: string): FactFolder => {
    ports.checkTenant(tenant)
    if (ports.folder === undefined)
      throw new SetupError(
        'no_memory',
        'This runtime has no folder of memory. Give createRuntime { memory: { dir } }.',
      )
    return ports.folder
  }
  return {
    async list({ tenant = 'local' } = {}) {
      const folder = open(tenant)
      const { facts, issues } = await folder.read(tenant)
      const waiting = readCandidates(store, tenant).filter(({ fact }) => !folder.has(tenant, fact.id))
      return {
        facts: [
          ...facts.map((fact) => ({ ...fact, state: 'accepted' as const })),
          ...waiting.map(({ fact }) => ({ ...fact, state: 'candidate' as const })),
        ],
        issues,
      }
    },
    async recall({ query, scope, limit = 5, tenant = 'local', project: where = project }) {
      return findFacts(await open(tenant).read(tenant), { query, scope, limit }, where)
    },
    async accept(id, tenant = 'local') {
      const folder = open(tenant)
      const found = findCandidate(store, tenant, id)
      refuseSecrets(found, ports.redact)
      const documents = [putCandidate(tenant, { ...found, state: 'taken' }, found)]
      if (found.state === 'open') await changing(id, () => store.append([], { documents }))
      await finishTaken(store, folder, tenant)
      return found.fact
    },
    async reject(id, tenant = 'local') {
      open(tenant)
      const found = findCandidate(store, tenant, id)
      if (found.state === 'taken') throw decided(id)
      await changing(id, () => store.append([], { documents: [forgetCandidate(tenant, found)] }))
      return found.fact
    },
    async extract(options = {}) {
      const { tenant = 'local', model = ports.model } = options
      const folder = open(tenant)
      if (model === undefined)
        throw new SetupError(
          'invalid_options',
          'No model looks for facts. Give "model", or set "agents.model".',
        )
      const { extractFacts } = await import('./extract-facts.ts')
      return extractFacts({ ...ports, folder }, { ...options, tenant, model })
    },
  }
}

function findCandidate(store: RuntimeMemoryPorts['store'], tenant: string, id: string): Candidate {
  const found = readCandidates(store, tenant).find(({ fact }) => fact.id === id)
  if (found !== undefined) return found
  throw new SetupError(
    'unknown_memory',
    `No candidate "${id}" waits. "handrail memory" lists them. A fact that was taken is a file: change or remove that.`,
  )
}

/** One that was no secret yet when the candidate was noted counts too. */
function refuseSecrets({ fact: { id, content, tags } }: Candidate, redact: (text: string) => string): void {
  if ([content, ...tags].every((text) => redact(text) === text)) return
  throw new SetupError(
    'secret_in_memory',
    `A secret stands in "${id}", so it is not kept in a file. Forget it: handrail memory reject ${id}`,
  )
}

async function changing(id: string, change: () => Promise<void> | undefined): Promise<void> {
  try {
    await change()
  } catch (error) {
    throw isDocumentChanged(error) ? decided(id) : error
  }
}

function decided(id: string): SetupError {
  return new SetupError('unknown_memory', `Another process decided about "${id}" at the same time.`)
}
