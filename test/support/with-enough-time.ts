/**
 * Does something in a time limit that it has to meet: in one that is mostly enough, and in longer ones where a busy machine needs them. The
 * last failure is the one that counts.
 */
export async function withEnoughTime(from: number, attempt: (ms: number) => Promise<void>): Promise<void> {
  for (let ms = from; ; ms *= 4)
    try {
      return await attempt(ms)
    } catch (error) {
      if (ms > 100_000) throw error
    }
}
