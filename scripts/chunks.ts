// Which modules of the bundle lie in one file. A file for each set of modules that the same entries share, as the bundler makes them, are some hundred,
// and reading and linking those takes longer than the work of most commands.
import { join, relative } from 'node:path'
import type { CodeSplittingGroup, Plugin } from 'rolldown'

const root = join(import.meta.dirname, '..')

/** What starts light, and so loads only what it needs. */
const workers = [
  'src/sandboxes/pages/page-worker.ts',
  'src/sandboxes/isolates/isolate-worker.ts',
  'src/sandboxes/sandbox-runtime/writer-worker.ts',
  'src/sandboxes/programs/launcher/launch-programs.ts',
]

/** A file holds what these need, at once and not later, and no file before it holds already. */
const files: Readonly<Record<string, readonly string[]>> = {
  // Imports packages that are not in the bundle. It is loaded in another way than the others.
  outside: ['src/kit/import-package.ts'],
  main: ['src/cli/main.ts', 'src/mcp/server/session/package-version.ts'],
  index: ['src/index.ts'],
  // What other doors need of it too.
  doors: [
    'src/a2a.ts',
    'src/agents.ts',
    'src/ai-sdk.ts',
    'src/evidence.ts',
    'src/mcp.ts',
    'src/openai.ts',
    'src/policy.ts',
    'src/testing.ts',
  ],
  runtime: ['src/compose/assemble-runtime.ts'],
  commands: ['src/cli/commands/call.ts', 'src/cli/hook/run-hook.ts', 'src/cli/hook/with-own-runtime.ts'],
  store: [
    'src/stores/sqlite/open-sqlite-store.ts',
    'src/stores/artifacts/create-disk-artifacts.ts',
    'src/stores/history/create-disk-history.ts',
    'src/evidence/chain/create-signed-store.ts',
    'src/evidence/chain/key-files.ts',
    'src/evidence/archive/create-run-archive.ts',
  ],
}

/** Learns how the modules hang together, and says in which file each lies. */
export function createChunks(): { plugin: Plugin; groups: CodeSplittingGroup[] } {
  const imports = new Map<string, readonly string[]>()
  const toName = (id: string): string => relative(root, id)
  const plugin: Plugin = {
    name: 'handrail-chunks',
    buildEnd() {
      for (const id of this.getModuleIds())
        imports.set(toName(id), this.getModuleInfo(id)?.importedIds.map(toName) ?? [])
    },
  }
  let found: ReadonlyMap<string, string> | undefined
  const fileOf = (id: string): string | undefined => (found ??= assign(imports)).get(toName(id))
  // What a file takes brings what it needs, so that the first comes first.
  const groups = ['base', ...Object.keys(files)].map((name, index, { length }) => ({
    name,
    test: (id: string) => fileOf(id) === name,
    priority: length - index,
  }))
  return { plugin, groups }
}

/** A module lies in the first file that needs it; what workers need too, in one that is small. */
function assign(imports: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const light = findNeeded(workers, imports)
  const ofRuntime = findNeeded(files['runtime'] ?? [], imports)
  const names = new Map<string, string>()
  for (const [name, entries] of Object.entries(files))
    for (const id of findNeeded(entries, imports))
      if (!names.has(id) && (name !== 'doors' || ofRuntime.has(id)))
        names.set(id, light.has(id) ? 'base' : name)
  return names
}

function findNeeded(
  entries: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const needed = new Set(entries)
  // A set goes on over what is added meanwhile.
  for (const id of needed) for (const imported of imports.get(id) ?? []) needed.add(imported)
  return needed
}
