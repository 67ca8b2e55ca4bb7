import type { Command } from '../base/command.ts'
import { call } from './call.ts'

const { approve, key: _key, consent: _consent, presentation: _presentation, ...options } = call.options

/** `handrail try` */
export const tryCommand: Command = {
  usage: '[options] -- <program> [argument …]',
  summary: 'Runs a command, shows what it changed, and keeps it if you say so.',
  more: 'Short for "handrail call code.run_command" with "review": true: what it writes is held back until you have seen it. Without a terminal, --approve answers.',
  options: { ...(approve && { approve }), ...options },
  examples: ['handrail try -- make fix', 'handrail try --approve once -- npx prettier --write src'],
  needs: 'Name a program, behind "--": handrail try -- make fix.',
  takes: Infinity,
  run({ positionals, options: given }) {
    const input = JSON.stringify({ argv: positionals, review: true })
    return call.run({ positionals: ['code.run_command', input], options: given })
  },
}
