import type { Issue } from '../../contract/base/json.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import { renameTools } from '../../kit/names/rename-tools.ts'
import { countStrict } from '../schema/find-over-limits.ts'
import { isKeywords, type Keywords } from '../schema/lowering.ts'
import { lowerSchema, type Lowered } from '../schema/lower-schema.ts'
import { splitDescription } from './split-description.ts'
import type { LeftOutTool } from './model-door.ts'
import { findRules, type RuleQuery, type Rules } from '../rules/find-rules.ts'

/** A tool as a provider takes it. */
export interface FittedTool {
  /** On the wire. */
  readonly name: string
  readonly description: string
  readonly schema: Keywords
  readonly strict: boolean
  readonly canonical: string
  /** Whether it is shown because a search found it. */
  readonly deferred: boolean
}

/** The tools of a session, fitted to a provider. */
export interface FittedTools {
  readonly tools: readonly FittedTool[]
  readonly leftOut: readonly LeftOutTool[]
  /** The input that a tool means, by the name in its presentation. */
  restore(name: string, input: unknown): unknown
}

/** How tools are fitted. */
export interface FitOptions {
  readonly query: RuleQuery
  /** What the provider is called in errors. */
  readonly provider: string
  readonly strict: boolean | 'if-possible'
  readonly onUnfit: 'throw' | 'leave-out'
  /** The wire name of a name in the presentation. */
  readonly encode: (name: string) => string
  /** The wire name of a canonical name, as descriptions have it. */
  readonly wireNameOf: (canonical: string) => string | undefined
}

/** Fits tools to what a provider takes. Throws a SetupError that names what it does not take, if that is wanted. */
export function fitTools(tools: readonly PresentedTool[], options: FitOptions): FittedTools {
  const restores = new Map<string, Lowered['restore']>()
  const leftOut: LeftOutTool[] = []
  const fitted: FittedTool[] = []
  const room = createStrictRoom(findRules({ ...options.query, strict: true }))
  const most = findRules(options.query).find('tool-count')?.max ?? Infinity
  for (const tool of tools) {
    const fit =
      fitted.length < most ? fitTool(tool, options, room) : { issues: [tooMany(tools.length, most)] }
    if ('issues' in fit) {
      leftOut.push({ tool: tool.tool, issues: fit.issues })
      continue
    }
    fitted.push(fit.tool)
    restores.set(tool.name, fit.restore)
  }
  // What a search found must not end a conversation.
  const found = new Set(tools.flatMap(({ tool, deferred }) => (deferred === true ? [tool] : [])))
  const refused = leftOut.filter(({ tool }) => !found.has(tool))
  if (refused.length > 0 && options.onUnfit === 'throw') throw toError(refused, options)
  return {
    tools: fitted,
    leftOut,
    restore: (name, input) => restores.get(name)?.(input) ?? input,
  }
}

interface Fit {
  readonly tool: FittedTool
  readonly restore: Lowered['restore']
}

function fitTool(
  tool: PresentedTool,
  options: FitOptions,
  room: StrictRoom,
): Fit | { readonly issues: readonly Issue[] } {
  const { query, strict } = options
  const attempt = (isStrict: boolean): Fit | { readonly issues: readonly Issue[] } => {
    const rules = findRules({ ...query, strict: isStrict })
    const lowered = lowerKept(tool.inputSchema, { ...query, strict: isStrict }, rules)
    const issues = lowered.issues.length > 0 || !isStrict ? lowered.issues : room.take(lowered.schema)
    if (issues.length > 0) return { issues }
    const split = splitDescription(describe(tool, options), rules.find('tool-description')?.maxLength)
    const schema = withDescription(lowered.schema, split.rest)
    return {
      tool: {
        name: options.encode(tool.name),
        description: split.first,
        schema,
        strict: isStrict,
        canonical: tool.tool,
        deferred: tool.deferred === true,
      },
      restore: lowered.restore,
    }
  }
  const first = attempt(strict !== false)
  return 'issues' in first && strict === 'if-possible' ? attempt(false) : first
}

/** What was made last of frozen schemas, as those of the registry are: each agent has a door of its own, and most have the same tools. */
const lowerings = new WeakMap<object, { readonly asked: string; readonly lowered: Lowered }>()

function lowerKept(schema: object, query: RuleQuery, rules: Rules): Lowered {
  const { api, strict, field, model } = query
  const asked = JSON.stringify([api, strict, field, model])
  const kept = lowerings.get(schema)
  if (kept?.asked === asked) return kept.lowered
  const lowered = lowerSchema(schema, rules)
  if (Object.isFrozen(schema)) lowerings.set(schema, { asked, lowered })
  return lowered
}

/** What a server elsewhere says of its tool stays as it is; our tools name each other. A provider may ask for a description. */
function describe({ tool, description, title }: PresentedTool, { wireNameOf }: FitOptions): string {
  if (description.trim() === '') return title.trim() === '' ? tool : title
  return /^mcp\.[^.]+\./.test(tool) ? description : renameTools(description, wireNameOf)
}

function withDescription(schema: Keywords, rest: string): Keywords {
  if (rest === '') return schema
  const { description } = schema
  return { ...schema, description: typeof description === 'string' ? `${rest}\n${description}` : rest }
}

/** How many strict tools, and of what size, one request still takes. */
interface StrictRoom {
  /** Counts a tool in; or returns why it does not fit, and counts nothing. */
  take(schema: Keywords): readonly Issue[]
}

function createStrictRoom(rules: Rules): StrictRoom {
  const taken = { 'strict-tools': 0, 'strict-optional': 0, 'strict-unions': 0 }
  const words = {
    'strict-tools': 'strict tools',
    'strict-optional': 'optional properties in strict tools',
    'strict-unions': 'properties of several types in strict tools',
  }
  return {
    take(schema) {
      const { optional, unions } = countStrict(schema)
      const next = {
        'strict-tools': taken['strict-tools'] + 1,
        'strict-optional': taken['strict-optional'] + optional,
        'strict-unions': taken['strict-unions'] + unions,
      }
      const issues = (['strict-tools', 'strict-optional', 'strict-unions'] as const).flatMap(
        (kind): Issue[] => {
          const max = rules.find(kind)?.max ?? Infinity
          if (next[kind] <= max) return []
          const message = `With this tool a request has ${next[kind]} ${words[kind]}; ${max} are taken. Show fewer tools, or pass strict: "if-possible".`
          return [{ pointer: '', code: 'unfit_tool', message }]
        },
      )
      if (issues.length === 0) Object.assign(taken, next)
      return issues
    },
  }
}

function tooMany(count: number, most: number): Issue {
  return {
    pointer: '',
    code: 'unfit_tool',
    message: `The session has ${count} tools; ${most} are taken in a request. Open the session with allowedTools, or restrict it.`,
  }
}

function toError(leftOut: readonly LeftOutTool[], { provider }: FitOptions): SetupError {
  const count = leftOut.length === 1 ? 'a tool' : `${leftOut.length} tools`
  return new SetupError(
    'unfit_tool',
    `${provider} does not take ${count} of this session. Change what is listed, or pass onUnfit: 'leave-out' to do without.`,
    leftOut.flatMap(({ tool, issues }) =>
      issues.map(({ pointer, code, message }) => ({ pointer, code, message: `"${tool}": ${message}` })),
    ),
  )
}

/** A schema as plain JSON, without marks. */
export function toPlainSchema(schema: Keywords): Keywords {
  const plain: unknown = JSON.parse(JSON.stringify(schema))
  return isKeywords(plain) ? plain : {}
}
