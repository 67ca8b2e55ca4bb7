// `npm test`: the checks beside the tests, since neither has work for every core all the time. Arguments are vitest's.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const check = spawn('npm', ['run', '-s', 'check'], { stdio: ['ignore', 'pipe', 'pipe'] })
const said: Buffer[] = []
for (const stream of [check.stdout, check.stderr]) stream.on('data', (piece: Buffer) => said.push(piece))
const tests = spawn('vitest', ['run', ...process.argv.slice(2)], { stdio: 'inherit' })
const [checked, tested] = [once(check, 'close'), once(tests, 'close')]
// Ctrl-C reaches both; what they say of it is waited for.
process.on('SIGINT', () => {})

const [checkCode] = (await checked) as [number | null]
process.stdout.write(Buffer.concat(said))
// Tests of what does not pass are made again anyway.
if (checkCode !== 0) tests.kill()
const [testCode] = (await tested) as [number | null]
process.exitCode = checkCode === 0 && testCode === 0 ? 0 : 1
