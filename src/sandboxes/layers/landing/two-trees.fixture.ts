import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { PathState } from '../../../contract/base/effects.ts'
import type { LandingItem, Target } from './item.ts'
import { land } from './land.ts'

/** Everything below a folder: its kind, mode, and content or target. */
export type TreeFacts = Record<string, string>

/** Reads everything below a folder, without following links. */
export function readTree(root: string, above = ''): TreeFacts {
  const found = readdirSync(join(root, above))
    .toSorted()
    .map((name) => {
      const path = join(above, name)
      const at = join(root, path)
      const stat = lstatSync(at)
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isSymbolicLink()) return { [path]: `link ${readlinkSync(at)}` }
      if (stat.isDirectory()) return { [path]: `directory ${mode}`, ...readTree(root, path) }
      return { [path]: stat.isFile() ? `file ${mode} ${readFileSync(at, 'utf8')}` : 'special' }
    })
  return Object.assign({}, ...found) as TreeFacts
}

/** A folder that becomes another one, and back, by landing. */
export interface Both {
  readonly root: string
  /** What the folder holds before and after, and where the same stands apart. */
  readonly before: TreeFacts
  readonly after: TreeFacts
  readonly apart: string
}

const before: TreeFacts = {
  a: 'file 644 a',
  b: 'file 644 b',
  d: 'directory 755',
  'd/e': 'directory 755',
  'd/e/y': 'file 600 y',
  'd/x': 'file 644 x',
  k: 'directory 555',
  'k/1': 'file 644 1',
  l: 'link a',
  m: 'directory 700',
  r: 'file 644 r',
  t: 'file 644 t',
}
const after: TreeFacts = {
  a: 'file 644 A',
  d: 'file 644 d',
  k: 'directory 555',
  'k/1': 'file 644 1',
  'k/2': 'file 644 2',
  l: 'link b',
  m: 'directory 755',
  n: 'directory 555',
  'n/l': 'link /etc',
  'n/o': 'directory 755',
  'n/o/z': 'file 644 z',
  r: 'file 600 R',
  t: 'directory 755',
  't/u': 'file 644 u',
}

/** Makes what is said of a tree. */
export function makeFacts(root: string, facts: TreeFacts): void {
  mkdirSync(root, { recursive: true })
  for (const [path, text] of Object.entries(facts)) {
    const [kind, rest = '', ...content] = text.split(' ')
    if (kind === 'link') symlinkSync(rest, join(root, path))
    else if (kind === 'directory') mkdirSync(join(root, path))
    else writeFileSync(join(root, path), content.join(' '))
  }
  for (const [path, text] of Object.entries(facts).toReversed()) {
    const [kind, mode = ''] = text.split(' ')
    if (kind !== 'link') chmodSync(join(root, path), Number.parseInt(mode, 8))
  }
}

/** Makes the folder as it is before. */
export function makeBoth(above: string): Both {
  const both = toBoth(above)
  makeFacts(both.root, before)
  makeFacts(join(both.apart, 'before'), before)
  makeFacts(join(both.apart, 'after'), after)
  return both
}

/** What was made there. */
export function toBoth(above: string): Both {
  return { root: join(above, 'root'), apart: join(above, 'apart'), before, after }
}

/** Lands what is to be there, expecting the other one. */
export async function landBoth(
  { root, apart, before: one, after: other }: Both,
  wanted: 'before' | 'after',
): Promise<void> {
  const [from, to] = wanted === 'after' ? [one, other] : [other, one]
  const since = 1n << 62n
  const items: LandingItem[] = []
  const kindIn = (facts: TreeFacts, path: string): PathState['kind'] => {
    const kind = facts[path]?.split(' ')[0] ?? 'none'
    return kind === 'file' || kind === 'directory' || kind === 'link' ? kind : 'none'
  }
  for (const path of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (from[path] === to[path]) continue
    const [had, kind] = [kindIn(from, path), kindIn(to, path)]
    const isOther = had !== 'none' && (had === 'directory') !== (kind === 'directory')
    const covered = kindIn(to, dirname(path)) !== 'directory' && dirname(path) !== '.'
    if (isOther && !covered)
      items.push({ root, path, to: { kind: 'none' }, expect: { had, unchangedSince: since } })
    if (kind === 'none' && (isOther || covered)) continue
    items.push({
      root,
      path,
      to: targetAt(join(apart, wanted, path)),
      expect: { had: isOther ? 'none' : had, unchangedSince: since },
    })
  }
  await land(items, { owner: undefined, history: undefined, signals: [] })
}

function targetAt(at: string): Target {
  const stat = lstatSync(at, { throwIfNoEntry: false })
  if (stat === undefined) return { kind: 'none' }
  const mode = stat.mode & 0o777
  if (stat.isSymbolicLink()) return { kind: 'link', target: readlinkSync(at) }
  return stat.isDirectory() ? { kind: 'directory', mode } : { kind: 'file', mode, from: at, keepTimes: true }
}
