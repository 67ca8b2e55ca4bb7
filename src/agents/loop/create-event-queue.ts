/** Hands events to those who follow them, each from the moment on from which they do. */
export interface EventQueue<Event> {
  readonly push: (event: Event) => void
  end(): void
  follow(): AsyncIterator<Event>
}

interface Follower<Event> {
  readonly waiting: Event[]
  wake: (() => void) | undefined
}

/** Nothing is kept for those who come later. */
export function createEventQueue<Event>(): EventQueue<Event> {
  const followers = new Set<Follower<Event>>()
  let isOver = false
  return {
    push(event) {
      for (const follower of followers) {
        follower.waiting.push(event)
        follower.wake?.()
      }
    },
    end() {
      isOver = true
      for (const { wake } of followers) wake?.()
    },
    async *follow() {
      const own: Follower<Event> = { waiting: [], wake: undefined }
      followers.add(own)
      try {
        for (;;) {
          yield* own.waiting.splice(0)
          if (own.waiting.length > 0) continue
          if (isOver) return
          await new Promise<void>((resolve) => (own.wake = resolve))
          own.wake = undefined
        }
      } finally {
        followers.delete(own)
      }
    },
  }
}
