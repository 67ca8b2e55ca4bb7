import type { Issue } from '../../contract/base/json.ts'
import type { Repair } from '../../contract/base/schema.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { limits } from './limits.ts'
import type { Budget } from '../pattern/machine.ts'

/** One check under way: where it is, what it found, and how much it may still do. */
export interface Run extends Budget {
  readonly repair: boolean
  /** Issues are only counted. */
  readonly silent: boolean
  /** Tokens of the pointer to the value at hand. */
  readonly path: (string | number)[]
  readonly issues: Issue[]
  readonly repairs: Repair[]
  /** All issues, also those that are only counted. */
  issueCount: number
  /** Values that may still be looked at. */
  values: number
}

/** Checks one value; returns it, or a copy with defaults and repairs in it. Issues go to the run. */
export type Check = (value: unknown, run: Run) => unknown

/** Starts a check. */
export function createRun(repair: boolean): Run {
  return {
    repair,
    silent: false,
    path: [],
    issues: [],
    repairs: [],
    issueCount: 0,
    values: limits.values,
    steps: limits.patternSteps,
  }
}

/** The pointer to the value at hand, or to a part of it. Names too long to be meant are cut. */
export function pointerOf(run: Run, token?: string | number): string {
  const path = token === undefined ? run.path : [...run.path, token]
  return path.map(cut).reduce<string>(pointerTo, '')
}

function cut(token: string | number): string | number {
  if (typeof token === 'number' || token.length <= limits.nameLength) return token
  return `${token.slice(0, limits.nameLength)}…`
}

/** Reports an issue of the value at hand, or of a part of it. The message is only made where it will be read. */
export function report(run: Run, code: string, issue: { message: () => string; token?: string }): void {
  run.issueCount++
  if (run.silent || run.issueCount > limits.issues) return
  run.issues.push({ pointer: pointerOf(run, issue.token), code, message: issue.message() })
}

/** Reports issues that were found before, at their own places. */
export function passOn(issues: readonly Issue[], run: Run): void {
  for (const issue of issues) {
    run.issueCount++
    if (!run.silent && run.issueCount <= limits.issues) run.issues.push(issue)
  }
}

/** All issues of the run, with a last one that counts those left out. */
export function issuesOf(run: Run): Issue[] {
  const more = run.issueCount - run.issues.length
  if (more <= 0) return run.issues
  return [...run.issues, { pointer: '', code: 'more_issues', message: `And ${more} more issues.` }]
}

/** Whether the check may look into an object or array of this size. Reports it once when it may not. */
export function enter(run: Run, size: number): boolean {
  if (run.values <= 0) return false
  if (run.path.length >= limits.depth) {
    // A cycle or a value nested on purpose: the rest of it is not worth looking at.
    run.values = 0
    report(run, 'too_deep', { message: () => `Nested more than ${limits.depth} levels deep; flatten it.` })
    return false
  }
  run.values -= size + 1
  if (run.values > 0) return true
  report(run, 'too_large', { message: () => `Holds more than ${limits.values} values; send less at once.` })
  return false
}

/** Does something with a part of the value at hand as the place. Where speed counts, push and pop the path instead. */
export function inPart(run: Run, token: string | number, visit: () => void): void {
  run.path.push(token)
  visit()
  run.path.pop()
}
