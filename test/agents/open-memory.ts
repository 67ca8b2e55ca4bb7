import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, type RuntimeOptions, type Session } from 'handrail'
import { memoryTools, type MemoryOptions } from 'handrail/tools'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'

/** Lets models note candidates unasked. */
export const allowMemory = { rules: [{ effect: 'allow' as const, tools: ['internal.*_memory'] }] }

/** A runtime with the tools for memory, and the folder of its facts. */
export async function openMemory({ memory, ...options }: RuntimeOptions & { memory?: MemoryOptions } = {}) {
  const dir = memory?.dir ?? join(makeFolder(), 'memory')
  const whole = { dir, ...memory }
  const runtime = await createRuntime({
    project: makeFolder(),
    home: makeFolder(),
    policy: allowMemory,
    ...options,
    memory: whole,
    tools: [memoryTools(whole), ...(options.tools ?? [])],
  })
  atEnd(() => runtime.close())
  const files = () => {
    try {
      return readdirSync(dir).filter((name) => name.endsWith('.md'))
    } catch {
      return []
    }
  }
  return { runtime, dir, files }
}

/** What a call of `internal.recall_memory` found; it has to go well. */
export async function recall(session: Session, input: object) {
  const result = await session.call('internal.recall_memory', input)
  if (!result.ok) throw new Error(`${result.error?.reason}: ${result.error?.message}`)
  const data = result.data as { facts: { id: string; content: string; source: object }[]; left_out: number }
  const [block] = result.content
  return { ...data, text: block?.type === 'text' ? block.text : '' }
}

/** Notes a fact; it has to go well. */
export async function write(session: Session, input: object): Promise<{ id: string; state: string }> {
  const result = await session.call('internal.write_memory', input)
  if (!result.ok) throw new Error(`${result.error?.reason}: ${result.error?.message}`)
  return result.data as { id: string; state: string }
}
