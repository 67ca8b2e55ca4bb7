import { parseJson } from '../../../kit/json/parse-json.ts'
import { userInfo } from 'node:os'
import type { Json } from '../../../contract/base/json.ts'
import { describeJsonIssue } from '../../../kit/json/describe-json-issue.ts'
import { createRedactor } from '../../../kit/secrets/redact.ts'
import { resolveOutcome, type ResolveRequest } from '../../../compose/resolve-outcome.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readChoice } from '../../terminal/read-choice.ts'
import { showSafely, writeJson } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { wireRuntime, type Places } from '../../setup/wire.ts'
import type { EvidenceVerb } from './verb.ts'
import { findMeant, withEvidence } from './open-evidence.ts'

/** `handrail evidence resolve` */
export const resolve: EvidenceVerb = async ({ given, places, what: text }) => {
  const outcome = readChoice(given, 'outcome', ['happened', 'not-happened'] as const)
  if (outcome === undefined) throw new UsageError('Say --outcome happened or --outcome not-happened.')
  const result = readResult(given)
  if (result !== undefined && outcome === 'not-happened')
    throw new UsageError('What did not happen has no result: leave out --result.')
  const [tenant, reason] = ['tenant', 'reason'].map((name) => readText(given, name))
  const redactor = createRedactor([])
  return withEvidence(places, async ({ store }) => {
    const meant = findMeant(store, { what: 'call', text, tenant })
    if (meant === undefined) return exitCodes.toolError
    const call = meant.id
    const found = await resolveHere(places, {
      store,
      call,
      outcome: outcome === 'happened' ? 'happened' : 'not_happened',
      actor: userInfo().username,
      at: Date.now(),
      ...(tenant !== undefined && { tenant }),
      ...(result !== undefined && { result: redactor.json(result) }),
      ...(reason !== undefined && { reason: redactor.text(reason) }),
    })
    if ('refused' in found) {
      process.stderr.write(`handrail: ${showSafely(found.refused)}\n`)
      return exitCodes.toolError
    }
    if (given.options['json'] === true) writeJson(found.note)
    else
      process.stdout.write(
        outcome === 'happened'
          ? `${call} happened. Its idempotency key gives the result from now on.\n`
          : `${call} did not happen. Its idempotency key is free again.\n`,
      )
    return exitCodes.ok
  })
}

/** A result is held to the tools that this home and project have now. */
async function resolveHere(places: Places, request: ResolveRequest): ReturnType<typeof resolveOutcome> {
  if (request.result === undefined) return resolveOutcome(request)
  const runtime = await wireRuntime(places, undefined, { keep: false })
  try {
    return await resolveOutcome({ ...request, registry: runtime.registry })
  } finally {
    await runtime.close()
  }
}

function readResult(given: CommandLine): Json | undefined {
  const text = readText(given, 'result')
  if (text === undefined) return undefined
  try {
    return parseJson(text)
  } catch {
    throw new UsageError(
      `--result is not JSON at ${describeJsonIssue(text)}. Put JSON in single quotes, so that the shell leaves it alone.`,
    )
  }
}
