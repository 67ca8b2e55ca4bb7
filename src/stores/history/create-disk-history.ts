import { basename, join, resolve } from 'node:path'
import type { PathEffect } from '../../contract/base/effects.ts'
import type { CallHistory, History, PastCallQuery, RecordedCall } from '../../contract/history.ts'
import { isBefore } from '../../kit/new-id.ts'
import {
  callPath,
  listCallFiles,
  readCallFile,
  writeLines,
  type CallLine,
  type ReadCall,
} from './call-files.ts'
import { contentPath, readContent, renewContent, writeContent, type KeptFile } from './contents.ts'
import { sizeOf, syncFolder } from './folders.ts'
import { historyFailure } from './history-failure.ts'
import { createRoom, dayMs, type Room, type RoomBounds } from './room.ts'

/** Where a history lies and how much it keeps. */
export interface DiskHistoryOptions extends RoomBounds {
  /** Made, for its owner only, with the first effect. */
  readonly dir: string
  /** What one call may keep at most, in bytes. */
  readonly callBytes: number
  readonly now?: (() => number) | undefined
  /** Told of what could not be tidied; calls go on. */
  readonly onError?: ((cause: unknown) => void) | undefined
}

/**
 * A history in a folder: for each tenant `calls/<call>.jsonl`, and what was there before under its digest, `content/ab/abcd…`. A content is
 * there as a whole or not at all, and durable, as all else, once the effects are recorded that need it.
 */
export function createDiskHistory(options: DiskHistoryOptions): History {
  const { callBytes, days, bytes, now = Date.now, onError = () => {} } = options
  const place = resolve(options.dir)
  const room = createRoom({ place, days, bytes, now })
  const tidied = room.expire().catch(onError)
  const folderOf = (tenant: string): string => join(place, tenant)
  return {
    place,
    days,
    open(call) {
      const folder = folderOf(call.tenant)
      // One call alone must not drive out itself.
      return recordCall(call, { folder, room, callBytes: Math.min(callBytes, bytes) })
    },
    async list(query) {
      await tidied
      const oldest = now() - days * dayMs
      const calls = await Promise.all((await filesOf(folderOf(query.tenant), query)).map(readCallFile))
      return calls
        .filter((call) => call !== undefined && call.at >= oldest && isAskedFor(call, query))
        .reverse() as ReadCall[]
    },
    async has(tenant, digest) {
      const path = contentPath(folderOf(tenant), digest)
      return path !== undefined && (await sizeOf(path)) !== undefined
    },
    read: (tenant, digest) => readContent(folderOf(tenant), digest),
    close: () => tidied,
  }
}

async function filesOf(folder: string, { call, after }: PastCallQuery): Promise<string[]> {
  if (call !== undefined) return [callPath(folder, call)]
  const files = await listCallFiles(folder)
  return after === undefined ? files : files.filter((path) => !isBefore(basename(path), after))
}

/** File systems may take two tenants for one. */
function isAskedFor(found: ReadCall, { tenant, call }: PastCallQuery): boolean {
  return found.tenant === tenant && (call === undefined || found.call === call)
}

const doneLine: CallLine = { done: true, effects: [], unkept: [] }

interface Recording {
  readonly folder: string
  readonly room: Room
  readonly callBytes: number
}

/** One thing after the other: a tool may do several at a time. Contents alone are written side by side, since each waits for the disk. */
function recordCall(call: RecordedCall, { folder, room, callBytes }: Recording): CallHistory {
  const path = callPath(folder, call.call)
  let undoes: readonly string[] | undefined
  let begun = false
  let failed: unknown
  let used = 0
  const kept = new Map<string, Promise<boolean>>()
  const shelves = new Set<string>()
  const unkept = new Set<string>()
  let last: Promise<unknown> = Promise.resolve()
  const next = <Given>(work: () => Promise<Given>): Promise<Given> => {
    const done = last.then(async () => {
      // What was half written stays the end of it.
      if (failed !== undefined) throw historyFailure(failed)
      try {
        return await work()
      } catch (error) {
        throw historyFailure(error)
      }
    })
    last = done.catch(() => {})
    return done
  }
  const findRoom = async (file: KeptFile): Promise<'there' | 'room' | 'none'> => {
    if (await renewContent(folder, file)) return 'there'
    if (used + file.bytes > callBytes || !(await room.take(file.bytes))) return 'none'
    used += file.bytes
    return 'room'
  }
  const keep = async (file: KeptFile): Promise<boolean> => {
    const found = await next(() => findRoom(file))
    if (found === 'none') {
      unkept.add(file.digest)
      return false
    }
    if (found === 'room') shelves.add(await writeContent(folder, file).catch(failHistory))
    unkept.delete(file.digest)
    return true
  }
  const keepOnce = (file: KeptFile): Promise<boolean> => {
    const known = kept.get(file.digest)
    if (known !== undefined) return known
    const done = keep(file)
    kept.set(file.digest, done)
    // What was not kept may be, another time.
    void done.then((isKept) => isKept || kept.delete(file.digest)).catch(() => kept.delete(file.digest))
    return done
  }
  const record = async (effects: readonly PathEffect[]): Promise<void> => {
    const head = { ...call, ...(undoes !== undefined && { undoes }) }
    const line = { effects, unkept: [...unkept] }
    await Promise.all([...shelves].map(syncFolder))
    shelves.clear()
    try {
      await writeLines(path, begun ? [line] : [head, line], !begun)
    } catch (error) {
      failed = error
      throw error
    }
    begun = true
  }
  return {
    takesBack(calls) {
      undoes = [...calls]
    },
    tookBack: () => next(() => writeLines(path, [doneLine], false)).catch(() => {}),
    keep: keepOnce,
    record: (effects) => (effects.length === 0 ? Promise.resolve() : next(() => record(effects))),
  }
}

function failHistory(error: unknown): never {
  throw historyFailure(error)
}
