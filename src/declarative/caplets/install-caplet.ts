import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { compareVersions } from '../../kit/match/compare-versions.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { writeWhole } from '../../kit/write-whole.ts'
import { refuseUntrusted, type CapletTrust } from './caplet-trust.ts'
import {
  folderOf,
  listInstalled,
  readOne,
  readRecord,
  recordFileName,
  type InstalledCaplet,
} from './installed-caplets.ts'
import { readCaplet, type Caplet } from './read-caplet.ts'
import { whileAlone } from '../../kit/time/while-alone.ts'

/** How a package is installed. */
export interface CapletInstall {
  /** The folder of all caplets. */
  dir: string
  checker: SchemaChecker
  trust: CapletTrust
  /** Whether an older version may take the place of a newer one. */
  downgrade: boolean
}

/** Installs a package under the name of its tool: all of it, or nothing. */
export async function installCaplet(
  path: string,
  { dir, checker, trust, downgrade }: CapletInstall,
): Promise<Caplet & { replaced: string | undefined }> {
  mkdirSync(dir, { recursive: true, mode: 0o755 })
  dropOldDrafts(dir)
  const draft = join(dir, `.${randomUUID()}.new`)
  mkdirSync(draft, { mode: 0o755 })
  try {
    const permit = (found: Caplet): InstalledCaplet | undefined => {
      refuseUntrusted(path, found, trust)
      const earlier = findEarlier(found, { dir, checker, trust })
      if (earlier !== undefined) refuseReplacing(path, { found, earlier, downgrade })
      return earlier
    }
    const caplet = await readCaplet(path, { checker, into: draft, permit: (found) => void permit(found) })
    return whileAlone(dir, () => {
      // What others installed while this one was read counts.
      const earlier = permit(caplet)
      settle(caplet, { dir, draft, byDigest: trust.digest === caplet.digest, earlier })
      return { ...caplet, replaced: earlier?.file.version }
    })
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const draftForm = /^\.[0-9a-f-]{36}\.new$/
const hourMs = 3_600_000

/** What an install left that was killed; one that goes on is younger. */
function dropOldDrafts(dir: string): void {
  for (const name of readdirSync(dir).filter((each) => draftForm.test(each))) {
    const stat = statSync(join(dir, name), { throwIfNoEntry: false })
    if (stat !== undefined && stat.mtimeMs < Date.now() - hourMs)
      rmSync(join(dir, name), { recursive: true, force: true })
  }
}

function findEarlier(
  { file, digest }: Caplet,
  { dir, checker, trust }: Pick<CapletInstall, 'dir' | 'checker' | 'trust'>,
): InstalledCaplet | undefined {
  const twin = listInstalled(dir).find(
    (name) => name !== file.name && name.toLowerCase() === file.name.toLowerCase(),
  )
  if (twin !== undefined)
    throw conflict(file.name, `"${twin}" is installed, and differs from it in case alone. Remove that first.`)
  const record = readRecord(join(dir, file.name))
  // The same package mends what was damaged of it.
  if (record === undefined || record.digest === digest) return undefined
  try {
    return readOne(join(dir, file.name), file.name, { checker, publishers: trust.publishers })
  } catch (error) {
    throw conflict(
      file.name,
      `What is installed cannot be used: ${messageOf(error)} Or remove it: handrail caplet remove ${file.name}`,
    )
  }
}

function refuseReplacing(
  path: string,
  { found, earlier, downgrade }: { found: Caplet; earlier: InstalledCaplet; downgrade: boolean },
): void {
  const { name, version } = found.file
  if (found.signed.manifest.publisher !== earlier.signed.manifest.publisher)
    throw conflict(
      name,
      `It is installed from another publisher. If "${path}" shall take its place: handrail caplet remove ${name}`,
    )
  const step = compareVersions(earlier.file.version, version)
  if (step === 'same')
    throw conflict(
      name,
      `Version ${version} is installed with other contents, and a released version never changes. Ask its publisher for a new one.`,
    )
  if (step === 'lower' && !downgrade)
    throw conflict(
      name,
      `Version ${earlier.file.version} is installed, and "${path}" has ${version}, which is older. To go back: --downgrade`,
    )
}

function conflict(name: string, message: string): SetupError {
  return new SetupError('caplet_conflict', `"${name}" is not installed anew. ${message}`)
}

function settle(
  { digest, file }: Caplet,
  {
    dir,
    draft,
    byDigest,
    earlier,
  }: {
    dir: string
    draft: string
    byDigest: boolean
    earlier: InstalledCaplet | undefined
  },
): void {
  const place = join(dir, file.name)
  const folder = join(place, folderOf(digest))
  mkdirSync(place, { recursive: true, mode: 0o755 })
  // A folder of this name may be damaged, and what comes was just verified.
  if (existsSync(folder)) rmSync(folder, { recursive: true })
  // Whatever the umask took from it.
  chmodSync(draft, 0o755)
  renameSync(draft, folder)
  const text = `${JSON.stringify({ digest, byDigest })}\n`
  writeWhole(join(place, recordFileName), { text, mode: 0o644 })
  // Programs that run may still use the one before.
  const kept = [recordFileName, folderOf(digest), folderOf(earlier?.digest ?? '')]
  for (const name of readdirSync(place))
    if (!kept.includes(name)) rmSync(join(place, name), { recursive: true, force: true })
}
