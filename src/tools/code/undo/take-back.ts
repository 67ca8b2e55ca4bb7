import type { PathEffect, PathState } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PastCall } from '../../../contract/base/history.ts'
import type { Files } from '../../../contract/base/sandbox.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { showPath } from '../base/show-path.ts'

/** The paths of calls as they would be, one call after the other taken back. */
export interface TakingBack {
  /** Takes back one more call. Returns whether anything of it was in force. Fails with `changed_since` if a path is not as the call left it. */
  add(call: PastCall): Promise<boolean>
  /** What would change, in the order of the paths. */
  changes(): PathEffect[]
}

type Place = Readonly<{ files: Files; project: string }>

/** Starts from the files as they are. The newest call goes first. */
export function startTakingBack({ files, project }: Place): TakingBack {
  const found = new Map<string, PathState>()
  const wanted = new Map<string, PathState>()
  const stateOf = async (path: string): Promise<PathState> => {
    const known = wanted.get(path)
    if (known !== undefined) return known
    const real = await resolveNamed(path, { files, project })
    if (real !== path) throw movedAway(showPath(project, path), real)
    const state = await files.state(path)
    found.set(path, state)
    wanted.set(path, state)
    return state
  }
  return {
    async add(call) {
      let any = false
      for (const { path, before, after } of call.effects.toReversed()) {
        // The same again, such as a copy over its equal, is nothing to take back.
        if (isSame(before, after)) continue
        const now = await stateOf(path)
        if (isSame(now, after)) {
          wanted.set(path, before)
          any = true
        }
        // A call that was cut off noted what never came into force.
        else if (!isSame(now, before)) throw changedSince(showPath(project, path), call)
      }
      return any
    },
    changes: () =>
      [...found]
        .map(([path, before]) => ({ path, before, after: wanted.get(path) ?? before }))
        .filter(({ before, after }) => !isSame(before, after))
        .toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  }
}

/** Where a path lies now. What a refusal says of a folder above it is said of the path. */
async function resolveNamed(path: string, { files, project }: Place): Promise<string> {
  try {
    return await files.resolveEntry(path, 'write')
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    const { code, reason, message } = error
    const name = showPath(project, path)
    throw new ToolFailure({
      code,
      reason,
      message: `"${name}" cannot be taken back, so nothing was: ${message}`,
      data: { path: name },
    })
  }
}

/** Fails with `changed_since` if a folder that would go holds something that stays. */
export async function requireEmptied(
  changes: readonly PathEffect[],
  { files, project }: Place,
): Promise<void> {
  const going = new Set(changes.flatMap(({ path, after }) => (after.kind === 'none' ? [path] : [])))
  for (const { path, before, after } of changes) {
    if (before.kind !== 'directory' || after.kind === 'directory') continue
    const { entries } = await files.list(path, { recursive: false, limit: mostListed })
    const stays = entries.find((entry) => !going.has(`${path}/${entry.path}`))
    if (stays !== undefined) throw notEmpty(showPath(project, path), stays.path)
  }
}

const mostListed = 100_000

function isSame(one: PathState, other: PathState): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function changedSince(path: string, { tool, call }: PastCall): ToolFailure {
  return new ToolFailure({
    reason: 'changed_since',
    message: `"${path}" is not as the call "${call}" (${tool}) left it, so nothing was taken back. Take back what changed it since first, or change the file itself.`,
    data: { path, call },
  })
}

function movedAway(path: string, real: string): ToolFailure {
  return new ToolFailure({
    reason: 'changed_since',
    message: `"${path}" leads to "${real}" now, since a folder above it became a link, so nothing was taken back.`,
    data: { path, now: real },
  })
}

function notEmpty(path: string, stays: string): ToolFailure {
  return new ToolFailure({
    reason: 'changed_since',
    message: `"${path}" is a folder that would go, and "${stays}" was put into it since, so nothing was taken back. Take that back too, or put it elsewhere.`,
    data: { path, stays },
  })
}
