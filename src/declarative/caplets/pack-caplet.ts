import { hash, type KeyObject } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { readWholeFile } from '../../kit/read-whole-file.ts'
import { capletFault, describeFaults } from './caplet-fault.ts'
import { capletDigest, signManifest } from './caplet-keys.ts'
import type { CapletFile, CapletManifest, SignedCaplet } from './caplet.ts'
import { capletFileName, checkCapletSource, isFilePath, maxCapletBytes } from './check-caplet.ts'

/** A package, and what it is known by. */
export interface PackedCaplet {
  readonly bytes: Buffer
  readonly digest: string
  readonly name: string
  readonly version: string
}

/** Packs a folder with a `caplet.json`; what begins with a dot stays out. The same folder and key make the same bytes. */
export async function packCaplet(
  folder: string,
  { checker, key }: { checker: SchemaChecker; key: KeyObject | undefined },
): Promise<PackedCaplet> {
  const read = readWholeFile(join(folder, capletFileName), 1024 * 1024)
  if ('issue' in read) throw capletFault(join(folder, capletFileName), read.issue)
  const checked = checkCapletSource(read.text, checker)
  if ('issues' in checked) throw capletFault(join(folder, capletFileName), describeFaults(checked.issues))
  const { tool, read: reads, write, tests } = checked.caplet
  const found = findFiles(folder)
  const files = found.map(({ about }) => about)
  const program = checked.file.command.replace(/^\.\//, '')
  if (program !== checked.file.command && !files.some(({ path }) => path === program))
    throw capletFault(folder, `Its program "${checked.file.command}" is not in it.`)
  const manifest: CapletManifest = { format: 1, tool, read: reads, write, tests, files }
  const signed: SignedCaplet = key === undefined ? { manifest } : signManifest(manifest, key)
  const { name, version } = checked.file
  return { bytes: await toArchive(signed, found), digest: capletDigest(signed.manifest), name, version }
}

interface Found {
  readonly about: CapletFile
  readonly bytes: Buffer
}

function findFiles(folder: string): Found[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== capletFileName && !/(^|[\\/])\./.test(path))
    .sort()
  let total = 0
  return paths.flatMap((path) => {
    const full = join(folder, path)
    const stat = lstatSync(full)
    if (stat.isDirectory()) return []
    if (!stat.isFile())
      throw capletFault(full, 'A package has plain files alone. Remove it, or put a file there.')
    if (!isFilePath(path))
      throw capletFault(
        full,
        'Names of a package have letters, digits, ".", "_", "@", "+" and "-". Rename it.',
      )
    total += stat.size
    if (total > maxCapletBytes) throw capletFault(folder, `It has more than ${maxCapletBytes} bytes.`)
    const bytes = readFileSync(full)
    const about = { path, size: bytes.length, sha256: hash('sha256', bytes, 'hex') }
    return [{ bytes, about: (stat.mode & 0o100) === 0 ? about : { ...about, executable: true } }]
  })
}

async function toArchive(signed: SignedCaplet, files: readonly Found[]): Promise<Buffer> {
  const { packTar } = await import('modern-tar')
  const toEntry = (name: string, body: Buffer, mode = 0o644) => ({
    header: { name, size: body.length, mode, mtime: new Date(0) },
    body: new Uint8Array(body),
  })
  const first = toEntry(capletFileName, Buffer.from(JSON.stringify(signed)))
  const rest = files.map(({ about, bytes }) =>
    toEntry(about.path, bytes, about.executable === true ? 0o755 : 0o644),
  )
  return process.getBuiltinModule('node:zlib').gzipSync(await packTar([first, ...rest]))
}
