import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, defineTool, type Runtime, type RuntimeOptions, type Session } from 'handrail'
import { scheduleTools } from 'handrail/tools'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'

const minuteMs = 60_000

/** A Tuesday, 08:59:30 in UTC. */
export const start = Date.UTC(2026, 10, 24, 8, 59, 30)

/** A clock that a test moves, by minutes. */
export function createClock(at = start) {
  return {
    now: () => at,
    forward(minutes: number): void {
      at += minutes * minuteMs
    },
    set(to: number): void {
      at = to
    },
  }
}

/** Adds a line to a file of the project. */
export function noteTool(project: string, run: (line: string) => Promise<void> | void = () => undefined) {
  return defineTool({
    name: 'demo.note',
    description: 'Adds a line to a file.',
    permission: 'write',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    async run({ line }) {
      appendFileSync(join(project, 'lines'), `${line}\n`)
      await run(line)
      return { line }
    },
  })
}

export function linesIn(project: string): string[] {
  const path = join(project, 'lines')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}

/** Lets schedules be made and lines be written unasked. */
export const allowAll = { rules: [{ effect: 'allow' as const, tools: ['cron.*', 'demo.*'] }] }

interface Choices extends RuntimeOptions {
  /** What the tool does when it has written its line. */
  during?: (line: string) => Promise<void> | void
}

/** A runtime with the tools for schedules and one that writes lines. */
export async function openSchedules({ during, tools = [], ...options }: Choices = {}) {
  const project = options.project ?? makeFolder()
  const clock = createClock()
  const runtime = await createRuntime({
    home: makeFolder(),
    policy: allowAll,
    now: clock.now,
    ...options,
    project,
    tools: [scheduleTools(), noteTool(project, during), ...tools],
  })
  atEnd(() => runtime.close())
  return { runtime, project, clock, lines: () => linesIn(project) }
}

/** What a schedule is in results. */
export interface ShownSchedule {
  id: string
  next_at?: string
  time_zone: string
  runs: number
  skipped: number
  last_run?: { run_id: string; state: string; due_at: string; reason?: string; summary?: string }
  [field: string]: unknown
}

/** Makes a schedule that writes a line every minute, unless more is said; it has to go well. */
export async function schedule(session: Session, more: object = {}): Promise<ShownSchedule> {
  const input = {
    name: 'notes',
    schedule: '* * * * *',
    time_zone: 'UTC',
    ...('prompt' in more ? {} : { tool: 'demo.note', input: { line: 'noted' } }),
    ...more,
  }
  const result = await session.call('cron.create', input)
  if (!result.ok) throw new Error(`${result.error?.reason}: ${result.error?.message}`)
  return (result.data as { schedule: ShownSchedule }).schedule
}

/** Of whatever tenant. */
export function lastRunOf(runtime: Runtime, id: string, tenant?: string) {
  return runtime.schedules.runs(id, tenant)[0]
}
