import { readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { contentPath } from './contents.ts'
import { sizeOf } from './folders.ts'
import { listCallFiles, readCallFile } from './call-files.ts'
import { isMissing } from './history-failure.ts'

/** What is written now may not have been noted yet. */
const youngMs = 60 * 60 * 1000

export const dayMs = 24 * 60 * 60 * 1000

/** How long and how much is kept. */
export interface RoomBounds {
  readonly days: number
  /** Of all contents together. */
  readonly bytes: number
}

/** The room of a history, over all tenants. Other processes may fill it too. */
export interface Room {
  /** Takes so many bytes, where need be from the oldest calls. Returns false if that is more than there can be. */
  take(bytes: number): Promise<boolean>
  /** Removes the calls that are too old, and what they alone had kept. */
  expire(): Promise<void>
}

interface RoomOptions extends RoomBounds {
  readonly place: string
  readonly now: () => number
}

export function createRoom({ place, days, bytes: most, now }: RoomOptions): Room {
  let used: number | undefined
  let last: Promise<unknown> = Promise.resolve()
  const oneByOne = <Given>(work: () => Promise<Given>): Promise<Given> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  const take = async (bytes: number): Promise<boolean> => {
    if (bytes > most) return false
    used ??= await measure(place)
    if (used + bytes > most) {
      // Others may have taken room, or made some.
      used = await measure(place)
      await removeOldest(place, used + bytes - most)
      used = await measure(place)
    }
    if (used + bytes > most) return false
    used += bytes
    return true
  }
  return {
    take: (bytes) => (bytes === 0 ? Promise.resolve(true) : oneByOne(() => take(bytes))),
    expire: () =>
      oneByOne(async () => {
        const before = now() - days * dayMs
        for (const folder of await listTenants(place))
          if (await removeExpired(folder, before)) {
            await sweep(folder)
            used = undefined
          }
      }),
  }
}

async function listTenants(place: string): Promise<string[]> {
  return (await namesIn(place)).map((name) => join(place, name))
}

/** Whether there were any. The oldest come first, so most looks end with one file. */
async function removeExpired(folder: string, before: number): Promise<boolean> {
  let any = false
  for (const path of await listCallFiles(folder)) {
    const call = await readCallFile(path)
    if (call !== undefined && call.at >= before) break
    await rm(path, { force: true })
    any = true
  }
  return any
}

/** Removes the oldest calls of all tenants until so many bytes are free. */
async function removeOldest(place: string, need: number): Promise<void> {
  const calls = (await Promise.all((await listTenants(place)).map((folder) => readAll(folder)))).flat()
  const users = new Map<string, number>()
  for (const { contents } of calls)
    for (const content of contents) users.set(content, (users.get(content) ?? 0) + 1)
  let freed = 0
  for (const { path, contents } of calls.toSorted((a, b) => (basename(a.path) < basename(b.path) ? -1 : 1))) {
    if (freed >= need) return
    await rm(path, { force: true })
    for (const content of contents) {
      const left = (users.get(content) ?? 1) - 1
      users.set(content, left)
      if (left > 0) continue
      freed += (await sizeOf(content)) ?? 0
      await rm(content, { force: true })
    }
  }
}

async function readAll(folder: string): Promise<{ path: string; contents: ReadonlySet<string> }[]> {
  const paths = await listCallFiles(folder)
  return Promise.all(paths.map(async (path) => ({ path, contents: await contentsOf(folder, path) })))
}

/** Where the contents lie that a call needs. */
async function contentsOf(folder: string, path: string): Promise<ReadonlySet<string>> {
  const { effects = [] } = (await readCallFile(path)) ?? {}
  return new Set(
    effects.flatMap(({ before }) => {
      const content = before.kind === 'file' ? contentPath(folder, before.digest) : undefined
      return content === undefined ? [] : [content]
    }),
  )
}

/** Removes contents that no call needs any more. */
async function sweep(folder: string): Promise<void> {
  const needed = new Set<string>()
  for (const { contents } of await readAll(folder)) for (const content of contents) needed.add(content)
  for (const path of await listContents(folder)) {
    if (needed.has(path)) continue
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > youngMs) await rm(path, { force: true })
  }
}

async function measure(place: string): Promise<number> {
  let bytes = 0
  for (const folder of await listTenants(place))
    for (const path of await listContents(folder)) bytes += (await sizeOf(path)) ?? 0
  return bytes
}

async function listContents(folder: string): Promise<string[]> {
  const shelves = join(folder, 'content')
  const names = await namesIn(shelves)
  const found = await Promise.all(
    names.map(async (shelf) =>
      (await namesIn(join(shelves, shelf))).map((name) => join(shelves, shelf, name)),
    ),
  )
  return found.flat()
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
