import { childProcess } from '../programs/launcher/child-process.ts'

/** What is known of a command's processes from one look to the next: ids with the time at which each started. */
export type SeenProcesses = Map<number, string>

/**
 * Ids of the live processes of a command as `ps` lists them, for systems that show processes in no other way: its leader, everything in
 * its group, all descendants, and those that an earlier look has seen, whatever their parent is now. One that left the group and whose
 * parent ended before the first look cannot be told from a stranger. Undefined if nothing can be listed.
 */
export function findListed(leader: number, seen: SeenProcesses): number[] | undefined {
  const listed = listProcesses()
  if (listed === undefined) return undefined
  const found = new Set<number>()
  const isFound = ({ pid, parent, group, started }: Listed) =>
    pid === leader || group === leader || found.has(parent) || seen.get(pid) === started
  // A child may be listed before its parent.
  for (let before = -1; before < found.size;) {
    before = found.size
    for (const each of listed) if (isFound(each)) found.add(each.pid)
  }
  seen.clear()
  for (const { pid, started } of listed) if (found.has(pid)) seen.set(pid, started)
  return [...found]
}

interface Listed {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly started: string
}

/** All live processes; what has ended and is only waited for is not one. */
function listProcesses(): Listed[] | undefined {
  const fields = ['pid', 'ppid', 'pgid', 'stat', 'lstart'].flatMap((name) => ['-o', `${name}=`])
  const { status, stdout } = childProcess().spawnSync('/bin/ps', ['-A', ...fields], {
    env: { LC_ALL: 'C' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  if (status !== 0) return undefined
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, group, state = 'Z', started = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*?)\s*$/.exec(line) ?? []
    return state.startsWith('Z')
      ? []
      : [{ pid: Number(pid), parent: Number(parent), group: Number(group), started }]
  })
}
