import type { CommandsConfiguration } from '../../../contract/configuration.ts'
import type { Commands } from '../../../contract/services/sandbox.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { commandManifest, secretsFor } from './command-manifest.ts'
import { planCommand, runCommand, type AskedCommand } from './command.ts'
import { backgroundField, commandTimeField, dryRunField, purposeField, reviewField } from '../base/fields.ts'
import { invalidInput, requireWellFormed } from '../base/invalid-input.ts'

/** A command line is one argument, which Linux bounds to 128 KiB. */
const maxLetters = 32_000

/** `code.run_shell`: a command line in a new shell for each call, so that nothing of one call is left for the next. */
export function runShellTool(commands: CommandsConfiguration): Tool {
  const toAsked = ({ command, ...more }: ShellInput, shell: string): AskedCommand => {
    const argv = [shell, '-c', command]
    return {
      ...more,
      argv,
      secrets: secretsFor(argv, commands),
      line: showControls(command),
      cwd: '.',
    }
  }
  return defineBuiltin({
    ...commandManifest(commands),
    name: 'code.run_shell',
    title: 'Run shell command',
    description:
      'Runs a command line in bash (sh where there is none), in the project root. Each call is a shell of its own: folders, variables and functions of one call are gone in the next. Otherwise as code.run_command.',
    input: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          minLength: 1,
          maxLength: maxLetters,
          description: 'The command line, such as "git log -3 | cat".',
        },
        timeout_ms: commandTimeField,
        background: backgroundField,
        dry_run: dryRunField,
        review: reviewField,
        description: purposeField,
      },
      required: ['command'],
      additionalProperties: false,
    },
    compatible: {
      name: 'Bash',
      description:
        'Runs a command line in bash (sh where there is none), in the project root. Each call is a shell of its own: folders, variables and functions of one call are gone in the next. Ends after timeout milliseconds; with run_in_background it goes on after the call has answered.',
      inputSchema: {
        type: 'object',
        properties: {
          command: { type: 'string', minLength: 1, maxLength: maxLetters },
          timeout: { type: 'integer', minimum: 1, maximum: 600_000, description: 'Milliseconds.' },
          description: purposeField,
          run_in_background: { type: 'boolean', description: backgroundField.description },
        },
        required: ['command'],
        additionalProperties: false,
      },
      toCanonical: ({ command, timeout, description, run_in_background }) => ({
        command: command ?? '',
        ...(timeout !== undefined && { timeout_ms: timeout }),
        ...(description !== undefined && { description }),
        ...(run_in_background !== undefined && { background: run_in_background }),
      }),
    },
    decode: (input) => ({
      command: toLine(input.command),
      timeoutMs: input.timeout_ms,
      background: input.background,
      dryRun: input.dry_run,
      description: input.description,
      review: input.review ? 'always' : (commands.review ?? 'protected'),
      mustHold: input.review,
    }),
    async plan(input, context) {
      const shell = await findShell(context.commands, context.project)
      const asked = toAsked(input, shell)
      // A yes for the session is a yes to this command line: the program is the same for all of them.
      const { scope: _, ...plan } = await planCommand(asked, context)
      return { ...plan, planned: { ...plan.planned, shell } }
    },
    run: (input, context) => runCommand(toAsked(input, context.planned.shell), context),
  })
}

interface ShellInput extends Pick<
  AskedCommand,
  'timeoutMs' | 'background' | 'dryRun' | 'description' | 'review' | 'mustHold'
> {
  command: string
}

async function findShell(commands: Commands, project: string): Promise<string> {
  return (await commands.which('bash', project)) === undefined ? 'sh' : 'bash'
}

function toLine(command: string): string {
  if (command.includes('\0'))
    throw invalidInput('command has a NUL character, which no argument can carry. Leave it out.')
  return requireWellFormed(command, 'command')
}
