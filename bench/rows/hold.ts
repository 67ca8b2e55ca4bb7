// Prints what commands cost in a layer and without one, by turns in this process: `hold.ts <turns>`.
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { loadHandrail, makeDirectory } from '../handrail/load.ts'
import { commandToRun } from '../harness/tree.ts'

/** Milliseconds of each turn; those of the same index were taken one after the other. */
export interface Held {
  readonly plain: number[]
  readonly layer: number[]
  readonly plainWrite: number[]
  readonly layerWrite: number[]
}

const fileCount = 10_000
const warmUps = 5
/** Between two commands, as a model thinks between them too: the work that one leaves must not count for the next one. */
const pauseMs = 50

const { codeTools, createRuntime } = await loadHandrail()
const { directory, remove } = makeDirectory()
writeFiles()
const open = (hold: 'always' | 'never') =>
  createRuntime({
    project: directory,
    tools: [codeTools()],
    store: 'memory',
    sandbox: { hold },
    approve: async () => ({ decision: 'allow_for_session' }),
    limits: { repeatsPerSession: 1_000_000 },
  })
const [holding, plain] = [await open('always'), await open('never')]
const [inLayer, without] = [holding.session(), plain.session()]
const held: Held = { plain: [], layer: [], plainWrite: [], layerWrite: [] }
const write = ['sh', '-c', 'echo text > folder-0/made']
const turns = [
  { session: without, argv: [commandToRun], into: held.plain },
  { session: inLayer, argv: [commandToRun], into: held.layer },
  { session: without, argv: write, into: held.plainWrite },
  { session: inLayer, argv: write, into: held.layerWrite },
]
for (let turn = -warmUps; turn < Number(process.argv[2]); turn++)
  for (const { into, session, ...input } of turns) {
    const start = performance.now()
    const result = await session.call('code.run_command', input)
    if (!result.ok) throw new Error(`code.run_command failed: ${result.error?.message}`)
    if (turn >= 0) into.push(performance.now() - start)
    await wait(pauseMs)
  }
process.stdout.write(JSON.stringify(held))
await holding.close()
await plain.close()
remove()

/** Writes the project. If this process is root, all of it belongs to the user that commands run as. */
function writeFiles(): void {
  const own = (path: string) => process.getuid?.() === 0 && chownSync(path, 65_534, 65_534)
  own(directory)
  for (let index = 0; index < fileCount; index++) {
    const folder = join(directory, `folder-${index % 100}`)
    if (index < 100) mkdirSync(folder)
    if (index < 100) own(folder)
    const file = join(folder, `file-${index}`)
    writeFileSync(file, `${index}\n`.repeat(20))
    own(file)
  }
}
