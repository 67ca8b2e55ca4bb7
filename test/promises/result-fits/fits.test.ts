import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { atEveryDoor } from '../doors/doors.ts'

const key = `AKIA${'ABCDEFGH23456789'}`

/** Promise 6: every result fits. */
atEveryDoor((door) => {
  test('a secret in a file comes back and is kept redacted (OUT-4)', async () => {
    const place = makePlace({ 'notes.txt': `the key is ${key} today\n` })
    const { ok, text } = await door.at(place).call('code.read_file', { path: 'notes.txt' })
    expect(ok).toBe(true)
    expect(text).toContain('[redacted]')
    expect(text).not.toContain(key)
    for (const name of readdirSync(place.home).filter((each) => each.startsWith('store.db')))
      expect(readFileSync(join(place.home, name)).includes(key)).toBe(false)
  })

  test('an obligation of the policy holds for what comes back and for what is kept (OUT-3)', async () => {
    const place = makePlace(
      { 'people.txt': 'ann 078-05-1120\nbob 219-09-9999\n' },
      {
        'policy.json': {
          obligations: [
            { id: 'numbers', action: 'mask', tools: ['code.*'], patterns: ['[0-9]{3}-[0-9]{2}-[0-9]{4}'] },
          ],
        },
      },
    )
    const { ok, text } = await door.at(place).call('code.read_file', { path: 'people.txt' })
    expect(ok).toBe(true)
    expect(text).toContain('1120')
    expect(text).not.toContain('078-05-1120')
    for (const name of readdirSync(place.home).filter((each) => each.startsWith('store.db')))
      expect(readFileSync(join(place.home, name)).includes('078-05-1120')).toBe(false)
  })

  test('output without end comes back shortened, and the whole of it is an artifact (OUT-2)', async () => {
    const place = makePlace(
      {},
      { 'policy.json': { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['node', '**'] }] } },
    )
    const print = "for (let n = 0; n < 200000; n++) console.log('line ' + n)"
    const { ok, text } = await door.at(place).call('code.run_command', { argv: ['node', '-e', print] })
    expect(ok).toBe(true)
    expect(text.length).toBeLessThan(200_000)
    expect(text).toContain('line 0')
    expect(text).toContain('line 199999')
    expect(readdirSync(join(place.home, 'artifacts'), { recursive: true }).length).toBeGreaterThan(0)
  })

  test('a file that is not text is a typed error, never a broken result (FILE-1)', async () => {
    const place = makePlace({ 'picture.bin': new Uint8Array([0, 255, 0, 1, 2, 3, 0]) })
    expect(await door.at(place).call('code.read_file', { path: 'picture.bin' })).toMatchObject({
      ok: false,
      code: 'TOOL.FAILED',
      reason: 'binary_file',
    })
  })
})
