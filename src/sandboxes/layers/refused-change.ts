import { ToolFailure } from '../../contract/base/errors.ts'
import { fateOf, isInRepository } from '../../kit/match/protected-path.ts'
import { quoted } from '../../kit/text/quoted.ts'
import type { Change } from './change.ts'

/**
 * Whether a change never lands, whatever permits it. A protected name that is a link may go: then nothing is in force there. Git makes no links in its
 * own folder.
 */
export function isRefused({ path, kind, had }: Change): boolean {
  if (kind === 'link' && isInRepository(path)) return true
  return fateOf(path) === 'refused' && !(kind === 'none' && had === 'link')
}

/** Why nothing is kept of a command that changed these paths. */
export function refuseProtected(paths: readonly string[]): ToolFailure {
  return new ToolFailure({
    reason: 'protected_path',
    message: `The command made or changed ${quoted(paths)}, which other programs of the person run or obey without asking. Nothing of what it wrote was kept. Ask the person to make it, or to run the command themselves.`,
    data: { paths: [...paths] },
  })
}
