import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Files, Search } from '../../../contract/services/sandbox.ts'
import { digest } from '../../../kit/json/digest.ts'
import { languageOf, type ServerChoice } from './known-servers.ts'
import { ServerTrouble } from './server-trouble.ts'

/** The files that a server has open: it takes their text from here, not from the disk. */
export interface Documents {
  /**
   * Tells the server what files hold now: the asked one, those that it has open, and those that changed on the disk since the last time.
   * Fails if the asked one is too large.
   */
  bringUpToDate(asked: string | undefined, look: Look): Promise<void>
}

/** What a call may look at. */
export interface Look {
  readonly files: Files
  readonly search: Search
  /** Where a project begins, and where its paths are relative to. */
  readonly root: string
  readonly project: string
  /** Globs of what is left out. */
  readonly exclude: readonly string[]
}

const maxFileBytes = 4 * 1024 * 1024
/** Open at a time; the oldest are closed, and the server reads them from the disk again. */
const maxOpen = 100
/** Files that changed, looked at for each question. */
const maxChanged = 50
/** Clocks of file systems go in steps. */
const marginMs = 2_000

interface OpenDocument {
  version: number
  /** Of the text, and of the file as it was when that was read. */
  digest: string
  stamp: string
}

/** Nothing is open yet. The server has read the disk as of now. */
export function createDocuments(
  choice: ServerChoice,
  notify: (method: string, params: object) => void,
): Documents {
  const { open, close, refresh } = createOpenDocuments(choice, notify)
  let lookedAt = Date.now()
  let last: Promise<void> = Promise.resolve()

  const bringUpToDate = async (asked: string | undefined, look: Look): Promise<void> => {
    const since = lookedAt - marginMs
    lookedAt = Date.now()
    const changed = await findChanged(choice, look, since)
    const all = new Set([...open.keys(), ...changed, ...(asked === undefined ? [] : [asked])])
    for (const path of all) await refresh(path, look.files)
    for (const path of [...open.keys()].slice(0, Math.max(0, open.size - maxOpen)))
      if (path !== asked) close(path)
  }
  return {
    bringUpToDate(asked, look) {
      // One after the other: versions of a document count up.
      const mine = last.then(() => bringUpToDate(asked, look))
      last = mine.catch(() => {})
      return mine
    },
  }
}

/** The documents that the server has open, and what it is notified of when one changes. */
function createOpenDocuments(choice: ServerChoice, notify: (method: string, params: object) => void) {
  const open = new Map<string, OpenDocument>()

  const notifyOfDisk = (path: string, type: 'changed' | 'deleted'): void =>
    notify('workspace/didChangeWatchedFiles', {
      changes: [{ uri: toUri(path), type: type === 'changed' ? 2 : 3 }],
    })
  const close = (path: string): void => {
    open.delete(path)
    notify('textDocument/didClose', { textDocument: { uri: toUri(path) } })
  }
  const show = (path: string, text: string, about: { digest: string; stamp: string }): void => {
    const uri = toUri(path)
    const version = (open.get(path)?.version ?? 0) + 1
    if (version === 1) {
      const languageId = languageOf(extname(path).toLowerCase(), choice)
      notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } })
    } else notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] })
    open.set(path, { version, ...about })
  }
  const refresh = async (path: string, files: Files): Promise<void> => {
    const known = open.get(path)
    const stat = await files.stat(path)
    if (stat?.kind !== 'file') {
      if (known === undefined) return
      close(path)
      notifyOfDisk(path, 'deleted')
      return
    }
    const stamp = [stat.mtimeMs, stat.size, stat.dev, stat.ino].join(' ')
    if (known?.stamp === stamp) return
    if (stat.size > maxFileBytes) throw new ServerTrouble(`"${path}" is larger than ${maxFileBytes} bytes`)
    const { bytes } = await files.read(path, { maxBytes: maxFileBytes })
    const text = Buffer.from(bytes)
      .toString()
      .replace(/^\ufeff/, '')
    const now = digest(text)
    if (known?.digest === now) known.stamp = stamp
    else {
      show(path, text, { digest: now, stamp })
      notifyOfDisk(path, 'changed')
    }
  }
  return { open, close, refresh }
}

/** Files that changed since then. The search lists the newest first, so that the first one that is old ends it. */
async function findChanged(
  { extensions }: ServerChoice,
  { files, search, root, project, exclude }: Look,
  since: number,
): Promise<string[]> {
  const { hits } = await search.find({
    pattern: undefined,
    path: root,
    glob: `*.{${extensions.map((extension) => extension.slice(1)).join(',')}}`,
    mode: 'files',
    limit: maxChanged,
    order: 'mtime',
    exclude,
  })
  const changed: string[] = []
  for (const hit of hits) {
    const found = hit.path.startsWith('/') ? hit.path : join(project, hit.path)
    const stat = await files.stat(found)
    if (stat === undefined || stat.mtimeMs < since) break
    if (stat.size <= maxFileBytes) changed.push(found)
  }
  return changed
}

/** The URI of a file. */
export function toUri(path: string): string {
  return pathToFileURL(path).href
}
