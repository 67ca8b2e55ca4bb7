import { once } from 'node:events'
import type { Exit, Started } from './started.ts'

/** When a program has ended and all of its output has come. */
export async function whenClosed({ exited, stdout, stderr }: Started): Promise<Exit> {
  const [exit] = await Promise.all([
    exited,
    ...[stdout, stderr].map((stream) => stream.closed || once(stream, 'close')),
  ])
  return exit
}
