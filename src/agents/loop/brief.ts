import type { Mode, Role } from '../../contract/base/principal.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { Session, SessionNarrowing } from '../../contract/runtime.ts'
import type { ModelTool } from '../../doors/language-model/messages.ts'
import type { ModelCalls } from '../../doors/language-model/open-model-calls.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { ownSystemText } from './own-system-text.ts'
import type { RunSettings } from './run-settings.ts'

/** What a run tells its model beside the conversation, and the session whose tools those are. */
export interface RunBrief {
  readonly system: string
  readonly instructions: readonly string[]
  readonly output?: JsonSchema
  readonly tools: readonly BriefedTool[]
  readonly session: SessionNarrowing & { readonly role: Role; readonly mode: Mode }
}

/** A tool as a model is told of it. */
export interface BriefedTool {
  /** On the wire. */
  readonly name: string
  /** Digest of all that the model is told of it. */
  readonly digest: string
}

/** What a brief is made of. */
export interface BriefParts {
  readonly settings: RunSettings
  readonly calls: Pick<ModelCalls, 'tools'>
  readonly session: Pick<Session, 'mode'> & { readonly principal: { readonly role: Role } }
  readonly narrowing: SessionNarrowing
}

/** The brief of now. */
export function briefOf({ settings, calls, session, narrowing }: BriefParts): RunBrief {
  const { system = ownSystemText, instructions = [], output, skills } = settings
  const { mode, principal } = session
  return {
    system: skills === undefined ? system : `${system}\n\n${skills}`,
    instructions,
    ...(output !== undefined && { output }),
    tools: calls.tools.map((tool) => ({ name: tool.name, digest: digestOf(tool) })),
    session: { role: principal.role, mode, ...narrowing },
  }
}

const digests = new WeakMap<ModelTool, string>()

/** Made once for each tool: runs make a brief at each turn. */
function digestOf(tool: ModelTool): string {
  const known = digests.get(tool)
  if (known !== undefined) return known
  const made = digest(canonicalJson(tool))
  digests.set(tool, made)
  return made
}

/** Whether two briefs say the same. */
export function isSameBrief(one: RunBrief | undefined, other: RunBrief): boolean {
  return one !== undefined && isSameList(one.tools, other.tools) && restOf(one) === restOf(other)
}

const rests = new WeakMap<RunBrief, string>()

/** The text of a brief without its tools. Made once for each, as the brief of a turn is held to that of the turn before. */
function restOf(brief: RunBrief): string {
  const known = rests.get(brief)
  if (known !== undefined) return known
  const { tools: _tools, ...rest } = brief
  const made = canonicalJson(rest)
  rests.set(brief, made)
  return made
}

function isSameList(tools: readonly BriefedTool[], others: readonly BriefedTool[]): boolean {
  return (
    tools.length === others.length &&
    tools.every(({ name, digest: told }, at) => others[at]?.name === name && others[at].digest === told)
  )
}
