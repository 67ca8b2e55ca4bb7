import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'

/** By these options a program that a word names is run, or settings of another place hold. */
const reaching = [
  'call',
  'editor',
  'git',
  'globalconfig',
  'init-module',
  'node-options',
  'script-shell',
  'shell',
  'userconfig',
  'viewer',
]

/** Names of their own that others begin with. */
const complete = new Set(['ca', 'global', 'no', 'node'])

/** What runs or sets whatever the words behind it name. */
const named = /^(?:config|create|c|dlx|edit|exec|explore|help|init|innit|set|x)$/

/** How many words of a command of npm a pattern must name by itself. Behind `--` everything is for a script. */
export function judgeNpm(words: readonly ShellWord[]): number {
  const end = words.findIndex((word) => isKnown(word) && word.text === '--')
  const own = end < 0 ? words : words.slice(0, end)
  const at = own.findIndex(({ text }) => !text.startsWith('-'))
  const command = own[at]
  if (own.some((word) => mayReach(word))) return Infinity
  if (command === undefined) return 0
  if (!isKnown(command)) return Infinity
  const [script] = own.slice(at + 1).filter(({ text }) => !text.startsWith('-'))
  // A script that every package has: it runs what follows.
  if (/^(?:run|run-script|rum|urn)$/.test(command.text) && script?.text === 'env') return Infinity
  return named.test(command.text) ? at + 2 : 0
}

/** Long names may be cut short. */
function mayReach(word: ShellWord): boolean {
  const { text, known, as } = word
  if (!isKnown(word) && (as === 'any' || known === 0)) return true
  if (/^-[^-]*c/.test(text)) return true
  const name = /^--([^=]+)/.exec(text)?.[1]
  if (name === undefined) return false
  if (name.length + 2 > known) return true
  return !complete.has(name) && reaching.some((each) => each.startsWith(name.toLowerCase()))
}
