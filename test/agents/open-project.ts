import { codeTools, type RuntimeOptions } from 'handrail'
import type { AgentRun, RunEvent } from 'handrail/agents'
import type { Said } from '../support/mock-model.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

export const read: Said = {
  text: 'I look. ',
  calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }],
}
export const write: Said = {
  calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'new' } }],
}

/** A project with one file, and a runtime over it that has the code tools. */
export async function openProject({ tools = [], ...options }: RuntimeOptions = {}) {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  const runtime = await openRuntime({ project, tools: [codeTools(), ...tools], sandbox: 'host', ...options })
  return { project, runtime }
}

/** All that happens in a run. */
export async function eventsOf(run: AgentRun): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of run) events.push(event)
  return events
}
