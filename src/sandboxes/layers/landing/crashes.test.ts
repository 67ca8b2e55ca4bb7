import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { rounds } from '../../../../test/support/rounds.ts'
import { notesFolder } from '../../leftovers/notes.ts'
import { isLandingNote } from './landing-note.ts'
import { makeBoth, type TreeFacts } from './two-trees.fixture.ts'

const user = { uid: 4_242, gid: 4_242 }
const others = process.getuid?.() === 0 ? [{}, user] : [{}]

function makeAbove(identity: Partial<typeof user>): string {
  const above = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  chmodSync(above, 0o755)
  onTestFinished(() => {
    execFileSync('chmod', ['-R', 'u+rwX', above])
    rmSync(above, { recursive: true })
  })
  if ('uid' in identity) execFileSync('chown', [`${identity.uid}:${identity.gid}`, above])
  return above
}

test.each(others)(
  'a landing that ends at any of its steps, and a recovery that does, leave the folder as it was (%o)',
  (identity) => {
    const steps = rounds({ usual: 41, long: 11 })
    const script = join(import.meta.dirname, 'crashes.fixture.ts')
    const said = execFileSync(process.execPath, [script, makeAbove(identity), String(steps)], {
      ...identity,
      encoding: 'utf8',
    })
    const counts = JSON.parse(said) as { noted: number; recoveries: number }
    expect(counts.noted).toBeGreaterThan(50)
    expect(counts.recoveries).toBeGreaterThan(10)
  },
)

test('after a kill at any moment the next start makes the folder what it was before or after the landing, and leaves nothing', async () => {
  const above = makeAbove({})
  const both = makeBoth(above)
  const script = join(import.meta.dirname, 'landings.fixture.ts')
  // So that its stages lie apart from those of other tests.
  const env = { ...process.env, TMPDIR: above }
  let noted = 0
  // Until some were killed while changes came into force.
  for (let round = rounds({ usual: 2, long: 300 }); round >= 0 || noted === 0; round--) {
    const child = spawn(process.execPath, [script, above, 'land'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    })
    const lines: unknown[] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
    const [line] = lines
    if (!Buffer.isBuffer(line)) throw new Error(`The landings ended with ${lines.join(' ')}.`)
    const now = JSON.parse(line.toString()) as TreeFacts
    expect(now).toEqual(now['a'] === both.after['a'] ? both.after : both.before)
    await sleep(Math.random() * 120)
    child.kill('SIGKILL')
    await once(child, 'close')
    const notes = readdirSync(notesFolder).filter(
      (name) => isLandingNote(name) && name.includes(`-${child.pid}-`),
    )
    noted += notes.length
  }
  execFileSync(process.execPath, [script, above], { env })
})
