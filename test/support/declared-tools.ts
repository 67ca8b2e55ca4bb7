import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { declarativeTools, type Runtime, type RuntimeEvent, type RuntimeOptions } from 'handrail'
import { makeFolder, openRuntime, personSaying } from './project.ts'

/** A tool file that is right; what is given replaces or adds fields. */
export function toolFile(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'demo.tool', description: 'Is a tool.', command: 'true', output: 'text', ...fields }
}

/** An input schema of texts, all required. */
export function texts(...names: string[]): Record<string, unknown> {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names, additionalProperties: false }
}

/** Writes files into a folder of tools: text as it is, anything else as JSON. What begins with `#!` can be run. */
export function writeTools(folder: string, files: Readonly<Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    const isRaw = typeof content === 'string' || content instanceof Uint8Array
    const path = join(folder, name)
    writeFileSync(path, isRaw ? content : JSON.stringify(content))
    if (typeof content === 'string' && content.startsWith('#!')) chmodSync(path, 0o755)
  }
}

/** A runtime over the tools of a fresh folder, whose person says yes, and what was heard of it. */
export async function openDeclared(
  files: Readonly<Record<string, unknown>>,
  options: RuntimeOptions = {},
): Promise<{ runtime: Runtime; folder: string; events: RuntimeEvent[]; issues: string[] }> {
  const folder = join(makeFolder(), 'tools')
  writeTools(folder, files)
  const events: RuntimeEvent[] = []
  const issues: string[] = []
  const runtime = await openRuntime({
    approve: personSaying('allow_once').approve,
    onEvent: (event) => void events.push(event),
    onError: ({ cause }) => void issues.push(cause instanceof Error ? cause.message : String(cause)),
    ...options,
    tools: [...(options.tools ?? []), declarativeTools({ dir: folder })],
  })
  return { runtime, folder, events, issues }
}

/** Files in a folder of a project, without Handrail's own. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

/** A program that prints its arguments and what it found on stdin and in its environment, as JSON. */
export const tellAll = `#!/usr/bin/env node
let stdin = ''
for await (const chunk of process.stdin) stdin += chunk
console.log(JSON.stringify({ argv: process.argv.slice(2), stdin, env: process.env, cwd: process.cwd() }))
`
