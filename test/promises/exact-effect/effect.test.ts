import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { atEveryDoor } from '../doors/doors.ts'

/** Promise 4: exactly the asked-for effect. */
atEveryDoor((door) => {
  const append = (key: string) => ({
    tool: 'code.edit_file',
    input: { path: 'log.txt', edits: [{ old: 'end', new: 'line\nend' }] },
    asking: { key, approve: 'once' as const },
  })

  test('a call with a key happens once, however often it is asked for, whatever process asks (CALL-4)', async () => {
    const place = makePlace({ 'log.txt': 'end' })
    const { tool, input, asking } = append('once')
    const first = await door.at(place).call(tool, input, asking)
    const again = await door.at(place).call(tool, input, asking)
    expect(first.ok).toBe(true)
    expect(again.text).toBe(first.text)
    expect(readFileSync(join(place.project, 'log.txt'), 'utf8')).toBe('line\nend')
    expect((await door.at(place).call(tool, input, { ...asking, key: 'twice' })).ok).toBe(true)
    expect(readFileSync(join(place.project, 'log.txt'), 'utf8')).toBe('line\nline\nend')
  })

  test('a key with another input is refused and changes nothing (CALL-4)', async () => {
    const place = makePlace({ 'log.txt': 'end' })
    const { tool, input, asking } = append('k')
    await door.at(place).call(tool, input, asking)
    writeFileSync(join(place.project, 'other.txt'), 'end')
    const other = await door.at(place).call(tool, { ...input, path: 'other.txt' }, asking)
    expect(other).toMatchObject({ code: 'IDEMPOTENCY.CONFLICT', reason: 'same_key_other_input' })
    expect(readFileSync(join(place.project, 'other.txt'), 'utf8')).toBe('end')
  })

  test('a key is of the actor who gave it, and what it kept is decided about anew (CALL-4, AUTH-2, AUTH-5)', async () => {
    const place = makePlace({ 'log.txt': 'end' })
    const { tool, input, asking } = append('k')
    const first = await door.at(place).call(tool, input, { ...asking, actor: 'ann' })
    const others = await door.at(place).call(tool, input, { key: 'k', approve: 'deny', actor: 'bob' })
    expect(others.reason).toBe('denied')
    const again = await door.at(place).call(tool, input, { key: 'k', approve: 'deny', actor: 'ann' })
    expect(again.text).toBe(first.text)
    writeFileSync(
      join(place.home, 'policy.json'),
      JSON.stringify({ rules: [{ effect: 'deny', resources: ['handrail:file:{project}/log.txt'] }] }),
    )
    const late = await door.at(place).call(tool, input, { ...asking, actor: 'ann' })
    expect(late.reason).toBe('rule_denied')
    expect(readFileSync(join(place.project, 'log.txt'), 'utf8')).toBe('line\nend')
  })
})
