import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answer, Ask } from './child.ts'
import type { Contender } from './contender.ts'
import type { Series, Settings } from './report.ts'

interface Runner {
  child: ChildProcess
  series: Series
}

interface Which {
  module: URL
  index: number
  name: string
}

type Environment = { [name: string]: string }

/**
 * Lets the contenders of these modules run against each other: each in a process of its own, one at a time, round
 * after round, so that whatever disturbs the machine hits all of them. With `percentile` (0 to 1), a round counts by
 * that percentile of its calls, else by their mean. A contender that fails keeps its place with the reason.
 */
export async function race(
  modules: readonly URL[],
  settings: Settings,
  { percentile, environment = {} }: { percentile?: number; environment?: Environment } = {},
): Promise<Series[]> {
  const runners: Runner[] = []
  for (const module of modules) {
    const { contenders }: { contenders: readonly Contender[] } = await import(module.href)
    for (const [index, { name }] of contenders.entries())
      runners.push(await start({ module, index, name }, settings, environment))
  }
  for (let round = 0; round < settings.rounds; round++)
    for (const runner of runners) await runRound(runner, percentile)
  for (const { child } of runners)
    if (child.connected) {
      child.send({ ask: 'close' } satisfies Ask)
      await once(child, 'exit')
    }
  return runners.map((runner) => runner.series)
}

async function start(which: Which, settings: Settings, environment: Environment): Promise<Runner> {
  const child = fork(
    fileURLToPath(new URL('child.ts', import.meta.url)),
    [which.module.href, String(which.index), String(settings.roundMs)],
    { env: { ...environmentOf(settings), ...environment } },
  )
  const series: Series = { name: which.name, values: [] }
  const answer = await next(child)
  if (answer.answer === 'failed') series.failed = answer.message
  if (answer.answer === 'ready' && !answer.validates) series.remark = 'lets bad input through'
  return { child, series }
}

/** What a process of the bench sees: where Handrail is installed, and that no peer reports anything to anybody. */
export function environmentOf(settings: Settings): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HANDRAIL_INSTALLED: settings.installed,
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    LANGSMITH_TRACING: 'false',
    MASTRA_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
  }
}

async function runRound({ child, series }: Runner, percentile: number | undefined): Promise<void> {
  if (series.failed !== undefined) return
  child.send({ ask: 'round', ...(percentile !== undefined && { percentile }) } satisfies Ask)
  const answer = await next(child)
  if (answer.answer === 'round') series.values.push(answer.microseconds)
  if (answer.answer === 'failed') series.failed = answer.message
}

function next(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve) => {
    const onMessage = (answer: Answer): void => {
      child.off('exit', onExit)
      resolve(answer)
    }
    const onExit = (code: number | null): void => {
      child.off('message', onMessage)
      resolve({ answer: 'failed', message: `its process ended with ${code}` })
    }
    child.once('message', onMessage)
    child.once('exit', onExit)
  })
}
