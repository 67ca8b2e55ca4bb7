import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Start } from './start-in-turn.ts'

/** Starts a server with the home and the project of what is started. */
export async function serveBeside(bin: string, { cwd, env }: Start): Promise<ChildProcess> {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (child.exitCode !== null) throw new Error(`handrail serve ended with ${child.exitCode}`)
  child.stdout.resume()
  return child
}
