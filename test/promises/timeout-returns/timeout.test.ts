import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { findProcesses } from '../../support/processes.ts'
import { atEveryDoor } from '../doors/doors.ts'
import { withEnoughTime } from '../../support/with-enough-time.ts'

const script = `
const { spawn } = require('node:child_process')
const { writeFileSync } = require('node:fs')
process.on('SIGTERM', () => {})
const [mark] = process.argv.slice(2)
const child = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)", mark])
writeFileSync('started', String(child.pid))
setInterval(() => {}, 1000)
`

/** Promise 5: a time-out returns, and nothing of the call is left running. */
atEveryDoor((door) => {
  test('a command that ignores its end is answered at its limit, and its whole tree is dead (CALL-6)', async () => {
    const place = makePlace(
      { 'hang.cjs': script },
      { 'policy.json': { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['node', '**'] }] } },
    )
    await withEnoughTime(1_000, async (ms) => {
      const mark = `hanging-${randomUUID()}`
      const answer = await door.at(place).call('code.run_command', {
        argv: ['node', 'hang.cjs', mark],
        timeout_ms: ms,
      })
      expect(answer).toMatchObject({ ok: false, code: 'TOOL.TIMEOUT' })
      expect(findProcesses(mark)).toEqual([])
      expect(Number(readFileSync(join(place.project, 'started'), 'utf8'))).toBeGreaterThan(0)
    })
  })
})
