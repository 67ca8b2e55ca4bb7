import { userInfo } from 'node:os'
import type { Pause, StopScope, Stops } from '../../../contract/base/stop.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { describeScope } from '../../../runtime/stops/meets-scope.ts'
import { jsonOption, readText } from '../../arguments/caller.ts'
import type { Command, CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { countOf } from '../../render/count-of.ts'
import { readScope, scopeOptions, withStops } from './open-stops.ts'
import { sayUnknown } from './say-unknown.ts'

/** `handrail pause` */
export const pause: Command = {
  usage: '',
  summary:
    'The emergency stop: lets no such call run until "handrail resume". Without options, lists what is paused.',
  more: 'It holds in every process on the store from its next call on, over restarts too, whatever the policy says. What runs goes on; --abort ends it.',
  options: {
    ...scopeOptions,
    why: { takes: 'TEXT', about: 'Told to who calls, and kept.' },
    abort: { about: 'Aborts what runs, too.' },
    ...jsonOption,
  },
  examples: [
    'handrail pause --all --abort --why "it pays twice"',
    "handrail pause --tool 'mcp.shop.*'",
    'handrail pause',
  ],
  takes: 0,
  async run(given) {
    const scope = readScope(given)
    const why = readText(given, 'why')
    const aborts = given.options['abort'] === true
    if (scope === undefined && (why !== undefined || aborts))
      throw new UsageError('Say what to pause: --tool, --server, --tenant, --actor or --all.')
    const code = await withStops(given, async (stops) => {
      if (scope === undefined) return list(stops.pauses(), given)
      const by = userInfo().username
      const made = await stops.pause({ ...scope, by, ...(why !== undefined && { why }) })
      const aborted = aborts
        ? await stops.abort({ ...scope, by, ...(why !== undefined && { reason: why }) })
        : undefined
      if (given.options['json'] === true) writeJson({ ...made, ...(aborted !== undefined && { aborted }) })
      else writeText(process.stdout, `${toRow(made)}\n`)
      if (aborted !== undefined) sayAborted(aborted)
      return aborted !== undefined && aborted.running.length > 0 ? exitCodes.toolError : exitCodes.ok
    })
    if (scope !== undefined) await sayUnknown(scope, given)
    return code
  },
}

/** `handrail resume` */
export const resume: Command = {
  usage: '[<pause>]',
  summary: 'Lets calls run again that were paused: one pause by its id, those with these options, or --all.',
  options: { ...scopeOptions, all: { about: 'All that is paused.' }, ...jsonOption },
  examples: ["handrail resume --tool 'mcp.shop.*'", 'handrail resume --all'],
  takes: 1,
  run(given) {
    const [id] = given.positionals
    const scope = readScope(given)
    if ((id === undefined) === (scope === undefined))
      throw new UsageError(
        'Say what to resume: a pause by its id, --all, or the options that it was paused with. "handrail pause" lists them.',
      )
    return withStops(given, async (stops) => {
      const meant = stops.pauses().filter((each) => isMeant(each, id, scope))
      for (const each of meant) await stops.resume(each.id, userInfo().username)
      if (given.options['json'] === true) writeJson(meant)
      else for (const each of meant) process.stdout.write(`resumed  ${toRow(each)}\n`)
      if (meant.length > 0) return exitCodes.ok
      process.stderr.write('handrail: nothing is paused like that. "handrail pause" lists what is.\n')
      return exitCodes.toolError
    })
  },
}

function isMeant(pause: Pause, id: string | undefined, scope: StopScope | undefined): boolean {
  if (scope === undefined) return pause.id === id
  return Object.keys(scope).length === 0 || canonicalJson(scopeOf(pause)) === canonicalJson({ ...scope })
}

function scopeOf({ id: _id, by: _by, at: _at, why: _why, ...scope }: Pause): Record<string, string> {
  return { ...scope }
}

function list(pauses: readonly Pause[], { options }: CommandLine): number {
  if (options['json'] === true) writeJson(pauses)
  else {
    const rows = pauses.map((each) => `${toRow(each)}\n`).join('')
    writeText(process.stdout, `${rows}${countOf(pauses.length, 'pause')}\n`)
  }
  return exitCodes.ok
}

function toRow(pause: Pause): string {
  const { id, by, at, why } = pause
  const because = why === undefined ? '' : `: ${why}`
  return showLine(`${id}  ${describeScope(pause)}  by ${by} at ${new Date(at).toISOString()}${because}`)
}

/** What became of the calls that ran. */
export function sayAborted({ calls, running }: Awaited<ReturnType<Stops['abort']>>): void {
  process.stderr.write(`handrail: ${countOf(calls.length, 'call')} aborted\n`)
  if (running.length > 0)
    process.stderr.write(
      `handrail: ${countOf(running.length, 'call')} did not end in time: ${showLine(running.join(', '))}. "handrail calls" shows whether they run still.\n`,
    )
}
