import { signal } from '@preact/signals'

let timer: ReturnType<typeof setInterval> | undefined

/** The time by the clock of this machine, a second at a time, as long as a page shows it. */
export const now = signal(Date.now(), {
  watched() {
    now.value = Date.now()
    timer = setInterval(() => (now.value = Date.now()), 1_000)
  },
  unwatched: () => clearInterval(timer),
})
