import fc from 'fast-check'
import { createRuntime, defineTool, type Runtime } from 'handrail'
import {
  exportEvidence,
  importEvidence,
  openKeyFiles,
  verifyEvidence,
  verifyExport,
  type ChainIssue,
  type KeyFiles,
} from 'handrail/evidence'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'

const say = defineTool({
  name: 'say.back',
  description: 'Says it back.',
  permission: 'readonly',
  input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  run: ({ word }) => ({ word }),
})

interface Home {
  dir: string
  keys: KeyFiles
}

function makeHome(): Home {
  const dir = makeFolder()
  return { dir, keys: openKeyFiles(join(dir, 'keys')) }
}

/** A process that makes these calls, each word in a session of its own, and signs what it wrote. */
async function callAll({ dir }: Home, words: readonly string[], tenant = 'local'): Promise<void> {
  const store = { path: join(dir, 'store.db') }
  const runtime = await createRuntime({
    project: dir,
    tools: [say],
    store,
    signing: { dir: join(dir, 'keys') },
  })
  for (const word of words) await runtime.session({ tenant }).call('say.back', { word })
  await runtime.close()
}

/** A runtime that does nothing but hold the store open. It signs nothing. */
async function look({ dir }: Home): Promise<Runtime> {
  const runtime = await createRuntime({ project: dir, store: { path: join(dir, 'store.db') } })
  onTestFinished(() => runtime.close())
  return runtime
}

async function exported(home: Home, more: { session?: string; tenant?: string } = {}): Promise<string[]> {
  const { store } = await look(home)
  return [...exportEvidence(store, { keys: home.keys, at: 1_795_000_000_000, ...more })]
}

async function imported(home: Home, lines: readonly string[], trusted: readonly string[] = []) {
  const { store } = await look(home)
  return importEvidence({ store, keys: home.keys, trusted, open: () => lines })
}

const anyLetter = fc.constantFrom('0', 'a', 'Z', '"', '{', '}', ':', ',', ' ', '\\', '\n')

async function makeExport(): Promise<{ home: Home; lines: string[] }> {
  const home = makeHome()
  await callAll(home, ['one', 'two'])
  await callAll(home, ['drei', 'vier'], 'acme')
  await callAll(home, ['three'])
  return { home, lines: await exported(home) }
}

/** The place of the record in this line of an export; undefined for its header and its end. */
function placeOf(line: string): { tenant: string; sequence: number } | undefined {
  const { tenant, sequence } = JSON.parse(line) as { tenant?: string; sequence?: number }
  return tenant === undefined || sequence === undefined ? undefined : { tenant, sequence }
}

/** Whether the issue names the record in this line, or the line itself. */
function names(issue: ChainIssue | undefined, line: string, number: number): boolean {
  const place = placeOf(line)
  return (
    issue?.message.includes(`Line ${number} `) === true ||
    (place !== undefined && issue?.sequence === place.sequence && issue.message.length > 0)
  )
}

test('an export proves itself: chains, bodies, signatures, and that it is whole (EVID-7)', async () => {
  const { home, lines } = await makeExport()
  const found = await verifyExport(lines)
  const key = home.keys.signingKey().id
  expect(found).toMatchObject({
    ok: true,
    calls: 5,
    signed: { records: found.records, pending: 0, keys: [key] },
  })
  expect(found.records).toBe(lines.length - 2)
})

test('a changed letter anywhere in an export is found, and the record or the line is named (EVID-7)', async () => {
  const { lines } = await makeExport()
  const check = async (at: number, letter: string) => {
    const text = lines.join('')
    const place = at % text.length
    fc.pre(text[place] !== letter)
    const changed = text.slice(0, place) + letter + text.slice(place + 1)
    const number = text.slice(0, place).split('\n').length
    const { ok, issue } = await verifyExport(changed.split('\n').slice(0, -1))
    expect(ok).toBe(false)
    const line = lines[number - 1] ?? ''
    const isRecord = placeOf(line) !== undefined && text[place] !== '\n'
    // What is not a part of a record, such as the name of a field, has no place in a chain.
    if (isRecord && issue?.sequence !== 0) expect([issue, names(issue, line, number)]).toEqual([issue, true])
  }
  await fc.assert(fc.asyncProperty(fc.nat(), anyLetter, check), {
    numRuns: rounds({ usual: 15, long: 400 }),
  })
})

test('a removed, inserted or moved line of an export is found and named, and so is a cut-off end (EVID-7)', async () => {
  const { lines } = await makeExport()
  const last = lines.length - 1
  const anyRecord = fc.integer({ min: 1, max: last - 1 })
  const removed = async (at: number) => {
    const { issue } = await verifyExport(lines.toSpliced(at, 1))
    expect(issue).toMatchObject(placeOf(lines[at] ?? '') ?? {})
    expect(['missing', 'truncated']).toContain(issue?.problem)
  }
  const inserted = async (from: number, to: number) => {
    const { issue } = await verifyExport(lines.toSpliced(to, 0, lines[from] ?? ''))
    expect(['reordered', 'missing']).toContain(issue?.problem)
  }
  const swapped = async (one: number, other: number) => {
    fc.pre(one < other)
    const [left = '', right = ''] = [lines[one], lines[other]]
    const places = [placeOf(left), placeOf(right)]
    // Records of two tenants have no order between them.
    fc.pre(places[0]?.tenant === places[1]?.tenant)
    const { issue } = await verifyExport(lines.with(one, right).with(other, left))
    expect(issue).toMatchObject({ problem: 'missing', ...places[0] })
  }
  const cutOff = async (at: number) => {
    expect((await verifyExport(lines.slice(0, at))).issue?.problem).toBe('truncated')
  }
  await fc.assert(fc.asyncProperty(anyRecord, removed))
  await fc.assert(fc.asyncProperty(anyRecord, anyRecord, inserted))
  await fc.assert(fc.asyncProperty(anyRecord, anyRecord, swapped))
  await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: last }), cutOff))
})

test('an import is refused until somebody says whose the keys are; nothing is written before (EVID-7)', async () => {
  const { home, lines } = await makeExport()
  const other = makeHome()
  const key = home.keys.signingKey().id
  const refused = await imported(other, lines)
  expect(refused).toMatchObject({ ok: false, imported: 0, issue: { problem: 'bad_signature' } })
  expect(refused.issue?.message).toContain(`--trust ${key}`)
  expect((await look(other)).store.tenants()).toEqual([])
  expect(await imported(other, lines, [key])).toMatchObject({
    ok: true,
    imported: lines.length - 2,
    trusted: [key],
  })

  const { store } = await look(other)
  expect(verifyEvidence(store, { keys: other.keys })).toMatchObject({
    ok: true,
    calls: 5,
    signed: { pending: 0 },
  })
  expect([...store.records({})]).toEqual([...(await look(home)).store.records({})])
})

test('imports go on where the one before ended, and are refused where the chains differ (EVID-7)', async () => {
  const { home, lines } = await makeExport()
  const other = makeHome()
  const key = home.keys.signingKey().id
  await imported(other, lines, [key])
  await callAll(home, ['more'])
  const later = await exported(home)
  expect(await imported(other, later)).toMatchObject({ ok: true, imported: 3, known: lines.length - 2 })
  expect(await imported(other, later)).toMatchObject({ ok: true, imported: 0 })
  expect(await imported(other, lines)).toMatchObject({ ok: true, imported: 0 })

  await callAll(other, ['own'])
  await callAll(home, ['yet more'])
  const conflict = await imported(other, await exported(home))
  expect(conflict).toMatchObject({ ok: false, imported: 0, issue: { tenant: 'local', problem: 'changed' } })
  expect(conflict.issue?.message).toContain('not parts of one chain')
})

test('an import that was cut off goes on with the next one (EVID-7)', async () => {
  const home = makeHome()
  await callAll(
    home,
    Array.from({ length: 400 }, (_, index) => `word ${index}`),
  )
  const lines = await exported(home)
  const other = makeHome()
  const key = home.keys.signingKey().id
  const { store } = await look(other)
  let reads = 0
  const open = function* () {
    reads++
    for (const [index, line] of lines.entries()) {
      // The first read verifies, the second one writes.
      if (reads === 2 && index === 700) throw new Error('the disk is gone')
      yield line
    }
  }
  await expect(importEvidence({ store, keys: other.keys, trusted: [key], open })).rejects.toThrow(
    'the disk is gone',
  )
  const half = verifyEvidence(store, { keys: other.keys })
  expect([half.ok, half.records]).toEqual([true, 500])
  expect(await imported(other, lines)).toMatchObject({ ok: true, known: 500, imported: lines.length - 502 })
  expect(verifyEvidence(store, { keys: other.keys })).toMatchObject({
    ok: true,
    calls: 400,
    signed: { pending: 0 },
  })
})

test('a part of a chain is proved with less, withholds the bodies of others, and is imported only behind its start (EVID-7)', async () => {
  const { home } = await makeExport()
  const { store } = await look(home)
  const [begin] = [...store.records({ tenant: 'acme', kind: 'begin' })].slice(-1)
  const lines = await exported(home, { session: begin?.session ?? '' })
  expect(await verifyExport(lines)).toMatchObject({ ok: true, calls: 1, signed: { pending: 0 } })
  const bodies = lines.filter((line) => line.includes('vier'))
  expect([bodies.length, lines.some((line) => line.includes('drei'))]).toEqual([2, false])
  const refused = await imported(makeHome(), lines, [home.keys.signingKey().id])
  expect(refused).toMatchObject({ ok: false, imported: 0, issue: { problem: 'missing', sequence: 1 } })
  const [first] = [...store.records({ tenant: 'local', kind: 'begin' })]
  const early = await exported(home, { session: first?.session ?? '' })
  // The second call of its process lies between it and the signature; its words are withheld.
  expect(await verifyExport(early)).toMatchObject({ ok: true, calls: 2, withoutResult: 1 })
})

test('calls that ran while an export was made end with the next one, and nobody ends them meanwhile (EVID-1)', async () => {
  const home = makeHome()
  let finish = (): void => {}
  const wait = defineTool({
    name: 'say.later',
    description: 'Waits.',
    permission: 'write',
    sideEffect: 'none',
    run: () => new Promise<string>((resolve) => (finish = () => resolve('done'))),
  })
  const runtime = await createRuntime({
    project: home.dir,
    tools: [wait],
    store: { path: join(home.dir, 'store.db') },
    policy: { rules: [{ effect: 'allow', tools: ['say.later'] }] },
    onEvent: ({ type }) => type === 'tool_started' && started(),
  })
  let started = (): void => {}
  const running = new Promise<void>((resolve) => (started = resolve))
  const call = runtime.session().call('say.later')
  await running
  // Everything that was handed over before is written with this.
  await runtime.store.append([])
  const lines = [...exportEvidence(runtime.store, { at: 1, tenant: 'local' })]
  const other = makeHome()
  expect(await imported(other, lines)).toMatchObject({ ok: true, imported: 1 })
  const later = await look(other)
  expect([later.store.orphans(), verifyEvidence(later.store).ok]).toEqual([[], true])
  await later.close()
  finish()
  await call
  const all = [...exportEvidence(runtime.store, { at: 2, tenant: 'local' })]
  await runtime.close()
  expect(await imported(other, all)).toMatchObject({ ok: true, imported: 1, known: 1 })
  expect(verifyEvidence((await look(other)).store)).toMatchObject({ ok: true, records: 2, calls: 1 })
})
