import { hash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { LoadedSkill } from '../../contract/base/skill.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { digestFiles, readFiles, signatureOf, unusable, type FoundFile } from './skill-files.ts'

/** Copies of the folders of skills, each under the digest of what it holds: a loaded skill stays what it was. */
export interface SkillCopies {
  /** Copies the files of a skill, unless that is there. Returns the copy. */
  put(skill: { name: string; digest: string; files: readonly FoundFile[] }, tenant: string): string
  isIntact(skill: Pick<LoadedSkill, 'name' | 'digest' | 'copy'>): boolean
}

/**
 * Copies below the folder for temporary files. They are not below the home of Handrail, which tools do not see, and whose owner alone may enter it.
 */
export function createCopies(): SkillCopies {
  const seen = new Map<string, string>()
  const of = (tenant: string): string => {
    const owner = process.getuid?.() ?? 0
    const all = join(realpathSync(tmpdir()), `handrail-skills-${owner}`)
    const own = join(all, hash('sha256', tenant, 'hex').slice(0, 16))
    for (const folder of [all, own]) makeOwn(folder, owner)
    return own
  }
  const isIntact: SkillCopies['isIntact'] = ({ name, digest, copy }) => {
    if (copy === undefined) return true
    try {
      const signature = signatureOf(copy)
      if (seen.get(copy) === signature) return true
      if (digestFiles(readFiles(copy, name)) !== digest) return false
      // What changed while it was read is read again the next time.
      if (signatureOf(copy) === signature) seen.set(copy, signature)
      return true
    } catch {
      return false
    }
  }
  return {
    isIntact,
    put({ name, digest, files }, tenant) {
      const copy = join(of(tenant), digest.slice(digest.indexOf(':') + 1, 27), name)
      if (isIntact({ name, digest, copy })) return copy
      try {
        place(copy, files)
      } catch (error) {
        throw unusable(name, `its files cannot be copied to "${copy}": ${messageOf(error)}`)
      }
      if (!isIntact({ name, digest, copy }))
        throw unusable(name, `another program changes its copy "${copy}"`)
      return copy
    },
  }
}

/** Another user may write to the folder for temporary files too, and must not make what is read as ours. */
function makeOwn(folder: string, owner: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const stat: Stats = lstatSync(folder)
  if (
    !stat.isDirectory() ||
    (process.getuid !== undefined && stat.uid !== owner) ||
    (stat.mode & 0o022) !== 0
  )
    throw new Error(
      `The folder "${folder}" for copies of skills is not one that only the user of Handrail may write. Remove it.`,
    )
  // Commands may run as another user.
  if ((stat.mode & 0o055) !== 0o055) chmodSync(folder, 0o755)
}

/** Whole, or not at all: another process may put the same copy there. */
function place(copy: string, files: readonly FoundFile[]): void {
  const above = dirname(copy)
  mkdirSync(above, { recursive: true, mode: 0o755 })
  chmodSync(above, 0o755)
  const made = join(above, `.${randomUUID()}`)
  const folders = new Set([made])
  try {
    mkdirSync(made, { mode: 0o755 })
    for (const { path, content, isProgram } of files) {
      const target = join(made, path)
      for (let each = dirname(target); !folders.has(each); each = dirname(each)) folders.add(each)
      mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
      writeFileSync(target, content, { flag: 'wx' })
      chmodSync(target, isProgram ? 0o555 : 0o444)
    }
    for (const each of folders) chmodSync(each, 0o755)
    if (existsSync(copy)) renameSync(copy, join(above, `.${randomUUID()}-gone`))
    renameSync(made, copy)
  } finally {
    rmSync(made, { recursive: true, force: true })
    removeGone(above)
  }
}

function removeGone(folder: string): void {
  for (const name of readdirSync(folder))
    if (name.endsWith('-gone')) rmSync(join(folder, name), { recursive: true, force: true })
}
