import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, program, startProgram } from '../support/command-line.ts'
import { makeFolder } from '../support/project.ts'

const trials = [
  'configuration',
  'home',
  'space',
  'clock',
  'store',
  'keys',
  'tools',
  'servers',
  'login',
  'worktrees',
  'node',
  'ripgrep',
  'files',
  'bubblewrap',
  'namespaces',
  'user',
  'project',
  'system_settings',
  'system_calls',
  'network',
  'proxy',
  'processes',
  'memory',
  'memory_together',
  'disk',
  'ending',
  'dry_run',
]

test('doctor tries everything that the sandbox promises, and all of it holds here', async () => {
  const place = makePlace({ 'a.txt': '' })
  const ended = await handrail(place, ['doctor', '--json'])
  expect(jsonOf(ended)).toMatchObject({
    holds: true,
    findings: trials.map((id) => ({ id, holds: true, needed: id !== 'proxy' && id !== 'dry_run' })),
  })
  expect(ended.stdout).toMatch(/held back by (?:an overlay|a copy of the project)/)
  expect(ended.code).toBe(0)
})

test('doctor looks at all that calls would fail on, and names each issue with what to do', async () => {
  const place = makePlace(
    {},
    {
      'policy.json': '{"rules": [{"effect": "alow"}]}',
      'config.json': '{"sandbox": "host"}',
      'store.db': 'this is not a database, but somebody needs it\n'.repeat(40),
      'mcp.json': '{"mcpServers": {"a": {}}}',
      'tools/broken.json': '{',
      'keys/signing.key': 'no key\n',
    },
  )
  chmodSync(place.home, 0o777)
  const { code, stdout } = await handrail(place, ['doctor'])
  expect(code).toBe(1)
  for (const line of [
    /✗ configuration +\S+policy\.json#\/rules\/0\/effect: /,
    /✗ home +others can write to \S+, and so to your policy: chmod go-w /,
    /✓ space +\d+ MiB free at /,
    /✓ clock +\d{4}-/,
    /✗ store +The store ".*store\.db" cannot be used: /,
    /✗ keys +\S/,
    /✗ tools +\S+broken\.json cannot be used; "handrail tools check" says why\n/,
    /✗ servers +\/mcpServers\/a/,
    /✓ node /,
  ])
    expect(stdout).toMatch(line)
})

test('where commands may reach hosts, their proxy is needed; a project that they cannot write is named', async () => {
  const place = makePlace({}, { 'config.json': { commands: { hosts: ['example.com'] } } })
  chmodSync(place.project, 0o555)
  const ended = await handrail(place, ['doctor', '--json'])
  expect(jsonOf(ended)).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({ id: 'proxy', holds: true, needed: true }),
      expect.objectContaining({
        id: 'dry_run',
        holds: false,
        detail: expect.stringMatching(/^the user \S+ cannot write to the project.*"user" under "sandbox"/),
      }),
    ]),
  })
})

test('without bubblewrap doctor says what to install and ends with 1', async () => {
  const place = makePlace()
  const programs = makeFolder()
  symlinkSync('/bin/sh', join(programs, 'sh'))
  const { ended } = startProgram(place, [program, 'doctor', '--project', place.project], {
    env: { PATH: programs },
  })
  const { code, stdout } = await ended
  expect(stdout).toMatch(/✗ bubblewrap .*apt-get install bubblewrap/)
  expect(code).toBe(1)
})

test('where the host is chosen doctor says so, and nothing of the sandbox is needed', async () => {
  const place = makePlace({}, { 'config.json': { sandbox: 'host' } })
  const programs = makeFolder()
  symlinkSync('/bin/sh', join(programs, 'sh'))
  const { ended } = startProgram(place, [program, 'doctor', '--project', place.project], {
    env: { PATH: programs },
  })
  const { code, stdout } = await ended
  expect(stdout).toContain('the configuration chooses the host')
  expect(stdout).toMatch(/- bubblewrap/)
  expect(code).toBe(0)
})

test('bounds that a machine cannot hold a command to are found out', async () => {
  const place = makePlace({}, { 'config.json': { sandbox: { user: 'nobody-of-that-name' } } })
  const { code, stdout } = await handrail(place, ['doctor'])
  expect(stdout).toMatch(/✗ bubblewrap .*nobody-of-that-name/)
  expect(code).toBe(1)
})
