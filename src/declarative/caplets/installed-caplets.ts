import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { readWholeFile } from '../../kit/read-whole-file.ts'
import { capletFault, describeFaults } from './caplet-fault.ts'
import { capletDigest } from './caplet-keys.ts'
import { refuseUntrusted, type CapletTrust } from './caplet-trust.ts'
import { capletFileName, checkSignedCaplet } from './check-caplet.ts'
import { isFile, type Caplet } from './read-caplet.ts'
import { whileAlone } from '../../kit/time/while-alone.ts'

/** A caplet that lies in a home folder as it was installed. */
export interface InstalledCaplet extends Caplet {
  /** Where its files lie. */
  readonly folder: string
}

/** An installed caplet that is not used, and why. */
export interface FaultyCaplet {
  readonly name: string
  readonly message: string
}

/** What `<home>/caplets/<name>/installed.json` says: which of the folders beside it counts. */
export interface InstallRecord {
  readonly digest: string
  /** A person took it by its digest, whether a known publisher signed it or not. */
  readonly byDigest: boolean
}

/** The file whose writing is what installs a caplet. */
export const recordFileName = 'installed.json'

/** The name of the folder of one package. */
export function folderOf(digest: string): string {
  return digest.replace('sha256:', '')
}

/** Everything that is installed in a folder, each checked again: what was changed, or is not trusted any more, is left out. */
export function readInstalled(
  dir: string,
  { checker, publishers }: { checker: SchemaChecker; publishers: CapletTrust['publishers'] },
): { caplets: readonly InstalledCaplet[]; faulty: readonly FaultyCaplet[] } {
  const caplets: InstalledCaplet[] = []
  const faulty: FaultyCaplet[] = []
  for (const name of listInstalled(dir))
    try {
      caplets.push(readOne(join(dir, name), name, { checker, publishers }))
    } catch (error) {
      faulty.push({ name, message: messageOf(error) })
    }
  return { caplets, faulty }
}

/** The names of what is installed, whole or not. */
export function listInstalled(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && readRecord(join(dir, entry.name)) !== undefined)
      .map(({ name }) => name)
      .sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw capletFault(dir, messageOf(error))
  }
}

/** What was installed under a name; undefined if nothing is. One that cannot be read is not whole, and does not count as absent. */
export function readRecord(place: string): InstallRecord | undefined {
  const path = join(place, recordFileName)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  const read = readWholeFile(path, 4_096)
  if ('issue' in read) return { digest: '', byDigest: false }
  try {
    const value: unknown = JSON.parse(read.text)
    if (!isObject(value) || typeof value['digest'] !== 'string') return { digest: '', byDigest: false }
    return { digest: value['digest'], byDigest: value['byDigest'] === true }
  } catch {
    return { digest: '', byDigest: false }
  }
}

/** Takes away what is installed under a name. Returns whether there was anything. */
export function removeCaplet(dir: string, name: string): boolean {
  if (!listInstalled(dir).includes(name)) return false
  return whileAlone(dir, () => {
    // From here on it is not installed, whatever is left of it.
    rmSync(join(dir, name, recordFileName), { recursive: true, force: true })
    rmSync(join(dir, name), { recursive: true, force: true })
    return true
  })
}

/** One installed caplet, all of it held against its manifest. */
export function readOne(
  place: string,
  name: string,
  { checker, publishers }: { checker: SchemaChecker; publishers: CapletTrust['publishers'] },
): InstalledCaplet {
  const record = readRecord(place)
  const folder = join(place, folderOf(record?.digest ?? ''))
  const read = readWholeFile(join(folder, capletFileName), 2 * 1024 * 1024)
  const repair = 'Install it again.'
  if (record === undefined || 'issue' in read) throw capletFault(folder, `It is not whole. ${repair}`)
  const checked = checkSignedCaplet(read.text, checker)
  if ('issues' in checked) throw capletFault(folder, `${describeFaults(checked.issues)} ${repair}`)
  const { caplet: signed, file } = checked
  const caplet = { signed, file, digest: capletDigest(signed.manifest), folder }
  if (caplet.digest !== record.digest || file.name !== name)
    throw capletFault(folder, `It is not what was installed. ${repair}`)
  refuseUntrusted(folder, caplet, { publishers, digest: record.byDigest ? record.digest : undefined })
  const changed = findChanged(caplet)
  if (changed !== undefined) throw capletFault(folder, `"${changed}" was changed or is gone. ${repair}`)
  return caplet
}

/** A file that is not as the manifest has it; undefined if all are. */
export function findChanged({ folder, signed }: InstalledCaplet): string | undefined {
  return signed.manifest.files.find((file) => {
    try {
      return !isFile(file, readFileSync(join(folder, file.path)))
    } catch {
      return true
    }
  })?.path
}
