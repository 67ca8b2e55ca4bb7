import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeDirectory } from '../handrail/load.ts'
import { median, named, ratio, type Row, type Settings } from '../harness/report.ts'
import { startInTurn, type Start } from '../harness/start-in-turn.ts'

const bench = fileURLToPath(new URL('..', import.meta.url))
const empty = 'an empty module'
const nodeAlone = 'node -e 0'
const ours = 'handrail'
const command = 'handrail call code.read_file'

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
export function measure(settings: Settings): Promise<Row> {
  const { directory, remove } = makeDirectory()
  const project = join(directory, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'note.txt'), 'hello\n')
  const imports = [
    importing(empty, bench),
    importing(ours, settings.installed),
    ...importedPeers.map((name) => importing(name, bench)),
  ]
  const commands = [
    { name: nodeAlone, argv: ['-e', '0'], cwd: project },
    callingTool(settings.installed, project),
  ]
  const [all, calls] = startInTurn([imports, commands], Math.max(15, settings.rounds))
  remove()
  const base = named(all ?? [], empty)
  const overEmpty = (all ?? [])
    .filter((series) => series !== base)
    .map((series) => ({
      ...series,
      values: series.values.map((ms, round) => ms - (base?.values[round] ?? 0)),
    }))
  return Promise.resolve({
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
      {
        what: `${command} / ${nodeAlone}`,
        unit: '×',
        value: ratio(named(calls ?? [], command), named(calls ?? [], nodeAlone)),
        atMost: 2.3,
      },
    ],
  })
}

function importing(name: string, cwd: string): Start {
  const code = name === empty ? '' : `import ${JSON.stringify(name)}`
  return { name, argv: ['--input-type=module', '--eval', code], cwd }
}

function callingTool(installed: string, project: string): Start {
  const bin = join(installed, 'node_modules', 'handrail', 'bin', 'handrail.cjs')
  return {
    name: command,
    argv: [bin, 'call', 'code.read_file', '{"path":"note.txt"}'],
    cwd: project,
    // Named, because under `npm run` the current folder is not taken for the project.
    env: { HANDRAIL_PROJECT: project, HANDRAIL_HOME: join(project, '..', 'home') },
  }
}
