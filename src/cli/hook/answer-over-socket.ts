import { readlinkSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { namedSecrets } from '../setup/named-secrets.ts'
import { hookAgents } from './agents.ts'
import { answerHook } from './run-hook.ts'
import type { WithRuntime } from './with-own-runtime.ts'

/** The form of what goes over the socket. A client of another form decides alone. */
const form = 3

/** What a hook says before the message of the agent. */
interface Greeting {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
}

/** What a hook is answered with. */
interface Answering {
  readonly home: string
  /** The message of the agent. */
  readonly input: AsyncIterable<Uint8Array>
  readonly withRuntime: WithRuntime
}

/** The answer to a hook that greeted so; without a code, it decides alone. */
export async function answerOverSocket(
  said: JsonObject,
  { home, input, withRuntime }: Answering,
): Promise<object> {
  const greeting = toGreeting(said)
  if (greeting === undefined) return {}
  const { argv, cwd, env } = greeting
  const [name = '', ...args] = argv
  const load = Object.hasOwn(hookAgents, name) ? hookAgents[name] : undefined
  const { values } = parseArgs({ args, options: hookOptions, strict: true })
  if (load === undefined || values.help === true) return {}
  let out = ''
  let err = ''
  let isOther = false
  const sameRuntime: WithRuntime = (places, run) =>
    withRuntime(places, (runtime) => {
      isOther ||= !isSameEnvironment(env, runtime)
      if (isOther) throw new Error('another environment')
      return run(runtime)
    })
  const code = await answerHook(await load(), {
    given: { positionals: [], options: { ...values, home } },
    input,
    cwd,
    env: (variable) => (Object.hasOwn(env, variable) && env[variable] !== '' ? env[variable] : undefined),
    print: (text) => (out += text),
    tell: (text) => (err += text),
    withRuntime: sameRuntime,
  })
  return isOther ? {} : { code, out, err }
}

/** Whether a runtime of this process stands on the same variables that it would have in the process of the hook: what `~` means, and secrets. */
function isSameEnvironment(env: Greeting['env'], runtime: Runtime): boolean {
  return ['HOME', 'TMPDIR', ...namedSecrets(runtime)].every((name) => env[name] === process.env[name])
}

function toGreeting(said: JsonObject): Greeting | undefined {
  if (said['form'] !== form || said['root'] !== describeRoot()) return undefined
  const { argv, cwd, env } = said
  if (!Array.isArray(argv) || typeof cwd !== 'string' || !isPlainObject(env)) return undefined
  const texts = Object.entries(env).filter(([, value]) => typeof value === 'string')
  return { argv: argv.map(String), cwd, env: Object.fromEntries(texts) as Greeting['env'] }
}

/** Where paths begin: for who asks from a container, or with another root, they name other files. */
function describeRoot(): string {
  const { dev, ino } = statSync('/')
  return [dev, ino, process.platform === 'linux' ? readlinkSync('/proc/self/ns/mnt') : ''].join(' ')
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** The options of a hook. With any other one the client decides alone, and says what is wrong. */
const hookOptions = {
  event: text,
  'fail-open': flag,
  tenant: text,
  actor: text,
  role: text,
  mode: text,
  home: text,
  project: text,
  help: { ...flag, short: 'h' },
} as const
