import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { ToolFile } from '../tool-file.ts'
import { capletFault, describeFaults } from './caplet-fault.ts'
import { capletDigest } from './caplet-keys.ts'
import type { CapletFile, CapletManifest, SignedCaplet } from './caplet.ts'
import { capletFileName, checkSignedCaplet } from './check-caplet.ts'
import { readArchive, type ArchiveEntry } from './read-archive.ts'

/** A caplet whose manifest was read. */
export interface Caplet {
  readonly signed: SignedCaplet
  readonly file: ToolFile
  /** Of its manifest, and by that of every file. */
  readonly digest: string
}

/** How a package is read. */
export interface CapletReading {
  checker: SchemaChecker
  /** Throws if the package is not to be read on: only its manifest was. */
  permit: (caplet: Caplet) => void
  /** An empty folder that gets its files. Absent: they are only held against the manifest. */
  into?: string
}

const maxManifestBytes = 1024 * 1024
/** What a tar file has beside the bytes of its files: headers and filling, also of long names. */
const bytesBeside = 4_096

/** Reads a package: its manifest and signature, then, if they are permitted, each file, which must be what the manifest says. */
export async function readCaplet(path: string, { checker, permit, into }: CapletReading): Promise<Caplet> {
  const bound = { bytes: maxManifestBytes + 64 * 1024 }
  const entries = readArchive(path, bound)
  try {
    const caplet = await readManifest(path, entries, checker)
    permit(caplet)
    const { files } = caplet.signed.manifest
    const declared = files.reduce((sum, { size }) => sum + size + bytesBeside, 0)
    bound.bytes = maxManifestBytes + 64 * 1024 + declared
    if (into !== undefined) writeFile(into, { path: capletFileName, bytes: JSON.stringify(caplet.signed) })
    await readFiles(path, entries, { files, into })
    return caplet
  } finally {
    await entries.return()
  }
}

async function readManifest(
  path: string,
  entries: AsyncGenerator<ArchiveEntry, void>,
  checker: SchemaChecker,
): Promise<Caplet> {
  const first = await entries.next()
  const entry = first.done === true ? undefined : first.value
  if (entry?.name !== capletFileName || entry.size > maxManifestBytes)
    throw capletFault(path, `Its first file is not "${capletFileName}", so it is not a caplet.`)
  const checked = checkSignedCaplet((await entry.read()).toString('utf8'), checker)
  if ('issues' in checked) throw capletFault(path, describeFaults(checked.issues))
  return { signed: checked.caplet, file: checked.file, digest: capletDigest(checked.caplet.manifest) }
}

async function readFiles(
  path: string,
  entries: AsyncGenerator<ArchiveEntry, void>,
  { files, into }: { files: CapletManifest['files']; into: string | undefined },
): Promise<void> {
  const missing = new Map(files.map((file) => [file.path, file]))
  for await (const entry of entries) {
    const file = missing.get(entry.name)
    if (file === undefined)
      throw capletFault(path, `"${entry.name}" is not in its manifest, or is there twice.`)
    if (entry.size !== file.size || entry.executable !== (file.executable === true))
      throw capletFault(path, `"${entry.name}" is not what its manifest says.`)
    missing.delete(entry.name)
    const bytes = await entry.read()
    if (!isFile(file, bytes)) throw capletFault(path, `"${entry.name}" is not what its manifest says.`)
    if (into !== undefined) writeFile(into, { path: file.path, bytes, executable: entry.executable })
  }
  const [left] = missing.keys()
  if (left !== undefined) throw capletFault(path, `"${left}" of its manifest is missing. Get it again.`)
}

/** Whether these bytes are the file that a manifest names. */
export function isFile({ size, sha256 }: CapletFile, bytes: Uint8Array): boolean {
  return bytes.length === size && hash('sha256', bytes, 'hex') === sha256
}

function writeFile(
  folder: string,
  { path, bytes, executable = false }: { path: string; bytes: Uint8Array | string; executable?: boolean },
): void {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
  writeFileSync(target, bytes, { flag: 'wx', mode: executable ? 0o755 : 0o644 })
}
