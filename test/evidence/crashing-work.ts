import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type RuntimeOptions } from 'handrail'

/** Where the lines go. */
export function journalOf(project: string): string {
  return join(project, 'journal')
}

/** The runtime of those that crash, and of those that look at what they left. */
export function optionsOf({ project, store }: { project: string; store: string }): RuntimeOptions {
  const append = defineTool({
    name: 'demo.append',
    description: 'Appends a line, whether or not it is there already.',
    permission: 'write',
    idempotency: 'keyed',
    keyFrom: 'call',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    run: ({ line }) => appendFileSync(journalOf(project), `${line}\n`),
  })
  return {
    project,
    tools: [codeTools(), append],
    store: { path: store },
    policy: {
      rules: [{ effect: 'allow', tools: ['code.write_file', 'demo.append'] }],
      budgets: [{ id: 'all', unit: 'calls', limit: 1_000_000 }],
    },
  }
}
