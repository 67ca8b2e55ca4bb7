import { existsSync } from 'node:fs'
import { policyForm } from '../../../config/check-file.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import type { Store } from '../../../contract/store.ts'
import { readCalls, type RecordedCall } from '../../../evidence/read-calls.ts'
import { createTrial } from '../../../library/trial/create-trial.ts'
import { shadowPolicy, type ShadowReport } from '../../../library/trial/shadow-policy.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import type { CommandLine } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { readDuration } from '../../read-duration.ts'
import { writeText } from '../../show-safely.ts'
import { UsageError } from '../../usage-error.ts'
import { findPlaces, wireOptions } from '../../wire.ts'
import type { PolicyVerb } from './verb.ts'

/** `handrail policy shadow` */
export const shadowVerb: PolicyVerb = {
  usage: '<policy.json> [--session S] [--since 7d] [--json]',
  async run(given, path) {
    if (path === undefined) throw new UsageError(`Name a policy: handrail policy shadow ${shadowVerb.usage}`)
    const policy = loadFile(path, policyForm, createSchemaChecker())
    const places = findPlaces(given)
    const since = readDuration(given, 'since')
    if (!existsSync(places.store))
      throw new UsageError(`There is no store at "${places.store}" yet, so there is no call to judge.`)
    const options = wireOptions(places)
    const present = await createTrial(options)
    const second = await createTrial({ ...options, policy })
    const { openSqliteStore } = await import('../../../stores/sqlite/open-sqlite-store.ts')
    const store = await openSqliteStore({ path: places.store })
    try {
      const from = since === undefined ? 0 : Date.now() - since
      const report = await shadowPolicy(recordedCalls(store, given, from), { second, present })
      if (given.options['json'] === true) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
      else writeText(process.stdout, toPage(report))
      return exitCodes.ok
    } finally {
      await store.close()
      await second.close()
      await present.close()
    }
  },
}

/** Begins alone are read: what decided stands in them. */
function* recordedCalls(store: Store, { options }: CommandLine, from: number): Generator<RecordedCall> {
  const { session } = options
  for (const tenant of store.tenants()) {
    const query = { tenant, kind: 'begin', ...(typeof session === 'string' && { session }) } as const
    for (const record of store.records(query))
      for (const call of readCalls([record])) if (call.begin.at >= from) yield call
  }
}

function toPage({ judged, different, unjudged, redefined }: ShadowReport): string {
  const lines = different.flatMap(({ call, tool, at, before, now }) => [
    `${new Date(at).toISOString()}  ${call}  ${tool}`,
    `  was  ${before.effect} by ${before.layer}/${before.rule}`,
    `  now  ${now.effect} by ${now.layer}/${now.rule} – ${now.reason}`,
  ])
  if (lines.length > 0) lines.push('')
  lines.push(`${judged} calls judged, ${different.length} of them decided in another way.`)
  if (redefined > 0) lines.push(`${redefined} of them by tools that are defined in another way now.`)
  for (const { reason, calls } of unjudged) lines.push(`${calls.length} calls not judged: ${reason}.`)
  return `${lines.join('\n')}\n`
}
