import type { CallRequest } from '../../../contract/call-request.ts'

/** How far a call is. `progress` only grows. */
export interface ProgressUpdate {
  progress: number
  total?: number
  message?: string
}

/** What a tool reports. */
export type Reported = Parameters<NonNullable<CallRequest['onProgress']>>[0]

/** Puts the progress of one call into the words of the protocol; undefined if it does not go beyond what was told last. Nothing is a beginning too. */
export function createProgress(): (reported: Reported) => ProgressUpdate | undefined {
  let progress: number | undefined
  return ({ message, done, total }) => {
    const value = typeof done === 'number' ? done : (progress ?? 0) + 1
    if (!(value > (progress ?? -Number.MIN_VALUE))) return undefined
    progress = value
    return {
      progress,
      ...(typeof total === 'number' && { total }),
      ...(message !== '' && { message }),
    }
  }
}
