import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs'
import { link, mkdir, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { MemoryFact, MemoryIssue } from '../../contract/services/memory.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { readWholeFile } from '../../kit/read-whole-file.ts'
import { rankTexts, type TextRanking } from '../../kit/ranking/rank-texts.ts'
import { toFile } from './fact-file.ts'
import type { readFact } from './read-fact.ts'

const mostBytes = 64 * 1024
const mostFiles = 10_000

/** The facts of a folder as they are now. */
export interface ReadFacts {
  readonly facts: readonly MemoryFact[]
  readonly issues: readonly MemoryIssue[]
  /** Ranks these facts. */
  readonly ranking: TextRanking
}

/** The only way to the files of memory: a folder for each tenant, and nothing outside of it. */
export interface FactFolder {
  /** Files that did not change are not read again. */
  read(tenant: string): Promise<ReadFacts>
  has(tenant: string, id: string): boolean
  /** Resolves when the file is durable. One that is there stays as it is: it may be a person's by now. */
  write(tenant: string, fact: MemoryFact): Promise<void>
}

interface Known {
  readonly signature: string
  readonly read: MemoryFact | MemoryIssue
}

/** The memory of one person lies in the folder itself, that of others below `tenants`. */
const localTenant = 'local'

/** Opens a folder of facts. It is made with the first fact. */
export function createFactFolder(dir: string): FactFolder {
  const known = new Map<string, Map<string, Known>>()
  const whole = new Map<string, { key: string; facts: ReadFacts }>()
  return {
    async read(tenant) {
      // Most runtimes have no memory, and what reads its files is large.
      const { readFact } = await import('./read-fact.ts')
      const path = placeOf(dir, tenant)
      const { names, issues } = list(path, dir)
      const files = new Map<string, Known>()
      for (const name of names)
        files.set(name, readOne(path, name, { before: known.get(tenant)?.get(name), readFact }))
      known.set(tenant, files)
      const key = [...files].map(([name, { signature }]) => `${name} ${signature}`).join('\n')
      const before = whole.get(tenant)
      if (before?.key === key && issues.length === 0) return before.facts
      const facts = toFacts([...files.values()], issues)
      whole.set(tenant, { key, facts })
      return facts
    },
    has: (tenant, id) => statOf(join(placeOf(dir, tenant), `${id}.md`)) !== undefined,
    async write(tenant, fact) {
      const path = placeOf(dir, tenant)
      await mkdir(path, { recursive: true, mode: 0o700 })
      refuseOutside(path, dir)
      const draft = join(path, `.${randomUUID()}.new`)
      await writeFile(draft, toFile(fact), { mode: 0o600, flag: 'wx', flush: true })
      try {
        await link(draft, join(path, `${fact.id}.md`))
      } catch (error) {
        if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
      } finally {
        await unlink(draft)
      }
    },
  }
}

function toFacts(files: readonly Known[], issues: readonly MemoryIssue[]): ReadFacts {
  const facts = files.flatMap(({ read }) => ('message' in read ? [] : [read]))
  const faults = files.flatMap(({ read }) => ('message' in read ? [read] : []))
  let ranking: TextRanking | undefined
  return {
    facts,
    issues: [...issues, ...faults],
    get ranking() {
      return (ranking ??= rankTexts(facts.map(({ content, tags }) => [content, ...tags].join('\n'))))
    },
  }
}

/** No two tenants share a folder, whatever a file system makes of capital letters and dots. */
function placeOf(dir: string, tenant: string): string {
  if (tenant === localTenant) return dir
  const name = tenant.replaceAll(/[^a-z0-9_-]/gu, (each) => `=${each.codePointAt(0)?.toString(16) ?? ''}.`)
  return join(dir, 'tenants', name)
}

function list(path: string, dir: string): { names: readonly string[]; issues: readonly MemoryIssue[] } {
  try {
    refuseOutside(path, dir)
    const names = readdirSync(path).filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    const issues =
      names.length > mostFiles
        ? [{ file: path, message: `It has ${names.length} files, and ${mostFiles} at most are read.` }]
        : []
    return { names: names.toSorted().slice(0, mostFiles), issues }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'ENOENT') return { names: [], issues: [] }
    const message = error instanceof ToolFailure ? error.message : `The folder cannot be read (${code}).`
    return { names: [], issues: [{ file: path, message }] }
  }
}

/** The person may link the folder elsewhere, and nothing in it. */
function refuseOutside(path: string, dir: string): void {
  if (isInside(realpathSync(path), realpathSync(dir))) return
  throw new ToolFailure({
    reason: 'memory_unusable',
    message: 'The folder of this tenant is a link out of the memory, so nothing in it is read or written.',
  })
}

interface Reading {
  readonly before: Known | undefined
  readonly readFact: typeof readFact
}

function readOne(path: string, name: string, { before, readFact: toFact }: Reading): Known {
  const file = join(path, name)
  const stat = statOf(file)
  const signature =
    stat === undefined ? '' : [stat.mode, stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino].join(' ')
  if (before !== undefined && before.signature === signature) return before
  const text = readWholeFile(file, mostBytes)
  if ('issue' in text) return { signature, read: { file, message: text.issue } }
  const read = toFact(name.slice(0, -'.md'.length), text.text)
  return { signature, read: 'message' in read ? { file, ...read } : read }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
