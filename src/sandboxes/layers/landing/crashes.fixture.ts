import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { deepStrictEqual } from 'node:assert'
import { notesFolder } from '../../leftovers/notes.ts'
import { ownMark } from '../../leftovers/process-mark.ts'
import { landBoth, makeBoth, readTree } from './two-trees.fixture.ts'
import { isLandingNote } from './landing-note.ts'
import { recoverLanding } from './recover-landings.ts'

// Run by itself: ends a landing at each of its changes to the disk, as a kill would, and its recovery at every so manieth of its own. Prints how often.
const changing = [
  'openSync',
  'writeSync',
  'renameSync',
  'linkSync',
  'unlinkSync',
  'mkdirSync',
  'rmdirSync',
  'rmSync',
  'symlinkSync',
  'chmodSync',
  'fchmodSync',
  'fchownSync',
  'futimesSync',
  'utimesSync',
] as const
let left = Number.POSITIVE_INFINITY
for (const name of changing) {
  const real = fs[name] as (...args: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      if (--left < 0) throw new Error('killed')
      return real(...args)
    },
  })
}
const { rmdir } = fs.promises
Object.assign(fs.promises, {
  rmdir: async (...args: Parameters<typeof rmdir>) => {
    if (--left < 0) throw new Error('killed')
    await rmdir(...args)
  },
})
syncBuiltinESMExports()

async function endsAfter(changes: number, work: () => Promise<unknown>): Promise<boolean> {
  left = changes
  await work().catch(() => {})
  const wasEnded = left < 0
  left = Number.POSITIVE_INFINITY
  return wasEnded
}

function findNote(): string | undefined {
  const name = fs.readdirSync(notesFolder).find((each) => each.includes(ownMark()) && isLandingNote(each))
  return name && join(notesFolder, name)
}

const [, , above = '', steps = '1'] = process.argv
const step = Number(steps)
const counts = { landings: 0, noted: 0, recoveries: 0 }
let ended = true
for (let changes = 0; ended; changes++) {
  let recovers = true
  for (let later = 1 + (changes % step); recovers; later += step) {
    const both = makeBoth(join(above, `${changes}-${later}`))
    ended = await endsAfter(changes, () => landBoth(both, 'after'))
    if (!ended) {
      deepStrictEqual(readTree(both.root), both.after)
      break
    }
    counts.landings++
    const note = findNote()
    if (note === undefined) {
      const now = readTree(both.root)
      for (const path of Object.keys(now)) if (path.startsWith('.handrail-')) delete now[path]
      const isAfter = now['a'] === both.after['a']
      deepStrictEqual(now, isAfter ? both.after : both.before)
      break
    }
    counts.noted++
    recovers = await endsAfter(later, () => recoverLanding(note))
    if (recovers) counts.recoveries++
    for (let again = findNote(); again !== undefined; again = findNote()) await recoverLanding(again)
    const now = readTree(both.root)
    // What no note has any more, the list of unfinished files has.
    for (const path of Object.keys(now)) if (path.startsWith('.handrail-')) delete now[path]
    deepStrictEqual(now, both.before)
  }
}
console.log(JSON.stringify(counts))
