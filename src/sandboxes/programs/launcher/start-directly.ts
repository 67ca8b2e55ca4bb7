import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { childProcess } from './child-process.ts'
import { killNow } from './kill-now.ts'
import { meterChildren } from './meter-children.ts'
import type { Descriptor, Exit, StartRequest, Started } from './started.ts'

/** Starts a program as a child of this process, which stands still meanwhile: the longer, the more memory it has. */
export async function startDirectly(request: StartRequest): Promise<Started> {
  const { executable, argv, cwd, env, identity, input = false, descriptors = [] } = request
  const readCpuMs = request.metered === true ? meterChildren() : () => 0
  const { handed, close } = openDescriptors(descriptors)
  try {
    const child = childProcess().spawn(executable, argv.slice(1), {
      argv0: argv[0] ?? executable,
      cwd,
      env,
      detached: true,
      ...identity,
      stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...handed],
    })
    const { promise: exited, resolve } = Promise.withResolvers<Exit>()
    let exit: Exit | undefined
    child.once('exit', (exitCode, signal) => {
      if (request.together === true && child.pid !== undefined) killNow(-child.pid)
      exit = { exitCode, signal, cpuMs: readCpuMs(), lost: false }
      resolve(exit)
    })
    await once(child, 'spawn')
    const { pid, stdin, stdout, stderr } = child
    if (pid === undefined || stdout === null || stderr === null)
      throw new Error(`"${executable}" was started without its output streams.`)
    const pipes = child.stdio.slice(3).filter((stream) => stream instanceof Readable)
    return {
      pid,
      stdin: stdin ?? undefined,
      stdout,
      stderr,
      pipes,
      exited,
      exit: () => exit,
      release() {
        for (const stream of [stdin, stdout, stderr, ...pipes]) stream?.destroy()
        child.unref()
      },
    }
  } finally {
    close()
  }
}

/** Needs no permission on what is there. */
const O_PATH = 0o10000000

/** What a started program inherits; close this process's own ends of it once it has. */
export function openDescriptors(descriptors: readonly Descriptor[]) {
  const opened: number[] = []
  const close = () => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor)
  }
  try {
    const handed = descriptors.map((each) => {
      if (each === 'pipe') return each
      const descriptor = 'file' in each ? openSync(each.file, 'r') : openSync(each.place, O_PATH)
      opened.push(descriptor)
      return descriptor
    })
    return { handed, close }
  } catch (error) {
    close()
    throw error
  }
}
