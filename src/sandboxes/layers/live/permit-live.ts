import type { HeldChanges, PermitChanges } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Change } from '../change.ts'
import type { Layer } from '../layer.ts'

/** Asks whether changes of a program that goes on may land. Returns those that may not, and why: one of them keeps no other from landing. */
export async function permitLive(
  changes: readonly Change[],
  { layer, permit }: { layer: Layer; permit: PermitChanges | undefined },
): Promise<ReadonlyMap<Change, ToolFailure>> {
  const refused = new Map<Change, ToolFailure>()
  if (permit === undefined || changes.length === 0) return refused
  const whole = await judge(changes, layer, permit)
  if (whole === undefined) return refused
  const [only] = changes
  if (changes.length === 1 && only !== undefined) return refused.set(only, whole)
  for (const change of changes) {
    const failure = await judge([change], layer, permit)
    if (failure !== undefined) refused.set(change, failure)
  }
  return refused
}

async function judge(
  changes: readonly Change[],
  layer: Layer,
  permit: PermitChanges,
): Promise<ToolFailure | undefined> {
  const held: HeldChanges = {
    effects: () => layer.effects(changes),
    digest: () => layer.digest(changes),
    ended: 'runs',
    canLand: true,
    outcome: 'It runs.',
    contents: async () => ({ before: undefined, after: undefined }),
  }
  try {
    const permitted = await permit(held)
    if (permitted instanceof ToolFailure) return permitted
    return permitted === 'drop' ? dropped() : undefined
  } catch (error) {
    if (error instanceof ToolFailure) return error
    throw error
  }
}

function dropped(): ToolFailure {
  return new ToolFailure({ reason: 'not_needed', message: 'It is not needed.' })
}
