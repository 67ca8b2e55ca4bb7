import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeTools, type ApprovalAnswer } from 'handrail'
import { beforeEach, expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'
import { atOpenEntrances, type EntranceOptions } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host-6604\n'
const notebook = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: {},
  cells: [{ cell_type: 'code', id: 'a', metadata: {}, source: 'one', outputs: [], execution_count: null }],
})

type Swap = (project: string, away: string) => void

/** Puts a link to the folder outside in the place of a folder. */
const swapFolder =
  (folder: string): Swap =>
  (project, away) => {
    renameSync(join(project, folder), join(project, `${folder}-before`))
    symlinkSync(away, join(project, folder))
  }
/** Puts a link to the canary in the place of a file, or where none was. */
const swapFile =
  (file: string): Swap =>
  (project, away) => {
    rmSync(join(project, file), { force: true })
    symlinkSync(join(away, 'canary.txt'), join(project, file))
  }

/** What somebody asks for, and what somebody else does while the person thinks about it. Each has a folder of its own. */
const races: readonly (readonly [
  what: string,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  swap: Swap,
])[] = [
  [
    'a new file, its folder swapped',
    'code.write_file',
    { path: 'd0/new.txt', content: 'x' },
    swapFolder('d0'),
  ],
  [
    'a new file, a link put there',
    'code.write_file',
    { path: 'd1/new.txt', content: 'x' },
    swapFile('d1/new.txt'),
  ],
  [
    'an old file, its folder swapped',
    'code.write_file',
    { path: 'd2/canary.txt', content: 'x', overwrite: true },
    swapFolder('d2'),
  ],
  [
    'an old file, a link in its place',
    'code.write_file',
    { path: 'd3/canary.txt', content: 'x', overwrite: true },
    swapFile('d3/canary.txt'),
  ],
  ['new folders, one swapped', 'code.write_file', { path: 'd4/a/b/new.txt', content: 'x' }, swapFolder('d4')],
  [
    'an edit, its folder swapped',
    'code.edit_file',
    { path: 'd5/canary.txt', edits: [{ old: 'inner', new: 'x' }] },
    swapFolder('d5'),
  ],
  [
    'an edit, a link in its place',
    'code.edit_file',
    { path: 'd6/canary.txt', edits: [{ old: 'inner', new: 'x' }] },
    swapFile('d6/canary.txt'),
  ],
  [
    'a cell, a link in its place',
    'code.edit_notebook',
    { path: 'd7/n.ipynb', cell: 0, source: 'x' },
    swapFile('d7/n.ipynb'),
  ],
  ['a sensitive file, a link in its place', 'code.read_file', { path: 'd8/.env' }, swapFile('d8/.env')],
  ['a sensitive file, its folder swapped', 'code.read_file', { path: 'd9/.env' }, swapFolder('d9')],
  [
    'a command, its folder swapped',
    'code.run_command',
    { argv: ['sh', '-c', 'cat canary.txt; echo x > made'], cwd: 'd10' },
    swapFolder('d10'),
  ],
  [
    'a program, a link to another in its place',
    'code.run_command',
    { argv: ['./d11/p'] },
    (project) => {
      rmSync(join(project, 'd11/p'))
      symlinkSync('other', join(project, 'd11/p'))
    },
  ],
]

const folders = Array.from({ length: 12 }, (_, index) => `d${index}`)
const files = Object.fromEntries(
  folders.flatMap((folder) => [
    [`${folder}/canary.txt`, 'the inner text\n'],
    [`${folder}/.env`, 'the inner text\n'],
    [`${folder}/n.ipynb`, notebook],
    [`${folder}/p`, '#!/bin/sh\necho asked for\n'],
    [`${folder}/other`, '#!/bin/sh\necho canary-of-another-program\n'],
  ]),
)

let meanwhile: ((project: string) => void) | undefined
let answer: unknown = 'allow_once'
beforeEach(() => {
  meanwhile = undefined
  answer = 'allow_once'
})

const entrance: EntranceOptions = {
  files,
  // Commands are asked about before they run, as all other calls are.
  configuration: { commands: { review: 'never' } },
  says: () => answer,
  meanwhile: (project) => meanwhile?.(project),
}

atOpenEntrances(entrance, (at) => {
  const place = keepOpen(() => {
    const away = makeFolder({ 'canary.txt': canary, '.env': canary, 'n.ipynb': notebook })
    for (const path of ['', ...readdirSync(away)]) chmodSync(join(away, path), 0o777)
    for (const folder of folders)
      for (const program of ['p', 'other']) chmodSync(join(at().project, folder, program), 0o755)
    const now = () => readdirSync(away).map((name) => [name, readFileSync(join(away, name), 'utf8')])
    return { away, now, before: now() }
  })

  test.each(races)('FS-32 %s while the person was asked, is refused', async (...[, tool, input, swap]) => {
    const { away, now, before } = place()
    let swapped = false
    meanwhile = (project) => {
      swap(project, away)
      swapped = true
    }
    const { ok, code, seen } = await at().call(tool, input)
    expect({ swapped, ok, leaks: seen.includes('canary-of') }).toEqual({
      swapped: true,
      ok: false,
      leaks: false,
    })
    expect(code).toMatch(/^(?:SANDBOX\.CAPABILITY_BLOCKED|POLICY\.APPROVAL_DENIED|TOOL\.FAILED)$/)
    expect(now()).toEqual(before)
  })

  test('FS-32 what changed elsewhere while the person was asked refuses nothing', async () => {
    meanwhile = (project) => writeFileSync(join(project, 'elsewhere.txt'), 'x')
    expect(await at().call('code.write_file', { path: 'kept.txt', content: 'kept' })).toMatchObject({
      ok: true,
    })
    expect(readFileSync(join(at().project, 'kept.txt'), 'utf8')).toBe('kept')
  })

  test.each([
    [true],
    [1],
    ['yes'],
    ['true'],
    ['allow'],
    ['ALLOW_ONCE'],
    ['allow_once '],
    ['allow_always'],
    [['allow_once']],
    [''],
  ])('PL-11 the answer %j is not a yes', async (given) => {
    answer = given
    const result = await at().call('code.write_file', { path: 'never.txt', content: 'x' })
    expect(result).toMatchObject({ ok: false, code: 'POLICY.APPROVAL_DENIED' })
    expect(existsSync(join(at().project, 'never.txt'))).toBe(false)
  })
})

/** What code might give back where an answer is wanted. */
const noAnswers: Readonly<Record<string, () => unknown>> = {
  true: () => true,
  'a number': () => 1,
  'the word alone': () => 'allow_once',
  'the word in a list': () => ['allow_once'],
  'another field': () => ({ allow: true }),
  'a truthy decision': () => ({ decision: true }),
  'the word in an object': () => ({ decision: { allow_once: true } }),
  'no decision': () => ({ decision: null }),
  'an inherited decision': () => Object.create({ decision: 'allow_once' }) as unknown,
  'a function': () => () => ({ decision: 'allow_once' }),
  'something that says yes to everything': () => new Proxy({}, { get: () => true }),
  nothing: () => undefined,
}

test.each(Object.keys(noAnswers))('PL-11 a function that answers with %s has not said yes', async (what) => {
  const runtime = await openRuntime({
    tools: [codeTools()],
    approve: async () => noAnswers[what]?.() as ApprovalAnswer,
  })
  const result = await runtime.session().call('code.write_file', { path: 'never.txt', content: 'x' })
  expect([result.error?.code, existsSync(join(runtime.project, 'never.txt'))]).toEqual([
    'POLICY.APPROVAL_DENIED',
    false,
  ])
})
