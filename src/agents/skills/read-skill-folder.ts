import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Skill, SkillIssue, SkillOrigin } from '../../contract/services/skill.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { readWholeFile } from '../../kit/read-whole-file.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import type { parseFrontMatter } from '../definitions/parse-front-matter.ts'
import { checkSkill, counts, type ReadNarrowing } from './check-skill.ts'

/** A folder of skills. */
export interface SkillPlace {
  readonly path: string
  readonly origin: Exclude<SkillOrigin, 'code'>
  /** Skills lie in there, links resolved: a project does not show what lies elsewhere. */
  readonly inside?: string
  readonly package?: string
}

/** A skill of a file, with what is wrong with the file. */
export interface ReadSkill {
  readonly file: string
  readonly skill: Skill | undefined
  readonly issues: readonly SkillIssue[]
  /** The names that a skill would have that is left out, and whose it is: a skill of someone else does not step into its place. */
  readonly claimed?: { readonly names: readonly string[]; readonly origin: SkillOrigin }
}

const maxBytes = 512 * 1024
const mostSkills = 1_000

/** Reads the `SKILL.md` of every folder in a place, in the order of their names. One that is at fault spoils no other. A place that is not there holds none. */
export async function readSkillFolder(
  place: SkillPlace,
  readNarrowing: ReadNarrowing,
): Promise<readonly ReadSkill[]> {
  const listed = listFolders(place)
  if ('message' in listed) return [faulty(place.path, listed)]
  const read = listed.names.map((name) => readOne(join(place.path, name), place, readNarrowing))
  return (await Promise.all(read)).filter((each) => each !== undefined)
}

/** The skill of one folder; undefined if it holds none. */
export async function readOne(
  path: string,
  place: SkillPlace,
  readNarrowing: ReadNarrowing,
): Promise<ReadSkill | undefined> {
  const read = await readFolder(path, place, readNarrowing)
  if (read === undefined || read.skill !== undefined) return read
  return { ...read, claimed: { names: [basename(path), ...(read.said ?? [])], origin: place.origin } }
}

async function readFolder(
  path: string,
  place: SkillPlace,
  readNarrowing: ReadNarrowing,
): Promise<(ReadSkill & { said?: readonly string[] }) | undefined> {
  const file = join(path, 'SKILL.md')
  try {
    if (!statSync(path).isDirectory()) return undefined
  } catch (error) {
    return faulty(path, { message: `The folder cannot be read: ${describeFileError(error)}.` })
  }
  const folder = realpathSync(path)
  if (place.inside !== undefined && !isInside(folder, realpathSync(place.inside)))
    return faulty(path, { message: `The folder is a link out of ${whose(place)}, so nothing in it is read.` })
  if (!existsSync(file)) return undefined
  const read = readWholeFile(join(folder, 'SKILL.md'), maxBytes)
  if ('issue' in read) return faulty(file, { message: read.issue })
  const { parseFrontMatter } = await import('../definitions/parse-front-matter.ts')
  const { parsed, dropped } = parseTolerantly(read.text, parseFrontMatter)
  if ('issue' in parsed) return faulty(file, parsed.issue)
  const { skill, issues } = checkSkill(
    {
      fields: Object.fromEntries([...parsed.fields].map(([field, { value }]) => [field, value])),
      instructions: parsed.body,
      origin: place.origin,
      folderName: basename(path),
      folder,
      file,
      ...(place.package !== undefined && { package: place.package }),
    },
    readNarrowing,
  )
  const located = issues.map(({ field, ...issue }) => {
    const line = parsed.fields.get(field)?.line
    return { file, ...(line !== undefined && { line }), ...(field !== '' && { field }), ...issue }
  })
  const notes = dropped.map((issue) => ({ file, ...issue, leftOut: false }))
  const said = parsed.fields.get('name')?.value
  return {
    file,
    skill,
    issues: [...located, ...notes],
    ...(typeof said === 'string' && { said: [said.trim()] }),
  }
}

type Parse = typeof parseFrontMatter

/** Programs of others read the fields that they know. So does this: what is not YAML is left out if the field counts for nothing here. */
function parseTolerantly(text: string, parse: Parse) {
  const dropped: { line: number; field: string; message: string }[] = []
  const lines = text.split('\n')
  for (;;) {
    const parsed = parse(lines.join('\n'))
    if (!('issue' in parsed)) return { parsed, dropped }
    const { line, message } = parsed.issue
    const start = lines.slice(0, line).findLastIndex((each) => /^[A-Za-z]/.test(each))
    const field = /^([\w-]+):/.exec(lines[start] ?? '')?.[1]
    if (field === undefined || counts(field)) return { parsed, dropped }
    dropped.push({ line: start + 1, field, message: `${message} "${field}" counts for nothing here.` })
    let end = start + 1
    while (end < lines.length && !/^(?:[A-Za-z]|---)/.test(lines[end] ?? '')) end++
    lines.fill('', start, end)
  }
}

/** Names of folders with a skill in them, which may lie in folders by subject. */
function findFolders(path: string, below = '', depth = 1): string[] {
  return readdirSync(join(path, below), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .flatMap((entry) => {
      const name = join(below, entry.name)
      const isSubject = entry.isDirectory() && depth < mostDepth && !existsSync(join(path, name, 'SKILL.md'))
      return isSubject ? findFolders(path, name, depth + 1) : [name]
    })
}

/** How deep folders of subjects may lie. */
const mostDepth = 3

function whose({ package: name }: SkillPlace): string {
  return name === undefined ? 'the project' : `the package "${name}"`
}

function faulty(file: string, { message, line }: { message: string; line?: number }): ReadSkill {
  return {
    file,
    skill: undefined,
    issues: [{ file, ...(line !== undefined && { line }), message, leftOut: true }],
  }
}

function listFolders({
  path,
  inside,
  ...about
}: SkillPlace): { names: readonly string[] } | { message: string } {
  try {
    if (inside !== undefined && !isInside(realpathSync(path), realpathSync(inside)))
      return {
        message: `The folder is a link out of ${whose({ path, ...about })}, so nothing in it is read.`,
      }
    const names = findFolders(path)
    if (names.length > mostSkills)
      return { message: `The folder has ${names.length} entries, and at most ${mostSkills} are read.` }
    return { names: names.sort() }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { names: [] }
      : { message: `The folder cannot be read (${code}). Mend its permissions or remove it.` }
  }
}
