import { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { createBubblewrapSandbox } from '../bubblewrap/create-bubblewrap-sandbox.ts'
import { findMeans, type Means } from '../bubblewrap/isolation.ts'
import { runProgram } from '../programs/run-program.ts'
import type { ExaminedSetup } from './examined-setup.ts'
import type { Finding } from './finding.ts'
import { profileOf } from './profile-of.ts'
import { trials, type Simulation } from './trials.ts'

/** What of the isolation of commands holds, each tried in a sandbox of its own on the project, which is laid read-only. */
export async function examineIsolation(setup: ExaminedSetup): Promise<Finding[]> {
  const needed = setup.kind === 'bubblewrap'
  const chosen: Finding[] = needed
    ? []
    : [
        {
          id: 'host',
          holds: true,
          needed: true,
          detail:
            'the configuration chooses the host: commands can do whatever their user can, and every result says so',
        },
      ]
  const means = tryToFind(setup)
  if (typeof means === 'string') return [...chosen, { id: 'bubblewrap', holds: false, needed, detail: means }]
  const findings = [await examineBubblewrap(means, needed)]
  for (const trial of trials) {
    const isNeeded = needed && trial.dryRun !== true && (trial.hosts === undefined || setup.withHosts)
    findings.push({ id: trial.id, needed: isNeeded, ...(await attempt(trial, setup, means)) })
  }
  return [...chosen, ...findings]
}

function tryToFind({ project, env, isolation }: ExaminedSetup): Means | string {
  try {
    return findMeans(project, env['PATH'] ?? '', isolation.user)
  } catch (error) {
    if (error instanceof ToolFailure) return error.message
    throw error
  }
}

async function examineBubblewrap({ bwrap }: Means, needed: boolean): Promise<Finding> {
  const { exitCode, stdout } = await runProgram({
    argv: [bwrap, '--version'],
    cwd: '/',
    env: {},
    timeoutMs: 10_000,
  })
  const detail = `${stdout.trim()} at ${bwrap}`
  return { id: 'bubblewrap', holds: exitCode === 0, needed, detail }
}

async function attempt(
  { script, bounds, timeoutMs, hosts, dryRun = false, judge }: Simulation,
  { project, home, env, isolation }: ExaminedSetup,
  means: Means,
): Promise<Pick<Finding, 'holds' | 'detail'>> {
  const sandbox = createBubblewrapSandbox({ project, home, env, isolation: { ...isolation, ...bounds } })
  try {
    const { commands } = sandbox.enter(profileOf(project, dryRun ? [project] : [], hosts), {
      access: 'write',
    })
    return judge(await run(commands, { script, project, timeoutMs, dryRun }), means)
  } catch (error) {
    if (error instanceof ToolFailure) return { holds: false, detail: error.message }
    throw error
  } finally {
    await sandbox.close()
  }
}

function run(
  commands: Commands,
  {
    script,
    project,
    timeoutMs = 20_000,
    dryRun,
  }: { script: string; project: string; timeoutMs: number | undefined; dryRun: boolean },
): Promise<CommandOutcome> {
  return commands.run({
    executable: '/bin/sh',
    argv: ['sh', '-c', script],
    cwd: project,
    timeoutMs,
    maxBytes: 4096,
    dryRun,
    signal: new AbortController().signal,
  })
}
