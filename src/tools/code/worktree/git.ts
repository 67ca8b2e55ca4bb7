import { ToolFailure } from '../../../contract/base/errors.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import type { PlanContext } from '../../../contract/base/plan.ts'
import { lastWords } from '../../../kit/text/show-captured.ts'
import { describeGuarded, toProtected } from '../../../kit/text/show-guarded.ts'

/** One run of git. */
export interface GitCommand {
  executable: string
  /** With `git` as the first. */
  argv: readonly string[]
  cwd: string
}

const timeoutMs = 120_000
const maxBytes = 16 * 1024 * 1024

/** What no configuration of a repository turns on: hooks, monitors, caches that could be wrong, other repositories, the network. */
const overrides = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.checkStat=default',
  'core.trustctime=true',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'protocol.allow=never',
]

/** Configuration of the machine and of its user does not count, and nothing asks. */
const env = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
}

/**
 * Arguments of git for a repository whose folder and working tree are named, so that no file in the working tree leads to another
 * one. `words` must not come from outside unchecked.
 */
export function gitArgv(place: { gitDir: string; workTree: string }, words: readonly string[]): string[] {
  return [
    'git',
    '--no-pager',
    '--no-optional-locks',
    '--literal-pathspecs',
    ...overrides.flatMap((setting) => ['-c', setting]),
    `--git-dir=${place.gitDir}`,
    `--work-tree=${place.workTree}`,
    ...words,
  ]
}

/** The program git. Fails with `command_not_found` where there is none. */
export async function findGit({
  commands,
  project,
}: Pick<PlanContext, 'project'> & { commands: Pick<PlanContext['commands'], 'which'> }): Promise<string> {
  const found = await commands.which('git', project)
  if (found !== undefined) return found
  throw new ToolFailure({
    reason: 'command_not_found',
    message: 'There is no program "git" on the search path. Worktrees need it: install it.',
    data: { program: 'git' },
  })
}

/** Runs git and returns what it wrote. Fails with `exit_code` if it fails, unless that code is named in `fine`. */
export async function runGit(
  { commands, signal }: Pick<ContextWith<'commands'>, 'commands' | 'signal'>,
  command: GitCommand,
  more: { stdin?: string; settings?: readonly (readonly [string, string])[]; fine?: number } = {},
): Promise<string> {
  const { stdin, settings = [], fine = 0 } = more
  const outcome = await commands.run({
    ...command,
    timeoutMs,
    maxBytes,
    signal,
    env: { ...env, ...toVariables(settings) },
    ...(stdin !== undefined && { stdin }),
  })
  const { ended, exitCode, stdout, stderr, setAside = [] } = outcome
  const words = shown(command.argv)
  if (ended !== 'exit')
    throw new ToolFailure(
      ended === 'timeout'
        ? {
            code: 'TOOL.TIMEOUT',
            reason: 'timed_out',
            message: `${words} did not end within ${timeoutMs} ms.`,
          }
        : { code: 'TOOL.ABORTED', reason: 'aborted_by_user', message: `${words} was aborted.` },
    )
  if (setAside.length > 0) throw new ToolFailure(toProtected(words, setAside))
  if (exitCode !== 0 && exitCode !== fine)
    throw new ToolFailure({
      reason: 'exit_code',
      message: [
        `${words} ended with exit code ${exitCode}: ${lastWords(stderr)}`,
        ...describeGuarded(outcome),
      ].join('\n'),
      data: { exit_code: exitCode },
    })
  if (stdout.truncated)
    throw new ToolFailure({
      reason: 'output_too_large',
      message: `${words} wrote ${stdout.bytes} bytes, more than can be looked through here. Use git yourself.`,
    })
  return stdout.head + stdout.tail
}

/** Settings that win over those of the repository. */
function toVariables(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index): [string, string][] => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) }
}

/** Without what comes before the words of the command. */
function shown(argv: readonly string[]): string {
  const first = argv.findIndex((word) => word.startsWith('--work-tree='))
  return `"git ${argv.slice(first + 1).join(' ')}"`
}
