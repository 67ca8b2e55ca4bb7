export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** Whether a task with this status never changes again. */
export function isOver(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** How far a task is. Notifies those who follow it. */
export class TaskState {
  readonly createdAt = Date.now()
  updatedAt = this.createdAt
  status: TaskStatus = 'working'
  message: string | undefined
  readonly #followers = new Set<() => void>()
  readonly #onStatus: () => void

  /** `onStatus` is called before the followers, and only for another status. */
  constructor(onStatus: () => void) {
    this.#onStatus = onStatus
  }

  become(next: TaskStatus, message?: string): void {
    if (isOver(this.status) || next === this.status) return
    this.status = next
    this.message = message
    this.updatedAt = Date.now()
    this.#onStatus()
    this.notify()
  }

  /** Notes that the call goes on, and how far it is by its own words. */
  progress(message: string | undefined): void {
    if (message !== undefined && this.status === 'working') this.message = message
    this.updatedAt = Date.now()
  }

  notify(): void {
    for (const follower of this.#followers) follower()
  }

  /** Calls back at each change, until the function that it returns is called. */
  follow(onChange: () => void): () => void {
    this.#followers.add(onChange)
    return () => this.#followers.delete(onChange)
  }
}
