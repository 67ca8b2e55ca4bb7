import { setTimeout } from 'node:timers/promises'
import { policyForm } from '../../../config/check-file.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import type { Policy } from '../../../contract/policy.ts'
import type { Store } from '../../../contract/store.ts'
import { readCalls, type RecordedCall } from '../../../evidence/read-calls.ts'
import { createSimulation } from '../../../compose/simulation/create-simulation.ts'
import {
  createShadow,
  type Shadow,
  type ShadowDifference,
  type ShadowReport,
} from '../../../compose/simulation/shadow-policy.ts'
import { readsInput } from '../../../compose/simulation/read-recorded.ts'
import type { RuntimeOptions } from '../../../compose/options/runtime-options.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { showJson, showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { listenForStop } from '../../terminal/stop-signal.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces } from '../../setup/wire.ts'
import { findMeant, withEvidence } from '../evidence/open-evidence.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy shadow`. Nothing is written, not even the ends of interrupted calls. */
export const shadowVerb: ToolsVerb = {
  async run(given, path = '') {
    const policy = loadFile(path, policyForm, createSchemaChecker())
    const asked = readWanted(given)
    const places = findPlaces(given)
    const options = await wireSimulation(places)
    return withEvidence(
      places,
      async ({ store }) => {
        const wanted = withSession(store, asked)
        if (wanted === undefined) return exitCodes.toolError
        return withShadow(options, policy, (shadow) =>
          given.options['follow'] === true
            ? follow(store, shadow, { wanted, given })
            : judgeAll(store, shadow, { wanted, given }),
        )
      },
      { recovers: false },
    )
  },
}

async function withShadow(
  options: RuntimeOptions,
  policy: Policy,
  act: (shadow: Shadow) => Promise<number>,
): Promise<number> {
  const present = await createSimulation(options)
  const second = await createSimulation({ ...options, policy })
  try {
    return await act(createShadow({ second, present, readsInput: readsInput(policy) }))
  } finally {
    await second.close()
    await present.close()
  }
}

/** The calls that are judged. */
interface Wanted {
  tenant: string | undefined
  session: string | undefined
  /** Milliseconds since the epoch. */
  from: number
}

function readWanted(given: CommandLine): Wanted {
  const since = readDuration(given, 'since')
  return {
    tenant: readText(given, 'tenant'),
    session: readText(given, 'session'),
    from: since === undefined ? 0 : Date.now() - since,
  }
}

/** The same, with the whole id of the session that is meant. Undefined, and said so, if the store has none. */
function withSession(store: Store, wanted: Wanted): Wanted | undefined {
  const { session: text, tenant } = wanted
  if (text === undefined) return wanted
  const meant = findMeant(store, { what: 'session', text, tenant })
  return meant && { ...wanted, session: meant.id }
}

interface About {
  wanted: Wanted
  given: CommandLine
}

async function judgeAll(store: Store, shadow: Shadow, { wanted, given }: About): Promise<number> {
  for (const call of newCalls(store, wanted, new Map())) await shadow.judge(call)
  const report = shadow.report()
  if (wanted.session !== undefined && report.judged === 0 && report.unjudged.length === 0) {
    process.stderr.write(
      `handrail: the store has no such calls of the session "${showLine(wanted.session.slice(0, 100))}". "handrail sessions" lists those that there are.\n`,
    )
    return exitCodes.toolError
  }
  if (given.options['json'] === true) writeJson(report)
  else {
    const blocks = report.different.map(toBlock)
    writeText(process.stdout, [...blocks, ...(blocks.length > 0 ? ['\n'] : []), toSums(report)].join(''))
  }
  return exitCodes.ok
}

const pollMs = 200

/** Tells of each call as it comes, until the process is told to stop. */
async function follow(store: Store, shadow: Shadow, { wanted, given }: About): Promise<number> {
  const stop = listenForStop()
  const seen = new Map<string, number>()
  try {
    while (!stop.signal.aborted) {
      for (const call of newCalls(store, wanted, seen)) {
        const difference = await shadow.judge(call)
        if (difference !== undefined) tell(difference, given)
      }
      await setTimeout(pollMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    if (given.options['json'] !== true) writeText(process.stdout, `\n${toSums(shadow.report())}`)
    return exitCodes.ok
  } finally {
    stop.release()
  }
}

function tell(difference: ShadowDifference, { options }: CommandLine): void {
  if (options['json'] === true) process.stdout.write(`${showJson(difference, 0)}\n`)
  else writeText(process.stdout, toBlock(difference))
}

/** The calls that were recorded after the last ones seen of each tenant. Begins alone are read: what decided stands in them. */
function* newCalls(
  store: Store,
  { tenant, session, from }: Wanted,
  seen: Map<string, number>,
): Generator<RecordedCall> {
  for (const each of tenant === undefined ? store.tenants() : [tenant]) {
    const query = { tenant: each, kind: 'begin', after: seen.get(each) ?? 0 } as const
    for (const record of store.records({ ...query, ...(session !== undefined && { session }) })) {
      seen.set(each, record.sequence)
      for (const call of readCalls([record])) if (call.begin.at >= from) yield call
    }
  }
}

function toBlock({ call, tenant, actor, tool, at, before, now }: ShadowDifference): string {
  return [
    `${new Date(at).toISOString()}  ${call}  ${tool}  by "${actor}" of tenant "${tenant}"\n`,
    `  was  ${before.effect} by ${before.layer}/${before.rule}\n`,
    `  now  ${now.effect} by ${now.layer}/${now.rule} – ${now.reason}\n`,
  ].join('')
}

function toSums({ judged, different, unjudged, redefined }: ShadowReport): string {
  const lines = [`${countCalls(judged)} judged, ${different.length} decided in another way.`]
  if (redefined > 0) lines.push(`${redefined} of them by tools that are defined in another way now.`)
  for (const { reason, calls } of unjudged) lines.push(`${countCalls(calls.length)} not judged: ${reason}.`)
  return `${lines.join('\n')}\n`
}

function countCalls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`
}
