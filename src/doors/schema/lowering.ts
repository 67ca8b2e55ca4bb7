import type { Issue } from '../../contract/base/json.ts'
import type { Rules } from '../rules/find-rules.ts'

/** Names of properties that are required only because the provider wants all to be: null stands for leaving them out. */
export const madeRequired = Symbol('made required')

/** A schema under way: its keywords are not checked, as it may be of any draft. The mark goes with it when it is copied, and not into JSON. */
export type Keywords = { [keyword: string]: unknown; [madeRequired]?: readonly string[] }

/** One lowering of a schema for one provider. */
export interface Lowering {
  readonly rules: Rules
  /** The keywords that the provider knows; undefined if it takes all. */
  readonly known: ReadonlySet<string> | undefined
  /** What the provider does not take, and what cannot be said in another way. */
  readonly issues: Issue[]
  /** Finds what a local reference names. */
  readonly resolve: (reference: string) => unknown
  /** Whether null stands for leaving out a property somewhere. */
  hasNulls: boolean
  /** Names of properties by the names that stand for them. */
  readonly keys: Map<string, string>
  /** What references name that are being written out around here. */
  readonly open: Set<unknown>
  depth: number
}

/** Schemas deeper than this are not lowered. The registry takes none that are. */
const maxDepth = 100

/** Whether a schema may hold another one below. */
export function mayGoDeeper(work: Lowering, at: string): boolean {
  if (work.depth < maxDepth) return true
  report(work, at, `The schema is nested more than ${maxDepth} levels deep. Make it flatter.`)
  return false
}

/** Whether a value is a schema with keywords. */
export function isKeywords(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the provider knows a keyword. */
export function isKnown(keyword: string, { known }: Lowering): boolean {
  return known === undefined || known.has(keyword)
}

/** Reports what the provider does not take. */
export function report(work: Lowering, at: string, message: string): void {
  work.issues.push({ pointer: at, code: 'unfit_schema', message })
}

/** The types that a schema names. */
export function typesOf({ type }: Keywords): readonly string[] {
  const list: unknown[] = Array.isArray(type) ? type : [type]
  return list.filter((each) => typeof each === 'string')
}

/** The JSON type of a value, in the words of JSON Schema. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}
