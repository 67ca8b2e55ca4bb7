import { userInfo } from 'node:os'
import type { AbortScope } from '../../../contract/base/stop.ts'
import type { Store } from '../../../contract/store.ts'
import { showDuration } from '../../../kit/time/show-duration.ts'
import { aboutNames, findNamed } from '../../arguments/find-named.ts'
import { jsonOption, readText } from '../../arguments/caller.ts'
import type { Command } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { countOf } from '../../render/count-of.ts'
import { readScope, scopeOptions, withStops } from './open-stops.ts'
import { sayAborted } from './pause.ts'
import { sayUnknown } from './say-unknown.ts'

/** `handrail abort` */
export const abort: Command = {
  usage: '[<call>]',
  summary:
    'Ends calls that run, in whatever process on the store; without a call or tool, agents and jobs too.',
  more: `${aboutNames.call} Later calls run: "handrail pause" stops those.`,
  options: {
    session: { takes: 'SESSION', about: 'Those of this session, and of those that it opened.' },
    ...scopeOptions,
    why: { takes: 'TEXT', about: 'Told to the model, and kept.' },
    ...jsonOption,
  },
  examples: [
    'handrail abort last',
    'handrail abort --actor ann --why "wrong branch"',
    'handrail abort --all',
  ],
  takes: 1,
  async run(given) {
    const [text] = given.positionals
    const named = readText(given, 'session')
    const scope = readScope(given)
    if (text === undefined && named === undefined && scope === undefined)
      throw new UsageError(
        'Say what to abort: a call, --session, --tool, --server, --tenant, --actor or --all.',
      )
    if (text !== undefined && (named !== undefined || scope !== undefined))
      throw new UsageError('A call is one: name it alone.')
    const reason = readText(given, 'why')
    const code = await withStops(given, async (stops, store) => {
      const meant = toMeant(store, { text, named }, scope)
      if (typeof meant === 'string') {
        process.stderr.write(`handrail: ${meant}\n`)
        return exitCodes.toolError
      }
      const by = userInfo().username
      const aborted = await stops.abort({ ...meant, by, ...(reason !== undefined && { reason }) })
      if (given.options['json'] === true) writeJson(aborted)
      sayAborted(aborted)
      return aborted.running.length > 0 || (text !== undefined && aborted.calls.length === 0)
        ? exitCodes.toolError
        : exitCodes.ok
    })
    if (scope !== undefined) await sayUnknown(scope, given)
    return code
  },
}

/** What is to be aborted; or why nothing is, in words. A call that waits for a person has no record yet, so its whole id is taken. */
function toMeant(
  store: Store,
  { text, named }: { readonly text: string | undefined; readonly named: string | undefined },
  scope: AbortScope = {},
): AbortScope | string {
  const tenants = store.tenants()
  const found = (what: 'call' | 'session', name: string): string | { id: string } => {
    const each = findNamed(store, { what, text: name, tenants })
    if ('id' in each) return each
    return name.startsWith(what === 'call' ? 'call_' : 'ses_') ? { id: name } : each.issue
  }
  if (text !== undefined) {
    const call = found('call', text)
    return typeof call === 'string' ? call : { call: call.id }
  }
  if (named === undefined) return scope
  const session = found('session', named)
  return typeof session === 'string' ? session : { ...scope, session: session.id }
}

/** `handrail calls` */
export const calls: Command = {
  usage: '',
  summary: 'The calls that run now, in every process on the store: what, for whom, how long.',
  more: '"handrail evidence list" shows those that ended, "handrail approvals" those that wait for a person.',
  options: { tenant: { takes: 'TENANT', about: 'Whose. Default: all.' }, ...jsonOption },
  examples: ['handrail calls', 'handrail calls --json'],
  takes: 0,
  run: (given) =>
    withStops(given, async (stops) => {
      const running = stops.running(readText(given, 'tenant'))
      if (given.options['json'] === true) writeJson(running.map(({ here: _here, ...each }) => each))
      else {
        const rows = running.map(({ call, tool, tenant, actor, session, at }) =>
          showLine(`${call}  ${tool}  ${tenant}/${actor}  ${session}  for ${showDuration(Date.now() - at)}`),
        )
        writeText(process.stdout, `${[...rows, countOf(running.length, 'call')].join('\n')}\n`)
      }
      return exitCodes.ok
    }),
}
