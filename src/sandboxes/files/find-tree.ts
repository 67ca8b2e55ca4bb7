import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { systemErrorName } from './file-failure.ts'
import type { Started } from '../programs/launcher/started.ts'
import { findListed, type SeenProcesses } from './find-listed.ts'

/** How the processes of one command are told from others. */
export interface ProcessTree {
  /** The program that was started: leader of its own session and process group. */
  readonly leader: number
  /** When the leader started, in clock ticks; undefined if that is not known. */
  readonly startedAt: number | undefined
  /** `NAME=value` in the environment of the leader, which its children inherit. */
  readonly marker: string
  /** The unnamed sockets or pipes that the leader's output goes to, as `/proc` names them. */
  readonly outputs: readonly string[]
  /** What earlier looks found: one whose parent ended meanwhile is still known by it. */
  readonly seen?: SeenProcesses
}

interface Process {
  readonly pid: number
  /** Ended, and only waited for. */
  readonly dead: boolean
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly startedAt: number
}

/** What to look for later: what was seen of the program at its start, else what is seen of it now. */
export function identifyTree({ pid, seen }: Pick<Started, 'pid' | 'seen'>, marker: string): ProcessTree {
  if (process.platform !== 'linux')
    return { leader: pid, startedAt: undefined, marker, outputs: [], seen: new Map() }
  const outputs = seen?.outputs ?? [1, 2].map((stream) => linkOf(pid, stream) ?? '')
  return {
    leader: pid,
    startedAt: seen?.startedAt ?? startOf(pid),
    marker,
    outputs: outputs.filter(isPrivate),
    seen: new Map(),
  }
}

/** When a process started, in clock ticks; undefined if it is gone or cannot be looked at. */
export function startOf(pid: number): number | undefined {
  return unlessBlind(() => readProcess(pid))?.startedAt
}

/**
 * Whether only processes of the command can hold it: an unnamed socket or pipe, and never a file such as `/dev/null`, to which a
 * quick program may have turned its output already.
 */
function isPrivate(link: string): boolean {
  return /^(?:socket|pipe):\[\d+\]$/.test(link)
}

/**
 * Ids of the live processes of a command: its leader, everything in its session or group, all descendants, and those that left
 * (`setsid`, double fork) but still carry the marker in their environment or write to the command's output, and those that an earlier look
 * found. A process that gave up all four before the first look cannot be told from a stranger; only a process namespace holds such a one.
 * Elsewhere than on Linux a process is known by its group, its parents and the earlier looks alone. Where too many files are open to look, a negative id stands for the group.
 */
export function findTree(tree: ProcessTree): number[] {
  if (process.platform !== 'linux') return findElsewhere(tree)
  return unlessBlind(() => findOnLinux(tree)) ?? (groupLives(tree.leader) ? [-tree.leader] : [])
}

function findOnLinux(tree: ProcessTree): number[] {
  const found = new Set<number>()
  const candidates = startedSince(tree)
  const { leader, startedAt, seen } = tree
  const reused =
    startedAt !== undefined && candidates.some((each) => each.pid === leader && each.startedAt !== startedAt)
  for (const each of candidates) {
    const inGroup = !reused && (each.group === leader || each.session === leader)
    const isSeen = seen?.get(each.pid) === String(each.startedAt)
    if (!inGroup && !isSeen && !found.has(each.parent) && !carriesMark(each.pid, tree)) continue
    found.add(each.pid)
    seen?.set(each.pid, String(each.startedAt))
  }
  return [...found]
}

/** As `ps` lists them, which is asked only if something may be left; without it the leader stands for its group. */
function findElsewhere({ leader, seen = new Map() }: ProcessTree): number[] {
  const lives = groupLives(leader)
  if (!lives && seen.size === 0) return []
  return findListed(leader, seen) ?? (lives ? [leader] : [])
}

/** Live processes no older than the leader, parents before children; zombies are dead. */
function startedSince({ leader, startedAt = 0 }: ProcessTree): Process[] {
  const last = Number(readText('/proc/loadavg')?.trim().split(' ').at(-1) ?? leader)
  const wrapped = last < leader
  const isYounger = (pid: number) => (wrapped ? pid >= leader || pid <= last : pid >= leader)
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isYounger(pid))
    .map(readProcess)
    .filter((each) => each !== undefined)
    .filter((each) => !each.dead && each.startedAt >= startedAt)
    .sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)
}

/** See proc_pid_stat(5). The name in parentheses may itself contain spaces and parentheses. */
function readProcess(pid: number): Process | undefined {
  const text = readText(`/proc/${pid}/stat`)
  const [state, parent, group, session, ...rest] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  if (state === undefined) return undefined
  return {
    pid,
    dead: state === 'Z' || state === 'X',
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(rest[15]),
  }
}

function carriesMark(pid: number, tree: ProcessTree): boolean {
  if (readText(`/proc/${pid}/environ`)?.includes(tree.marker) === true) return true
  return [1, 2].some((stream) => tree.outputs.includes(linkOf(pid, stream) ?? ''))
}

function linkOf(pid: number, descriptor: number): string | undefined {
  return unlessGone(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`))
}

function readText(path: string): string | undefined {
  return unlessGone(() => readFileSync(path, 'latin1'))
}

/** Undefined if this process has no descriptor left. */
function unlessBlind<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (['EMFILE', 'ENFILE'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

/** Undefined for a process that ended meanwhile, or whose owner lets no other user look. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

function groupLives(leader: number): boolean {
  try {
    process.kill(-leader, 0)
    return true
  } catch (error) {
    return systemErrorName(error) === 'EPERM'
  }
}
