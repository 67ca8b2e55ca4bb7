import type { ToolMatch, ToolMatches, ToolSearch } from '../../../contract/services/tool-search.ts'
import type { Registered } from '../../../contract/registry.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { toolUrn } from '../../../kit/match/urn.ts'
import { authoriseUse } from '../../permission/authorise-use.ts'
import type { Admitted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { mostFound, type FoundTools } from '../../state/session-book.ts'
import { factsOfTool } from './authorise.ts'

/** So many tools are judged for one search at most. */
const mostJudged = 200

/** How many searches of a session in a row showed nothing new. */
const fruitlessOf = new WeakMap<FoundTools, number>()

/** The deferred tools of the session of a call. It shows none that a call of the session would be denied for whatever its input. */
export function openToolSearch({ call }: Pick<Admitted, 'call'>, scope: CallScope): ToolSearch {
  const { session } = scope
  const canCall = (registered: Registered): boolean =>
    session.exclusion(registered, call.model) === undefined && session.status(registered).outage === undefined
  return {
    async find(wanted, most) {
      const { found, missing } =
        'words' in wanted
          ? {
              found: await takePermitted(session.search(wanted.words), most, { canCall, scope }),
              missing: [],
            }
          : await findByName(wanted.names, most, { canCall, scope })
      const before = new Set(session.found.read())
      const news = found.filter(({ deferred, definition }) => deferred && !before.has(definition.name))
      const fitting = news.slice(0, Math.max(0, mostFound - before.size))
      if (fitting.length > 0) await session.found.add(fitting.map(({ definition }) => definition.name))
      // Other searches may have taken the room meanwhile.
      const after = new Set(session.found.read())
      const added = fitting.filter(({ definition }) => after.has(definition.name))
      const fruitless = added.length > 0 ? 0 : (fruitlessOf.get(session.found) ?? 0) + 1
      fruitlessOf.set(session.found, fruitless)
      const left = new Set(news.slice(added.length))
      return {
        matches: found
          .filter((registered) => !left.has(registered))
          .map((registered) => toMatch(registered, !added.includes(registered))),
        missing,
        left: left.size,
        fruitless,
      } satisfies ToolMatches
    },
  }
}

interface Judge {
  readonly canCall: (registered: Registered) => boolean
  readonly scope: CallScope
}

async function takePermitted(
  candidates: Iterable<Registered>,
  most: number,
  { canCall, scope }: Judge,
): Promise<Registered[]> {
  const permitted: Registered[] = []
  let judged = 0
  for (const registered of candidates) {
    if (permitted.length >= most || ++judged > mostJudged) break
    if (canCall(registered) && (await isPermitted(registered, scope))) permitted.push(registered)
  }
  return permitted
}

/** A name that may not be used is told like one that does not exist. */
async function findByName(
  names: readonly string[],
  most: number,
  { canCall, scope }: Judge,
): Promise<{ found: Registered[]; missing: string[] }> {
  const { session } = scope
  const found: Registered[] = []
  const missing: string[] = []
  for (const name of new Set(names)) {
    const registered = session.find(name, 'canonical') ?? session.find(name, 'compatible')
    const isThere = registered !== undefined && canCall(registered)
    if (found.length < most && isThere && (await isPermitted(registered, scope))) found.push(registered)
    else missing.push(name)
  }
  return { found, missing }
}

/** What no input lets through is not shown. */
async function isPermitted(registered: Registered, scope: CallScope): Promise<boolean> {
  const { tenant, session } = scope
  const { definition } = registered
  if (tenant.policy.decide(factsOfTool(definition, session)).effect === 'deny') return false
  const use = { action: 'invoke', resource: toolUrn(definition.name) }
  return (await authoriseUse({ call: { origin: 'llm' }, registered }, use, scope)) === undefined
}

function toMatch({ definition }: Registered, known: boolean): ToolMatch {
  const { properties, required } = Object(definition.inputSchema) as Record<string, unknown>
  const needed = new Set(Array.isArray(required) ? required : [])
  const names = isPlainObject(properties) ? Object.keys(properties) : []
  return {
    tool: definition.name,
    title: definition.title,
    description: definition.description,
    parameters: names.map((name) => ({ name, required: needed.has(name) })),
    known,
  }
}
