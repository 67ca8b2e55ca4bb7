import type { Worker, WorkerOptions } from 'node:worker_threads'

/** Starts a file in a thread of its own. Most programs start none, and so do not load what threads need. */
export function startThread(file: URL, options: WorkerOptions): Worker {
  const { Worker: Thread } = process.getBuiltinModule('node:worker_threads')
  return new Thread(file, options)
}
