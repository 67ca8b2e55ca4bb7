import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, program, startProgram } from '../../support/command-line.ts'
import { makeFolder } from '../../support/project.ts'

const isRoot = process.getuid?.() === 0

/** A command with hosts, by a Handrail whose own Node nobody but root may start, and with this `node` in the search path. */
async function runWithNode(node: string | undefined) {
  const place = makePlace(
    {},
    {
      'config.json': { commands: { hosts: ['example.com'] } },
      'policy.json': {
        network: { default: 'allow' },
        rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] }],
      },
    },
  )
  const folder = makeFolder()
  const [closed, programs] = [join(folder, 'closed'), join(folder, 'bin')]
  mkdirSync(closed, { mode: 0o700 })
  copyFileSync(realpathSync(process.execPath), join(closed, 'node'))
  mkdirSync(programs)
  for (const path of ['/usr/bin/bwrap', '/bin/sh', '/usr/bin/touch'])
    symlinkSync(path, join(programs, path.slice(path.lastIndexOf('/') + 1)))
  if (node !== undefined) {
    writeFileSync(join(programs, 'node'), node)
    chmodSync(join(programs, 'node'), 0o755)
  }
  const call = ['call', 'code.run_command', '{"argv": ["touch", "ran"]}', '--project', place.project]
  const { ended } = startProgram(place, [program, ...call], {
    command: join(closed, 'node'),
    env: { PATH: programs },
  })
  const { code, stdout, stderr } = await ended
  expect(code).not.toBe(0)
  expect(existsSync(join(place.project, 'ran'))).toBe(false)
  return stdout + stderr
}

test.runIf(isRoot)(
  'where the user of commands can start no Node, no command with hosts runs (SB-24)',
  async () => {
    const said = await runWithNode(undefined)
    expect(said).toContain('SANDBOX.UNAVAILABLE (missing_program)')
    expect(said).toMatch(/may not start the one at ".*closed\/node"\. Install Node/)
  },
)

test.runIf(isRoot)(
  'where the way to the hosts cannot be opened, no command runs without it (SB-24)',
  async () => {
    const said = await runWithNode('#!/bin/sh\necho out of order >&2\nexit 1\n')
    expect(said).toContain('SANDBOX.UNAVAILABLE (no_backend)')
    expect(said).toContain(
      'the way to its hosts could not be opened in the sandbox (exit code 125: out of order)',
    )
  },
)
