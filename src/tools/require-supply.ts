import { ToolFailure } from '../contract/base/errors.ts'

/** The supply, or a `ToolFailure` with `supply_missing` that names it. */
export function requireSupply<Supply>(supply: Supply | undefined, name: string): Supply {
  if (supply !== undefined) return supply
  throw new ToolFailure({
    reason: 'supply_missing',
    message: `The tool needs the supply "${name}", which this runtime was not given.`,
  })
}
