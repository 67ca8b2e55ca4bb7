import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryStore } from '../../stores/memory/create-memory-store.ts'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { addCheckpoint } from './add-checkpoint.ts'
import { exportEvidence } from '../export/export-evidence.ts'
import { openKeyFiles } from './key-files.ts'
import { generateSigningKey } from './signing-key.ts'
import { verifyEvidence } from './verify-evidence.ts'
import { writeWhole } from '../../kit/write-whole.ts'

function makeFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'handrail-keys-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

/** A chain that was signed once, and the folder of its keys. */
async function signOnce() {
  const dir = makeFolder()
  const keys = openKeyFiles(dir)
  const store = { ...createMemoryStore(), durable: true }
  await store.append([sampleBegin('a'), sampleEnd('a')])
  const { tenant, key } = await addCheckpoint({ store, keys, tenant: sampleBegin('a').record.tenant, at: 1 })
  return { dir, keys, store, publicPath: join(dir, `${key}.pub`), anchorPath: keys.anchorPath(tenant) }
}

test('a public key that a full disk cut off is named with what to do, and is whole again with the next signature (EVID-7)', async () => {
  const { keys, store, publicPath } = await signOnce()
  const whole = readFileSync(publicPath, 'utf8')
  for (const damage of ['', whole.slice(0, 60), 'no key', generateSigningKey().id]) {
    writeFileSync(publicPath, damage)
    const { ok, issue } = verifyEvidence(store, { keys })
    expect({ ok, problem: issue?.problem }).toEqual({ ok: false, problem: 'damaged_file' })
    expect(issue?.message).toContain(`The public key "${publicPath}" is damaged`)
    expect(issue?.message).toContain('Put it back from a copy')
    expect([...exportEvidence(store, { keys, at: 1 })]).toHaveLength(5)
  }
  keys.signingKey()
  expect(readFileSync(publicPath, 'utf8')).toBe(whole)
  expect(verifyEvidence(store, { keys }).ok).toBe(true)
})

test('a torn file of the last signature is named with what to do (EVID-7)', async () => {
  const { keys, store, anchorPath } = await signOnce()
  for (const damage of ['', '{', '[]', '{"tenant":"local"}']) {
    writeFileSync(anchorPath, damage)
    const { ok, issue } = verifyEvidence(store, { keys })
    expect({ ok, problem: issue?.problem }).toEqual({ ok: false, problem: 'damaged_file' })
    expect(issue?.message).toContain(
      `The file "${anchorPath}", which remembers the last signature, is damaged`,
    )
  }
})

test('a chain that is changed is told before a damaged file', async () => {
  const { keys, store, anchorPath } = await signOnce()
  truncateSync(anchorPath)
  const [first, ...rest] = store.records({})
  const changed = { ...first, text: first?.text.replace('"begin"', '"other"') }
  const broken = { ...store, records: () => [changed, ...rest].values() as ReturnType<typeof store.records> }
  expect(verifyEvidence(broken, { keys }).issue?.problem).toBe('changed')
})

test('the mark of a later signature is not replaced by that of an earlier one (EVID-7)', async () => {
  const { keys, store } = await signOnce()
  const { tenant } = sampleBegin('a').record
  const first = await addCheckpoint({ store, keys, tenant, at: 2 })
  const second = await addCheckpoint({ store, keys, tenant, at: 3 })
  keys.remember(first)
  expect(keys.anchors()).toMatchObject([{ tenant, sequence: second.sequence, hash: second.hash }])
})

test('a file that cannot be written whole stays what it was, and nothing is left beside it', () => {
  const dir = makeFolder()
  const path = join(dir, 'a')
  writeWhole(path, { text: 'one', mode: 0o600 })
  const put = () => {
    throw new Error('no room')
  }
  expect(() => writeWhole(path, { text: 'two', mode: 0o600, put })).toThrow('no room')
  expect(readFileSync(path, 'utf8')).toBe('one')
  expect(readdirSync(dir)).toEqual(['a'])
})
