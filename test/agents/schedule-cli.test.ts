import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime } from 'handrail'
import { scheduleTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { handrail, makePlace, startHandrail } from '../support/command-line.ts'

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

test('serve runs what is due, and of two servers on one store one does (BI-5)', async () => {
  const place = makePlace({}, configuration)
  const dayMs = 24 * 3_600_000
  // Made yesterday, so that a time has passed since.
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [codeTools(), scheduleTools()],
    policy: { rules: [{ effect: 'allow', tools: ['cron.*', 'code.write_file'] }] },
    store: { path: place.store },
    now: () => Date.now() - dayMs,
  })
  const input = { path: 'note.txt', content: 'noted' }
  const made = await runtime.session().call('cron.create', {
    name: 'notes',
    schedule: '0 0 * * *',
    time_zone: 'UTC',
    tool: 'code.write_file',
    input,
  })
  expect(made.error).toBeUndefined()
  await runtime.close()
  const servers = [0, 1].map(() => startHandrail(place, ['serve', '--port', '0']))
  const listRuns = async () => JSON.parse((await handrail(place, ['schedules', '--json'])).stdout) as object
  // As nothing is overwritten, a second run would have failed.
  const once = [{ runs: 1, lastRun: { state: 'ok' } }]
  await expect.poll(listRuns, { interval: 500, timeout: 120_000 }).toMatchObject(once)
  expect(existsSync(join(place.project, 'note.txt'))).toBe(true)
  await Promise.all(servers.map((server) => server.saw('Ctrl-C stops.')))
  for (const { child } of servers) child.kill('SIGINT')
  for (const { ended } of servers) expect(await ended).toMatchObject({ code: 0, stderr: '' })
  expect(await listRuns()).toMatchObject(once)
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})
