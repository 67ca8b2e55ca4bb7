import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import type {
  Skill,
  SkillDefinition,
  SkillIssue,
  SkillList,
  SkillRegistry,
} from '../../contract/services/skill.ts'
import type { Issue } from '../../contract/base/json.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { checkSkill, type ReadNarrowing } from './check-skill.ts'
import { createCopies } from './create-copies.ts'
import { readOne, readSkillFolder, type ReadSkill, type SkillPlace } from './read-skill-folder.ts'
import { digestFiles, readFiles } from './skill-files.ts'
import { freezeDeeply } from '../../kit/json/freeze-deeply.ts'

/** Where skills come from. */
export interface SkillSources {
  readonly skills: readonly SkillDefinition[]
  /** The folder with the person's own; undefined for none. */
  readonly folder: string | undefined
  /** Names of packages, which lie in the `node_modules` of the project. */
  readonly packages: readonly string[]
  /** Whether files of projects count. */
  readonly projectFiles: boolean
  readonly readNarrowing: ReadNarrowing
}

/** The skills of a program, of a person, of packages and of a project. Throws a SetupError with every issue of those of the program. */
export function createRegistry(sources: SkillSources): SkillRegistry {
  const { readNarrowing } = sources
  const own = sources.skills.map((given) => checkCode(given, readNarrowing))
  const issues = own.flatMap(({ issues: found }, index) => found.map((issue) => toIssue(issue, index)))
  if (issues.length > 0) throw new SetupError('invalid_options', 'These skills cannot be used:', issues)
  const copies = createCopies()
  const list = async (project?: string): Promise<SkillList> => {
    const collection = createCollection()
    for (const { skill } of own) if (skill !== undefined) collection.add(skill)
    const read = await readPlaces(sources, project)
    const found = read.flatMap(({ file, skill, issues: noted, claimed }) => {
      if (claimed !== undefined) collection.claim(claimed.names, { file, origin: claimed.origin })
      return [
        ...noted,
        ...(skill === undefined ? [] : collection.add(skill).map((issue) => ({ file, ...issue }))),
      ]
    })
    return { skills: collection.list(), issues: found }
  }
  const read = ({ name, instructions, narrowing, folder }: Skill) => {
    const files = folder === undefined ? [] : readFiles(folder, name)
    const digest =
      folder === undefined ? fileDigest(JSON.stringify([name, instructions, narrowing])) : digestFiles(files)
    return {
      files,
      contents: { digest, files: files.map(({ path, content }) => ({ path, bytes: content.length })) },
    }
  }
  return {
    list,
    async find(name, project) {
      const { skills } = await list(project)
      return skills.find((skill) => skill.name === name)
    },
    read: async (skill) => read(skill).contents,
    async open(skill, tenant) {
      const { files, contents } = read(skill)
      // Its instructions are in what is loaded.
      if (files.length < 2) return contents
      return { ...contents, copy: copies.put({ name: skill.name, digest: contents.digest, files }, tenant) }
    },
    isIntact: (skill) => copies.isIntact(skill),
  }
}

/** Each place in the order in which a name is taken. */
async function readPlaces(
  { folder, packages, projectFiles, readNarrowing }: SkillSources,
  project: string | undefined,
): Promise<ReadSkill[]> {
  const read: ReadSkill[] = []
  if (folder !== undefined)
    read.push(...(await readSkillFolder({ path: folder, origin: 'home' }, readNarrowing)))
  if (project === undefined) return read
  for (const name of packages) read.push(...(await readPackage(name, project, readNarrowing)))
  if (!projectFiles) return read
  for (const place of ['.agents', '.claude']) {
    const path = join(project, place, 'skills')
    read.push(...(await readSkillFolder({ path, origin: 'project', inside: project }, readNarrowing)))
  }
  return read
}

/** A package is one skill, or has some in a folder. */
async function readPackage(
  name: string,
  project: string,
  readNarrowing: ReadNarrowing,
): Promise<readonly ReadSkill[]> {
  const path = join(project, 'node_modules', name)
  if (!existsSync(path)) {
    const message = `The package "${name}" is not installed in the project. Install it, or take it out of "skills.packages".`
    return [{ file: path, skill: undefined, issues: [{ file: path, message, leftOut: true }] }]
  }
  const place: SkillPlace = { path, origin: 'package', inside: realpathSync(path), package: name }
  const whole = await readOne(path, place, readNarrowing)
  if (whole !== undefined) return [whole]
  const found: ReadSkill[] = []
  for (const folder of ['skills', 'dist/skills', '.agents/skills'])
    found.push(...(await readSkillFolder({ ...place, path: join(path, folder) }, readNarrowing)))
  if (found.length > 0) return found
  const message = `The package "${name}" has no skills: neither a SKILL.md nor a folder "skills" with some.`
  return [{ file: path, skill: undefined, issues: [{ file: path, message, leftOut: true }] }]
}

type Found = Omit<SkillIssue, 'file'>

/** Skills by name, letter case aside: two that look alike would be taken for one another. One folder under two names is one skill. */
function createCollection() {
  const known = new Map<string, Skill>()
  const claims = new Map<string, Pick<Skill, 'origin'> & { readonly file: string }>()
  return {
    /** Keeps names for a skill that is left out until it is mended. */
    claim(names: readonly string[], of: Pick<Skill, 'origin'> & { readonly file: string }): void {
      for (const name of names) if (!claims.has(name.toLowerCase())) claims.set(name.toLowerCase(), of)
    },
    /** Returns why it is not among them. */
    add(skill: Skill): Found[] {
      const claim = claims.get(skill.name.toLowerCase())
      if (claim !== undefined && claim.origin !== skill.origin)
        return [{ field: 'name', message: describeClaim(skill.name, claim.file), leftOut: true }]
      const before = known.get(skill.name.toLowerCase())
      if (before === undefined) known.set(skill.name.toLowerCase(), freezeDeeply(skill))
      else if (before.folder === undefined || before.folder !== skill.folder)
        return [{ field: 'name', message: describeDuplicate(before), leftOut: true }]
      return []
    },
    list: () => [...known.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1)),
  }
}

function describeClaim(name: string, file: string): string {
  return `The name "${name}" is that of "${file}", which is left out: its instructions and bounds are not replaced by those of someone else. Mend that one, or use another name.`
}

function describeDuplicate({ name, origin, file }: Skill): string {
  const where = file === undefined ? `a skill of the ${origin}` : `"${file}"`
  return `The name "${name}" is that of ${where} already, which is in force. Use another one.`
}

const codeFields: readonly (keyof SkillDefinition)[] = [
  'name',
  'description',
  'instructions',
  'allowedTools',
  'disallowedTools',
]

/** What a program says counts as a whole, so that every issue leaves it out. */
function checkCode(given: SkillDefinition, readNarrowing: ReadNarrowing) {
  if (!isPlainObject(given))
    return { skill: undefined, issues: [{ field: '', message: 'A skill is an object.', leftOut: true }] }
  const { name, description, instructions, allowedTools, disallowedTools } = given
  const checked = checkSkill(
    {
      fields: { name, description, 'allowed-tools': allowedTools, 'disallowed-tools': disallowedTools },
      instructions: typeof instructions === 'string' ? instructions : '',
      origin: 'code',
    },
    readNarrowing,
  )
  const unknown = findUnknownFields(given, codeFields).map(({ pointer, message }) => ({
    field: pointer.slice(1),
    message,
    leftOut: true,
  }))
  return { ...checked, issues: [...checked.issues, ...unknown] }
}

const fieldsInCode: Readonly<Record<string, string>> = {
  'allowed-tools': 'allowedTools',
  'disallowed-tools': 'disallowedTools',
}

function toIssue({ field, message }: Pick<Found, 'field' | 'message'>, index: number): Issue {
  const name = fieldsInCode[field ?? ''] ?? field ?? ''
  return { pointer: `/skills/${index}${name === '' ? '' : `/${name}`}`, code: 'invalid_definition', message }
}
