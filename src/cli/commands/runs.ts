import type { Runtime } from '../../contract/runtime.ts'
import { createRedactor, type Redactor } from '../../kit/secrets/redact.ts'
import { jsonOption, readText, tenantOption } from '../arguments/caller.ts'
import { aboutRuns, findRun } from '../arguments/find-run.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { writeJson } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { countOf } from '../render/count-of.ts'
import { toRunPage, toRunRow } from '../render/run-page.ts'
import { findPlaces, readEnvironment, wireRuntime } from '../setup/wire.ts'

/** `handrail runs` */
export const runs: CommandGroup = {
  summary: 'Lists the runs of agents, and shows what was said in them.',
  otherwise: 'list',
  ofNames: 'show',
  verbs: {
    list: {
      usage: '',
      summary: 'The runs, the newest first: how they ended, their turns and tokens.',
      options: {
        limit: { takes: 'N', about: 'At most so many. Default: 20.' },
        ...tenantOption,
        ...jsonOption,
      },
      examples: ['handrail runs --limit 5'],
      takes: 0,
      run: (given) => withRuntime(given, list),
    },
    show: {
      usage: '<run>',
      summary: 'A run and its conversation.',
      more: aboutRuns,
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail runs show last', 'handrail runs show 4f2k --json'],
      needs: 'Name the run. "handrail runs" lists them.',
      takes: 1,
      run: (given) => withRuntime(given, show),
    },
  },
}

interface Doing {
  readonly runtime: Runtime
  readonly given: CommandLine
  readonly redactor: Redactor
}

/** Only looks: nothing is written. */
async function withRuntime(given: CommandLine, act: (doing: Doing) => number): Promise<number> {
  const redactor = createRedactor(presentKeyNames().map((name) => readEnvironment(name) ?? ''))
  const runtime = await wireRuntime(findPlaces(given), undefined, { operator: true, keep: false })
  try {
    return act({ runtime, given, redactor })
  } finally {
    await runtime.close()
  }
}

const usualLimit = 20

function list({ runtime, given, redactor }: Doing): number {
  const tenant = readText(given, 'tenant')
  const found = runtime.runs.list({
    limit: readLimit(readText(given, 'limit')),
    ...(tenant !== undefined && { tenant }),
  })
  if (given.options['json'] === true) writeJson(redactor.json(found))
  else {
    const rows = found.map((each) => `${toRunRow(each)}\n`)
    process.stdout.write(`${rows.join('')}${countOf(found.length, 'run')}\n`)
  }
  return exitCodes.ok
}

function show({ runtime, given, redactor }: Doing): number {
  const [text = ''] = given.positionals
  const run = findRun(runtime.runs, { text, tenant: readText(given, 'tenant') })
  const transcript = runtime.runs.transcript(run.id, run.tenant)
  if (given.options['json'] === true) writeJson(redactor.json({ ...run, transcript }))
  else process.stdout.write(toRunPage(run, transcript, redactor))
  return exitCodes.ok
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return usualLimit
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= 100_000) return limit
  throw new UsageError('--limit must be a whole number from 1 to 100000.')
}
