import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'

const configuration = {
  'config.json': { toolGroups: ['schedule'] },
  'policy.json': { rules: [{ effect: 'allow', tools: ['cron.*', 'code.write_file'] }] },
}

test('at the terminal schedules are listed, shown, run and deleted (BI-5)', async () => {
  const place = makePlace({}, configuration)
  const input = {
    name: 'notes',
    schedule: '0 9 1 1 *',
    time_zone: 'Europe/Berlin',
    tool: 'code.write_file',
    input: { path: 'note.txt', content: 'noted', overwrite: true },
  }
  expect((await handrail(place, ['call', 'cron.create', JSON.stringify(input)])).code).toBe(0)
  const listed = await handrail(place, ['schedules', '--json'])
  const [{ id } = { id: '' }] = JSON.parse(listed.stdout) as { id: string }[]
  expect((await handrail(place, ['schedules'])).stdout).toContain(
    `${id}  notes  "0 9 1 1 *" in Europe/Berlin`,
  )
  const ran = await handrail(place, ['schedules', 'run', id.slice(-6)])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toContain('  ok  ')
  const shown = (await handrail(place, ['schedules', 'show', id])).stdout
  expect(shown).toContain('calls    code.write_file')
  expect(shown).toMatch(/run_\w+  for .*  ok/)
  expect(await handrail(place, ['schedules', 'show', 'nope'])).toMatchObject({ code: 2 })
  expect((await handrail(place, ['schedules', 'delete', id])).stdout).toContain('is deleted')
  expect((await handrail(place, ['schedules'])).stdout).toBe('0 schedules\n')
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})
