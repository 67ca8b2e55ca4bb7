import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noteUnfinished, unfinishedName } from '../leftovers/unfinished-files.ts'

// Run by itself: begins a file in a folder, prints its path, and waits until it is killed.
const path = join(process.argv[2] ?? '', unfinishedName())
noteUnfinished(path)
writeFileSync(path, 'half of i')
console.log(path)
setInterval(() => {}, 1_000)
