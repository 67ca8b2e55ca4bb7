import type { ContentBlock } from '../../../contract/base/result.ts'
import type { FileEffect } from '../../../contract/base/effects.ts'
import { describeEffect } from '../../../kit/text/describe-effect.ts'
import { maxNamed } from './changes-data.ts'

/** What a dry run would have changed; paths relative to the project. */
export function showChanges(changes: readonly FileEffect[], project: string): ContentBlock[] {
  const text =
    changes.length === 0
      ? '[A dry run: it would change no file.]'
      : [
          `[A dry run: it would change ${count(changes.length)}, and every file is as it was.]`,
          ...changes.slice(0, maxNamed).map((change) => describeEffect(change, project)),
          ...(changes.length > maxNamed ? [`[and ${changes.length - maxNamed} more]`] : []),
        ].join('\n')
  return [{ type: 'text', text }]
}

/** Paths of a real run that are named. */
const maxLanded = 20

/** What a command changed; paths relative to the project. Of what git keeps for itself, only how much. */
export function showLanded(landed: readonly FileEffect[], project: string): ContentBlock[] {
  const others = landed.filter(({ path }) => !path.split('/').includes('.git'))
  const ofGit = landed.length - others.length
  const text = [
    `[It changed ${count(landed.length)}:]`,
    ...others.slice(0, maxLanded).map((change) => describeEffect(change, project)),
    ...(others.length > maxLanded ? [`[and ${others.length - maxLanded} more]`] : []),
    ...(ofGit > 0 ? [`[${count(ofGit)} in .git]`] : []),
  ].join('\n')
  return [{ type: 'text', text }]
}

function count(changes: number): string {
  return changes === 1 ? '1 path' : `${changes} paths`
}
