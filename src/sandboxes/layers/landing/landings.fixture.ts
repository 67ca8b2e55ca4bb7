import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemErrorName } from '../../files/file-failure.ts'
import { sweepLeftovers } from '../../places/sweep-leftovers.ts'
import { landBoth, readTree, toBoth } from './two-trees.fixture.ts'

// Run by itself: does what a killed process left to do, prints what is there, and then lands one tree and the other one in turn until it is killed.
const isStage = (name: string): boolean => /^\.handrail-[0-9a-f]+\.tmp$/.test(name)
const both = toBoth(process.argv[2] ?? '')
await sweepLeftovers()
// Another Handrail of this machine may be taking the landing back, in the middle of which the folder is away, and clear its stage away then.
const isAtWork = () => {
  try {
    return [both.root, tmpdir()].some((folder) => readdirSync(folder).some(isStage))
  } catch (error) {
    if (systemErrorName(error) === 'ENOENT') return true
    throw error
  }
}
for (let looks = 0; looks < 500 && isAtWork(); looks++) await sleep(20)
const now = readTree(both.root)
console.log(JSON.stringify(now))
if (process.argv[3] === 'land')
  for (let isAfter = now['a'] === both.after['a']; ; isAfter = !isAfter)
    await landBoth(both, isAfter ? 'before' : 'after')
