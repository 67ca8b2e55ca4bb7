import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { atEveryDoor } from '../doors/doors.ts'

const script = `
const { spawn } = require('node:child_process')
const { writeFileSync } = require('node:fs')
process.on('SIGTERM', () => {})
const child = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"])
writeFileSync('pids', process.pid + ' ' + child.pid)
setInterval(() => {}, 1000)
`

/** Promise 5: a time-out returns, and nothing of the call is left running. */
atEveryDoor((door) => {
  test('a command that ignores its end is answered at its limit, and its whole tree is dead (CALL-6)', async () => {
    const place = makePlace(
      { 'hang.cjs': script },
      { 'policy.json': { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['node', '**'] }] } },
    )
    const answer = await door.at(place).call('code.run_command', {
      argv: ['node', 'hang.cjs'],
      timeout_ms: 1_500,
    })
    expect(answer).toMatchObject({ ok: false, code: 'TOOL.TIMEOUT' })
    const pids = readFileSync(join(place.project, 'pids'), 'utf8').split(' ').map(Number)
    expect(pids).toHaveLength(2)
    for (const pid of pids) expect(isRunning(pid)).toBe(false)
  })
})

/** A process that ended and only waits to be asked for its exit code runs nothing. */
function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`
  if (!existsSync(stat)) return false
  return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(stat, 'latin1'))
}
