import { createRuntimeMemory } from '../agents/memory/create-runtime-memory.ts'
import { createRunBook } from '../agents/loop/run-book.ts'
import type { RuntimeMemory } from '../contract/memory.ts'
import type { Agents } from './open-agents.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** Opens the memory of a runtime for who operates it. */
export function openMemory(
  { stores: { store }, tenants, resolved, redactor, facts }: RuntimeParts,
  agents: Agents,
): RuntimeMemory {
  return createRuntimeMemory({
    store,
    folder: facts,
    runs: createRunBook(store),
    startAgent: (options, id) => agents.runAs(id, options),
    redact: (text) => redactor.text(text),
    now: resolved.now,
    project: resolved.project,
    model: resolved.agents.model,
    checkTenant: (tenant) => void tenants.of(tenant),
  })
}
