import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, program, startProgram } from '../../support/command-line.ts'
import { makeFolder } from '../../support/project.ts'

test.each(['bubblewrap', 'host'] as const)(
  'a command finds nothing that whoever started Handrail left open (%s) (FILE-7)',
  async (sandbox) => {
    const rules = [{ effect: 'allow', tools: ['code.run_command'], argv: ['bash', '**'] }]
    const place = makePlace({}, { 'policy.json': { rules }, 'config.json': { sandbox } })
    const left = join(makeFolder(), 'left-open')
    const input = JSON.stringify({ argv: ['bash', '-c', 'echo out >&200; echo on'] })
    const start = 'exec 200>>"$1"; shift; exec "$@"'
    const run = startProgram(
      place,
      ['-c', start, 'bash', left, process.execPath, program, 'call', 'code.run_command', input],
      { command: '/bin/bash' },
    )
    const { stdout, stderr } = await run.ended
    expect(stdout + stderr).toContain('Bad file descriptor')
    expect(stdout).toContain('on')
    expect(readFileSync(left, 'utf8')).toBe('')
  },
)
