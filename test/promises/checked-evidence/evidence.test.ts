import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { EvidenceRecord, Verification } from 'handrail/evidence'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { createClient } from '../../mcp/connect.ts'
import {
  handrail,
  jsonOf,
  makePlace,
  onBundle,
  startHandrail,
  startProgram,
  type Place,
} from '../../support/command-line.ts'
import { atEveryDoor, type Door } from '../doors/doors.ts'
import { toOwnServer } from '../../support/serve-stdio.ts'

interface Listed {
  call: string
  outcome: string
  reason?: string
}
interface Shown {
  record: EvidenceRecord
  input?: unknown
  result?: unknown
}

const evidence = (place: Place, ...argv: string[]) => handrail(place, ['evidence', ...argv])
const verify = async (place: Place) =>
  jsonOf<Verification>(await evidence(place, 'verify', '--tenant', 'local', '--json'))
const list = async (place: Place) => jsonOf<Listed[]>(await evidence(place, 'list', '--json'))

/** Calls of every outcome there is without a crash; the last one is a keyed one once more. */
async function callAll(door: Door): Promise<{ place: Place; outcomes: string[] }> {
  const place = makePlace({ 'a.txt': 'one' })
  const at = door.at(place)
  await at.call('code.read_file', { path: 'a.txt' })
  await at.call('code.read_file', { path: 'missing.txt' })
  await at.call('code.write_file', { path: 'b.txt', content: 'b' }, { approve: 'deny' })
  await at.call('code.nothing', {})
  const write = { path: 'c.txt', content: 'c' }
  await at.call('code.write_file', write, { approve: 'once', key: 'k' })
  await at.call('code.write_file', write, { approve: 'once', key: 'k' })
  await at.end()
  return { place, outcomes: ['ok', 'ok', 'denied', 'denied', 'failed', 'ok'] }
}

/** What a person can do to one record in the file, and what verification says of that record. */
const tamperings: readonly (readonly [what: string, statement: string, finds: readonly string[]])[] = [
  [
    'changed',
    `UPDATE records SET text = replace(text, '"at":1', '"at":2') WHERE tenant = 'local' AND sequence = $at`,
    ['changed'],
  ],
  ['removed', "DELETE FROM records WHERE tenant = 'local' AND sequence = $at", ['missing', 'truncated']],
  [
    'moved behind the end',
    "UPDATE records SET sequence = 9999 WHERE tenant = 'local' AND sequence = $at",
    ['missing', 'truncated'],
  ],
  [
    'given another body',
    `UPDATE records SET body = body || ' ' WHERE tenant = 'local' AND sequence = $at`,
    ['body_changed'],
  ],
]

/** Promise 2: evidence that can be checked. */
atEveryDoor((door) => {
  const made = keepOpen(() => callAll(door))

  test('every call leaves a begin and an end, chained and signed, with who, what, why and what came of it (EVID-1, EVID-2)', async () => {
    const { place, outcomes } = made()
    const calls = await list(place)
    expect(calls.map(({ outcome }) => outcome)).toEqual(outcomes)
    for (const { call, outcome } of calls) {
      const shown = jsonOf<Shown[]>(await evidence(place, 'show', call, '--json'))
      expect(shown.map(({ record }) => record)).toMatchObject([
        {
          kind: 'begin',
          tenant: 'local',
          actor: 'user',
          role: 'main',
          policy: expect.stringMatching(/^[\w-]{43}$/) as string,
        },
        { kind: 'end', call, outcome, result: expect.stringMatching(/^[\w-]{43}$/) as string },
      ])
    }
    const verified = await verify(place)
    expect(verified).toMatchObject({ ok: true, calls: outcomes.length, signed: { pending: 0 } })
    expect(verified.signed?.keys).toHaveLength(1)
  })

  test('verify finds a record that was changed, removed or moved, and names it (EVID-7)', async () => {
    const { place } = made()
    const { records } = await verify(place)
    for (const [what, statement, finds] of tamperings) {
      const tampered = makePlace()
      cpSync(place.home, tampered.home, { recursive: true })
      const db = new DatabaseSync(tampered.store)
      const bodies = db
        .prepare("SELECT sequence FROM records WHERE tenant = 'local' AND body IS NOT NULL")
        .all()
      const at =
        finds[0] === 'body_changed'
          ? Number(bodies[Math.floor(Math.random() * bodies.length)]?.['sequence'])
          : 1 + Math.floor(Math.random() * records)
      db.prepare(statement).run({ at })
      db.close()
      const { ok, issue } = await verify(tampered)
      expect([what, ok, issue?.sequence]).toEqual([what, false, at])
      expect(finds).toContain(issue?.problem)
    }
  })

  test('an export of it convinces somebody who has nothing else, and not once it was changed (EVID-7)', async () => {
    const { place, outcomes } = made()
    const file = join(place.project, 'evidence.jsonl')
    expect((await evidence(place, 'export', '--out', file)).code).toBe(0)
    const stranger = makePlace()
    const { code, stdout } = await evidence(stranger, 'verify', '--file', file)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          `^The export holds: \\d+ records of ${outcomes.length} calls\\.\\nSigned: .*\\nNot known here: key_`,
        ),
      ),
    ])
    writeFileSync(file, readFileSync(file, 'utf8').replace('"denied', '"allowed'))
    expect((await evidence(stranger, 'verify', '--file', file)).code).toBe(1)
  })
})

const policy = { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['node', '**'] }] }
const hang = { argv: ['node', 'hang.cjs'] }
const script = "require('node:fs').writeFileSync('there', ''); setTimeout(() => {}, 5000)"

/** Starts a process that makes this call through one door, and gives what kills it. */
const starts: {
  readonly [door: string]: (place: Place) => Promise<{ kill: () => void; ended: Promise<unknown> }>
} = {
  async 'the library'(place) {
    const file = join(import.meta.dirname, 'one-call.ts')
    const about = [
      place.project,
      place.store,
      JSON.stringify(policy),
      'code.run_command',
      JSON.stringify(hang),
    ]
    const { child, ended } = startProgram(place, [onBundle, file, ...about])
    return { kill: () => child.kill('SIGKILL'), ended }
  },
  async 'the command line'(place) {
    const { child, ended } = startHandrail(place, ['call', 'code.run_command', JSON.stringify(hang)])
    return { kill: () => child.kill('SIGKILL'), ended }
  },
  async MCP(place) {
    const client = createClient({ era: 'modern' })
    const transport = toOwnServer(place)
    await client.connect(transport)
    onTestFinished(() => client.close())
    const ended = client.callTool({ name: 'code__run_command', arguments: hang }).catch(() => {})
    const { pid } = transport
    if (pid === null) throw new Error('The server has no process.')
    return { kill: () => process.kill(pid, 'SIGKILL'), ended }
  },
}

describe.each(Object.entries(starts))('through %s', (_name, start) => {
  test('a kill in the middle of a call leaves no begin open (EVID-1)', async () => {
    const place = makePlace({ 'hang.cjs': script }, { 'policy.json': policy })
    const running = await start(place)
    await expect.poll(() => existsSync(join(place.project, 'there'))).toBe(true)
    running.kill()
    await running.ended
    expect(await list(place)).toMatchObject([{ outcome: 'unknown', reason: 'interrupted' }])
    expect(await verify(place)).toMatchObject({ ok: true, calls: 1, signed: { pending: 0 } })
  })
})
