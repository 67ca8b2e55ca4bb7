import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { LandingItem } from './item.ts'
import { land } from './land.ts'
import { isLandingNote } from './landing-note.ts'

// Run by itself: lands what it reads, prints the note of the landing just before that would go, and ends as if it were killed.
const real = fs.rmSync
Object.assign(fs, {
  rmSync: (...args: Parameters<typeof real>) => {
    const path = String(args[0])
    if (!isLandingNote(path)) return real(...args)
    console.log(path)
    process.kill(process.pid, 'SIGKILL')
  },
})
syncBuiltinESMExports()
const items = JSON.parse(fs.readFileSync(0, 'utf8'), (key, value: unknown) =>
  key === 'unchangedSince' ? BigInt(String(value)) : value,
) as LandingItem[]
await land(items, { owner: undefined, history: undefined, signals: [] })
