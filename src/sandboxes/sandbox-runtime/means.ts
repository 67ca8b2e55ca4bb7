import { existsSync } from 'node:fs'
import { chooseHost, installBubblewrap, noSandbox } from '../bubblewrap/sandbox-fault.ts'
import { findProgram } from '../programs/find-program.ts'
import { findLibrary } from './find-library.ts'
import { findSystemPlaces } from './system-places.ts'

/** Means to make a sandbox. */
export interface Means {
  /** Absolute path of what makes it. */
  readonly program: string
  /** What is readable of the machine. */
  readonly system: readonly string[]
}

const seatbelt = '/usr/bin/sandbox-exec'

/** What makes a sandbox by way of sandbox-runtime on this machine. Fails with `SANDBOX.UNAVAILABLE`. */
export function findMeans(path: string): Means {
  const { platform } = process
  if (platform !== 'darwin' && platform !== 'linux')
    throw noSandbox('no_backend', `nothing isolates commands on ${platform} yet. ${chooseHost}`)
  const programs = findLibrary()
  if (programs === undefined)
    throw noSandbox(
      'missing_program',
      `sandbox-runtime isolates it, and is not installed. Install it: "npm install @anthropic-ai/sandbox-runtime". ${chooseHost}`,
    )
  if (process.getuid?.() === 0)
    throw noSandbox(
      'no_backend',
      `sandbox-runtime runs commands as the user of Handrail, and that is root, as whom no command runs. Start Handrail as an ordinary user${platform === 'linux' ? ', or choose "sandbox": "bubblewrap", which changes to one' : ''}.`,
    )
  const system = findSystemPlaces(path)
  return platform === 'darwin'
    ? { program: findSeatbelt(), system }
    : { program: findBubblewrap(path), system: [...system, programs] }
}

function findSeatbelt(): string {
  if (existsSync(seatbelt)) return seatbelt
  throw noSandbox('missing_program', `"${seatbelt}", which is part of macOS, is not there. ${chooseHost}`)
}

function findBubblewrap(path: string): string {
  const bwrap = findProgram('bwrap', { cwd: '/', path })
  if (bwrap?.executable === true) return bwrap.path
  throw noSandbox(
    'missing_program',
    `on Linux sandbox-runtime needs bubblewrap, which is not installed. ${installBubblewrap} ${chooseHost}`,
  )
}
