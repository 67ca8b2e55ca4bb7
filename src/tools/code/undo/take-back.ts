import type { PathEffect, PathState } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PastCall } from '../../../contract/services/history.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { foldersAbove } from '../../../kit/match/folders-above.ts'
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
  const belowLink = new Map<string, { link: string; failure: ToolFailure }>()
  const stateOf = async (path: string): Promise<PathState> => {
    const known = wanted.get(path)
    if (known !== undefined) return known
    const failure = await findMove(path, { files, project })
    const link = failure && (await findLinkAbove(path, files))
    if (failure !== undefined && link === undefined) throw failure
    // A link has nothing below it, whatever it leads to.
    const state: PathState = failure === undefined ? await files.state(path) : { kind: 'none' }
    if (failure !== undefined && link !== undefined) belowLink.set(path, { link, failure })
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
    changes() {
      const changes = [...found]
        .map(([path, before]) => ({ path, before, after: wanted.get(path) ?? before }))
        .filter(({ before, after }) => !isSame(before, after))
        .toSorted((one, other) => (one.path < other.path ? -1 : 1))
      for (const { path } of changes) {
        const below = belowLink.get(path)
        if (below !== undefined && wanted.get(below.link)?.kind !== 'directory') throw below.failure
      }
      return changes
    },
  }
}

/** Why what is named so is not where the path says; undefined if it is. What a refusal says of a folder above it is said of the path. */
async function findMove(path: string, { files, project }: Place): Promise<ToolFailure | undefined> {
  const name = showPath(project, path)
  try {
    const real = await files.resolveEntry(path, 'write')
    return real === path ? undefined : movedAway(name, real)
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    const { code, reason, message } = error
    return new ToolFailure({
      code,
      reason,
      message: `"${name}" cannot be taken back, so nothing was: ${message}`,
      data: { path: name },
    })
  }
}

/** The link above a path that is where its own path says, if one is. */
async function findLinkAbove(path: string, files: Files): Promise<string | undefined> {
  for (const folder of foldersAbove(path)) {
    const real = await resolveOrNothing(folder, files)
    if (real === folder) return (await files.state(folder)).kind === 'link' ? folder : undefined
  }
  return undefined
}

async function resolveOrNothing(path: string, files: Files): Promise<string | undefined> {
  try {
    return await files.resolveEntry(path, 'write')
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
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
