import type { Runtime } from '../../contract/runtime.ts'
import { readToolFolder } from '../../declarative/read-tool-folder.ts'
import { toSource } from '../../declarative/to-source.ts'
import { watchToolFolder, type FolderChange } from '../../declarative/watch-tool-folder.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { showSafely } from '../base/show-safely.ts'
import { toKnown } from '../../compose/sources/declarative-tools.ts'
import { ownSources, type Places } from './wire.ts'

/**
 * Lets a living runtime take over what the person changes in their folder of tools, for sessions that are opened later, and says so on
 * stderr. Call this before the runtime is made, so that no change is lost, and close what `follow` returns.
 */
export function startFollowingTools({ tools: folder }: Places): {
  follow(runtime: Runtime): { close(): void }
} {
  const context = { checker: createSchemaChecker(), env: process.env, known: toKnown(ownSources()) }
  const current = readToolFolder(folder, context)
  return {
    follow: (runtime) =>
      watchToolFolder({
        folder,
        declaring: context,
        current,
        onChange: (change) => takeOver(runtime, change, folder),
        onError: say,
      }),
  }
}

async function takeOver(runtime: Runtime, { tools, removed }: FolderChange, by: string): Promise<void> {
  const { registry } = runtime
  const source = toSource({ tools, faulty: [] })
  const isOurs = (name: string) => registry.find(name)?.source === source.id
  const leaving = removed.filter(isOurs)
  if (leaving.length > 0) await runtime.remove(leaving, { by })
  for (const name of leaving) say(`${name} is gone, for sessions opened from now on`)
  if (tools.length > 0) await runtime.register([source], { update: true, by })
  for (const { tool } of tools) {
    const { name } = tool.definition
    // One that the registry left out was reported.
    if (registry.find(name)?.tool === tool) say(`${name} is as it is now, for sessions opened from now on`)
  }
}

function say(message: string): void {
  process.stderr.write(`handrail: ${showSafely(message)}\n`)
}
