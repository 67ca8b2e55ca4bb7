import type { Schedule } from '../../contract/services/schedules.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { jsonOption, readText, tenantOption } from '../arguments/caller.ts'
import { findAmong, showName } from '../arguments/find-named.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeJson } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { countOf } from '../render/count-of.ts'
import { agentModelOptions, loadAgentModel, namedModels } from '../model/agent-model.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { toRunLine, toSchedulePage, toScheduleRow } from '../render/schedule-page.ts'
import { listenForStop } from '../terminal/stop-signal.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'

const aboutSchedules =
  'A schedule is named by its id, by how that ends, or as "last", the one that was made last.'
const needs = 'Name the schedule. "handrail schedules" lists them.'

/** `handrail schedules` */
export const schedules: CommandGroup = {
  summary: 'Lists what runs at times, and shows, runs or deletes it. "handrail serve" runs what is due.',
  otherwise: 'list',
  ofNames: 'show',
  verbs: {
    list: {
      usage: '',
      summary: 'The schedules: what each does, when, and how it went.',
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail schedules'],
      takes: 0,
      run: (given) => withRuntime(given, 'look', list),
    },
    show: {
      usage: '<schedule>',
      summary: 'A schedule and its last runs.',
      more: aboutSchedules,
      options: { ...tenantOption, ...jsonOption },
      needs,
      examples: ['handrail schedules show last'],
      takes: 1,
      run: (given) => withRuntime(given, 'look', show),
    },
    delete: {
      usage: '<schedule>',
      summary: 'Deletes a schedule. A run that goes on goes on.',
      more: aboutSchedules,
      options: { ...tenantOption },
      needs,
      examples: ['handrail schedules delete 3tm81v'],
      takes: 1,
      run: (given) => withRuntime(given, 'change', remove),
    },
    run: {
      usage: '<schedule>',
      summary: 'Runs a schedule once, here and now.',
      more: aboutSchedules,
      options: { ...tenantOption, ...agentModelOptions, ...jsonOption },
      needs,
      examples: ['handrail schedules run last'],
      takes: 1,
      run: (given) => withRuntime(given, 'run', runOnce),
    },
  },
}

interface Doing {
  readonly runtime: Runtime
  readonly given: CommandLine
}

async function withRuntime(
  given: CommandLine,
  aim: 'look' | 'change' | 'run',
  act: (doing: Doing) => number | Promise<number>,
): Promise<number> {
  const stop = listenForStop()
  const keep = aim !== 'look'
  const upstreams = keep ? 'met' : 'known'
  const places = findPlaces(given)
  const runtime = await wireRuntime(places, undefined, {
    keep,
    upstreams,
    operator: !keep,
    secrets: presentKeyNames(),
    agentModel: await loadAgentModel(given, places),
    ...(aim === 'run' && { namedModels: namedModels(given, places) }),
  })
  // Ctrl-C aborts what goes on; that is recorded.
  stop.signal.addEventListener('abort', () => void runtime.close(), { once: true })
  try {
    return await act({ runtime, given })
  } finally {
    await runtime.close()
    stop.release()
  }
}

function list({ runtime, given }: Doing): number {
  const found = runtime.schedules.list(ofTenant(given))
  if (given.options['json'] === true) writeJson(found)
  else
    process.stdout.write(
      `${found.map((each) => `${toScheduleRow(each)}\n`).join('')}${countOf(found.length, 'schedule')}\n`,
    )
  return exitCodes.ok
}

function show({ runtime, given }: Doing): number {
  const schedule = findSchedule(runtime, given)
  const runs = runtime.schedules.runs(schedule.id, schedule.tenant)
  if (given.options['json'] === true) writeJson({ ...schedule, lastRuns: runs })
  else process.stdout.write(toSchedulePage(schedule, runs))
  return exitCodes.ok
}

async function remove({ runtime, given }: Doing): Promise<number> {
  const { id, tenant } = findSchedule(runtime, given)
  const { name } = await runtime.schedules.delete(id, tenant)
  process.stdout.write(`${showLine(`handrail: the schedule ${id} (${name}) is deleted`)}\n`)
  return exitCodes.ok
}

async function runOnce({ runtime, given }: Doing): Promise<number> {
  const { id, tenant } = findSchedule(runtime, given)
  const run = await runtime.schedules.run(id, tenant)
  if (given.options['json'] === true) writeJson(run)
  else process.stdout.write(`${toRunLine(run)}\n`)
  if (run.state === 'waiting') return exitCodes.waiting
  return run.state === 'failed' ? exitCodes.toolError : exitCodes.ok
}

function findSchedule(runtime: Runtime, given: CommandLine): Schedule {
  const [text = ''] = given.positionals
  const all = runtime.schedules.list(ofTenant(given))
  const none = `the store has no schedule ${showName(text)}. "handrail schedules" lists them.`
  const last = text === 'last' ? all.at(-1) : undefined
  const found = last === undefined ? findAmong(all, { what: 'schedule', text, none }) : { item: last }
  if ('issue' in found) throw new UsageError(showLine(found.issue))
  return found.item
}

function ofTenant(given: CommandLine): { tenant?: string } {
  const tenant = readText(given, 'tenant')
  return tenant === undefined ? {} : { tenant }
}
