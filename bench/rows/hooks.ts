import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../handrail/load.ts'
import { named, ratio, type Row, type Settings } from '../harness/report.ts'
import { serveBeside } from '../harness/serve-beside.ts'
import { startInTurn, type Start } from '../harness/start-in-turn.ts'

const nodeAlone = 'node -e 0'
const alone = 'handrail hook claude-code, alone'
const served = 'handrail hook claude-code, beside handrail serve'

/** How long an agent waits for the answer of a hook: from the start of its process to its end. */
export async function measure(settings: Settings): Promise<Row> {
  const { directory, remove } = makeDirectory()
  const bin = join(settings.installed, 'node_modules', 'handrail', 'bin', 'handrail.cjs')
  const start = (name: string, folder: string): Start =>
    makeHook({ name, bin, folder: join(directory, folder) })
  const [first, second] = [start(alone, 'alone'), start(served, 'served')]
  const server = await serveBeside(bin, second)
  const [series = []] = startInTurn(
    [[{ name: nodeAlone, argv: ['-e', '0'], cwd: first.cwd }, first, second]],
    Math.max(15, settings.rounds),
  )
  server.kill('SIGTERM')
  await once(server, 'exit')
  remove()
  const over = (name: string) => ratio(named(series, name), named(series, nodeAlone))
  return {
    groups: [
      { title: 'one hook, from cold', unit: 'ms', against: [{ name: nodeAlone, as: 'node' }], series },
    ],
    reaches: [
      { what: `${alone} / ${nodeAlone}`, unit: '×', value: over(alone), atMost: 3 },
      { what: `${served} / ${nodeAlone}`, unit: '×', value: over(served), atMost: 1.5 },
    ],
  }
}

/** An agent that asks about reading a file, in a project and a home of its own. */
function makeHook({ name, bin, folder }: { name: string; bin: string; folder: string }): Start {
  const [project, home] = [join(folder, 'project'), join(folder, 'home')]
  mkdirSync(project, { recursive: true })
  mkdirSync(home)
  // As the launcher wants it, whatever the mask of the bench is.
  chmodSync(home, 0o700)
  writeFileSync(join(project, 'note.txt'), 'hello\n')
  let asked = 0
  const input = () =>
    JSON.stringify({
      session_id: 'bench',
      cwd: project,
      hook_event_name: 'PreToolUse',
      tool_use_id: `call-${++asked}`,
      tool_name: 'Read',
      tool_input: { file_path: 'note.txt' },
    })
  return { name, argv: [bin, 'hook', 'claude-code'], cwd: project, env: { HANDRAIL_HOME: home }, input }
}
