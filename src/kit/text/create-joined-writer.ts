/**
 * Writes what comes in one turn of the event loop as one text, in its order, so that the other end is woken once for all of it. Each
 * promise is that of the whole text.
 */
export function createJoinedWriter(write: (text: string) => Promise<void>): (text: string) => Promise<void> {
  let waiting: string[] = []
  let written: Promise<void> | undefined
  const flush = (): Promise<void> => {
    const text = waiting.join('')
    waiting = []
    written = undefined
    return write(text)
  }
  return (text) => {
    waiting.push(text)
    written ??= new Promise((resolve, reject) => {
      process.nextTick(() => void flush().then(resolve, reject))
    })
    return written
  }
}
