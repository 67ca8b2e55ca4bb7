import type { Command, CommandGroup } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { UsageError } from '../base/usage-error.ts'
import { showLine } from '../base/show-safely.ts'
import { toBash, toFish, toZsh, type Shell } from '../render/completion-page.ts'
import { toPlaces } from '../render/completion-places.ts'

const shells: { readonly [shell: string]: Shell } = { bash: toBash, zsh: toZsh, fish: toFish }

/** `handrail completion`, of all commands. */
export function completionOf(load: () => Promise<Readonly<Record<string, Command | CommandGroup>>>): Command {
  return {
    usage: '<bash|zsh|fish>',
    summary: 'Prints what makes a shell complete commands, options and their values.',
    options: {},
    examples: [
      `echo 'source <(handrail completion bash)' >> ~/.bashrc`,
      `echo 'source <(handrail completion zsh)' >> ~/.zshrc`,
      'handrail completion fish > ~/.config/fish/completions/handrail.fish',
    ],
    needs: 'Name the shell: bash, zsh or fish.',
    takes: 1,
    async run({ positionals: [name = ''] }) {
      const shell = Object.hasOwn(shells, name) ? shells[name] : undefined
      if (shell === undefined)
        throw new UsageError(
          `"${showLine(name.slice(0, 100))}" is not a shell that is known here. Name bash, zsh or fish.`,
        )
      process.stdout.write(shell(toPlaces(await load())))
      return exitCodes.ok
    },
  }
}
