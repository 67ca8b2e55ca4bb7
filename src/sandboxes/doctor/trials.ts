import type { SandboxConfiguration } from '../../contract/configuration.ts'
import type { CommandOutcome } from '../../contract/services/sandbox.ts'
import type { Means } from '../bubblewrap/isolation.ts'
import type { Finding } from './finding.ts'

/** A script that is run in a sandbox, and what its outcome says. */
export interface Simulation {
  readonly id: string
  readonly script: string
  /** Narrower than what is configured, so that reaching them costs little. */
  readonly bounds?: Omit<SandboxConfiguration, 'kind' | 'user'>
  readonly timeoutMs?: number
  /** Hosts that it may reach; no program connects to them. Needed if tools name any. */
  readonly hosts?: readonly string[]
  /** Whether it may write to the project, and all of that is held back. Not needed for commands. */
  readonly dryRun?: boolean
  readonly judge: (outcome: CommandOutcome, means: Means) => Pick<Finding, 'holds' | 'detail'>
}

const mebibyte = 1024 * 1024

/** What a sandbox promises, in the order in which one thing needs the other. */
export const trials: readonly Simulation[] = [
  {
    id: 'namespaces',
    script: 'ls /proc | grep -c "^[0-9]"; ls /home /root /var 2>/dev/null | wc -l',
    judge: (outcome) =>
      says(
        outcome,
        /^[1-9]\n0$/,
        'a command sees its own processes and the places of its call, and nothing else',
      ),
  },
  {
    id: 'user',
    script: 'id -u',
    judge: (outcome, { user }) =>
      says(
        outcome,
        new RegExp(`^${user.uid}$`),
        `commands run as the user ${user.name} (${user.uid}), not as root`,
      ),
  },
  {
    id: 'project',
    script: 'ls . >/dev/null && echo entered',
    judge: (outcome, { user }) => says(outcome, /^entered$/, `the user ${user.name} can read the project`),
  },
  {
    id: 'system_settings',
    script: 'find /proc/sys /etc /usr/bin -maxdepth 3 -type f -writable 2>/dev/null | wc -l',
    judge: (outcome) => says(outcome, /^0$/, 'no file of /proc/sys, /etc or /usr/bin can be written'),
  },
  {
    id: 'system_calls',
    script: 'grep -q "^Seccomp:.2" /proc/self/status && ! unshare -U true 2>/dev/null && echo refused',
    judge: (outcome) =>
      says(outcome, /^refused$/, 'the filter of system calls is on: no new namespace can be made'),
  },
  {
    id: 'network',
    script: 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "',
    judge: (outcome) => says(outcome, /^lo$/, 'a command has no network but its own loopback'),
  },
  {
    id: 'proxy',
    hosts: ['handrail.invalid'],
    script: 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "; echo "$HTTP_PROXY"',
    judge: (outcome) =>
      says(
        outcome,
        /^lo\nhttp:\/\/127\.0\.0\.1:\d+$/,
        'a command that may reach hosts finds the proxy in front of them, and no other network',
      ),
  },
  {
    id: 'processes',
    script: 'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all',
    bounds: { processes: 20 },
    judge: (outcome) => stops(outcome, 'a loop of forks stops at its bound'),
  },
  {
    id: 'memory',
    script: 'head -c 300000000 /dev/zero | tail -c 300000000 | wc -c | grep -q "^300000000$" && echo all',
    bounds: { memoryBytes: 64 * mebibyte },
    judge: (outcome) =>
      // What all processes have together counts too, and may be seen to be too much first.
      wasKilled(outcome) ? { holds: true, detail: memoryHolds } : stops(outcome, memoryHolds),
  },
  {
    id: 'memory_together',
    script:
      'for i in 1 2 3 4; do (head -c 40000000 /dev/zero; sleep 5) | tail -c 40000000 > /dev/null & done; wait; echo all',
    bounds: { memoryBytes: 64 * mebibyte },
    judge: (outcome) => ({
      holds: wasKilled(outcome),
      detail:
        'all processes of a command together stop at the bound on memory: Handrail looks at it, 5 to 100 times a second, for it has no control group for them',
    }),
  },
  {
    id: 'disk',
    script:
      'head -c 3000000 /dev/zero > /tmp/a && echo all; head -c 3000000 /dev/zero > /dev/shm/b && echo all',
    bounds: { fileBytes: mebibyte, tmpBytes: 2 * mebibyte },
    judge: (outcome) => stops(outcome, 'a file stops at its bound, and so does /tmp'),
  },
  {
    id: 'ending',
    script: 'trap "" TERM; setsid sleep 60 & (sleep 60 &); sleep 60',
    timeoutMs: 300,
    judge: ({ ended, survivors, durationMs }) => ({
      holds: ended === 'timeout' && survivors.length === 0,
      detail: `a command with children in sessions of their own was gone ${Math.round(durationMs - 300)} ms after its time limit`,
    }),
  },
  {
    id: 'dry_run',
    script: 'echo tried > .handrail-dry-run && cat .handrail-dry-run && stat -f -c %T .',
    dryRun: true,
    judge: ({ changes = [], ...outcome }, { user }) => {
      if (/Permission denied/.test(outcome.stderr.head))
        return { holds: false, detail: notWritten(user.name) }
      const means = /overlay/.test(outcome.stdout.head) ? 'an overlay' : 'a copy of the project'
      const detail = `what a command writes is held back by ${means}: dry runs, reviews, and "hold" in the configuration`
      const said = says(outcome, /^tried\n\S+$/, detail)
      return { ...said, holds: said.holds && changes.length === 1 }
    },
  },
]

const notWritten = (user: string): string =>
  `the user ${user} cannot write to the project, and neither can commands: give the project to a user (chown -R), or name its user as "user" under "sandbox" in config.json`

const memoryHolds = 'a process stops at its bound on memory'

/** It was ended before it got to its end. */
function wasKilled({ signal, stdout }: CommandOutcome): boolean {
  return signal === 'SIGKILL' && !stdout.head.includes('all')
}

/** It said what it was to say. */
export function says(
  { stdout, stderr }: CommandOutcome,
  wanted: RegExp,
  detail: string,
): Pick<Finding, 'holds' | 'detail'> {
  const said = stdout.head.trim()
  if (wanted.test(said)) return { holds: true, detail }
  return {
    holds: false,
    detail: `not shown: ${detail} (it said ${JSON.stringify(said || stderr.head.trim())})`,
  }
}

/** It did not get to its end, and it was the kernel that stopped it. */
export function stops({ stdout, stderr }: CommandOutcome, detail: string): Pick<Finding, 'holds' | 'detail'> {
  const refused = /fork|resource|exhausted|allocate|too large|size limit|no space/i.test(stderr.head)
  const held = refused && !stdout.head.includes('all')
  return { holds: held, detail: held ? detail : `not shown: ${detail}` }
}
