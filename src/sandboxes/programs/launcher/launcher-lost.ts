import { ToolFailure } from '../../../contract/base/errors.ts'

/** What starts programs ended before the program did, or before it could be started. */
export function launcherLost(): ToolFailure {
  return new ToolFailure({
    reason: 'failed',
    message:
      'The process that starts programs for Handrail has ended, and every program that it had started was ended with it. What they did until then stands. Look at it, then call again.',
  })
}
