import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { LandingItem } from './item.ts'
import { land } from './land.ts'
import { readTree } from './two-trees.fixture.ts'

// Run by itself, on a disk of 256 KiB and 40 files: lands more bytes than fit, then more files, and prints why it failed and what is there.
const root = join(process.argv[2] ?? '', 'root')
mkdirSync(root)
for (const name of ['a', 'b']) writeFileSync(join(root, name), name)
const [large, small] = [join(root, '../large'), join(root, '../small')]
writeFileSync(large, 'x'.repeat(150_000))
writeFileSync(small, '')
const expect = { had: 'file', unchangedSince: 1n << 62n } as const
const first: LandingItem[] = ['a', 'b'].map((path) => ({
  root,
  path,
  to: { kind: 'file', mode: 0o644, from: path === 'a' ? small : large, keepTimes: false },
  expect,
}))
const many: LandingItem[] = Array.from({ length: 50 }, (_, at) => ({
  root,
  path: `new${at}`,
  to: { kind: 'file', mode: 0o644, from: small, keepTimes: false },
  expect: { ...expect, had: 'none' },
}))
const way = { owner: undefined, history: undefined, signals: [] }
const reasons: string[] = []
for (const items of [first, many])
  await land(items, way).catch((error: unknown) =>
    reasons.push(error instanceof ToolFailure ? error.reason : String(error)),
  )
console.log(JSON.stringify({ reasons, all: readTree(root) }))
