import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, ToolFailure, type Services } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'

type Files = Services['files']

const canary = 'canary-outside'
const reads = rounds({ usual: 800, long: 20_000 })
const creates = rounds({ usual: 200, long: 5_000 })
/** How often a whole tree is copied, moved or removed: each one is some twenty looks and changes. */
const trees = rounds({ usual: 15, long: 400 })

/**
 * Puts a folder, and a folder in it, and links to the outside by turns at the same names, as fast as it can, until it is killed or has no
 * parent any more. Makes anew whatever is gone.
 */
const attacker = `
  const { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } = require('node:fs')
  const outside = process.argv[1]
  const tried = (work) => { try { work() } catch {} }
  const parent = process.ppid
  process.stdout.write('ready')
  while (process.ppid === parent) {
    tried(() => { mkdirSync('real/sub', { recursive: true }); writeFileSync('real/f', 'inside'); writeFileSync('real/sub/g', 'inside') })
    tried(() => renameSync('real', 'd'))
    for (let i = 0; i < 4; i++) {
      tried(() => renameSync('d/sub', 'd/was'))
      tried(() => symlinkSync(outside + '/sub', 'd/sub'))
      tried(() => unlinkSync('d/sub'))
      tried(() => renameSync('d/was', 'd/sub'))
      tried(() => renameSync('d', 'away'))
      tried(() => symlinkSync(outside, 'link'))
      tried(() => renameSync('link', 'd'))
      tried(() => unlinkSync('d'))
      tried(() => renameSync('away', 'd'))
    }
    tried(() => rmSync('away', { recursive: true }))
  }`

/**
 * A call whose files are those of a tool, beside the attacker, which does something so many times, and on until each of these outcomes
 * came. Returns how often each came, and looks whether the outside is as it was.
 */
async function besideAttacker(
  { times, until }: { readonly times: number; readonly until: readonly string[] },
  work: (files: Files, round: number, count: (outcome: string) => void) => Promise<void>,
): Promise<{ project: string; outcomes: Map<string, number> }> {
  const project = makeFolder({ 'd/f': 'inside', 'd/sub/g': 'inside', own: 'inside' })
  const outside = makeFolder({ f: canary, 'sub/g': canary, 'canary.txt': canary })
  const before = everythingIn(outside)
  const outcomes = new Map<string, number>()
  const tool = defineTool({
    name: 'demo.race',
    description: 'Works on files while somebody swaps folders for links.',
    permission: 'write',
    sideEffect: 'filesystem',
    input: { type: 'object', properties: {}, additionalProperties: false },
    scopes: [{ resource: 'handrail:file:*', action: 'write' }],
    capabilities: { fs: { read: ['project'], write: ['project'] } },
    limits: { timeoutMs: 300_000, maxFiles: 1_000_000, maxDepth: 16 },
    needs: ['files'],
    async run(_input, { files }) {
      const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      // On where a busy machine lets the attacker come too seldom to be met.
      for (let i = 0; i < times || until.some((outcome) => !outcomes.has(outcome)); i++)
        await work(files, i, count)
    },
  })
  const runtime = await openRuntime({ project, tools: [tool], approve: personSaying('allow_once').approve })
  const child = spawn(process.execPath, ['-e', attacker, outside], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  try {
    const result = await runtime.session().call('demo.race', {})
    expect([result.ok, result.error]).toEqual([true, undefined])
    expect(child.exitCode).toBeNull()
  } finally {
    if (child.kill('SIGKILL')) await once(child, 'exit')
  }
  expect(everythingIn(outside)).toEqual(before)
  return { project, outcomes }
}

/** Every file below a folder with its content; of links only that they are there. */
function everythingIn(folder: string): [path: string, content: string][] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry): [string, string][] => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return [[path, 'folder'], ...everythingIn(path)]
      return [[path, entry.isFile() ? readFileSync(path, 'utf8') : 'link']]
    })
    .sort(([left], [right]) => (left < right ? -1 : 1))
}

/** Why it failed, or `done`. Anything but a refusal that says its reason is a defect. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof ToolFailure) return error.reason
    throw error
  }
}

test(`${reads} reads beside an attacker see nothing of the outside (FILE-9): TOCTOU race`, async () => {
  const met = { times: reads, until: ['inside', 'path_outside_roots'] }
  const { outcomes } = await besideAttacker(met, async (files, i, count) => {
    try {
      const path = i % 2 === 0 ? 'd/f' : 'd/sub/g'
      count(Buffer.from((await files.read(path)).bytes).toString())
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error
      count(error.reason)
    }
  })
  expect(outcomes.get(canary)).toBeUndefined()
})

test(`${creates} creates beside an attacker make nothing outside (FILE-9): TOCTOU race FS-29`, async () => {
  const bytes = Buffer.from('x')
  const met = { times: creates, until: ['done', 'write_outside_allowed_roots'] }
  await besideAttacker(met, async (files, i, count) => {
    const path = [`d/n${i}`, `d/sub/n${i}`, `d/s${i}/n`][i % 3] ?? ''
    count(await outcomeOf(files.write(path, bytes, { createDirs: true, expect: 'absent' })))
  })
})

const bounds = { maxEntries: 1_000_000, maxDepth: 16 }

async function digestAt(files: Files, path: string): Promise<string> {
  return (await files.survey(path, { ...bounds, purpose: 'write' }))?.digest ?? 'nothing'
}

test('folders removed beside an attacker leave the outside as it is (FILE-9): TOCTOU race FS-30', async () => {
  await besideAttacker({ times: trees, until: ['done', 'stale_preview'] }, async (files, i, count) => {
    const path = i % 2 === 0 ? 'd' : 'd/sub'
    const remove = async () =>
      files.remove(path, { ...bounds, expect: await digestAt(files, path), recursive: true })
    count(await outcomeOf(remove()))
  })
})

test.each(['copy', 'move'] as const)(
  'to %s folders beside an attacker brings nothing in from the outside, and nothing out (FILE-9, FS-37): TOCTOU race FS-32',
  async (work) => {
    const met = { times: trees, until: ['done', 'write_outside_allowed_roots'] }
    const { project } = await besideAttacker(met, async (files, i, count) => {
      const [from, to] = (
        [
          ['d', `in${i}`],
          ['d/sub', `in${i}`],
          ['own', `d/out${i}`],
          ['own', `d/sub/deep${i}/out`],
        ] as const
      )[i % 4] ?? ['', '']
      const transfer = async () =>
        files[work](from, to, {
          ...bounds,
          expect: await digestAt(files, from),
          replace: 'absent',
          createDirs: true,
        })
      count(await outcomeOf(transfer()))
      if (work === 'move' && i % 2 === 1) await outcomeOf(files.write('own', Buffer.from('inside'), absent))
    })
    // What the attacker was about to write when it was killed is empty.
    const known = ['folder', 'inside', 'link', '']
    expect(everythingIn(project).filter(([, content]) => !known.includes(content))).toEqual([])
  },
)

const absent = { createDirs: false, expect: 'absent' } as const
