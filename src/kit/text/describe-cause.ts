import { messageOf } from './message-of.ts'

/** What a log says of a cause: its message, and that of what caused it. Never throws. */
export function describeCause(cause: unknown): string {
  const deeper = causeOf(cause)
  return deeper === undefined ? messageOf(cause) : `${messageOf(cause)}: ${messageOf(deeper)}`
}

function causeOf(cause: unknown): Error | undefined {
  try {
    return cause instanceof Error && cause.cause instanceof Error ? cause.cause : undefined
  } catch {
    return undefined
  }
}
