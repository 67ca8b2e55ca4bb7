import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../../support/command-line.ts'
import { doors } from '../doors/doors.ts'

/** Promise 1: there is no second way to a tool. */
describe.each(doors)('through %s', (_name, door) => {
  test('every call, allowed, denied, failed or unknown, leaves one begin and one end (EVID-1)', async () => {
    const place = makePlace(
      { 'a.txt': 'hello', 'secret/k.txt': 'k' },
      {
        'policy.json': {
          rules: [{ id: 'no-secrets', effect: 'deny', resources: ['handrail:file:{project}/secret/**'] }],
        },
      },
    )
    const at = door.at(place)
    const read = (path: string) => at.call('code.read_file', { path })
    expect(await read('a.txt')).toMatchObject({ ok: true, text: expect.stringContaining('hello') })
    expect(await read('secret/k.txt')).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'rule_denied' })
    expect(await read('nowhere.txt')).toMatchObject({ code: 'TOOL.FAILED', reason: 'file_not_found' })
    expect(await read('/etc/passwd')).toMatchObject({ code: 'SANDBOX.CAPABILITY_BLOCKED' })
    expect(await at.call('code.nothing', {})).toMatchObject({ reason: 'tool_not_available' })
    expect(await at.call('code.read_file', { pth: 'a.txt' })).toMatchObject({
      code: 'SCHEMA.VALIDATION_FAILED',
    })
    const listed = jsonOf<{ outcome: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
    expect(listed.map(({ outcome }) => outcome).sort()).toEqual([
      'denied',
      'denied',
      'denied',
      'failed',
      'failed',
      'ok',
    ])
    const verified = jsonOf<{ ok: boolean; calls: number }>(
      await handrail(place, ['evidence', 'verify', '--json']),
    )
    expect(verified).toMatchObject({ ok: true, calls: 6 })
  })

  test('what needs a person and finds none does nothing (PERM-5)', async () => {
    const place = makePlace({ 'a.txt': 'one' })
    const input = { path: 'a.txt', content: 'two', overwrite: true }
    const at = door.at(place)
    const alone = await at.call('code.write_file', input)
    expect(alone).toMatchObject({ code: 'POLICY.APPROVAL_DENIED' })
    expect(await at.call('code.write_file', input, { approve: 'deny' })).toMatchObject({
      reason: 'denied',
    })
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('one')
    expect((await at.call('code.write_file', input, { approve: 'once' })).ok).toBe(true)
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('two')
  })

  test('a budget is one for all doors (AUTH-4)', async () => {
    const place = makePlace(
      { 'a.txt': 'hello' },
      { 'policy.json': { budgets: [{ id: 'total', unit: 'calls', limit: 2 }] } },
    )
    const at = door.at(place)
    const read = () => at.call('code.read_file', { path: 'a.txt' })
    expect((await read()).ok).toBe(true)
    const other = await handrail(place, ['call', 'code.list_dir', '{"path":"."}'])
    expect(other.code).toBe(0)
    expect(await read()).toMatchObject({ code: 'QUOTA.BUDGET_EXCEEDED', reason: 'calls' })
  })

  test('a tenant sees and calls only its own (AUTH-6, REG-3)', async () => {
    const place = makePlace(
      { 'a.txt': 'hello' },
      { 'policy.json': { tenants: { acme: { allowedTools: ['code.list_dir'] } } } },
    )
    const at = door.at(place)
    const read = (tenant: string) => at.call('code.read_file', { path: 'a.txt' }, { tenant })
    expect((await read('local')).ok).toBe(true)
    expect(await read('acme')).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'tool_not_available' })
    expect((await at.call('code.list_dir', { path: '.' }, { tenant: 'acme' })).ok).toBe(true)
  })

  test('a role that may not is refused, whatever is asked for (POOL-4)', async () => {
    const place = makePlace({ 'a.txt': 'hello' })
    const asked = await door.at(place).call(
      'code.write_file',
      { path: 'b.txt', content: '' },
      {
        role: 'worker',
        approve: 'once',
      },
    )
    expect(asked).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'tool_not_available' })
  })
})
