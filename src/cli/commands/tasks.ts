import type { Runtime } from '../../contract/runtime.ts'
import type { TaskOwner, WholeTask } from '../../contract/services/tasks.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { jsonOption, readText, tenantOption } from '../arguments/caller.ts'
import { findAmong, showName } from '../arguments/find-named.ts'
import type { CommandGroup, CommandLine, Options } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeJson } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { countOf } from '../render/count-of.ts'
import { toTaskPage, toTaskRow } from '../render/task-page.ts'
import { findPlaces, readEnvironment, wireRuntime } from '../setup/wire.ts'

const ownerOptions: Options = {
  ...tenantOption,
  actor: { takes: 'ACTOR', about: 'Whose. Default: user.' },
  ...jsonOption,
}

/** `handrail tasks` */
export const tasks: CommandGroup = {
  summary: 'Lists the tasks of agents, and shows where the steps of one stand.',
  otherwise: 'list',
  ofNames: 'show',
  verbs: {
    list: {
      usage: '',
      summary: 'The tasks, the newest first.',
      options: { all: { about: 'Those that have ended too.' }, ...ownerOptions },
      examples: ['handrail tasks --all'],
      takes: 0,
      run: (given) => withRuntime(given, list),
    },
    show: {
      usage: '<task>',
      summary: 'A task and its steps.',
      more: 'A task is named by its id, by how that ends, or as "last".',
      options: ownerOptions,
      examples: ['handrail tasks show last'],
      needs: 'Name the task. "handrail tasks" lists them.',
      takes: 1,
      run: (given) => withRuntime(given, show),
    },
  },
}

interface Doing {
  readonly runtime: Runtime
  readonly given: CommandLine
  readonly owner: TaskOwner
}

/** Only looks: nothing is written. */
async function withRuntime(given: CommandLine, act: (doing: Doing) => number): Promise<number> {
  const runtime = await wireRuntime(findPlaces(given), undefined, { operator: true, keep: false })
  const [ofTenant, ofActor] = [readText(given, 'tenant'), readText(given, 'actor')]
  const owner = {
    ...(ofTenant !== undefined && { tenant: ofTenant }),
    ...(ofActor !== undefined && { actor: ofActor }),
  }
  try {
    return act({ runtime, given, owner })
  } finally {
    await runtime.close()
  }
}

function list({ runtime, given, owner }: Doing): number {
  const found = runtime.tasks.list({ ...owner, ended: given.options['all'] === true })
  if (given.options['json'] === true) writeJson(redactor().json(found))
  else {
    const rows = found.map((task) => `${redactor().text(toTaskRow(task))}\n`)
    process.stdout.write(`${rows.join('')}${countOf(found.length, 'task')}\n`)
  }
  return exitCodes.ok
}

function show({ runtime, given, owner }: Doing): number {
  const [text = ''] = given.positionals
  const task = findTask(runtime, owner, text)
  if (given.options['json'] === true) writeJson(redactor().json(task))
  else process.stdout.write(toTaskPage(task, redactor()))
  return exitCodes.ok
}

const most = 10_000

function findTask({ tasks }: Runtime, owner: TaskOwner, text: string): WholeTask {
  const exact = tasks.find(text, owner)
  if (exact !== undefined) return exact
  const all = tasks.list({ ...owner, ended: true, limit: text === 'last' ? 1 : most })
  const none = `there is no task ${showName(text)} of this actor. "handrail tasks --all" lists them.`
  const last = text === 'last' ? all.at(0) : undefined
  const meant = last === undefined ? findAmong(all, { what: 'task', text, none }) : { item: last }
  const found = 'issue' in meant ? undefined : tasks.find(meant.item.id, owner)
  if (found === undefined) throw new UsageError(showLine('issue' in meant ? meant.issue : none))
  return found
}

function redactor() {
  return createRedactor(presentKeyNames().map((name) => readEnvironment(name) ?? ''))
}
