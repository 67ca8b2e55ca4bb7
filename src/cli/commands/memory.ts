import type { ListedMemory } from '../../contract/memory.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { memoryScopes, type MemoryFact, type MemoryIssue } from '../../contract/services/memory.ts'
import { jsonOption, readText, tenantOption } from '../arguments/caller.ts'
import { findAmong, showName } from '../arguments/find-named.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeJson } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { agentModelOptions, loadAgentModel } from '../model/agent-model.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { toMemoryPage, toMemoryRow } from '../render/memory-page.ts'
import { countOf } from '../render/count-of.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'
import { listenForStop } from '../terminal/stop-signal.ts'
import { readChoice } from '../terminal/read-choice.ts'

const aboutFacts =
  'A fact is named by its id, by how that ends, or as "last", the candidate that was noted last.'
const needs = 'Name the fact. "handrail memory" lists them.'
const named = { usage: '<fact>', more: aboutFacts, needs, takes: 1 } as const

/** `handrail memory` */
export const memory: CommandGroup = {
  summary:
    'Shows what agents kept for later sessions, decides about candidates, and looks for facts in runs.',
  otherwise: 'list',
  ofNames: 'show',
  verbs: {
    list: {
      usage: '',
      summary: 'The facts and candidates, and every file that is left out.',
      more: 'A fact is a file in <home>/memory: change or remove it there. It ends with 2 if a file is left out.',
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail memory'],
      takes: 0,
      run: (given) => withRuntime(given, false, list),
    },
    show: {
      ...named,
      summary: 'One fact or candidate, and where it comes from.',
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail memory show 3tm81v'],
      run: (given) => withRuntime(given, false, show),
    },
    accept: {
      ...named,
      summary: 'Makes a candidate a fact that is recalled.',
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail memory accept 3tm81v'],
      run: (given) => withRuntime(given, true, (doing) => decide(doing, 'accept')),
    },
    reject: {
      ...named,
      summary: 'Forgets a candidate.',
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail memory reject 3tm81v'],
      run: (given) => withRuntime(given, true, (doing) => decide(doing, 'reject')),
    },
    recall: {
      usage: '<words>',
      summary: 'What an agent in this project would recall.',
      options: {
        scope: { takes: 'SCOPE', about: `${memoryScopes.join(' or ')}. Default: both.` },
        ...tenantOption,
        ...jsonOption,
      },
      examples: ["handrail memory recall 'how releases are made'"],
      needs: 'Say what to look for, as one argument.',
      takes: 1,
      run: (given) => withRuntime(given, false, recall),
    },
    extract: {
      usage: '',
      summary: 'Lets a model look for facts in the conversations of ended runs. Each is read once.',
      more: 'It takes or leaves the candidates of these runs, too. It ends with 1 if a run could not be read; the next time it is tried again.',
      options: {
        ...tenantOption,
        ...agentModelOptions,
        model: { takes: 'NAME', about: 'What looks for facts: provider/name. It has to be said.' },
        ...jsonOption,
      },
      examples: ['handrail memory extract --model anthropic/claude-sonnet-5'],
      takes: 0,
      run: (given) => withRuntime(given, true, extract),
    },
  },
}

interface Doing {
  readonly runtime: Runtime
  readonly given: CommandLine
  readonly signal: AbortSignal
}

async function withRuntime(
  given: CommandLine,
  keep: boolean,
  act: (doing: Doing) => Promise<number>,
): Promise<number> {
  const stop = listenForStop()
  const places = findPlaces(given)
  const runtime = await wireRuntime(places, undefined, {
    keep,
    operator: true,
    secrets: presentKeyNames(),
    agentModel: await loadAgentModel(given, places),
  })
  try {
    return await act({ runtime, given, signal: stop.signal })
  } finally {
    await runtime.close()
    stop.release()
  }
}

async function list({ runtime, given }: Doing): Promise<number> {
  const { facts, issues } = await runtime.memory.list(ofTenant(given))
  const code = issues.length === 0 ? exitCodes.ok : exitCodes.usage
  if (given.options['json'] === true) {
    writeJson({ facts, issues })
    return code
  }
  const waiting = facts.filter(({ state }) => state === 'candidate').length
  process.stdout.write(
    [
      ...facts.map(toMemoryRow),
      `${countOf(facts.length - waiting, 'fact')}, ${countOf(waiting, 'candidate')}`,
      '',
    ].join('\n'),
  )
  for (const issue of issues) process.stderr.write(`handrail: ${describeIssue(issue)}\n`)
  return code
}

function describeIssue({ file, line, message }: MemoryIssue): string {
  return showLine(`${file}${line === undefined ? '' : `:${line}`} is left out: ${message}`)
}

async function show({ runtime, given }: Doing): Promise<number> {
  const fact = await find(runtime, given)
  if (given.options['json'] === true) writeJson(fact)
  else process.stdout.write(toMemoryPage(fact))
  return exitCodes.ok
}

async function decide({ runtime, given }: Doing, verb: 'accept' | 'reject'): Promise<number> {
  const { id } = await find(runtime, given)
  const fact = await runtime.memory[verb](id, ofTenant(given).tenant)
  if (given.options['json'] === true) writeJson(fact)
  else
    process.stdout.write(
      `${showLine(`handrail: ${fact.id} is ${verb === 'accept' ? 'kept, and recalled from now on' : 'forgotten'}`)}\n`,
    )
  return exitCodes.ok
}

async function recall({ runtime, given }: Doing): Promise<number> {
  const [query = ''] = given.positionals
  const scope = readChoice(given, 'scope', memoryScopes)
  const facts = await runtime.memory.recall({
    query,
    ...(scope !== undefined && { scope }),
    ...ofTenant(given),
  })
  if (given.options['json'] === true) writeJson(facts)
  else process.stdout.write(toRows(facts))
  return exitCodes.ok
}

async function extract({ runtime, given, signal }: Doing): Promise<number> {
  if (readText(given, 'model') === undefined)
    throw new UsageError('Say which model looks for facts: --model NAME, such as openai/gpt-5.')
  const report = await runtime.memory.extract({ ...ofTenant(given), signal })
  const { runs, facts, leftOut, failed } = report
  if (given.options['json'] === true) writeJson(report)
  else
    process.stdout.write(
      `${toRows(facts)}${countOf(runs, 'run')} read${leftOut === 0 ? '' : `, ${countOf(leftOut, 'proposal')} left out`}\n`,
    )
  for (const { run, message } of failed)
    process.stderr.write(`handrail: ${showLine(`the run ${run} is not read: ${message}`)}\n`)
  if (signal.aborted) return exitCodes.interrupted
  return failed.length === 0 ? exitCodes.ok : exitCodes.toolError
}

function toRows(facts: readonly MemoryFact[]): string {
  const rows = facts.map((fact) => `${toMemoryRow({ ...fact, state: 'accepted' })}\n`)
  return `${rows.join('')}${countOf(facts.length, 'fact')}\n`
}

async function find(runtime: Runtime, given: CommandLine): Promise<ListedMemory> {
  const [text = ''] = given.positionals
  const { facts } = await runtime.memory.list(ofTenant(given))
  const last = facts.findLast(({ state }) => state === 'candidate')
  if (text === 'last') {
    if (last !== undefined) return last
    throw new UsageError('No candidate waits. "handrail memory" lists the facts.')
  }
  const none = `memory has no fact ${showName(text)}. "handrail memory" lists them.`
  const found = findAmong(facts, { what: 'fact', text, none })
  if ('issue' in found) throw new UsageError(showLine(found.issue))
  return found.item
}

function ofTenant(given: CommandLine): { tenant?: string } {
  const tenant = readText(given, 'tenant')
  return tenant === undefined ? {} : { tenant }
}
