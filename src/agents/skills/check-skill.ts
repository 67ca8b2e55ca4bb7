import type { Skill, SkillNarrowing, SkillOrigin } from '../../contract/base/skill.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { splitTools } from './split-tools.ts'

/** What a skill says, by field of the front matter, and where it comes from. */
export interface RawSkill {
  readonly fields: Readonly<Record<string, unknown>>
  readonly instructions: string
  readonly origin: SkillOrigin
  /** The name of its folder, which it has if it says none that can be used. */
  readonly folderName?: string
  readonly package?: string
  readonly folder?: string
  readonly file?: string
}

/** What is wrong with a field. */
export interface FieldIssue {
  readonly field: string
  readonly message: string
  readonly leftOut: boolean
}

/** Turns the tools that a skill names into what it leaves of the calls of a session. */
export type ReadNarrowing = (given: {
  readonly allowed: readonly string[]
  readonly disallowed: readonly string[]
  readonly skill: string
}) => { readonly narrowing: SkillNarrowing; readonly issues: readonly FieldIssue[] }

const longest = { name: 64, description: 1024, compatibility: 500 }
const longestTaken = 16_384
const mostTools = 200
const idForm = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/

/** Fields that say how another agent shows or runs a skill. */
const ofOthers: ReadonlyMap<string, string> = new Map([
  ['agent', 'A skill is followed by the agent that loads it.'],
  ['context', 'A skill is followed by the agent that loads it.'],
  ['hooks', 'Hooks stand in config.json.'],
  ['model', 'A skill does not change the model.'],
])
const silent: ReadonlySet<string> = new Set([
  'argument-hint',
  'arguments',
  'author',
  'category',
  'color',
  'effort',
  'tags',
  'user-invocable',
  'version',
  'when_to_use',
])

/** Checks every field of a skill, and finds all that is wrong at once. The skill is undefined if it is left out. */
export function checkSkill(
  raw: RawSkill,
  readNarrowing: ReadNarrowing,
): { skill: Skill | undefined; issues: readonly FieldIssue[] } {
  const issues: FieldIssue[] = []
  const note = (field: string, message: string): void => void issues.push({ field, message, leftOut: false })
  const refuse = (field: string, message: string): void => void issues.push({ field, message, leftOut: true })
  const { fields, origin, file, folder } = raw
  const name = readName(raw, { note, refuse })
  const description = readDescription(fields, { note, refuse })
  if (raw.instructions.trim() === '') refuse('', 'It tells nothing. Write below the front matter what to do.')
  const compatibility = readText('compatibility', fields, note)
  const license = readText('license', fields, note)
  const metadata = readMetadata(fields['metadata'], note)
  const forModels = readFlag('disable-model-invocation', fields, refuse) !== true
  const allowed = readTools('allowed-tools', fields, refuse)
  const disallowed = readTools('disallowed-tools', fields, refuse)
  const read = readNarrowing({ allowed, disallowed, skill: name })
  issues.push(...read.issues)
  for (const field of Object.keys(fields)) noteUnknown(field, note)
  const skill: Skill = {
    name,
    description,
    instructions: raw.instructions.trim(),
    origin,
    narrowing: read.narrowing,
    forModels,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(raw.package !== undefined && { package: raw.package }),
    ...(folder !== undefined && { folder }),
    ...(file !== undefined && { file }),
  }
  return { skill: issues.some(({ leftOut }) => leftOut) ? undefined : skill, issues }
}

interface Tell {
  readonly note: (field: string, message: string) => void
  readonly refuse: (field: string, message: string) => void
}

/** The name that it says if that can be used, else that of its folder: programs of others take both. */
function readName({ fields, folderName, origin }: RawSkill, { note, refuse }: Tell): string {
  const said = typeof fields['name'] === 'number' ? String(fields['name']) : fields['name']
  if (typeof said === 'string' && idForm.test(said.trim())) {
    const name = said.trim()
    if (name.length > longestTaken / 128) refuse('name', `The name has ${name.length} characters.`)
    else if (!isStandardName(name))
      note(
        'name',
        `"${name}" is not a name as the format wants it: at most ${longest.name} lower-case letters and digits, with single "-" between them.`,
      )
    else if (folderName !== undefined && name !== folderName)
      note('name', `The name "${name}" is not that of its folder, "${folderName}".`)
    return name
  }
  const instead = folderName !== undefined && idForm.test(folderName) ? folderName : undefined
  const what = said === undefined || said === '' ? '"name" is missing' : `"name" is ${show(said)}`
  if (instead === undefined || origin === 'code') refuse('name', `${what}. Use letters, digits and "-".`)
  else note('name', `${what}, so the skill has the name of its folder, "${instead}".`)
  return instead ?? ''
}

function isStandardName(name: string): boolean {
  return name.length <= longest.name && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
}

function readDescription(fields: RawSkill['fields'], { note, refuse }: Tell): string {
  const said = fields['description']
  const text = typeof said === 'string' ? said.trim() : ''
  if (text === '')
    refuse('description', '"description" is missing. A model chooses a skill by it: say what it is for.')
  else if (text.length > longestTaken)
    refuse(
      'description',
      `The description has ${text.length} characters, and at most ${longest.description} are meant.`,
    )
  else if (text.length > longest.description)
    note(
      'description',
      `The description has ${text.length} characters. Lists show the first ${longest.description}.`,
    )
  return text
}

function readText(
  field: 'compatibility' | 'license',
  fields: RawSkill['fields'],
  note: Tell['note'],
): string | undefined {
  const said = fields[field]
  if (said === undefined || said === null || said === '') return undefined
  const most = longest.compatibility
  const text = typeof said === 'string' ? said.trim() : JSON.stringify(said)
  if (text.length <= most) return text
  note(field, `"${field}" has ${text.length} characters; the first ${most} are shown.`)
  return text.slice(0, most)
}

function readMetadata(said: unknown, note: Tell['note']): Skill['metadata'] | undefined {
  if (said === undefined || said === null) return undefined
  if (!isPlainObject(said)) {
    note('metadata', '"metadata" is not a list of names and texts, so it counts for nothing.')
    return undefined
  }
  const pairs = Object.entries(said).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
  ])
  return Object.fromEntries(pairs) as Record<string, string>
}

/** What cannot be read could mean the narrower thing. */
function readFlag(field: string, fields: RawSkill['fields'], refuse: Tell['refuse']): boolean | undefined {
  const said = fields[field]
  if (said === undefined || said === null || typeof said === 'boolean') return said ?? undefined
  refuse(field, `"${field}" is ${show(said)}. Use true or false.`)
  return undefined
}

function readTools(
  field: 'allowed-tools' | 'disallowed-tools',
  fields: RawSkill['fields'],
  refuse: Tell['refuse'],
): readonly string[] {
  const said = fields[field] ?? ''
  const entries = Array.isArray(said) && said.every((each) => typeof each === 'string') ? said : undefined
  const tools = typeof said === 'string' ? splitTools(said) : entries?.flatMap(splitTools)
  if (tools !== undefined && tools.length <= mostTools) return tools
  refuse(field, `"${field}" is not a list of at most ${mostTools} tools.`)
  return []
}

const known: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
  'disallowed-tools',
  'disable-model-invocation',
])

/** Whether a field says something here. */
export function counts(field: string): boolean {
  return known.has(field)
}

function noteUnknown(field: string, note: Tell['note']): void {
  if (known.has(field) || silent.has(field)) return
  const why = ofOthers.get(field)
  note(
    field,
    why === undefined
      ? `There is no field "${field}", so it counts for nothing.`
      : `"${field}" counts for nothing here. ${why}`,
  )
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80)
}
