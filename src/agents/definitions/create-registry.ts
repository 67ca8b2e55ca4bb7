import { join } from 'node:path'
import type {
  AgentDefinition,
  AgentDefinitionIssue,
  AgentDefinitionList,
  AgentDefinitionRegistry,
  RegisteredAgentDefinition,
} from '../../contract/services/agent-definition.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { builtinDefinitions } from './builtin-definitions.ts'
import { checkDefinition, type CheckedDefinition } from './check-definition.ts'
import { readAgentFolder } from './read-agent-folder.ts'
import { freezeDeeply } from '../../kit/json/freeze-deeply.ts'

/** Where definitions come from. */
export interface RegistryParts {
  readonly definitions: readonly AgentDefinition[]
  /** The folder with the person's own files; undefined for none. */
  readonly folder: string | undefined
  /** Whether files of projects count. */
  readonly projectFiles: boolean
  readonly checker: SchemaChecker
}

/** The definitions of Handrail, of a program, of a person and of a project. Throws a SetupError with every issue of those of the program. */
export function createRegistry(parts: RegistryParts): AgentDefinitionRegistry {
  const { folder, projectFiles, checker } = parts
  const fixed = createCollection()
  for (const definition of builtinDefinitions) fixed.add(checkCode(definition, 'builtin', checker))
  const issues = parts.definitions.flatMap((definition, index) => {
    const checked = checkCode(definition, 'code', checker)
    const all = [...checked.issues, ...fixed.add(checked)]
    return all.map((issue) => toIssue(issue, index))
  })
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'These definitions of agents cannot be used:', issues)
  const list = async (project?: string): Promise<AgentDefinitionList> => {
    const collection = fixed.copy()
    const read = folder === undefined ? [] : await readAgentFolder({ path: folder, origin: 'home' }, checker)
    const own =
      project === undefined || !projectFiles
        ? []
        : await readAgentFolder(
            { path: join(project, '.claude', 'agents'), origin: 'project', inside: project },
            checker,
          )
    const found = [...read, ...own].flatMap((each) => [
      ...each.issues,
      ...collection.add(each).map((issue) => ({ file: each.file, ...issue })),
    ])
    return { definitions: collection.list(), issues: found }
  }
  return {
    list,
    async find(id, project) {
      const { definitions } = await list(project)
      return definitions.find((definition) => definition.id === id)
    },
  }
}

type Collected = Pick<CheckedDefinition, 'definition' | 'overrides'>

/** Definitions by id, letter case aside: two that look alike would be taken for one another. */
function createCollection(known = new Map<string, RegisteredAgentDefinition>()) {
  return {
    /** Returns why it is not among them. */
    add({ definition, overrides }: Collected): AgentDefinitionIssue[] {
      if (definition === undefined) return []
      const { id, origin } = definition
      const before = known.get(id.toLowerCase())
      const name = before && `${before.origin}:${before.id}`
      if (overrides !== name && overrides !== undefined)
        return [{ field: 'overrides', message: `There is no definition "${overrides}".`, leftOut: true }]
      if (before !== undefined && overrides === undefined)
        return [{ field: 'name', message: describeDuplicate(before, origin), leftOut: true }]
      known.set(id.toLowerCase(), freezeDeeply(definition))
      return []
    },
    copy: () => createCollection(new Map(known)),
    list: () => [...known.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1)),
  }
}

function describeDuplicate({ id, origin, file }: RegisteredAgentDefinition, by: string): string {
  const where = file === undefined ? `"${origin}:${id}"` : `"${file}"`
  const isReplaceable = by !== 'project' && (origin === 'builtin' || origin === 'code')
  const advice = isReplaceable ? `, or say "overrides: ${origin}:${id}"` : ''
  return `The id "${id}" is that of ${where} already. Use another one${advice}.`
}

const codeFields: readonly (keyof AgentDefinition)[] = [
  'id',
  'description',
  'instructions',
  'model',
  'tools',
  'disallowedTools',
  'role',
  'mode',
  'limits',
  'isolation',
  'outputSchema',
  'overrides',
]
const limitFields: readonly string[] = ['maxTurns', 'timeoutMs']

/** What a program says counts as a whole, so that every issue leaves it out. */
function checkCode(
  given: AgentDefinition,
  origin: 'builtin' | 'code',
  checker: SchemaChecker,
): CheckedDefinition {
  if (!isPlainObject(given))
    return left([{ field: '', message: 'A definition is an object.', leftOut: true }])
  const { id, limits = {}, ...rest } = given
  const unknown = [
    ...findUnknownFields(given, codeFields),
    ...(isPlainObject(limits) ? findUnknownFields(limits, limitFields) : []),
  ]
  const checked = checkDefinition({ origin, fields: { ...rest, ...limits, name: id } }, checker)
  const issues = unknown.map(({ pointer, message }) => ({ field: pointer.slice(1), message, leftOut: true }))
  return { ...checked, issues: [...checked.issues, ...issues] }
}

function left(issues: CheckedDefinition['issues']): CheckedDefinition {
  return { definition: undefined, overrides: undefined, issues }
}

function toIssue(
  { field = '', message }: Pick<AgentDefinitionIssue, 'field' | 'message'>,
  index: number,
): Issue {
  const name = field === 'name' ? 'id' : limitFields.includes(field) ? `limits/${field}` : field
  const pointer = `/definitions/${index}${name === '' ? '' : `/${name}`}`
  return { pointer, code: 'invalid_definition', message }
}
