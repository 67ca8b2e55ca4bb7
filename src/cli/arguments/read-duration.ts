import type { CommandLine } from '../base/command.ts'
import { UsageError } from '../base/usage-error.ts'

const unitsMs: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** An option that takes a time such as `90s`, `15m`, `12h` or `30d`, in milliseconds; undefined if it is not given. */
export function readDuration({ options }: CommandLine, name: string): number | undefined {
  const value = options[name]
  if (value === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(String(value)) ?? []
  const ms = Number(digits) * (unitsMs[unit] ?? Number.NaN)
  if (Number.isSafeInteger(ms) && ms > 0) return ms
  throw new UsageError(`--${name} is "${String(value)}"; it is a time such as 90s, 15m, 12h or 30d.`)
}
