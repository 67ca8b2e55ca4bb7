import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeDirectory } from '../handrail/load.ts'
import { median, named, ratio, type Row, type Settings } from '../harness/report.ts'
import { serveBeside } from '../harness/serve-beside.ts'
import { startInTurn, type Start } from '../harness/start-in-turn.ts'

const bench = fileURLToPath(new URL('..', import.meta.url))
const empty = 'an empty module'
const nodeAlone = 'node -e 0'
const ours = 'handrail'
const command = 'handrail call code.read_file'
const served = 'handrail call code.read_file, beside handrail serve'

const importedPeers = [
  'ajv',
  'zod',
  '@modelcontextprotocol/sdk/server/mcp.js',
  '@modelcontextprotocol/server',
  'ai',
  '@langchain/core/tools',
  '@mastra/core/tools',
  '@openai/agents',
]

/** How long it takes until something can be done. */
export async function measure(settings: Settings): Promise<Row> {
  const { directory, remove } = makeDirectory()
  const bin = join(settings.installed, 'node_modules', 'handrail', 'bin', 'handrail.cjs')
  const [alone, second] = [
    callTool({ name: command, bin, folder: join(directory, 'alone') }),
    callTool({ name: served, bin, folder: join(directory, 'served') }),
  ]
  const server = await serveBeside(bin, second)
  const imports = [
    importing(empty, bench),
    importing(ours, settings.installed),
    ...importedPeers.map((name) => importing(name, bench)),
  ]
  const commands = [{ name: nodeAlone, argv: ['-e', '0'], cwd: alone.cwd }, alone, second]
  const [all, calls] = startInTurn([imports, commands], Math.max(15, settings.rounds))
  server.kill('SIGTERM')
  await once(server, 'exit')
  remove()
  const base = named(all ?? [], empty)
  const overEmpty = (all ?? [])
    .filter((series) => series !== base)
    .map((series) => ({
      ...series,
      values: series.values.map((ms, round) => ms - (base?.values[round] ?? 0)),
    }))
  const over = (name: string) => ratio(named(calls ?? [], name), named(calls ?? [], nodeAlone))
  return {
    groups: [
      {
        title: 'import, over an empty module',
        unit: 'ms',
        against: [{ name: ours, as: 'handrail' }],
        series: overEmpty,
      },
      {
        title: 'command from cold',
        unit: 'ms',
        against: [{ name: nodeAlone, as: 'node' }],
        series: calls ?? [],
      },
    ],
    reaches: [
      {
        what: "import 'handrail'",
        unit: 'ms',
        value: median(named(overEmpty, ours)?.values ?? []),
        atMost: 30,
      },
      { what: `${command} / ${nodeAlone}`, unit: '×', value: over(command), atMost: 2.3 },
      { what: `${served} / ${nodeAlone}`, unit: '×', value: over(served), atMost: 1.4 },
    ],
  }
}

function importing(name: string, cwd: string): Start {
  const code = name === empty ? '' : `import ${JSON.stringify(name)}`
  return { name, argv: ['--input-type=module', '--eval', code], cwd }
}

/** A call in a project and a home of its own. */
function callTool({ name, bin, folder }: { name: string; bin: string; folder: string }): Start {
  const [project, home] = [join(folder, 'project'), join(folder, 'home')]
  mkdirSync(project, { recursive: true })
  mkdirSync(home)
  // As the launcher wants it, whatever the mask of the bench is.
  chmodSync(home, 0o700)
  writeFileSync(join(project, 'note.txt'), 'hello\n')
  return {
    name,
    argv: [bin, 'call', 'code.read_file', '{"path":"note.txt"}'],
    cwd: project,
    // Named, because under `npm run` the current folder is not taken for the project.
    env: { HANDRAIL_PROJECT: project, HANDRAIL_HOME: home },
  }
}
