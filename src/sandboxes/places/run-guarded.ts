import { ToolFailure } from '../../contract/base/errors.ts'
import { describeSetAside } from '../../kit/text/show-guarded.ts'
import { noteGuard } from '../leftovers/guard-notes.ts'
import type { Reach } from '../files/reach.ts'
import { takeUntold } from './sweep-leftovers.ts'
import { findReplaced, type GuardedPlaces } from '../visible/guarded-places.ts'
import { setAside } from './set-aside.ts'

/**
 * Runs a command and sets aside what it made where nothing may be, however it ended. Should this process be killed in the meantime, the
 * next one does that. Tells what another program replaced meanwhile: there the command was held off no more.
 */
export async function runGuarded<T>(
  guarded: GuardedPlaces,
  run: () => Promise<T>,
): Promise<{ outcome: T; aside: readonly string[]; replaced: readonly string[] }> {
  const forget = noteGuard(guarded)
  const finish = () => {
    const aside = setAside(guarded)
    forget()
    return { aside, replaced: findReplaced(guarded) }
  }
  let outcome: T
  try {
    outcome = await run()
  } catch (error) {
    throw withAside(error, finish().aside)
  }
  return { outcome, ...finish() }
}

function withAside(error: unknown, aside: readonly string[]): unknown {
  if (aside.length === 0 || !(error instanceof ToolFailure)) return error
  const { code, reason, message, data } = error
  return new ToolFailure({
    code,
    reason,
    message: `${message} It had made ${describeSetAside(aside)}`,
    data: { ...data, paths: [...aside] },
  })
}

/** Says once what commands of a process that was killed had made under protected names in the roots of this call. Nothing is run then. */
export function tellLeftBehind({ write }: Pick<Reach, 'write'>): void {
  const told = takeUntold((path) => write.below(path) !== undefined)
  if (told.length === 0) return
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'protected_path',
    message: `The command was not run: after Handrail was killed while another one ran, there was ${told.map((path) => `"${path}"`).join(', ')}, which other programs of the person run or obey. What could be renamed has a name with ".blocked-" in it. Tell the person, then call again.`,
    data: { paths: [...told] },
  })
}
